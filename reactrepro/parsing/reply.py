"""What a protocol makes of one reply."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply, read.

    Attributes:
        thought: the thought, as it goes into the prompt.
        action: the action text, as it goes into the prompt; None where the reply gave none and has to be reprompted.
        flags: what was repaired or missing, as names of the table in docs/format-flags.md.
    """

    thought: str
    action: str | None
    flags: tuple[str, ...] = ()
