"""Where the questions of a recording come from: a data file, the task's own, a fetched data set, or recordings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..cassettes.library import Library
from ..data import user_file
from ..domain import Question, Task
from ..errors import ReactReproError, Usage
from .picks import Pick


def questions(task: Task, pick: Pick, library: Library, data: Path | None = None) -> tuple[Question, ...]:
    """Return the questions that *pick* asks for, in order.

    Args:
        task: the task. One whose questions come with the package has a method ``questions()``.
        pick: which.
        library: recordings, whose questions are known where nothing else is.
        data: a file of questions (`data.user_file`). Of JSON Lines, whose questions are keyed by a hash, *pick*'s
            words may also be places in the file, from 0.

    Raises:
        Usage: nothing is asked for, or a question that nobody knows.
        Corrupt: the data file is none, or the fetched one is not as it was published.
    """
    known = _known(task, library, data)
    keys = _placed(pick.keys({key: question.id for key, question in known.items()}), list(known), data)
    missing = [key for key in keys if key not in known]
    if missing or not keys:
        some = ", ".join(list(known)[:5]) + (" …" if len(known) > 5 else "")
        raise Usage(
            f"no question {', '.join(missing[:5])} of {task.name} is at hand; known: {some or 'none'}. "
            f"--data names a file of questions.{_fetchable(task, data)}"
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
