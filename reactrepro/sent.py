"""How requests were put where that is not as asked, and since which call of an episode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, TypeAlias

Stop: TypeAlias = Literal["native", "visible", "emulated"]


@dataclass(frozen=True, slots=True)
class Later:
    """How requests were put from one call of an episode on: its server took the calls before otherwise.

    Attributes:
        call: 1-based number of the first call that was put so.
        stop, token_limit, omitted: as in `Sent`.
    """

    call: int
    stop: Stop = "native"
    token_limit: str = "max_tokens"  # noqa: S105 - a parameter name
    omitted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sent:
    """What the wire got where it differs from what was asked. Replay builds its requests from it.

    Attributes:
        stop: ``native`` (the stop strings were sent), ``visible`` (but for those of nothing but white space) or
            ``emulated`` (none was, since the server refuses them). What was not sent is cut here.
        token_limit: the name under which the token limit was sent.
        omitted: settings that the server refused and that were therefore left out ("temperature").
        samples_per_call: how many samples each call asked for, in order, where more than one was wanted.
        later: changes of the above within the episode, in order; hardly ever there are any.
    """

    stop: Stop = "native"
    token_limit: str = "max_tokens"  # noqa: S105 - a parameter name
    omitted: tuple[str, ...] = ()
    samples_per_call: tuple[int, ...] = ()
    later: tuple[Later, ...] = ()

    @classmethod
    def of(cls, forms: Sequence[Sent], sizes: Sequence[int] = ()) -> Sent:
        """Return what is to be recorded of an episode whose calls had *forms*, in order, one at least."""
        changes = [
            Later(number, now.stop, now.token_limit, now.omitted)
            for number, (was, now) in enumerate(pairwise(forms), start=2)
            if was.at(1) != now.at(1)
        ]
        return replace(forms[0].at(1), samples_per_call=tuple(sizes), later=tuple(changes))

    def at(self, call: int) -> Sent:
        """Return how the call of that number (1-based) was put; no other call stands in it."""
        for change in reversed(self.later):
            if change.call <= call:
                return Sent(change.stop, change.token_limit, change.omitted)
        return Sent(self.stop, self.token_limit, self.omitted)
