"""Early: what the first episodes of a recording show about its settings, before all of it is paid for."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Final

from ..domain import Trajectory, Turn
from ..errors import OutOfTokens

FIRST: Final = 3
"""Episodes after which a recording is stopped, where all of them ended alike."""

_CUT = frozenset({"length", "max_tokens"})


def is_starved(trajectory: Trajectory, turns: Iterable[Turn]) -> bool:
    """Tell whether the token limit cut every reply of an episode, and no answer came of them.

    A reply that runs on behind its stop string, where the server does not stop, had room enough.
    """
    replies = [reply for turn in turns for reply in (turn.completion, *turn.further) if reply is not None]
    cut = bool(replies) and all(reply.finish in _CUT and not reply.cut for reply in replies)
    return cut and not trajectory.answer


class FirstEpisodes:
    """Watches the first episodes that a recording finishes; shared by its threads.

    Args:
        max_tokens: the token limit of one reply.
    """

    def __init__(self, max_tokens: int) -> None:
        self._max_tokens = max_tokens
        self._lock = threading.Lock()
        self._starved: int | None = 0

    def finished(self, *, starved: bool) -> OutOfTokens | None:
        """Count an episode; return why all has to stop, where it is the last of `FIRST` that were starved."""
        with self._lock:
            if self._starved is None or not starved:
                self._starved = None  # one that was not is enough
                return None
            self._starved += 1
            if self._starved < FIRST:
                return None
        return OutOfTokens(
            f"the first {FIRST} episodes came to no answer: the limit of {self._max_tokens} tokens cut every reply, so "
            "that the model did not get to one.\n"
            "  Raise --max-tokens (which makes another run). What was recorded is kept; no other episode was begun."
        )
