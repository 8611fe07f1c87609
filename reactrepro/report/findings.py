"""Findings of `check`, in words and as data. What is said of one is decided here, once, for all formats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..cassettes.mismatch import describe
from ..cassettes.selection import words_of
from ..errors import CassetteMiss
from . import text
from .checked import CheckReport, Finding, Touched

FORMAT = "reactrepro-check/1"
DECLARED = "as the recorder declared it, which is no proof"

_ROWS = 20
"""Runs that are listed under one finding."""


def block(finding: Finding, *, verbose: bool = False) -> str:
    """Return everything about *finding*: what, where, how much, what now."""
    words = body(finding, verbose=verbose)
    if finding.diff:
        words += "\n" + text.indented(finding.diff.rstrip("\n"), 4)
    return words + advice(finding, verbose=verbose)


def advice(finding: Finding, *, verbose: bool = False) -> str:
    """Return how much *finding* touches, and what to do: lines that follow its text, each with a newline before it."""
    return "".join(f"\n{row}" for row in (*_extent(finding, verbose), *_remedy(finding, verbose)))


def body(finding: Finding, *, verbose: bool = False) -> str:
    """Return what is wrong, and why."""
    problem = finding.problem
    if verbose and isinstance(problem, CassetteMiss) and not finding.diff:
        return describe(problem.mismatch, verbose=True).rstrip()
    return finding.text


def extent(touched: Touched) -> str:
    """Return which episodes of a run are touched: "pelm/react/a-model: 0-19 (from step 1; 0 of 72 replies usable)"."""
    keys = words_of(touched.keys).replace(",", ", ")
    if touched.step is None:
        return f"{touched.run.label}: {keys}"
    usable = f"{touched.usable} of {text.counted(touched.replies, 'recorded reply', 'recorded replies')} usable"
    return f"{touched.run.label}: {keys} (from step {touched.step}; {usable})"


def calls(finding: Finding) -> str:
    """Return what recording again takes, as a sentence; "" where that is no remedy."""
    if finding.estimate is None:
        return ""
    least, expected = finding.estimate.at_least, finding.estimate.expected
    return (
        f"Recording again takes at least {text.counted(least, 'LLM call')}, {expected} if every episode takes as many "
        "as it did (an estimate)."
    )


def closing(report: CheckReport) -> str:
    """Return the one line that sums up a check."""
    counts = ", ".join(f"{count} {kind}" for kind, count in report.counts.items())
    part = f" ({report.only} only)" if report.only else ""
    line = f"{text.counted(len(report.episodes), 'recording')} checked{part}: {counts}"
    if report.besides:
        line += f"; {text.counted(report.besides, 'problem')} besides"
    if report.warnings:
        line += f"; {text.counted(report.warnings, 'warning')}"
    return line + "."


def provenance(report: CheckReport) -> str:
    """Return how the recordings came to be, with what that is worth."""
    found = ", ".join(f"{count} {name}" for name, count in sorted(report.provenance.items()))
    composed = sum(bool(episode.parts) for episode in report.episodes)
    more = f"; {composed} more are computed from these" if composed else ""
    return f"provenance: {found or 'unknown'} ({DECLARED}){more}."


def as_dict(report: CheckReport) -> dict[str, Any]:
    """Return what was found as JSON-ready data; the episodes are `episodes.as_dict`'s to tell."""
    return {
        "format": FORMAT,
        "only": report.only,
        "exit_code": report.exit_code,
        "counts": report.counts,
        "findings": [finding_dict(finding, report.weight(finding)) for finding in report.findings],
        "provenance": {"counts": dict(report.provenance), "remark": DECLARED},
    }


def finding_dict(finding: Finding, exit_code: int) -> dict[str, Any]:
    """Return one finding as JSON-ready data."""
    estimate = finding.estimate
    return {
        "kind": finding.kind,
        "exit_code": exit_code,
        "subject": finding.subject,
        "message": finding.text,
        "file": finding.file,
        "line": finding.line,
        "diff": finding.diff or None,
        "episodes": [
            {
                "run": touched.run.label,
                "keys": list(touched.keys),
                "first_step": touched.step,
                "usable_replies": touched.usable,
                "recorded_replies": touched.replies,
            }
            for touched in finding.touched
        ],
        "llm_calls": None
        if estimate is None
        else {"at_least": estimate.at_least, "expected": estimate.expected, "estimate": True},
        "remedy": finding.remedy or None,
        "commands": list(finding.commands),
        **finding.data,
    }


def _extent(finding: Finding, verbose: bool) -> Iterator[str]:
    said = all(touched.run.label in finding.text for touched in finding.touched)
    if finding.estimate is None and finding.count < 2 and said:
        return
    rows = finding.touched if verbose else finding.touched[:_ROWS]
    yield f"  It touches {text.counted(finding.count, 'recording')}:"
    yield from (f"    {extent(touched)}" for touched in rows)
    if len(finding.touched) > len(rows):
        yield f"    and {len(finding.touched) - len(rows)} more runs (--verbose shows all)"
    if finding.estimate is not None:
        yield f"  {calls(finding)}"


def _remedy(finding: Finding, verbose: bool) -> Iterator[str]:
    if finding.remedy:
        yield f"  {finding.remedy}"
    rows = finding.commands if verbose else finding.commands[:_ROWS]
    yield from (f"    {command}" for command in rows)
    if len(finding.commands) > len(rows):
        yield f"    and {len(finding.commands) - len(rows)} more commands (--verbose shows all)"
