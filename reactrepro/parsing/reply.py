"""What a protocol is, and what it makes of one reply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply, read.

    Attributes:
        thought: the thought, as it goes into the prompt.
        action: the action text, as it goes into the prompt; None where the reply gave none and has to be reprompted.
            Of a reply that is asked for an answer alone: the answer.
        flags: what was repaired or missing, as names of the table in docs/format-flags.md.
    """

    thought: str
    action: str | None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Protocol:
    """How replies are read: three pure functions that never raise.

    Two are `(text, i, finish) -> Reply`; `i` is the 1-based step number and `finish` the provider's finish reason, or
    None.

    Attributes:
        parse: reads a reply to `Thought i:`, a thought and an action.
        parse_action: reads a reply to `Action i:`, the reprompt: `Reply.thought` is "", and `Reply.action` is "" or
            None where nothing can be executed.
        parse_answer: `(text, label, finish) -> Reply`, reads a reply to the label `Thought:` or `Answer:` of a method
            that answers in one go: `Reply.action` is the answer, or None where none is found.
    """

    parse: Callable[[str, int, str | None], Reply]
    parse_action: Callable[[str, int, str | None], Reply]
    parse_answer: Callable[[str, str, str | None], Reply]
