"""Replay: recorded replies and recorded pages go once more through today's loop, and the result is compared."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from .. import prompts
from ..backends import BACKENDS
from ..backends.llm import BackendLlm
from ..cassettes.matching import texts
from ..cassettes.mismatch import Place
from ..cassettes.model import Cassette, EpisodeMeta
from ..cassettes.runs import Run
from ..cassettes.tapes import read_tape
from ..domain import Ask, Environment, Method, Outcome, Prompt, Task
from ..errors import CassetteAbsent, CassetteMiss, Corrupt, OutcomeChanged, PromptAbsent, ReactReproError, Usage
from ..exchanges.follow import Follow
from ..exchanges.replay import Replay
from ..judged import ClosedBook
from ..methods import METHODS
from ..parsing import PROTOCOLS
from ..report.followed import Round
from ..report.model import EpisodeReport
from ..tasks import TASKS
from . import pool
from .compose import composed
from .listing import overrides
from .play import judge, play, scored
from .roots import Sources, shown
from .what_if import AS_RECORDED, WhatIf

if TYPE_CHECKING:
    from ..exchanges.wire import Wire

T = TypeVar("T")


def replay_all(
    episodes: Sequence[tuple[Run, str]],
    sources: Sources,
    *,
    wire: bool = False,
    what_if: WhatIf = AS_RECORDED,
    jobs: int | None = 1,
) -> Iterator[EpisodeReport]:
    """Replay one episode after the other; every problem is in its report, none is raised.

    Args:
        episodes: which.
        sources, wire, what_if: see `replay_episode`.
        jobs: among how many processes they are divided; see `pool.each`.
    """
    yield from pool.each(partial(_replay_one, sources, wire, what_if), episodes, jobs)


def _replay_one(sources: Sources, wire: bool, what_if: WhatIf, episode: tuple[Run, str]) -> EpisodeReport:
    return replay_episode(*episode, sources, wire=wire, what_if=what_if)


def replay_episode(
    run: Run, key: str, sources: Sources, *, wire: bool = False, what_if: WhatIf = AS_RECORDED
) -> EpisodeReport:
    """Replay one episode. No network, no key, no data set; every problem is in the report, none is raised.

    Args:
        run, key: which. A run that is composed of others replays theirs.
        sources: where pages and prompts are read from.
        wire: send each request through the provider's SDK, answered at its transport, instead of looking it up.
        what_if: what is to be computed otherwise than it was recorded.
    """
    file = shown(run.path(key))
    try:
        if run.config.parts:  # a configuration that cannot be read says more than an absent episode
            return composed(
                run, key, lambda part: replay_episode(part, key, sources, wire=wire, what_if=what_if), what_if.threshold
            )
        make = _wire if wire else Replay
        return _Replayed(run, run.read(key), sources, make, what_if=what_if).report(compared=what_if == AS_RECORDED)
    except CassetteAbsent:
        problem: ReactReproError = CassetteAbsent(_absent(run, key, file))
    except ReactReproError as error:
        problem = error
    return EpisodeReport(run, key, file, problems=(problem,))


def follow_episode(run: Run, key: str, sources: Sources) -> Followed:
    """Play one episode with its recorded replies in recorded order, whatever is asked: no result, but a look ahead.

    Args:
        run, key, sources: as for `replay_episode`; `Sources.prompt` takes the place of the recorded prompt.

    Raises:
        Usage: *run* is composed of others, whose prompts are its parts'; or no such prompt.
        ReactReproError: the recording cannot be read.
    """
    if run.config.parts:
        raise Usage(f"{run.label} has no prompts of its own: follow {' or '.join(p.label for p in run.parts())}.")
    followed = _Replayed(run, run.read(key), sources, Follow)
    report = followed.report(compared=False)
    assert isinstance(followed.exchange, Follow)  # noqa: S101 - it was made so
    # Whatever the API, nothing else in a body is as long as the prompt.
    recorded = (max(texts(body), key=len, default="") for body in followed.exchange.recorded)
    turns = (turn for turn in report.turns if turn.completion is not None)
    return Followed(report, tuple(Round(t.step, t.prompt, then) for t, then in zip(turns, recorded, strict=True)))


@dataclass(frozen=True, slots=True)
class Followed:
    """What a look ahead shows.

    Attributes:
        report: the turns, with the prompts as they would be sent, and the trajectory that the recorded replies make.
            Its problem, where there is one, is where the recorded replies end.
        rounds: the turns that were answered, each beside what was recorded at its place.
    """

    report: EpisodeReport
    rounds: tuple[Round, ...]


class _Replayed:
    """One replay under way; collects what `EpisodeReport` holds as it becomes known."""

    def __init__(
        self,
        run: Run,
        cassette: Cassette,
        sources: Sources,
        make: Callable[[Cassette, Place], Replay | Wire | Follow],
        *,
        what_if: WhatIf = AS_RECORDED,
    ) -> None:
        self.run, self.cassette, self.what_if = run, cassette, what_if
        self.file = shown(run.path(cassette.meta.key))
        self.meta = cassette.meta
        self.question = cassette.meta.as_question()
        self.task: Task = _known(TASKS.get, run.config.task.name, run)()
        self.method: Method = _known(METHODS.get, run.config.method, run)()
        self.settings = what_if.limited(run.config.settings) if self.method.acts else run.config.settings
        _known(PROTOCOLS.get, self.settings.protocol, run)
        self.prompt = prompt_now(run, cassette.meta, sources)
        self.changed = self.prompt.sha256 != cassette.meta.prompt.sha256
        self.exchange = make(cassette, self._place())
        backend = _known(BACKENDS.get, self.settings.api, run)()
        ask = Ask(run.config.model, self.settings.max_tokens, self.settings.temperature, cassette.meta.sent)
        self.llm = BackendLlm(backend, self.exchange, ask)
        self.env = self._environment(sources)

    def report(self, *, compared: bool) -> EpisodeReport:
        problems: list[ReactReproError] = []
        trajectory, score = None, None
        try:
            trajectory, score = play(
                self.method,
                self.task,
                question=self.question,
                prompt=self.prompt,
                llm=self.llm,
                env=self.env,
                settings=self.settings,
            )
            if compared:
                for finish in (self.exchange.finish, getattr(self.env, "finish", _nothing_to_finish)):
                    problems.extend(_caught(finish))
                problems.extend(self._outcome(Outcome.computed(trajectory, score)))
            else:
                trajectory = self.what_if.first_samples(trajectory, self.llm.turns)
                score = scored(self.task, trajectory, self.question)
        except CassetteMiss as error:
            problems.append(CassetteMiss(replace(error.mismatch, place=self._place(remedy(self.run, self.meta.key)))))
        except ReactReproError as error:
            problems.append(error)
        return EpisodeReport(
            run=self.run,
            key=self.meta.key,
            file=self.file,
            question=self.question,
            prompt=self.prompt,
            trajectory=trajectory,
            score=score,
            expected=self.meta.outcome,
            turns=tuple(self.llm.turns),
            sent=self.meta.sent,
            problems=tuple(problems),
            prompt_changed=self.changed,
            meta=self.meta,
        )

    def _place(self, remedy: str = "") -> Place:
        causes: tuple[str, ...] = ()
        if self.changed:
            then = self.meta.prompt.files
            changed = [file.name for file in self.prompt.files if then.get(file.name) != file.sha256]
            files = " and ".join(changed or [file.name for file in self.prompt.files])
            recorded, now = self.meta.prompt.sha256, self.prompt.sha256
            causes = (f"{files} changed since it was recorded (prompt {recorded[:12]}… then, {now[:12]}… now).",)
        return Place(self.run.label, self.meta.key, self.file, causes, remedy)

    def _environment(self, sources: Sources) -> Environment:
        opening = self.task.opening(self.question)
        if not self.method.acts:
            return ClosedBook(opening, judge(self.task, self.question))
        if self.meta.tape is not None:
            from ..tape import environment

            path = self.run.tape_path(self.meta.key)
            return environment(read_tape(path, self.meta.tape.sha256), judge(self.task, self.question), shown(path))
        from ..wiki.env import WikiEnv
        from ..wiki.snapshot import SnapshotPages

        if self.run.config.site is None:
            raise Corrupt(f"{self.file}: neither a site nor an observation tape is recorded.")
        pins = {pin.query: pin.sha256 for pin in self.meta.pages if pin.site == self.run.config.site}
        try:
            pages = SnapshotPages(sources.snapshots, self.run.config.site, self.settings.extraction, pins)
        except Usage as error:
            raise Corrupt(f"{self.run.label}: {error} Its run.json was altered.") from None
        return WikiEnv(pages, opening, judge(self.task, self.question))

    def _outcome(self, computed: Outcome) -> list[ReactReproError]:
        expected = self.meta.outcome
        where = f"{self.run.label}, episode {self.meta.key}"
        if expected is None:
            return [
                OutcomeChanged(
                    f"{where}: no expected outcome is recorded, so nothing vouches for the computed one.\n"
                    f"  {self.file}\n  Restore the file, or record the episode again."
                )
            ]
        found = expected.differences(computed)
        if not found:
            return []
        rows = "".join(f"\n  {name}: {was!r} recorded, {now!r} computed" for name, (was, now) in found.items())
        version = self.run.config.task.version
        why = ""
        if version != self.task.version:
            why = f"\n  The task's version was {version} when it was recorded and is {self.task.version} now."
        return [
            OutcomeChanged(
                f"{where}: the outcome is not the recorded one.{rows}\n  {self.file}{why}\n"
                "  If the file was edited, restore it; if parsing or scoring changed on purpose, record it again."
            )
        ]


def prompt_now(run: Run, meta: EpisodeMeta, sources: Sources) -> Prompt:
    """Return the prompt that the episode *meta* was recorded with, as it is now; or the one named by `Sources.prompt`.

    Raises:
        PromptAbsent: it is no longer there.
        Usage: there is none of the name given.
        Corrupt: its files cannot be read; or the run's task or method is unknown.
    """
    task: Task = _known(TASKS.get, run.config.task.name, run)()
    method: Method = _known(METHODS.get, run.config.method, run)()
    name = sources.prompt or meta.prompt.name
    try:
        return prompts.load(task.prompt_task, method.prompt, name, roots=sources.prompts)
    except Usage as error:
        if name != meta.prompt.name:
            raise
        text = f"{shown(run.path(meta.key))} was recorded with the prompt {name!r}, which is not there: {error}"
        raise PromptAbsent(text, (task.prompt_task, name, method.prompt)) from None


def remedy(run: Run, key: str) -> str:
    """Return what to do about an episode that no longer replays, down to the command."""
    if run.config.provenance == "recorded":
        return f"Restore what changed, or record what no longer fits again:\n    {command(run, key)}"
    return f"Restore what changed, or record a run of your own under the same conditions:\n    {command(run, key)}"


def command(run: Run, words: str) -> str:
    """Return the command that records the episodes *words* ("0-9,12") of *run* again, under the same conditions.

    A run that was recorded knows its conditions: whatever is stale in it is recorded again, and nothing else.
    """
    config, task = run.config, TASKS.get(run.config.task.name)
    method = ["--method", run.method] * (run.method != "react")
    if config.provenance == "recorded":
        return shlex.join(["reactrepro", "record", run.task, "--changed", *method, "--run", run.name])
    parts = ["reactrepro", "record", run.task, words, "--model", f"{config.provider}/{config.model}", *method]
    parts += ["--prompt", config.prompt] * (config.prompt != task.prompt)
    parts += ["--site", str(config.site)] * (config.site not in {None, task.site})
    parts += ["--profile", config.settings.profile]
    for name, value in overrides(config).items():
        parts += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(parts)


def _wire(cassette: Cassette, place: Place) -> Wire:
    from ..exchanges.wire import Wire  # vcrpy and, once it sends, an SDK: seconds of imports

    return Wire(cassette, place)


def _nothing_to_finish() -> None:
    """Pages need not be used up: which of them are read follows from the actions, and those are compared."""


def _caught(finish: Callable[[], None]) -> list[ReactReproError]:
    try:
        finish()
    except ReactReproError as error:
        return [error]
    return []


def _known(get: Callable[[str], T], name: str, run: Run) -> T:
    try:
        return get(name)
    except Usage as error:
        raise Corrupt(f"{run.label}: {error}. It needs a package that is not installed, or was altered.") from None


def _absent(run: Run, key: str, file: str) -> str:
    keys = run.keys()
    some = ", ".join(keys[:8]) + (" …" if len(keys) > 8 else "")
    return (
        f"{run.label}, episode {key}: it is not recorded.\n"
        f"  {file} does not exist; recorded in this run: {some or 'nothing'}.\n"
        "  `reactrepro list` shows what is at hand."
    )
