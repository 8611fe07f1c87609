"""Record a back-off: its parts, the second one only for the questions for which it is triggered."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..cassettes.library import Library
from ..cassettes.runs import Run
from ..cassettes.selection import words_of
from ..domain import BackOff, Question, Tokens, Trajectory
from ..methods import BACK_OFFS
from .episode import Studio
from .order import Order, find, named, prepare
from .record import Recorded, RecordReport, record
from .replay import replay_episode
from .roots import Sources


@dataclass(frozen=True, kw_only=True)
class BackOffOrder:
    """A back-off to record.

    Attributes:
        order: the composition itself: its method, its questions, the run that will name its parts.
        parts: the orders of its parts, the one that is always asked first, for all questions each.
        sources: where the first part is replayed from, to see what it triggers.
    """

    order: Order
    parts: tuple[Order, Order]
    sources: Sources


def record_back_off(
    wanted: BackOffOrder,
    studio: Callable[[Order], Studio | None],
    *,
    stopped: threading.Event | None = None,
    tell: Callable[[Recorded], None] = lambda _: None,
) -> RecordReport:
    """Record the parts of a back-off, as far as they are not recorded, and the run that names them.

    Calls are stored in the parts. The second part is asked only for the questions for which the recorded first part
    triggers it.

    Args:
        wanted: what.
        studio: makes the studio of a part, when it is needed; None where nothing is to be asked.
        stopped, tell: as for `record`; what *tell* hears of is the episodes of both parts.

    Returns:
        The report of the composed run: a question is recorded where either part was.

    Raises:
        Usage, Corrupt, DiskError: see `prepare`.
    """
    first = _recorded(wanted.parts[0], studio, stopped, tell)
    reports = [first]
    done = {episode.key for episode in first.episodes if episode.state in ("recorded", "kept")}
    fired = triggered(wanted, first.run, done)
    second = wanted.parts[1]
    if fired and first.stopped is None:
        asked = replace(second, questions=fired, selection=words_of([question.key for question in fired]))
        reports.append(_recorded(asked, studio, stopped, tell))
    names = [report.run.name for report in reports]
    if len(names) < 2:
        names.append(second.run or first.run.name)
    parts = {part.method: f"{part.method}/{name}" for part, name in zip(wanted.parts, names, strict=True)}
    order = replace(wanted.order, parts=parts)
    made = find if order.mode == "none" else prepare if done else named
    return _joined(made(order), order.questions, reports)


def _recorded(
    order: Order,
    studio: Callable[[Order], Studio | None],
    stopped: threading.Event | None,
    tell: Callable[[Recorded], None],
) -> RecordReport:
    made = studio(order)
    try:
        return record(order, made, stopped=stopped, tell=tell)
    finally:
        if made is not None:
            made.close()


def triggered(wanted: BackOffOrder, first: Run, done: set[str]) -> tuple[Question, ...]:
    """Return the questions for which the second part is asked. One whose recording does not replay is not."""
    method: BackOff = BACK_OFFS.get(wanted.order.method)()
    sources = replace(wanted.sources, library=Library.of([wanted.order.root, *wanted.sources.library.roots]))
    if wanted.order.snapshot is not None:
        snapshots = tuple(dict.fromkeys((wanted.order.snapshot.resolve(), *sources.snapshots)))
        sources = replace(sources, snapshots=snapshots)
    found = []
    for question in wanted.order.questions:
        if question.key not in done:
            continue
        replayed = replay_episode(first, question.key, sources)
        if replayed.trajectory is not None and _triggers(method, replayed.trajectory):
            found.append(question)
    return tuple(found)


def _triggers(method: BackOff, first: Trajectory) -> bool:
    asked: list[str] = []

    def part(role: str) -> Trajectory:
        asked.append(role)
        return first

    method.compose(part)
    return len(asked) > 1


def _joined(run: Run, questions: Sequence[Question], reports: Sequence[RecordReport]) -> RecordReport:
    joined = RecordReport(run, calls=sum(report.calls for report in reports))
    found: dict[str, Recorded] = {}
    for report in reports:
        joined.stopped = joined.stopped or report.stopped
        for episode in report.episodes:
            before = found.get(episode.key)
            calls = episode.calls + (before.calls if before else 0)
            both = before is not None and before.state == "recorded" and episode.state == "kept"
            made = [e.tokens for e in (before, episode) if e is not None and e.calls]
            kept = before if before is not None and both else episode
            found[episode.key] = replace(kept, calls=calls, tokens=Tokens.total(made))
        for key in report.remaining:
            found.pop(key, None)
    joined.episodes = [found[question.key] for question in questions if question.key in found]
    joined.remaining = [question.key for question in questions if question.key not in found]
    return joined
