"""What would have come of a recording under other settings, as far as that follows from what is recorded.

A smaller step limit, fewer samples, another threshold: none of them needs a reply that was not recorded, and none
changes a recorded request. What does is no question for a replay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

from ..domain import Settings, Trajectory, Turn
from ..errors import Usage
from ..methods.answering import elected


@dataclass(frozen=True, slots=True)
class WhatIf:
    """Settings otherwise than recorded; None is as recorded.

    Attributes:
        max_steps: a step limit, at most the recorded one.
        samples: over how many samples, the first ones, the vote is taken; at most as many as were recorded.
        threshold: how many votes `cot_sc_then_react` trusts.
    """

    max_steps: int | None = None
    samples: int | None = None
    threshold: float | None = None

    def __str__(self) -> str:
        """What is otherwise, in words; "" for nothing."""
        return ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in self.as_dict().items())

    def as_dict(self) -> dict[str, int | float]:
        """Return name to value of what is otherwise."""
        values = ((f.name, getattr(self, f.name)) for f in fields(self))
        return {name: value for name, value in values if value is not None}

    def limited(self, settings: Settings) -> Settings:
        """Return *settings* with the smaller step limit.

        Raises:
            Usage: it is not smaller than the recorded one; what more steps would have brought was not recorded.
        """
        if self.max_steps is None:
            return settings
        if not 1 <= self.max_steps <= settings.max_steps:
            raise Usage(
                f"a step limit of {self.max_steps} does not follow from what is recorded, which has "
                f"{settings.max_steps}: take 1 to {settings.max_steps}."
            )
        return replace(settings, max_steps=self.max_steps)

    def first_samples(self, trajectory: Trajectory, turns: Sequence[Turn]) -> Trajectory:
        """Return *trajectory*, whose calls are *turns*, as it were with the first of its samples only.

        A trajectory of one sample, or of steps, stays as it is.

        Raises:
            Usage: more samples than were recorded.
        """
        wanted, taken = self.samples, len(trajectory.samples)
        if wanted is None or taken < 2 or wanted == taken:
            return trajectory
        if not 1 <= wanted <= taken:
            raise Usage(f"a vote over {wanted} samples does not follow from what is recorded: take 1 to {taken}.")
        samples = trajectory.samples[:wanted]
        answer, ended = elected(samples)
        return replace(trajectory, samples=samples, answer=answer, ended=ended, llm_calls=_calls_for(wanted, turns))


AS_RECORDED = WhatIf()
"""Nothing otherwise: the replay is compared with the recording."""


def _calls_for(samples: int, turns: Sequence[Turn]) -> int:
    """Return how many of *turns* brought the first *samples* replies."""
    came = 0
    for number, turn in enumerate(turns, start=1):
        came += (turn.completion is not None) + len(turn.further)
        if came >= samples:
            return number
    return len(turns)
