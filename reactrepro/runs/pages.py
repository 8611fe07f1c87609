"""The wiki snapshot of a project: pages that are not what they were, and pages that nobody reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from ..cassettes.read import read_meta
from ..cassettes.runs import EPISODE, PART, RUN_FILE
from ..domain import Pin
from ..errors import Corrupt, PageChanged, ReactReproError
from ..report.checked import Finding
from ..report.text import counted
from ..wiki.entries import Entry
from ..wiki.versions import Version
from .causes import of_file
from .roots import shown

_SHOWN = 20


def pins_under(roots: Iterable[Path], known: dict[Path, tuple[Pin, ...]]) -> tuple[set[tuple[str, str]], bool]:
    """Return (site, hash) of every page that some recording below *roots* reads; hidden and unfinished ones count.

    Args:
        known: the pins of the recordings that are read already, by file.

    Returns:
        The pages; and whether all recordings could be read, so that no other page is needed.
    """
    complete = True
    pinned = {(pin.site, pin.sha256) for pins in known.values() for pin in pins}
    for root in roots:
        for folder in {file.parent for file in root.rglob(RUN_FILE)}:
            for path in folder.iterdir():
                if path.name.endswith((EPISODE, PART)) and path not in known:
                    try:
                        pinned |= {(pin.site, pin.sha256) for pin in read_meta(path).pages}
                    except ReactReproError:
                        complete = False  # the recordings' own check tells why
    return pinned, complete


def altered(entries: Iterable[Entry], pinned: set[tuple[str, str]], *, html: bool) -> Iterator[Finding]:
    """Yield a finding for every file of *entries* that cannot be read, or is not what its metadata says.

    Args:
        pinned: views that are left out here, because every recording that reads one has it compared.
        html: unpack the HTML that the texts come from, and compare it, too.
    """
    for entry in entries:
        for problem in entry.problems:
            yield of_file(shown(entry.folder), problem)
        for version in entry.versions:
            try:
                if html:
                    version.html()
                views = [n for n, view in version.metadata.views.items() if (entry.site, view.sha256) not in pinned]
                told = next(filter(None, map(version.disagreement, views)), None)
            except Corrupt as problem:
                yield of_file(shown(version.path), problem)
                continue
            if told is not None:
                text = f"{told}. Restore it (`git checkout -- <file>`), or remove that version."
                yield of_file(shown(version.path), PageChanged(text))


def unused(entries: Iterable[Entry], pinned: set[tuple[str, str]]) -> Iterator[Finding]:
    """Yield one warning for all versions of which no recording has read any view."""
    idle = [
        version
        for entry in entries
        for version in entry.versions
        if not any((entry.site, view.sha256) in pinned for view in version.metadata.views.values())
    ]
    if idle:
        files = [shown(version.path) for version in idle]
        rows = [f"\n  {_named(version)}: {file}" for version, file in zip(idle[:_SHOWN], files, strict=False)]
        more = f"\n  and {len(idle) - _SHOWN} more" if len(idle) > _SHOWN else ""
        yield Finding(
            kind="unused page",
            exit_code=0,
            subject="wiki_snapshot",
            text=f"{counted(len(idle), 'page')} of the wiki snapshot {'is' if len(idle) == 1 else 'are'} read by no "
            f"recording:{''.join(rows)}{more}",
            file=files[0],
            remedy="Remove what no recording is to be made with.",
            data={"files": files},
        )


def _named(version: Version) -> str:
    answer = version.metadata.answer
    return f"{answer.site} {answer.query!r}"
