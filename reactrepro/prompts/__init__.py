"""Prompts: exact text from data files, found by path.

A prompt stands in `<root>/<task>/<name>/<method>.txt`; where `<method>.instruction.txt` stands beside it, that is put
before it. Adding a prompt is adding a file: nothing is registered. The files are bytes to be kept: they are decoded as
UTF-8 and nothing is added, dropped or translated, since a trailing blank is part of the experiment.

The prompts named `paper` are those of the ReAct paper's released code (Yao et al. 2022, `prompts_naive.json`), to the
byte; tests hold their SHA-256.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path

from ..domain import Prompt, PromptFile, sha256_text
from ..errors import Corrupt, Usage

PACKAGED = Path(__file__).parent
"""The root of the prompts that come with the package."""

FETCHED = {("fever", "paper"): ". The paper's own are installed by `reactrepro fetch prompts`"}
"""(task, name) of prompts that do not come with the package -> how they are had, for messages."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}\Z")


@dataclass(frozen=True, slots=True)
class Listed:
    """One line of `listing`: a data file, or a prompt composed of an instruction and exemplars.

    Attributes:
        task, name, method: what `load` finds it by; an instruction bears its method's name.
        stem: the file's name without `.txt`; for a composed prompt both, joined by " + ".
        characters: length in Unicode code points.
        bytes: length in UTF-8.
        sha256: SHA-256 (hex) of the UTF-8 bytes.
        files: the files, as names to print.
        composed: whether it is a prompt composed of two files.
    """

    task: str
    name: str
    method: str
    stem: str
    characters: int
    bytes: int
    sha256: str
    files: tuple[str, ...]
    composed: bool = False

    @property
    def label(self) -> str:
        """How a table calls it: ``hotpotqa/paper/react``, or the name alone where a single file is the root."""
        if self.task:
            return f"{self.task}/{self.name}/{self.stem}"
        return f"{self.name} ({self.stem})"


def load(task: str, method: str, name: str, roots: Iterable[Path] = ()) -> Prompt:
    """Return the prompt of *method* named *name* for *task*.

    Args:
        task: the prompt's task; a task that shares another's exemplars asks for that other one here.
        method: name of the method ("react").
        name: name of the prompt ("paper").
        roots: directories searched, in order, before the packaged one, unless that is among them. The first that holds
            the method's file gives its instruction too; files of two roots are never mixed. Those behind it are not
            asked for: an iterable may find them at that moment. A root may also be a single file ``x.txt``: it is the
            prompt of every task and method under the one name `name_of` gives it.

    Raises:
        Usage: no such prompt; the message lists what is there.
        Corrupt: a file is not UTF-8, cannot be read, or is a link that leads out of its root.
    """
    root, paths = _found(task, method, name, roots)
    for path in paths:
        _refuse_escape(root, path)
    return _composed(task, method, name, tuple((_printed(root, path), path, _bytes(path)) for path in paths))


def files(task: str, method: str, name: str, roots: Iterable[Path] = ()) -> tuple[Path, ...]:
    """Return the files that `load` reads: the instruction, where there is one, and the exemplars.

    Raises:
        Usage: no such prompt.
    """
    return tuple(map(Path, _found(task, method, name, roots)[1]))


def listing(roots: Iterable[Path] = ()) -> tuple[Listed, ...]:
    """Return every prompt file at hand and every composed prompt, sorted by task, name and file.

    Args:
        roots: as for `load`; a prompt that an earlier root holds hides those of later ones.

    Raises:
        Corrupt: a file is not UTF-8, or cannot be read.
    """
    found: dict[tuple[str, str, str], list[Listed]] = {}
    for root in (*map(Path, roots), PACKAGED):
        for task, name, method in _prompts(root):
            if (task, name, method) not in found:
                found[task, name, method] = list(_listed(root, task, name, method))
    return tuple(line for key in sorted(found) for line in found[key])


def only(root: Path) -> Iterator[Listed]:
    """Yield the lines of `listing` that *root* alone gives.

    Raises:
        Corrupt: a file is not UTF-8, or cannot be read.
    """
    for address in _prompts(root):
        yield from _listed(root, *address)


def is_name(text: str) -> bool:
    """Tell whether *text* can name a prompt."""
    return bool(_NAME.match(text))


def names_in(root: Path, task: str, method: str) -> tuple[str, ...]:
    """Return the names of the prompts of *method* for *task* that *root* holds, sorted."""
    if _is_single(root):
        return (name_of(root),) if root.is_file() else ()
    return tuple(name for name in _folders(root / task) if root.joinpath(task, name, f"{method}.txt").is_file())


def name_of(file: Path) -> str:
    """Return the name of the prompt in the single file *file*: made of the file's name and of the text's hash.

    Raises:
        Corrupt: not UTF-8, or cannot be read.
    """
    text = "".join(_decoded(path, _bytes(path)) for path in _files(str(file).removesuffix(".txt")))
    plain = re.sub(r"[^a-z0-9_-]+", "-", file.stem.lower()).strip("-_")[:48] or "prompt"
    return f"{plain}-{sha256_text(text)[:8]}"


def _is_single(root: Path) -> bool:
    return root.suffix == ".txt"


def _stem(root: Path, task: str, name: str, method: str) -> str | None:
    """Return the path, without what it ends in, that the prompt has in *root*; None where it can have none."""
    if _is_single(root) and root.is_file():
        return str(root).removesuffix(".txt") if name == name_of(root) else None
    return str(root.joinpath(task, name, method))


