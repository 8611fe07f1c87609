"""The original's cleaning step, guarded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro.wiki.cleaning import clean
from reactrepro.wiki.page import parse

from . import mediawiki as mw

escapes = st.lists(
    st.sampled_from(
        ["\\", "n", "x", "u", "U", "N", "{", "}", "0", "1", "4", "7", "9", "a", "é", "\n", "'", '"', "DASH"]
    )
    | st.text(max_size=3),
    max_size=12,
).map("".join)


@given(escapes | st.text(st.characters(), max_size=20))
def test_cleaning_equals_the_round_trip(text: str) -> None:
    """Where the original's round trip gives a text, this gives the same, without a warning; else the text itself."""
    try:
        expected = mw.original_clean(text), False
    except UnicodeError:
        expected = text, True
    assert clean(text) == expected


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("Łyse Górki – ゾーイ 🐈", "Łyse Górki – ゾーイ 🐈"),
        (r"a\nb", "a\nb"),
        (r"\101 \x41 \"", 'A A "'),
        (r"\xc3\xa9", "é"),
        (r"\s \d \  \% \8", r"\s \d \  \% \8"),
        (r"\frac{1}{2}", "\x0crac{1}{2}"),
    ],
)
def test_what_the_round_trip_changes(text: str, cleaned: str) -> None:
    """Text without a backslash is left alone; escapes of a Python string literal are read, unknown ones kept."""
    assert clean(text) == (cleaned, False)


@pytest.mark.parametrize(
    "text", ["ends \\", r"C:\users", r"\xe9", r"\u20ac", r"\N{EN DASH}", r"\ud83d", r"\400", "\ud83d"]
)
def test_where_the_round_trip_raises_text_is_kept(text: str) -> None:
    """A text at which the original raised is kept, and said to be."""
    with pytest.raises(UnicodeError):
        mw.original_clean(text)
    assert clean(text) == (text, True)


B21 = [
    r"Config lives in C:\users\xu here today.",
    r"The escape \ud83d is invalid alone.",
    r"Written as \frac{1}{2} of it – naïve.",
    "It ends with a \\",
]


@pytest.mark.case("B21")
def test_backslashes_pass_through_an_article() -> None:
    """Extraction `article` cleans nothing: backslashes and other scripts come through, without a flag."""
    parsed = parse(mw.article("".join(f"<p>{text}</p>" for text in B21)), site="quill", query="Vorland")
    seen = parsed.view("article")
    assert seen.text == "".join(text + "\n" for text in B21)
    assert "backslash_kept" not in seen.flags


@pytest.mark.case("B21")
@pytest.mark.parametrize("text", B21)
def test_the_historic_cleaning_is_guarded_and_flagged(text: str) -> None:
    """Extraction `original` cleans as the original did; where that raised, the text stays and the view says so."""
    seen = parse(f'<p class="mw-x">{text}</p>', site="quill", query="Vorland").view("original")
    cleaned, kept = clean(text)
    assert seen.text == cleaned + "\n"
    assert seen.flags == (("backslash_kept",) if kept else ())
    assert kept == ("frac" not in text)


def test_what_is_left_out_is_never_cleaned() -> None:
    """An item too short to be kept cannot raise, and so sets no flag."""
    seen = parse('<p class="mw-x">ends \\</p><p>three more words</p>', site="quill", query="q").view("original")
    assert (seen.text, seen.flags) == ("three more words\n", ())
