"""What `reactrepro check` says of a recording, as one text: what the pytest plugin fails with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ..cassettes.runs import Run
from ..errors import ReactReproError
from ..report.explained import explanation
from ..report.model import EpisodeReport
from ..visible import lines
from .check import check, requested
from .roots import Sources


def verdict(path: Path, sources: Sources, *, verbose: bool = False) -> str:
    """Return what is wrong with the recordings under *path*, in the words of `check`; "" where all is well.

    Args:
        path: a recording, a run's folder, or a folder above.
        sources: where pages and prompts are read from.
        verbose: say everything about each problem.
    """
    try:
        reports = [report for report in check(path, sources) if not report.ok]
    except ReactReproError as error:
        return _plain(error)
    return "\n\n".join(explanation(report, verbose=verbose) for report in reports)


def verdict_on(report: EpisodeReport, _sources: Sources, *, verbose: bool = False) -> str:
    """Return what is wrong with the replayed episode *report*, in the words of `check`."""
    return explanation(report, verbose=verbose)


def lacking(run: Run) -> Iterator[tuple[str, str]]:
    """Yield (key, why) of every episode that *run* should hold and does not; key "" for a run that cannot be read."""
    for _, key, problem in requested(run):
        if problem is not None:
            yield key, _plain(problem)


def _plain(problem: ReactReproError) -> str:
    return f"{problem.kind}: {lines(str(problem))}"