def _found(task: str, method: str, name: str, roots: Iterable[Path]) -> tuple[Path, list[str]]:
    for part in (task, method, name):
        if not _NAME.match(part):
            raise Usage(
                f"{part!r} is no name of a prompt: a name has lower-case letters, digits, '-' and '_', "
                "and begins with a letter or digit"
            )
    for root in chain(map(Path, roots), (PACKAGED,)):
        stem = _stem(root, task, name, method)
        if stem is not None and os.path.isfile(f"{stem}.txt"):
            return root, _files(stem)
    raise Usage(_unknown(task, method, name, (*map(Path, roots), PACKAGED)))


@lru_cache(maxsize=16)
def _composed(task: str, method: str, name: str, parts: tuple[tuple[str, str, bytes], ...]) -> Prompt:
    """Return the prompt of *parts*: (name to print, path, bytes). Files are read anew for each episode, hashed once."""
    texts = [(printed, _decoded(path, data)) for printed, path, data in parts]
    files = tuple(PromptFile(printed, sha256_text(text)) for printed, text in texts)
    return Prompt(task=task, method=method, name=name, text="".join(text for _, text in texts), files=files)


def _files(stem: str) -> list[str]:
    """Return the files that make up a prompt, in order; *stem* is their path without what they end in."""
    instruction, exemplars = f"{stem}.instruction.txt", f"{stem}.txt"
    return [instruction, exemplars] if os.path.isfile(instruction) else [exemplars]


def _refuse_escape(root: Path, path: str) -> None:
    """Refuse a file of a prompt that is, or stands in, a link out of *root*: a project can come from a stranger.

    Raises:
        Corrupt: it leads out.
    """
    folder = os.path.dirname(path)
    if not any(map(os.path.islink, (path, folder, os.path.dirname(folder)))):
        return
    if not os.path.realpath(path).startswith(os.path.realpath(root) + os.sep):
        raise Corrupt(f"{path} is a link that leads out of {root}; it is not followed. Put the file itself there")


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError as error:
        raise Corrupt(f"{path} cannot be read: {error.strerror}") from None


def _decoded(path: str, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Corrupt(
            f"{path} is not UTF-8: byte {error.start} is 0x{error.object[error.start]:02x}. Prompts are sent "
            "character for character, so it is not guessed at; save the file as UTF-8"
        ) from None


def _printed(root: Path, path: str) -> str:
    """Return *path* as a name to print, the same on every machine: the root's own name, and what stands below it."""
    if _is_single(root) and not root.is_dir():
        return os.path.basename(path)
    return f"{root.name or root.resolve().name}{path.removeprefix(str(root))}".replace(os.sep, "/")


def _folders(folder: Path) -> Iterator[str]:
    """Yield the names of the folders in *folder* that can be part of a prompt's address, sorted."""
    if folder.is_dir():
        yield from sorted(path.name for path in folder.iterdir() if _NAME.match(path.name) and path.is_dir())


def _methods(folder: Path) -> Iterator[str]:
    """Yield the names of the methods that have a prompt in *folder*, sorted."""
    if folder.is_dir():
        stems = (path.name.removesuffix(".txt") for path in folder.glob("*.txt") if path.is_file())
        yield from sorted(stem for stem in stems if _NAME.match(stem))


def _prompts(root: Path) -> Iterator[tuple[str, str, str]]:
    """Yield (task, name, method) of every prompt under *root*; a single file belongs to no task and no method."""
    if _is_single(root) and root.is_file():
        yield "", name_of(root), ""
        return
    for task in _folders(root):
        for name in _folders(root / task):
            for method in _methods(root / task / name):
                yield task, name, method


def _listed(root: Path, task: str, name: str, method: str) -> Iterator[Listed]:
    paths = _files(_stem(root, task, name, method) or "")
    for path in paths:
        _refuse_escape(root, path)
    parts = [
        (os.path.basename(path).removesuffix(".txt"), _printed(root, path), _decoded(path, _bytes(path)))
        for path in paths
    ]
    if len(parts) > 1:
        stems, files, texts = zip(*parts, strict=True)
        parts.append((" + ".join(stems), "", "".join(texts)))
    for stem, file, text in parts:
        yield Listed(
            task=task,
            name=name,
            method=method,
            stem=stem,
            characters=len(text),
            bytes=len(text.encode("utf-8")),
            sha256=sha256_text(text),
            files=(file,) if file else files,
            composed=not file,
        )


def _unknown(task: str, method: str, name: str, roots: tuple[Path, ...]) -> str:
    """Return a message that says which part of the address is unknown, and what is there."""
    there = sorted({key for root in roots for key in _prompts(root)})
    tasks = sorted({key[0] for key in there if key[0]})
    names = sorted({key[1] for key in there if key[0] == task})
    methods = sorted({key[2] for key in there if key[:2] == (task, name)})
    remedy = FETCHED.get((task, name), "")
    if not names:
        return f"no prompts for task {task!r}; there are some for: {', '.join(tasks) or 'none'}{remedy}"
    if not methods:
        return f"no prompt named {name!r} for task {task!r}; there are: {', '.join(names)}{remedy}"
    return f"no prompt {name!r} of method {method!r} for task {task!r}; it has: {', '.join(methods)}"
