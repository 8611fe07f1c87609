"""CPU time, so that a busy machine is not blamed on the code; taken in turns, so that it hurts all sides alike."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from statistics import median

Side = Callable[[], int]
"""Does something, and returns how often it did it: the unit of what is measured."""


def in_turns(
    sides: Mapping[str, Side], rounds: int, clock: Callable[[], float] = time.process_time
) -> dict[str, list[float]]:
    """Return the milliseconds that one unit of each side took in each round.

    Every side is run once before, unmeasured: imports, caches of the file system, lazily made tables. In a round each
    side has its turn, in order.

    Args:
        sides: what to measure, by name.
        rounds: how many rounds.
        clock: returns seconds; by default the CPU time of this process, all of its threads.
    """
    for side in sides.values():
        side()
    gc.collect()
    gc.freeze()  # what was imported and made beforehand is not the work of the collector from here on
    found: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            start = clock()
            units = side()
            gc.collect()  # each side clears up its own waste
            found[name].append((clock() - start) * 1000 / units)
    gc.unfreeze()
    return found


def ratio(dividend: list[float], divisor: list[float]) -> float:
    """Return the median of the rounds' ratios; each compares two neighbours in time."""
    return median(a / b if b else float("nan") for a, b in zip(dividend, divisor, strict=True))


def beyond(took: list[float], bare: list[float]) -> list[float]:
    """Return what *took* takes more than *bare*, call by call or round by round."""
    return [one - other for one, other in zip(took, bare, strict=True)]
