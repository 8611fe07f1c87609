"""Writing answers: versions are added, whole or not at all, and never changed."""

from __future__ import annotations

import gzip
import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reactrepro.cassettes.write import replace_file as write_whole
from reactrepro.domain import PageView
from reactrepro.errors import Corrupt, Usage
from reactrepro.wiki import store
from reactrepro.wiki.entry import Answer
from reactrepro.wiki.page import parse
from reactrepro.wiki.snapshot import SnapshotPages
from reactrepro.wiki.store import write_page

from . import mediawiki as mw
from .samples import HARD, answer, files, view, write


def test_what_is_written_reads_back_equal(tmp_path: Path) -> None:
    """Every view of a recorded page comes back as it was, and the HTML beside it byte for byte."""
    html = mw.article("<p>Łyse Górki – it's \\here.</p>\n").encode()
    parsed = parse(html, site="quill", query="[Łyse]")
    known = answer(
        "[Łyse]", title=parsed.title, revision=parsed.revision, status=200, redirects=("https://a.example/",)
    )
    version = write_page(tmp_path, known, parsed.views, html)
    for expected in parsed.views:
        pages = SnapshotPages([tmp_path], "quill", expected.extraction)
        assert pages.page("[Łyse]") == expected
    assert version.metadata.answer == known
    assert version.html() == html


