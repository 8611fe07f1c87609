"""Intervals and paired tests, held against SciPy and statsmodels."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

from reactrepro.errors import Usage
from reactrepro.statistics import Interval, Mean, _binomial, mcnemar_exact, mean, paired_bootstrap, total, wilson

LEVELS = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999])
COUNTS = st.integers(1, 7405).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


# --- means ----------------------------------------------------------------------------------------------------------


def test_an_unknown_value_is_not_zero() -> None:
    """The mean is that of the known values, and says how many those are; a sum with an unknown part is unknown."""
    assert mean([4, None, 2]) == Mean(3.0, 2, 3)
    assert (mean([4, None]).complete, mean([4, 2]).complete, mean([]).complete) == (False, True, False)
    assert (total([4, None]), total([4, 0]), total([0]), total([])) == (None, 4, 0, None)


def test_of_nothing_there_is_no_mean() -> None:
    """Neither of no values nor of unknown ones."""
    assert (mean([]), mean([None])) == (Mean(None, 0, 0), Mean(None, 0, 1))


# --- Wilson ---------------------------------------------------------------------------------------------------------


@given(COUNTS, LEVELS)
def test_wilson_agrees_with_scipy_and_statsmodels(counts: tuple[int, int], level: float) -> None:
    """The same interval, at every level."""
    right, n = counts
    ours = wilson(right, n, level)
    scipys = scipy.stats.binomtest(right, n).proportion_ci(level, method="wilson")
    assert ours == pytest.approx((scipys.low, scipys.high), abs=1e-12)
    assert ours == pytest.approx(proportion_confint(right, n, 1 - level, method="wilson"), abs=1e-12)


@given(COUNTS, LEVELS)
def test_wilson_holds_the_proportion_and_stays_between_0_and_1(counts: tuple[int, int], level: float) -> None:
    """The share itself lies inside; wrong for right mirrors the interval; a higher level is never narrower."""
    right, n = counts
    found, other, wide = wilson(right, n, level), wilson(n - right, n, level), wilson(right, n, 0.9999)
    assert 0 <= found.low <= right / n <= found.high <= 1
    assert found == pytest.approx((1 - other.high, 1 - other.low), abs=1e-12)
    assert wide.low <= found.low <= found.high <= wide.high


def test_wilson_at_the_ends() -> None:
    """Of nothing, nothing is known; none right and all right end at 0 and 1 exactly."""
    assert wilson(0, 0) == Interval(0.0, 1.0)
    assert wilson(0, 10).low == 0.0
    assert wilson(10, 10).high == 1.0
    assert wilson(1, 10) == pytest.approx((0.01787, 0.40415), abs=1e-5)


@pytest.mark.parametrize(
    ("right", "n", "level"),
    [(2, 1, 0.95), (-1, 1, 0.95), (0, 1, 0.0), (0, 1, 1.0), (0, 1, 1 - 2**-53), (0, 1, 95)],
)
def test_wilson_refuses_what_is_no_proportion(right: int, n: int, level: float) -> None:
    """More right than there are, and levels outside of 0 to 1."""
    with pytest.raises(Usage):
        wilson(right, n, level)


# --- McNemar --------------------------------------------------------------------------------------------------------


@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_agrees_with_statsmodels_and_scipy(b: int, c: int) -> None:
    """The exact two-sided p value, and the same whichever run is named first."""
    p = mcnemar_exact(b, c)
    assert p == mcnemar_exact(c, b)
    assert p == pytest.approx(mcnemar([[9, b], [c, 9]], exact=True).pvalue if b + c else 1.0, rel=1e-9)
    assert p == pytest.approx(scipy.stats.binomtest(b, b + c).pvalue if b + c else 1.0, rel=1e-9)


def test_mcnemar_without_discordant_pairs() -> None:
    """Nothing speaks against equality: 1. Nor does a tie, or a single flip."""
    assert (mcnemar_exact(0, 0), mcnemar_exact(1, 1), mcnemar_exact(0, 1)) == (1.0, 1.0, 1.0)
    assert mcnemar_exact(6, 0) == 2 / 2**6
    assert 0 < mcnemar_exact(3500, 3900) < 1e-5
    with pytest.raises(Usage):
        mcnemar_exact(-1, 2)


# --- bootstrap ------------------------------------------------------------------------------------------------------


def f1_like(n: int, seed: int) -> list[float]:
    """Differences of two token F1 scores: many equal, many values."""
    source = random.Random(seed)  # noqa: S311 - test data
    shares = sorted({2 * c / (p + g) for p in range(1, 9) for g in range(1, 6) for c in range(min(p, g) + 1)})
    return [source.choice([0.0, source.choice(shares) - source.choice(shares)]) for _ in range(n)]


@pytest.mark.parametrize(
    "differences", [[-1] * 40 + [1] * 65 + [0] * 395, f1_like(300, 1), [0.1 * n for n in range(60)]]
)
def test_the_bootstrap_agrees_with_scipy(differences: list[float]) -> None:
    """Two generators differ by chance only: within a few hundredths of the interval's width, at 20,000 resamples."""
    ours = paired_bootstrap(differences, resamples=20_000, seed=1)
    theirs = scipy.stats.bootstrap(
        (np.array(differences),),
        np.mean,
        n_resamples=20_000,
        method="percentile",
        rng=np.random.default_rng(1),
        batch=1000,
    ).confidence_interval
    width = theirs.high - theirs.low
    assert ours.difference == pytest.approx(np.mean(differences))
    assert ours.interval == pytest.approx((theirs.low, theirs.high), abs=0.04 * width)


