"""What every transport needs of HTTP: bodies as values, and which headers are handed on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..domain import Json

NOT_HANDED_ON = frozenset({"content-encoding", "content-length", "transfer-encoding", "set-cookie"})
"""Headers of the body as it was on the wire, where what is handed on is decoded; and cookies: no call has to do with
another."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back to the SDK.

    Attributes:
        status: HTTP status code.
        body: the response body's bytes, never compressed.
        content_type: as recorded; the only header that is played, so that no recorded cookie, encoding or retry-after
            has an effect.
    """

    status: int
    body: bytes
    content_type: str


def json_or_text(body: bytes | None) -> Json:
    """Return a request's body as a value; its text where it is not JSON."""
    text = (body or b"").decode("utf-8", "replace")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def unpacked(response: Any) -> bytes:
    """Return an error's body, which nobody has to understand: b"" where it does not unpack."""
    try:
        return bytes(response.read())
    except Exception:  # of whatever library unpacks; the status says enough
        return b""


def content_type(headers: Mapping[str, Any]) -> str:
    """Return the content type among recorded *headers*; JSON's where there is none that can be sent."""
    for name, values in headers.items():
        if name.lower() == "content-type" and values:
            value = str(values[0] if isinstance(values, list) else values)
            if value.isascii() and value.isprintable():
                return value
    return "application/json"


def handed_on(headers: Mapping[str, str]) -> dict[str, str]:
    """Return those *headers* of an answer that the SDK gets to see."""
    return {name: value for name, value in headers.items() if name.lower() not in NOT_HANDED_ON}
