"""The cassette's bytes: what is written is read again, by both readers and by stock vcrpy."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from reactrepro.cassettes import fast, read, text, write
from reactrepro.cassettes.model import Cassette, Interaction
from reactrepro.errors import CassetteAbsent, Corrupt

from .conftest import ODD, chat, meta

Make = Callable[..., Cassette]

OTHER_BYTES = [b"", b" ", b"\n", b"\\", b'"', b"#", b"0", b"e", b":", b"  ", b"\t", b"/"]

anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=200) | st.text(" \n\\nu\"'\tab\x80", max_size=60)
answers = st.builds(lambda t: f'{{"a": {json.dumps(t, ensure_ascii=False)}}}', anything)
interactions = st.builds(
    Interaction,
    method=st.just("POST"),
    uri=st.sampled_from(["https://host.invalid/v1/chat/completions", "http://127.0.0.1:8092/v1/completions"]),
    body=st.builds(lambda t: text.body_json({"prompt": t}), anything) | anything,
    status=st.integers(200, 299),
    response=answers | anything,
)


@given(anything, st.integers(0, 10))
def test_every_text_survives_the_broken_scalar(value: str, indent: int) -> None:
    """A YAML loader reads back exactly the characters that were written, whatever they are."""
    written = f"key: {text.scalar(value, indent + 2)}\n"
    assert yaml.safe_load(written)["key"] == value
    assert yaml.load(written, Loader=yaml.CSafeLoader)["key"] == value
    assert written.isascii()


def test_a_prompt_stands_one_source_line_per_prompt_line() -> None:
    """Trailing blanks and odd characters stay visible: `types: \\\\n\\` at the end of the source line."""
    written = text.scalar(text.body_json({"prompt": "three types: \n  Search \u0080\nend"}), 6)
    assert written.split("\n") == [
        '"\\',
        "      {\\n\\",
        '      \\"prompt\\": \\"three types: \\\\n\\',
        "      \\  Search \\\\u0080\\\\n\\",
        '      end\\"\\n\\',
        '      }"',
    ]


@given(st.lists(interactions, max_size=3).map(tuple), anything)
def test_both_readers_read_what_was_written(found: tuple[Interaction, ...], question: str) -> None:
    """The fast reader and the safe YAML loader arrive at the same values, which are the written ones."""
    cassette = write.seal(meta(question=question), found)
    data = write.cassette_bytes(cassette)
    assert data.isascii()
    through_yaml = read._through_yaml(data, None)
    assert through_yaml[1] == found
    try:
        assert fast.fast(data) == through_yaml
    except fast.NotCanonical:
        beyond = "".join([question, *(i.body + i.response for i in found)])
        assert any(char > "\uffff" for char in beyond), "only characters beyond U+FFFF may need the YAML loader"
    assert read.parse_cassette(data, None) == cassette


@given(st.data())
def test_what_the_fast_reader_accepts_the_yaml_loader_reads_alike(data: st.DataObject) -> None:
    """Bytes changed, removed or inserted anywhere never make the two readers disagree on a file that both accept."""
    written = bytearray(write.cassette_bytes(write.seal(meta(), (chat(ODD[:-8], "a\n  b"), chat("x", "y")))))
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(written)))
        over = data.draw(st.integers(0, 1))
        written[at : at + over] = data.draw(st.sampled_from(OTHER_BYTES))
    try:
        quick = fast.fast(bytes(written))
    except (fast.NotCanonical, Corrupt):
        return
    assert read._through_yaml(bytes(written), None) == quick


@pytest.mark.parametrize("inserted", [b"\n", b" "], ids=["newline", "blank"])
def test_blank_space_inserted_anywhere_never_makes_the_readers_disagree(inserted: bytes) -> None:
    """All places, one by one: few of them matter, and chance finds them rarely."""
    written = write.cassette_bytes(write.seal(meta(), (chat("a\n  b", "c"),)))
    accepted = 0
    for at in range(len(written) + 1):
        changed = written[:at] + inserted + written[at:]
        try:
            quick = fast.fast(changed)
        except (fast.NotCanonical, Corrupt):
            continue
        accepted += 1
        assert read._through_yaml(changed, None) == quick
    assert accepted > 0


@given(st.data())
def test_a_file_cut_anywhere_is_corrupt(data: st.DataObject) -> None:
    """No truncation loads silently; only the final newline may be missing."""
    whole = write.cassette_bytes(write.seal(meta(), (chat("one\ntwo", "three"), chat("four", "five"))))
    cut = data.draw(st.integers(0, len(whole) - 2))
    with pytest.raises(Corrupt):
        read.parse_cassette(whole[:cut], Path("0.yaml"))
    assert read.parse_cassette(whole[:-1], None) == read.parse_cassette(whole, None)


def test_every_truncation_of_one_file_is_corrupt() -> None:
    """All of them, one by one."""
    whole = write.cassette_bytes(write.seal(meta(), (chat("one\ntwo", "three"),)))
    for cut in range(len(whole) - 1):
        with pytest.raises(Corrupt):
            read.parse_cassette(whole[:cut], Path("0.yaml"))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda t: t.replace("Action 1: Search", "Action 1: Find"), "are not the ones that were saved"),
        (lambda t: t.replace('"code": 200', '"code": 201'), "are not the ones that were saved"),
        (lambda t: t.replace("reactrepro-episode/1", "reactrepro-episode/2"), "newer reactrepro"),
        (lambda t: t.replace("reactrepro-episode/1", "something/1"), "no such file"),
        (lambda t: t.replace('"count": 2', '"count": 3'), "holds 2 interactions where it was saved with 3"),
        (lambda t: t.replace('"gold"', '"golden"'), "gold"),
        (lambda t: t.replace('"gold": "Quill",', '"gold": "Quill", "extra": 1,'), "unknown field `$.extra`"),
        (lambda t: t.replace('"index": 0', '"index": "0"'), "Expected `int | null`, got `str` - at `$.index`"),
        (lambda t: t.replace("reactrepro:", "other:"), "no block 'reactrepro'"),
        (lambda t: t.replace("version: 1\n", ""), "version 1"),
        (lambda t: t.replace("version: 1\n", "version: 2\n"), "version 1"),
        (lambda t: t.replace("version: 1\n", "more: 1\nversion: 1\n"), "unknown top-level key 'more'"),
        (lambda t: t.replace("- request:", "- question:", 1), "not in vcrpy's form"),
        (lambda t: t.replace("method: POST", "method: [1]", 1), "is not text"),
        (lambda t: "", "holds no mapping"),
        (lambda t: "[" * 60 + "]" * 60, "nested more than"),
        (lambda t: "[" * 100000, "nesting"),
        (lambda t: t + "--- {}\n", "not readable YAML"),
        (lambda t: "a: &a [x, x]\nb: [*a, *a]\n", "anchors"),
        (lambda t: "!!python/object/apply:os.system ['touch hacked']\n", "names a YAML type"),
        (lambda t: "a: !!binary aGk=\n", "names a YAML type"),
        (lambda t: "a: 2000-13-45\n", "cannot be read"),
    ],
)
def test_an_altered_file_is_corrupt_and_says_why(make: Make, change: Callable[[str], str], says: str) -> None:
    """Edited, foreign, newer or hostile files are refused with the reason."""
    whole = write.cassette_bytes(make(chat("p", "Action 1: Search[X]"), chat("q", "r"))).decode("ascii")
    changed = change(whole)
    assert changed != whole
    with pytest.raises(Corrupt) as caught:
        read.parse_cassette(changed.encode(), Path("0.yaml"))
    assert says in str(caught.value)
    assert "0.yaml" in str(caught.value)


def test_two_interactions_swapped_or_doubled_are_corrupt(make: Make) -> None:
    """Order and number are part of what was saved."""
    one, two = chat("p", "a"), chat("q", "b")
    whole = write.cassette_bytes(make(one, two))
    swapped = write.cassette_bytes(Cassette(read.parse_cassette(whole, None).meta, (two, one)))
    doubled = write.cassette_bytes(Cassette(read.parse_cassette(whole, None).meta, (one, two, two)))
    for data in (swapped, doubled):
        with pytest.raises(Corrupt):
            read.parse_cassette(data, Path("0.yaml"))


def test_bytes_that_are_not_utf8_are_corrupt(make: Make) -> None:
    """A damaged file is refused, never counted as empty."""
    with pytest.raises(Corrupt, match="not UTF-8"):
        read.parse_cassette(write.cassette_bytes(make(chat("p", "q"))) + b"# \xff\n", Path("0.yaml"))


def test_a_file_of_another_yaml_style_reads_the_same(make: Make) -> None:
    """Others may write the format in any YAML style: what counts is the value."""
    cassette = make(chat(ODD, ODD))
    data = yaml.safe_load(write.cassette_bytes(cassette))
    restyled = yaml.safe_dump(data, default_flow_style=False).encode()
    assert restyled != write.cassette_bytes(cassette)
    assert read.parse_cassette(restyled, None) == cassette


def test_an_enormous_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Size is bounded before anything is parsed."""
    monkeypatch.setattr(read, "MAX_CASSETTE", 1000)
    (tmp_path / "0.yaml").write_bytes(b"x" * 1001)
    with pytest.raises(Corrupt, match="larger than 1000 bytes"):
        read.read_cassette(tmp_path / "0.yaml")


