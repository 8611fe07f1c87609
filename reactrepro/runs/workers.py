"""The processes that `pool` divides work among.

A process that dies, or cannot say what it found, costs time and nothing else: what it had in hand is done here.

Where the system can fork safely (Linux, and no other thread is running) the processes are copies of this one and start
at once; elsewhere each starts an interpreter and imports what it needs (0.3 s).
"""

from __future__ import annotations

import multiprocessing
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from pickle import PicklingError
from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")
R = TypeVar("R")

CHUNK = 16
"""Items that a process is given at a time, at most."""

AHEAD = 64
"""Chunks that may be done before their turn, so that a reader that is slow does not fill the memory."""


def _context() -> BaseContext:
    forks = sys.platform == "linux" and threading.active_count() == 1
    return multiprocessing.get_context("fork" if forks else "spawn")


class Workers(Generic[T, R]):
    """The processes, while they work. A context manager: none of them is left behind."""

    def __init__(self, work: Callable[[T], R], items: Sequence[T], count: int) -> None:
        self._work, self._items = work, items
        size = max(1, min(CHUNK, len(items) // (count * 4)))
        self._chunks = [range(start, min(start + size, len(items))) for start in range(0, len(items), size)]
        self._count = count
        self._todo = deque(range(len(self._chunks)))
        self._done: dict[int, list[R] | None] = {}
        self._held: dict[Connection, deque[int]] = {}
        self._started: list[Any] = []

    def __enter__(self) -> Workers[T, R]:
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._started:
            process.terminate()
        for pipe in list(self._held):
            pipe.close()
        for process in self._started:
            process.join()
            process.close()

    def results(self) -> Iterator[R]:
        """Yield what comes of each item, in order."""
        for number, chunk in enumerate(self._chunks):
            while number not in self._done and self._held:
                self._hand_out(number)
                self._collect()
            found = self._done.pop(number, None)
            if found is None and number in self._todo:  # no process is left
                self._todo.remove(number)
            yield from found if found is not None else (self._work(self._items[place]) for place in chunk)

    def _start(self) -> None:
        context = _context()
        forks = context.get_start_method() == "fork"
        for _ in range(self._count):
            ours, theirs = context.Pipe()
            inherited = [*self._held, ours] if forks else []
            arguments = (self._work, self._items, self._chunks, theirs, inherited)
            process = context.Process(target=_serve, args=arguments, daemon=True)  # type: ignore[attr-defined]
            try:
                process.start()
            # It cannot be pickled, or no process is to be had: the others do it, or this one. A RuntimeError says that
            # this is such a process itself, running a script that calls us outside of `if __name__ == "__main__"`.
            except (OSError, PicklingError, TypeError, AttributeError):
                ours.close()
            else:
                self._started.append(process)
                self._held[ours] = deque()
            finally:
                theirs.close()  # or its end would go unnoticed

    def _hand_out(self, wanted: int) -> None:
        for pipe, held in list(self._held.items()):
            # Two each: one in work, and one that need not be waited for.
            while len(held) < 2 and self._todo and self._todo[0] < wanted + AHEAD:
                try:
                    pipe.send(self._todo[0])
                except OSError:
                    self._lost(pipe)
                    break
                held.append(self._todo.popleft())

    def _collect(self) -> None:
        busy = [pipe for pipe, held in self._held.items() if held]
        for pipe in cast("list[Connection]", wait(busy) if busy else []):
            try:
                found = pipe.recv()
            except Exception:  # it died, in the middle of a word perhaps; or what it says cannot be read
                self._lost(pipe)
                continue
            self._done[self._held[pipe].popleft()] = found

    def _lost(self, pipe: Connection) -> None:
        """Go on without the process behind *pipe*: what it had in hand is done here, when its turn comes."""
        self._done |= dict.fromkeys(self._held.pop(pipe))
        pipe.close()


def _serve(
    work: Callable[[T], R], items: Sequence[T], chunks: Sequence[range], pipe: Connection, inherited: list[Connection]
) -> None:
    """Do what *pipe* asks for until nobody asks anymore; None says that it could not be done here."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C goes to all; the first process ends the others
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in inherited:
        other.close()
    while True:
        try:
            chunk = chunks[pipe.recv()]
        except (EOFError, OSError):
            return
        try:
            found = [work(items[place]) for place in chunk]
        except Exception:  # raised once more, with its traceback, where the work was asked for
            found = None
        try:
            pipe.send(found)
        except OSError:
            return
        except Exception:  # not picklable
            pipe.send(None)
