"""Compare: two runs, question by question.

Only a paired comparison says something about few questions: both runs answer the same ones, and what counts is where
they disagree. So the two have to be paired: by key, and by the hash of the question's text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from ..cassettes.library import Library
from ..cassettes.model import RunConfig
from ..cassettes.runs import Run
from ..domain import Question
from ..errors import CassetteAbsent, Usage
from ..report.scored import Comparison, Difference, Flip
from ..results import Result
from ..statistics import LEVEL, RESAMPLES, SEED, mcnemar_exact, mean, paired_bootstrap
from .evaluate import Replayed
from .score import headline, reason
from .select import nothing

UNCOMPARED = ("format", "note", "rules", "selection", "supersedes")
"""Fields of a configuration that say nothing about what was asked of the model."""


@dataclass(frozen=True, slots=True)
class Paired:
    """Two results per question.

    Attributes:
        pairs: in order.
        only_first, only_second: keys that only one of the two has judged.
    """

    pairs: tuple[tuple[Result, Result], ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]


def run_named(library: Library, words: str, task: str | None = None) -> Run:
    """Return the one run that *words* name: ``task/method/run``, ``method/run``, or the run's name alone.

    Raises:
        CassetteAbsent: there is none.
        Usage: there are several.
    """
    parts = words.split("/")
    found = [run for run in library.runs(task) if run.label.split("/")[-len(parts) :] == parts]
    if not found:
        raise CassetteAbsent(nothing(library, task, None, words))
    if len(found) > 1:
        raise Usage(f"{words} names several runs: {', '.join(run.label for run in found)}. Write one of these out.")
    return found[0]


def pair(first: Sequence[Result], second: Sequence[Result]) -> Paired:
    """Pair the judged results of two runs by key.

    Raises:
        Usage: a key stands for different questions in the two.
    """
    one, other = ({result.key: result for result in of if result.judged} for of in (first, second))
    both = [key for key in one if key in other]
    differ = [key for key in both if one[key].question_sha256 != other[key].question_sha256]
    if differ:
        raise Usage(f"the two runs are not about the same questions: {_listed(differ)} is another one in each.")
    return Paired(
        tuple((one[key], other[key]) for key in both),
        tuple(key for key in one if key not in other),
        tuple(key for key in other if key not in one),
    )


def compare(
    first: Replayed,
    second: Replayed,
    *,
    common: bool = False,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    level: float = LEVEL,
) -> Comparison:
    """Compare two replayed runs.

    Args:
        first, second: the runs; a difference is second minus first.
        common: leave out what only one of them has judged.
        resamples, seed, level: of the bootstrap.

    Raises:
        Usage: they are not paired, or have nothing in common.
        ReactReproError: one of them has no result at all; the error is its first problem.
    """
    if first.run.task != second.run.task:
        raise Usage(f"{first.run.label} and {second.run.label} are of different tasks; there is nothing to pair.")
    for one in (first, second):
        if not one.results:
            raise one.problems[0]
    found = pair(first.results, second.results)
    if (found.only_first or found.only_second) and not common:
        raise Usage(_unpaired(first, second, found))
    if not found.pairs:
        raise Usage(f"{first.run.label} and {second.run.label} have judged no question in common.")
    wins = [(bool(one.em), bool(other.em)) for one, other in found.pairs]
    only_first, only_second = wins.count((True, False)), wins.count((False, True))

    def difference(values: Sequence[tuple[float, float]]) -> Difference:
        booted = paired_bootstrap([b - a for a, b in values], resamples=resamples, seed=seed, level=level)
        means = tuple(mean(column).value or 0.0 for column in zip(*values, strict=True))
        return Difference(means[0], means[1], booted.difference, booted.interval)

    return Comparison(
        headline=headline(first.run.task),
        runs=(first.run.label, second.run.label),
        run_ids=(first.run.id, second.run.id),
        n=len(found.pairs),
        left_out=len(found.only_first) + len(found.only_second),
        both=wins.count((True, True)),
        only_first=only_first,
        only_second=only_second,
        neither=wins.count((False, False)),
        p=mcnemar_exact(only_first, only_second),
        em=difference([(float(a), float(b)) for a, b in wins]),
        f1=difference([(one.f1 or 0.0, other.f1 or 0.0) for one, other in found.pairs]),
        level=level,
        resamples=resamples,
        seed=seed,
        flips=tuple(_flip(first.questions[one.key], one, other) for one, other in found.pairs if one.em != other.em),
        configuration=differences(first.run.config, second.run.config),
    )


def differences(first: RunConfig, second: RunConfig) -> dict[str, tuple[object, object]]:
    """Return what differs in two configurations: dotted name -> (first's, second's); None for what one has not."""
    one, other = (_flat(msgspec.to_builtins(config)) for config in (first, second))
    names = dict.fromkeys((*one, *other))
    return {name: (one.get(name), other.get(name)) for name in names if one.get(name) != other.get(name)}


def _flat(config: Mapping[str, Any], prefix: str = "") -> dict[str, object]:
    rows: dict[str, object] = {}
    for name, value in config.items():
        if isinstance(value, Mapping):
            rows |= _flat(value, f"{prefix}{name}.")
        elif prefix or name not in UNCOMPARED:
            rows[f"{prefix}{name}"] = value
    return rows


def _flip(question: Question, one: Result, other: Result) -> Flip:
    answers = tuple(result.answer if result.ended == "finish" else None for result in (one, other))
    return Flip(one.key, question.text, question.gold, (answers[0], answers[1]), 1 if one.em else 2)


def _unpaired(first: Replayed, second: Replayed, found: Paired) -> str:
    rows = []
    for here, there, keys in ((first, second, found.only_first), (second, first, found.only_second)):
        if keys:
            why = {result.key: reason(result) for result in there.results}
            reasons = sorted({why.get(key, "not recorded") for key in keys})
            rows.append(f"\n  judged in {here.run.label} only: {_listed(keys)} (in the other: {', '.join(reasons)})")
    return (
        f"{first.run.label} and {second.run.label} are not paired; judged in both: {len(found.pairs)}.{''.join(rows)}\n"
        "  Record what is missing, or compare what both have judged: --common."
    )


def _listed(keys: Sequence[str]) -> str:
    return f"episode {', '.join(keys[:10])}" + (f" and {len(keys) - 10} more" if len(keys) > 10 else "")
