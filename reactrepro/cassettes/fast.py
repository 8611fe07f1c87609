"""The fast reader: undoes the line breaks of the canonical form and reads JSON.

It reads only what `write` writes. Whatever it does not recognise to the letter it leaves to the safe YAML loader;
tests/cassettes/test_files.py holds the two equal.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from .model import Interaction


class NotCanonical(Exception):
    """The file is not in the canonical form; not an error."""


_PRINTABLE = bytes(range(0x20, 0x7F)) + b"\n"
_HEAD = "reactrepro: {"
_MIDDLE = "\ninteractions:"
_TAIL = "version: 1\n"
_MAYBE_NOT_YAML = re.compile(r"\\(?:/|u[dD])")
_SPLIT_KEY = re.compile(r"\n *:")  # JSON lets a line end between a key and its colon, YAML does not
_NOT_YAML = re.compile(r"(?<!\\)(?:\\\\)*\\(?:/|u[dD][89a-fA-F])")  # JSON escapes that libyaml refuses
_INTERACTION = "\n- request:\n    method: "
_MARKS = (
    "\n    uri: ",
    '\n    body: "\\\n',
    '"\n    headers: ',
    "\n  response:\n    status: ",
    "\n    headers: ",
    '\n    body:\n      string: "\\\n',
)
"""What stands between the parts of an interaction, in order. Deeper lines are indented more, so none occurs inside."""


def fast(data: bytes) -> tuple[dict[str, Any], tuple[Interaction, ...]]:
    """Return the block and the interactions of a cassette in the canonical form.

    Raises:
        NotCanonical: it is in another form, or no cassette.
    """
    if data.translate(None, _PRINTABLE):
        raise NotCanonical
    text = data.decode("ascii")
    if not text.startswith(_HEAD) or not text.endswith(_TAIL):
        raise NotCanonical
    if _MAYBE_NOT_YAML.search(text) and _NOT_YAML.search(text):
        raise NotCanonical
    middle = text.find(_MIDDLE)
    if middle < 0 or _SPLIT_KEY.search(text, 0, middle):
        raise NotCanonical
    block = _fast_json(text[len(_HEAD) - 1 : middle])
    rest = text[middle + len(_MIDDLE) :]
    if rest == " []\n" + _TAIL:
        return block, ()
    if not rest.startswith(_INTERACTION) or not rest.endswith("\n" + _TAIL):
        raise NotCanonical
    blocks = rest[len(_INTERACTION) : -len(_TAIL) - 1].split(_INTERACTION)
    return block, tuple(map(_fast_interaction, blocks))


def head(data: bytes) -> dict[str, Any]:
    """Return the block of a cassette in the canonical form, whatever stands below it.

    Raises:
        NotCanonical: it is in another form, or no cassette.
    """
    middle = data.find(_MIDDLE.encode("ascii"))
    if middle < 0:
        raise NotCanonical
    return fast(data[:middle] + f"{_MIDDLE} []\n{_TAIL}".encode("ascii"))[0]


def _fast_interaction(block: str) -> Interaction:
    parts, at = [], 0
    for mark in _MARKS:
        found = block.find(mark, at)
        if found < 0:
            raise NotCanonical
        parts.append(block[at:found])
        at = found + len(mark)
    if not block.endswith('"') or at >= len(block):
        raise NotCanonical
    method, uri, body, request_headers, status, response_headers = parts
    response = block[at:-1]
    if not method.isalpha() or not method.isupper() or "\n" in uri + request_headers + status + response_headers:
        raise NotCanonical
    try:
        answer = _STATUS.decode(status)
        return Interaction(
            method=method,
            uri=_STRING.decode(uri),
            body=_fast_text(body, "      "),
            status=answer.code,
            response=_fast_text(response, "        "),
            request_headers=_HEADERS.decode(request_headers),
            response_headers=_HEADERS.decode(response_headers),
            reason=answer.message,
        )
    except msgspec.DecodeError:
        raise NotCanonical from None


def _fast_json(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        raise NotCanonical from None


def _plain_float(text: str) -> float:
    if "e" in text.lower() or "n" in text.lower():
        raise ValueError(text)  # YAML 1.1 reads 1e5 as a string
    return float(text)


_DECODER = json.JSONDecoder(parse_float=_plain_float, parse_constant=_plain_float)


class _Status(msgspec.Struct, forbid_unknown_fields=True):
    code: int
    message: str


_STRING = msgspec.json.Decoder(str)
_STATUS = msgspec.json.Decoder(_Status)
_HEADERS = msgspec.json.Decoder(dict[str, list[str]])


def _fast_text(block: str, margin: str) -> str:
    """Undo the line breaks. Bodies are most of a file, so they are gone through as seldom as possible."""
    start, block = "\n" + margin, "\n" + block
    if not block.startswith(start) or start + " " in block:  # YAML would eat the blank
        raise NotCanonical
    lines = block[len(start) :].split("n\\" + start)
    if start + "\\ " in block:
        lines = [line[1:] if line.startswith("\\ ") else line for line in lines]
    text = "n".join(lines)
    if "\n" in text:  # a break after anything but an escaped newline
        raise NotCanonical
    return _STRING.decode(f'"{text}"')
