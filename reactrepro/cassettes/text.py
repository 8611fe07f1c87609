"""The on-disk form of text in a cassette: pure ASCII, one source line per line of the text, every character kept.

A body is a double-quoted YAML scalar, broken with a trailing backslash after every line of the text and after every
``\\n`` escape inside it (which is where a prompt's lines end, since the prompt stands inside JSON). It is the one YAML
form that holds every character: literal blocks forbid U+0080 to U+009F, which the paper's prompts contain, and
emitters refuse them for trailing blanks. ASCII, because stock vcrpy opens files in the locale's encoding.

Every escape used here is a JSON escape too, except ``\\ `` (a line that begins with a blank) and ``\\U........``
(characters beyond U+FFFF). That is what lets `read` take the fast road.
"""

from __future__ import annotations

import json
import re

from ..domain import Json

_PIECES = re.compile(r"(?:\\[^n]|[^\\\n])*(?:\\n|\n|\\?\Z)", re.DOTALL)
_NOT_PLAIN = re.compile(r"[^\x00-\x7e]")
_JSON = json.JSONEncoder(ensure_ascii=False)  # made once: `json.dumps` makes one for each line


def scalar(text: str, indent: int) -> str:
    """Return *text* as a broken double-quoted YAML scalar whose lines are indented by *indent* blanks."""
    margin = " " * indent
    pieces = [piece for piece in _PIECES.findall(text) if piece] or [""]
    lines = [f"{margin}{_escaped(piece)}" for piece in pieces]
    return '"\\\n' + "\\\n".join(lines) + '"'


def quoted(text: str) -> str:
    """Return *text* as a double-quoted YAML scalar on one line."""
    return ascii_json(text)


def ascii_json(value: Json, *, indent: int | None = None, margin: int = 0) -> str:
    """Return *value* as JSON that is also a YAML flow value, in ASCII.

    Args:
        value: a JSON value.
        indent: as for `json.dumps`; None puts everything on one line.
        margin: blanks before every line but the first, so that the closing bracket stays inside a YAML mapping.

    Raises:
        ValueError: a float that JSON does not have (NaN, infinity).
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent, allow_nan=False)
    return _NOT_PLAIN.sub(_escape, text).replace("\n", "\n" + " " * margin)


def body_json(value: Json) -> str:
    """Return a request body as it is stored: ASCII JSON, one line per member, key order kept."""
    return json.dumps(value, ensure_ascii=True, indent=0, allow_nan=False)


def _escaped(piece: str) -> str:
    inner = _NOT_PLAIN.sub(_escape, _JSON.encode(piece)[1:-1])
    return "\\" + inner if inner.startswith(" ") else inner  # YAML eats blanks at a continuation line's start


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
