"""How long to wait before a wiki is asked again, and who asks next. Time itself is a parameter."""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

FIRST_WAIT = 1.0
"""Seconds before the second attempt, at most; doubled for each further one, up to `LAST_WAIT`."""

LAST_WAIT = 30.0


@dataclass(frozen=True, slots=True)
class Clock:
    """Time and chance.

    Attributes:
        monotonic: seconds, from anywhere.
        sleep: waits for so many seconds; what it raises ends the waiting, and the fetch.
        now: date and time, UTC.
        chance: a number from 0 to 1.
    """

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    chance: Callable[[], float] = random.random


class Pace:
    """One queue for all the workers of a recording: nobody asks before his turn.

    Args:
        interval: seconds from one start to the next, at least.
        longest: seconds of silence asked for by a server (`hold`) that are waited for, at most.
        clock: time.

    Attributes:
        turns: how many turns were given.
    """

    def __init__(self, interval: float, longest: float, clock: Clock) -> None:
        self._interval = interval
        self._longest = longest
        self._clock = clock
        self._lock = threading.Lock()
        self._next = self._held = float("-inf")
        self.turns = 0

    def turn(self) -> float:
        """Wait for one's turn, and take it.

        Returns:
            0, or, without a turn taken and at once, the seconds of silence that a server still wants, where they are
            more than `longest`.
        """
        while True:
            with self._lock:
                now = self._clock.monotonic()
                if self._held - now > self._longest:
                    return self._held - now
                wait = max(self._next, self._held) - now
                if wait <= 0:
                    self._next = now + self._interval
                    self.turns += 1
                    return 0
            self._clock.sleep(wait)

    def hold(self, seconds: float) -> None:
        """Give nobody a turn for so many seconds: the server asked for that."""
        with self._lock:
            self._held = max(self._held, self._clock.monotonic() + seconds)


def backoff(attempt: int, chance: float) -> float:
    """Return the seconds to wait after the failed attempt number *attempt*: doubled each time, a random half of it off.

    Args:
        attempt: from 1.
        chance: a number from 0 to 1.
    """
    return float(min(FIRST_WAIT * 2.0 ** min(attempt - 1, 30), LAST_WAIT) * (1 + chance) / 2)


def retry_after(value: str | None, now: datetime) -> float:
    """Return how many seconds the header Retry-After asks for, as seconds or as a date; 0 where it says nothing."""
    value = (value or "").strip()
    if re.fullmatch("[0-9]+", value, re.ASCII):
        return float(value)
    try:
        date = parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return 0
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - now).total_seconds())
