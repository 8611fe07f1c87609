"""What the wiki snapshot holds: listed, found, and what in it is like a query that it does not hold."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..domain import Kind
from ..errors import Corrupt
from .names import checked_site, folder, is_folder, is_site, slug
from .versions import Version, versions_in

NEAREST = 5
_LOOKED_AT = 20_000


@dataclass(frozen=True, slots=True)
class Entry:
    """The answers to one query that one snapshot folder holds.

    Attributes:
        root: the snapshot folder.
        folder: the answers' own folder in it.
        site: whose answers.
        query: to what; None where no version could be read.
        versions: newest first.
        problems: versions that could not be read.
    """

    root: Path
    folder: Path
    site: str
    query: str | None
    versions: tuple[Version, ...]
    problems: tuple[Corrupt, ...] = ()

    @property
    def kind(self) -> Kind | None:
        """What the wiki answered, in the newest version; None where none could be read."""
        return self.versions[0].metadata.answer.kind if self.versions else None

    @property
    def provenance(self) -> str | None:
        """Where the newest version comes from."""
        return self.versions[0].metadata.answer.provenance if self.versions else None

    @property
    def time(self) -> str | None:
        """When the newest version was fetched, where known."""
        return self.versions[0].metadata.answer.time if self.versions else None

    @property
    def extractions(self) -> tuple[str, ...]:
        """The extractions of which some version has a view, sorted."""
        return tuple(sorted({name for version in self.versions for name in version.metadata.views}))


def entries(roots: Sequence[Path], site: str | None = None) -> Iterator[Entry]:
    """Yield every entry of *site*, or of every site, in the snapshot folders *roots*: root by root, sorted by name.

    An entry of which a file is broken is yielded with its problems; a folder that is no entry is passed over.
    """
    for root in map(str, roots):
        for where in _sites(root) if site is None else [checked_site(site)]:
            for name in _folders(f"{root}/{where}"):
                if is_folder(name):
                    yield _entry(root, where, name)


def find(roots: Sequence[Path], query: str, site: str | None = None) -> list[Entry]:
    """Return the entries that hold answers to exactly *query*, of *site* or of every site, in the order of the roots.

    Raises:
        Usage: *site* cannot name a wiki.
        Corrupt: there are answers, but none of them can be read.
    """
    found: list[Entry] = []
    problems: list[Corrupt] = []
    for root in map(str, roots):
        for name in [checked_site(site)] if site is not None else _sites(root):
            entry = _entry(root, name, folder(query))
            if entry.query == query:
                found.append(entry)
            problems += entry.problems
    if problems and not found:
        raise problems[0]
    return found


def nearest(roots: Sequence[Path | str], site: str, query: str) -> list[str]:
    """Return up to `NEAREST` queries that *site* has answers to and that are like *query*, the likest first.

    Likeness is that of folder names, so that only the files of the few that are named have to be opened.
    """
    import difflib

    named: dict[str, str] = {}
    for root in map(str, roots):
        for name in _folders(f"{root}/{site}")[:_LOOKED_AT]:
            if is_folder(name):
                named.setdefault(name, root)
    slugs = {name: name[:-13] for name in named}
    wanted = slug(query)
    likest = difflib.get_close_matches(wanted, sorted(set(slugs.values())), n=NEAREST, cutoff=0.5)
    close = {one: rank for rank, one in enumerate(likest)}
    names = sorted((name for name in named if slugs[name] in close), key=lambda name: (close[slugs[name]], name))
    read = (_entry(named[name], site, name) for name in names[:NEAREST])
    return [entry.query for entry in read if entry.query is not None]


def _entry(root: str, site: str, name: str) -> Entry:
    problems: list[Corrupt] = []
    versions = sorted(versions_in(root, site, name, problems), key=lambda version: version.age, reverse=True)
    query = versions[0].metadata.answer.query if versions else None
    return Entry(Path(root), Path(root, site, name), site, query, tuple(versions), tuple(problems))


def _sites(root: str) -> list[str]:
    return [name for name in _folders(root) if is_site(name)]


def _folders(where: str) -> list[str]:
    try:
        with os.scandir(where) as listing:
            return sorted(entry.name for entry in listing if entry.is_dir())
    except OSError:
        return []
