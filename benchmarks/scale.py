"""Recording over many connections from a server that takes its time: what the program adds to each reply, and whether
more connections record more episodes per second.

The server's delay is the same for the same request, so that both sides wait equally long.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

from recording import Recordings, timed

from reactrepro.exchanges.live import Live


@dataclass
class Scaled:
    """What one number of connections came to, a value per round.

    Attributes:
        ours, bare: milliseconds of wall time per reply, from the request to its use, the server's delay included: as
            recorded, and by the bare SDK in as many threads.
        cpu, bare_cpu: milliseconds of CPU time per reply.
        rate, bare_rate: episodes per second.
    """

    ours: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    bare_cpu: list[float] = field(default_factory=list)
    rate: list[float] = field(default_factory=list)
    bare_rate: list[float] = field(default_factory=list)


def measure(base_url: str, folder: Path, *, connections: Sequence[int], rounds: int) -> dict[int, Scaled]:
    """Return what each number of *connections* comes to; each records twice as many episodes."""
    sides = {number: Recordings(base_url, folder / str(number), 2 * number, number) for number in connections}
    found = {number: Scaled() for number in connections}
    try:
        for _ in range(rounds):
            for number, made in sides.items():
                into = found[number]
                _round(made, made.bare, (Recordings, "send"), (into.bare, into.bare_cpu, into.bare_rate))
                _round(made, made.ours, (Live, "send"), (into.ours, into.cpu, into.rate))
    finally:
        for made in sides.values():
            made.close()
    return found


def _round(
    made: Recordings,
    side: Callable[[], None],
    place: tuple[Any, str],
    into: tuple[list[float], list[float], list[float]],
) -> None:
    with timed(place) as calls:
        wall, cpu = time.perf_counter(), time.process_time()
        side()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    per_call, of_cpu, rate = into
    per_call.append(mean(milliseconds for _, milliseconds in calls))
    of_cpu.append(cpu * 1000 / made.calls)
    rate.append(made.episodes / wall)
