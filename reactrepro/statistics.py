"""Intervals and paired tests. Pure; the standard library only.

Where each comes from:

* `wilson`: Wilson 1927, "Probable inference, the law of succession, and statistical inference"; no continuity
  correction. It stays inside 0 to 1 and means something for 10 questions and for none right, where the textbook
  interval does not (Brown, Cai, DasGupta 2001).
* `mcnemar_exact`: McNemar 1947, exact: the binomial in place of chi-squared, which needs many discordant pairs.
* `paired_bootstrap`: Efron 1979, percentile interval, questions resampled with their two results kept together.

tests/test_statistics.py holds them against SciPy and statsmodels.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple

from .errors import Usage

LEVEL = 0.95
"""Confidence level unless another is asked for."""
RESAMPLES = 10_000
SEED = 233
"""The bootstrap's seed unless another is given; the number has no meaning here, it is the paper code's own."""

_BITS = 64


class Interval(NamedTuple):
    """An interval, its ends included."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over values of which some may be unknown.

    Attributes:
        value: the mean of the known ones; None where none is known.
        known: how many are known.
        n: how many there are.
    """

    value: float | None
    known: int
    n: int

    @property
    def complete(self) -> bool:
        """Every value is known, and there is one."""
        return 0 < self.known == self.n


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """A mean difference, and how far resampling moves it.

    Attributes:
        difference: the mean of the paired differences, as observed.
        interval: the percentile interval of the resampled means.
        level: its confidence level.
        n: pairs.
        resamples, seed: what it takes to get the same interval again.
    """

    difference: float
    interval: Interval
    level: float
    n: int
    resamples: int
    seed: int


def mean(values: Iterable[float | None]) -> Mean:
    """Return the mean of what is known of *values*; unknown (None) is not zero, and no values have no mean."""
    listed = list(values)
    known = [value for value in listed if value is not None]
    return Mean(math.fsum(known) / len(known) if known else None, len(known), len(listed))


def total(values: Iterable[int | None]) -> int | None:
    """Return the sum of *values*; None as soon as one is unknown, and where there is none."""
    listed = list(values)
    known = [value for value in listed if value is not None]
    return sum(known) if listed and len(known) == len(listed) else None


def wilson(successes: int, n: int, level: float = LEVEL) -> Interval:
    """Return the Wilson score interval of a proportion, *successes* of *n*.

    Of no trials nothing is known: 0 to 1.

    Raises:
        Usage: more successes than trials, a negative count, or a level that is none.
    """
    if not 0 <= successes <= n:
        raise Usage(f"{successes} of {n} is no proportion.")
    z = NormalDist().inv_cdf((1 + _checked(level)) / 2)
    if n == 0:
        return Interval(0.0, 1.0)
    p, q, square = successes / n, (n - successes) / n, z * z
    centre = p + square / (2 * n)
    spread = z * math.sqrt(p * q / n + square / (4 * n * n))
    scale = 1 + square / n
    # None right ends at 0 and all right at 1, exactly; rounding must not say otherwise.
    low = 0.0 if successes == 0 else max(0.0, (centre - spread) / scale)
    high = 1.0 if successes == n else min(1.0, (centre + spread) / scale)
    return Interval(low, high)


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Return the two-sided p value of McNemar's exact test.

    Under the null hypothesis a discordant pair is as likely to go one way as the other, so the smaller count is
    binomial with one half; twice its lower tail, 1 at most. Without a discordant pair nothing speaks against it: 1.

    Args:
        only_first, only_second: pairs that only the first, and only the second, got right.

    Raises:
        Usage: a negative count.
    """
    if only_first < 0 or only_second < 0:
        raise Usage("a count of pairs is never negative.")
    n, k = only_first + only_second, min(only_first, only_second)
    tail = term = 1
    for i in range(k):
        term = term * (n - i) // (i + 1)
        tail += term
    return min(1.0, 2 * tail / (1 << n))


