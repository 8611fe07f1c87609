"""Action text -> `Action`, by the original's rule (`wikienv.py` of the released ReAct code)."""

from __future__ import annotations

from ..domain import Action

VERBS = ("search", "lookup", "finish", "think")
"""The verbs that the original's environment knows, as it tests them: lower case."""


def parse_action(text: str) -> Action:
    """Return the action that *text* asks for; `Action.name` is "" where it asks for none.

    The loop lower-cases the first character of the text as given, and no other (`FINISH[x]` becomes `fINISH[x]`, which
    is invalid; a leading blank defeats it). The environment strips what it gets and tests for `verb[` in front and `]`
    at the end. The argument is everything between: brackets, newlines and blanks in it are kept.

    An empty text, on which the original raises, is an action without a name.
    """
    command = (text[:1].lower() + text[1:]).strip()
    if command.endswith("]"):
        for verb in VERBS:
            if command.startswith(f"{verb}["):
                return Action(name=verb, argument=command[len(verb) + 1 : -1], raw=text, command=command)
    return Action(name="", argument="", raw=text, command=command)
