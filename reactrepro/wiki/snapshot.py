"""Pages from the wiki snapshot (`domain.Pages`): exactly those that a recording pinned, or the newest.

Snapshots are layered: several roots, the first one first. A replay gives the pins of its recording and gets, from
whichever root holds them, the versions that showed the agent just that; nothing written later can change it. Nothing
here ever asks a network.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..domain import PageView, Pin
from ..errors import Corrupt, PageChanged, WikiSnapshotMiss
from .names import checked_site, folder
from .versions import Version, versions_of


class SnapshotPages:
    """Has a query answered from the snapshot.

    Args:
        roots: the snapshot folders, in order of precedence; one that does not exist is empty.
        site: logical name of the wiki.
        extraction: which text is wanted (``article``, ``original``).
        pins: query to `PageView.sha256`, as the recording has them. With pins, exactly the pinned view is returned,
            recomputed from the files, and a query without a pin is a miss. None: the newest version of the first root
            that has the query.
        provenance: without pins, only versions of this provenance are considered (a live recording reads ``recorded``
            ones only).

    Attributes:
        read: a pin for every page read, in order of first reading.

    Raises:
        Usage: *site* cannot name a wiki.
    """

    def __init__(
        self,
        roots: Sequence[Path],
        site: str,
        extraction: str,
        pins: Mapping[str, str] | None = None,
        *,
        provenance: str | None = None,
    ) -> None:
        self._roots = tuple(map(str, roots))
        self._site = checked_site(site)
        self._extraction = extraction
        self._pins = pins
        self._provenance = provenance
        self._read: dict[Pin, None] = {}

    @property
    def read(self) -> tuple[Pin, ...]:
        """A pin for every page read so far, in order of first reading."""
        return tuple(self._read)

    def page(self, query: str) -> PageView:
        """Return what the agent sees for *query*.

        Raises:
            WikiSnapshotMiss: the snapshot has no answer to it, or the recording never read it.
            PageChanged: the answer is there, but no version of it shows what the recording read.
            Corrupt: no good version is left, and some file is not what the format says.
        """
        pin, view = self._newest(query) if self._pins is None else self._pinned(query, self._pins)
        self._read[pin] = None
        return view

    def _pinned(self, query: str, pins: Mapping[str, str]) -> tuple[Pin, PageView]:
        if query not in pins:
            raise WikiSnapshotMiss(
                f"{self._site} is asked for {query!r}, which the recording never read (it read {_names(pins)}): the "
                "method takes another way than when it was recorded. See what changed in the replies, the prompt or "
                "the parsing, or record anew."
            )
        pin = Pin(self._site, query, pins[query])
        problems: list[Corrupt] = []
        found: list[Version] = []
        for root in self._roots:
            versions = versions_of(root, self._site, query, problems)
            if len(versions) > 1:
                # One whose metadata names the pin is the likely one; whether it is, its files say.
                versions.sort(key=lambda one: not self._says(one, pin))
            for version in versions:
                if self._extraction in version.metadata.views:
                    try:
                        view = version.view(self._extraction)
                    except Corrupt as problem:
                        problems.append(problem)
                        continue
                    if view.sha256 == pin.sha256:
                        return pin, view
            found += versions
            if problems or any(self._says(version, pin) for version in versions):
                break  # damaged where it stands first; an intact copy in a lower layer would hide that
        raise self._changed(pin, found, problems)

    def _says(self, version: Version, pin: Pin) -> bool:
        stored = version.metadata.views.get(self._extraction)
        return stored is not None and stored.sha256 == pin.sha256

    def _changed(self, pin: Pin, found: Sequence[Version], problems: Sequence[Corrupt]) -> Exception:
        """Return the error for a pinned page that no version shows: one altered file says more than many others."""
        for version in found:
            if self._says(version, pin):
                try:
                    altered = version.disagreement(self._extraction)
                except Corrupt as problem:
                    return problem
                if altered:
                    return PageChanged(
                        f"{altered}. The recording read it as it was (sha256 {pin.sha256[:12]}…). "
                        "Restore it (`git checkout -- <file>`), or record anew."
                    )
        if problems:
            return problems[0]
        if not found:
            return self._miss(pin.query)
        where = found[0].where
        return PageChanged(
            f"{where} answers {pin.query!r} of {self._site}, but not as the recording read it (extraction "
            f"{self._extraction!r}, sha256 {pin.sha256[:12]}…): {_counted(len(found))} that, though no file disagrees "
            "with its own metadata. The version that was read was removed, or never came along. Restore it, name the "
            "folder that holds it with --wiki-snapshot, or record anew."
        )

    def _newest(self, query: str) -> tuple[Pin, PageView]:
        problems: list[Corrupt] = []
        others: set[str] = set()
        for root in self._roots:
            for version in versions_of(root, self._site, query, problems):
                answer = version.metadata.answer
                if self._provenance not in (None, answer.provenance):
                    others.add(f"a {answer.provenance} page, and only {self._provenance} ones may be read")
                elif self._extraction not in version.metadata.views:
                    kept = ", ".join(sorted(version.metadata.views)) or "none"
                    others.add(f"a {answer.provenance} page without extraction {self._extraction!r} (it has: {kept})")
                elif altered := version.disagreement(self._extraction):
                    problems.append(Corrupt(f"{altered}. Restore it, or remove that version."))
                else:
                    view = version.view(self._extraction)
                    return Pin(self._site, query, view.sha256), view
        if problems:
            raise problems[0]
        raise self._miss(query, sorted(others))

    def _miss(self, query: str, others: Sequence[str] = ()) -> WikiSnapshotMiss:
        advice = (
            "A replay never asks the network: name the folder that holds the page with --wiki-snapshot, or record the "
            "episode anew."
        )
        return missing(self._roots, self._site, query, others, advice)


def missing(roots: Sequence[str], site: str, query: str, others: Sequence[str], advice: str) -> WikiSnapshotMiss:
    """Return the error for a query that no folder has an answer to.

    Args:
        roots, site, query: where it was looked for, and what.
        others: pages that are there and do not count, each with the reason.
        advice: what to do now.
    """
    from .entries import nearest

    looked = ", ".join(roots) or "no folder"
    near = nearest(roots, site, query)
    return WikiSnapshotMiss(
        f"The wiki snapshot has no answer of {site} to {query!r} (looked for {folder(query)} in {looked})."
        + "".join(f" There is {other}." for other in others)
        + (f" Nearest: {', '.join(map(repr, near))}. " if near else f" It has no answer of {site} like it. ")
        + advice
    )


def _names(pins: Mapping[str, str]) -> str:
    shown = ", ".join(repr(query) for query in list(pins)[:5])
    return f"{shown} and {len(pins) - 5} more" if len(pins) > 5 else shown or "no page"


def _counted(number: int) -> str:
    return "its one version does not show" if number == 1 else f"none of its {number} versions shows"
