"""Comparisons of two runs, as text and as data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from . import text
from .scored import Comparison, Difference, Flip

_SIDES = ("first", "second")


def table(found: Comparison, *, flips: bool = True) -> str:
    """Return the comparison for people; without *flips*, the questions that flipped are only counted."""
    f1 = [_difference("F1", found.f1)] if found.headline == "EM" else []
    named = zip(_SIDES, found.runs, found.run_ids, strict=True)
    head = ("", *_SIDES, "second - first", f"{found.level * 100:g} % interval")
    parts = [
        text.table([(side, f"{label}, id {run_id[:12]}") for side, label, run_id in named]),
        _configuration(found),
        _counts(found),
        text.grid(head, [_difference(found.headline, found.em), *f1]),
        f"Intervals: paired bootstrap, percentile, {found.resamples} resamples, seed {found.seed}.\n"
        f"McNemar's exact test, two-sided: p = {_p(found.p)} ({found.only_first} against {found.only_second}).",
    ]
    if flips and found.flips:
        columns = ("key", "right", *(f"{side} answers" for side in _SIDES), "gold", "question")
        parts.append("Flipped:\n" + text.grid(columns, [_flip(row) for row in found.flips]))
    return "\n\n".join(parts)


def as_dict(found: Comparison) -> dict[str, Any]:
    """Return the comparison as JSON-ready data."""
    return asdict(found) | {"configuration": {name: list(pair) for name, pair in found.configuration.items()}}


def _configuration(found: Comparison) -> str:
    if not found.configuration:
        return "The two have the same configuration."
    return text.grid(("differs in", *_SIDES), [(name, *map(str, pair)) for name, pair in found.configuration.items()])


def _counts(found: Comparison) -> str:
    left = f"; {text.counted(found.left_out, 'episode')} that only one has judged left out" if found.left_out else ""
    rows = [
        ("both right", found.both),
        ("only first", found.only_first),
        ("only second", found.only_second),
        ("neither", found.neither),
    ]
    return f"{text.counted(found.n, 'question')} judged in both{left}.\n{text.table(rows)}"


def _difference(name: str, found: Difference) -> tuple[str, ...]:
    low, high = found.interval
    return name, f"{found.first:.3f}", f"{found.second:.3f}", f"{found.difference:+.3f}", f"{low:+.3f} to {high:+.3f}"


def _flip(row: Flip) -> tuple[object, ...]:
    answers = ["(none)" if answer is None else answer for answer in row.answers]
    return row.key, _SIDES[row.right - 1], *answers, row.gold, row.question


def _p(value: float) -> str:
    return f"{value:.4f}" if value >= 0.0001 else f"{value:.1e}"
