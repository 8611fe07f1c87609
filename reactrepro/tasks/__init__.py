"""Tasks: a data row becomes a `Question`, an answer becomes a `Score`. No backend, no environment."""

from __future__ import annotations

from ..domain import Task
from ..registry import Registry

TASKS: Registry[type[Task]] = Registry(
    "task",
    {
        "hotpotqa": "reactrepro.tasks.hotpotqa:HotpotQA",
        "fever": "reactrepro.tasks.fever:Fever",
        "pelm": "reactrepro.tasks.pelm:Pelm",
        "pelm_fever": "reactrepro.tasks.pelm_fever:PelmFever",
        "qa": "reactrepro.tasks.qa:Qa",
    },
)
"""Task names to classes, which are made without arguments."""
