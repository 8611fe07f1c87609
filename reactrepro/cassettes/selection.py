"""The words that say which questions: `0`, `0-9`, `3,5-7`, `all`, or a question's own key."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..errors import Usage
from .names import is_key

MAX_RANGE = 1_000_000

EVERYTHING = "all"
"""The word for every question."""

_RANGE = re.compile(r"([0-9]+)(?:-([0-9]+))?\Z")


def words_of(keys: Sequence[str]) -> str:
    """Return the shortest words that name *keys*: "0-19" for twenty indexes in order."""
    rows: list[list[str]] = []
    for key in keys:
        last = rows[-1][-1] if rows else ""
        if last.isdecimal() and key.isdecimal() and int(key) == int(last) + 1:
            rows[-1][1:] = [key]
        else:
            rows.append([key])
    return ",".join("-".join(row) for row in rows)


def keys_of(words: Sequence[str]) -> list[str]:
    """Return the keys that *words* name, in order, each once: ``0``, ``0-9``, ``3,5-7``, or a question hash.

    Raises:
        Usage: a word is none of these.
    """
    keys: dict[str, None] = {}
    if any(not text.strip(" ,") for text in words):
        raise Usage("an index is empty: is a variable unset?")
    for word in (part for text in words for part in text.split(",") if part.strip()):
        entry = word.strip()
        if match := _RANGE.match(entry):
            if len(entry) > 20:
                raise Usage(f"{entry[:20]!r}… is no range: no data set is that long.")
            first, last = int(match[1]), int(match[2] or match[1])
            if last < first:
                raise Usage(f"{entry!r} is no range: it runs backwards.")
            if last - first >= MAX_RANGE:
                raise Usage(f"{entry!r} is no range: it is longer than {MAX_RANGE}.")
            keys.update((str(number), None) for number in range(first, last + 1))
        elif is_key(entry):
            keys[entry] = None
        else:
            raise Usage(f"{entry!r} is no index, no range like 0-9 and no question hash.")
    return list(keys)


def asked_for(selection: str, keys: Sequence[str]) -> list[str]:
    """Return those of *keys* that the words of *selection* (of a ``run.json``) ask for, in order.

    Raises:
        Usage: *selection* is no such words.
    """
    words = [word for word in selection.split(",") if word]
    if EVERYTHING in words:
        return list(keys)
    wanted = set(keys_of(words))
    return [key for key in keys if key in wanted]
