"""Bytes -> values, for files that come from strangers.

Two readers of one format: a fast one (`fast`) for what `write` writes, and the safe YAML loader for everything else.
tests/cassettes/test_files.py holds them equal. Neither
runs code, follows aliases or takes unbounded memory; both end in the same checks.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ..errors import CassetteAbsent, Corrupt, SecretFound
from .fast import NotCanonical, fast, head
from .model import (
    EPISODE_FORMAT,
    EXCHANGE_FORMAT,
    RUN_FORMAT,
    Cassette,
    EpisodeMeta,
    ExchangeMeta,
    Exchanges,
    Interaction,
    RunConfig,
    check_format,
)
from .model import interactions_sha256 as _sha256
from .secrets import secret_in_address

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

_THEN = "Make the key invalid if this file was published, and record the episode again."

T = TypeVar("T")


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


def read_exchanges(path: Path) -> Exchanges:
    """Read and check the file of an agent that is not ours.

    Raises:
        CassetteAbsent: there is none.
        Corrupt: as `read_cassette`.
    """
    block, interactions = _parts(read_bytes(path, MAX_CASSETTE), path)
    check_format(block.get("format"), EXCHANGE_FORMAT, path)
    meta = convert(block, ExchangeMeta, path)
    _check(meta, interactions, path)
    return Exchanges(meta, interactions, path)


def read_run(path: Path) -> RunConfig:
    """Read and check ``run.json``.

    Raises:
        CassetteAbsent: there is none.
        Corrupt: not what its format says.
    """
    data = json_object(read_bytes(path, MAX_RUN), path)
    check_format(data.get("format"), RUN_FORMAT, path)
    return convert(data, RunConfig, path)


def read_meta(path: Path) -> EpisodeMeta:
    """Read the block of one episode's file and nothing else of it: what stands below is not checked.

    Raises:
        CassetteAbsent: there is no such file.
        Corrupt: its block is not what the format says, or of a newer version.
    """
    data = read_bytes(path, MAX_CASSETTE)
    try:
        block = head(data)
    except NotCanonical:
        return parse_cassette(data, path).meta
    check_format(block.get("format"), EPISODE_FORMAT, path)
    return convert(block, EpisodeMeta, path)


def parse_cassette(data: bytes, path: Path | None) -> Cassette:
    """Return the cassette in *data*, checked; *path* is for messages.

    Raises:
        Corrupt: see `read_cassette`.
    """
    block, interactions = _parts(data, path)
    check_format(block.get("format"), EPISODE_FORMAT, path)
    meta = convert(block, EpisodeMeta, path)
    _check(meta, interactions, path)
    return Cassette(meta, interactions, path)


def _parts(data: bytes, path: Path | None) -> tuple[dict[str, Any], tuple[Interaction, ...]]:
    try:
        return fast(data)
    except NotCanonical:
        return _through_yaml(data, path)


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


def _check(meta: EpisodeMeta | ExchangeMeta, interactions: tuple[Interaction, ...], path: Path | None) -> None:
    if len(interactions) != meta.interactions.count:
        raise Corrupt(
            f"{path} holds {len(interactions)} interactions where it was saved with {meta.interactions.count}: "
            "it is truncated, or interactions were added. Restore the file, or record the episode again."
        )
    for number, interaction in enumerate(interactions, 1):
        for name in (*interaction.request_headers, *interaction.response_headers):
            if name.lower() in SECRET_HEADERS:
                raise SecretFound(
                    f"{path}: interaction {number} has the header {name!r}, which holds a secret or an account. {_THEN}"
                )
        if what := secret_in_address(interaction.uri):
            raise SecretFound(f"{path}: the address of interaction {number} has {what}. {_THEN}")
    if _sha256(interactions) != meta.interactions.sha256:
        raise Corrupt(
            f"{path}: its interactions are not the ones that were saved (the hash differs): a request or a reply was "
            "edited, or their order changed. Restore the file, or record the episode again."
        )


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
