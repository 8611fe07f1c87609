"""What a long recording shows while it lasts, and how it is stopped."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from .options import watched

if TYPE_CHECKING:
    from ..runs.record import Recorded


class Progress:
    """A bar with done, failed, tokens, cost and time left, on a terminal; nothing elsewhere.

    Args:
        length: episodes.
        stopped: set when the user wants an end.
        silent: show nothing.
        spent: says what was spent so far, in a few words.
    """

    def __init__(
        self, length: int, stopped: threading.Event, *, silent: bool, spent: Callable[[], str] = lambda: ""
    ) -> None:
        self._bar: Any = None
        self._spent = spent
        self.stopped = stopped
        self.failed = 0
        if not silent and watched():
            self._bar = click.progressbar(
                length=length, label="recording", file=sys.stderr, show_eta=True, show_pos=True, width=24
            )

    def tell(self, episode: Recorded) -> None:
        """Count one episode."""
        self.failed += episode.state == "failed"
        if self._bar is not None:
            said = [f"{self.failed} failed"] * bool(self.failed) + [self._spent()]
            self._bar.label = f"recording ({', '.join(filter(None, said))})" if any(said) else "recording"
            self._bar.update(1)

    def __enter__(self) -> Progress:
        if self._bar is not None:
            self._bar.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.__exit__(*error)


@contextmanager
def stop_on_interrupt(stopped: threading.Event) -> Iterator[None]:
    """Let the first Ctrl-C end the recording after the calls under way, and a second one at once."""

    def stop(_number: int, _frame: object) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt
        stopped.set()
        with suppress(OSError):  # not by `click.echo`: the main thread may be in the middle of writing
            os.write(2, b"\nstopping after the calls under way; once more stops at once.\n")

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
