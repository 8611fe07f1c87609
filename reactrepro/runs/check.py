"""Check: is everything that is recorded still what the code, the prompts and the pages make of it?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from pathlib import Path
from typing import Literal, TypeAlias

from ..cassettes.read import read_meta
from ..cassettes.runs import RUN_FILE, Run
from ..cassettes.tapes import read_tape
from ..domain import Pin
from ..errors import CassetteAbsent, ReactReproError, RecordingOld, SecretFound
from ..prompts.lock import LOCK_FILE
from ..report.checked import CheckReport, Finding
from ..report.model import EpisodeReport
from ..report.text import counted
from ..wiki.entries import Entry, entries
from ..wiki.snapshot import SnapshotPages
from . import causes, pages, pool, stale
from .leaks import Leaks
from .locked import Project, unlocked
from .recordings import CASSETTES, Found, beside, is_whole, project_of, recordings, requested
from .replay import prompt_now, replay_episode
from .roots import Sources, shown

Part: TypeAlias = Literal["prompts", "wiki", "secrets"]
PARTS: tuple[Part, ...] = ("prompts", "wiki", "secrets")

__all__ = ["Asked", "check", "examine", "hashes_of", "report", "requested"]


@dataclass(frozen=True)
class Asked:
    """What is to be checked, and how strictly.

    Attributes:
        only: one part instead of everything: the prompts' hashes, the pages, or secrets; nothing is replayed then.
        max_age: days that a recording may be old; None for any age.
        allow_stale: a recording whose prompt's change is accepted is no problem.
        no_secrets: hashes, as reports show them, of what looks like a secret and is none.
        jobs: among how many processes the recordings are divided; see `pool.each`.
        now: the time.
    """

    only: Part | None = None
    max_age: int | None = None
    allow_stale: bool = False
    no_secrets: frozenset[str] = frozenset()
    jobs: int | None = 1
    now: datetime = field(default_factory=lambda: datetime.now(UTC))


Look: TypeAlias = Callable[[Run, str, Sources], EpisodeReport]
"""Looks at one recording, wholly or in part."""

Watch: TypeAlias = Callable[[Iterable[EpisodeReport]], Iterable[EpisodeReport]]
"""Passes reports through as they are made: a progress bar."""


def check(path: Path | None, sources: Sources) -> Iterator[EpisodeReport]:
    """Replay every recording under *path* (a file, a run, a folder), or all that are visible; yield as they are done.

    Raises:
        CassetteAbsent: nothing is recorded there.
        Usage: *path* is neither a run's file nor a folder.
    """
    yield from _looked_at(path, beside(path, sources), _replayed)


def examine(path: Path | None, sources: Sources, asked: Asked | None = None, watch: Watch = iter) -> CheckReport:
    """Check everything under *path*, or all that is visible: recordings, prompts and their lock, pages, secrets.

    Raises:
        CassetteAbsent: nothing is recorded there.
        Usage: *path* is neither a run's file nor a folder.
    """
    asked = asked or Asked()
    sources = beside(path, sources)
    return _Check(path, sources, asked).report(watch)


def report(run: Run, key: str, problem: ReactReproError | None, sources: Sources) -> EpisodeReport:
    """Return what came of one of `requested`: its replay, or the problem that it already is."""
    return _seen(run, key, problem, sources, _replayed)


def hashes_of(sources: Sources) -> list[EpisodeReport]:
    """Return every visible recording with its prompt, as it was recorded and as it is now; none where there is none."""
    try:
        return list(_looked_at(None, sources, _prompts))
    except CassetteAbsent:
        return []


class _Check:
    """One check under way."""

    def __init__(self, path: Path | None, sources: Sources, asked: Asked) -> None:
        self.path, self.sources, self.asked = path, sources, asked
        self.findings: list[Finding] = []
        self.project = self._project(project_of(path))
        self.whole = is_whole(path, self.project.folder)
        self.leaks = Leaks(asked.no_secrets)

    def report(self, watch: Watch) -> CheckReport:
        """Look at everything once."""
        look = _whole if self.asked.only is None else _LOOKS[self.asked.only]
        episodes = tuple(watch(_looked_at(self.path, self.sources, look, self.asked.jobs)))
        episodes = self._aged(episodes)
        if self._asks("secrets"):
            episodes = self._searched(episodes)
        episodes = tuple(stale.marked(episode, self.project) for episode in episodes)
        found = [
            stale.prompt_finding(members, self.project) if causes.is_prompt(members) else causes.finding(members)
            for members in causes.by_cause(episodes).values()
        ]
        found.sort(key=lambda finding: "recorded" not in finding.data)  # prompts first
        if self._asks("prompts"):
            found += self._disagreements(episodes, {finding.subject for finding in found})
        if self.whole and self._asks("wiki"):
            found += self._snapshot(episodes, {finding.text for finding in found})
        found += self.findings
        found.sort(key=lambda finding: finding.is_warning)
        declared = Counter(map(_provenance, (episode for episode in episodes if episode.key)))
        del declared[""]
        return CheckReport(episodes, tuple(found), dict(declared), self.asked.only, self.asked.allow_stale)

    def _asks(self, part: Part) -> bool:
        return self.asked.only in (None, part)

    def _project(self, folder: Path) -> Project:
        """Return the project in *folder*; where its lock cannot be read, that is a finding, and it counts as none."""
        try:
            return Project.at(folder, self.sources)
        except ReactReproError as problem:
            if self._asks("prompts"):
                self.findings.append(causes.of_file(shown(folder / LOCK_FILE), problem))
            return Project(folder, self.sources)

    def _disagreements(self, episodes: Iterable[EpisodeReport], told: set[str]) -> Iterator[Finding]:
        if self.project.lock is None:
            return
        current = self.project.used(episodes)
        if self.whole:
            try:
                current |= self.project.own()
            except ReactReproError as problem:
                yield causes.of_file(shown(self.project.file), problem)
                return
        yield from unlocked(self.project, current, told, whole=self.whole)

    def _aged(self, episodes: tuple[EpisodeReport, ...]) -> tuple[EpisodeReport, ...]:
        if self.asked.max_age is None:
            return episodes
        limit = self.asked.now - timedelta(days=self.asked.max_age)
        made, ageless = [], []
        for episode in episodes:
            meta, problems = episode.meta, episode.problems
            time = _time(meta.time) if meta is not None else None
            if time is not None and time < limit:
                text = (
                    f"{episode.run.label}, episode {episode.key}: it was recorded on {time:%Y-%m-%d}, which is longer "
                    f"ago than {self.asked.max_age} days.\n  Record it again."
                )
                problems = (*problems, RecordingOld(text, time.isoformat()))
            elif meta is not None and time is None:
                ageless.append(episode)
            made.append(replace(episode, problems=problems))
        if ageless:
            text = f"{counted(len(ageless), 'recording')} without a time: nobody knows how old it is."
            some = causes.touched((episode, RecordingOld("")) for episode in ageless)
            self.findings.append(Finding("age unknown", 0, "recordings", text, touched=some, file=ageless[0].file))
        return tuple(made)

    def _searched(self, episodes: tuple[EpisodeReport, ...]) -> tuple[EpisodeReport, ...]:
        """Return *episodes* with the secrets in their files, and keep those in other files."""
        only = None if self.path is None or self.path.is_dir() else episodes[0].key
        found = {run.folder: self.leaks.in_run(run, only) for run in dict.fromkeys(e.run for e in episodes)}
        made = []
        for episode in episodes:
            problem = found[episode.run.folder].pop(episode.run.path(episode.key).name, None) if episode.key else None
            told = any(isinstance(one, SecretFound) for one in episode.problems)
            made.append(replace(episode, problems=(*episode.problems, problem)) if problem and not told else episode)
        for folder, others in found.items():
            self.findings += [causes.of_file(shown(folder / name), problem) for name, problem in sorted(others.items())]
        if self.whole:
            versions = (version for entry in self._entries for version in entry.versions)
            self.findings += [causes.of_file(shown(file), problem) for file, problem in self.leaks.in_pages(versions)]
        return tuple(made)

    def _snapshot(self, episodes: Iterable[EpisodeReport], told: set[str]) -> Iterator[Finding]:
        known = {e.run.path(e.key): e.meta.pages for e in episodes if e.meta is not None}
        roots = dict.fromkeys([*self.sources.library.roots, self.project.folder / CASSETTES])
        pinned, complete = pages.pins_under(roots, known)
        for finding in pages.altered(self._entries, pinned, html=self.asked.only == "wiki"):
            if finding.text not in told:
                yield finding
        if complete:
            yield from pages.unused(self._entries, pinned)

    @cached_property
    def _entries(self) -> list[Entry]:
        """What the project's own snapshot holds."""
        folder = self.project.folder
        return list(entries([root for root in self.sources.snapshots if root.is_relative_to(folder)]))


