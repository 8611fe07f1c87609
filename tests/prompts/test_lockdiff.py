"""Differences between prompts that one can read."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro.prompts.lockdiff import visible, visible_diff


def test_equal_texts_do_not_differ() -> None:
    """No difference is no text."""
    assert visible_diff("a\n", "a\n") == ""


def test_the_form() -> None:
    """Head, hunk, context, both sides, and the character that differs, by name."""
    assert visible_diff("one\ntwo \nthree\nfour\n", "one\ntwo\nthree\nfour\n", names=("a", "b")) == (
        "--- a\n+++ b\n@@ -1,3 +1,3 @@\n one\n-two\\x20\n+two\n"
        "? column 4: the end of the line in place of U+0020 SPACE\n three\n"
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a b", "a b"),
        ("a  ", r"a\x20\x20"),
        ("\t", r"\x09"),
        ("a\xa0b\u200b", r"a\xa0b\u200b"),
        ("e\u0301", r"e\u0301"),
        (r"\x20", r"\\x20"),
        ("\U000e0001", r"\U000e0001"),
        ("\ud800", r"\ud800"),
        ("–", "–"),
    ],
)
def test_what_cannot_be_seen_is_escaped(text: str, shown: str) -> None:
    """Blanks at the end, controls, formats, combining marks and surrogates are escapes; letters are not."""
    assert visible(text) == shown


def test_changes_far_apart_are_hunks_of_their_own() -> None:
    """Between distant changes nothing is printed."""
    old = [str(n) for n in range(30)]
    new = ["x" if n in (3, 20) else str(n) for n in range(30)]
    diff = visible_diff("\n".join(old), "\n".join(new))
    assert diff.count("@@ -") == 2
    assert " 10\n" not in diff


def test_a_long_line_is_trimmed_around_its_change() -> None:
    """Of a line of 10,000 characters the surroundings of the change are printed."""
    old = "a" * 5000 + "b" + "c" * 5000
    diff = visible_diff(old, old.replace("b", "d"))
    assert "-[...]" + "a" * 48 + "b" + "c" * 48 + "[...]" in diff
    assert len(diff) < 500


@given(st.text("ab \n"), st.text("ab \n"))
def test_every_difference_is_shown(old: str, new: str) -> None:
    """Two texts that differ have a diff with at least one changed line, and its lines rebuild no third text."""
    diff = visible_diff(old, new)
    assert (diff == "") == (old == new)
    if diff:
        assert any(line.startswith(("-", "+")) for line in diff.split("\n")[2:])


def test_time_and_length_are_bounded() -> None:
    """Texts of a megabyte, in many lines or in one, cost little and print little."""
    begun = time.process_time()
    for old, new in [
        ("a\n" * 300_000, "b\n" * 300_000),
        ("a" * 1_000_000, "b" * 1_000_000),
        ("\n".join(map(str, range(100_000))), "\n".join(map(str, range(1, 100_001)))),
    ]:
        assert len(visible_diff(old, new)) < 20_000
    assert time.process_time() - begun < 5
