"""HTML -> what an agent can see of it (`PageView`), once per extraction. Pure; the only module that parses HTML.

A page is read once, when it is recorded; a replay reads the text kept then and never imports this module.

* `original`: the whole document, as the original environment reads it through BeautifulSoup's ``html.parser`` (the
  oracle in the tests). Lexbor gives the same text for everything MediaWiki emits, some thirty times faster.
* `article`: the article's body only, without hidden, empty, hatnote and coordinate elements; then the same rules.

Rules, lists and the reasons for them: docs/wiki-pages.md. Whatever changes a text moves the extraction's version
(`EXTRACTIONS`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from selectolax.lexbor import LexborHTMLParser, LexborNode

from ..domain import Kind, PageView
from ..errors import InfraError, Usage
from . import EXTRACTIONS
from .cleaning import clean

MAY_REFER = "may refer to:"
"""Marks a disambiguation page: anywhere in any paragraph or list, this case only."""

HEADING = "mw-search-result-heading"
"""Class of the `div` round the title of each search result."""

HATNOTES = frozenset({"hatnote", "dablink", "rellink"})
COORDINATES = frozenset({"coordinates", "geo", "geo-inline", "geo-inline-hidden", "geo-default", "geo-nondefault"}) | {
    "geo-dms", "geo-dec", "geo-multi-punct",
}  # fmt: skip
EMPTY = frozenset({"mw-empty-elt"})
MADE_BY_WIKI = frozenset({"mw-editsection", "toc"})
LEFT_OUT = HATNOTES | COORDINATES | EMPTY | MADE_BY_WIKI
"""Classes of the elements that extraction `article` leaves out, with all they contain; hidden elements besides."""

_HIDDEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)\b", re.IGNORECASE)
_ROOTS = (("mw-parser-output", "#mw-content-text .mw-parser-output"), ("mw-content-text", "#mw-content-text"))
_UNREAD = frozenset({"style", "script", "template", "rt", "rp"})  # BeautifulSoup counts none of it as text
_ASCII_SPACES = " \n\t\f\r"
_PRE = re.compile(r"(<(?:pre|textarea|listing)\b[^>]*>)\n", re.IGNORECASE)
_REVISION = re.compile(r'"wg(?:Cur)?RevisionId":\s*([1-9][0-9]*)')
_SPECIAL = re.compile(r'"wgCanonicalSpecialPageName":\s*"([^"]*)"')
_NO_ARTICLE = re.compile(r'"wgIsArticle":\s*false')
_MEDIAWIKI = 'body.mediawiki, [class^="mw-"], [class*=" mw-"], [id^="mw-"], meta[content^="MediaWiki"]'
_SEARCH = ".searchresults, #mw-search-top-table, .mw-search-form-wrapper, body.mw-special-Search"

_Replacement: TypeAlias = Callable[[LexborNode], "str | None"]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A wiki's answer, read.

    Attributes:
        kind: what the wiki answered.
        title: the article's title as displayed, where known.
        revision: the article's revision number, where known.
        views: what an agent sees, one per extraction, in the order of `EXTRACTIONS`.
    """

    kind: Kind
    title: str | None
    revision: int | None
    views: tuple[PageView, ...]

    def view(self, extraction: str) -> PageView:
        """Return what *extraction* made of the page.

        Raises:
            Usage: there is no such extraction.
        """
        for view in self.views:
            if view.extraction == extraction:
                return view
        raise Usage(f"unknown extraction {extraction!r}; known: {', '.join(EXTRACTIONS)}")


