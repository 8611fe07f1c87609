"""A user's file of questions -> `Question`s.

Two forms. JSON Lines (`my.jsonl`): an object per line with `question` and `answer`, or `claim` and `label`, and `id`
where there is one; each question is keyed by a hash of its text, so that its recording is found wherever it stands in
the file. A JSON list of the same objects, the form of HotpotQA's development set (`_id` for `id`), is keyed by the
place in the list: a data set that does not change.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..domain import Question, sha256_text
from ..errors import Corrupt, Usage

MAX_FILE = 256 * 1024 * 1024
"""Bytes; no file of questions is larger."""

DIGITS = 15
"""Hex digits of the hash that name a question: enough for millions of them."""

_NEEDS = "it needs objects with 'question' and 'answer' (or 'claim' and 'label'), all of them texts"


def key_of(text: str) -> str:
    """Return the key of a question that has no index: `q` and the beginning of the SHA-256 of its UTF-8 bytes.

    The letter keeps it apart from an index, whatever the digits.
    """
    return f"q{sha256_text(text)[:DIGITS]}"


def read(path: Path) -> tuple[Question, ...]:
    """Return the questions in *path*, in order.

    Raises:
        Corrupt: the file is in neither form, or cannot be read.
        Usage: it is empty, or two lines ask the same question.
    """
    try:
        if not path.is_file():  # a device or a pipe may never end
            raise Corrupt(f"{path} is no ordinary file.")
        if path.stat().st_size > MAX_FILE:
            raise Corrupt(f"{path} is larger than {MAX_FILE} bytes, which no file of questions is.")
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Corrupt(f"{path} is not UTF-8: byte {error.start} is none. Save it as UTF-8.") from None
    except OSError as error:
        raise Corrupt(f"{path} cannot be read: {error.strerror}.") from None
    found = tuple(_list(path, text) if text.lstrip().startswith("[") else _lines(path, text))
    if not found:
        raise Usage(f"{path} holds no question.")
    return found


def _list(path: Path, text: str) -> Iterator[Question]:
    for index, row in enumerate(_parsed(path, text, "")):
        yield _question(path, f"entry {index}", row, str(index), index)


def _lines(path: Path, text: str) -> Iterator[Question]:
    seen: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"line {number}"
        question = _question(path, where, _parsed(path, line, where), "", None)
        key = key_of(question.text)
        if key in seen:
            raise Usage(f"{path}: lines {seen[key]} and {number} ask the same question. Remove one of them.")
        seen[key] = number
        yield Question(key, question.text, question.gold, None, question.id)


def _parsed(path: Path, text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Corrupt(f"{path}{', ' + where if where else ''}: no readable JSON ({error}); {_NEEDS}.") from None


def _question(path: Path, where: str, row: Any, key: str, index: int | None) -> Question:
    for text_name, gold_name in (("question", "answer"), ("claim", "label")):
        if not isinstance(row, dict) or text_name not in row or gold_name not in row:
            continue
        text, gold, name = row[text_name], row[gold_name], row.get("_id", row.get("id"))
        if isinstance(text, str) and isinstance(gold, str) and _writable(text) and _writable(gold):
            return Question(key, text, gold, index, str(name) if isinstance(name, str | int) else None)
    raise Corrupt(f"{path}, {where}: no question; {_NEEDS}.")


def _writable(text: str) -> bool:
    """Tell whether *text* can be sent: a lone surrogate cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
