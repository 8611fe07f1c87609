"""Record again what went stale, and only that: a new run beside the old one, which takes over its name when complete.

Episodes that still replay are copied. The others are recorded from the first call that differs: their recorded replies
are used as far as they fit. Until everything is there the old run stays what it is.
"""

from __future__ import annotations

import difflib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..cassettes.locks import locked
from ..cassettes.names import checked_name
from ..cassettes.read import MAX_CASSETTE, read_bytes
from ..cassettes.runs import Run
from ..cassettes.selection import words_of
from ..cassettes.write import replace_file
from ..domain import Outcome, Question
from ..errors import DiskError, ReactReproError, Usage
from ..report import text
from ..report.model import EpisodeReport
from .check import report as reported
from .check import requested
from .order import FOLDER_LOCK, PATIENCE, Order, prepare
from .record import RecordReport
from .replay import follow_episode
from .roots import Sources

CHANGED = ".changed"
"""Ends the name of a run that is to take over the name before it."""

_OLD = ".superseded"


@dataclass(frozen=True, slots=True)
class Stale:
    """An episode that does not replay anymore, or was never recorded.

    Attributes:
        key: which.
        why: the class that `check` counts it under.
        question: as recorded, or as the task has it.
        calls: how many calls its recording holds; 0 where there is none.
        usable: how many of them come before the first one that differs.
    """

    key: str
    why: str
    question: Question
    calls: int
    usable: int


@dataclass(frozen=True)
class Renewal:
    """What is to be recorded again in a run.

    Attributes:
        run: the run.
        valid: keys of the episodes that are copied, in order.
        stale: the others.
    """

    run: Run
    valid: tuple[str, ...]
    stale: tuple[Stale, ...]

    @property
    def at_least(self) -> int:
        """How many calls the stale episodes need beyond what is usable, if the model takes as many as it did."""
        return sum(max(episode.calls - episode.usable, 1) for episode in self.stale)


@dataclass(frozen=True, slots=True)
class Change:
    """What became of an episode that was recorded again.

    Attributes:
        key: which.
        before, after: the outcomes; None where there was none.
        diff: a unified diff of the two trajectories, the old one played from its replies; "" where they are equal.
    """

    key: str
    before: Outcome | None
    after: Outcome | None
    diff: str


@dataclass(frozen=True)
class Renewed:
    """What `renew` did.

    Attributes:
        report: of the recording.
        copied: keys that were taken over.
        run: the run that is complete now and bears the name; None where it is not complete.
        kept: the old run, where it was kept under another name.
        changes: per episode recorded again.
    """

    report: RecordReport
    copied: tuple[str, ...]
    run: Run | None
    kept: Run | None = None
    changes: list[Change] = field(default_factory=list)

    @property
    def compared(self) -> list[tuple[Outcome, Outcome]]:
        """The outcomes before and after of the episodes that had one before."""
        return [(c.before, c.after) for c in self.changes if c.before is not None and c.after is not None]


def plan(run: Run, sources: Sources, known: Mapping[str, Question]) -> Renewal:
    """Return what is stale in *run*: what does not replay as recorded, and what its selection asks for in vain.

    Args:
        run, sources: which, and what it is replayed from.
        known: the task's questions by key, for what is not recorded, or cannot be read.

    Raises:
        Usage: *run* was not recorded, or is composed of others; or a question is known to nobody.
        ReactReproError: its configuration cannot be read.
    """
    if run.config.provenance != "recorded":
        raise Usage(
            f"{run.label} is {run.config.provenance}: there is no server to ask again. Record a run of your own."
        )
    if run.config.parts:
        raise Usage(f"{run.label} has no calls of its own. Renew {' or '.join(part.label for part in run.parts())}.")
    valid, stale = [], []
    for one, key, problem in requested(run):
        report = reported(one, key, problem, sources)
        if report.ok:
            valid.append(key)
            continue
        question = report.question or known.get(key)
        if question is None:
            raise Usage(
                f"{run.label}, episode {report.key}: its question is not known. Name a file that has it by --data."
            )
        stale.append(Stale(report.key, report.kind, question, _calls(run, report), _usable(report)))
    return Renewal(run, tuple(valid), tuple(stale))


