"""`reactrepro score` over many generated episodes: time and memory of the whole command, and how they grow."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from recordings import Workload, make
from startup import ROOT

PROCESSES = 2


@dataclass(frozen=True)
class Used:
    """What one command took.

    Attributes:
        wall, cpu: seconds; CPU time of all of its processes.
        peak: MB of memory of the largest of them.
    """

    wall: float
    cpu: float
    peak: float


def measure(folder: Path, sizes: Sequence[int], rounds: int) -> list[Used]:
    """Return what scoring the first so many episodes took, for each of *sizes* in increasing order; medians.

    Each time the files are cold, as far as the system lets us have it.
    """
    with _unsynced():
        workload = make(folder, sizes[-1])
    runs = [_first(workload, size) for size in sizes]
    found: list[list[Used]] = [[] for _ in sizes]
    for _ in range(rounds):
        for run, of_size in zip(runs, found, strict=True):
            _cool(folder)
            of_size.append(_score(workload, run))
    return [_middle(of_size) for of_size in found]


def _first(workload: Workload, size: int) -> str:
    """Make a run of the first *size* episodes, and return its name."""
    source = workload.run.folder
    target = source.with_name(f"first-{size}")
    target.mkdir()
    for name in ["run.json", *(workload.run.path(str(number)).name for number in range(size))]:
        shutil.copyfile(source / name, target / name)
    return target.name


def _score(workload: Workload, run: str) -> Used:
    import resource  # not on Windows

    words = ["score", "hotpotqa", "--run", run, "--quiet", "--jobs", str(PROCESSES)]
    folders = ["--cassettes", str(workload.root / "cassettes"), "--wiki-snapshot", str(workload.root / "wiki_snapshot")]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-m", "reactrepro", *words, *folders], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Used(wall, cpu, after.ru_maxrss / (1024 if sys.platform == "linux" else 1024 * 1024))


def _middle(found: Sequence[Used]) -> Used:
    return Used(median(one.wall for one in found), median(one.cpu for one in found), max(one.peak for one in found))


def _cool(folder: Path) -> None:
    """Have the system forget the contents of the files, where it can be asked to."""
    if not hasattr(os, "posix_fadvise"):
        return
    for path in folder.rglob("*"):
        if path.is_file():
            handle = os.open(path, os.O_RDONLY)
            try:
                os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(handle)


@contextmanager
def _unsynced() -> Iterator[None]:
    """Make recordings without waiting for the disk: after a power failure they are made again."""
    real = os.fsync
    os.fsync = lambda _: None  # type: ignore[assignment]
    try:
        yield
    finally:
        os.fsync = real
    if hasattr(os, "sync"):
        os.sync()
