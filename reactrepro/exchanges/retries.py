"""How often, and how long apart, a call is tried again, and when it is enough. The waiting is its caller's business."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

RETRYABLE = frozenset({408, 409, 429})
"""Statuses that say "later"; every 5xx does, too."""


MANY = 3
"""Calls in a row, each in vain after all of its attempts, after which nobody expects a server there anymore."""


SPREAD = 1.0
"""Seconds over which waiting calls come back, at most."""


def is_shared(status: int | None) -> bool:
    """Tell whether *status* speaks of the provider as a whole, so that every call has to wait: 429, 5xx."""
    return status is not None and (status == 429 or status >= 500)


def is_retryable(status: int, headers: Mapping[str, str] | None = None) -> bool:
    """Tell whether a call that was answered with *status* is tried again; a provider's word on that counts."""
    if _header(headers, "x-should-retry") == "false":
        return False
    return status in RETRYABLE or status >= 500


@dataclass(frozen=True)
class Patience:
    """A bounded retry loop.

    Attributes:
        attempts: calls in all, the first one included.
        first_wait: seconds before the second call; doubled each time, up to *last_wait*, a random half of it off.
        last_wait: see there.
        longest_wait: seconds; a server that asks for more is not waited for.
        timeout: seconds that one call may take.
        chance, now: for tests: a number from 0 to 1; seconds since 1970.
    """

    attempts: int = 5
    first_wait: float = 1.0
    last_wait: float = 60.0
    longest_wait: float = 300.0
    timeout: float = 300.0
    chance: Callable[[], float] = random.random
    now: Callable[[], float] = time.time

    def wait(self, failures: int, headers: Mapping[str, str] | None = None) -> float | None:
        """Return the seconds to wait after *failures* failed calls, or None: give up.

        A ``Retry-After`` of the server counts where it is longer than our own wait.
        """
        if failures >= self.attempts:
            return None
        own: float = min(self.last_wait, self.first_wait * 2.0 ** min(failures - 1, 30)) * (1 + self.chance()) / 2
        asked = self.asked(headers)
        if asked is not None and asked > self.longest_wait:
            return None
        return max(own, asked or 0.0)

    def asked(self, headers: Mapping[str, str] | None) -> float | None:
        """Return the seconds that the server wants to be left alone; None where it says nothing that can be read."""
        for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
            try:
                return max(0.0, float(_header(headers, name) or "") / unit)  # 0 for NaN, too
            except ValueError:
                continue
        try:
            date = parsedate_to_datetime(_header(headers, "retry-after") or "")
            return max(0.0, date.replace(tzinfo=date.tzinfo or UTC).timestamp() - self.now())
        except (ValueError, TypeError, IndexError, OverflowError):
            return None


class Breaker:
    """Notices, over all threads, that there is no server: that no connection was made, call after call.

    A call that is given up ends its episode, so calls in a row are episodes in a row.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._unconnected = 0

    def gave_up(self, *, unconnected: bool) -> bool:
        """Count a call that was given up; tell whether it is the last of `MANY` in a row that met no server."""
        with self._lock:
            self._unconnected = self._unconnected + 1 if unconnected else 0
            return self._unconnected >= MANY

    def answered(self) -> None:
        """Begin anew: there is a server, whatever it said."""
        with self._lock:
            self._unconnected = 0


class Gate:
    """Has all calls to a provider wait as soon as one of them is told to, so that a storm is waited out together.

    Args:
        longest: seconds after which a waiting call goes on all the same, however often the gate was closed meanwhile.
        chance, now: for tests: a number from 0 to 1; seconds on a clock that never goes back.
    """

    def __init__(
        self,
        longest: float = 300.0,
        *,
        chance: Callable[[], float] = random.random,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lock = threading.Lock()
        self._longest, self._chance, self._now = longest, chance, now
        self._until = float("-inf")

    def close(self, seconds: float) -> None:
        """Let no further call pass for *seconds*; what was asked for before and is longer counts."""
        with self._lock:
            self._until = max(self._until, self._now() + seconds)

    def passes(self, stop: Callable[[float], bool]) -> bool:
        """Wait until the gate is open, and a little longer, each call by chance, so that they do not all come at once.

        Args:
            stop: waits so many seconds; True means that the user wants an end.

        Returns:
            Whether to go on; False where *stop* said otherwise.
        """
        rest = self._longest
        while (left := min(self._until - self._now(), rest)) > 0:
            if stop(left + min(left / 2, SPREAD) * self._chance()):
                return False
            rest -= left
        return True


def _header(headers: Mapping[str, str] | None, name: str) -> str | None:
    return next((value for found, value in (headers or {}).items() if found.lower() == name), None)
