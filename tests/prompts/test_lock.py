"""`prompts.lock`: a format that can be read in a diff, and that nothing but `accept` writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro import prompts
from reactrepro.errors import Corrupt, FormatNewer
from reactrepro.prompts.lock import FORMAT, Locked, parse, read, to_text

NAMES = st.from_regex(r"[a-z0-9][a-z0-9_-]{0,8}", fullmatch=True)
HASHES = st.from_regex(r"[0-9a-f]{64}", fullmatch=True)
FILES = st.lists(st.tuples(NAMES.map(lambda name: f"{name}.txt"), HASHES), max_size=2).map(tuple)
LINES = st.lists(
    st.builds(Locked, st.tuples(NAMES, NAMES, NAMES).map("/".join), HASHES, FILES),
    max_size=5,
    unique_by=lambda x: x.name,
)
PAPER = Locked.of(prompts.load("hotpotqa", "react", "paper"))


@given(LINES)
def test_what_is_written_is_read_again(lines: list[Locked]) -> None:
    """Whatever the order, the text is the same, and it holds every prompt."""
    text = to_text(lines)
    assert text == to_text(reversed(lines))
    assert parse(text) == {line.name: line for line in lines}
    assert text.isascii()
    assert parse(text.replace("\n", "\r\n")) == parse(text)


def test_a_prompt_is_a_line_that_sha256sum_could_have_printed() -> None:
    """One line for all that is sent, and below it one for each file."""
    assert to_text([PAPER]).split("\n") == [
        "reactrepro-prompts/1",
        "e52ba17b32d98144c4ee3f95f3cd5a2fec2016629219427f8aa9ddcfbdcc3fdf  hotpotqa/paper/react",
        "  e876b72e2e1682222edbc4277ce1a0c32317363a0067c33f43b4dd6bdb756d85  react.instruction.txt",
        "  eaaf8cea09f27f1080eba6df63bb8a744bb84be09acee6c7f81a9d2f9619fb12  react.txt",
        "",
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no lock of prompts"),
        ("something/1\n", "no lock of prompts"),
        (to_text([PAPER])[:-1], "truncated"),
        (to_text([PAPER]) + "e52b  hotpotqa/paper/act\n", "line 5 is neither"),
        (to_text([PAPER]) + "\n", "line 5 is neither"),
        (f"{FORMAT}\n  {'0' * 64}  react.txt\n", "line 2 is neither"),
        (f"{FORMAT}\n" + f"{'0' * 64}  a/b/c\n" * 2, "line 3 names a prompt for the second time"),
        (f"{FORMAT}\n{'0' * 64}  ../../etc/passwd\n", "line 2 is neither"),
        (to_text([PAPER]) + "=======\n", "merge conflict on line 5"),
    ],
)
def test_anything_else_is_refused(text: str, says: str) -> None:
    """Cut short, edited, doubled or merged badly: said with the line."""
    with pytest.raises(Corrupt, match=says):
        parse(text, Path("prompts.lock"))


def test_a_newer_version_is_told_apart() -> None:
    """It is no damage: reactrepro is too old for it."""
    with pytest.raises(FormatNewer, match="update reactrepro"):
        parse("reactrepro-prompts/2\nwhatever", Path("prompts.lock"))


def test_no_file_is_no_lock(tmp_path: Path) -> None:
    """None, which is not an empty lock; and what is no text is refused."""
    assert read(tmp_path / "prompts.lock") is None
    (tmp_path / "prompts.lock").write_bytes(b"reactrepro-prompts/1\n")
    assert read(tmp_path / "prompts.lock") == {}
    (tmp_path / "prompts.lock").write_bytes(b"reactrepro-prompts/1\n\xff\n")
    with pytest.raises(Corrupt, match="not ASCII"):
        read(tmp_path / "prompts.lock")
    with pytest.raises(Corrupt, match="cannot be read"):
        read(tmp_path)
