"""Where the questions of a recording come from: a data file, the task's own, a fetched data set, or recordings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..cassettes.library import Library
from ..domain import Question, Task
from ..errors import Corrupt, ReactReproError, Usage
from .picks import Pick

MAX_DATA = 256 * 1024 * 1024


def questions(task: Task, pick: Pick, library: Library, data: Path | None = None) -> tuple[Question, ...]:
    """Return the questions that *pick* asks for, in order.

    Args:
        task: the task. One whose questions come with the package has a method ``questions()``.
        pick: which.
        library: recordings, whose questions are known where nothing else is.
        data: a file in the form of HotpotQA's development set: a JSON list of objects with ``question`` and
            ``answer``, and ``_id`` where there is one; the index is the place in the list.

    Raises:
        Usage: nothing is asked for, or a question that nobody knows.
        Corrupt: the data file is none, or the fetched one is not as it was published.
    """
    known = _known(task, library, data)
    keys = pick.keys({key: question.id for key, question in known.items()})
    missing = [key for key in keys if key not in known]
    if missing or not keys:
        some = ", ".join(list(known)[:5]) + (" …" if len(known) > 5 else "")
        raise Usage(
            f"no question {', '.join(missing[:5])} of {task.name} is at hand; known: {some or 'none'}. "
            f"--data names a file of questions.{_fetchable(task, data)}"
        )
    return tuple(known[key] for key in keys)


def _known(task: Task, library: Library, data: Path | None) -> dict[str, Question]:
    if data is not None:
        return {question.key: question for question in _from_file(data)}
    packaged = getattr(task, "questions", None)
    if packaged is not None:
        return {question.key: question for question in packaged()}
    if (fetched := _fetched(task)) is not None:
        return {question.key: question for question in fetched}
    found: dict[str, Question] = {}
    for run in library.runs(task.name):
        for key in run.keys():  # noqa: SIM118 - a run is no mapping
            try:
                found.setdefault(key, run.read(key).meta.as_question())
            except ReactReproError:
                continue  # `check` reports it; a question can come from a sound recording only
    return dict(sorted(found.items(), key=lambda item: (len(item[0]), item[0])))


def _fetched(task: Task) -> tuple[Question, ...] | None:
    """Return the questions of the task's own data set, where it was fetched."""
    from ..data import rows
    from ..data.catalogue import FILES
    from ..data.folder import data_folder

    return rows.questions(task.name, data_folder()) if task.name in FILES else None


def _fetchable(task: Task, data: Path | None) -> str:
    from ..data.catalogue import FILES

    if data is not None or task.name not in FILES or _fetched(task) is not None:
        return ""
    return f" `reactrepro fetch {task.name}` installs the whole data set."


def _from_file(path: Path) -> list[Question]:
    try:
        if path.stat().st_size > MAX_DATA:
            raise Corrupt(f"{path} is larger than {MAX_DATA} bytes, which no data set here is.")
        rows: Any = json.loads(path.read_bytes().decode("utf-8-sig"))
        return [_row(index, row) for index, row in enumerate(rows)]
    except (ValueError, RecursionError, KeyError, TypeError) as error:
        raise Corrupt(
            f"{path} is no list of questions ({type(error).__name__}): it needs a JSON list of objects with "
            "'question' and 'answer'."
        ) from None


def _row(index: int, row: Any) -> Question:
    text, gold, name = row["question"], row["answer"], row.get("_id")
    if not isinstance(text, str) or not isinstance(gold, str):
        raise TypeError
    text.encode("utf-8"), gold.encode("utf-8")  # a lone surrogate could not be sent
    return Question(str(index), text, gold, index, name if isinstance(name, str) else None)
