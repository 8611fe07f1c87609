"""Pages from the snapshot: pinned, layered, and loud when something is not as it was."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reactrepro.domain import Pages, Pin
from reactrepro.errors import Corrupt, PageChanged, Usage, WikiSnapshotMiss
from reactrepro.wiki.entries import entries, find, nearest
from reactrepro.wiki.env import WikiEnv
from reactrepro.wiki.page import parse
from reactrepro.wiki.snapshot import SnapshotPages
from reactrepro.wiki.store import write_page

from . import mediawiki as mw
from .samples import MARL, action, answer, view, write

PIN = view().sha256


def pages(*roots: Path, pins: dict[str, str] | None = None, **more: str) -> SnapshotPages:
    """The snapshot of the site quill, extraction `article`."""
    return SnapshotPages(roots, "quill", "article", pins, **more)


# --- pins -----------------------------------------------------------------------------------------------------------


def test_it_is_pages(tmp_path: Path) -> None:
    """A pinned page comes back equal to what was written, and is noted as read."""
    write(tmp_path)
    snapshot: Pages = pages(tmp_path, pins={"Vorland": PIN})
    assert snapshot.page("Vorland") == view()


def test_a_refresh_never_changes_an_old_run(tmp_path: Path) -> None:
    """However many versions are added, a pin gets the one it names; without pins the newest is given."""
    write(tmp_path, time="2026-01-01T00:00:00Z")
    for month in range(2, 7):
        write(tmp_path, f"Vorland in month {month}.\n", f"2026-{month:02}-01T00:00:00Z")
    assert pages(tmp_path, pins={"Vorland": PIN}).page("Vorland") == view()
    assert pages(tmp_path).page("Vorland").text == "Vorland in month 6.\n"


@pytest.mark.case("B18")
def test_an_old_extraction_version_replays_unchanged(tmp_path: Path) -> None:
    """The extraction's version is part of the pin, and the text is kept: a newer extraction changes nothing."""
    old = view("Pages for visitors learn more\n", version=0)
    write_page(tmp_path, answer(), [old])
    write(tmp_path, time="2027-01-01T00:00:00Z")
    assert pages(tmp_path, pins={"Vorland": old.sha256}).page("Vorland") == old
    assert old.sha256 != view("Pages for visitors learn more\n").sha256


def test_pages_read_are_noted_in_order(tmp_path: Path) -> None:
    """Each page once, in order of first reading; a miss is not noted."""
    write(tmp_path)
    write(tmp_path, "Bays.\n", query="Harlow Bay")
    snapshot = pages(tmp_path)
    for query in ("Harlow Bay", "Vorland", "Harlow Bay", "Nowhere"):
        try:
            snapshot.page(query)
        except WikiSnapshotMiss:
            assert query == "Nowhere"
    assert snapshot.read == (
        Pin("quill", "Harlow Bay", view("Bays.\n", "Harlow Bay").sha256),
        Pin("quill", "Vorland", PIN),
    )


@pytest.mark.case("B20")
def test_both_queries_of_a_disambiguation_are_pages(tmp_path: Path) -> None:
    """The bare query and the bracketed one are two entries, and both are pinned."""
    for query, html in (("Marl", MARL), ("[Marl]", mw.results("Marl (rock)"))):
        parsed = parse(html, site="quill", query=query)
        write_page(tmp_path, answer(query, kind=parsed.kind), parsed.views)
    recording = pages(tmp_path)
    shown = WikiEnv(recording, "Question: ?", lambda answer: 0).step(action("search[Marl]"))
    pins = {pin.query: pin.sha256 for pin in recording.read}
    assert list(pins) == ["Marl", "[Marl]"]
    replayed = WikiEnv(pages(tmp_path, pins=pins), "Question: ?", lambda answer: 0).step(action("search[Marl]"))
    assert replayed == shown


# --- layers ---------------------------------------------------------------------------------------------------------


def test_a_pin_is_looked_for_in_every_root(tmp_path: Path) -> None:
    """A local answer laid over the packaged one never hides the version that a recording read."""
    local, packaged = tmp_path / "local", tmp_path / "packaged"
    write(local, "Vorland is a city.\n")
    write(packaged)
    assert pages(tmp_path / "absent", local, packaged, pins={"Vorland": PIN}).page("Vorland") == view()
    assert pages(local, packaged).page("Vorland").text == "Vorland is a city.\n"
    assert pages(packaged, local).page("Vorland").text == "Vorland is a town.\n"


