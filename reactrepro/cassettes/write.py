"""Values -> bytes, and bytes onto the disk without a moment at which a half-written file could be seen."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from .model import (
    Cassette,
    EpisodeMeta,
    ExchangeMeta,
    Exchanges,
    Interaction,
    InteractionsRef,
    Provenance,
    RunConfig,
    interactions_sha256,
    plain,
)
from .text import ascii_json, quoted, scalar

TEMPORARY = ".tmp"
"""The ending of a file that is being written; its name begins with a dot. A killed writer can leave one behind."""

_NO_SUCH_THING = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM, errno.EBADF})
"""What file systems answer on which a folder cannot be synced."""

VCR_VERSION = 1
"""vcrpy's own cassette format version (`vcr.serialize.CASSETTE_FORMAT_VERSION`)."""


def seal(meta: EpisodeMeta, interactions: tuple[Interaction, ...]) -> Cassette:
    """Return the cassette of *interactions* whose block counts and hashes them."""
    return Cassette(replace(meta, interactions=_counted(interactions)), interactions)


def seal_exchanges(
    interactions: tuple[Interaction, ...], *, time: str | None, versions: dict[str, str], provenance: Provenance
) -> Exchanges:
    """Return the file of an agent that is not ours; its block counts and hashes *interactions*."""
    meta = ExchangeMeta(provenance=provenance, time=time, versions=versions, interactions=_counted(interactions))
    return Exchanges(meta, interactions)


def _counted(interactions: tuple[Interaction, ...]) -> InteractionsRef:
    return InteractionsRef(count=len(interactions), sha256=interactions_sha256(interactions))


def cassette_bytes(cassette: Cassette | Exchanges) -> bytes:
    """Return the file's bytes: ASCII, LF line ends, our block first, vcrpy's version last."""
    parts = [f"reactrepro: {ascii_json(plain(cassette.meta), indent=2, margin=2)}\n", "interactions:"]
    if cassette.interactions:
        parts.append("\n")
        parts.extend(_interaction(interaction) for interaction in cassette.interactions)
    else:
        parts.append(" []\n")
    parts.append(f"version: {VCR_VERSION}\n")
    return "".join(parts).encode("ascii")


def run_bytes(config: RunConfig) -> bytes:
    """Return the bytes of ``run.json``: readable ASCII JSON."""
    return json_bytes(config)


def json_bytes(form: Any) -> bytes:
    """Return a dataclass as readable ASCII JSON with a final newline."""
    return (json.dumps(plain(form), ensure_ascii=True, indent=2) + "\n").encode("ascii")


def replace_file(path: Path, data: bytes) -> None:
    """Put *data* at *path* whole or not at all: temporary file in the same folder, fsync, replace.

    When it returns, *data* is on the disk, and so is its name: a power failure takes neither away.

    Raises:
        OSError: the disk is full or not writable; what stood at *path* is untouched. Its file name is that of *path*.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=TEMPORARY, dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(0o644)
            move(Path(temporary), path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


def move(source: Path, target: Path) -> None:
    """Give the file *source* the name *target*, in the same folder and in one step, for good.

    Raises:
        OSError: it cannot be renamed.
    """
    os.replace(source, target)
    if os.name == "posix":  # elsewhere a folder cannot be opened, nor need it be
        try:
            folder = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            if error.errno not in _NO_SUCH_THING:
                raise


def _interaction(interaction: Interaction) -> str:
    """Return the lines of *interaction*; made once, since a recorder writes all of them after each new one."""
    kept: dict[str, Any] = vars(interaction)
    made: str = kept.get("_lines") or kept.setdefault("_lines", _lines(interaction))
    return made


def _lines(interaction: Interaction) -> str:
    return (
        "- request:\n"
        f"    method: {interaction.method}\n"
        f"    uri: {quoted(interaction.uri)}\n"
        f"    body: {scalar(interaction.body, 6)}\n"
        f"    headers: {ascii_json(interaction.request_headers)}\n"
        "  response:\n"
        f"    status: {ascii_json({'code': interaction.status, 'message': interaction.reason})}\n"
        f"    headers: {ascii_json(interaction.response_headers)}\n"
        "    body:\n"
        f"      string: {scalar(interaction.response, 8)}\n"
    )
