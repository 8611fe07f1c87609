"""What an action's label announces -> the action as it goes into the prompt (`Search[Harlow Bay]`)."""

from __future__ import annotations

import re

_AT_START = re.compile(
    r"(?P<dress>[`*_\"'“‘]{0,6})(?P<verb>search|look[ -]?up|finish|think)(?P<gap>[`*_ \t]{0,4})\[",
    re.IGNORECASE | re.ASCII,
)
_IN_LINE = re.compile(
    r"(?<![A-Za-z])(?P<verb>search|look[ -]?up|finish)(?P<gap>[`*_ \t]{0,4})\[", re.IGNORECASE | re.ASCII
)
_FENCE = re.compile(r"```[A-Za-z]{0,20}[ \t]*\n\s*")
_BRACKET = re.compile(r"[\[\]]")
_CANONICAL = {"s": "Search", "l": "Lookup", "f": "Finish", "t": "Think"}
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»"}
_BLANK = " \t\n\r\v\f\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_AROUND = "`*" + _BLANK  # all that `str.strip` strips, and decoration
_DECORATION = "`*_\"'”’ \t\n"


def read(text: str, cut: bool, found: set[str]) -> str | None:
    """Return the action that *text* gives, or None where it gives none.

    Args:
        text: what follows an action's label, stripped, up to the next label.
        cut: the token limit ended the reply within *text*: an action that is not closed is then no action.
        found: takes the flags.

    A known verb with its bracket is looked for at the beginning, then in the rest of the first line. The argument ends
    at the bracket that balances the first one, on whatever line. Where none does, it ends at the last closing bracket
    of its first line, and where there is none, at the line's end. Text without a verb is handed on, its first line,
    for the environment to call invalid.
    """
    if match := _FENCE.match(text):
        found.add("code_fence")
        text = text[match.end() :]
    verb = _AT_START.match(text)
    if verb is None:
        line_end = text.find("\n")
        verb = _IN_LINE.search(text, 0, line_end if line_end >= 0 else len(text))
        if verb is None:
            return _without_verb(text, cut, found)
        found.add("text_before_action")
    elif verb["dress"]:
        found.add("decorated_action")
    argument, rest = _argument(text[verb.end() :], cut, found)
    if argument is None:
        return None
    _flag_rest(rest, found)
    if verb["gap"].strip():
        found.add("decorated_action")
    name = _CANONICAL[verb["verb"][0].lower()]
    if verb["verb"] != name or " " in verb["gap"] or "\t" in verb["gap"]:
        found.add("verb_form")
    return f"{name}[{_unquoted(argument, found)}]"


def _argument(text: str, cut: bool, found: set[str]) -> tuple[str | None, str]:
    """Return the argument that *text*, which follows the opening bracket, begins with, and the text after it."""
    depth = 1
    for bracket in _BRACKET.finditer(text):
        depth += 1 if bracket[0] == "[" else -1
        if depth == 0:
            return text[: bracket.start()], text[bracket.end() :]
    if cut:
        found.add("truncated_action")
        return None, ""
    line, newline, after = text.partition("\n")
    argument, closing, rest = line.rpartition("]")
    if closing:
        found.add("unbalanced_bracket")
        return argument, rest + newline + after
    found.add("unclosed_bracket")
    return line.rstrip(), after


def _without_verb(text: str, cut: bool, found: set[str]) -> str | None:
    """Return the first line of *text*, which holds no known verb; None where nothing is left of it."""
    line, newline, rest = text.partition("\n")
    if cut and not newline:
        found.add("truncated_action")
        return None
    bare = line.strip(_AROUND)
    if bare != line.rstrip():
        found.add("decorated_action")
    _flag_rest(rest, found)
    return bare or None


def _flag_rest(rest: str, found: set[str]) -> None:
    """Flag what follows an action and is left out."""
    if not rest.strip():
        return
    if not rest.strip(_DECORATION):
        found.add("decorated_action")
    elif _IN_LINE.search(rest):
        found.add("second_action")
    else:
        found.add("trailing_text")


def _unquoted(argument: str, found: set[str]) -> str:
    """Return *argument* without the quotes that enclose it whole; `"a" and "b"` is not enclosed."""
    start, end = 0, len(argument)
    while end - start >= 2 and _QUOTES.get(argument[start]) == argument[end - 1]:
        if (
            argument.find(argument[start], start + 1, end - 1) >= 0
            or argument.find(argument[end - 1], start + 1, end - 1) >= 0
        ):
            break
        start, end = start + 1, end - 1
        found.add("quoted_argument")
    return argument[start:end]