def parse(html: bytes | str, *, site: str, query: str) -> Parsed:
    """Read a wiki's answer to *query*.

    Args:
        html: the body of an answer with status 200; bytes are UTF-8, undecodable ones become U+FFFD.
        site: logical name of the wiki.
        query: the exact query.

    Raises:
        InfraError: the page is neither an article, nor search results, nor a genuine no-result page.
    """
    if isinstance(html, bytes):
        html = html.decode("utf-8", "replace")
    html = html.encode("utf-8", "replace").decode()
    # HTML drops a newline right after these tags; html.parser, and so the original, does not.
    tree = LexborHTMLParser(_PRE.sub(r"\1\n\n", html))
    whole = _Texts(tree.root, None)
    head, body, _ = html.partition("<body")
    head = head if body else ""  # what the wiki says of the page stands in its head; text can say anything
    kind, flags = _kind(tree, whole, head, site, query)
    title = revision = None
    if kind == "article":
        title = _title(tree)
        found = _REVISION.search(head)
        revision = int(found[1]) if found else None
    views = tuple(
        PageView(
            site=site, query=query, kind=kind, extraction=name, version=EXTRACTIONS[name],
            titles=seen.titles, text=seen.text, disambiguation=seen.disambiguation, flags=flags + seen.flags,
        )
        for name, seen in (("article", _article(tree, whole, kind)), ("original", _original(whole, kind)))
    )  # fmt: skip
    return Parsed(kind=kind, title=title, revision=revision, views=views)


# --- what kind of page ----------------------------------------------------------------------------------------------


def _kind(tree: LexborHTMLParser, whole: _Texts, head: str, site: str, query: str) -> tuple[Kind, tuple[str, ...]]:
    """Return the page's kind and, where it took more than its markers to tell, a flag that says so."""
    if whole.headings:
        return "results", ()
    if _first(tree, ".mw-search-nonefound"):
        return "nothing", ()
    special = _SPECIAL.search(head)
    name = special[1] if special else None
    if name == "Search" or _first(tree, _SEARCH):
        if not query.strip() and not _first(tree, ".searchresults"):
            return "nothing", ("blank_query",)
        message = _first(tree, ".searchresults .mw-message-box, .searchresults .error, .searchresults .errorbox")
        said = f" (it says: {_Texts(message, None).all.strip()[:200]!r})" if message else ""
        reason = f"it is a search page with neither results nor the wiki's own mark of none{said}"
    elif name is not None:
        reason = f"it is the wiki's special page {name!r}"
    elif _first(tree, ".noarticletext"):
        reason = "it is the wiki's page about a missing article"
    elif _NO_ARTICLE.search(head):
        reason = "by the wiki's own word (wgIsArticle) it is no article"
    elif not tree.css_first(_MEDIAWIKI):
        reason = "nothing on it is of MediaWiki's making"
    else:
        return "article", ()
    raise InfraError(
        f"{site} answered the query {query!r} with a page that is neither an article, nor search results, nor a "
        f"genuine no-result page: {reason}. It was not shown to the model and not stored. Look at the address asked "
        "in a browser; if the wiki's markup has changed, reactrepro.wiki.page needs the new marks."
    )


def _first(tree: LexborHTMLParser, selector: str) -> LexborNode | None:
    """Return the first element outside of article text that *selector* finds: wikitext can bear any class."""
    for node in tree.css(selector):
        above: LexborNode | None = node
        while above is not None and "mw-parser-output" not in _classes(above):
            above = above.parent
        if above is None:
            return node
    return None


def _title(tree: LexborHTMLParser) -> str | None:
    heading = tree.css_first("#firstHeading")
    return (_Texts(heading, None).all.strip() or None) if heading else None


# --- the two extractions --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Seen:
    titles: tuple[str, ...] = ()
    text: str | None = None
    disambiguation: bool = False
    flags: tuple[str, ...] = ()


def _original(whole: _Texts, kind: Kind) -> _Seen:
    """Whole document, cleaned; a no-result page is read as an article."""
    cleaned = [clean(item) for item in (whole.headings if kind == "results" else _kept(whole.items))]
    texts = [text for text, _ in cleaned]
    flags = ("backslash_kept",) if any(kept for _, kept in cleaned) else ()
    if kind == "results":
        return _Seen(titles=tuple(texts), flags=flags)
    return _Seen(text=_joined(texts), disambiguation=_disambiguation(whole.items), flags=flags)


