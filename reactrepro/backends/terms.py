"""Terms: what a server takes, as it has been found to be. Decided on its answers, never on a model's name."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Final

from ..domain import Json, Sent

_SIZES = (16, 8, 4, 2, 1)
"""Numbers of samples to ask for where a server refuses a number and does not say which one it takes."""

STOPS: Final = ("native", "visible", "emulated")
"""How stop strings are put, from as asked to not at all."""
TOKEN_LIMITS: Final = ("max_tokens", "max_completion_tokens")


class Approach:
    """How one call is put, and put once more after each refusal. Nothing is learned before a reply came.

    Args:
        sent: how it is put at first.

    Attributes:
        planned: that.
        sent: how it is put now.
    """

    def __init__(self, sent: Sent) -> None:
        self.planned = self.sent = sent
        self._refused: set[str] = set()

    def without(self, parameter: str, value: Json) -> bool:
        """Put the call otherwise, after *parameter* with *value* was refused.

        Returns:
            Whether there is another way. There is none a second time for the same parameter, nor for one that was not
            sent, so that a call is put in a handful of ways at most.
        """
        if parameter in self._refused:
            return False
        if parameter in {"stop", "stop_sequences"} and self.sent.stop != "emulated":
            blank = isinstance(value, list) and any(not str(text).strip() for text in value)
            if blank and self.sent.stop == "native":
                self.sent = replace(self.sent, stop="visible")  # the other stop strings may be welcome
                return True
            self.sent = replace(self.sent, stop="emulated")
        elif parameter in TOKEN_LIMITS and parameter == self.sent.token_limit:
            other = TOKEN_LIMITS[parameter == TOKEN_LIMITS[0]]
            if other in self._refused:
                return False
            self.sent = replace(self.sent, token_limit=other)
        elif parameter == "temperature" and parameter not in self.sent.omitted:
            self.sent = replace(self.sent, omitted=(*self.sent.omitted, parameter))
        else:
            return False
        self._refused.add(parameter)
        return True


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
        """In which way it is asked by an episode that begins now."""
        return self._sent

    def learn(self, approach: Approach) -> None:
        """Learn that a call brought a reply when it was put as *approach* says, and was refused as it was planned.

        Only what *approach* changed is learned: other threads learn, too.
        """
        was, now = approach.planned, approach.sent
        with self._lock:
            known = self._sent
            self._sent = replace(
                known,
                stop=known.stop if was.stop == now.stop else max(known.stop, now.stop, key=STOPS.index),
                token_limit=known.token_limit if was.token_limit == now.token_limit else now.token_limit,
                omitted=tuple(dict.fromkeys((*known.omitted, *now.omitted[len(was.omitted) :]))),
            )

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
