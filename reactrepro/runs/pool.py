"""Work divided among processes: the same results in the same order as one process gives, whatever becomes of them.

It holds for any function of one item that needs nothing else; replays are such. Few items are not divided: a process
takes time to start.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

FEW = 200
"""Items for which one process is enough: a replay takes 2 ms; with 268 of them, two processes took as long as one."""


def processes(items: int, jobs: int | None = None) -> int:
    """Return how many processes *items* are divided among.

    Args:
        items: how many there are.
        jobs: how many are wanted; None for one per core, each with `FEW` items at least.
    """
    if jobs is None:
        jobs = min(cores(), items // FEW)
    return max(1, min(jobs, items))


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def each(work: Callable[[T], R], items: Sequence[T], jobs: int | None = None) -> Iterator[R]:
    """Yield `work(item)` for each of *items*, in order.

    Args:
        work: a function that depends on its item alone. With several processes it has to be importable (no lambda),
            and what it takes and returns has to be picklable; what is not is done in this process.
        items: all of them.
        jobs: see `processes`.

    Raises:
        whatever *work* raises: at its place, as if all were done here.
    """
    count = processes(len(items), jobs)
    if count == 1:
        yield from map(work, items)
        return
    from .workers import Workers  # multiprocessing: nothing that a single replay should wait for

    with Workers(work, items, count) as workers:
        yield from workers.results()
