"""A run: one folder, one configuration, one file per episode, one id."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ..errors import CassetteAbsent, Corrupt
from .model import Cassette, RunConfig
from .names import is_key, is_name
from .read import MAX_CASSETTE, read_bytes, read_cassette, read_run
from .selection import asked_for

RUN_FILE = "run.json"
EPISODE = ".yaml"
TAPE = ".tape.jsonl"
FAILED = ".error.json"
PART = ".yaml.part"
"""An unfinished recording. No reader, no run id and no wheel takes notice of it."""


@dataclass(frozen=True)
class Run:
    """A recorded run, as a folder ``<root>/<task>/<method>/<name>``.

    Attributes:
        folder: the folder that holds ``run.json``.
        task, method, name: from the folder's place.
    """

    folder: Path
    task: str
    method: str
    name: str

    @classmethod
    def at(cls, folder: Path) -> Run:
        """Return the run that stands in *folder*, which need not be read yet."""
        folder = folder.resolve()
        return cls(folder, folder.parent.parent.name, folder.parent.name, folder.name)

    @property
    def label(self) -> str:
        """How messages call it: ``hotpotqa/react/deepseek-v3-250324``."""
        return f"{self.task}/{self.method}/{self.name}"

    @cached_property
    def config(self) -> RunConfig:
        """The configuration.

        Raises:
            Corrupt: not what its format says, or it belongs to another task or method than its folder.
        """
        path = self.folder / RUN_FILE
        config = read_run(path)
        if (config.task.name, config.method) != (self.task, self.method):
            raise Corrupt(
                f"{path} belongs to {config.task.name}/{config.method}, but stands in {self.task}/{self.method}: "
                "move the run's folder to its own place."
            )
        for method, place in config.parts.items():
            name = place.removeprefix(f"{method}/")
            if not is_name(method) or method == self.method or place == name or not is_name(name):
                raise Corrupt(f"{path}: part {place!r} is no run of {method!r}: it needs the form 'method/run'.")
        return config

    def keys(self) -> list[str]:
        """The keys of the recorded episodes: numbers in numeric order, then hashes.

        A run that is composed of others has those of its first part that its selection asks for.

        Raises:
            Usage: such a run's selection is no selection.
        """
        found = _keys(self.folder, EPISODE)
        if not found and (parts := self.parts()):
            return asked_for(self.config.selection, _in_order(_keys(parts[0].folder, EPISODE)))
        return _in_order(found)

    def parts(self) -> tuple[Run, ...]:
        """The runs that this one is composed of, the one that is always asked first; none for other runs.

        They stand beside it, under the same task. A configuration that cannot be read has none.
        """
        try:
            named = self.config.parts
        except (Corrupt, CassetteAbsent):
            return ()
        return tuple(self._beside(place) for place in named.values())

    def _beside(self, place: str) -> Run:
        method, _, name = place.partition("/")
        return Run(self.folder.parent.parent / method / name, self.task, method, name)

    def failed(self) -> list[str]:
        """The keys of the episodes that ended in an infra error, in order."""
        return _in_order(_keys(self.folder, FAILED))

    def path(self, key: str) -> Path:
        """Where the episode *key* is, or would be."""
        return self.folder / f"{key}{EPISODE}"

    def part_path(self, key: str) -> Path:
        """Where the unfinished recording of *key* is, or would be."""
        return self.folder / f"{key}{PART}"

    def error_path(self, key: str) -> Path:
        """Where the failure of *key* is, or would be."""
        return self.folder / f"{key}{FAILED}"

    def tape_path(self, key: str) -> Path:
        """Where the observation tape of *key* is, or would be."""
        return self.folder / f"{key}{TAPE}"

    def read(self, key: str) -> Cassette:
        """Read and check the episode *key*.

        Raises:
            CassetteAbsent: there is none.
            Corrupt: not what its format says, or another episode's file under this name, or of another provenance.
        """
        path = self.path(key)
        cassette = read_cassette(path)
        if cassette.meta.key != key:
            raise Corrupt(f"{path} holds the episode {cassette.meta.key!r}: the file was renamed or copied.")
        if cassette.meta.provenance != self.config.provenance:
            raise Corrupt(
                f"{path} says it is {cassette.meta.provenance!r}, its run says {self.config.provenance!r}: "
                "recordings of different provenance never stand in one run."
            )
        return cassette

    @cached_property
    def id(self) -> str:
        """The run id: SHA-256 (hex) of `manifest`.

        Raises:
            Corrupt: a file of the run cannot be read.
        """
        return hashlib.sha256(self.manifest().encode("ascii")).hexdigest()

    def manifest(self) -> str:
        """One line per file of the run, sorted by name: SHA-256 (hex), two blanks, name; then those of its parts.

        The form is what ``sha256sum`` prints, so a run id can be checked without this program.
        """
        names = sorted(path.name for path in self.folder.iterdir() if _belongs(path))
        for part in self.parts():
            above = f"../../{part.method}/{part.name}"
            names += [f"{above}/{path.name}" for path in sorted(_files(part.folder)) if _belongs(path)]
        rows = (f"{hashlib.sha256(read_bytes(self.folder / n, MAX_CASSETTE)).hexdigest()}  {n}\n" for n in names)
        return "".join(rows)


def _files(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _belongs(path: Path) -> bool:
    if path.name == RUN_FILE:
        return True
    for ending in (TAPE, FAILED, EPISODE):
        if path.name.endswith(ending):
            return is_key(path.name[: -len(ending)])
    return False


def _keys(folder: Path, ending: str) -> list[str]:
    try:
        names = [path.name for path in folder.iterdir() if path.name.endswith(ending)]
    except OSError:
        return []
    return [key for name in names if is_key(key := name[: -len(ending)])]


def _in_order(keys: list[str]) -> list[str]:
    return sorted(keys, key=lambda key: (0, int(key), key) if key.isdecimal() else (1, 0, key))
