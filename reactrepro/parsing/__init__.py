"""Completion text -> thought and action. Pure: no I/O, no exception for any string."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..registry import Registry
from .reply import Reply

Protocol: TypeAlias = Callable[[str, int, str | None], Reply]
"""Reads one reply: `(text, step number i, finish reason or None) -> Reply`."""

PROTOCOLS: Registry[Protocol] = Registry(
    "protocol",
    {
        "strict": "reactrepro.parsing.strict:parse",
        "tolerant": "reactrepro.parsing.tolerant:parse",
    },
)
