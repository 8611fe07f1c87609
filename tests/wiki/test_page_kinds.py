"""Article, results, nothing, or none of them: the last is an error, never an observation."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro.errors import InfraError, Usage
from reactrepro.wiki import EXTRACTIONS
from reactrepro.wiki.page import parse

from . import mediawiki as mw


def kind(page: str, query: str = "Vorland") -> str:
    """What kind of page it is."""
    return parse(page, site="quill", query=query).kind


def test_the_three_kinds() -> None:
    """An article, search results and a genuine no-result page are told apart."""
    assert kind(mw.article("<p>Vorland is a town.</p>")) == "article"
    assert kind(mw.results("Harlow Bay")) == "results"
    assert kind(mw.nothing()) == "nothing"


@pytest.mark.case("B22")
def test_a_page_without_results_is_recognised_by_its_mark() -> None:
    """The wiki's own "none found" paragraph makes a no-result page, alone in its fragment, too."""
    fragment = (
        '<div class="searchresults"><p class="mw-search-nonefound">There were no results matching the query.</p>'
        '<p>The page "Qwzx Plonk" does not exist.</p></div>'
    )
    assert kind(fragment, "Qwzx Plonk") == "nothing"


@pytest.mark.case("B22")
@pytest.mark.parametrize(
    "inside",
    [
        '<div class="searchresults"><p>Nichts gefunden.</p></div>',
        '<div class="searchresults"><ul class="mw-search-results"><li><h3>Harlow Bay</h3></li></ul></div>',
        '<div class="searchresults"><div class="mw-message-box-error mw-message-box"><p>An error has occurred: the '
        "search request is too long.</p></div></div>",
        "",
    ],
)
def test_a_search_page_with_neither_mark_fails_loudly(inside: str) -> None:
    """A search page of which neither results nor their absence is recognised is an infra error, and says why."""
    with pytest.raises(InfraError, match="neither results nor the wiki's own mark of none") as raised:
        kind(mw.search_page(inside), "Qwzx Plonk")
    assert "'Qwzx Plonk'" in str(raised.value)
    assert ("too long" in str(raised.value)) == ("too long" in inside)


def test_the_bare_form_answers_a_blank_query() -> None:
    """A wiki answers an empty query with the form alone; that is a model's mistake and finds nothing."""
    parsed = parse(mw.search_page(""), site="quill", query=" ")
    assert (parsed.kind, parsed.view("article").flags) == ("nothing", ("blank_query",))


@pytest.mark.parametrize(
    ("page", "why"),
    [
        ("", "nothing on it is of MediaWiki's making"),
        (
            "<html><body><h1>Wikimedia Error</h1><p>Too many requests, please wait.</p></body></html>",
            "MediaWiki's making",
        ),
        ("<html><body><p>Sign in to this hotel's network first.</p></body></html>", "MediaWiki's making"),
        (
            '<div id="mw-content-text"><div class="noarticletext"><p>No text here yet.</p></div></div>',
            "missing article",
        ),
        (mw.CHROME_BEFORE.format(title="Version", special='"Version"', revision=0, article="false"), "'Version'"),
        (mw.CHROME_BEFORE.format(title="Error", special="false", revision=0, article="false"), "wgIsArticle"),
    ],
)
def test_a_page_that_is_none_of_them_is_an_infra_error(page: str, why: str) -> None:
    """An error page, a captive portal, a special page: exit code 4, nothing to read, and the reason in words."""
    with pytest.raises(
        InfraError, match="neither an article, nor search results, nor a genuine no-result page"
    ) as raised:
        kind(page)
    assert why in str(raised.value)
    assert raised.value.exit_code == 4


def test_an_article_may_bear_the_marks_of_a_search_page() -> None:
    """Wikitext can set any class: inside of an article's text the marks of search pages mean nothing."""
    assert (
        kind(mw.article('<div class="searchresults"><p class="mw-search-nonefound">A sample.</p></div>')) == "article"
    )


def test_title_and_revision_are_read_where_known() -> None:
    """Title and revision come from the page itself; a search page and a bare fragment have none."""
    parsed = parse(
        mw.article("<p>a b c</p>", title="Łyse <i>Górki</i> &amp; Co", revision=4711), site="quill", query="q"
    )
    assert (parsed.title, parsed.revision) == ("Łyse Górki & Co", 4711)
    for page in (mw.results("Harlow Bay"), mw.nothing(), '<p class="mw-x">"wgRevisionId":5 b c</p>'):
        parsed = parse(page, site="quill", query="q")
        assert (parsed.title, parsed.revision) == (None, None)


def test_every_extraction_reads_the_page() -> None:
    """There is one view for every extraction and version that the room knows; another name is a usage error."""
    parsed = parse(mw.article("<p>a b c</p>"), site="quill", query="Vorland")
    assert {view.extraction: view.version for view in parsed.views} == EXTRACTIONS
    assert {(view.site, view.query) for view in parsed.views} == {("quill", "Vorland")}
    with pytest.raises(Usage, match="unknown extraction 'plain'; known: article, original"):
        parsed.view("plain")


def test_deep_nesting_is_no_problem() -> None:
    """A page nested deeper than Python's recursion limit is read like any other."""
    page = '<div class="mw-parser-output">' + "<div>" * 5_000 + "<p>one two three</p>"
    assert parse(page, site="quill", query="q").view("article").text == "one two three\n"


markup = st.lists(
    st.sampled_from(
        ["<p class='mw-x'>", "</p>", "<ul", "<", ">", "'", "mw-", "a b c", "\x00", "\ud800", "<!--", "<pre>\n"]
    )
    | st.text(max_size=4),
    max_size=12,
).map("".join)


@given(markup | st.binary(max_size=40))
def test_any_string_is_read_or_refused(page: str | bytes) -> None:
    """Broken markup, NUL and lone surrogates raise nothing but an infra error, and give text that UTF-8 can hold."""
    with contextlib.suppress(InfraError):
        for view in parse(page, site="quill", query="q").views:
            (view.text or "").encode()
