"""Terms: what a server takes, as it has been found to be. Decided on its answers, never on a model's name."""

from __future__ import annotations

import threading

from ..domain import Sent

_SIZES = (16, 8, 4, 2, 1)
"""Numbers of samples to ask for where a server refuses a number and does not say which one it takes."""


class Terms:
    """What one server takes; shared by all episodes of a recording, so that each refusal comes once.

    Args:
        sent: what is known of it already.
    """

    def __init__(self, sent: Sent | None = None) -> None:
        self._lock = threading.Lock()
        self._sent = Sent() if sent is None else sent
        self._most: int | None = None

    @property
    def sent(self) -> Sent:
        """In which way it is asked."""
        return self._sent

    def size(self, wanted: int) -> int:
        """Return how many samples to ask for in one call, of *wanted*."""
        return wanted if self._most is None else min(wanted, self._most)

    def came(self, asked: int, got: int) -> None:
        """Learn that *got* replies came where *asked* were asked for."""
        if got < asked:
            self._at_most(max(got, 1))

    def refused_samples(self, asked: int, limit: int | None) -> bool:
        """Learn that *asked* samples at a time are refused; *limit* is what the server says it takes, if it does.

        Returns:
            Whether fewer can be asked for.
        """
        if asked <= 1:
            return False
        lower = next(size for size in _SIZES if size < asked)
        self._at_most(limit if limit is not None and 1 <= limit < asked else lower)
        return True

    def _at_most(self, size: int) -> None:
        with self._lock:
            self._most = size if self._most is None else min(self._most, size)
