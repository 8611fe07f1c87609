"""One recorded episode, replayed once, and what would have come of it under any number of other settings.

Pay once, ask many questions: the replay is the expensive part, and every question that `what_if` knows follows from
its trajectory. tests/runs/test_varied.py holds each answer equal to that of a replay under the other settings.
"""

from __future__ import annotations

from dataclasses import replace

from ..cassettes.model import RunConfig
from ..cassettes.runs import Run
from ..domain import Completion, Tokens, Turn
from ..errors import ReactReproError
from ..methods import BACK_OFFS, METHODS
from ..report.model import EpisodeReport
from ..tasks import TASKS
from .compose import composed
from .play import scored
from .replay import replay_episode
from .roots import Sources
from .what_if import AS_RECORDED, WhatIf


class Varied:
    """An episode under several settings.

    Other than a replay under other settings (`replay.replay_episode`), it is compared with its recording, whole: an
    episode that does not replay as recorded has that problem under every setting.

    Args:
        run, key: which.
        sources: where pages and prompts are read from.
    """

    def __init__(self, run: Run, key: str, sources: Sources) -> None:
        self._run, self._key, self._sources = run, key, sources
        self._replayed: dict[Run, EpisodeReport] = {}

    def under(self, what_if: WhatIf) -> EpisodeReport:
        """Return what comes of it under *what_if*; every problem is in the report, none is raised."""
        try:
            if not self._run.config.parts:
                return self._simple(self._run, what_if)
            return composed(self._run, self._key, lambda part: self._simple(part, what_if), what_if.threshold)
        except ReactReproError as problem:
            return replace(self._recorded(self._run), problems=(problem,))

    def _recorded(self, run: Run) -> EpisodeReport:
        if run not in self._replayed:
            self._replayed[run] = replay_episode(run, self._key, self._sources)
        return self._replayed[run]

    def _simple(self, run: Run, what_if: WhatIf) -> EpisodeReport:
        try:
            return self._otherwise(run, what_if)
        except ReactReproError as problem:
            return replace(self._recorded(run), problems=(problem,), trajectory=None, score=None)

    def _otherwise(self, run: Run, what_if: WhatIf) -> EpisodeReport:
        found = self._recorded(run)
        trajectory, turns = found.trajectory, found.turns
        if trajectory is None or found.question is None:
            return found
        method = METHODS.get(run.config.method)()
        if what_if.max_steps is not None and method.acts:
            what_if.limited(run.config.settings)
            shorten = getattr(method, "shortened", None)
            if shorten is None:  # a method of somebody else's: what its trajectory means, only its own loop knows
                return replace(replay_episode(run, self._key, self._sources, what_if=what_if), problems=found.problems)
            trajectory = shorten(trajectory, turns, what_if.max_steps)
            turns = tuple(turn for turn in turns if turn.step <= what_if.max_steps)
        fewer = what_if.first_samples(trajectory, turns)
        if fewer is not trajectory:
            trajectory, turns = fewer, _first_replies(turns[: fewer.llm_calls], len(fewer.samples))
        score = scored(TASKS.get(run.config.task.name)(), trajectory, found.question)
        return replace(found, trajectory=trajectory, score=score, turns=turns)


def applying(what_if: WhatIf, config: RunConfig) -> WhatIf:
    """Return what of *what_if* has a meaning for a run of this configuration.

    Raises:
        Usage: unknown method.
    """
    kept = {name: value for name, value in what_if.as_dict().items() if name in settings_of(config)}
    return WhatIf(**kept) if kept else AS_RECORDED  # type: ignore[arg-type]  # of the types that they had


def settings_of(config: RunConfig) -> dict[str, float]:
    """Return the settings that can be asked about in a run of this configuration, with their recorded values.

    A step limit is for methods that act, samples are for those that take a vote, a threshold for the back-off that
    trusts a vote; its recorded value is half of the samples.

    Raises:
        Usage: unknown method.
    """
    found: dict[str, float] = {}
    settings = config.settings
    if config.parts:
        acts = any(METHODS.get(part)().acts for part in config.parts)
        if getattr(BACK_OFFS.get(config.method), "trusts", True):
            found["threshold"] = settings.samples / 2
    else:
        acts = METHODS.get(config.method)().acts
    if settings.samples > 1:
        found["samples"] = settings.samples
    if acts:
        found["max_steps"] = settings.max_steps
    return found


def _first_replies(turns: tuple[Turn, ...], samples: int) -> tuple[Turn, ...]:
    """Return the calls that brought the first *samples* replies.

    Of a last one that brought more, only the prompt's tokens are known: the others' are counted together.
    """
    before = sum(_replies(turn) for turn in turns[:-1])
    last, wanted = turns[-1], samples - before
    if _replies(last) <= wanted or last.completion is None:
        return turns
    said: Completion = replace(last.completion, tokens=Tokens(last.completion.tokens.prompt))
    return (*turns[:-1], replace(last, completion=said, further=last.further[: wanted - 1]))


def _replies(turn: Turn) -> int:
    return (turn.completion is not None) + len(turn.further)
