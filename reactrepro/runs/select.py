"""Which recordings a command means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..cassettes.library import Library
from ..cassettes.runs import Run
from ..cassettes.selection import EVERYTHING, keys_of
from ..errors import CassetteAbsent

PREFERRED_METHOD = "react"


@dataclass(frozen=True, slots=True)
class Choice:
    """Episodes to replay.

    Attributes:
        episodes: (run, key), in order; a key need not be recorded.
        others: how many further recordings fit the same words and were left out.
    """

    episodes: tuple[tuple[Run, str], ...]
    others: int = 0


def choose(
    library: Library,
    task: str | None,
    words: Sequence[str],
    *,
    method: str | None = None,
    run: str | None = None,
    everything: bool = False,
) -> Choice:
    """Choose what `replay` replays.

    Without *everything* one run is chosen: the one marked as default, else one of method react, else the first; and of
    it the episodes asked for, or its first.

    Raises:
        CassetteAbsent: nothing that fits is recorded.
        Usage: *words* are no keys.
    """
    if list(words) == [EVERYTHING]:
        words, everything = (), True
    keys = keys_of(words)
    runs = library.runs(task, method, run)
    if not runs:
        raise CassetteAbsent(nothing(library, task, method, run))
    recorded = {candidate.folder: candidate.keys() for candidate in runs}
    fitting = [(r, key) for r in runs for key in recorded[r.folder] if not keys or key in keys]
    if everything:
        asked = fitting or [(runs[0], key) for key in keys]
        return Choice(tuple(asked))
    best = _preferred(library, runs, keys, recorded)
    episodes = tuple((best, key) for key in keys or recorded[best.folder][:1])
    if not episodes:
        raise CassetteAbsent(f"{best.label} holds no finished episode.")
    return Choice(episodes, others=len([pair for pair in fitting if pair not in episodes]))


def _preferred(library: Library, runs: list[Run], keys: list[str], recorded: dict[Path, list[str]]) -> Run:
    marked = {task: library.default(task) for task in {run.task for run in runs}}

    def rank(run: Run) -> tuple[bool, bool, bool, bool]:
        missing = not recorded[run.folder] or not set(keys) <= set(recorded[run.folder])
        return missing, marked[run.task] is None, marked[run.task] != (run.method, run.name), run.method != "react"

    return min(runs, key=rank)


def nothing(library: Library, task: str | None, method: str | None, run: str | None) -> str:
    """Return the message that no recording fits these words."""
    words = " ".join(word for word in (task, method, run) if word)
    known = sorted({r.label for r in library.runs()})
    listed = ", ".join(known[:5]) + (f" and {len(known) - 5} more" if len(known) > 5 else "")
    looked = ", ".join(str(root) for root in library.roots) or "nowhere: no cassettes folder was found"
    return (
        f"no recording fits {words or 'these words'}.\n"
        f"  looked in: {looked}\n"
        f"  recorded there: {listed or 'nothing'}\n"
        "  `reactrepro list` shows what is at hand; --cassettes names another folder."
    )
