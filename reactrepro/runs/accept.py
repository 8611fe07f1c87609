"""Accept: a project agrees to its prompts as they are now. Writes the lock, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..cassettes.write import replace_file
from ..domain import Prompt
from ..errors import Usage
from ..prompts.lock import Locked, address, to_text
from ..prompts.lockdiff import visible_diff
from ..report.model import EpisodeReport
from .check import hashes_of
from .locked import Project, first_recorded_text
from .roots import Sources, shown


@dataclass(frozen=True)
class Change:
    """One line of the lock that changes.

    Attributes:
        name: the prompt.
        what: how.
        locked: the hash that the lock had; None where it had none.
        now: the hash that it has now; None where the line goes.
        recorded: hash -> number of recordings that were made with it.
        diff: what changed since the lock, or else since a recording; "" where no text of then is at hand.
    """

    name: str
    what: Literal["added", "changed", "removed"]
    locked: str | None
    now: str | None
    recorded: Mapping[str, int]
    diff: str = ""

    @property
    def stale(self) -> int:
        """How many recordings were made with another prompt than the one that is agreed to now."""
        return sum(count for sha256, count in self.recorded.items() if sha256 != self.now)


@dataclass(frozen=True)
class Acceptance:
    """What was accepted, or would be.

    Attributes:
        file: the lock, as messages name it.
        changes: its lines that change, by name.
        prompts: how many prompts it holds then.
        written: whether it was written.
    """

    file: str
    changes: tuple[Change, ...]
    prompts: int
    written: bool


def accept(names: Sequence[str], sources: Sources, folder: Path, *, dry_run: bool = False) -> Acceptance:
    """Put the prompts *names* of the project in *folder* into its lock as they are now; all of them without names.

    Args:
        names: ``task/name/method``, or the beginning of it (``task``, ``task/name``).
        sources: where prompts and recordings are read from.
        folder: where the lock stands, or is to stand.
        dry_run: write nothing.

    Raises:
        Usage: a name fits nothing.
        Corrupt: the lock, or a prompt, cannot be read.
        OSError: the lock cannot be written.
    """
    project = Project.at(folder, sources)
    before = dict(project.lock or {})
    episodes = [episode for episode in hashes_of(sources) if project.governs(episode.run)]
    current = project.used(episodes) | project.own()
    chosen = _chosen(names, {*before, *current})
    after = before | {name: Locked.of(current[name]) for name in chosen if name in current}
    for name in chosen - current.keys():
        del after[name]
    changes = [
        _change(name, before.get(name), current.get(name), [e for e in episodes if _name(e) == name])
        for name in sorted(chosen)
        if before.get(name) != after.get(name)
    ]
    if changes and not dry_run:
        replace_file(project.file, to_text(after.values()).encode("ascii"))
    return Acceptance(shown(project.file), tuple(changes), len(after), bool(changes) and not dry_run)


def _chosen(names: Sequence[str], known: set[str]) -> set[str]:
    if not names:
        return known
    chosen: set[str] = set()
    for name in names:
        fitting = {one for one in known if one == name or one.startswith(name.rstrip("/") + "/")}
        if not fitting:
            raise Usage(f"{name!r} is no prompt of this project; it has: {', '.join(sorted(known)) or 'none'}.")
        chosen |= fitting
    return chosen


def _change(name: str, line: Locked | None, prompt: Prompt | None, episodes: Sequence[EpisodeReport]) -> Change:
    recorded: dict[str, int] = {}
    for episode in episodes:
        if episode.meta is not None:
            sha256 = episode.meta.prompt.sha256
            recorded[sha256] = recorded.get(sha256, 0) + 1
    if prompt is None:
        return Change(name, "removed", line.sha256 if line else None, None, recorded)
    locked = line.sha256 if line else None
    then = next((sha256 for sha256 in (locked, *recorded) if sha256 in recorded and sha256 != prompt.sha256), None)
    diff = ""
    if then is not None:
        old = first_recorded_text(one for one in episodes if one.meta is not None and one.meta.prompt.sha256 == then)
        diff = "" if old is None else visible_diff(old, prompt.text, names=("recorded", "now"))
    return Change(name, "changed" if line else "added", locked, prompt.sha256, recorded, diff)


def _name(episode: EpisodeReport) -> str:
    prompt = episode.prompt
    return "" if prompt is None else address(prompt.task, prompt.name, prompt.method)
