"""What there is to check: every recording, what should be recorded and is not, and files that no run knows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from ..cassettes.library import DEFAULT_FILE
from ..cassettes.names import is_key
from ..cassettes.read import read_exchanges
from ..cassettes.runs import EPISODE, RUN_FILE, Run
from ..cassettes.selection import EVERYTHING, keys_of
from ..errors import CassetteAbsent, Corrupt, InfraError, ReactReproError, Usage
from ..tasks import TASKS
from .roots import Sources, shown

CASSETTES = "cassettes"

AGENTS = b'"reactrepro-exchange/'
"""Stands at the beginning of a recording of an agent that is not ours."""

Found: TypeAlias = tuple[Run, str, ReactReproError | None]
"""A run, the key of an episode of it ("" for the run itself), and what is wrong before anything is read."""


def recordings(path: Path | None, sources: Sources) -> list[Found]:
    """Return every recording under *path* (a file, a run, a folder), or all that are visible, in order.

    A run's selection is part of it: what was asked for and is not there is missing. Recordings that ended in an infra
    error are listed as such, and so are files that no run knows.

    Raises:
        CassetteAbsent: nothing is recorded there.
        Usage: *path* is neither a run's file nor a folder.
    """
    found = list(_episodes(path, sources))
    if not found:
        where = (
            shown(path) if path is not None else ", ".join(map(str, sources.library.roots)) or "any cassettes folder"
        )
        raise CassetteAbsent(f"no recording in {where}.\n  `reactrepro list` shows what is at hand.")
    return found


def beside(path: Path | None, sources: Sources) -> Sources:
    """Lay the ``wiki_snapshot`` that stands beside *path*'s cassettes over the others."""
    project = None if path is None else _project(path)
    if project is None or not (project / "wiki_snapshot").is_dir():
        return sources
    return replace(sources, snapshots=tuple(dict.fromkeys((project / "wiki_snapshot", *sources.snapshots))))


def project_of(path: Path | None) -> Path:
    """Return the project that *path* belongs to: the folder that holds its ``cassettes``; else the current one."""
    return (None if path is None else _project(path)) or Path.cwd().resolve()


def _project(path: Path) -> Path | None:
    path = path.resolve()
    for folder in (path, *path.parents):
        if folder.name == CASSETTES and folder.is_dir():
            return folder.parent
    return path if (path / CASSETTES).is_dir() else None


def is_whole(path: Path | None, project: Path) -> bool:
    """Tell whether *path* holds all recordings of *project*, so that what none of them needs can be told."""
    return path is None or (project / CASSETTES).is_relative_to(path.resolve())


def _episodes(path: Path | None, sources: Sources) -> Iterator[Found]:
    if path is not None and path.is_file():
        if not path.name.endswith(EPISODE) or not (path.parent / RUN_FILE).is_file():
            raise Usage(f"{path} is no episode of a run: it needs the ending {EPISODE} and a {RUN_FILE} beside it.")
        yield Run.at(path.parent), path.name.removesuffix(EPISODE), None
        return
    runs = sources.library.runs() if path is None else [Run.at(file.parent) for file in sorted(path.rglob(RUN_FILE))]
    for run in runs:
        yield from requested(run)
    for folder in [path] if path is not None else sources.library.roots:
        yield from _strays(folder)
    if path is None:
        yield from _defaults(sources)


def requested(run: Run) -> Iterator[Found]:
    """Yield every episode that *run* holds or was asked for: (run, key, why it cannot be replayed or None).

    What ended in an infra error, and what the selection asks for and is not there, comes with that problem. A run whose
    configuration cannot be read is one problem with an empty key.
    """
    try:
        keys, wanted = run.keys(), _wanted(run)
    except Usage as error:
        yield run, "", Corrupt(f"{shown(run.folder / RUN_FILE)}: its selection is none: {error}")
        return
    except ReactReproError as error:
        yield run, "", error
        return
    for key in keys:
        yield run, key, None
    failed = [key for key in run.failed() if key not in keys]
    for key in failed:
        text = f"{run.label}, episode {key}: it ended in an infra error and was not judged. Record it again."
        yield run, key, InfraError(text)
    known = {*keys, *failed}
    for key in wanted:
        if key not in known:
            text = f"{run.label}, episode {key}: the run's selection asks for it, and it is not recorded."
            yield run, key, CassetteAbsent(text)


def _wanted(run: Run) -> list[str]:
    """Return the keys that the run's selection asks for."""
    words = [word for word in run.config.selection.split(",") if word]
    keys = dict.fromkeys(keys_of([word for word in words if word != EVERYTHING]))
    if EVERYTHING in words:
        packaged = getattr(_task(run), "questions", None)
        keys |= dict.fromkeys(question.key for question in packaged()) if packaged is not None else {}
    return list(keys)


def _task(run: Run) -> object:
    try:
        return TASKS.get(run.config.task.name)()
    except Usage:
        return None  # reported with each episode


def _defaults(sources: Sources) -> Iterator[Found]:
    """Yield what is wrong with the files that name a task's preferred run."""
    for root in sources.library.roots:
        for file in sorted(root.glob(f"*/{DEFAULT_FILE}")):
            run = Run(file.parent, file.parent.name, "-", DEFAULT_FILE)
            try:
                marked = sources.library.default(file.parent.name)
            except ReactReproError as error:
                yield run, "", error
                continue
            if marked is not None and not sources.library.runs(file.parent.name, *marked):
                text = f"{shown(file)} names the run {'/'.join(marked)}, which is not there. Restore one or the other."
                yield run, "", CassetteAbsent(text)


def _strays(path: Path) -> Iterator[Found]:
    for folder in sorted({file.parent for file in path.rglob(f"*{EPISODE}")}):
        run, agents, files = Run.at(folder), *_sorted_out(folder)
        for file in agents:
            if (problem := _of_agent(file)) is not None:
                yield run, "", problem
        if files and not (folder / RUN_FILE).is_file():
            yield run, "", Corrupt(f"{shown(folder)} holds recordings, but no {RUN_FILE}. Restore it.")
        for file in files:
            if not is_key(file.name.removesuffix(EPISODE)):
                yield run, "", Corrupt(f"{shown(file)} has a name that no episode has. Rename or remove it.")


def _sorted_out(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the files in *folder* that are of other agents (`http_client`), which need no run, and all others."""
    files = sorted(folder.glob(f"*{EPISODE}"))
    agents = [file for file in files if _begins_with(file, AGENTS)]
    return agents, [file for file in files if file not in agents]


def _begins_with(file: Path, mark: bytes) -> bool:
    try:
        with file.open("rb") as opened:
            return mark in opened.read(256)
    except OSError:
        return False


def _of_agent(file: Path) -> ReactReproError | None:
    """Return what is wrong with a recording of another agent; its replay is its own test's business."""
    try:
        read_exchanges(file)
    except ReactReproError as problem:
        return problem
    return None
