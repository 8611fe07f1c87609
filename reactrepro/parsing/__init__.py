"""Completion text -> thought and action. Pure: no I/O, no exception for any string."""

from __future__ import annotations

from ..registry import Registry
from .reply import Protocol, Reply

__all__ = ["PROTOCOLS", "Protocol", "Reply"]

PROTOCOLS: Registry[Protocol] = Registry(
    "protocol",
    {
        "strict": "reactrepro.parsing.strict:PROTOCOL",
        "tolerant": "reactrepro.parsing.tolerant:PROTOCOL",
    },
)
