"""Tasks: a data row becomes a `Question`, an answer becomes a `Score`. No backend, no environment."""

from __future__ import annotations

from ..domain import Task
from ..registry import Registry

TASKS: Registry[type[Task]] = Registry(
    "task",
    {
        "hotpotqa": "reactrepro.tasks.hotpotqa:HotpotQA",
        "pelm": "reactrepro.tasks.pelm:Pelm",
    },
)
"""Task names to classes, which are made without arguments."""