def _looked_at(path: Path | None, sources: Sources, look: Look, jobs: int | None = 1) -> Iterator[EpisodeReport]:
    return pool.each(partial(_found, sources, look), recordings(path, sources), jobs)


def _found(sources: Sources, look: Look, found: Found) -> EpisodeReport:
    run, key, problem = found
    return _seen(run, key, problem, sources, look)


def _seen(run: Run, key: str, problem: ReactReproError | None, sources: Sources, look: Look) -> EpisodeReport:
    if problem is None:
        return look(run, key, sources)
    return EpisodeReport(run, key, shown(run.path(key) if key else run.folder / RUN_FILE), problems=(problem,))


def _replayed(run: Run, key: str, sources: Sources) -> EpisodeReport:
    return replay_episode(run, key, sources)


def _whole(run: Run, key: str, sources: Sources) -> EpisodeReport:
    return stale.contradicted(_replayed(run, key, sources))


# --- one part of it -------------------------------------------------------------------------------------------------


def _prompts(run: Run, key: str, sources: Sources) -> EpisodeReport:
    def look(report: EpisodeReport) -> EpisodeReport:
        run = report.run
        meta = read_meta(run.path(key))
        prompt = prompt_now(run, meta, sources)
        changed = prompt.sha256 != meta.prompt.sha256
        return stale.compared(replace(report, prompt=prompt, prompt_changed=changed, meta=meta))

    return _caught(run, key, look)


