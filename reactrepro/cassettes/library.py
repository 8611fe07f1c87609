"""All runs at hand: several roots, laid one over the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import CassetteAbsent, Corrupt
from .names import is_name
from .read import read_bytes
from .runs import RUN_FILE, Run

DEFAULT_FILE = "default"


@dataclass(frozen=True)
class Library:
    """Layered recordings.

    Attributes:
        roots: folders shaped like ``cassettes/``, the uppermost first. A run hides the run of the same task, method
            and name in the layers below it, whole: episodes of two layers never mix.
    """

    roots: tuple[Path, ...]

    @classmethod
    def of(cls, roots: Sequence[Path]) -> Library:
        """Return the library over *roots*; what is listed twice counts once, where it stands first."""
        return cls(tuple(dict.fromkeys(root.resolve() for root in roots)))

    def runs(self, task: str | None = None, method: str | None = None, name: str | None = None) -> list[Run]:
        """Return the visible runs that fit, by task, method and name."""
        found: dict[tuple[str, str, str], Run] = {}
        for root in self.roots:
            for run in _runs_under(root):
                if task in (None, run.task) and method in (None, run.method) and name in (None, run.name):
                    found.setdefault((run.task, run.method, run.name), run)
        return [found[place] for place in sorted(found)]

    def tasks(self) -> list[str]:
        """Return the tasks that have a run."""
        return sorted({run.task for run in self.runs()})

    def default(self, task: str) -> tuple[str, str] | None:
        """Return (method, run name) that *task* prefers, from the uppermost ``<task>/default`` file, or None.

        Raises:
            Corrupt: such a file holds no line ``method/run``.
        """
        for root in self.roots:
            path = root / task / DEFAULT_FILE
            try:
                data = read_bytes(path, 1024)
            except CassetteAbsent:
                continue
            method, _, name = data.decode("ascii", "replace").strip().partition("/")
            if not (is_name(method) and is_name(name)):
                raise Corrupt(f"{path} holds no line 'method/run'.")
            return method, name
        return None


def _runs_under(root: Path) -> Iterator[Run]:
    for task in _folders(root):
        for method in _folders(task):
            for run in _folders(method):
                if (run / RUN_FILE).is_file():
                    yield Run(run, task.name, method.name, run.name)


def _folders(path: Path) -> list[Path]:
    try:
        return sorted(child for child in path.iterdir() if is_name(child.name) and child.is_dir())
    except OSError:
        return []
