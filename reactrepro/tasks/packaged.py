"""Questions that come with the package: a file of JSON Lines, keyed by the line, from 0."""

from __future__ import annotations

import json
from pathlib import Path

from ..domain import Question


def questions_in(path: Path, text: str = "question", gold: str = "answer") -> tuple[Question, ...]:
    """Return the questions in *path*, in order: text and gold answer, nothing else of what the file says.

    Args:
        path: one object per line.
        text, gold: the names of the two members.
    """
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return tuple(
        Question(key=str(index), text=row[text], gold=row[gold], index=index) for index, row in enumerate(rows)
    )
