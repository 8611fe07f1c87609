"""A data file is put in its place: from where it stands already, from a file of the user's, or from a mirror.

Nothing is written before it is known to be right, and then in one step: a fetch that is killed leaves nothing half
done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

from ..cassettes.locks import clear_old
from ..cassettes.write import replace_file
from ..errors import Corrupt, Usage
from . import notice
from .catalogue import FILES, DataFile
from .mirrors import Progress, Silence, first_good, read_local
from .rows import expected, fault, place

LIMIT = 64 << 20
"""Bytes of a data file, at most; the largest one has 47,454,698."""

NOTICE = ".notice.txt"
"""What the name of a data file's notice ends in, behind the file's own name."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A file that stands in the data folder now.

    Attributes:
        file: which.
        path: where.
        state: ``present``: it stood there, and nothing was asked; ``installed`` now; ``replaced``: so, where another
            file stood.
        source: the address, or the name of the user's file, that it came from now; None where it stood there.
        sha256, size: its sum, and its bytes.
    """

    file: DataFile
    path: Path
    state: Literal["present", "installed", "replaced"]
    source: str | None
    sha256: str
    size: int

    @property
    def notice(self) -> Path:
        """The notice beside it: licence and citation."""
        return self.path.with_name(self.path.name + NOTICE)


def install(
    file: DataFile,
    folder: Path,
    *,
    local: Path | None = None,
    mirrors: Sequence[str] = (),
    progress: Progress | None = None,
) -> Installed:
    """Put *file* into the data *folder*, unless it is there; no network is used where it is.

    Args:
        file: which.
        folder: the data folder; made where it is absent.
        local: a file of the user's to take it from, in place of a mirror.
        mirrors: addresses to ask in place of the known ones.
        progress: is told how it goes on.

    Raises:
        InfraError: no mirror brought anything.
        Corrupt: what a mirror or *local* holds is another file.
        OSError: it cannot be written.
    """
    path = place(file, folder)
    there = _there(path)
    if there is not None and fault(file, there) is None:
        found = Installed(file, path, "present", None, sha256(there).hexdigest(), len(there))
        if not found.notice.exists():
            notice.keep(found.notice, _what(file), "unknown: it stood here already", file.terms)
        return found
    if local is not None:
        data, source = _given(file, local), local.name
    else:
        data, source = first_good(
            mirrors or file.mirrors,
            lambda data: fault(file, data),
            limit=LIMIT,
            name=f"{file.data_set}'s {file.name}",
            expected=expected(file),
            remedy=f"{file.command} --from FILE",
            progress=progress or Silence(),
        )
    state: Literal["installed", "replaced"] = "installed" if there is None else "replaced"
    made = Installed(file, path, state, source, sha256(data).hexdigest(), len(data))
    clear_old(folder)
    notice.keep(made.notice, _what(file), source, file.terms)
    replace_file(path, data)
    return made


def recognized(data_set: str, local: Path) -> DataFile:
    """Return which file of *data_set* the user's file *local* is: by its sum, else by its name, else the first one.

    Raises:
        Corrupt: it cannot be read.
    """
    found = sha256(read_local(local, LIMIT)).hexdigest()
    files = FILES[data_set]
    by_sum = (file for file in files if file.sha256 == found)
    by_name = (file for file in files if file.name == local.name)
    return next(by_sum, None) or next(by_name, None) or files[0]


def called(data_set: str, short: str) -> DataFile:
    """Return the file of *data_set* that is called *short*.

    Raises:
        Usage: none is.
    """
    for file in FILES[data_set]:
        if file.short == short:
            return file
    raise Usage(f"{data_set} has no file {short!r}; it has: {', '.join(file.short for file in FILES[data_set])}.")


def _there(path: Path) -> bytes | None:
    """Return what stands at *path*; None where nothing does that can be read whole."""
    try:
        return read_local(path, LIMIT) if path.exists() else None
    except Corrupt:
        return b""  # something else stands there


def _given(file: DataFile, local: Path) -> bytes:
    data = read_local(local, LIMIT)
    if wrong := fault(file, data):
        raise Corrupt(f"{local} is not {file.data_set}'s {file.name}, and nothing was written: {wrong}.")
    return data


def _what(file: DataFile) -> str:
    return f"{file.name}: {file.holds}\nThis has to be: {expected(file)}"
