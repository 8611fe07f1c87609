"""What was measured, and what its goal says of it: verdicts, the table, the exit code.

Ratios that are taken in one run hold on every machine, so a missed one fails the run. Milliseconds tell about the
machine, too: they are printed beside their goal, and fail nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Goal:
    """What a value is to be.

    Attributes:
        limit: the most that it may be, or the least.
        at_least: *limit* is the least.
        required: missing it fails the run.
    """

    limit: float
    at_least: bool = False
    required: bool = False

    def met_by(self, value: float) -> bool:
        """Tell whether *value* is as it is to be; a value that is no number never is."""
        return value >= self.limit if self.at_least else value <= self.limit


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table.

    Attributes:
        name: what was measured.
        value: the median; None where it could not be measured, and *note* says why.
        unit: "ms" (of CPU time, unless *note* says so), "times" (a ratio of two values of one run), "MB" or "right"
            (percent that came out right).
        goal: what it is to be, if anything.
        note: what a reader of the table needs to know.
    """

    name: str
    value: float | None
    unit: str
    goal: Goal | None = None
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the line as JSON-ready data."""
        goal = self.goal
        return {
            "name": self.name,
            "value": self.value,
            "unit": self.unit,
            "goal": None if goal is None else {"at_least" if goal.at_least else "at_most": goal.limit},
            "required": goal is not None and goal.required,
            "verdict": verdict(self),
            "note": self.note,
        }


def verdict(row: Row) -> str:
    """Return "ok" or "missed" for a requirement, else "printed", with what became of the goal where there is one.

    A requirement that could not be measured is missed: nothing vouches for it.
    """
    if row.goal is None:
        return "printed" if row.value is not None else "absent"
    met = row.value is not None and not math.isnan(row.value) and row.goal.met_by(row.value)
    if row.goal.required:
        return "ok" if met else "missed"
    if row.value is None:
        return "absent"
    return "printed (met)" if met else "printed (not met)"


def exit_code(rows: Iterable[Row]) -> int:
    """Return 1 if a requirement is missed, else 0."""
    return int(any(verdict(row) == "missed" for row in rows))


def table(rows: Sequence[Row]) -> str:
    """Return the rows as text: name, measured, goal, verdict, and the note where there is one."""
    cells = [("", "measured", "goal", ""), *((row.name, _measured(row), _goal(row), verdict(row)) for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(3)]
    lines = [
        f"{name:<{widths[0]}}  {measured:>{widths[1]}}  {goal:>{widths[2]}}  {found}".rstrip()
        for name, measured, goal, found in cells
    ]
    notes = [""] + [f"  ({row.note})" if row.note else "" for row in rows]
    return "\n".join(line + note for line, note in zip(lines, notes, strict=True))


def _measured(row: Row) -> str:
    return "-" if row.value is None else f"{_digits(row.value)} {_UNITS[row.unit]}"


def _goal(row: Row) -> str:
    if row.goal is None:
        return ""
    return f"{'>=' if row.goal.at_least else '<='} {row.goal.limit:g} {_UNITS[row.unit]}"


def _digits(value: float) -> str:
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 1 else f"{value:.3f}"


_UNITS = {"ms": "ms", "times": "x ", "right": "% ", "MB": "MB"}
