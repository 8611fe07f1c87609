"""The exact text of every round of a recorded episode."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..domain import Turn
from ..errors import ReactReproError, Usage, exit_code
from ..tasks import TASKS
from .keep import prompt_for
from .replay import replay_episode
from .roots import Sources
from .select import choose


@dataclass(frozen=True, slots=True)
class Rounds:
    """The calls of one episode.

    Attributes:
        run, key: which.
        turns: in order; the last one may have failed.
        problems: why the replay is not the recorded run; empty where it is.
    """

    run: str
    key: str
    turns: tuple[Turn, ...]
    problems: tuple[ReactReproError, ...]

    @property
    def last(self) -> int:
        """The number of the last round."""
        return max((turn.step for turn in self.turns), default=0)

    @property
    def exit_code(self) -> int:
        """0 where the replay is the recorded run."""
        return exit_code(self.problems)

    def turn(self, number: int, *, reprompt: bool = False) -> Turn:
        """Return the first call of round *number*, or its second.

        Raises:
            Usage: there is no such round, or no reprompt in it.
            ReactReproError: the replay did not get that far, and why.
        """
        calls = [turn for turn in self.turns if turn.step == number]
        if len(calls) > int(reprompt):
            return calls[int(reprompt)]
        if self.problems:
            raise self.problems[0]
        if calls:
            raise Usage(f"{self.run}, episode {self.key}: round {number} needed no reprompt.")
        raise Usage(f"{self.run}, episode {self.key} has {self.last} rounds; there is no round {number}.")


def rounds(
    sources: Sources,
    task: str,
    key: str,
    *,
    method: str | None = None,
    run: str | None = None,
    prompt: str | None = None,
) -> Rounds:
    """Replay the episode that *task* and *key* name, and return its calls.

    Args:
        sources, task, key, method, run: which.
        prompt: a prompt in place of the recorded one, as `prompts.choice.choose` understands it.

    Raises:
        CassetteAbsent: it is not recorded.
        Usage: *key* names no single episode.
    """
    chosen = choose(sources.library, task, [key], method=method, run=run)
    if len(chosen.episodes) != 1:
        raise Usage(f"{key!r} names {len(chosen.episodes)} episodes; one is shown at a time.")
    ((found, only),) = chosen.episodes
    if prompt is not None:
        choice = prompt_for(TASKS.get(found.task)(), found.method, prompt, sources.prompts)
        sources = replace(sources, prompts=choice.roots, prompt=choice.name)
    report = replay_episode(found, only, sources)
    return Rounds(found.label, only, report.turns, report.problems)
