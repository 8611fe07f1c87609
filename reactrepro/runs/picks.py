"""Which questions, and in which order: indexes, a known subset, a list in a file, a shuffle, a limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..cassettes.selection import EVERYTHING, keys_of
from ..data.subsets import SUBSETS, listed, shuffled
from ..errors import Corrupt, Usage

NOTHING_ASKED = f"say which questions: indexes and ranges (0-9), {EVERYTHING!r}, or --subset, --ids, --seed, --limit"

MAX_LIST = 16 << 20
"""Bytes of a file of indexes or ids, at most."""


@dataclass(frozen=True, slots=True)
class Pick:
    """What a user asks for.

    Attributes:
        words: indexes and ranges, as typed, or ``all``.
        subset: name of a known subset (`data.subsets.SUBSETS`).
        ids: a file that lists indexes or ids.
        seed: shuffle what is asked for with this seed.
        limit: of that, the first so many.
    """

    words: tuple[str, ...] = ()
    subset: str | None = None
    ids: Path | None = None
    seed: int | None = None
    limit: int | None = None

    def __bool__(self) -> bool:
        """Whether anything is asked for."""
        return self != Pick()

    @property
    def plain(self) -> bool:
        """Whether the words alone say it, each question by its index."""
        return bool(self.words) and self.words != (EVERYTHING,) and self == Pick(self.words)

    def keys(self, known: Mapping[str, str | None]) -> list[str]:
        """Return the keys asked for, in order; indexes and subsets may name some that are not in *known*.

        A seed or a limit alone is about everything that is known.

        Args:
            known: key -> the data set's id, of everything at hand, in order.

        Raises:
            Usage: nothing is asked for, or several things at once; words are no keys; the file names what is not known.
            Corrupt: the file cannot be read.
        """
        asked = [
            name for name, value in (("indexes", self.words), ("--subset", self.subset), ("--ids", self.ids)) if value
        ]
        if len(asked) > 1:
            raise Usage(f"{' and '.join(asked)} each say which questions: give one of them.")
        if not self:
            raise Usage(f"{NOTHING_ASKED}.")
        keys = self._chosen(known)
        if self.seed is not None:
            keys = shuffled(keys, self.seed)
        return keys[: self.limit]

    def _chosen(self, known: Mapping[str, str | None]) -> list[str]:
        if self.subset is not None:
            if self.subset not in SUBSETS:
                raise Usage(f"there is no subset {self.subset!r}; there are: {', '.join(SUBSETS)}.")
            return list(SUBSETS[self.subset]())
        if self.ids is not None:
            return listed(_text(self.ids).splitlines(), known, str(self.ids))
        if self.words in ((), (EVERYTHING,)):
            return list(known)
        return keys_of(self.words)


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_LIST + 1)
        if len(data) > MAX_LIST:
            raise Corrupt(f"{path} is larger than {MAX_LIST} bytes, which no list of indexes is.")
        return data.decode("utf-8-sig")
    except OSError as error:
        raise Corrupt(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise Corrupt(f"{path} is no text in UTF-8: it needs an index or an id on each line.") from None
