"""The half of an environment that looks nothing up: invalid actions, thoughts, Finish, and what comes after it.

A class of its own, because two environments need it that may not know each other: `wiki.env.WikiEnv`, which reads
pages, and the observation tape of scope ``wiki``, which holds the observations of Search and Lookup only. Pure.

The rules are those of the original environment and of the wrapper that adds the reward (docs/wiki-pages.md, "Other
actions"; Yao et al. 2022, released notebooks).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

from .domain import Action, Observation

INVALID = "Invalid action: "
"""Begins the observation of an invalid action; the command follows, so an empty command leaves the trailing space."""

THOUGHT = "Nice thought."
"""The observation of ``think[...]``."""


class JudgedEnv(ABC):
    """An environment (`domain.Environment`) that judges the answer itself; subclasses answer Search and Lookup.

    Args:
        opening: the initial observation ("Question: ...").
        judge: answer to reward, 1 or 0; called once, for the finishing action.

    Attributes:
        opening: as given.
        answer: the submitted answer; None until there is one. ``finish[]`` submits "".
        steps: actions executed since the last reset, invalid ones included; one that raised is not counted.
    """

    def __init__(self, opening: str, judge: Callable[[str], float]) -> None:
        self.opening = opening
        self.answer: str | None = None
        self.steps = 0
        self._judge = judge
        self._last = Observation(opening)

    def reset(self) -> str:
        """Begin the episode anew; return the initial observation."""
        self.answer = None
        self.steps = 0
        self._last = Observation(self.opening)
        return self.opening

    def step(self, action: Action) -> Observation:
        """Execute *action*; once an answer is given, return the last observation again, done, without counting.

        Raises:
            ReactReproError: `search` or `lookup` did; nothing has changed then, and the step is not counted.
        """
        if self.answer is None:
            self._last = self._execute(action)
            self.steps += 1
        return self._last

    @abstractmethod
    def search(self, argument: str) -> Observation:
        """Answer ``search[argument]``."""

    @abstractmethod
    def lookup(self, argument: str) -> Observation:
        """Answer ``lookup[argument]``."""

    def _execute(self, action: Action) -> Observation:
        match action.name:
            case "search":
                return self.search(action.argument)
            case "lookup":
                return self.lookup(action.argument)
            case "finish":
                reward = self._judge(action.argument)
                self.answer = action.argument
                return Observation(f"Episode finished, reward = {reward:g}\n", done=True, reward=reward)
            case "think":
                return Observation(THOUGHT)
            case _:
                return Observation(INVALID + action.command)


class ClosedBook(JudgedEnv):
    """An environment without anything to read, for methods that answer from memory: Search and Lookup are invalid."""

    def search(self, argument: str) -> Observation:
        """Call it invalid."""
        return Observation(f"{INVALID}search[{argument}]")

    def lookup(self, argument: str) -> Observation:
        """Call it invalid."""
        return Observation(f"{INVALID}lookup[{argument}]")