def renew(
    renewal: Renewal,
    order: Order,
    record: Callable[[Order], RecordReport],
    sources: Sources,
    *,
    keep: str | None = None,
) -> Renewed:
    """Record what is stale, and give the new run the name of the old one when it is complete.

    Args:
        renewal: from `plan`.
        order: an order under the run's own configuration, into the folder that is to hold the new run; its questions,
            selection, name and mode are set here.
        record: carries out an order.
        sources: where the old and the new run are replayed from, for the comparison.
        keep: a name under which the old run is kept; None to remove it.

    Raises:
        Usage: the configurations differ, or the name to keep is taken.
        ReactReproError: as `prepare`.
    """
    old = renewal.run
    wanted = replace(
        order,
        questions=tuple(episode.question for episode in renewal.stale),
        selection=old.config.selection or words_of(sorted([*renewal.valid, *(e.key for e in renewal.stale)])),
        run=f"{old.name}{CHANGED}",
        mode="new_episodes",
        supersedes=old.id,
        note=order.note or old.config.note,
    )
    if wanted.config.settings_sha256() != old.config.settings_sha256():
        raise Usage(f"{old.label} has another configuration: what went stale is recorded under its own, or not at all.")
    if keep is not None and (order.folder / checked_name(keep, "run")).exists():
        raise Usage(f"there is a run {keep} already; keep the old one under another name.")
    made = prepare(wanted)
    _take_over(renewal, made)
    report = record(wanted)
    changes = list(_changes(renewal, made, sources))
    wants = set(renewal.valid) | {episode.key for episode in renewal.stale}
    if report.problems or report.remaining or not wants <= set(made.keys()):
        return Renewed(report, renewal.valid, None, None, changes)
    run, kept = _swap(order.folder, old, made, keep)
    return Renewed(report, renewal.valid, run, kept, changes)


def _take_over(renewal: Renewal, made: Run) -> None:
    """Copy what is valid, and put what is stale where an unfinished recording stands, to be carried on from there."""
    try:
        for key in renewal.valid:
            if not made.path(key).exists():
                replace_file(made.path(key), read_bytes(renewal.run.path(key), MAX_CASSETTE))
        for episode in renewal.stale:
            begun = made.path(episode.key).exists() or made.part_path(episode.key).exists()
            if episode.calls and not begun:
                replace_file(made.part_path(episode.key), read_bytes(renewal.run.path(episode.key), MAX_CASSETTE))
    except OSError as error:
        raise DiskError.of(error) from error


def _swap(folder: Path, old: Run, made: Run, keep: str | None) -> tuple[Run, Run | None]:
    """Give *made* the name of *old*; between two renames the name is free for a moment, and nothing is lost."""
    name, beside = folder / old.name, old.folder.parent == folder.resolve()
    aside = folder / (keep or f".{old.name}{_OLD}")
    try:
        with locked(folder / FOLDER_LOCK, wait=PATIENCE) as held:
            if not held:
                raise DiskError(f"{folder / FOLDER_LOCK} is held by another recorder for {PATIENCE:g} s. Try again.")
            if beside:
                os.replace(name, aside)
            elif keep is not None:
                shutil.copytree(old.folder, aside)
            os.replace(made.folder, name)
            if beside and keep is None:
                shutil.rmtree(aside)
    except OSError as error:
        raise DiskError.of(error) from error
    return Run(name.resolve(), old.task, old.method, old.name), Run.at(aside) if keep is not None else None


def _changes(renewal: Renewal, made: Run, sources: Sources) -> Iterator[Change]:
    for episode in renewal.stale:
        try:
            after = made.read(episode.key).meta.outcome
        except ReactReproError:
            continue  # its problem is in the report
        before, then = None, ""
        if episode.calls:
            before = renewal.run.read(episode.key).meta.outcome
            then = _played(renewal.run, episode.key, sources)
        yield Change(episode.key, before, after, _diff(then, _played(made, episode.key, sources)))


def _played(run: Run, key: str, sources: Sources) -> str:
    """Return the trajectory that the recorded replies make, as it is printed."""
    trajectory = follow_episode(run, key, sources).report.trajectory
    return "" if trajectory is None else text.trajectory(trajectory)


def _diff(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), "before", "after", n=1, lineterm="")
    return "\n".join(lines)


def _calls(run: Run, report: EpisodeReport) -> int:
    try:
        return len(run.read(report.key).interactions)
    except ReactReproError:
        return 0


def _usable(report: EpisodeReport) -> int:
    return sum(turn.completion is not None for turn in report.turns)
