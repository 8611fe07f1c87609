"""Sweep: one setting at many values, computed from recordings alone.

Every episode is replayed once, and compared with its recording; what each value would have brought follows from its
trajectory (`varied`). Pay once, ask many questions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

import msgspec

from ..cassettes.runs import Run
from ..errors import CassetteAbsent, ReactReproError, Usage
from ..report.sweeps import SweepReport, SweepRow
from ..results import Result
from ..statistics import LEVEL
from . import pool
from .check import report as report_of
from .evaluate import Item
from .recordings import requested
from .roots import Sources
from .score import result_of, score_results
from .shards import WHOLE, Shard
from .varied import Varied, settings_of
from .what_if import WhatIf

EVERYTHING = "all"
"""The word for every whole value from 1 up to the recorded one."""

MANY = 1000

_VALUE = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,6})?)\Z")
_RANGE = re.compile(r"([0-9]{1,6})-([0-9]{1,6})\Z")

Swept: TypeAlias = tuple[Run, tuple[Result, ...], tuple[ReactReproError, ...]]
Watch: TypeAlias = Callable[[Iterator[Swept], int], Iterable[Swept]]


def values_of(words: str, *, whole: bool) -> tuple[float, ...]:
    """Return the values that *words* name, each once, in increasing order: ``1,3,5-21``; none for `EVERYTHING`.

    Args:
        words: as on the command line.
        whole: only whole numbers from 1 on are values.

    Raises:
        Usage: they name none, or too many.
    """
    if words.strip() == EVERYTHING:
        return ()
    found: set[float] = set()
    for word in map(str.strip, words.split(",")):
        ends = _RANGE.match(word)
        value = _VALUE.match(word)
        if ends and int(ends[1]) <= int(ends[2]) < int(ends[1]) + MANY:
            found |= set(map(float, range(int(ends[1]), int(ends[2]) + 1)))
        elif value:
            found.add(float(value[1]))
        else:
            raise Usage(f"{word!r} is no value and no range like 5-21 (of {MANY} values at most).")
    if whole and any(not value.is_integer() or value < 1 for value in found):
        raise Usage(f"{words!r}: steps and samples are whole numbers from 1 on.")
    if len(found) > MANY:
        raise Usage(f"{words!r} names {len(found)} values; {MANY} are the most.")
    return tuple(sorted(found))


def sweep(
    runs: Sequence[Run],
    sources: Sources,
    setting: str,
    values: Sequence[float],
    watch: Watch = lambda found, _: found,
    *,
    level: float = LEVEL,
    shard: Shard = WHOLE,
    jobs: int | None = 1,
) -> SweepReport:
    """Return what each of *runs* would be worth with *setting* at each of *values*.

    Args:
        runs: of one task. Those in which the setting has no meaning are left out, and named.
        sources: where they are read from.
        setting: ``samples``, ``threshold`` or ``max_steps``.
        values: in order; none for every whole one from 1 up to what is recorded (thresholds: up to the samples).
        watch: passes on what came of each episode while somebody watches; the number is how many will come.
        level: of the intervals.
        shard, jobs: see `score.replayed`.

    Raises:
        Usage: the setting has a meaning in none of them, or a value does not follow from what is recorded.
        ReactReproError: a run's configuration cannot be read.
        CassetteAbsent: there is no episode.
    """
    known = {run: settings_of(run.config) for run in runs}
    meant = [run for run in runs if setting in known[run]]
    if not meant:
        named = ", ".join(run.label for run in runs)
        raise Usage(f"{setting.replace('_', ' ')} has no meaning in {named}: {_MEANINGS[setting]}.")
    asked = {run: _values(run, setting, values, known[run]) for run in meant}
    for run in meant:
        _ = run.id  # here once, not once in every process
    items = shard.part([(*item, asked[item[0]]) for run in meant for item in requested(run)])
    found: dict[Run, list[Result]] = {run: [] for run in meant}
    problems: dict[str, ReactReproError] = {}
    for run, results, wrong in watch(pool.each(partial(_swept, sources, setting), items, jobs), len(items)):
        found[run].extend(results)
        problems |= {str(problem): problem for problem in wrong}
    rows = [row for run in meant for row in _rows(setting, asked[run], known[run][setting], found[run], level)]
    if not rows:
        raise CassetteAbsent(f"no episode of {', '.join(run.label for run in meant)} is recorded: nothing to compute.")
    left_out = tuple(run.label for run in runs if run not in meant)
    return SweepReport(runs[0].task, setting, tuple(rows), left_out, tuple(problems.values()))


_MEANINGS = {
    "samples": "it is for methods that take a vote",
    "threshold": "it is for the back-off that trusts a vote (cot_sc_then_react)",
    "max_steps": "it is for methods that act",
}


def _values(run: Run, setting: str, values: Sequence[float], recorded: dict[str, float]) -> tuple[float, ...]:
    most = int(recorded["samples" if setting == "threshold" else setting])
    if not values:
        return tuple(map(float, range(1, most + 1)))
    if setting != "threshold" and (beyond := [value for value in values if value > most]):
        raise Usage(
            f"{run.label} is recorded with {setting.replace('_', ' ')} {most}: {beyond[0]:g} does not follow from it. "
            f"Take 1 to {most}, or `{EVERYTHING}`."
        )
    return tuple(values)


def _swept(sources: Sources, setting: str, item: tuple[*Item, tuple[float, ...]]) -> Swept:
    run, key, problem, values = item
    if problem is not None:
        made = [report_of(run, key, problem, sources)] * len(values)
    else:
        varied = Varied(run, key, sources)
        made = [varied.under(_what_if(setting, value)) for value in values]
    pairs = zip(values, made, strict=True)
    # Diagnoses and flags are no part of a sweep, and there are many of them.
    results = (
        msgspec.structs.replace(result_of(one, _what_if(setting, v)), flags={}, diagnoses={}) for v, one in pairs
    )
    problems = {str(wrong): wrong for one in made for wrong in one.problems}
    return run, tuple(results), tuple(problems.values())


def _what_if(setting: str, value: float) -> WhatIf:
    return WhatIf(**{setting: value if setting == "threshold" else int(value)})  # type: ignore[arg-type]


def _rows(
    setting: str, values: Sequence[float], recorded: float, results: Sequence[Result], level: float
) -> Iterator[SweepRow]:
    by_value: dict[float, list[Result]] = {value: [] for value in values}
    for result in results:
        by_value[result.what_if[setting]].append(result)
    for value, found in by_value.items():
        if found:
            yield SweepRow(value, value == recorded, score_results(found, level=level))