def _article(tree: LexborHTMLParser, whole: _Texts, kind: Kind) -> _Seen:
    """The article's body, nothing cleaned; a no-result page has nothing to read."""
    if kind != "article":
        return _Seen(titles=tuple(whole.headings))
    where, root = next(
        ((name, root) for name, selector in _ROOTS if (root := tree.css_first(selector))), ("body", tree.body)
    )
    body = _Texts(root, _replacement)
    return _Seen(text=_joined(_kept(body.items)), disambiguation=_disambiguation(body.items), flags=(f"root:{where}",))


def _kept(items: list[str]) -> Iterator[str]:
    """The original's filter: more than two pieces when split on single spaces (two spaces make an empty piece)."""
    return (item for item in items if item.count(" ") > 1)


def _joined(items: Iterator[str] | list[str]) -> str:
    return "".join(item + "\n" for item in items)


def _disambiguation(items: list[str]) -> bool:
    return any(MAY_REFER in item for item in items)


def _replacement(node: LexborNode) -> str | None:
    """Return what extraction `article` reads in place of *node*: None for the element itself, "" for nothing."""
    attributes = node.attributes
    classes = (attributes.get("class") or "").split()
    if "mwe-math-element" in classes:
        return _tex(node)
    if (
        "hidden" in attributes
        or _HIDDEN.search(attributes.get("style") or "")
        or attributes.get("id") in ("coordinates", "toc")
        or not LEFT_OUT.isdisjoint(classes)
    ):
        return ""
    return None


def _tex(formula: LexborNode) -> str:
    """Return a formula's TeX source: all of its text is hidden, and what is shown is a picture."""
    for tag, attribute in (("math", "alttext"), ("img", "alt")):
        element = formula.css_first(tag)
        if element and (source := element.attributes.get(attribute)):
            return source.strip()
    return ""


# --- text -----------------------------------------------------------------------------------------------------------


class _Texts:
    """The texts of one subtree, as BeautifulSoup's ``get_text().strip()`` gives them.

    One walk collects the text nodes; an element's text is a slice of them, so nested lists cost nothing extra.
    Text nodes of nothing but ASCII white space become one newline or one space, outside of `pre` and `textarea`.

    Attributes:
        items: the texts of all `p` in document order, then of all `ul`, stripped.
        headings: the texts of the search results' headings, stripped.
        all: all text, not stripped.
    """

    def __init__(self, root: LexborNode | None, replacement: _Replacement | None) -> None:
        pieces: list[str] = []
        slices: dict[str, list[list[int]]] = {"p": [], "ul": [], "div": []}
        verbatim = 0
        todo: list[LexborNode | list[int] | None] = [] if root is None else [root]
        while todo:
            node = todo.pop()
            if not isinstance(node, LexborNode):
                if node is None:
                    verbatim -= 1
                else:
                    node.append(len(pieces))
                continue
            tag = node.tag
            if tag == "-text":
                pieces.append(_collapsed(node.text_content or "", verbatim))
                continue
            if tag is None or tag in _UNREAD or (tag.startswith("-") and tag != "-document"):
                continue
            if replacement is not None and node is not root and (instead := replacement(node)) is not None:
                pieces.append(instead)
                continue
            if tag in slices and (tag != "div" or HEADING in _classes(node)):
                begun = [len(pieces)]
                slices[tag].append(begun)
                todo.append(begun)
            elif tag in ("pre", "textarea"):
                verbatim += 1
                todo.append(None)
            child = node.last_child
            while child is not None:
                todo.append(child)
                child = child.prev
        self.items = _cut(pieces, slices["p"]) + _cut(pieces, slices["ul"])
        self.headings = _cut(pieces, slices["div"])
        self.all = "".join(pieces)


def _cut(pieces: list[str], slices: list[list[int]]) -> list[str]:
    return ["".join(pieces[begin:end]).strip() for begin, end in slices]


def _collapsed(text: str, verbatim: int) -> str:
    if verbatim or text.strip(_ASCII_SPACES):
        return text
    return "\n" if "\n" in text else " " if text else ""


def _classes(node: LexborNode) -> list[str]:
    return (node.attributes.get("class") or "").split()