def test_the_files(tmp_path: Path) -> None:
    """One folder for site and query; in it metadata, a text per extraction, HTML without time or name in its gzip."""
    version = write_page(tmp_path, answer(), [view(), view("a\n", extraction="original")], b"<p>x</p>")
    stem = f"quill/vorland-e5a6e9a76ee6/{version.stem}"
    found = files(tmp_path)
    assert sorted(found) == sorted([f"{stem}.json", f"{stem}.article.txt", f"{stem}.original.txt", f"{stem}.html.gz"])
    assert found[f"{stem}.article.txt"] == b"Vorland is a town.\n"
    packed = found[f"{stem}.html.gz"]
    assert gzip.decompress(packed) == b"<p>x</p>"
    assert packed[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"


def test_the_metadata(tmp_path: Path) -> None:
    """Readable ASCII JSON in a fixed key order, a newline at its end, named by its own hash."""
    import hashlib

    version = write_page(tmp_path, answer("Łyse"), [view(query="Łyse", titles=("ゾ",))])
    data = version.path.read_bytes()
    assert data.isascii()
    assert data.endswith(b"}\n")
    assert version.stem == hashlib.sha256(data).hexdigest()[:12]
    form = json.loads(data)
    assert list(form) == [
        "format", "site", "query", "kind", "title", "revision", "time", "provenance", "filled_in", "base_url", "asked",
        "redirects", "final_url", "status", "views", "html",
    ]  # fmt: skip
    assert form["format"] == "reactrepro-page/1"
    assert form["views"]["article"]["sha256"] == view(query="Łyse", titles=("ゾ",)).sha256


def test_writing_the_same_again_changes_nothing(tmp_path: Path) -> None:
    """The same answer is the same version: nothing is added, nothing touched."""
    first = write_page(tmp_path, answer(), [view()], b"<p>x</p>")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    assert write_page(tmp_path, answer(), [view()], b"<p>x</p>").stem == first.stem
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_another_answer_is_another_version(tmp_path: Path) -> None:
    """Versions are added; those that stand there keep every byte."""
    write(tmp_path)
    before = files(tmp_path)
    write(tmp_path, "Vorland was a town.\n", "2026-12-01T00:00:00Z")
    after = files(tmp_path)
    assert before.items() <= after.items()
    assert len(after) == 2 * len(before)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """A file of that version with other contents is an error, not something to repair silently; an absent one is."""
    version = write(tmp_path)
    version.text_path("article").write_bytes(b"Vorland is a city.\n")
    with pytest.raises(Corrupt, match="other contents"):
        write(tmp_path)
    assert version.text_path("article").read_bytes() == b"Vorland is a city.\n"
    version.text_path("article").unlink()
    write(tmp_path)
    assert version.text_path("article").read_bytes() == b"Vorland is a town.\n"


def test_the_metadata_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped at any moment, a write leaves whole files only, and no metadata without its texts."""
    done: list[str] = []

    def stop_after(number: int) -> None:
        def replace_file(path: Path, data: bytes) -> None:
            if len(done) == number:
                raise OSError(28, "No space left on device")
            done.append(path.suffix)
            write_whole(path, data)

        done.clear()
        monkeypatch.setattr(store, "replace_file", replace_file)

    for number in range(4):
        root = tmp_path / str(number)
        stop_after(number)
        with pytest.raises(OSError, match="No space"):
            write_page(root, answer(), [view(), view("a\n", extraction="original")], b"<p>x</p>")
        assert done == [".gz", ".txt", ".txt", ".json"][:number]
        assert not list(root.rglob("*.json"))
    stop_after(4)
    write_page(tmp_path, answer(), [view(), view("a\n", extraction="original")], b"<p>x</p>")
    assert done == [".gz", ".txt", ".txt", ".json"]


def test_two_recorders_at_once(tmp_path: Path) -> None:
    """Eight threads that write the same and different answers to one query leave every version whole."""
    start = threading.Barrier(8)
    problems: list[BaseException] = []

    def record(number: int) -> None:
        try:
            start.wait()
            for turn in range(5):
                write(tmp_path, f"Vorland is town {number % 4}.\n", f"2026-11-30T19:22:{turn:02}Z")
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=record, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len(list(tmp_path.rglob("*.json"))) == 20
    assert not list(tmp_path.rglob("*.tmp"))
    for number in range(4):
        pin = view(f"Vorland is town {number}.\n")
        assert SnapshotPages([tmp_path], "quill", "article", {"Vorland": pin.sha256}).page("Vorland") == pin


@given(st.text(st.characters(), max_size=60) | st.sampled_from(HARD), st.text(max_size=40))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_query_and_text_stay_inside_and_come_back(tmp_path: Path, query: str, text: str) -> None:
    """Whatever the query holds, its files stand two folders below the root, and give back what was written."""
    root = tmp_path / "root"
    version = write(root, text, query=query)
    assert version.path.parent.parent == root / "quill"
    assert SnapshotPages([root], "quill", "article", {query: view(text, query).sha256}).page(query) == view(text, query)
    assert [path for path in tmp_path.iterdir() if path != root] == []


@pytest.mark.case("B44")
def test_text_is_utf_8_to_the_byte(tmp_path: Path) -> None:
    """No newline is translated, no byte order mark added or eaten, whatever the platform's encoding is."""
    text = "\ufeffΕλλάδα – a\r\nb\rc\u2028d\x85e\n"
    version = write(tmp_path, text)
    assert version.text_path("article").read_bytes() == text.encode("utf-8")
    assert SnapshotPages([tmp_path], "quill", "article").page("Vorland").text == text


def test_credentials_are_left_out(tmp_path: Path) -> None:
    """User names and passwords in URLs are not written."""
    url = "https://user:canary@quill.example/w/index.php?search=Vorland#top"
    write_page(tmp_path, answer(base_url=url, asked=url, final_url=url, redirects=(url,)), [view()])
    everything = b"".join(files(tmp_path).values())
    assert b"canary" not in everything
    assert everything.count(b"https://quill.example/w/index.php?search=Vorland") == 4


@pytest.mark.parametrize(
    ("known", "views"),
    [
        (answer(), []),
        (answer(), [view(), view("other\n")]),
        (answer(), [view(query="Other")]),
        (answer(), [view(kind="nothing")]),
        (answer(), [view(site="enwiki")]),
        (answer(), [view(extraction="../x")]),
        (answer(), [view("lone \ud800 surrogate")]),
        (replace(answer(), site="../x"), [view(site="../x")]),
        (answer(time="yesterday"), [view()]),
        (answer(provenance="guessed"), [view()]),
        (answer(kind="page"), [view(kind="page")]),
        (answer(filled_in=("weather",)), [view()]),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, known: Answer, views: list[PageView]) -> None:
    """A record whose parts contradict each other or the format is a usage error, and leaves nothing behind."""
    with pytest.raises(Usage):
        write_page(tmp_path, known, views)
    assert list(tmp_path.iterdir()) == []


def test_html_may_be_left_out(tmp_path: Path) -> None:
    """Where the HTML does not travel along, the version reads as before."""
    version = write_page(tmp_path, answer(), [view()], b"<p>x</p>")
    version.html_path.unlink()
    assert version.html() is None
    assert SnapshotPages([tmp_path], "quill", "article").page("Vorland") == view()
    version.html_path.write_bytes(gzip.compress(b"<p>y</p>"))
    with pytest.raises(Corrupt, match="is not the HTML"):
        version.html()
    version.html_path.write_bytes(b"no gzip")
    with pytest.raises(Corrupt, match="cannot be unpacked"):
        version.html()
