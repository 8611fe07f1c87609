"""The local cut: what a server should have stopped at, cut here whatever it did."""

from __future__ import annotations

from collections.abc import Sequence


def cut(text: str, stops: Sequence[str]) -> tuple[str, int]:
    """Return *text* up to the first occurrence of any of *stops*, and how many characters that removed.

    Empty stop strings are ignored.
    """
    found = (text.find(stop) for stop in stops if stop)
    end = min((at for at in found if at >= 0), default=len(text))
    return text[:end], len(text) - end