def _wiki(run: Run, key: str, sources: Sources) -> EpisodeReport:
    def look(report: EpisodeReport) -> EpisodeReport:
        run = report.run
        meta = read_meta(run.path(key))
        if meta.tape is not None:
            read_tape(run.tape_path(key), meta.tape.sha256)
        sites = dict.fromkeys(pin.site for pin in meta.pages)
        problems = [one for site in sites for one in _page_problems(run, site, meta.pages, sources)]
        return replace(report, meta=meta, problems=tuple(problems))

    return _caught(run, key, look)


def _page_problems(run: Run, site: str, pins: Iterable[Pin], sources: Sources) -> Iterator[ReactReproError]:
    wanted = {pin.query: pin.sha256 for pin in pins if pin.site == site}
    snapshot = SnapshotPages(sources.snapshots, site, run.config.settings.extraction, wanted)
    for query in wanted:
        try:
            snapshot.page(query)
        except ReactReproError as problem:
            yield problem


def _secrets(run: Run, key: str, sources: Sources) -> EpisodeReport:
    def look(report: EpisodeReport) -> EpisodeReport:
        run = report.run
        try:
            return replace(report, meta=run.read(key).meta)
        except SecretFound:
            raise
        except ReactReproError:
            return report  # a damaged file is none of this part's business; its bytes are searched all the same

    return _caught(run, key, look)


_LOOKS = {"prompts": _prompts, "wiki": _wiki, "secrets": _secrets}


def _caught(run: Run, key: str, look: Callable[[EpisodeReport], EpisodeReport]) -> EpisodeReport:
    report = EpisodeReport(run, key, shown(run.path(key)))
    try:
        if run.config.parts:
            return _of_parts(
                run, tuple(_caught(part, key, look) for part in run.parts() if part.path(key).exists()), key
            )
        return look(report)
    except ReactReproError as problem:
        return replace(report, problems=(problem,))


def _of_parts(run: Run, parts: tuple[EpisodeReport, ...], key: str) -> EpisodeReport:
    """Return the report on an episode that is composed of others: what is wrong with them is wrong with it."""
    return EpisodeReport(
        run,
        key,
        shown(run.folder / RUN_FILE),
        problems=tuple(problem for part in parts for problem in part.problems),
        prompt_changed=any(part.prompt_changed for part in parts),
        parts=parts,
    )


def _provenance(episode: EpisodeReport) -> str:
    """Return how *episode* came to be; "" where nothing is recorded, or nobody can tell."""
    if episode.meta is not None:
        return episode.meta.provenance
    try:
        return episode.run.config.provenance if episode.run.path(episode.key).exists() else ""
    except ReactReproError:
        return ""


def _time(text: str | None) -> datetime | None:
    try:
        found = datetime.fromisoformat(text) if text is not None else None
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found is not None and found.tzinfo is None else found
