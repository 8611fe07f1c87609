"""Record: fresh recordings from live servers. The only verb that can cost money.

Nothing that was paid for is lost: every reply is on disk, fsynced, before the next call is made, in
``<key>.yaml.part``; the same command carries on from there. A finished episode is put in its place in one step. What
could not be judged for want of a provider is ``<key>.error.json``, and only that is asked again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Literal

from ..cassettes.locks import clear, episode_lock, locked
from ..cassettes.runs import Run
from ..cassettes.write import json_bytes, replace_file
from ..domain import Ended, Question, Sent, Tokens
from ..errors import BudgetExceeded, CassetteAbsent, DiskError, Interrupted, ReactReproError, Usage
from .early import FirstEpisodes
from .episode import EpisodeRecording, Studio
from .order import Order, confirm, find, prepare, withdraw

ERROR_FORMAT = "reactrepro-error/1"

State = Literal["recorded", "kept", "failed", "busy", "absent"]


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of one episode.

    Attributes:
        key: which.
        state: ``recorded`` now; ``kept`` as it was; ``failed``; ``busy``: another recorder has it; ``absent``: mode
            none, and it is not recorded.
        calls: replies that came now; those taken over from an earlier attempt are not among them.
        problem: why it failed.
        tokens: usage of those replies.
        ended: how an episode that was recorded now ended.
        starved: the token limit cut all its replies.
    """

    key: str
    state: State
    calls: int = 0
    problem: ReactReproError | None = None
    tokens: Tokens = field(default_factory=Tokens)
    ended: Ended | None = None
    starved: bool = False


