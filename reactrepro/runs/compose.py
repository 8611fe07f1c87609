"""Back-offs over recorded runs: their parts are replayed, and nothing else is asked."""

from __future__ import annotations

from collections.abc import Callable

from ..cassettes.runs import RUN_FILE, Run
from ..domain import BackOff, Task, Trajectory
from ..errors import CassetteAbsent, Corrupt, ReactReproError, Usage
from ..methods import BACK_OFFS
from ..report.model import EpisodeReport
from ..tasks import TASKS
from .play import scored
from .roots import shown


def composed(
    run: Run, key: str, replayed: Callable[[Run], EpisodeReport], threshold: float | None = None
) -> EpisodeReport:
    """Return what becomes of the question *key* in *run*, which is composed of others.

    Args:
        run, key: which.
        replayed: replays that question in a part. It is called for the second part only where that is triggered.
        threshold: see `domain.BackOff.compose`.

    Raises:
        Corrupt: *run* is no composition that can be computed.
    """
    method, task = _method(run), _task(run)
    parts = {part.method: part for part in run.parts()}
    reports: list[EpisodeReport] = []

    def play(role: str) -> Trajectory:
        report = replayed(parts[role])
        reports.append(report)
        if report.trajectory is None:
            raise _NotPlayed
        return report.trajectory

    try:
        trajectory: Trajectory | None = method.compose(play, threshold)
    except _NotPlayed:
        trajectory = None
    first = reports[0]
    question = first.question
    return EpisodeReport(
        run=run,
        key=key,
        file=shown(run.folder / RUN_FILE),
        question=question,
        prompt=first.prompt,
        trajectory=trajectory,
        score=None if trajectory is None or question is None else scored(task, trajectory, question),
        turns=tuple(turn for report in reports for turn in report.turns),
        problems=tuple(_explained(problem, run, key) for report in reports for problem in report.problems),
        prompt_changed=any(report.prompt_changed for report in reports),
        parts=tuple(reports),
    )


class _NotPlayed(Exception):
    """A part could not be replayed; its report says why."""


def _explained(problem: ReactReproError, run: Run, key: str) -> ReactReproError:
    if isinstance(problem, CassetteAbsent):
        return CassetteAbsent(f"{run.label}, episode {key}: a part that it needs is missing.\n  {problem}")
    return problem


def _method(run: Run) -> BackOff:
    try:
        method = BACK_OFFS.get(run.config.method)()
    except Usage as error:
        raise Corrupt(f"{run.label}: {error}. It needs a package that is not installed, or was altered.") from None
    named = run.config.parts
    if set(named) != set(method.parts):
        raise Corrupt(f"{run.label} names the parts {', '.join(named)}; it is composed of {', '.join(method.parts)}.")
    for part in run.parts():
        if part.config.parts:
            raise Corrupt(f"{run.label}: its part {part.label} is composed itself.")
    return method


def _task(run: Run) -> Task:
    try:
        return TASKS.get(run.config.task.name)()
    except Usage as error:
        raise Corrupt(f"{run.label}: {error}. It needs a package that is not installed, or was altered.") from None