def test_a_good_copy_below_does_not_hide_a_broken_one(tmp_path: Path) -> None:
    """An edited or unreadable version is an error where it stands, although another root has what was pinned."""
    edited, broken, packaged = tmp_path / "edited", tmp_path / "broken", tmp_path / "packaged"
    write(edited).text_path("article").write_bytes(b"edited\n")
    write(broken, time="2026-01-01T00:00:00Z").path.write_bytes(b"{")
    write(packaged)
    with pytest.raises(PageChanged, match="was cut short"):
        pages(edited, packaged, pins={"Vorland": PIN}).page("Vorland")
    with pytest.raises(Corrupt):
        pages(broken, packaged, pins={"Vorland": PIN}).page("Vorland")
    assert pages(packaged, edited, broken, pins={"Vorland": PIN}).page("Vorland") == view()


def test_only_recorded_pages_may_be_asked_for(tmp_path: Path) -> None:
    """A live recording reads recorded pages only: a transcribed excerpt never answers it."""
    write_page(tmp_path, answer(provenance="transcribed"), [view("excerpt\n")])
    assert pages(tmp_path).page("Vorland").text == "excerpt\n"
    with pytest.raises(WikiSnapshotMiss, match="a transcribed page, and only recorded ones may be read"):
        pages(tmp_path, provenance="recorded").page("Vorland")
    write(tmp_path, time="2000-01-01T00:00:00Z")
    assert pages(tmp_path, provenance="recorded").page("Vorland") == view()


def test_a_site_is_not_another(tmp_path: Path) -> None:
    """Pages of another wiki never answer."""
    write(tmp_path)
    with pytest.raises(WikiSnapshotMiss):
        SnapshotPages([tmp_path], "enwiki", "article").page("Vorland")
    with pytest.raises(Usage):
        SnapshotPages([tmp_path], "../quill", "article")


# --- misses ---------------------------------------------------------------------------------------------------------


def test_a_miss_names_the_nearest(tmp_path: Path) -> None:
    """It says what was asked of whom, where it looked, what is like it, and what to do; exit code 3."""
    for query in ("Harlow Bay", "Harlow Bay (band)", "Harlow", "Marl", "Quill"):
        write(tmp_path, query=query)
    with pytest.raises(WikiSnapshotMiss) as raised:
        pages(tmp_path).page("Harlow Bai")
    message = str(raised.value)
    assert "no answer of quill to 'Harlow Bai'" in message
    assert "Nearest: 'Harlow Bay', 'Harlow', 'Harlow Bay (band)'." in message
    assert str(tmp_path) in message
    assert "never asks the network" in message
    assert raised.value.exit_code == 3


def test_a_miss_in_an_empty_snapshot(tmp_path: Path) -> None:
    """No root, an empty root and an absent one: a miss, too."""
    for roots in ([], [tmp_path], [tmp_path / "absent"]):
        with pytest.raises(WikiSnapshotMiss, match="It has no answer of quill like it"):
            pages(*roots).page("Vorland")


def test_a_page_without_the_extraction_is_a_miss(tmp_path: Path) -> None:
    """A transcribed page has text only for the extraction it was published under."""
    write_page(tmp_path, answer(provenance="transcribed"), [view(extraction="original")])
    with pytest.raises(WikiSnapshotMiss, match=r"without extraction 'article' \(it has: original\)"):
        pages(tmp_path).page("Vorland")


def test_a_query_that_was_not_recorded_is_a_miss(tmp_path: Path) -> None:
    """With pins, a page that is there but was never read by the recording does not answer."""
    write(tmp_path)
    with pytest.raises(WikiSnapshotMiss, match="which the recording never read \\(it read 'Harlow Bay'\\)"):
        pages(tmp_path, pins={"Harlow Bay": PIN}).page("Vorland")


def test_a_pinned_page_that_is_gone_is_a_miss(tmp_path: Path) -> None:
    """The whole entry removed: absent, exit code 3."""
    shutil.rmtree(write(tmp_path).path.parent)
    with pytest.raises(WikiSnapshotMiss, match="no answer of quill to 'Vorland'"):
        pages(tmp_path, pins={"Vorland": PIN}).page("Vorland")


