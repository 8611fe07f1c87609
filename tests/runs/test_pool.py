"""Work divided among processes comes out as if one had done it, whatever becomes of the processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reactrepro.runs import pool, workers

posix = pytest.mark.skipif(os.name != "posix", reason="processes are killed by signals")


def squared(number: int) -> tuple[int, int]:
    """What comes of a number; and the process is another one."""
    return number, number * number


def fragile(parent: int, bad: frozenset[int], number: int) -> int:
    """Die at a bad number, except in the process *parent*."""
    if number in bad and os.getpid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def failing(number: int) -> int:
    """Raise at 70."""
    if number == 70:
        raise ValueError("seventy")
    return number


def unpicklable(number: int) -> Callable[[], int]:
    """What cannot be sent."""
    return lambda: number


def where(_: int) -> int:
    """The process that did it."""
    return os.getpid()


@settings(max_examples=15)
@given(st.integers(0, 300), st.integers(1, 5))
def test_any_number_of_processes_gives_the_same(items: int, jobs: int) -> None:
    """Every item once, in order."""
    assert list(pool.each(squared, range(items), jobs)) == [squared(number) for number in range(items)]


@posix
@pytest.mark.parametrize("bad", [{0}, {199}, {5, 150}, set(range(200))])
def test_a_process_that_dies_costs_nothing(bad: set[int]) -> None:
    """What it had in hand is done here; with all of them dead, everything is."""
    work = partial(fragile, os.getpid(), frozenset(bad))
    assert list(pool.each(work, range(200), 3)) == [number * number for number in range(200)]
    assert multiprocessing.active_children() == []


def test_an_error_comes_where_it_would_come_anyway() -> None:
    """The results before it, then the error itself, with the traceback of this process."""
    found = []
    with pytest.raises(ValueError, match="seventy") as caught:
        found.extend(pool.each(failing, range(100), 2))
    assert any(entry.name == "failing" for entry in caught.traceback)
    found = []
    numbers = pool.each(failing, range(100), 2)
    for _ in range(70):
        found.append(next(numbers))
    assert found == list(range(70))
    numbers.close()
    assert multiprocessing.active_children() == []


def test_what_cannot_be_sent_is_done_here() -> None:
    """Results, and, where processes are spawned, the work itself."""
    assert [found() for found in pool.each(unpicklable, range(100), 2)] == list(range(100))


def test_beside_threads_nothing_is_forked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A fork copies locks that other threads hold. Spawned processes give the same."""
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    try:
        assert workers._context().get_start_method() == "spawn"
        script = tmp_path / "script.py"
        script.write_text(
            "import threading, time\n"
            "from reactrepro.runs.pool import each\n"
            "if __name__ == '__main__':\n"
            "    threading.Thread(target=time.sleep, args=(2,), daemon=True).start()\n"
            "    print(list(each(abs, range(-200, 0), 2)) == list(range(200, 0, -1)))\n",
            encoding="utf-8",
        )
        root = str(Path(pool.__file__).parents[2])
        command = [sys.executable, "-W", "error", str(script)]
        environment = {**os.environ, "PYTHONPATH": root}
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert (ended.stdout, ended.stderr, ended.returncode) == ("True\n", "", 0)
    finally:
        done.set()
        thread.join()


def test_few_items_are_not_divided() -> None:
    """By default, a process has so many items at least as its start is worth; more than items there never are."""
    assert pool.processes(pool.FEW - 1) == 1
    assert pool.processes(10 * pool.FEW * pool.cores()) == pool.cores()
    assert [pool.processes(items, 4) for items in (0, 1, 3, 100)] == [1, 1, 3, 4]
    assert set(pool.each(where, range(3))) == {os.getpid()}
    assert os.getpid() not in set(pool.each(where, range(100), 2))


@posix
def test_a_killed_process_leaves_no_others(tmp_path: Path) -> None:
    """Those that work for it notice that nobody asks anymore, and end."""
    script = tmp_path / "script.py"
    script.write_text(
        "import os, time\n"
        "from reactrepro.runs.pool import each\n"
        "def work(n):\n"
        "    time.sleep(0.01)\n"
        "    return os.getpid()\n"
        "if __name__ == '__main__':\n"
        "    for pid in each(work, range(100000), 2):\n"
        "        print(pid, flush=True)\n",
        encoding="utf-8",
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(pool.__file__).parents[2])}
    with subprocess.Popen([sys.executable, str(script)], env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        helpers = {int(process.stdout.readline()) for _ in range(40)}
        process.kill()
        process.wait()
        process.stdout.read()
    assert helpers
    for _ in range(500):
        alive = [pid for pid in helpers if _alive(pid)]
        if not alive:
            break
        time.sleep(0.02)
    assert alive == []


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    try:  # nobody may be there to bury it
        return (
            not stat.parent.parent.joinpath("self").exists()
            or stat.read_text("ascii").rpartition(")")[2].split()[0] != "Z"
        )
    except OSError:
        return False
