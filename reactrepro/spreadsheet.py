"""Tables as CSV that no spreadsheet runs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import TypeAlias

Value: TypeAlias = str | int | float | bool | None


def table_bytes(rows: Iterable[Sequence[Value]]) -> bytes:
    """Return *rows* as CSV (RFC 4180) in UTF-8.

    A text that a spreadsheet would run as a formula (it begins with ``=``, ``+``, ``-``, ``@`` or a tab, and is no
    number) gets an apostrophe in front: answers come from models, and recordings from strangers.
    """
    file = io.StringIO()
    csv.writer(file, lineterminator="\r\n").writerows([_cell(value) for value in row] for row in rows)
    return file.getvalue().encode("utf-8", "backslashreplace")


def _cell(value: Value) -> object:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str) and value[:1] in {"=", "+", "-", "@", "\t", "\r"} and not _is_number(value):
        return f"'{value}"
    return "" if value is None else value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
