"""What is wrong with an episode, in the words that `replay`, `check` and the pytest plugin share."""

from __future__ import annotations

from ..cassettes.mismatch import describe
from ..errors import CassetteMiss, ReactReproError
from ..visible import lines
from .model import EpisodeReport


def explanation(episode: EpisodeReport, *, verbose: bool = False) -> str:
    """Return class and problems of *episode*, safe to print: "prompt changed: hotpotqa/react/…, episode 0, step 1: …".

    Args:
        episode: one that is not ok.
        verbose: say everything, with a diff of what changed.
    """
    return f"{episode.kind}: " + lines("\n".join(words(problem, verbose=verbose) for problem in episode.problems))


def words(problem: ReactReproError, *, verbose: bool = False) -> str:
    """Return what *problem* says, as it is."""
    return describe(problem.mismatch, verbose=verbose) if isinstance(problem, CassetteMiss) else str(problem)
