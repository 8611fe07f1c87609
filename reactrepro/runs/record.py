"""Record: fresh recordings from live servers. The only verb that can cost money.

Nothing that was paid for is lost: every reply is on disk, fsynced, before the next call is made, in
``<key>.yaml.part``; the same command carries on from there. A finished episode is put in its place in one step. What
could not be judged for want of a provider is ``<key>.error.json``, and only that is asked again.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from ..backends.providers import Target
from ..cassettes.model import RUN_FORMAT, RunConfig, TaskRef
from ..cassettes.names import checked_name, run_name
from ..cassettes.read import read_run
from ..cassettes.runs import RUN_FILE, Run
from ..cassettes.write import replace_file, run_bytes
from ..domain import Question, Settings, Task
from ..errors import CassetteAbsent, Interrupted, ReactReproError, Usage
from .episode import EpisodeRecording, Studio

Mode = Literal["once", "new_episodes", "all", "none"]

ERROR_FORMAT = "reactrepro-error/1"


@dataclass(frozen=True, kw_only=True)
class Order:
    """What to record.

    Attributes:
        task: the task.
        questions: in order.
        selection: the questions, as typed.
        method, prompt: names.
        target: whom to ask.
        settings: the conditions.
        site: logical name of the wiki.
        root: the ``cassettes`` folder that is written to.
        run: name of the run; None for the model's slug.
        mode: ``once``: what is recorded stays, what is absent is recorded. ``new_episodes``: what no longer replays is
            recorded anew from the first call that differs, too. ``all``: everything anew. ``none``: nothing.
        connections: how many episodes are recorded at a time.
        note: where the run comes from.
    """

    task: Task
    questions: tuple[Question, ...]
    selection: str
    method: str
    prompt: str
    target: Target
    settings: Settings
    site: str
    root: Path
    run: str | None = None
    mode: Mode = "once"
    connections: int = 1
    note: str = ""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of one episode.

    Attributes:
        key: which.
        state: ``recorded`` now; ``kept`` as it was; ``failed``; ``busy``: another recorder has it; ``absent``: mode
            none, and it is not recorded.
        calls: calls made now.
        problem: why it failed.
    """

    key: str
    state: Literal["recorded", "kept", "failed", "busy", "absent"]
    calls: int = 0
    problem: ReactReproError | None = None


@dataclass
class RecordReport:
    """What `record` did.

    Attributes:
        run: the run that was recorded into.
        episodes: what became of each, in the order in which they were done.
        remaining: keys that were not tried, in order.
        stopped: why it stopped early; None where it came to its end.
    """

    run: Run
    episodes: list[Recorded] = field(default_factory=list)
    remaining: list[str] = field(default_factory=list)
    stopped: ReactReproError | None = None

    @property
    def calls(self) -> int:
        """How many calls were made."""
        return sum(episode.calls for episode in self.episodes)


def prepare(order: Order) -> Run:
    """Make the run's folder and configuration, or find it; a changed configuration is another run.

    Raises:
        Usage: the run named explicitly has another configuration.
        Corrupt: a ``run.json`` that stands there cannot be read.
    """
    config = RunConfig(
        format=RUN_FORMAT,
        task=TaskRef(name=order.task.name, version=order.task.version, scorer=order.task.scorer),
        method=order.method,
        provider=order.target.provider,
        model=order.target.model,
        settings=order.settings,
        prompt=order.prompt,
        site=order.site,
        provenance="recorded",
        selection=order.selection,
        note=order.note,
    )
    folder = order.root / checked_name(order.task.name, "task") / checked_name(order.method, "method")
    taken = _taken(folder)
    wanted = config.settings_sha256()
    name = checked_name(order.run, "run") if order.run else run_name(config.model, wanted, taken)
    if taken.get(name, wanted) != wanted:
        raise Usage(
            f"the run {order.task.name}/{order.method}/{name} has another configuration; recordings of two never mix. "
            "Give another --run, or leave it out."
        )
    path = folder / name / RUN_FILE
    if name in taken:
        there = read_run(path)
        if there.provenance != "recorded":
            raise Usage(f"the run {name} is {there.provenance}; recordings of different provenance never mix.")
        config = replace(there, selection=_joined(there.selection, order.selection))
    replace_file(path, run_bytes(config))
    return Run.at(path.parent)