def test_an_absent_file_is_absent_and_a_folder_is_corrupt(tmp_path: Path) -> None:
    """Absent is one thing, unreadable another."""
    with pytest.raises(CassetteAbsent, match="does not exist"):
        read.read_cassette(tmp_path / "0.yaml")
    (tmp_path / "1.yaml").mkdir()
    with pytest.raises(Corrupt, match="no ordinary file"):
        read.read_cassette(tmp_path / "1.yaml")


def test_a_failed_write_leaves_what_stood_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk costs the new bytes, never the old ones, and leaves no litter."""
    path = tmp_path / "0.yaml"
    write.replace_file(path, b"old")

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(write.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write.replace_file(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["0.yaml"]


def test_an_edited_exemplar_shows_as_few_lines(make: Make) -> None:
    """One edited line of a prompt changes one source line of each request that carries it."""
    lines = [f"line {n} of the prompt " for n in range(60)]
    old = write.cassette_bytes(make(chat("\n".join(lines), "r"))).decode().split("\n")
    lines[30] = "line 30 of the prompt, edited "
    new = write.cassette_bytes(make(chat("\n".join(lines), "r"))).decode().split("\n")
    changed = [pair for pair in zip(old, new, strict=True) if pair[0] != pair[1]]
    assert len(changed) == 2  # the line, and the hash that seals the interactions


@pytest.mark.case("B25")
@pytest.mark.parametrize("name", ["Authorization", "x-api-key", "Set-Cookie", "OpenAI-Organization"])
@pytest.mark.parametrize("side", ["request_headers", "response_headers"])
def test_a_header_that_holds_a_secret_is_refused(make: Make, side: str, name: str) -> None:
    """However it got there: exit code 5, and the value is not repeated."""
    secret = replace(chat("p", "r"), **{side: {name: ["canary-7f3a"]}})  # type: ignore[arg-type]
    with pytest.raises(Corrupt, match="holds a secret or an account") as caught:
        read.parse_cassette(write.cassette_bytes(make(secret)), Path("0.yaml"))
    assert "canary" not in str(caught.value)


def test_a_pipe_is_no_recording(tmp_path: Path) -> None:
    """A named pipe would never end; it is refused unread."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes here")
    os.mkfifo(tmp_path / "0.yaml")
    with pytest.raises(Corrupt, match="no ordinary file"):
        read.read_cassette(tmp_path / "0.yaml")
