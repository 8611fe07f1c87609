"""Bytes -> values, for files that come from strangers.

Two readers of one format. The fast one reads only what `write` writes, by undoing the line breaks and reading JSON;
whatever it does not recognise to the letter, it leaves to the safe YAML loader. tests/cassettes/test_read.py holds the
two equal. Neither runs code, follows aliases or takes unbounded memory; both end in the same checks.
"""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ..errors import CassetteAbsent, Corrupt
from .model import EPISODE_FORMAT, RUN_FORMAT, Cassette, EpisodeMeta, Interaction, RunConfig, check_format
from .model import interactions_sha256 as _sha256

MAX_CASSETTE = 64 * 1024 * 1024
"""Bytes; a self-consistency episode of 21 samples is about 0.2 MB."""
MAX_RUN = 1024 * 1024

SECRET_HEADERS = frozenset(
    {
        "anthropic-organization-id",
        "api-key",
        "authorization",
        "cookie",
        "openai-organization",
        "openai-project",
        "proxy-authorization",
        "set-cookie",
        "x-api-key",
    }
)
"""Headers that no recording may hold. Our own recorder keeps none but the content type."""

T = TypeVar("T")


class _NotCanonical(Exception):
    """The fast reader does not recognise the file; not an error."""


def read_bytes(path: Path, limit: int) -> bytes:
    """Return the file's bytes, at most *limit*.

    Raises:
        CassetteAbsent: there is no such file.
        Corrupt: larger than *limit*, or not a readable file.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise Corrupt(f"{path} is no ordinary file; it was not read.")  # a pipe would never end
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(min(size, limit) + 1)  # asking for *limit* would allocate it
            while size < len(data) <= limit and (more := file.read(limit + 1 - len(data))):
                data += more  # it grew meanwhile, or is of a kind that has no size
    except FileNotFoundError:
        raise CassetteAbsent(f"{path} does not exist.") from None
    except OSError as error:
        raise Corrupt(f"{path} cannot be read: {error.strerror or error}.") from error
    if len(data) > limit:
        raise Corrupt(f"{path} is larger than {limit} bytes, which no such file is; it was not read.")
    return data


def read_cassette(path: Path) -> Cassette:
    """Read and check one episode's file.

    Raises:
        CassetteAbsent: there is none.
        Corrupt: truncated, altered, unsafe, not a cassette, or of a newer format.
    """
    return parse_cassette(read_bytes(path, MAX_CASSETTE), path)


def read_run(path: Path) -> RunConfig:
    """Read and check ``run.json``.

    Raises:
        CassetteAbsent: there is none.
        Corrupt: not what its format says.
    """
    data = json_object(read_bytes(path, MAX_RUN), path)
    check_format(data.get("format"), RUN_FORMAT, path)
    return convert(data, RunConfig, path)


def parse_cassette(data: bytes, path: Path | None) -> Cassette:
    """Return the cassette in *data*, checked; *path* is for messages.

    Raises:
        Corrupt: see `read_cassette`.
    """
    try:
        block, interactions = _fast(data, path)
    except _NotCanonical:
        block, interactions = _through_yaml(data, path)
    check_format(block.get("format"), EPISODE_FORMAT, path)
    meta = convert(block, EpisodeMeta, path)
    _check(meta, interactions, path)
    return Cassette(meta, interactions, path)


def convert(value: Any, form: type[T], path: Path | None) -> T:
    """Return *value* as the dataclass *form*, type by type.

    Unknown fields are refused: within one format version the fields are fixed, so an unknown one is a typing error,
    or a newer version that forgot to say so.

    Raises:
        Corrupt: it is none; the message names the field by its JSON path.
    """
    try:
        result = msgspec.convert(value, form)
        known = msgspec.json.decode(msgspec.json.encode(result))
    except (msgspec.ValidationError, RecursionError, OverflowError, UnicodeEncodeError) as error:
        raise Corrupt(f"{path}: {error}. The file was altered, or something else wrote it.") from None
    if known != value and (unknown := _unknown(value, known, "$")):
        raise Corrupt(f"{path}: unknown field `{unknown}`. The file was altered, or something else wrote it.")
    return result


def _unknown(value: Any, known: Any, where: str) -> str | None:
    if isinstance(value, dict) and isinstance(known, dict):
        for name, item in value.items():
            if name not in known:
                return f"{where}.{name}"
            if isinstance(item, dict | list) and (found := _unknown(item, known[name], f"{where}.{name}")):
                return found
    elif isinstance(value, list) and isinstance(known, list | tuple):
        for number, (item, other) in enumerate(zip(value, known, strict=True)):
            if isinstance(item, dict | list) and (found := _unknown(item, other, f"{where}[{number}]")):
                return found
    return None


def json_object(data: bytes, path: Path | None) -> dict[str, Any]:
    """Return the JSON object in *data*.

    Raises:
        Corrupt: not UTF-8, not JSON, or no object.
    """
    try:
        value = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise Corrupt(f"{path} is not readable JSON: {error}. It is truncated or was altered.") from None
    if not isinstance(value, dict):
        raise Corrupt(f"{path} holds no JSON object.")
    return value


def _check(meta: EpisodeMeta, interactions: tuple[Interaction, ...], path: Path | None) -> None:
    if len(interactions) != meta.interactions.count:
        raise Corrupt(
            f"{path} holds {len(interactions)} interactions where it was saved with {meta.interactions.count}: "
            "it is truncated, or interactions were added. Restore the file, or record the episode again."
        )
    for number, interaction in enumerate(interactions, 1):
        for name in (*interaction.request_headers, *interaction.response_headers):
            if name.lower() in SECRET_HEADERS:
                raise Corrupt(
                    f"{path}: interaction {number} has the header {name!r}, which holds a secret or an account. "
                    "Make the key invalid if this file was published, and record the episode again."
                )
    if _sha256(interactions) != meta.interactions.sha256:
        raise Corrupt(
            f"{path}: its interactions are not the ones that were saved (the hash differs): a request or a reply was "
            "edited, or their order changed. Restore the file, or record the episode again."
        )


# --- the fast reader ------------------------------------------------------------------------------------------------

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


def _fast(data: bytes, path: Path | None) -> tuple[dict[str, Any], tuple[Interaction, ...]]:
    if data.translate(None, _PRINTABLE):
        raise _NotCanonical
    text = data.decode("ascii")
    if not text.startswith(_HEAD) or not text.endswith(_TAIL):
        raise _NotCanonical
    if _MAYBE_NOT_YAML.search(text) and _NOT_YAML.search(text):
        raise _NotCanonical
    middle = text.find(_MIDDLE)
    if middle < 0 or _SPLIT_KEY.search(text, 0, middle):
        raise _NotCanonical
    block = _fast_json(text[len(_HEAD) - 1 : middle])
    rest = text[middle + len(_MIDDLE) :]
    if rest == " []\n" + _TAIL:
        return block, ()
    if not rest.startswith(_INTERACTION) or not rest.endswith("\n" + _TAIL):
        raise _NotCanonical
    blocks = rest[len(_INTERACTION) : -len(_TAIL) - 1].split(_INTERACTION)
    return block, tuple(map(_fast_interaction, blocks))


def _fast_interaction(block: str) -> Interaction:
    parts, at = [], 0
    for mark in _MARKS:
        found = block.find(mark, at)
        if found < 0:
            raise _NotCanonical
        parts.append(block[at:found])
        at = found + len(mark)
    if not block.endswith('"') or at >= len(block):
        raise _NotCanonical
    method, uri, body, request_headers, status, response_headers = parts
    response = block[at:-1]
    if not method.isalpha() or not method.isupper() or "\n" in uri + request_headers + status + response_headers:
        raise _NotCanonical
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
        raise _NotCanonical from None


def _fast_json(text: str) -> Any:
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        raise _NotCanonical from None


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
        raise _NotCanonical
    lines = block[len(start) :].split("n\\" + start)
    if start + "\\ " in block:
        lines = [line[1:] if line.startswith("\\ ") else line for line in lines]
    text = "n".join(lines)
    if "\n" in text:  # a break after anything but an escaped newline
        raise _NotCanonical
    return _STRING.decode(f'"{text}"')


# --- through the safe YAML loader -----------------------------------------------------------------------------------


def _through_yaml(data: bytes, path: Path | None) -> tuple[dict[str, Any], tuple[Interaction, ...]]:
    from .yaml_reader import load  # yaml costs 60 ms: only for files that something else wrote

    value = load(data, path)
    if not isinstance(value, dict):
        raise Corrupt(f"{path} holds no mapping; this is no cassette.")
    block = value.get("reactrepro")
    if not isinstance(block, dict):
        raise Corrupt(
            f"{path} has no block 'reactrepro': it is truncated, was saved by plain vcrpy (which drops the block), "
            "or is somebody else's cassette."
        )
    if value.get("version") != 1 or isinstance(value["version"], bool):
        raise Corrupt(f"{path} is no cassette of vcrpy's format version 1, or is truncated.")
    if unknown := value.keys() - {"reactrepro", "version", "interactions"}:
        raise Corrupt(f"{path}: unknown top-level key {sorted(map(str, unknown))[0]!r}.")
    rows = value.get("interactions")
    if not isinstance(rows, list):
        raise Corrupt(f"{path} holds no list of interactions.")
    try:
        return block, tuple(_from_vcr(row, path) for row in rows)
    except (KeyError, TypeError, AttributeError):
        raise Corrupt(f"{path}: an interaction is not in vcrpy's form (request, response).") from None


def _from_vcr(row: Any, path: Path | None) -> Interaction:
    request, response = row["request"], row["response"]
    return _interaction(
        (request["method"], request["uri"], request["body"], request["headers"]),
        (response["status"], response["headers"], response["body"]["string"]),
        path,
    )


def _interaction(request: tuple[Any, Any, Any, Any], response: tuple[Any, Any, Any], path: Path | None) -> Interaction:
    method, uri, body, request_headers = request
    status, response_headers, text = response
    texts = (method, uri, body, text, status.get("message"))
    if not all(isinstance(text, str) for text in texts) or type(status.get("code")) is not int:
        raise Corrupt(f"{path}: an interaction's method, address, body or status is not text (or the code no number).")
    return Interaction(
        method=method,
        uri=uri,
        body=body,
        status=status["code"],
        response=text,
        request_headers=_headers(request_headers, path),
        response_headers=_headers(response_headers, path),
        reason=status["message"],
    )


def _headers(value: Any, path: Path | None) -> dict[str, list[str]]:
    if not isinstance(value, dict):
        raise Corrupt(f"{path}: an interaction's headers are no mapping.")
    headers = {}
    for name, values in value.items():
        listed = [values] if isinstance(values, str) else values
        if not isinstance(name, str) or not isinstance(listed, list) or not all(isinstance(v, str) for v in listed):
            raise Corrupt(f"{path}: header {name!r} is not a list of texts.")
        headers[name] = listed
    return headers
