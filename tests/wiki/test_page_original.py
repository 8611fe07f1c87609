"""Extraction `original`: what the original environment reads, with BeautifulSoup's html.parser as the oracle."""

from __future__ import annotations

import pytest
from hypothesis import given

from reactrepro.domain import PageView
from reactrepro.wiki.page import parse

from . import mediawiki as mw


def view(page: str | bytes, query: str = "Vorland") -> PageView:
    """What extraction `original` makes of a page."""
    return parse(page, site="quill", query=query).view("original")


@given(mw.articles)
def test_an_article_reads_as_the_original_reads_it(page: str) -> None:
    """Text and disambiguation equal those of BeautifulSoup and the cleaning step, on all that MediaWiki emits."""
    seen = view(page)
    items = mw.original_items(page)
    assert seen.text == mw.original_text(page)
    assert seen.disambiguation == any("may refer to:" in item for item in items)
    assert (seen.kind, seen.titles) == ("article", ())


@given(mw.titles)
def test_titles_read_as_the_original_reads_them(titles: list[str]) -> None:
    """The titles of search results are cleaned and stripped; where cleaning raises, they stay as they are."""
    page = mw.results(*titles)
    expected, kept = [], False
    for title in mw.original_titles(page):
        try:
            expected.append(mw.original_clean(title))
        except UnicodeError:
            expected.append(title)
            kept = True
    seen = view(page)
    assert (seen.kind, seen.titles, seen.text) == ("results", tuple(expected), None)
    assert ("backslash_kept" in seen.flags) == kept


def test_skin_furniture_is_read_too() -> None:
    """The whole document is read, site notice and menus included, as the original does."""
    text = view(mw.article("<p><b>Vorland</b> is a town.</p>")).text
    assert text == ("Pages for visitors learn more\nVorland is a town.\nMain page of all\nAbout Quillpedia and more\n")


def test_all_paragraphs_come_before_all_lists() -> None:
    """Document order holds among paragraphs and among lists; lists follow; a nested list repeats inside its parent."""
    page = '<div class="mw-parser-output"><ul><li>one two three<ul><li>4 5 6</li></ul></li></ul><p>a b c</p></div>'
    assert view(page).text == "a b c\none two three4 5 6\n4 5 6\n"


@pytest.mark.parametrize(
    ("item", "kept"),
    [
        ("two words", False),
        ("three small words", True),
        ("two  words", True),  # two spaces make an empty piece
        ("one\u00a0two\u00a0three\u00a0four", False),  # no-break spaces separate nothing
        ("one\ntwo\nthree", False),
        ("", False),
    ],
)
def test_an_item_needs_more_than_two_pieces(item: str, kept: bool) -> None:
    """An item is kept if splitting it on single spaces gives more than two pieces."""
    assert view(f'<p class="mw-x">{item}</p>').text == (f"{item}\n" if kept else "")


def test_a_newline_right_after_pre_is_kept() -> None:
    """HTML drops it, html.parser does not, and the original is html.parser's."""
    page = '<ul class="mw-x"><li>a<pre>\nb c d</pre></li></ul>'
    assert view(page).text == mw.original_text(page) == "a\nb c d\n"


def test_a_no_result_page_is_read_as_an_article() -> None:
    """The original falls through and reads the search page's paragraphs; its kind says what it was."""
    seen = view(mw.nothing(), "Qwzx Plonk")
    assert seen.kind == "nothing"
    assert seen.text == mw.original_text(mw.nothing())
    assert "There were no results matching the query." in seen.text


def test_disambiguation_is_looked_for_before_any_filter() -> None:
    """The mark counts in any item, also in one that is too short to be kept, in this case only."""
    assert view('<p class="mw-x">may refer to:</p>').disambiguation is True  # kept: three pieces
    assert view('<p class="mw-x">x\u00a0may refer to:</p>').disambiguation is True
    assert view('<ul class="mw-x"><li>a\n</li><li>M1 may refer to: a thing</li></ul>').disambiguation is True
    assert view('<p class="mw-x">It May refer to: a thing</p>').disambiguation is False


def test_a_class_counts_among_others() -> None:
    """Any div with the class among its classes is a result; other elements with it are not."""
    assert view('<div class="a mw-search-result-heading b"> Harlow Bay </div>').titles == ("Harlow Bay",)
    assert view('<span class="mw-search-result-heading">Harlow Bay</span>').kind == "article"
    assert view('<div class="mw-search-result-headings">Harlow Bay</div>').kind == "article"


@pytest.mark.case("B44")
def test_bytes_are_utf_8_whatever_the_platform_says() -> None:
    """A page's bytes are read as UTF-8; what is none becomes U+FFFD, as in the original."""
    page = '<p class="mw-x">Ελλάδα – Łyse Górki</p>'
    assert view(page.encode()).text == view(page).text == "Ελλάδα – Łyse Górki\n"
    assert view(b'<p class="mw-x">a b \xff c</p>').text == "a b \ufffd c\n"
