"""Environments that answer from an observation tape, used exactly as pages are used.

Scope ``wiki``: Search and Lookup come from the tape; invalid actions, Finish and the reward are computed. Scope
``environment``: every action comes from the tape, the hidden ``finish[]`` after the last step included. In both, the
loop still parses, judges and scores by itself.
"""

from __future__ import annotations

from collections.abc import Callable

from .cassettes.tapes import Tape, TapeEntry
from .domain import Action, Observation
from .errors import TapeLeftover, TapeMiss
from .judged import JudgedEnv
from .visible import escaped


class _Reel:
    """The entries of a tape, read in order."""

    def __init__(self, tape: Tape, where: str) -> None:
        self._entries, self._where = tape.entries, where
        self.at = 0

    def next(self, action: Action) -> TapeEntry:
        """Return the next entry, which has to be *action*'s.

        Raises:
            TapeMiss: it is another action's, or the tape is at its end.
        """
        if self.at >= len(self._entries):
            raise TapeMiss(
                f"{self._where}: the action '{escaped(action.raw)}' is not on the tape, which ends after "
                f"{len(self._entries)} entries.\n  The method acts differently than it did. Restore what changed."
            )
        entry = self._entries[self.at]
        if entry.action != action.raw:
            raise TapeMiss(
                f"{self._where}, entry {self.at + 1}: recorded is the action '{escaped(entry.action)}', taken was "
                f"'{escaped(action.raw)}'.\n  The method acts differently than it did. Restore what changed."
            )
        self.at += 1
        return entry

    def finish(self) -> None:
        """Assert that every entry was used.

        Raises:
            TapeLeftover: some were not.
        """
        if left := len(self._entries) - self.at:
            raise TapeLeftover(
                f"{self._where}: the replay ended, and {left} of {len(self._entries)} entries were never asked for.\n"
                "  The method acts less than it did. Restore what changed."
            )


class WikiTapeEnv(JudgedEnv):
    """Search and Lookup from the tape, the rest computed (`domain.Environment`).

    Args:
        tape: of scope ``wiki``.
        judge: answer to reward.
        where: the tape, as messages name it.
    """

    def __init__(self, tape: Tape, judge: Callable[[str], float], where: str) -> None:
        super().__init__(tape.initial_observation, judge)
        self._tape, self._where = tape, where
        self._reel = _Reel(tape, where)
        self._action: Action | None = None

    def reset(self) -> str:
        """Rewind; return the initial observation."""
        self._reel = _Reel(self._tape, self._where)
        return super().reset()

    def step(self, action: Action) -> Observation:
        """Execute *action*.

        Raises:
            TapeMiss: a Search or Lookup that is not the next one on the tape.
        """
        self._action = action
        return super().step(action)

    def search(self, argument: str) -> Observation:
        """Answer from the tape."""
        return self._play()

    def lookup(self, argument: str) -> Observation:
        """Answer from the tape."""
        return self._play()

    def finish(self) -> None:
        """Assert that the tape was used up. Raises TapeLeftover."""
        self._reel.finish()

    def _play(self) -> Observation:
        assert self._action is not None  # noqa: S101 - step() sets it before it dispatches
        return Observation(self._reel.next(self._action).observation)


class EnvironmentTapeEnv:
    """Every action from the tape (`domain.Environment`).

    Args:
        tape: of scope ``environment``.
        where: the tape, as messages name it.
    """

    def __init__(self, tape: Tape, where: str) -> None:
        self._tape, self._where = tape, where
        self.reset()

    def reset(self) -> str:
        """Rewind; return the initial observation."""
        self._reel = _Reel(self._tape, self._where)
        self._last = Observation(self._tape.initial_observation)
        return self._tape.initial_observation

    def step(self, action: Action) -> Observation:
        """Answer *action*; after the end, the last observation again.

        Raises:
            TapeMiss: it is not the next action on the tape.
        """
        if not self._last.done:
            entry = self._reel.next(action)
            self._last = Observation(entry.observation, entry.done, entry.reward)
        return self._last

    def finish(self) -> None:
        """Assert that the tape was used up. Raises TapeLeftover."""
        self._reel.finish()


def environment(tape: Tape, judge: Callable[[str], float], where: str) -> WikiTapeEnv | EnvironmentTapeEnv:
    """Return the environment that *tape* stands for, by its scope."""
    return WikiTapeEnv(tape, judge, where) if tape.scope == "wiki" else EnvironmentTapeEnv(tape, where)