def test_the_bootstrap_says_how_to_get_it_again() -> None:
    """Resamples and seed are part of the result, and give the same numbers on every platform; another seed, others."""
    differences = [1] * 7 + [-1] * 3 + [0] * 10
    found = paired_bootstrap(differences, resamples=1000, seed=5)
    assert (found.resamples, found.seed, found.n, found.level, found.difference) == (1000, 5, 20, 0.95, 0.2)
    assert found == paired_bootstrap(list(reversed(differences)), resamples=1000, seed=5)
    assert found.interval == (-0.1, 0.45)
    assert [paired_bootstrap(f1_like(50, 2), resamples=100, seed=n).interval for n in (1, 2)] == [
        pytest.approx((-0.0547532468, 0.0550718698), abs=1e-9),
        pytest.approx((-0.0605103813, 0.0494555639), abs=1e-9),
    ]


def test_pairs_that_all_differ_alike_have_an_interval_of_no_width() -> None:
    """All equal: nothing to resample; one pair, and no pair."""
    assert paired_bootstrap([0] * 500).interval == (0, 0)
    assert paired_bootstrap([0.25]).interval == (0.25, 0.25)
    with pytest.raises(Usage, match="no pair"):
        paired_bootstrap([])
    with pytest.raises(Usage, match="resample"):
        paired_bootstrap([1], resamples=0)


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.4, 1.0]), min_size=1, max_size=50), st.integers(0, 99), LEVELS)
def test_the_interval_stays_among_the_differences(differences: list[float], seed: int, level: float) -> None:
    """It lies between the smallest and the largest difference, and turns around with the pairs."""
    found = paired_bootstrap(differences, resamples=50, seed=seed, level=level)
    low, high = found.interval
    assert min(differences) - 1e-9 <= low <= high <= max(differences) + 1e-9


def test_the_compared_digits_are_a_binomial() -> None:
    """The counts that a resample is made of follow the binomial distribution (chi-squared, 1 in 1000)."""
    source, n, p = random.Random(3), 12, 0.3  # noqa: S311 - test data
    bits = tuple(bool(int(p * 2**64) >> place & 1) for place in range(63, -1, -1))
    drawn = Counter(_binomial(n, bits, source) for _ in range(20_000))
    expected = [20_000 * math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)]
    tail = sum(expected[9:])
    observed = [drawn[k] for k in range(9)] + [sum(drawn[k] for k in range(9, n + 1))]
    assert scipy.stats.chisquare(observed, [*expected[:9], tail]).pvalue > 0.001


def test_scoring_imports_no_numerical_library(offline: dict[str, str]) -> None:
    """`score` and `compare` run where NumPy and SciPy are not installed, and start as fast as the other commands."""
    code = (
        "import sys; import reactrepro.cli, reactrepro.runs.compare, reactrepro.results\n"
        "heavy = {'numpy', 'scipy', 'statsmodels', 'pandas', 'vcr', 'openai', 'requests'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], env=offline, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