def record(
    order: Order,
    studio: Studio,
    *,
    stopped: threading.Event | None = None,
    tell: Callable[[Recorded], None] = lambda _: None,
) -> RecordReport:
    """Record what *order* asks for.

    Args:
        order: what.
        studio: the model, the wiki and the prompt, shared by all episodes.
        stopped: set it to stop after the calls under way.
        tell: called after each episode, in the caller's thread.

    Returns:
        The report; provider and network errors are in it. A refusal that would hold for every episode, and an
        interrupt, stop the recording and are in `RecordReport.stopped`.

    Raises:
        Usage: see `prepare`.
        OSError: the disk is full; what was recorded is intact.
    """
    stopped = stopped or threading.Event()
    run = prepare(order)
    report = RecordReport(run)
    waiting = list(order.questions)
    with ThreadPoolExecutor(max_workers=order.connections) as pool:
        under_way: dict[Future[Recorded], str] = {}
        try:
            while waiting or under_way:
                while waiting and len(under_way) < order.connections and not stopped.is_set():
                    question = waiting.pop(0)
                    job = _Job(order, run, studio, question, stopped)
                    under_way[pool.submit(job.run)] = question.key
                if not under_way:
                    break
                done, _ = wait(under_way, return_when=FIRST_COMPLETED)
                for future in done:
                    key = under_way.pop(future)
                    _settle(future, key, report, stopped, tell)
        except BaseException:
            stopped.set()
            raise
    settled = {episode.key for episode in report.episodes}
    report.remaining = [question.key for question in order.questions if question.key not in settled]
    return report


def _settle(
    future: Future[Recorded],
    key: str,
    report: RecordReport,
    stopped: threading.Event,
    tell: Callable[[Recorded], None],
) -> None:
    try:
        episode = future.result()
    except Interrupted as error:
        report.stopped = report.stopped or error
        return
    report.episodes.append(episode)
    tell(episode)
    if getattr(episode.problem, "fatal", False):
        report.stopped = episode.problem
        stopped.set()


@dataclass(frozen=True)
class _Job:
    order: Order
    run_: Run
    studio: Studio
    question: Question
    stopped: threading.Event

    def run(self) -> Recorded:
        from filelock import FileLock, Timeout

        key, path = self.question.key, self.run_.path(self.question.key)
        if path.exists() and self.order.mode in {"once", "none"}:
            return Recorded(key, "kept")
        if self.order.mode == "none":
            return Recorded(key, "absent", problem=CassetteAbsent(f"{self.run_.label}, episode {key}: not recorded."))
        if self.stopped.is_set():
            raise Interrupted
        lock = FileLock(path.with_name(f".{key}.lock"), timeout=0)
        try:
            with lock:
                return self._locked(key, path)
        except Timeout:
            return Recorded(key, "busy")
        finally:
            lock.release()

    def _locked(self, key: str, path: Path) -> Recorded:
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
        failure = self.run_.error_path(key)
        try:
            recording.make(fresh=self.order.mode == "all", extend=self.order.mode == "new_episodes")
        except Interrupted:
            raise
        except ReactReproError as error:
            if error.exit_code == 4:
                replace_file(failure, _error_bytes(self.question, error))
            return Recorded(key, "failed", recording.calls, error)
        failure.unlink(missing_ok=True)
        path.with_name(f".{key}.lock").unlink(missing_ok=True)
        return Recorded(key, "recorded", recording.calls)


def _error_bytes(question: Question, error: ReactReproError) -> bytes:
    """Return what is kept of a failure: its kind, status and code. No message: servers echo keys in theirs."""
    data = {
        "format": ERROR_FORMAT,
        "key": question.key,
        "question_sha256": question.sha256,
        "kind": error.kind,
        "status": getattr(error, "status", None),
        "code": getattr(error, "code", None),
    }
    return (json.dumps(data, ensure_ascii=True, indent=2) + "\n").encode("ascii")


def _taken(folder: Path) -> dict[str, str]:
    """Return the names of the runs in *folder* with their settings hashes."""
    found = {}
    for path in sorted(folder.glob(f"*/{RUN_FILE}")):
        found[path.parent.name] = read_run(path).settings_sha256()
    return found


def _joined(old: str, new: str) -> str:
    """Return the selection that asks for what either asks for."""
    parts: Iterable[str] = (part for text in (old, new) for part in text.split(",") if part)
    return ",".join(dict.fromkeys(parts))
