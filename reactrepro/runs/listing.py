"""Which runs are at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, cast

import msgspec

from ..backends import BACKENDS
from ..cassettes.model import RunConfig
from ..cassettes.runs import Run
from ..domain import Method, Tokens
from ..errors import ReactReproError
from ..methods import METHODS, is_back_off, method_or_back_off
from ..price import Price
from ..report.episodes import conditions
from ..report.money import amounts, cost_data, price_of, priced, tokens_data
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
        used: tokens of the episodes whose usage is known; None where it was not asked for.
        counted: how many episodes these are.
        cost: what they cost, by currency; None where that is unknown.
    """

    run: Run
    config: RunConfig | None
    overrides: dict[str, object]
    episodes: int
    failed: int
    default: bool
    problem: ReactReproError | None = None
    used: Tokens | None = None
    counted: int = 0
    cost: Mapping[str, Decimal] | None = None

    def costs(self) -> tuple[object, ...]:
        """Return two more cells: tokens and cost. What is known of some episodes only ends in a question mark."""
        if self.config is not None and self.config.parts:
            return ("in its parts", "in its parts")
        rest = "" if self.counted == self.episodes else " + ?"
        total = None if self.used is None or not self.counted else (self.used.prompt or 0) + (self.used.completion or 0)
        return ("?" if total is None else f"{total}{rest}", "?" if self.cost is None else f"{amounts(self.cost)}{rest}")

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
        if self.used is not None:
            data |= {"tokens": tokens_data(self.used), "counted": self.counted, "cost": cost_data(self.cost)}
        return data | {"id": self.run.id, "overrides": self.overrides, "config": msgspec.to_builtins(self.config)}


def with_costs(row: RunListed, prices: Mapping[str, Price]) -> RunListed:
    """Return *row* with what its recorded replies used and cost; every recording of the run is read for that."""
    if row.config is None or row.config.parts:
        return row
    used = [found for key in row.run.keys() if (found := _usage(row.run, key)) is not None]  # noqa: SIM118 - no dict
    total = Tokens.total(used)
    return replace(row, used=total, counted=len(used), cost=priced(total, price_of(row.config, prices)))


def _usage(run: Run, key: str) -> Tokens | None:
    """Return the token usage of an episode; None where it, or a part of it, is unknown."""
    try:
        backend = BACKENDS.get(run.config.settings.api)()
        replies = [backend.completions(interaction.response_json)[0] for interaction in run.read(key).interactions]
    except ReactReproError:
        return None  # `check` reports it
    used = Tokens.total(reply.tokens for reply in replies)
    return None if used.prompt is None or used.completion is None else used


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
    """Return what *method* has otherwise than *profile*; a back-off has the samples of the part that takes most.

    Raises:
        Usage: unknown method.
    """
    kind = method_or_back_off(method)
    if not is_back_off(kind):
        return cast(Method, kind()).defaults(profile)
    parts = [METHODS.get(part)().defaults(profile) for part in kind().parts]
    return {"samples": max(part.get("samples", 1) for part in parts)}
