"""Server-sent events on their way to an agent: taken apart as they come, scrubbed one by one, handed on. No I/O.

What is handed on is what is recorded, to the byte. The events from the first that ends a reply on are held back until
somebody has saved the whole, so that no agent acts on a reply that a crash could still lose.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from ..domain import Json

_BLANK_LINE = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2}")
_LINE_END = re.compile(r"(\r\n|\n|\r)")
_NAME = re.compile(r"[\w.:-]{1,80}\Z")
DONE = "[DONE]"


class Events:
    """One streamed reply.

    Args:
        scrub: returns what may be written of an event's JSON; raises ValueError or RecursionError where it is none.
        is_last: tells whether an event is one that only a complete stream has.
        holds: tells whether a text holds a secret; asked of what the pieces of a stream are put together to.

    Attributes:
        problem: why the stream is no complete reply, or will not be; None where it is.
    """

    def __init__(
        self, scrub: Callable[[str], str], is_last: Callable[[Json], bool], holds: Callable[[str], bool]
    ) -> None:
        self._scrub, self._is_last, self._holds = scrub, is_last, holds
        self._texts: defaultdict[str, list[str]] = defaultdict(list)
        self._rest = b""
        self._all: list[bytes] = []
        self._held: list[bytes] = []
        self._ending = False
        self.problem: str | None = None

    @property
    def text(self) -> str:
        """All of it, as it is handed on, and as it is recorded where it is a reply."""
        return b"".join(self._all).decode("utf-8")

    def feed(self, data: bytes) -> bytes:
        """Return what can be handed on, now that *data* has come."""
        self._rest += data
        made, start = [], 0
        for found in _BLANK_LINE.finditer(self._rest):
            made.append(self._event(self._rest[start : found.end()]))
            start = found.end()
        self._rest = self._rest[start:]
        return b"".join(made)

    def end(self) -> bytes:
        """Return what can be handed on, now that nothing more comes, before the whole is saved."""
        made = self._event(self._rest) if self._rest else b""
        self._rest = b""
        if self.problem is None and not self._ending:
            self.problem = "a stream that ended before its end"
        if any(self._holds("".join(pieces)) for pieces in self._texts.values()):
            self.problem = "a stream that spells a key"
        return made

    def held(self) -> bytes:
        """Return what was held back."""
        held, self._held = b"".join(self._held), []
        return held

    def _event(self, block: bytes) -> bytes:
        made = block
        if self.problem is None:
            try:
                made = self._scrubbed(block.decode("utf-8")).encode("utf-8")
            except (ValueError, RecursionError):
                self.problem = "a stream with an event that is not JSON"
                made = block
        self._all.append(made)
        if not self._ending:
            return made
        self._held.append(made)
        return b""

    def _scrubbed(self, block: str) -> str:
        """Return *block* with the fields that are kept: the event's name, and its data."""
        pieces = _LINE_END.split(block)
        lines = list(zip(pieces[0::2], [*pieces[1::2], ""], strict=True))
        data = [_value(line) for line, _ in lines if _field(line) == "data"]
        if not data:
            return ""
        text = "\n".join(data)
        kept = self._looked_at(text)
        made, written = [], False
        for line, end in lines:
            if _field(line) == "data":
                if kept == text:
                    made.append(line + end)
                elif not written:
                    made.append(f"data: {kept}{end}")
                written = True
            elif not line or (_field(line) == "event" and _NAME.match(_value(line))):
                made.append(line + end)
        return "".join(made)

    def _looked_at(self, text: str) -> str:
        if text.strip() == DONE:
            self._ending = True
            return text
        value: Any = json.loads(text)
        if isinstance(value, dict) and (value.get("error") or value.get("type") in ("error", "response.failed")):
            self.problem = "a stream with an error inside"
            return text
        kept = self._scrub(text)
        self._ending = self._ending or self._is_last(value)
        for path, piece in _pieces(json.loads(kept), ""):
            self._texts[path].append(piece)
        return kept


def _pieces(value: Json, path: str) -> Iterator[tuple[str, str]]:
    """Yield the texts in *value*, each with its place: pieces of one place in one stream make one text."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        for item in value:
            yield from _pieces(item, path)
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _pieces(item, f"{path}[{value.get('index')}].{name}")


def _field(line: str) -> str:
    return line.partition(":")[0]


def _value(line: str) -> str:
    return line.partition(":")[2].removeprefix(" ")