@dataclass
class RecordReport:
    """What `record` did.

    Attributes:
        run: the run that was recorded into.
        episodes: what became of each, in the order in which they were done.
        remaining: keys that are not done, in order: not tried, broken off, or what stopped everything.
        calls: replies that came now, in all.
        stopped: why it stopped early; None where it came to its end.
        sent: how the server wants to be asked, as far as that was found out now.
    """

    run: Run
    episodes: list[Recorded] = field(default_factory=list)
    remaining: list[str] = field(default_factory=list)
    calls: int = 0
    stopped: ReactReproError | None = None
    sent: Sent = field(default_factory=Sent)

    @property
    def problems(self) -> list[ReactReproError]:
        """Everything that went wrong."""
        found = [episode.problem for episode in self.episodes if episode.problem is not None]
        return found if self.stopped is None else [*found, self.stopped]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What is kept of a failure, as ``<key>.error.json``. No message: servers echo keys in theirs.

    Attributes:
        key, question_sha256: which episode.
        kind: the class of the problem.
        status, code: what the provider answered, and its own word for it; None where nothing was.
        time: when it was given up.
    """

    format: str
    key: str
    question_sha256: str
    kind: str
    status: int | None
    code: str | None
    time: str


def record(
    order: Order,
    studio: Studio | None,
    *,
    stopped: threading.Event | None = None,
    tell: Callable[[Recorded], None] = lambda _: None,
) -> RecordReport:
    """Record what *order* asks for.

    Args:
        order: what.
        studio: the model, the wiki and the prompt, shared by all episodes; mode ``none`` needs none.
        stopped: set it to stop after the calls under way. A `KeyboardInterrupt` stops at once: the calls under way are
            abandoned.
        tell: called after each episode, in the caller's thread.

    Returns:
        The report. The problems of episodes are in it; one that would be the same for every episode, and an interrupt,
        stop the recording and are `RecordReport.stopped`.

    Raises:
        Usage, Corrupt, DiskError: see `prepare`.
    """
    if order.mode == "none" or studio is None:
        return _looked_up(order, tell)
    stopped = stopped or threading.Event()
    report = RecordReport(prepare(order))
    crew = _Crew(order, report.run, studio, stopped)
    bug: BaseException | None = None
    try:
        for result in crew.results():
            if isinstance(result, Recorded):
                _settle(result, report, tell)
            else:
                bug = bug or result
    except KeyboardInterrupt:
        stopped.set()
        report.stopped = Interrupted("stopped at once; the calls under way were abandoned.")
    if bug is not None:
        raise bug
    if stopped.is_set() and report.stopped is None:
        report.stopped = crew.cause or Interrupted("stopped on request.")
    report.sent = studio.terms.sent
    _look_again(order, report)
    settled = {episode.key for episode in report.episodes}
    report.remaining = [question.key for question in order.questions if question.key not in settled]
    if not report.calls:
        withdraw(order, report.run)
    return report


def _looked_up(order: Order, tell: Callable[[Recorded], None]) -> RecordReport:
    """Say what is recorded, and record nothing."""
    report = RecordReport(find(order))
    for key in [question.key for question in order.questions]:
        if report.run.path(key).exists():
            episode = Recorded(key, "kept")
        else:
            why = "it is not recorded, and mode 'none' records nothing."
            episode = Recorded(key, "absent", problem=CassetteAbsent(f"{report.run.label}, episode {key}: {why}"))
        report.episodes.append(episode)
        tell(episode)
    return report


def _settle(episode: Recorded, report: RecordReport, tell: Callable[[Recorded], None]) -> None:
    report.calls += episode.calls
    if not (_stops_all(episode.problem) or isinstance(episode.problem, Interrupted)):
        report.episodes.append(episode)
        tell(episode)


def _stops_all(problem: ReactReproError | None) -> bool:
    """Tell whether *problem* would be the same for every episode, so that to go on would only cost time and money."""
    return isinstance(problem, DiskError | Usage | BudgetExceeded) or bool(getattr(problem, "fatal", False))


def _look_again(order: Order, report: RecordReport) -> None:
    """Count as kept what another recorder has finished meanwhile."""
    for number, episode in enumerate(report.episodes):
        if episode.state == "busy" and order.mode == "once" and report.run.path(episode.key).exists():
            report.episodes[number] = Recorded(episode.key, "kept")


class _Crew:
    """The threads that record: daemons, so that an impatient user need not wait for a call under way.

    Attributes:
        cause: the problem for which they stopped of themselves.
    """

    def __init__(self, order: Order, run: Run, studio: Studio, stopped: threading.Event) -> None:
        self._order, self._run, self._studio, self._stopped = order, run, studio, stopped
        self._waiting: SimpleQueue[Question] = SimpleQueue()
        for question in order.questions:
            self._waiting.put(question)
        self._done: SimpleQueue[Recorded | BaseException | None] = SimpleQueue()
        self._first = FirstEpisodes(order.settings.max_tokens)
        self.cause: ReactReproError | None = None

    def results(self) -> Iterator[Recorded | BaseException]:
        """Yield what becomes of each episode that is tried, as it does; whatever a thread raises, too."""
        size = max(1, min(self._order.connections, self._waiting.qsize()))
        for _ in range(size):
            threading.Thread(target=self._work, daemon=True).start()
        while size:
            result = self._done.get()
            if result is None:
                size -= 1
            else:
                yield result

    def _cause(self, episode: Recorded) -> ReactReproError | None:
        """Return why all has to stop after *episode*, if it has to."""
        if episode.state == "recorded":
            return self._first.finished(starved=episode.starved)
        return episode.problem if _stops_all(episode.problem) else None

    def _work(self) -> None:
        try:
            while not self._stopped.is_set():
                job = _Job(self._order, self._run, self._studio, self._waiting.get_nowait(), self._stopped)
                episode = job.run()
                cause = self._cause(episode)
                if cause is not None and not self._stopped.is_set():
                    self.cause = cause
                    self._stopped.set()  # here, so that this thread does not begin with another episode
                self._done.put(episode)
        except Empty:
            pass
        except BaseException as bug:
            self._stopped.set()
            self._done.put(bug)
        finally:
            self._done.put(None)


@dataclass(frozen=True)
class _Job:
    order: Order
    run_: Run
    studio: Studio
    question: Question
    stopped: threading.Event

    def run(self) -> Recorded:
        key, path = self.question.key, self.run_.path(self.question.key)
        try:
            if path.exists() and self.order.mode == "once":
                return Recorded(key, "kept")
            with locked(episode_lock(self.run_.folder, key)) as held:
                return self._locked(key) if held else Recorded(key, "busy")
        except OSError as error:
            return Recorded(key, "failed", problem=DiskError.of(error))

    def _locked(self, key: str) -> Recorded:
        path, failure = self.run_.path(key), self.run_.error_path(key)
        clear(self.run_.folder, key)
        if path.exists() and self.order.mode == "once":
            return Recorded(key, "kept")  # another recorder has finished it in between
        recording = EpisodeRecording(
            self.run_,
            self.question,
            self.studio,
            settings=self.order.settings,
            task=self.order.task,
            stopped=self.stopped,
        )
        try:
            confirm(self.order, self.run_)
            anew = recording.make(fresh=self.order.mode == "all", extend=self.order.mode == "new_episodes")
        except OSError as error:
            return Recorded(key, "failed", recording.calls, DiskError.of(error), recording.tokens)
        except ReactReproError as error:
            if error.exit_code == 4 and not _stops_all(error) and not path.exists():
                replace_file(failure, self._failure(error))
            return Recorded(key, "failed", recording.calls, error, recording.tokens)
        failure.unlink(missing_ok=True)
        state: State = "recorded" if anew else "kept"
        ended, starved = recording.ended, recording.starved
        return Recorded(key, state, recording.calls, tokens=recording.tokens, ended=ended, starved=starved)

    def _failure(self, error: ReactReproError) -> bytes:
        return json_bytes(
            Failure(
                format=ERROR_FORMAT,
                key=self.question.key,
                question_sha256=self.question.sha256,
                kind=error.kind,
                status=getattr(error, "status", None),
                code=getattr(error, "code", None),
                time=self.studio.time(),
            )
        )
