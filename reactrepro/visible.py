"""Text from recordings, made safe to look at."""

from __future__ import annotations


def escaped(text: str) -> str:
    """Return *text* with every character that a terminal could act on, or that cannot be seen, as an escape.

    Control characters (an escape sequence could rewrite the screen), format characters (a bidirectional override could
    reorder it), private and unassigned ones become ``\\x80``, ``\\u202e`` and so on. Newlines are escaped, too.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def lines(text: str) -> str:
    """Return *text* `escaped`, but for its newlines."""
    return "\n".join(escaped(line) for line in text.split("\n"))
