"""Shards: work divided among machines that do not talk to each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from ..errors import Usage

T = TypeVar("T")

_FORM = re.compile(r"([0-9]{1,6})/([0-9]{1,6})\Z")


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several equal parts of the work.

    Attributes:
        number: which, from 1.
        of: how many there are.
    """

    number: int = 1
    of: int = 1

    @classmethod
    def read(cls, text: str) -> Shard:
        """Return the shard that *text* names: ``2/4`` is the second of four.

        Raises:
            Usage: it names none.
        """
        match = _FORM.match(text)
        found = cls(int(match[1]), int(match[2])) if match else None
        if found is None or not 1 <= found.number <= found.of:
            raise Usage(f"{text!r} is no shard: write i/n, from 1/n to n/n.")
        return found

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def part(self, items: Sequence[T]) -> Sequence[T]:
        """Return every n-th of *items*, from the i-th on: the shards are disjoint, and together they are the whole."""
        return items[self.number - 1 :: self.of]


WHOLE = Shard()
