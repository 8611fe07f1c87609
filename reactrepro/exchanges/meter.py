"""Who counts what calls cost, as `Live` sees it: asked before each attempt, told what became of it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Protocol

from ..domain import Json


class Bill(Protocol):
    """One call under way. Exactly one of its three methods is called, once."""

    def paid(self, response: Json) -> None:
        """A reply came."""

    def refused(self) -> None:
        """The server answered with an error, which costs nothing."""

    def lost(self) -> None:
        """No reply came, and only the provider knows whether it is charged for."""


class Meter(Protocol):
    """Counts the calls of all threads."""

    def reserve(self, body: Json, stopped: threading.Event) -> Bill:
        """Return the bill of a call that is about to be made; it may have to wait for those of other calls.

        Raises:
            BudgetExceeded: the call could pass a limit.
            Interrupted: the user wants an end.
        """


class Unmetered:
    """A meter that counts nothing, and its bills."""

    def reserve(self, body: Json, stopped: threading.Event) -> Bill:
        """Return a bill that nobody reads."""
        return self

    def paid(self, response: Json) -> None:
        """Do nothing."""

    refused = lost = lambda _: None


def metered(meter: Meter, body: Json, stopped: threading.Event, once: Callable[[], Json], error: type[Any]) -> Json:
    """Return what *once*, which makes one attempt, returns, and tell *meter* what became of it.

    Args:
        meter, body, stopped: as for `Meter.reserve`.
        once: makes the attempt.
        error: what it raises where the server answered with an error status.

    Raises:
        BudgetExceeded, Interrupted: see `Meter.reserve`; nothing was sent.
    """
    bill = meter.reserve(body, stopped)
    try:
        response = once()
    except error:
        bill.refused()
        raise
    except BaseException:
        bill.lost()
        raise
    bill.paid(response)
    return response