# --- changes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"Vorland is a tawn.\n", "was edited: its 19 bytes are not the 19"),
        (b"Vorland is a town.\r\n", "was edited"),
        (b"Vorland is a town.", "was cut short: 18 bytes of 19"),
        (b"", "was cut short: 0 bytes of 19"),
        (b"\xef\xbb\xbfVorland is a town.\n", "was edited"),
    ],
)
def test_an_edited_text_is_a_changed_page(tmp_path: Path, data: bytes, says: str) -> None:
    """It says which file no longer agrees with its metadata, how, and what to do; exit code 1."""
    path = write(tmp_path).text_path("article")
    path.write_bytes(data)
    with pytest.raises(PageChanged) as raised:
        pages(tmp_path, pins={"Vorland": PIN}).page("Vorland")
    assert f"{path} {says}" in str(raised.value)
    assert "Restore it" in str(raised.value)
    assert raised.value.exit_code == 1
    with pytest.raises(Corrupt):
        pages(tmp_path).page("Vorland")


@pytest.mark.parametrize(
    ("key", "value"), [("kind", "nothing"), ("titles", ["Harlow Bay"]), ("disambiguation", True), ("version", 2)]
)
def test_edited_metadata_is_a_changed_page(tmp_path: Path, key: str, value: object) -> None:
    """Whatever of the metadata an agent could see is part of the hash."""
    path = write(tmp_path).path
    form = json.loads(path.read_bytes())
    (form if key == "kind" else form["views"]["article"])[key] = value
    path.write_text(json.dumps(form), encoding="utf-8")
    with pytest.raises(PageChanged, match=r"\.json was edited"):
        pages(tmp_path, pins={"Vorland": PIN}).page("Vorland")


def test_what_no_agent_sees_may_change(tmp_path: Path) -> None:
    """Title, time and the like are no part of the pin, and neither is the hash that the metadata says."""
    path = write(tmp_path).path
    form = json.loads(path.read_bytes())
    form.update(title="Vorland!", time=None, status=203)
    form["views"]["article"]["sha256"] = "0" * 64
    path.write_text(json.dumps(form), encoding="utf-8")
    assert pages(tmp_path, pins={"Vorland": PIN}).page("Vorland") == view()


def test_other_versions_only_is_a_changed_page(tmp_path: Path) -> None:
    """No file is broken, but what was read is not among the versions: the message says so."""
    write(tmp_path, "Vorland is a city.\n")
    with pytest.raises(PageChanged, match="its one version does not show that, though no file disagrees"):
        pages(tmp_path, pins={"Vorland": PIN}).page("Vorland")
    write(tmp_path, "Vorland is a village.\n")
    with pytest.raises(PageChanged, match="none of its 2 versions shows that"):
        pages(tmp_path, pins={"Vorland": PIN}).page("Vorland")


def test_every_truncation_is_noticed(tmp_path: Path) -> None:
    """A text or metadata file cut at any byte is an error of the right class, never a page."""
    text = "Vorland – a town.\n"
    version = write(tmp_path, text)
    for path, classes in ((version.text_path("article"), (PageChanged, Corrupt)), (version.path, (Corrupt,))):
        whole = path.read_bytes()
        for size in range(len(whole)):
            path.write_bytes(whole[:size])
            if whole[:size].rstrip() == whole.rstrip() and path == version.path:
                continue  # without its final newline it is the same JSON
            with pytest.raises(classes):
                pages(tmp_path, pins={"Vorland": view(text).sha256}).page("Vorland")
        path.write_bytes(whole)
    assert pages(tmp_path, pins={"Vorland": view(text).sha256}).page("Vorland").text == text


