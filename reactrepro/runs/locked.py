"""The prompts of a project: as they are, as they were recorded with, and as the lock holds them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .. import prompts
from ..cassettes.matching import texts
from ..cassettes.model import Cassette
from ..cassettes.runs import Run
from ..domain import Prompt, sha256_text
from ..errors import Corrupt, ReactReproError, Usage
from ..prompts.lock import LOCK_FILE, Locked, address, read
from ..report.checked import Finding
from ..report.model import EpisodeReport
from ..tasks import TASKS
from .recordings import CASSETTES
from .roots import Sources, packaged, shown

_TRIES = 20
"""Places in a request at which the question could begin, at most."""


@dataclass(frozen=True)
class Project:
    """A folder with recordings, prompts and, perhaps, a lock.

    Attributes:
        folder: where ``prompts.lock`` stands, or would.
        sources: what is read from.
        lock: what the lock holds; None where there is none.
    """

    folder: Path
    sources: Sources
    lock: Mapping[str, Locked] | None = None

    @classmethod
    def at(cls, folder: Path, sources: Sources) -> Project:
        """Return the project in *folder*, with its lock.

        Raises:
            Corrupt: the lock cannot be read.
        """
        return cls(folder, sources, read(folder / LOCK_FILE))

    @property
    def file(self) -> Path:
        """The lock file, which need not be there."""
        return self.folder / LOCK_FILE

    def governs(self, run: Run) -> bool:
        """Tell whether the project's lock speaks of *run*: of all but the packaged ones of another project."""
        return packaged() == self.folder or not run.folder.is_relative_to(packaged() / CASSETTES)

    def own(self) -> dict[str, Prompt]:
        """Return the prompts in the project's own folders, by name: the packaged ones only in reactrepro's checkout.

        Raises:
            Corrupt: a prompt's file cannot be read.
        """
        checkout = packaged() == self.folder
        found = {}
        for task, name, method in sorted({(row.task, row.name, row.method) for row in self._listed() if row.task}):
            prompt = prompts.load(task, method, name, roots=self.sources.prompts)
            place = path_of(prompt.files[-1].name, self.sources.prompts)
            if checkout or place is None or not place.is_relative_to(prompts.PACKAGED):
                found[address(task, name, method)] = prompt
        return found

    def used(self, episodes: Iterable[EpisodeReport]) -> dict[str, Prompt]:
        """Return the prompts that the governed ones of *episodes* were recorded with, as they are now, by name."""
        return {
            address(episode.prompt.task, episode.prompt.name, episode.prompt.method): episode.prompt
            for episode in episodes
            if episode.prompt is not None and self.governs(episode.run)
        }

    def _listed(self) -> tuple[prompts.Listed, ...]:
        return prompts.listing(self.sources.prompts)


def path_of(name: str, roots: Iterable[Path] = ()) -> Path | None:
    """Return the file that is called *name* in print ("prompts/hotpotqa/paper/react.txt"); None where it is gone."""
    places = (root.parent / name for root in (*roots, prompts.PACKAGED))
    return next((place for place in places if place.is_file()), None)


def recorded_text(cassette: Cassette) -> str | None:
    """Return the prompt that *cassette* was recorded with: what stands before the question in its first request.

    The recording names the prompt's hash; a text of any other hash is not returned.
    """
    meta = cassette.meta
    try:
        opening = TASKS.get(cassette_task(cassette))().opening(meta.as_question())
        body = cassette.interactions[0].request_json
    except (ReactReproError, IndexError, ValueError, RecursionError):
        return None
    tries = 0
    for text in texts(body):
        at = text.rfind(opening) if opening else -1
        while at >= 0 and tries < _TRIES:
            if sha256_text(text[:at]) == meta.prompt.sha256:
                return text[:at]
            at, tries = text.rfind(opening, 0, at), tries + 1
    return None


def first_recorded_text(episodes: Iterable[EpisodeReport]) -> str | None:
    """Return the `recorded_text` of the first of *episodes* that has one and can be read; None where none has."""
    for episode in episodes:
        try:
            text = recorded_text(episode.run.read(episode.key))
        except ReactReproError:
            continue
        if text is not None:
            return text
    return None


def cassette_task(cassette: Cassette) -> str:
    """Return the name of the task that *cassette* belongs to, which its place says."""
    return cassette.path.parents[2].name if cassette.path is not None else ""


def unlocked(project: Project, current: Mapping[str, Prompt], told: set[str], *, whole: bool) -> Iterator[Finding]:
    """Yield what the lock and the prompts have against each other.

    Args:
        project: of which the lock was read.
        current: the prompts that the lock has to hold, by name.
        told: names of prompts of which is already said that they are not as the lock has them.
        whole: whether *current* is all there is.
    """
    lock = project.lock
    if lock is None:
        return
    where = shown(project.file)
    for name, prompt in sorted(current.items()):
        line = lock.get(name)
        if line is None:
            yield _finding(
                "prompt not locked",
                name,
                f"{name} has no line in {where}: nobody has agreed to it.",
                "Remove the prompt, or agree to it:",
                file=where,
                data={"now": prompt.sha256},
            )
        elif line.sha256 != prompt.sha256 and name not in told:
            yield _finding(
                "prompt changed",
                name,
                f"{name} is not as {where} has it ({line.sha256[:12]}… there, {prompt.sha256[:12]}… now): "
                f"nobody has accepted the change.\n  {_files(line, prompt, project.sources)}",
                "Restore it, or agree to it as it is now:",
                file=place_shown(prompt, project.sources),
                data={"locked": line.sha256, "now": prompt.sha256},
            )
    gone = [name for name in lock if name not in current and whole and _is_gone(name, project.sources)]
    for name in gone:
        yield _finding(
            "lock without prompt",
            name,
            f"{where} has a line for {name}, and there is no such prompt.",
            "Restore the prompt, or remove the line:",
            file=where,
            data={"locked": lock[name].sha256},
        )


def place_shown(prompt: Prompt, sources: Sources, number: int = -1) -> str:
    """Return a file of *prompt* as messages and annotations name it: where it stands, if it can be found."""
    name = prompt.files[number].name
    place = path_of(name, sources.prompts)
    return shown(place) if place is not None else name


def _files(line: Locked, prompt: Prompt, sources: Sources) -> str:
    then = dict(line.files)
    changed = [n for n, file in enumerate(prompt.files) if then.get(file.name.rpartition("/")[2]) != file.sha256]
    names = [place_shown(prompt, sources, n) for n in changed or range(len(prompt.files))]
    return f"Changed: {' and '.join(names)}."


def _is_gone(name: str, sources: Sources) -> bool:
    task, prompt, method = name.split("/")
    try:
        prompts.load(task, method, prompt, roots=sources.prompts)
    except Usage:
        return True
    except Corrupt:
        return False  # it is there, and cannot be read; that is told elsewhere
    return False


def _finding(kind: str, subject: str, text: str, remedy: str, *, file: str, data: dict[str, str]) -> Finding:
    accept = (f"reactrepro accept {subject}",)
    return Finding(
        kind=kind, exit_code=1, subject=subject, text=text, remedy=remedy, commands=accept, file=file, data=data
    )