def paired_bootstrap(
    differences: Sequence[float], *, resamples: int = RESAMPLES, seed: int = SEED, level: float = LEVEL
) -> Bootstrap:
    """Return the mean of *differences* and its bootstrap percentile interval.

    A resample draws as many pairs as there are, with replacement. Only how often each distinct difference is drawn
    matters for its mean, and those counts are multinomial: they are drawn directly (`_Draw`), which for exact match,
    with its three differences, costs two numbers in place of thousands. The same arguments give the same interval, on
    every platform and Python: of the generator only `random.Random.getrandbits` is used. The percentiles are
    interpolated linearly between order statistics, as NumPy's default does.

    Args:
        differences: one per pair, second minus first.
        resamples: how many.
        seed: of the generator.
        level: confidence level.

    Raises:
        Usage: no pair, no resample, a negative seed, or a level that is none.
    """
    if not differences:
        raise Usage("there is no pair to resample.")
    if resamples < 1 or seed < 0:
        raise Usage("the bootstrap needs at least one resample, and a seed that is not negative.")
    edge = (1 - _checked(level)) / 2
    n = len(differences)
    # The most frequent first: the tree's long branch is then seldom walked.
    table = sorted(Counter(differences).items(), key=lambda item: (-item[1], item[0]))
    tree = _Draw.of(table)
    source = random.Random(seed)  # noqa: S311 - statistics, no secret
    means = sorted(tree.sum(n, source) / n for _ in range(resamples))
    observed = math.fsum(differences) / n
    interval = Interval(_quantile(means, edge), _quantile(means, 1 - edge))
    return Bootstrap(observed, interval, level, n, resamples, seed)


class _Draw:
    """A table of values and weights, halved again and again: a multinomial draw is one binomial per halving.

    Attributes:
        value: of a table with one value.
        bits: the probability of the first half as binary digits, the most significant first.
        halves: the two.
    """

    __slots__ = ("bits", "halves", "value")

    def __init__(self, value: float, bits: tuple[bool, ...] = (), halves: tuple[_Draw, _Draw] | None = None) -> None:
        self.value, self.bits, self.halves = value, bits, halves

    @classmethod
    def of(cls, table: Sequence[tuple[float, int]]) -> _Draw:
        """Return the tree of *table*, which holds one (value, weight) at least."""
        if len(table) == 1:
            return cls(table[0][0])
        weight = sum(count for _, count in table)
        cut, first = 1, table[0][1]
        while cut < len(table) - 1 and 2 * (first + table[cut][1]) <= weight:
            first += table[cut][1]
            cut += 1
        share = (first << _BITS) // weight
        bits = tuple(bool(share >> place & 1) for place in range(_BITS - 1, -1, -1))
        return cls(0.0, bits, (cls.of(table[:cut]), cls.of(table[cut:])))

    def sum(self, n: int, source: random.Random) -> float:
        """Return the sum of *n* values drawn with replacement."""
        if self.halves is None:
            return n * self.value
        first = _binomial(n, self.bits, source)
        left, right = self.halves
        found = left.sum(first, source) if first else 0.0
        return found + right.sum(n - first, source) if first < n else found


def _binomial(n: int, bits: tuple[bool, ...], source: random.Random) -> int:
    """Return how many of *n* uniform numbers in 0 to 1 lie below the number whose binary digits are *bits*.

    All n are compared at once, digit by digit: a digit that differs decides, and how many of the undecided ones have a
    1 there is the population count of as many random bits. After about log2(n) digits all are decided.
    """
    below = 0
    for bit in bits:
        ones = source.getrandbits(n).bit_count()
        if bit:
            below += n - ones
            n = ones
        else:
            n -= ones
        if not n:
            break
    return below


def _quantile(ordered: Sequence[float], share: float) -> float:
    place = (len(ordered) - 1) * share
    under = math.floor(place)
    over = min(under + 1, len(ordered) - 1)
    return ordered[under] + (ordered[over] - ordered[under]) * (place - under)


def _checked(level: float) -> float:
    if not 0 < level < (1 + level) / 2 < 1:  # the middle is a probability that the normal quantile has to exist for
        raise Usage(f"{level} is no confidence level: it lies between 0 and 1, such as 0.95.")
    return level
