"""Reports for people: trajectories, tables, summaries. Plain text, ASCII where the content is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ..domain import Trajectory
from ..visible import escaped, lines


def table(rows: Iterable[tuple[str, object]]) -> str:
    """Return name/value rows with the values aligned."""
    rows = list(rows)
    width = max((len(name) for name, _ in rows), default=0)
    return "\n".join(f"{name:<{width}}  {escaped(str(value))}".rstrip() for name, value in rows)


def grid(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table with aligned columns; numbers to the right, everything else to the left."""
    cells = [[escaped(str(cell)) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in [list(head), *cells]) for column in range(len(head))]
    right = [bool(cells) and all(_is_number(row[column]) for row in cells) for column in range(len(head))]
    return "\n".join(_grid_row(row, widths, right) for row in [list(head), *cells])


def trajectory(found: Trajectory) -> str:
    """Return a trajectory as the paper prints it, one line per thought, action and observation.

    A method without thoughts has no lines for them; samples stand below one another, each with its answer.
    """
    rows = [found.opening]
    for sample in found.samples:
        rows.append(f"Sample {sample.number}: {sample.text.strip()}")
        answer = "no answer" if sample.answer is None else f"answer: {sample.answer}"
        rows.append(f"    ({', '.join([answer, *sample.flags])})")
    thinks = any(step.thought for step in found.steps)
    for step in found.steps:
        if thinks:
            rows.append(f"Thought {step.i}: {step.thought}")
        rows.append(f"Action {step.i}: {step.action.raw}")
        rows.append(f"Observation {step.i}: {step.observation.rstrip()}")
        if step.flags or step.remarks:
            rows.append(f"    ({', '.join([*step.flags, *step.remarks])})")
    return "\n".join(lines(row) for row in rows)


def number(value: float) -> str:
    """Return a score as the tables print it: two decimals."""
    return f"{value:.2f}"


def counted(count: int, what: str, several: str | None = None) -> str:
    """Return "1 episode", "2 episodes", "3 queries"."""
    return f"{count} {what}" if count == 1 else f"{count} {several or what + 's'}"


def indented(text: str, by: int = 2) -> str:
    """Return *text* with every line moved in."""
    return "\n".join(" " * by + line for line in text.split("\n"))


def problems(messages: Iterable[object]) -> Iterator[str]:
    """Yield error messages, ready for a terminal."""
    for message in messages:
        yield lines(str(message))


def _is_number(cell: str) -> bool:
    return cell.replace(".", "", 1).replace("-", "", 1).isdecimal() or cell in {"", "-", "?"}


def _grid_row(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    cells = [cell.rjust(w) if r else cell.ljust(w) for cell, w, r in zip(row, widths, right, strict=True)]
    return "  ".join(cells).rstrip()
