"""Which prompt a user means by ``--prompt NAME|FILE|DIR``: a name, and the roots in which `prompts.load` finds it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..errors import Usage
from . import PACKAGED, Listed, is_name, listing, load, name_of, names_in, only


@dataclass(frozen=True, slots=True)
class Choice:
    """A prompt, chosen.

    Attributes:
        name: what `prompts.load` finds it by.
        roots: where it is looked for before the packaged prompts, in order.
    """

    name: str
    roots: tuple[Path, ...]


def choose(given: str, task: str, method: str, roots: Iterable[Path] = ()) -> Choice:
    """Return the prompt of *method* for *task* that *given* means.

    * NAME: a prompt in one of *roots*, or a packaged one. What has no path separator and does not end in ``.txt`` is a
      name, unless there is no such prompt and there is such a folder.
    * FILE: ``<root>/<task>/<name>/<method>.txt`` is that very prompt. Any other file is everything that stands before
      the question (with ``x.instruction.txt`` before ``x.txt``, where it stands beside it), and its name is made of the
      file's own and of its hash: another text is another prompt.
    * DIR: a folder laid out as ``prompts/`` that holds one prompt for the task and method, or one prompt's own folder.

    Args:
        given: as typed.
        task, method: as for `prompts.load`.
        roots: searched for a name; they stay behind the chosen one.

    Raises:
        Usage: no such file, folder or prompt; or a folder that holds several.
        Corrupt: a file is not UTF-8, or cannot be read.
    """
    behind = tuple(map(Path, roots))
    path = Path(given).expanduser()
    if not _is_path(given) and not (path.is_dir() and not _known(given, task, method, behind)):
        load(task, method, given, behind)
        return Choice(given, behind)
    found = path.absolute()
    if found.is_dir():
        name, root = _of_folder(found, given, task, method)
    elif not found.is_file():
        raise Usage(f"--prompt {given}: there is no such file or folder.")
    elif found.suffix != ".txt":
        raise Usage(f"--prompt {given}: a prompt's file ends in .txt.")
    else:
        name, root = laid_out(found, task, method) or (name_of(found), found)
    return Choice(name, (root, *(other for other in behind if other.absolute() != root)))


def listed(given: str, roots: Iterable[Path] = ()) -> tuple[Listed, ...]:
    """Return the lines of `listing` for *given*: those of a name, of a file, or of everything in a folder.

    Raises:
        Usage: nothing of that kind.
        Corrupt: a file is not UTF-8, or cannot be read.
    """
    path = Path(given).expanduser()
    if named := [] if _is_path(given) else [line for line in listing(roots) if line.name == given]:
        return tuple(named)
    if path.is_dir():
        found = path.absolute()
        rows = [*only(found), *(line for line in only(found.parent.parent) if line.name == found.name)]
    elif path.is_file() and path.suffix == ".txt":
        rows = list(only(path.absolute()))
    else:
        raise Usage(f"--prompt {given}: there is no prompt, file or folder of that name.")
    if not rows:
        raise Usage(
            f"--prompt {given}: it holds no prompt; a prompt is {given.rstrip('/')}/<task>/<name>/<method>.txt."
        )
    return tuple(rows)


def laid_out(path: Path, task: str, method: str) -> tuple[str, Path] | None:
    """Return (name, root) of a file that stands where a prompt of *method* for *task* stands; None of any other."""
    folder = path.parent
    if (folder.parent.name, path.name) == (task, f"{method}.txt") and is_name(folder.name):
        return folder.name, folder.parent.parent
    return None


def _of_folder(folder: Path, given: str, task: str, method: str) -> tuple[str, Path]:
    if here := laid_out(folder / f"{method}.txt", task, method):
        if (folder / f"{method}.txt").is_file():
            return here
        raise Usage(f"--prompt {given}: it holds no {method}.txt, the prompt of method {method!r}.")
    names = list(names_in(folder, task, method))
    if len(names) == 1:
        return names[0], folder
    if not names:
        raise Usage(
            f"--prompt {given}: it holds no prompt of method {method!r} for task {task!r}, which would be "
            f"{given.rstrip('/')}/{task}/<name>/{method}.txt."
        )
    one = os.path.join(given, task, names[0])
    raise Usage(f"--prompt {given}: it holds several ({', '.join(names)}). Name one of them: --prompt {one}")


def _is_path(given: str) -> bool:
    return given.endswith(".txt") or any(mark in given for mark in (os.sep, "/", "\\", "~")) or given in (".", "..")


def _known(name: str, task: str, method: str, roots: Iterable[Path]) -> bool:
    return any(name in names_in(root, task, method) for root in (*roots, PACKAGED))
