"""Extraction `article`: the article's body, without what is no text of it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from reactrepro.domain import PageView
from reactrepro.wiki.page import parse
from reactrepro.wiki.sentences import observation, sentences

from . import mediawiki as mw


def view(page: str) -> PageView:
    """What extraction `article` makes of a page."""
    return parse(page, site="quill", query="Vorland").view("article")


@pytest.mark.case("B18")
def test_skin_furniture_is_left_out() -> None:
    """A site notice is no first sentence and a menu no hit of Lookup: only the article's body is read."""
    page = (
        '<div class="vector-sitenotice"><p>Pages for visitors learn more</p></div><div id="mw-content-text">'
        '<div class="mw-parser-output"><p><b>Vorland</b> is a town in Quill.</p></div></div>'
        "<ul><li>Main page</li></ul>"
    )
    seen = view(page)
    assert seen.text == "Vorland is a town in Quill.\n"
    assert observation(seen.text).startswith("Vorland is a town")
    assert not any("page" in sentence for sentence in sentences(seen.text))
    assert seen.flags == ("root:mw-parser-output",)
    assert seen.version == 1


@pytest.mark.case("B19")
def test_empty_and_coordinate_paragraphs_use_up_no_sentence() -> None:
    """Hatnote, empty paragraph and coordinates are left out; `[n]` stays, and "U.S. " is a sentence's end."""
    page = (
        '<div class="hatnote">For the film, see Vorland (film).</div><p class="mw-empty-elt"></p>'
        '<p><span id="coordinates">Coordinates: 1 N 2 E</span></p><p><b>Vorland</b> (<span class="IPA">/vor/</span>)'
        '<sup class="reference">[1]</sup> is a town.<sup class="reference">[2]</sup> '
        "It lies in the U.S. state of Quill.</p>"
    )
    seen = view(page)
    assert seen.text == "Vorland (/vor/)[1] is a town.[2] It lies in the U.S. state of Quill.\n"
    assert observation(seen.text) == "Vorland (/vor/)[1] is a town.[2] It lies in the U.S. state of Quill.."
    assert sentences(seen.text) == ["Vorland (/vor/)[1] is a town.[2] It lies in the U.S.", "state of Quill.."]
    assert seen.flags == ("root:body",)


@pytest.mark.parametrize(
    ("page", "root", "text"),
    [
        (mw.article("<p>It is here.</p>"), "mw-parser-output", "It is here.\n"),
        ('<p>Out of it.</p><div id="mw-content-text"><p>It is here.</p></div>', "mw-content-text", "It is here.\n"),
        ('<body class="mediawiki"><p>It is here.</p></body>', "body", "It is here.\n"),
        (
            '<div class="mw-parser-output"><p>An indicator of things</p></div>'
            '<div id="mw-content-text"><div class="x mw-parser-output"><p>It is here.</p></div></div>',
            "mw-parser-output",
            "It is here.\n",
        ),
    ],
)
def test_the_body_that_was_read_is_recorded(page: str, root: str, text: str) -> None:
    """`#mw-content-text .mw-parser-output`, else `#mw-content-text`, else the body element; the flag says which."""
    seen = view(page)
    assert (seen.text, seen.flags) == (text, (f"root:{root}",))


@pytest.mark.parametrize(
    "element",
    [
        '<span class="hatnote navigation-not-searchable">not this one</span>',
        '<i class="dablink">not this one</i>',
        '<i class="rellink">not this one</i>',
        '<span class="mw-empty-elt">not this one</span>',
        '<span class="mw-editsection">not this one</span>',
        '<span id="coordinates">not this one</span>',
        '<span class="geo-inline"><span class="geo-dms">not this one</span></span>',
        '<span class="geo-inline-hidden noexcerpt">not this one</span>',
        '<span class="plainlinks geo">not this one</span>',
        '<span class="geo-nondefault">not this one</span>',
        '<span class="geo-multi-punct">not this one</span>',
        '<span style="display:none">not this one</span>',
        '<span style="color:red; DISPLAY : NONE;">not this one</span>',
        '<span style="visibility: hidden">not this one</span>',
        "<span hidden>not this one</span>",
        '<span hidden="until-found">not this one</span>',
    ],
)
def test_elements_left_out(element: str) -> None:
    """Hidden, empty, hatnote and coordinate elements are left out with all they contain, in paragraphs and lists."""
    text = view(mw.article(f"<p>Vorland is {element}a town.</p><ul><li>a b c{element}</li></ul>")).text
    assert text == "Vorland is a town.\na b c\n"


