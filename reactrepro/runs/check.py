"""Check: replay everything, and count what comes of it by class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ..cassettes.library import DEFAULT_FILE
from ..cassettes.names import is_key
from ..cassettes.runs import EPISODE, RUN_FILE, Run
from ..cassettes.selection import EVERYTHING, keys_of
from ..errors import CassetteAbsent, Corrupt, InfraError, ReactReproError, Usage
from ..report.model import EpisodeReport
from ..tasks import TASKS
from .replay import replay_episode
from .roots import Sources, shown


def check(path: Path | None, sources: Sources) -> Iterator[EpisodeReport]:
    """Replay every recording under *path* (a file, a run, a folder), or all that are visible; yield as they are done.

    A run's selection is checked, too: what was asked for and is not there is missing. Recordings that ended in an
    infra error are listed as such.

    Raises:
        CassetteAbsent: nothing is recorded there.
        Usage: *path* is neither a run's file nor a folder.
    """
    if path is not None:
        sources = _beside(path, sources)
    found = list(_episodes(path, sources))
    if not found:
        where = (
            shown(path) if path is not None else ", ".join(map(str, sources.library.roots)) or "any cassettes folder"
        )
        raise CassetteAbsent(f"no recording in {where}.\n  `reactrepro list` shows what is at hand.")
    for run, key, problem in found:
        yield report(run, key, problem, sources)


def report(run: Run, key: str, problem: ReactReproError | None, sources: Sources) -> EpisodeReport:
    """Return what came of one of `requested`: its replay, or the problem that it already is."""
    if problem is None:
        return replay_episode(run, key, sources)
    return EpisodeReport(run, key, shown(run.path(key) if key else run.folder / RUN_FILE), problems=(problem,))


def _episodes(path: Path | None, sources: Sources) -> Iterator[tuple[Run, str, ReactReproError | None]]:
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


def requested(run: Run) -> Iterator[tuple[Run, str, ReactReproError | None]]:
    """Yield every episode that *run* holds or was asked for: (run, key, why it cannot be replayed or None).

    What ended in an infra error, and what the selection asks for and is not there, comes with that problem. A run whose
    configuration cannot be read is one problem with an empty key.
    """
    keys = run.keys()
    try:
        wanted = _wanted(run)
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


def _defaults(sources: Sources) -> Iterator[tuple[Run, str, ReactReproError | None]]:
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


def _strays(path: Path) -> Iterator[tuple[Run, str, ReactReproError | None]]:
    for folder in sorted({file.parent for file in path.rglob(f"*{EPISODE}")}):
        run = Run.at(folder)
        if not (folder / RUN_FILE).is_file():
            yield run, "", Corrupt(f"{shown(folder)} holds recordings, but no {RUN_FILE}. Restore it.")
        for file in sorted(folder.glob(f"*{EPISODE}")):
            if not is_key(file.name.removesuffix(EPISODE)):
                yield run, "", Corrupt(f"{shown(file)} has a name that no episode has. Rename or remove it.")


def _beside(path: Path, sources: Sources) -> Sources:
    """Lay the ``wiki_snapshot`` that stands beside *path*'s cassettes over the others."""
    for folder in (path.resolve(), *path.resolve().parents):
        snapshot = folder.parent / "wiki_snapshot"
        if folder.name == "cassettes" and snapshot.is_dir():
            return replace(sources, snapshots=tuple(dict.fromkeys((snapshot, *sources.snapshots))))
    return sources
