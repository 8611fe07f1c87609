"""Work that several threads want at once, done by one of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any, TypeVar

from ..errors import InfraError

_T = TypeVar("_T")


class Flights:
    """Does each piece of work once, however many threads ask for it, and remembers what came of it.

    A failure is not remembered: all who were waiting get it, and whoever comes later tries anew.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flights: dict[Hashable, Future[Any]] = {}

    def once(self, key: Hashable, work: Callable[[], _T]) -> _T:
        """Return what *work* returns, or returned to the first who asked for *key*.

        Raises:
            Exception: *work* raised it, for this caller or for the one waited for.
            InfraError: the one waited for was interrupted.
        """
        with self._lock:
            flight = self._flights.get(key)
            mine = flight is None
            if flight is None:
                flight = self._flights[key] = Future()
        if not mine:
            found: _T = flight.result()
            return found
        try:
            result = work()
        except BaseException as error:
            with self._lock:
                del self._flights[key]
            interrupted = InfraError("the worker that was fetching this page was interrupted.")
            flight.set_exception(error if isinstance(error, Exception) else interrupted)
            raise
        flight.set_result(result)
        return result