# --- files from strangers -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[]", "is no reactrepro-page/1"),
        (b'{"format": "reactrepro-page/2"}', "a newer reactrepro may read it"),
        (b'{"format": "reactrepro-page/1"}', "'site' is absent"),
        (b"[" * 100_000, "is not JSON"),
        (b'{"format": ' + b"9" * 5_000 + b"}", "is not JSON"),
        (b" " * ((1 << 20) + 1), "is too large"),
    ],
)
def test_metadata_that_is_none(tmp_path: Path, data: bytes, says: str) -> None:
    """Not JSON, not UTF-8, another format, too deep, too large: corrupt, with file and reason; exit code 5."""
    path = write(tmp_path).path
    path.write_bytes(data)
    for pins in (None, {"Vorland": PIN}):
        with pytest.raises(Corrupt) as raised:
            pages(tmp_path, pins=pins).page("Vorland")
        assert says in str(raised.value)
        assert str(path) in str(raised.value)
        assert raised.value.exit_code == 5


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("site",), "enwiki"),
        (("query",), "vorland"),
        (("query",), None),
        (("kind",), "page"),
        (("provenance",), "guessed"),
        (("time",), "yesterday"),
        (("status",), True),
        (("filled_in",), ["weather"]),
        (("redirects",), [1]),
        (("views",), []),
        (("views",), {"../x": {}}),
        (("views", "article"), []),
        (("views", "article", "version"), "1"),
        (("views", "article", "sha256"), "x"),
        (("views", "article", "disambiguation"), 0),
        (("views", "article", "text"), {"bytes": 1.5, "sha256": "0" * 64}),
        (("html",), {"sha256": None}),
        (("weather",), "fine"),
        (("views", "article", "weather"), "fine"),
        (("views", "article", "text", "weather"), "fine"),
        (("html",), {"sha256": "0" * 64, "weather": "fine"}),
    ],
)
def test_metadata_of_the_wrong_form(tmp_path: Path, where: tuple[str, ...], value: object) -> None:
    """A field unknown, mistyped or outside of its vocabulary makes the file corrupt; so does another query."""
    path = write(tmp_path).path
    form = json.loads(path.read_bytes())
    inner = form
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = value
    path.write_text(json.dumps(form), encoding="utf-8")
    with pytest.raises(Corrupt):
        pages(tmp_path, pins={"Vorland": PIN}).page("Vorland")


def test_texts_that_are_none(tmp_path: Path) -> None:
    """Absent, not UTF-8, too large, a folder: corrupt, with the file's name."""
    path = write(tmp_path).text_path("article")
    path.write_bytes(b"Vorland \xff")
    with pytest.raises(Corrupt, match="is not UTF-8"):
        pages(tmp_path, pins={"Vorland": PIN}).page("Vorland")
    with path.open("wb") as file:
        file.truncate((16 << 20) + 1)
    with pytest.raises(Corrupt, match="too large"):
        pages(tmp_path, pins={"Vorland": PIN}).page("Vorland")
    path.unlink()
    with pytest.raises(Corrupt, match="is absent"):
        pages(tmp_path, pins={"Vorland": PIN}).page("Vorland")
    path.mkdir()
    with pytest.raises(Corrupt, match="no plain file"):
        pages(tmp_path, pins={"Vorland": PIN}).page("Vorland")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """A named pipe in a file's place is refused at once."""
    path = write(tmp_path).text_path("article")
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(Corrupt, match="no plain file"):
        pages(tmp_path, pins={"Vorland": PIN}).page("Vorland")


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
@pytest.mark.parametrize("what", ["text", "metadata", "folder", "site"])
def test_links_that_lead_out_are_not_followed(tmp_path: Path, what: str) -> None:
    """A link out of the snapshot is corrupt; one that stays inside is a file like any other."""
    outside, root = tmp_path / "outside", tmp_path / "root"
    version = write(outside)
    here = root / version.path.relative_to(outside)
    here.parent.parent.mkdir(parents=True)
    if what == "site":
        here.parent.parent.rmdir()
        here.parent.parent.symlink_to(version.path.parent.parent)
    elif what == "folder":
        here.parent.symlink_to(version.path.parent)
    else:
        shutil.copytree(version.path.parent, here.parent)
        name = version.path.name if what == "metadata" else version.text_path("article").name
        here.with_name(name).unlink()
        here.with_name(name).symlink_to(version.path.with_name(name))
    with pytest.raises(Corrupt, match="leads out of"):
        pages(root, pins={"Vorland": PIN}).page("Vorland")
    if what == "text":
        here.with_name(name).unlink()
        kept = root / "kept.txt"
        shutil.copyfile(version.path.with_name(name), kept)
        here.with_name(name).symlink_to(kept)
        assert pages(root, pins={"Vorland": PIN}).page("Vorland") == view()


def test_leftovers_are_passed_over(tmp_path: Path) -> None:
    """A temporary file of a recorder that was killed, notes, foreign folders: none of them is a version."""
    folder = write(tmp_path).path.parent
    for name in (".0439cb073ff7.json.x1.tmp", "README.md", "notes.txt", ".json", "a.b.json"):
        folder.joinpath(name).write_bytes(b"{")
    tmp_path.joinpath("quill", "drafts").mkdir()
    tmp_path.joinpath("Not A Site").mkdir()
    assert pages(tmp_path, pins={"Vorland": PIN}).page("Vorland") == view()
    assert [(entry.query, entry.problems) for entry in entries([tmp_path])] == [("Vorland", ())]


