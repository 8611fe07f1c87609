"""Sweeps, as tables, as data and as charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import ReactReproError, exit_code
from ..visible import escaped
from . import text
from .chart import Chart, Point, Series, svg
from .scored import RunScore

COMPUTED = "Computed from the recordings, not recorded: no run was made with these values"


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One value.

    Attributes:
        value: of the setting.
        recorded: it is the value that the run was recorded with.
        score: what the run would be worth with it.
    """

    value: float
    recorded: bool
    score: RunScore


@dataclass(frozen=True)
class SweepReport:
    """What `sweep` reports.

    Attributes:
        task: which.
        setting: which: ``samples``, ``threshold`` or ``max_steps``.
        rows: by run, then by value.
        left_out: runs in which the setting has no meaning.
        problems: everything that kept an episode from being judged.
    """

    task: str
    setting: str
    rows: tuple[SweepRow, ...]
    left_out: tuple[str, ...] = ()
    problems: tuple[ReactReproError, ...] = ()

    @property
    def name(self) -> str:
        """The setting, as people read it."""
        return {"samples": "samples", "threshold": "threshold", "max_steps": "step limit"}[self.setting]

    @property
    def exit_code(self) -> int:
        """The highest exit code of all problems."""
        return exit_code(self.problems)


def table(report: SweepReport, *, quiet: bool = False) -> str:
    """Return the sweep for people: one row per run and value, and that it was computed."""
    parts = [grid(report)]
    if not quiet:
        star = "; *: the value that was recorded" if any(row.recorded for row in report.rows) else ""
        parts.append(f"{COMPUTED}{star}.")
        if report.left_out:
            parts.append(
                escaped(f"Left out, since the {report.name} has no meaning there: {', '.join(report.left_out)}.")
            )
    return "\n\n".join(parts)


def grid(report: SweepReport) -> str:
    """Return the table alone."""
    headline = report.rows[0].score.headline
    head = ["method", "run", report.name, "", "n", headline, f"{report.rows[0].score.level * 100:g} %"]
    head += [*(["F1"] if headline == "EM" else []), "calls"]
    return text.grid(head, [_row(row) for row in report.rows])


def as_dict(report: SweepReport) -> dict[str, Any]:
    """Return the sweep as JSON-ready data."""
    head, *rows = columns(report)
    return {
        "task": report.task,
        "setting": report.setting,
        "computed": True,
        "rows": [dict(zip(head, row, strict=True)) for row in rows],
        "left_out": list(report.left_out),
        "problems": [
            {"kind": problem.kind, "exit_code": problem.exit_code, "message": str(problem)}
            for problem in report.problems
        ],
        "exit_code": report.exit_code,
    }


def columns(report: SweepReport) -> list[list[Any]]:
    """Return the sweep for programs: a head, then one row per run and value."""
    head = ["task", "method", "run", "run_id", "setting", "value", "as_recorded", "requested", "judged", "right", "em"]
    head += ["interval_low", "interval_high", "level", "f1", "em_requested", "steps", "llm_calls"]
    rows = []
    for row in report.rows:
        score = row.score
        place = [score.task, score.method, score.run, score.run_id, report.setting, row.value, row.recorded]
        counts = [score.requested, score.judged, score.right, score.em, *score.interval, score.level, score.f1]
        rows.append([*place, *counts, score.em_requested, score.steps, score.llm_calls])
    return [list(head), *rows]


def chart(report: SweepReport) -> bytes:
    """Return the sweep as an SVG file: the headline over the setting, with its intervals, a line for each run."""
    first = report.rows[0].score
    by_run: dict[str, list[Point]] = {}
    for row in report.rows:
        if row.score.em is not None:
            point = Point(row.value, row.score.em, *row.score.interval)
            by_run.setdefault(f"{row.score.method}/{row.score.run}", []).append(point)
    series = tuple(Series(name, tuple(points)) for name, points in by_run.items())
    return svg(
        Chart(
            title=f"{report.task}: {first.headline} by {report.name}, computed from recordings",
            description=f"{COMPUTED}. Whiskers: {first.level * 100:g} % Wilson intervals. {_said(series)}",
            x=report.name,
            y=first.headline,
            series=series,
        )
    )


def _said(series: Sequence[Series]) -> str:
    ends = (
        f"{one.name}: {one.points[0].y:.3f} at {one.points[0].x:g}, {one.points[-1].y:.3f} at {one.points[-1].x:g}."
        for one in series
    )
    return " ".join(ends)


def _row(row: SweepRow) -> list[object]:
    score = row.score
    low, high = score.interval
    return [
        score.method,
        score.run,
        f"{row.value:g}",
        "*" if row.recorded else "",
        str(score.judged) if score.judged == score.requested else f"{score.judged} of {score.requested}",
        "-" if score.em is None else f"{score.em:.3f}",
        f"{low:.3f} to {high:.3f}",
        *(["-" if score.f1 is None else f"{score.f1:.3f}"] if score.headline == "EM" else []),
        "-" if score.llm_calls is None else f"{score.llm_calls:.1f}",
    ]
