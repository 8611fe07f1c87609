"""Page text -> observation, sentences, Lookup's list."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro.wiki.sentences import containing, observation, sentences

prose = st.lists(
    st.sampled_from(["Vorland", "D.C", ". ", ".", "! ", "? ", " ", "  ", "\n", "\u00a0", "[1]", ".. ", "İ", "a"]),
    max_size=25,
).map("".join)


def reference(text: str) -> list[str]:
    """The rule, step by step, as the spec tells it."""
    lines = text.split("\n")
    stripped = [line.strip() for line in lines]
    full = [line for line in stripped if line != ""]
    found = []
    for line in full:
        for piece in line.split(". "):
            if piece.strip() != "":
                found.append(piece.strip() + ".")
    return found


@given(prose | st.text())
def test_sentences_follow_the_rule(text: str) -> None:
    """Newlines, stripping, ". ", stripping, full stop: in that order, for any text."""
    assert sentences(text) == reference(text)
    assert observation(text) == " ".join(reference(text)[:5])


@given(prose, st.text("vorlandVORLAND .İi\u0307", max_size=4))
def test_lookup_finds_sentences_whatever_the_case(text: str, keyword: str) -> None:
    """A sentence counts if it contains the keyword, both lower-cased, its appended full stop included."""
    assert containing(text, keyword) == [one for one in reference(text) if keyword.lower() in one.lower()]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It is so.\nIt was so.\n", "It is so.. It was so.."),
        ("Fin?", "Fin?."),
        ("Stop! Go? On. Off", "Stop! Go? On. Off."),
        ("Washington D.C. Next one", "Washington D.C. Next one."),
        ("One.  Two", "One. Two."),
        ("Dr. A. B. C. D. E. F", "Dr. A. B. C. D."),
        ("a. b. c. d. e. f", "a. b. c. d. e."),
        ("a town.[1] It lies there.[2]", "a town.[1] It lies there.[2]."),
        ("Ends in U.S. Then more", "Ends in U.S. Then more."),
        (" \n\u00a0\n\t\n", ""),
        ("", ""),
        (". . .", ".."),
    ],
)
def test_examples(text: str, shown: str) -> None:
    """The rule's well-known oddities."""
    assert observation(text) == shown


@pytest.mark.case("B19")
def test_notes_and_abbreviations_are_treated_as_the_reference_treats_them() -> None:
    """`[n]` stays and keeps two sentences together; "U.S. " ends a sentence."""
    assert sentences("Vorland is a town.[2] It lies in the U.S. state of Quill.") == [
        "Vorland is a town.[2] It lies in the U.S.",
        "state of Quill..",
    ]


def test_an_empty_keyword_is_in_every_sentence() -> None:
    """Lookup of nothing walks through the page."""
    assert containing("a. b. c", "") == ["a.", "b.", "c."]