# --- listing --------------------------------------------------------------------------------------------------------


def test_entries_list_what_is_there(tmp_path: Path) -> None:
    """Every root's entries, sorted, with what the newest version is; an unreadable one shows its problem."""
    local, packaged = tmp_path / "local", tmp_path / "packaged"
    write(packaged, time="2026-01-01T00:00:00Z")
    write_page(packaged, answer(time="2026-02-01T00:00:00Z"), [view("x\n", extraction="original")])
    write_page(packaged, answer("Ed", None, provenance="transcribed"), [view(query="Ed")])
    broken = write(local, query="Broken").path
    broken.write_bytes(b"{")
    found = list(entries([local, packaged, tmp_path / "absent"]))
    assert [(entry.root, entry.query, len(entry.versions), len(entry.problems)) for entry in found] == [
        (local, None, 0, 1),
        (packaged, "Ed", 1, 0),
        (packaged, "Vorland", 2, 0),
    ]
    newest = found[2]
    assert (newest.site, newest.kind, newest.provenance, newest.time, newest.extractions) == (
        "quill", "article", "recorded", "2026-02-01T00:00:00Z", ("article", "original"),
    )  # fmt: skip
    assert (found[0].kind, found[0].provenance, found[0].time, found[0].extractions) == (None, None, None, ())


def test_find_gives_the_entries_of_one_query(tmp_path: Path) -> None:
    """Exactly that query, of one site or of all, in the order of the roots."""
    local, packaged = tmp_path / "local", tmp_path / "packaged"
    for root in (local, packaged):
        write(root)
        write(root, query="vorland")
    write_page(packaged, answer(site="pelm"), [view(site="pelm")])
    assert [(entry.root, entry.site) for entry in find([local, packaged], "Vorland")] == [
        (local, "quill"),
        (packaged, "pelm"),
        (packaged, "quill"),
    ]
    assert [entry.root for entry in find([local, packaged], "Vorland", "pelm")] == [packaged]
    assert find([local, packaged], "Vorlan") == []
    with pytest.raises(Usage):
        find([local], "Vorland", "..")
    find([local], "vorland")[0].versions[0].path.write_bytes(b"{")
    assert [entry.root for entry in find([local, packaged], "vorland")] == [packaged]
    with pytest.raises(Corrupt):
        find([local], "vorland")


def test_nearest_is_bounded_and_reads_little(tmp_path: Path) -> None:
    """At most five, likest first, found by folder names alone."""
    for number in range(20):
        write(tmp_path, query=f"Harlow Bay {number}")
    assert len(nearest([str(tmp_path)], "quill", "Harlow Bay")) == 5
    assert nearest([str(tmp_path)], "quill", "Zzz") == []
    assert nearest([str(tmp_path)], "nosite", "Harlow Bay") == []


# --- cost -----------------------------------------------------------------------------------------------------------


def test_a_replay_imports_no_parser(offline: dict[str, str]) -> None:
    """Reading pages imports neither an HTML parser nor `page`, nor what only writers and misses need."""
    code = (
        "import sys; import reactrepro.wiki.env, reactrepro.wiki.snapshot; "
        "unwanted = {'selectolax', 'bs4', 'gzip', 'difflib', 'tempfile', 'reactrepro.wiki.page', "
        "'reactrepro.wiki.store', 'requests'}; print(sorted(unwanted & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], env=offline, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.case("B44")
def test_pages_read_the_same_in_a_plain_c_locale(tmp_path: Path, offline: dict[str, str]) -> None:
    """The encoding of the platform plays no part in what is read."""
    text = "Ελλάδα – Łyse Górki\n"
    write(tmp_path, text, query="Ελλάδα")
    pin = view(text, "Ελλάδα").sha256
    code = (
        "import sys; from pathlib import Path; from reactrepro.wiki.snapshot import SnapshotPages; "
        "query = '\\u0395\\u03bb\\u03bb\\u03ac\\u03b4\\u03b1'; "
        "page = SnapshotPages([Path(sys.argv[1])], 'quill', 'article', {query: sys.argv[2]}).page(query); "
        "print(ascii(page.text))"
    )
    done = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-c", code, str(tmp_path), pin],
        env={**offline, "LC_ALL": "C", "PYTHONUTF8": "0"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == ascii(text) + "\n"
