"""Protocol `strict`: the original's own rule, on every string (`webthink` in the released notebooks)."""

from __future__ import annotations

from . import answers
from .reply import Protocol, Reply


def parse(text: str, i: int, finish: str | None) -> Reply:
    r"""Read a reply to `Thought i:`.

    The reply is stripped and split on `\nAction i: `, number and one blank included. Exactly two parts are a thought
    and an action, neither stripped again. Anything else is no action: the thought is the first line, and the loop
    asks for the action. *finish* is not looked at; what the token limit cut is executed as it stands.
    """
    reply = text.strip()
    parts = reply.split(f"\nAction {i}: ")
    if len(parts) == 2:
        return Reply(thought=parts[0], action=parts[1])
    thought = reply.split("\n", 1)[0]
    return Reply(thought=thought, action=None, flags=("no_action",) if reply else ("empty_reply", "no_action"))


def parse_action(text: str, i: int, finish: str | None) -> Reply:
    """Read a reply to `Action i:`, which is the action, stripped. An empty one, where the original raises, is ""."""
    action = text.strip()
    return Reply(thought="", action=action, flags=() if action else ("empty_action",))


PROTOCOL = Protocol(parse=parse, parse_action=parse_action, parse_answer=answers.strict)
