"""Where the questions of a recording come from: the task's own, a data file, or the recordings at hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..cassettes.library import Library
from ..cassettes.selection import EVERYTHING, keys_of
from ..data import user_file
from ..domain import Question, Task
from ..errors import ReactReproError, Usage


def questions(task: Task, words: Sequence[str], library: Library, data: Path | None = None) -> tuple[Question, ...]:
    """Return the questions that *words* name: indexes, ranges, or ``all``.

    Args:
        task: the task. One whose questions come with the package has a method ``questions()``.
        words: as typed.
        library: recordings, whose questions are known, too.
        data: a file of questions (`data.user_file`). Of JSON Lines, whose questions are keyed by a hash, *words* may
            also be places in the file, from 0.

    Raises:
        Usage: no words, or a question that nobody knows.
        Corrupt: the data file is none.
    """
    known = _known(task, library, data)
    if not words:
        raise Usage(f"say which questions: indexes and ranges (0-9), or {EVERYTHING!r}.")
    keys = list(known) if list(words) == [EVERYTHING] else _placed(keys_of(words), list(known), data)
    missing = [key for key in keys if key not in known]
    if missing or not keys:
        some = ", ".join(list(known)[:5]) + (" …" if len(known) > 5 else "")
        raise Usage(
            f"no question {', '.join(missing[:5])} of {task.name} is at hand; known: {some or 'none'}. "
            "--data names a file of questions."
        )
    return tuple(known[key] for key in keys)


def _placed(keys: Sequence[str], known: Sequence[str], data: Path | None) -> list[str]:
    """Return *keys*, those that are places in a file of hashed questions as the hashes that stand there."""
    if data is None or all(key.isdecimal() for key in known):
        return list(keys)
    places = {str(place): key for place, key in enumerate(known)}
    return [key if key in known else places.get(key, key) for key in keys]


def _known(task: Task, library: Library, data: Path | None) -> dict[str, Question]:
    if data is not None:
        return {question.key: question for question in user_file.read(data)}
    packaged = getattr(task, "questions", None)
    if packaged is not None:
        return {question.key: question for question in packaged()}
    found: dict[str, Question] = {}
    for run in library.runs(task.name):
        for key in run.keys():  # noqa: SIM118 - a run is no mapping
            try:
                found.setdefault(key, run.read(key).meta.as_question())
            except ReactReproError:
                continue  # `check` reports it; a question can come from a sound recording only
    return dict(sorted(found.items(), key=lambda item: (len(item[0]), item[0])))
