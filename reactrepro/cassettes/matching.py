"""When two requests are the same: by meaning, not by bytes.

Method, logical endpoint and the whole JSON body as parsed values. Numbers compare by value (0 equals 0.0), booleans
are never numbers, text is compared character for character without Unicode normalisation. Header, host, key order,
white space and escapes play no part; nothing else is ignored.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from ..domain import Json, sha256_text

ENDPOINTS: Final = ("chat/completions", "completions", "messages", "responses", "embeddings")
"""Logical endpoints, the longer first: the tail of a path under any provider's prefix."""


class _Absent:
    def __repr__(self) -> str:
        return "(absent)"


ABSENT: Final = _Absent()
"""Stands for a value that one side does not have."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One place where two bodies differ.

    Attributes:
        path: JSON path of the leaf ("$.messages[0].content").
        recorded, sent: the values there; `ABSENT` where a side has none.
    """

    path: str
    recorded: Any
    sent: Any

    @property
    def weight(self) -> int:
        """How much differs: for texts, the characters outside the common beginning and end; else 1."""
        if isinstance(self.recorded, str) and isinstance(self.sent, str):
            start = common_prefix(self.recorded, self.sent)
            rest = min(len(self.recorded), len(self.sent)) - start
            end = common_prefix(self.recorded[::-1], self.sent[::-1], limit=rest)
            return max(len(self.recorded), len(self.sent)) - start - end
        return 1


def endpoint(uri: str) -> str:
    """Return the logical endpoint of *uri*: no scheme, host, port or version prefix."""
    path = urlsplit(uri).path.strip("/")
    for known in ENDPOINTS:
        if path == known or path.endswith("/" + known):
            return known
    return path


def same(a: Json, b: Json) -> bool:
    """Tell whether two parsed JSON values mean the same."""
    kind = type(a)
    if kind is str or a is None or kind is bool:
        return type(b) is kind and bool(a == b)
    if kind is dict:
        return type(b) is dict and a.keys() == b.keys() and all(same(value, b[key]) for key, value in a.items())
    if kind is list:
        return type(b) is list and len(a) == len(b) and all(map(same, a, b))
    return type(b) in (int, float) and bool(a == b)


def meaning(text: str | bytes) -> bytes:
    """Return bytes that two JSON texts share exactly when they mean the `same`: for looking requests up.

    Raises:
        ValueError: *text* is not JSON.
        RecursionError: it is nested too deep.
    """
    try:
        return _encode(_decode(text))
    except (ValueError, OverflowError, RecursionError):  # infinity, half a character, more than 64 bits; no JSON
        value = json.loads(text, parse_float=_number)
        return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


def _number(text: str) -> int | float:
    return _whole(float(text))


def _whole(value: float) -> int | float:
    """Return *value*, as an integer where it is whole: 0 equals 0.0."""
    return int(value) if value.is_integer() else value


def _finite(text: str) -> int | float:
    if math.isinf(value := _number(text)):
        raise ValueError(text)  # msgspec would write null
    return value


_decode = msgspec.json.Decoder(float_hook=_finite).decode
_encode = msgspec.json.Encoder(order="sorted").encode


def body_sha256(body: Json) -> str:
    """Return the SHA-256 (hex) of the canonical JSON of *body*: bodies that are the `same` have the same one."""
    return sha256_text(json.dumps(_plain(body), sort_keys=True, separators=(",", ":"), ensure_ascii=True))


def _plain(value: Json) -> Json:
    """Return *value* with whole numbers as integers."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return _whole(value) if isinstance(value, float) else value


def texts(body: Json) -> Iterator[str]:
    """Yield every text in *body*, however deep, in order; names of members are none."""
    if isinstance(body, str):
        yield body
    elif isinstance(body, dict | list):
        for inner in body.values() if isinstance(body, dict) else body:
            yield from texts(inner)


def differences(recorded: Json, sent: Json, path: str = "$") -> Iterator[Difference]:
    """Yield every leaf at which the two bodies differ, in the order of *sent*."""
    if isinstance(recorded, dict) and isinstance(sent, dict):
        for key in [*sent, *(key for key in recorded if key not in sent)]:
            yield from differences(recorded.get(key, ABSENT), sent.get(key, ABSENT), f"{path}.{key}")
    elif isinstance(recorded, list) and isinstance(sent, list):
        for number in range(max(len(recorded), len(sent))):
            left = recorded[number] if number < len(recorded) else ABSENT
            right = sent[number] if number < len(sent) else ABSENT
            yield from differences(left, right, f"{path}[{number}]")
    elif recorded is ABSENT or sent is ABSENT or not same(recorded, sent):
        yield Difference(path, recorded, sent)


def common_prefix(a: str, b: str, limit: int | None = None) -> int:
    """Return the number of characters that *a* and *b* have in common at their beginning, at most *limit*."""
    low, high = 0, min(len(a), len(b)) if limit is None else min(len(a), len(b), limit)
    while low < high:
        middle = (low + high + 1) // 2
        if a[:middle] == b[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
