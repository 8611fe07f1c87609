"""Bytes of a data file -> questions.

Only what a `Question` holds is decoded; the paragraphs of the official HotpotQA files are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import msgspec

from ..domain import Question
from ..errors import Corrupt
from .catalogue import FILES, DataFile


class _HotpotRow(msgspec.Struct):
    question: str
    answer: str
    id: str | None = msgspec.field(name="_id", default=None)


class _FeverRow(msgspec.Struct):
    id: int
    claim: str
    label: str


def hotpotqa(data: bytes) -> tuple[Question, ...]:
    """Read a HotpotQA development file, official or simplified: the answer is the gold, ``_id`` the id, if any.

    Raises:
        ValueError: *data* is none.
    """
    rows = msgspec.json.decode(data, type=list[_HotpotRow])
    return tuple(Question(str(n), row.question, row.answer, n, row.id) for n, row in enumerate(rows))


def fever(data: bytes) -> tuple[Question, ...]:
    """Read a FEVER file, one claim a line: the label is the gold, FEVER's number the id.

    Raises:
        ValueError: *data* is none.
    """
    rows = msgspec.json.Decoder(_FeverRow).decode_lines(data)
    return tuple(Question(str(n), row.claim, row.label, n, str(row.id)) for n, row in enumerate(rows))


READERS: Mapping[str, Callable[[bytes], tuple[Question, ...]]] = {"hotpotqa": hotpotqa, "fever": fever}
"""Data set -> how its files are read."""

_PREFERRED = ("distractor", "fullwiki", "simplified", "paper_dev")  # those with ids first; the rows are the same


def installed(data_set: str, folder: Path) -> tuple[DataFile, Path] | None:
    """Return the file of *data_set* that is read, of those that stand in the data *folder*; None where none does."""
    for file in sorted(FILES.get(data_set, ()), key=lambda file: _PREFERRED.index(file.short)):
        if (path := place(file, folder)).is_file():
            return file, path
    return None


def place(file: DataFile, folder: Path) -> Path:
    """Return where *file* stands in the data *folder*."""
    return folder / file.data_set / file.name


def fault(file: DataFile, data: bytes) -> str | None:
    """Return what is wrong with *data* as *file*: its sum or its number of rows; None where nothing is."""
    try:
        rows = len(READERS[file.data_set](data))
    except ValueError as error:
        rows, why = None, str(error)
    found = sha256(data).hexdigest()
    if rows == file.rows and file.sha256 in (None, found):
        return None
    counted = f"{rows:,} rows" if rows is not None else f"no rows that can be read ({why})"
    return f"it has {len(data):,} bytes, {counted}, SHA-256 {found}; expected is {expected(file)}"


def expected(file: DataFile) -> str:
    """Return what *file* has to be, in words."""
    known = f"SHA-256 {file.sha256} ({file.sum_source})" if file.sha256 else "an unknown SHA-256 (none was published)"
    return f"{f'{file.size:,} bytes, ' if file.size else ''}{file.rows:,} rows, {known}"


def questions(data_set: str, folder: Path) -> tuple[Question, ...] | None:
    """Return the questions of *data_set*, in order, from the data *folder*; None where it is not installed.

    Raises:
        Corrupt: the file is not the one that was published.
    """
    found = installed(data_set, folder)
    if found is None:
        return None
    file, path = found
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Corrupt(f"{path} cannot be read: {error.strerror}.") from None
    if file.sha256 in (None, sha256(data).hexdigest()):
        with suppress(ValueError):
            rows = READERS[data_set](data)
            if len(rows) == file.rows:
                return rows
    raise Corrupt(
        f"{path} is not {file.name} as it was published: {fault(file, data)}.\n  `{file.command}` puts it right."
    )
