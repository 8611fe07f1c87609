"""Search, Lookup and Finish over a wiki, with all of the original environment's observation rules. Pure.

Rules and the deliberate differences from the original: docs/wiki-pages.md. Whether a page comes from the snapshot or
from a live wiki is the business of the `domain.Pages` given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..domain import Observation, Pages, PageView
from ..judged import JudgedEnv
from .sentences import WINDOW, containing, observation

NO_MORE = "No more results.\n"
"""Lookup's observation past the last hit, without any hit, and before any page."""

EMPTY_ARTICLE = "The page found for {} has no text to read."
"""Search's observation of an article of which nothing is left to read (the original shows an empty string)."""


class WikiEnv(JudgedEnv):
    """The paper's Wikipedia environment (`domain.Environment`).

    Args:
        pages: has queries answered.
        opening: the initial observation ("Question: ...").
        judge: answer to reward, 1 or 0.

    Observation flags: those of the page read ("backslash_kept"); "disambiguation" where the query was asked again in
    brackets; "no_results" for a genuine no-result page; "empty_article" for `EMPTY_ARTICLE`.
    """

    def __init__(self, pages: Pages, opening: str, judge: Callable[[str], float]) -> None:
        super().__init__(opening, judge)
        self._pages = pages
        self._page: str | None = None
        self._keyword: str | None = None
        self._hits: Sequence[str] = ()
        self._shown = 0

    def reset(self) -> str:
        """Begin the episode anew, without a page; return the initial observation."""
        self._page = None
        self._forget_lookup()
        return super().reset()

    def search(self, argument: str) -> Observation:
        """Answer ``search[argument]``: the first sentences of the page found, or similar titles.

        A page that says "may refer to:" is asked for once more, in brackets; whatever that brings is taken.

        Raises:
            ReactReproError: `Pages.page` did; page and lookup state are as before.
        """
        asked, view = argument, self._pages.page(argument)
        flags = _flags(view)
        if _is_read(view) and view.disambiguation:
            asked = f"[{argument}]"
            view = self._pages.page(asked)
            flags = ("disambiguation", *_flags(view))
        if not _is_read(view):
            return Observation(f"Could not find {asked}. Similar: {list(view.titles[:WINDOW])}.", flags=flags)
        page = view.text or ""
        text = observation(page)
        if not text and view.extraction != "original":
            text, flags = EMPTY_ARTICLE.format(asked), (*flags, "empty_article")
        self._page = page
        self._forget_lookup()
        return Observation(text, flags=flags)

    def lookup(self, argument: str) -> Observation:
        """Answer ``lookup[argument]``: the next sentence of the current page that contains it."""
        if argument != self._keyword:
            self._keyword = argument
            self._hits = containing(self._page, argument) if self._page is not None else []
            self._shown = 0
        if self._shown >= len(self._hits):
            return Observation(NO_MORE)
        self._shown += 1
        return Observation(f"(Result {self._shown} / {len(self._hits)}) {self._hits[self._shown - 1]}")

    def _forget_lookup(self) -> None:
        self._keyword = None
        self._hits = ()
        self._shown = 0


def _is_read(view: PageView) -> bool:
    """Tell whether *view* is read as an article; extraction `original` reads a no-result page as one, too."""
    return view.kind != "results" and view.text is not None


def _flags(view: PageView) -> tuple[str, ...]:
    """Return what the agent's reader should know of *view*; where its text was found is of no interest in a step."""
    flags = tuple(flag for flag in view.flags if not flag.startswith("root:"))
    return (*flags, "no_results") if view.kind == "nothing" else flags
