"""Pages for a recording (`domain.Pages`): from the snapshot where it has them, else from a live wiki, and then kept.

What an episode reads here is what the files hold from then on: a page is written first, and read from there. Which page
of the snapshot may answer, and when the wiki is asked, is told in docs/wiki-pages.md, "Reading a live wiki".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from ..domain import PageView, Pin
from ..errors import Corrupt, InfraError, Usage, WikiSnapshotMiss
from ..visible import escaped
from . import EXTRACTIONS
from .entries import entries
from .entry import Answer
from .sites import checked_at, same_wiki
from .snapshot import missing
from .versions import Version, versions_of

if TYPE_CHECKING:
    from .live import WikiClient
    from .page import Parsed

Mode: TypeAlias = Literal["once", "new_episodes", "all", "none"]
"""When the wiki is asked, in vcrpy's words: see `LivePages`."""

MODES: tuple[Mode, ...] = get_args(Mode)


class LivePages:
    """Has a query answered for one episode of a recording.

    Only pages count that were recorded from this very wiki: never a transcribed or a scripted one.

    Args:
        client: asks the wiki; shared by all the episodes of a recording, which then ask for each query once.
        site: logical name of the wiki.
        extraction: which text is wanted (``article``, ``original``).
        root: the snapshot folder to write to, and the first to be read.
        roots: further snapshot folders to read, in order of precedence.
        mode: ``once``: a page that is there is used, one that is absent is fetched. ``new_episodes``: a page whose text
            was not made by the present version of the extraction is fetched anew, too. ``all``: every query is fetched
            anew, once for all who share the client. ``none``: nothing is fetched.
        keep_html: the HTML is kept with each page written.

    Attributes:
        read: a pin for every page read, in order of first reading.

    Raises:
        Usage: unknown mode or extraction; *site* is another wiki than the client asks, or was, when it was recorded.
    """

    def __init__(
        self,
        client: WikiClient,
        *,
        site: str,
        extraction: str,
        root: Path,
        roots: Sequence[Path] = (),
        mode: Mode = "once",
        keep_html: bool = True,
    ) -> None:
        if mode not in MODES:
            raise Usage(f"unknown wiki mode {mode!r}; known: {', '.join(MODES)}.")
        if extraction not in EXTRACTIONS:
            raise Usage(f"unknown extraction {extraction!r}; known: {', '.join(EXTRACTIONS)}.")
        self._client = client
        self._site = checked_at(site, client.base_url)
        self._extraction = extraction
        self._root = root
        self._roots = tuple(dict.fromkeys(map(str, (root, *roots))))
        self._mode = mode
        self._keep_html = keep_html
        self._read: dict[Pin, None] = {}
        client.flights.once((self._roots, site), self._check_site)

    @property
    def read(self) -> tuple[Pin, ...]:
        """A pin for every page read so far, in order of first reading."""
        return tuple(self._read)

    def page(self, query: str) -> PageView:
        """Return what the agent sees for *query*.

        Raises:
            InfraError: the wiki gave no answer; nothing was stored.
            WikiSnapshotMiss: it is not in the snapshot, and nothing may be fetched.
            Usage: the snapshot has the page from another wiki of this name.
            Corrupt: what the snapshot has cannot be read.
            OSError: the page cannot be stored.
        """
        version = None if self._mode == "all" else self._kept(query)
        if version is None:
            # One for all: what it brought is remembered, so that nobody who looked too early fetches it again.
            version = self._client.flights.once((str(self._root), self._site, query), lambda: self._fetch(query))
            if altered := self._altered(version):
                raise altered
        view = version.view(self._extraction)
        self._read[Pin(self._site, query, view.sha256)] = None
        return view

    # --- what is there ----------------------------------------------------------------------------------------------

    def _kept(self, query: str) -> Version | None:
        """Return the page as the snapshot has it, or None where it is to be fetched."""
        found = _Found()
        for root in self._roots:
            for version in versions_of(root, self._site, query, found.problems):
                self._sort(version, found)
        if found.ready:
            return found.ready[0]
        if self._mode != "new_episodes":
            derived = self._derived(query, found)
            if derived or found.older:
                return derived or found.older[0]
        if found.problems:
            raise found.problems[0]
        if self._mode == "none":
            raise self._miss(query, sorted(found.others))
        return None

    def _sort(self, version: Version, found: _Found) -> None:
        answer = version.metadata.answer
        if answer.provenance != "recorded":
            found.others.add(f"a {answer.provenance} page, and only recorded ones may be read")
            return
        self._check_wiki(answer)
        stored = version.metadata.views.get(self._extraction)
        if stored is None:
            found.others.add(f"a recorded page without extraction {self._extraction!r}, and without its HTML")
        elif altered := self._altered(version):
            found.problems.append(altered)
            return
        elif stored.version == EXTRACTIONS[self._extraction]:
            found.ready.append(version)
        else:
            found.older.append(version)
        if version.metadata.html is not None:
            found.sources.append(version)

    def _altered(self, version: Version) -> Corrupt | None:
        """Return the error where the files of *version* are not as they were written."""
        try:
            altered = version.disagreement(self._extraction)
        except Corrupt as problem:
            return problem
        return Corrupt(f"{altered}. Restore it, or remove that version.") if altered else None

    def _derived(self, query: str, found: _Found) -> Version | None:
        """Read the newest page whose HTML was kept by the present extractions, and add that as a new version."""
        for source in found.sources:
            try:
                html = source.html()
                parsed = None if html is None else self._parsed(html, query)
            except Corrupt as problem:
                found.problems.append(problem)
                continue
            except InfraError:
                continue  # by the present rules it is no page to be used
            if html is not None and parsed is not None:
                return self._written(source.metadata.answer, parsed, html)
        return None

    def _miss(self, query: str, others: Sequence[str]) -> WikiSnapshotMiss:
        advice = (
            "With wiki mode 'none' nothing is fetched: choose 'once', or name the folder that holds the page with "
            "--wiki-snapshot."
        )
        return missing(self._roots, self._site, query, others, advice)

    # --- what is fetched --------------------------------------------------------------------------------------------

    def _fetch(self, query: str) -> Version:
        fetched = self._client.fetch(query)
        try:
            parsed = self._parsed(fetched.html, query)
        except InfraError as error:
            where = escaped(fetched.final_url)[:200]
            raise InfraError(f"{error} The answer came from {where}, status {fetched.status}.") from error
        answer = Answer(
            site=self._site,
            query=query,
            kind=parsed.kind,
            provenance="recorded",
            base_url=self._client.base_url,
            asked=fetched.asked,
            redirects=fetched.redirects,
            final_url=fetched.final_url,
            status=fetched.status,
            time=fetched.time,
        )
        return self._written(answer, parsed, fetched.html)

    def _parsed(self, html: bytes, query: str) -> Parsed:
        from .page import parse

        return parse(html, site=self._site, query=query)

    def _written(self, answer: Answer, parsed: Parsed, html: bytes) -> Version:
        from .store import write_page

        known = replace(answer, kind=parsed.kind, title=parsed.title, revision=parsed.revision)
        try:
            return write_page(self._root, known, parsed.views, html if self._keep_html else None)
        except Usage as error:  # the page is too large in some way: the wiki's doing
            raise InfraError(f"{self._site} gave a page that cannot be kept: {error}") from error

    # --- whose it is ------------------------------------------------------------------------------------------------

    def _check_site(self) -> None:
        """Compare the client's wiki with that of the first recorded page of each folder."""
        for root in self._roots:
            for entry in entries([Path(root)], self._site):
                answers = [version.metadata.answer for version in entry.versions]
                if recorded := [answer for answer in answers if answer.provenance == "recorded" and answer.base_url]:
                    self._check_wiki(recorded[0])
                    break

    def _check_wiki(self, answer: Answer) -> None:
        if answer.base_url is not None and not same_wiki(answer.base_url, self._client.base_url):
            raise Usage(
                f"{self._site} was recorded from {answer.base_url}, and would now be read at {self._client.base_url}: "
                "one name for two wikis. Give this one another name, or write to another folder."
            )


@dataclass(slots=True)
class _Found:
    """Versions of a page, in the order of the folders, the newest first.

    Attributes:
        ready: read by the present extraction.
        older: read by another version of it.
        sources: those of which the HTML may have been kept.
        others: what is there and does not count, in words.
        problems: what cannot be read.
    """

    ready: list[Version] = field(default_factory=list)
    older: list[Version] = field(default_factory=list)
    sources: list[Version] = field(default_factory=list)
    others: set[str] = field(default_factory=set)
    problems: list[Corrupt] = field(default_factory=list)
