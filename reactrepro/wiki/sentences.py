"""What of a page's text becomes an observation. Pure functions, to the character as in the original environment.

The rules (Yao et al. 2022, released environment; docs/wiki-pages.md, "The observation"): newlines separate
paragraphs, the two characters ". " separate sentences, and every sentence gets a full stop appended, whether it had
one or not. That is why ".." stands at the end of most paragraphs, why "D.C. Next" is cut after "D.C", and why "! "
and "? " cut nothing.
"""

from __future__ import annotations

WINDOW = 5
"""How many sentences Search shows."""


def sentences(text: str) -> list[str]:
    """Return the sentences of a page's *text*, in order, each with the full stop that the rule appends."""
    pieces: list[str] = []
    for line in text.split("\n"):
        pieces += line.strip().split(". ")
    return [piece.strip() + "." for piece in pieces if piece.strip()]


def observation(text: str) -> str:
    """Return what Search shows of a page's *text*: its first five sentences, joined by single spaces."""
    found: list[str] = []
    for line in text.split("\n"):
        found += sentences(line)
        if len(found) >= WINDOW:
            break
    return " ".join(found[:WINDOW])


def containing(text: str, keyword: str) -> list[str]:
    """Return the sentences of *text* that contain *keyword*, whatever its case; every sentence for ""."""
    lowered = keyword.lower()
    return [sentence for sentence in sentences(text) if lowered in sentence.lower()]
