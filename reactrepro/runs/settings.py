"""The settings of a run, from the profile, the task, the method and what the user asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..domain import Settings, Task
from ..errors import Usage
from ..methods import BACK_OFFS, METHODS


def settings_of(method: str, profile: str, task: Task, asked: Mapping[str, Any]) -> tuple[Settings, bool]:
    """Return the settings of *method* under *profile*, and whether it acts, so that it needs a wiki.

    Args:
        method, profile, task: which.
        asked: single settings otherwise, by name; None is as in the profile.

    Raises:
        Usage: unknown method or profile; samples for a method that takes no vote.
    """
    made = METHODS.get(method)()
    defaults = made.defaults(profile)
    if asked.get("samples") is not None and "samples" not in defaults:
        raise Usage(f"{method} takes one reply, not samples: --samples is for methods that take a vote (cot_sc).")
    more = {name: value for name, value in asked.items() if name != "max_steps"}
    steps = asked.get("max_steps") or task.max_steps
    return Settings.of(profile, max_steps=steps, method=defaults, **more), made.acts


def part_settings(
    back_off: str, profile: str, task: Task, asked: Mapping[str, Any]
) -> tuple[Settings, list[tuple[str, Settings, bool]]]:
    """Return the settings that a back-off's run has, and (method, settings, acts) of each of its parts.

    Samples and temperature are for the part that takes a vote: ReAct stays greedy. The step limit is for the part that
    acts. The back-off's own settings are those of the acting part, with the other's number of samples.

    Raises:
        Usage: as `settings_of`.
    """
    parts = []
    for method in BACK_OFFS.get(back_off)().parts:
        votes = "samples" in METHODS.get(method)().defaults(profile)
        left_out = {"max_steps"} if votes else {"samples", "temperature"}
        mine = {name: None if name in left_out else value for name, value in asked.items()}
        parts.append((method, *settings_of(method, profile, task, mine)))
    acting = next(settings for _, settings, acts in parts if acts)
    samples = max(settings.samples for _, settings, _ in parts)
    return replace(acting, samples=samples), parts
