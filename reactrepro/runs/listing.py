"""Which runs are at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from ..cassettes.model import RunConfig
from ..cassettes.runs import Run
from ..errors import ReactReproError
from ..methods import METHODS, method_or_back_off
from ..report.episodes import conditions
from ..tasks import TASKS
from .roots import Sources, shown


@dataclass(frozen=True)
class RunListed:
    """One run at hand.

    Attributes:
        run: which.
        config: its configuration; None where it cannot be read.
        overrides: the settings that differ from its profile.
        episodes, failed: how many are recorded, and how many ended in an infra error.
        default: the one that a bare replay of its task prefers.
        problem: why the configuration cannot be read.
    """

    run: Run
    config: RunConfig | None
    overrides: dict[str, object]
    episodes: int
    failed: int
    default: bool
    problem: ReactReproError | None = None

    def cells(self) -> tuple[object, ...]:
        """Return the row of a table: mark, task, method, run, episodes, provenance, profile, id."""
        place = ("*" if self.default else "", self.run.task, self.run.method, self.run.name)
        count = f"{self.episodes}" if not self.failed else f"{self.episodes} (+{self.failed} failed)"
        if self.config is None:
            return (*place, count, "?", "unreadable", "?")
        return (*place, count, self.config.provenance, conditions(self.run, self.overrides), self.run.id[:12])

    def as_dict(self) -> dict[str, Any]:
        """Return the same as JSON-ready data."""
        data: dict[str, Any] = {
            "task": self.run.task,
            "method": self.run.method,
            "run": self.run.name,
            "folder": shown(self.run.folder),
            "default": self.default,
            "episodes": self.episodes,
            "failed": self.failed,
        }
        if self.problem is not None:
            return data | {"problem": str(self.problem)}
        return data | {"id": self.run.id, "overrides": self.overrides, "config": msgspec.to_builtins(self.config)}


def runs(sources: Sources, task: str | None = None) -> list[RunListed]:
    """Return the visible runs, of *task* or of all, by task, method and name."""
    marked = {name: sources.library.default(name) for name in sources.library.tasks()}
    rows = []
    for run in sources.library.runs(task):
        keys, failed = run.keys(), run.failed()
        preferred = marked.get(run.task) == (run.method, run.name)
        try:
            config = run.config
            rows.append(RunListed(run, config, overrides(config), len(keys), len(failed), preferred))
        except ReactReproError as error:
            rows.append(RunListed(run, None, {}, len(keys), len(failed), preferred, error))
    return rows


def overrides(config: RunConfig) -> dict[str, object]:
    """Return the settings of *config* that differ from its profile at its task's step limit.

    Raises:
        Usage: unknown task or profile.
    """
    task = TASKS.get(config.task.name)()
    return config.settings.overrides(max_steps=task.max_steps, method=defaults(config.method, config.settings.profile))


def defaults(method: str, profile: str) -> Mapping[str, Any]:
    """Return what *method* has otherwise than *profile*; a back-off has what its parts have, ReAct's first.

    Raises:
        Usage: unknown method.
    """
    made: Any = method_or_back_off(method)()
    if not hasattr(made, "parts"):
        return dict(made.defaults(profile))
    parts = [METHODS.get(part)().defaults(profile) for part in made.parts]
    return {"samples": max(part.get("samples", 1) for part in parts)}
