"""Which rows of a data set: the paper code's own five hundred, a shuffle with a seed, a list in a file. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ..errors import Usage

PAPER_SEED = 233
PAPER_ROWS = 7405
PAPER_SIZE = 500

_KEY, _ID = "key:", "id:"


def paper500() -> tuple[str, ...]:
    """Return the keys of the paper code's subset, in its order: 3687, 6238, 5388, ...

    The released notebooks shuffle ``range(7405)`` with ``random.Random(233)`` and take the first 500. The one for FEVER
    does the same, though FEVER has 9,999 rows: those from 7,405 on are never drawn.
    """
    return tuple(shuffled([str(row) for row in range(PAPER_ROWS)], PAPER_SEED)[:PAPER_SIZE])


def shuffled(keys: Sequence[str], seed: int) -> list[str]:
    """Return *keys* in the order into which ``random.Random(seed).shuffle`` puts them.

    With the seed 233, the first 500 of HotpotQA's keys are `paper500`. Python promises the numbers that a seed gives,
    not what `shuffle` makes of them; that it is still the published order is tested with every Python.
    """
    import random

    mixed = list(keys)
    random.Random(seed).shuffle(mixed)  # noqa: S311 - an order to be repeated, not a secret
    return mixed


SUBSETS: Mapping[str, Callable[[], tuple[str, ...]]] = {"paper500": paper500}
"""Subsets by name: the keys of each, in order."""


def listed(lines: Iterable[str], known: Mapping[str, str | None], name: str) -> list[str]:
    """Return the keys that the *lines* of a file name, in order, each once.

    A line is a key (an index) or a data set's own id; ``key:`` or ``id:`` before it says which. Without that, all lines
    are keys if all of them can be, else all are ids if all of them can be, else each is what it can be. Blank lines and
    lines that begin with ``#`` count for nothing.

    Args:
        lines: the file's.
        known: key -> id of each row, in order.
        name: the file's name, for messages.

    Raises:
        Usage: a line names no row, or could name two; or there is no line.
    """
    words = [word for line in lines if (word := line.strip()) and not word.startswith("#")]
    keys_of = {id_: key for key, id_ in known.items() if id_ is not None}
    plain = [word for word in words if not word.startswith((_KEY, _ID))]
    as_key, as_id = all(word in known for word in plain), all(word in keys_of for word in plain)

    def key_of(word: str) -> str | None:
        if word.startswith(_KEY):
            return word.removeprefix(_KEY) if word.removeprefix(_KEY) in known else None
        if word.startswith(_ID):
            return keys_of.get(word.removeprefix(_ID))
        key, by_id = (word if word in known else None), keys_of.get(word)
        if as_key == as_id and key is not None and by_id not in (None, key):
            raise Usage(
                f"{name}: {word} is the index of one row and the id of another (row {by_id}). Write {_KEY}{word} or "
                f"{_ID}{word}."
            )
        return by_id if key is None or (as_id and not as_key) else key

    if not words:
        raise Usage(f"{name} names no row: it needs an index or an id on each line.")
    found = [(word, key_of(word)) for word in words]
    if missing := [word for word, key in found if key is None]:
        some = ", ".join(f"{word!a:.60}" for word in missing[:5]) + (" …" if len(missing) > 5 else "")
        raise Usage(f"{name}: {len(missing)} of {len(words)} lines name no row that is at hand: {some}.")
    return list(dict.fromkeys(key for _, key in found if key is not None))
