"""How often, and how long apart, a call is tried again. Pure but for the sleeping, which is handed in."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

RETRYABLE = frozenset({408, 409, 429})
"""Statuses that say "later"; every 5xx does, too."""


def is_retryable(status: int) -> bool:
    """Tell whether a call that was answered with *status* is tried again."""
    return status in RETRYABLE or status >= 500


@dataclass(frozen=True)
class Patience:
    """A bounded retry loop.

    Attributes:
        attempts: calls in all, the first one included.
        first_wait: seconds before the second call; doubled each time, with jitter.
        longest_wait: seconds; a server that asks for more is not waited for.
        timeout: seconds that one call may take.
        sleep, jitter, now: for tests.
    """

    attempts: int = 5
    first_wait: float = 1.0
    longest_wait: float = 60.0
    timeout: float = 300.0
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random
    now: Callable[[], float] = time.time

    def wait(self, failures: int, headers: Mapping[str, str] | None = None) -> float | None:
        """Return the seconds to wait after *failures* failed calls, or None: give up.

        A ``Retry-After`` of the server counts where it is longer than our own wait.
        """
        if failures >= self.attempts:
            return None
        own: float = min(self.longest_wait, self.first_wait * 2 ** (failures - 1)) * (0.5 + self.jitter() / 2)
        asked = self._asked(headers or {})
        if asked is not None and asked > self.longest_wait:
            return None
        return max(own, asked or 0.0)

    def _asked(self, headers: Mapping[str, str]) -> float | None:
        found = {name.lower(): value for name, value in headers.items()}
        try:
            if "retry-after-ms" in found:
                return max(0.0, float(found["retry-after-ms"]) / 1000)
            return max(0.0, float(found["retry-after"]))
        except KeyError:
            return None
        except ValueError:
            pass
        try:
            asked: float = parsedate_to_datetime(found["retry-after"]).timestamp()
        except (KeyError, ValueError, TypeError):
            return None
        return max(0.0, asked - self.now())