@pytest.mark.parametrize(
    "element",
    [
        '<sup class="noprint Inline-Template">this one</sup>',
        '<span style="display:inline">this one</span>',
        '<span style="color:red;--display:none">this one</span>',
        '<span class="geography">this one</span>',
        '<span class="mw-collapsed">this one</span>',
        '<span aria-hidden="true">this one</span>',
    ],
)
def test_elements_that_stay(element: str) -> None:
    """What a reader of the page sees stays: notes of editors, folded tables, navigation inside of the article."""
    assert view(mw.article(f"<p>Vorland is {element} a town.</p>")).text == "Vorland is this one a town.\n"


def test_paragraphs_inside_of_what_is_left_out_are_left_out() -> None:
    """A hidden box takes its paragraphs along, and a table of contents its list."""
    page = mw.article(
        '<div style="display:none"><p>not this one</p></div>'
        '<div id="toc" class="toc"><ul><li>1 Not this</li></ul></div>'
        "<p>Vorland is a town.</p>"
    )
    assert view(page).text == "Vorland is a town.\n"


def test_a_formula_stands_as_its_source() -> None:
    """A formula's text is hidden and a picture shown; what stands for both is the TeX that the wiki keeps of it."""
    formula = (
        '<span class="mwe-math-element"><span class="mwe-math-mathml-inline" style="display: none;">'
        '<math alttext="{\\displaystyle E=mc^{2}}"><semantics>\n<mrow>\n<mi>E</mi>\n</mrow></semantics></math></span>'
        '<img alt="{\\displaystyle E=mc^{2}}"/></span>'
    )
    old = '<span class="mwe-math-element"><img alt="E=mc^2"/></span>'
    none = '<span class="mwe-math-element"></span>'
    page = mw.article(f"<p>It is {formula} or {old} or {none}.</p>")
    assert view(page).text == "It is {\\displaystyle E=mc^{2}} or E=mc^2 or .\n"


@given(mw.bodies)
@settings(max_examples=50)
def test_without_anything_to_leave_out_both_extractions_read_the_same(body: str) -> None:
    """Then the same rules: on a bare body without such elements and backslashes, `article` equals `original`."""
    for gone in ("hatnote", "toc", "mw-empty-elt", "coordinates", "geo-dms", "mwe-math-element", "display", "\\"):
        body = body.replace(gone, "x")
    parsed = parse(f'<div id="mw-content-text">{body}</div>', site="quill", query="Vorland")
    article, original = parsed.view("article"), parsed.view("original")
    assert (article.text, article.disambiguation) == (original.text, original.disambiguation)


@pytest.mark.case("B20")
def test_any_item_of_the_body_marks_a_disambiguation() -> None:
    """An article whose ninth list item says "may refer to:" counts as disambiguation, as in the original.

    What stands outside of the body, or is left out of it, does not.
    """
    items = "".join(f"<li>item number {i}</li>" for i in range(8))
    ninth = mw.article(f"<p>Marl is a rock.</p><ul>{items}<li>M1 may refer to: a motorway</li></ul>")
    assert view(ninth).disambiguation is True
    assert view(mw.article('<p>A rock<i class="hatnote">Marl may refer to:</i></p>')).disambiguation is False
    assert view(mw.article("<p>A rock</p>", title="x") + "<p>Marl may refer to:</p>").disambiguation is False


def test_a_no_result_page_has_nothing_to_read() -> None:
    """No text and no titles: the environment keeps its page."""
    seen = view(mw.nothing())
    assert (seen.kind, seen.text, seen.titles, seen.disambiguation) == ("nothing", None, (), False)


def test_titles_are_not_cleaned() -> None:
    """A title with a backslash passes unchanged."""
    assert view(mw.results("C:\\users", "a\\nb")).titles == ("C:\\users", "a\\nb")
