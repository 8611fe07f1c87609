"""Observation tapes on disk: ``<key>.tape.jsonl``.

First line: format, scope and the initial observation. Then one line per action, in order. The file's SHA-256 stands in
the episode, so that a tape cannot be exchanged or edited unnoticed.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from ..errors import CassetteAbsent, Corrupt
from .model import check_format
from .read import convert, json_object, read_bytes

TAPE_FORMAT = "reactrepro-tape/1"
MAX_TAPE = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class TapeEntry:
    """What the environment answered to one action.

    Attributes:
        action: the action as it was printed ("Search[Harlow Bay]").
        observation: the answer, a trailing newline included.
        done: the episode ended there.
        reward: the reward given there.
    """

    action: str
    observation: str
    done: bool = False
    reward: float | int = 0


@dataclass(frozen=True, slots=True)
class Tape:
    """An environment, recorded as what it answered.

    Attributes:
        scope: ``wiki``: Search and Lookup only, the rest is computed; ``environment``: every action.
        initial_observation: what `Environment.reset` returned.
        entries: in the order of the actions.
    """

    scope: Literal["wiki", "environment"]
    initial_observation: str
    entries: tuple[TapeEntry, ...]


@dataclass(frozen=True, slots=True)
class _Head:
    format: str
    scope: Literal["wiki", "environment"]
    initial_observation: str


def tape_bytes(tape: Tape) -> bytes:
    """Return the file's bytes: one ASCII JSON object per line."""
    head = _Head(TAPE_FORMAT, tape.scope, tape.initial_observation)
    rows = [asdict(head), *(asdict(entry) for entry in tape.entries)]
    return "".join(json.dumps(row, ensure_ascii=True) + "\n" for row in rows).encode("ascii")


def tape_sha256(data: bytes) -> str:
    """Return the SHA-256 (hex) by which an episode pins its tape."""
    return hashlib.sha256(data).hexdigest()


def read_tape(path: Path, sha256: str | None = None) -> Tape:
    """Read and check a tape.

    Args:
        path: the file.
        sha256: what the episode pins it by; None to take any tape.

    Raises:
        CassetteAbsent: there is none.
        Corrupt: not the bytes that the episode pins, or no tape.
    """
    try:
        data = read_bytes(path, MAX_TAPE)
    except CassetteAbsent:
        raise CassetteAbsent(f"{path} does not exist, and its episode was recorded with it. Restore it.") from None
    if sha256 is not None and tape_sha256(data) != sha256:
        raise Corrupt(f"{path} is not the tape that its episode was recorded with (the hash differs). Restore it.")
    if not data.endswith(b"\n"):
        raise Corrupt(f"{path} does not end in a newline: it is truncated.")
    lines = data[:-1].split(b"\n")
    head = json_object(lines[0], path)
    check_format(head.get("format"), TAPE_FORMAT, path)
    first = convert(head, _Head, path)
    entries = tuple(convert(json_object(line, path), TapeEntry, path) for line in lines[1:])
    return Tape(first.scope, first.initial_observation, entries)
