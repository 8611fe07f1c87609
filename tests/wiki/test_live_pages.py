"""A recording's pages: which of the snapshot's may answer, what is fetched, and what of it is kept."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import reactrepro
from reactrepro.domain import PageView
from reactrepro.errors import Corrupt, InfraError, Usage, WikiSnapshotMiss
from reactrepro.wiki import store
from reactrepro.wiki.env import WikiEnv
from reactrepro.wiki.live import WikiClient
from reactrepro.wiki.page import parse
from reactrepro.wiki.recording import LivePages
from reactrepro.wiki.snapshot import SnapshotPages
from reactrepro.wiki.store import write_page
from reactrepro.wiki.versions import Version, versions_of

from . import mediawiki as mw
from .fake_wiki import HTML, POLICY, FakeTime, FakeWiki, Reply, client, page, redirect, serving
from .samples import MARL, TIME, action, answer, files, view

SITE = "quill"
TEXT = "Vorland is a town.\n"
CANARY = "canary"


@pytest.fixture
def wiki(loopback: str) -> Iterator[FakeWiki]:
    """A wiki on this machine that knows Vorland, as a redirect to its article."""
    with serving() as wiki:
        wiki.says("Vorland", redirect("/wiki/Vorland"))
        wiki.says("/wiki/Vorland", page())
        yield wiki


@pytest.fixture
def asking(wiki: FakeWiki) -> Iterator[WikiClient]:
    """Its client, as one recording has it."""
    with closing(client(wiki, retries=0)) as asking:
        yield asking


@pytest.fixture
def episode(asking: WikiClient, tmp_path: Path) -> Callable[..., LivePages]:
    """Makes the pages of one episode after another."""

    def make(**options: Any) -> LivePages:
        known = {"site": SITE, "extraction": "article", "root": tmp_path / "snapshot"}
        return LivePages(options.pop("client", asking), **{**known, **options})

    return make


def kept(root: Path, query: str = "Vorland", site: str = SITE) -> list[Version]:
    """The versions of an answer, newest first."""
    problems: list[Corrupt] = []
    found = versions_of(str(root), site, query, problems)
    assert problems == []
    return found


def recorded(root: Path, text: str, *, html: str | None = None, time: str = TIME, version: int = 1) -> Version:
    """Write a recorded page that reads *text*, from the wiki that the tests ask, whatever its port was then."""
    known = answer(time=time, base_url="http://localhost:1/w/index.php")
    return write_page(root, known, [view(text, version=version)], html and html.encode())


# --- what is kept ---------------------------------------------------------------------------------------------------


def test_a_page_is_fetched_and_kept(wiki: FakeWiki, episode: Callable[..., LivePages], tmp_path: Path) -> None:
    """Where it comes from, when, and what an agent sees of it, under both extractions; and the HTML."""
    pages = episode()
    seen = pages.page("Vorland")
    assert seen == view(TEXT, flags=("root:mw-parser-output",))
    (version,) = kept(tmp_path / "snapshot")
    assert version.metadata.answer == answer(
        base_url=wiki.base_url,
        asked=f"{wiki.base_url}?search=Vorland",
        final_url=wiki.base_url.replace("w/index.php", "wiki/Vorland"),
        status=200,
        title="Vorland",
        revision=7,
    )
    html = mw.article("<p>Vorland is a town.</p>").encode()
    assert version.html() == html
    parsed = parse(html, site=SITE, query="Vorland")
    assert {name: version.view(name) for name in version.metadata.views} == {
        name: parsed.view(name) for name in ("article", "original")
    }
    assert [(pin.site, pin.query, pin.sha256) for pin in pages.read] == [(SITE, "Vorland", seen.sha256)]


def test_what_was_read_replays(episode: Callable[..., LivePages], tmp_path: Path) -> None:
    """The pins of an episode, in order of first reading, give a replay just what the episode read."""
    pages = episode(extraction="original")
    seen = {query: pages.page(query) for query in ("Vorland", "Qwzx Plonk", "", "Vorland", "\ud83d")}
    assert [pin.query for pin in pages.read] == ["Vorland", "Qwzx Plonk", "", "\ud83d"]
    pins = {pin.query: pin.sha256 for pin in pages.read}
    replayed = SnapshotPages([tmp_path / "snapshot"], SITE, "original", pins)
    assert {query: replayed.page(query) for query in pins} == seen


def test_html_may_be_left_out_when_recording(episode: Callable[..., LivePages], tmp_path: Path) -> None:
    """The texts are what counts; without HTML no further extraction can be made of the page."""
    episode(keep_html=False).page("Vorland")
    assert [name for name in files(tmp_path) if name.endswith(".gz")] == []
    (version,) = kept(tmp_path / "snapshot")
    assert sorted(version.metadata.views) == ["article", "original"]


@pytest.mark.case("B20")
def test_both_requests_of_a_disambiguation_are_kept(
    wiki: FakeWiki, episode: Callable[..., LivePages], tmp_path: Path
) -> None:
    """The environment asks once more in brackets, live as on replay, and both answers are in the snapshot."""
    wiki.says("Marl", Reply(MARL))
    wiki.says("[Marl]", Reply(mw.results("Marl", "Marl (rock)", "Vorland's \\marl")))
    actions = [action(command) for command in ("search[Marl]", "search[Vorland]", "lookup[town]", "search[Nope]")]
    live = episode()
    env = WikiEnv(live, "Question: ?", lambda _: 0)
    observations = [env.step(one) for one in actions]
    assert [one.text for one in observations] == [
        "Could not find [Marl]. Similar: ['Marl', 'Marl (rock)', \"Vorland's \\\\marl\"].",
        "Vorland is a town..",
        "(Result 1 / 1) Vorland is a town..",
        "Could not find Nope. Similar: [].",
    ]
    assert [pin.query for pin in live.read] == ["Marl", "[Marl]", "Vorland", "Nope"]
    pins = {pin.query: pin.sha256 for pin in live.read}
    env = WikiEnv(SnapshotPages([tmp_path / "snapshot"], SITE, "article", pins), "Question: ?", lambda _: 0)
    assert [env.step(one) for one in actions] == observations


@pytest.mark.case("B18", "B19", "B21", "B22")
@pytest.mark.parametrize(
    ("html", "kind", "text"),
    [
        (mw.article("<p><b>Vorland</b> is a town in Quill.</p>"), "article", "Vorland is a town in Quill.\n"),
        (mw.article('<p class="mw-empty-elt"></p><p>One of [1] it.</p>'), "article", "One of [1] it.\n"),
        (mw.article(r"<p>Config lives in C:\users\xu here.</p>"), "article", "Config lives in C:\\users\\xu here.\n"),
        (mw.nothing("Vorland"), "nothing", None),
        (mw.results("Vorland", "Harlow Bay"), "results", None),
    ],
)
def test_every_kind_of_answer_is_kept(
    wiki: FakeWiki, episode: Callable[..., LivePages], tmp_path: Path, html: str, kind: str, text: str | None
) -> None:
    """Article, results and a genuine nothing are answers: read live as they will be read on replay."""
    wiki.says("Vorland", Reply(html))
    seen = episode().page("Vorland")
    assert (seen.kind, seen.text) == (kind, text)
    assert SnapshotPages([tmp_path / "snapshot"], SITE, "article").page("Vorland") == seen


def test_special_characters_have_entries_of_their_own(
    wiki: FakeWiki, episode: Callable[..., LivePages], tmp_path: Path
) -> None:
    """The kind "a query with special characters": different searches, different answers, different entries."""
    queries = ["A&B", "A", "C#", "C", "a+b", "a b", "100%", "ü"]
    for number, query in enumerate(queries):
        wiki.says(query, page(f"<p>This is number {number}.</p>"))
    pages = episode()
    assert [pages.page(query).text for query in queries] == [f"This is number {n}.\n" for n in range(len(queries))]
    assert [kept(tmp_path / "snapshot", query)[0].metadata.answer.query for query in queries] == queries


@pytest.mark.case("B45")
def test_a_packed_page_is_kept_as_text(wiki: FakeWiki, episode: Callable[..., LivePages], tmp_path: Path) -> None:
    """What was read live from a gzip body is what the text file holds, in the open."""
    packed = gzip.compress(mw.article("<p>Łyse Górki is a town.</p>").encode())
    wiki.says("Łyse", Reply(packed, headers={**HTML, "Content-Encoding": "gzip"}))
    assert episode().page("Łyse").text == "Łyse Górki is a town.\n"
    (version,) = kept(tmp_path / "snapshot", "Łyse")
    assert version.text_path("article").read_text(encoding="utf-8") == "Łyse Górki is a town.\n"
    assert version.html() == gzip.decompress(packed)


# --- what is no answer ----------------------------------------------------------------------------------------------

MISSING = '<div class="noarticletext"><p>There is no page of this name.</p></div></html>'
NO_ANSWERS = {
    "refused": Reply(POLICY, 403, {"Content-Type": "text/plain"}),
    "too many": Reply("<html><title>Wikimedia Error</title><p>a b c d</p></html>", 429, {**HTML, "Retry-After": "7"}),
    "too long": Reply("<html><title>414</title><p>The requested URL is too long.</p></html>", 414),
    "broken": Reply(mw.article("<p>Fatal exception of type.</p>"), 500),
    "dropped": Reply(drop=True),
    "cut": Reply(mw.article("<p>Vorland is a town.</p>")[:900]),
    "plain": Reply("Vorland is a town.", headers={"Content-Type": "text/plain"}),
    "captcha": Reply("<html><title>Are you human?</title><p>Please tick all bridges.</p></html>"),
    "search": Reply(mw.search_page('<div class="searchresults"><p>Something new here.</p></div>')),
    "failed": Reply(mw.search_page('<div class="searchresults"><div class="mw-message-box">Too busy.</div></div>')),
    "missing": Reply(mw.CHROME_BEFORE.format(title="V", special="false", revision=0, article="true") + MISSING),
    "special": Reply(mw.CHROME_BEFORE.format(title="V", special='"Version"', revision=0, article="true") + "</html>"),
    "no article": Reply(mw.CHROME_BEFORE.format(title="V", special="false", revision=0, article="false") + "</html>"),
}


@pytest.mark.case("B03", "B17", "B22", "B46")
@pytest.mark.parametrize("reply", NO_ANSWERS.values(), ids=NO_ANSWERS)
def test_what_is_no_answer_is_an_infra_error_and_leaves_nothing(
    wiki: FakeWiki, episode: Callable[..., LivePages], tmp_path: Path, reply: Reply
) -> None:
    """The kind "an answer that is neither article nor results": not shown, not stored, exit code 4, with its URL."""
    wiki.says("Harlow Bay", reply)
    pages = episode()
    with pytest.raises(InfraError) as caught:
        pages.page("Harlow Bay")
    assert caught.value.exit_code == 4
    assert f"{wiki.base_url}?search=Harlow+Bay" in str(caught.value)
    assert reply.drop or f"status {reply.status}" in str(caught.value)
    assert pages.read == ()
    assert files(tmp_path) == {}


@pytest.mark.case("B46")
def test_only_the_good_answer_is_kept(wiki: FakeWiki, tmp_path: Path) -> None:
    """429, 429, 200: the episode reads the page, the snapshot holds nothing else, and a replay waits for nothing."""
    wiki.says("Bay", NO_ANSWERS["too many"], NO_ANSWERS["too many"], page("<p>Harlow Bay is cold.</p>"))
    clock = FakeTime()
    with closing(client(wiki, clock)) as asking:
        pages = LivePages(asking, site=SITE, extraction="article", root=tmp_path)
        assert pages.page("Bay").text == "Harlow Bay is cold.\n"
    assert clock.passed == 14
    (version,) = kept(tmp_path, "Bay")
    assert version.metadata.answer.status == 200
    assert version.metadata.answer.time == "2026-11-30T19:22:19Z"
    assert b"Error" not in b"".join(files(tmp_path).values())
    assert SnapshotPages([tmp_path], SITE, "article").page("Bay").text == "Harlow Bay is cold.\n"
    assert clock.passed == 14


def test_a_page_too_large_to_be_kept_is_an_infra_error(
    wiki: FakeWiki, episode: Callable[..., LivePages], tmp_path: Path
) -> None:
    """What could not be read back is not written; the wiki made it, not the command."""
    wiki.says("Vorland", Reply(mw.results(*(f"{number} " + "title " * 2000 for number in range(60)))))
    with pytest.raises(InfraError, match="quill gave a page that cannot be kept"):
        episode().page("Vorland")
    assert files(tmp_path) == {}


def test_a_full_disk_is_an_error_and_no_more(
    wiki: FakeWiki, episode: Callable[..., LivePages], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It passes through as it is; with room again the same query is fetched again."""

    def full(path: Path, data: bytes) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(store, "replace_file", full)
        with pytest.raises(OSError, match="No space left"):
            episode().page("Vorland")
    assert files(tmp_path) == {}
    assert episode().page("Vorland").text == TEXT
    assert wiki.asked == ["Vorland", "/wiki/Vorland"] * 2


# --- what may answer ------------------------------------------------------------------------------------------------


def test_a_page_that_is_there_is_used(wiki: FakeWiki, episode: Callable[..., LivePages]) -> None:
    """By the next episode and by the next recording: the wiki is asked once."""
    first = episode().page("Vorland")
    assert episode().page("Vorland") == first
    with closing(client(wiki)) as later:
        again = episode(client=later)
        assert again.page("Vorland") == first
        assert [pin.sha256 for pin in again.read] == [first.sha256]
        assert later.requests_made == 0
    assert wiki.asked == ["Vorland", "/wiki/Vorland"]


@pytest.mark.parametrize("provenance", ["transcribed", "scripted"])
@pytest.mark.parametrize("mode", ["once", "new_episodes", "none"])
def test_only_recorded_pages_answer(
    wiki: FakeWiki, episode: Callable[..., LivePages], tmp_path: Path, provenance: str, mode: str
) -> None:
    """A live recording never reads what somebody copied or made up, however new it is; it stays where it is."""
    root = tmp_path / "snapshot"
    write_page(root, answer(provenance=provenance, time="2099-01-01T00:00:00Z"), [view("Made up.\n")])
    pages = episode(mode=mode)
    if mode == "none":
        with pytest.raises(WikiSnapshotMiss, match=f"There is a {provenance} page, and only recorded ones may be read"):
            pages.page("Vorland")
    else:
        assert pages.page("Vorland").text == TEXT
    assert {version.metadata.answer.provenance for version in kept(root)} == {provenance} | (
        {"recorded"} if mode != "none" else set()
    )


def test_another_sites_page_never_answers(episode: Callable[..., LivePages], tmp_path: Path) -> None:
    """Nor does it hinder: every site has pages of its own."""
    root = tmp_path / "snapshot"
    write_page(root, answer(site="enwiki"), [view("Of Wikipedia.\n", site="enwiki")])
    assert episode().page("Vorland").text == TEXT
    assert episode(mode="none").page("Vorland").site == SITE


def test_one_name_for_two_wikis_is_a_usage_error(episode: Callable[..., LivePages], tmp_path: Path) -> None:
    """Noticed before anything is asked, and again for every page read; in every folder."""
    elsewhere = tmp_path / "elsewhere"
    write_page(elsewhere, answer("Bay"), [view(query="Bay")])
    with pytest.raises(Usage, match=r"recorded from https://quill\.example/w, and would now be read at http://127"):
        episode(roots=[elsewhere])
    root = tmp_path / "snapshot"
    recorded(root, "Recorded.\n")
    pages = episode()
    write_page(root, answer("Bay"), [view(query="Bay")])
    with pytest.raises(Usage, match="one name for two wikis"):
        pages.page("Bay")
    with pytest.raises(Usage, match="enwiki is the wiki at https://en"):
        episode(site="enwiki")


@pytest.mark.case("B49")
def test_the_port_plays_no_part(episode: Callable[..., LivePages], tmp_path: Path) -> None:
    """A page recorded from this machine answers when the same wiki stands on another port."""
    recorded(tmp_path / "snapshot", "Recorded on port 1.\n")
    assert episode().page("Vorland").text == "Recorded on port 1.\n"


def test_folders_are_layers(wiki: FakeWiki, episode: Callable[..., LivePages], tmp_path: Path) -> None:
    """Read in order, the written one first; only that one is written to."""
    lower, lowest = tmp_path / "lower", tmp_path / "lowest"
    recorded(lowest, "Lowest.\n", time="2099-01-01T00:00:00Z")
    recorded(lower, "Lower.\n")
    before = files(lower) | files(lowest)
    pages = episode(roots=[lower, lowest, tmp_path / "snapshot"])
    assert pages.page("Vorland").text == "Lower.\n"
    assert wiki.asked == []
    pages.page("Harlow Bay")
    assert files(lower) | files(lowest) == before
    recorded(tmp_path / "snapshot", "Written.\n", time="2000-01-01T00:00:00Z")
    assert episode(roots=[lower, lowest]).page("Vorland").text == "Written.\n"


def test_an_altered_page_is_an_error_not_a_reason_to_fetch(
    wiki: FakeWiki, episode: Callable[..., LivePages], tmp_path: Path
) -> None:
    """Damage is said, in every mode that reads; an intact version beside it is used."""
    root = tmp_path / "snapshot"
    episode().page("Vorland")
    (version,) = kept(root)
    version.text_path("article").write_bytes(b"Vorland is a city.\n")
    asked = len(wiki.asked)
    for mode in ("once", "new_episodes", "none"):
        with pytest.raises(Corrupt, match="Restore it, or remove that version"):
            episode(mode=mode).page("Vorland")
    version.text_path("article").unlink()
    with pytest.raises(Corrupt, match="absent"):
        episode().page("Vorland")
    recorded(root, "Older, and whole.\n", time="2000-01-01T00:00:00Z")
    assert episode().page("Vorland").text == "Older, and whole.\n"
    version.path.write_bytes(b"{")
    assert episode().page("Vorland").text == "Older, and whole.\n"
    assert len(wiki.asked) == asked


# --- modes ----------------------------------------------------------------------------------------------------------


def test_mode_none_fetches_nothing(wiki: FakeWiki, episode: Callable[..., LivePages], tmp_path: Path) -> None:
    """What is there is read; what is not is a miss that says what to do."""
    recorded(tmp_path / "snapshot", "Recorded.\n")
    pages = episode(mode="none")
    assert pages.page("Vorland").text == "Recorded.\n"
    with pytest.raises(WikiSnapshotMiss, match=r"Nearest: 'Vorland'\. With wiki mode 'none' nothing is fetched"):
        pages.page("Vorlan")
    assert wiki.asked == []


def test_mode_all_fetches_anew_once(wiki: FakeWiki, episode: Callable[..., LivePages], tmp_path: Path) -> None:
    """Once for all episodes of a recording, which read the same page; each recording adds a version."""
    root = tmp_path / "snapshot"
    recorded(root, "Recorded before.\n", time="2099-01-01T00:00:00Z")
    wiki.says("/wiki/Vorland", page("<p>It is first.</p>"), page("<p>It is second.</p>"))
    seen = [episode(mode="all").page("Vorland").text for _ in range(3)]
    assert seen == ["It is first.\n"] * 3
    with closing(client(wiki)) as later:
        assert episode(client=later, mode="all", extraction="original").page("Vorland").text is not None
        assert episode(client=later, mode="all").page("Vorland").text == "It is second.\n"
    assert wiki.asked == ["Vorland", "/wiki/Vorland"] * 2
    assert len(kept(root)) == 3


def test_a_text_is_derived_from_the_html_that_was_kept(
    wiki: FakeWiki, episode: Callable[..., LivePages], tmp_path: Path
) -> None:
    """Where only another extraction's text is there: without asking, as a new version with the old one's facts."""
    root = tmp_path / "snapshot"
    old = recorded(root, "Article only.\n", html=mw.article("<p>Both from the HTML.</p>"))
    before = files(root)
    for mode in ("once", "none"):
        seen = episode(mode=mode, extraction="original").page("Vorland")
        assert "Both from the HTML.\n" in (seen.text or "")
    assert wiki.asked == []
    new = next(version for version in kept(root) if version.stem != old.stem)
    facts = replace(old.metadata.answer, title="Vorland", revision=7)
    assert new.metadata.answer == facts
    assert sorted(new.metadata.views) == ["article", "original"]
    assert before.items() < files(root).items()
    assert len(kept(root)) == 2


@pytest.mark.parametrize(
    ("mode", "html", "text"),
    [
        ("once", mw.article("<p>From the HTML.</p>"), "From the HTML.\n"),
        ("none", mw.article("<p>From the HTML.</p>"), "From the HTML.\n"),
        ("new_episodes", mw.article("<p>From the HTML.</p>"), TEXT),
        ("once", None, "By older rules.\n"),
        ("none", None, "By older rules.\n"),
        ("new_episodes", None, TEXT),
        ("once", "<p>No page by the rules of today.</p>", "By older rules.\n"),
    ],
)
def test_a_text_by_older_rules(
    wiki: FakeWiki, episode: Callable[..., LivePages], tmp_path: Path, mode: str, html: str | None, text: str
) -> None:
    """Read anew from the HTML; without it, used as it is, or, in mode new_episodes, fetched anew."""
    recorded(tmp_path / "snapshot", "By older rules.\n", html=html, version=0)
    assert episode(mode=mode).page("Vorland").text == text
    assert bool(wiki.asked) is (mode == "new_episodes")
    assert episode(mode=mode).page("Vorland").text == text
    assert len(wiki.asked) in (0, 2)


def test_a_page_by_the_rules_of_today_comes_before_all_others(
    episode: Callable[..., LivePages], tmp_path: Path
) -> None:
    """Also where a newer one was read by other rules; of equals the newest."""
    root = tmp_path / "snapshot"
    recorded(root, "Oldest.\n", time="2001-01-01T00:00:00Z")
    recorded(root, "Old.\n", time="2002-01-01T00:00:00Z")
    recorded(root, "Other rules.\n", time="2003-01-01T00:00:00Z", version=0, html=mw.article("<p>a b c</p>"))
    for mode in ("once", "new_episodes", "none"):
        assert episode(mode=mode).page("Vorland").text == "Old.\n"


def test_a_recorded_page_of_no_use_is_fetched(episode: Callable[..., LivePages], tmp_path: Path) -> None:
    """Neither the wanted text nor HTML: absent, for this recording. Mode none says what is there."""
    root = tmp_path / "snapshot"
    version = recorded(root, "Article only.\n", html=mw.article("<p>a b c</p>"))
    version.html_path.unlink()
    with pytest.raises(WikiSnapshotMiss, match="a recorded page without extraction 'original', and without its HTML"):
        episode(extraction="original", mode="none").page("Vorland")
    assert "Vorland is a town.\n" in (episode(extraction="original").page("Vorland").text or "")
    version.html_path.write_bytes(b"no gzip")
    (tmp_path / "other").mkdir()
    damaged = recorded(tmp_path / "other", "Article only.\n", html=mw.article("<p>a b c</p>"))
    damaged.html_path.write_bytes(b"no gzip")
    with pytest.raises(Corrupt, match="cannot be unpacked"):
        episode(extraction="original", root=tmp_path / "other").page("Vorland")


def test_unknown_words_are_usage_errors(episode: Callable[..., LivePages]) -> None:
    """A mode, an extraction, a site's name."""
    for options in ({"mode": "sometimes"}, {"extraction": "lines"}, {"site": "../x"}):
        with pytest.raises(Usage):
            episode(**options)


# --- several at once ------------------------------------------------------------------------------------------------


def together(work: Callable[[], object], number: int = 8) -> list[object]:
    """Do *work* in so many threads at once; return what each returned or raised."""
    start = threading.Barrier(number)
    came: list[object] = []

    def one() -> None:
        start.wait()
        try:
            came.append(work())
        except Exception as error:
            came.append(error)

    threads = [threading.Thread(target=one) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return came


@pytest.mark.parametrize("mode", ["once", "new_episodes", "all"])
def test_workers_that_want_the_same_page_fetch_it_once(
    wiki: FakeWiki, episode: Callable[..., LivePages], tmp_path: Path, mode: str
) -> None:
    """Eight at once: one request, one version, and all read the same."""
    wiki.says("Vorland", page(pause=0.1))
    seen = together(lambda: episode(mode=mode).page("Vorland"))
    assert seen == [view(TEXT, flags=("root:mw-parser-output",))] * 8
    assert wiki.asked == ["Vorland"]
    assert len(kept(tmp_path / "snapshot")) == 1


def test_workers_that_wait_for_a_page_that_fails_get_the_same_error(
    wiki: FakeWiki, episode: Callable[..., LivePages]
) -> None:
    """One has tried as often as may be; the others do not try again. A later episode does."""
    wiki.says("Vorland", Reply("", 404, pause=0.1), page())
    came = together(lambda: episode().page("Vorland"))
    assert {type(error) for error in came} == {InfraError}
    assert len({str(error) for error in came}) == 1
    assert wiki.asked == ["Vorland"]
    assert episode().page("Vorland").text == TEXT


RECORDER = """\
import json, sys
from pathlib import Path
from reactrepro.wiki.live import WikiClient
from reactrepro.wiki.recording import LivePages

base_url, root, mode = sys.argv[1:]
client = WikiClient(base_url)
print("ready", flush=True)
sys.stdin.readline()
pages = LivePages(client, site="quill", extraction="article", root=Path(root), mode=mode)
for number in range(12):
    pages.page(f"Page {number}")
print(json.dumps([[pin.query, pin.sha256] for pin in pages.read]))
"""


@pytest.mark.parametrize("mode", ["once", "all"])
def test_two_recorders_at_once_do_no_harm(wiki: FakeWiki, tmp_path: Path, mode: str) -> None:
    """Two programs that record the same pages into one folder: every version whole, and each one's pins replay."""
    for number in range(12):
        replies = [page(f"<p>Page {number} reads so at request {turn}.</p>") for turn in range(4)]
        wiki.says(f"Page {number}", *replies)
    env = {**os.environ, "PYTHONPATH": str(Path(reactrepro.__file__).parents[1])}
    command = [sys.executable, "-c", RECORDER, wiki.base_url, str(tmp_path), mode]
    recorders = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) for _ in range(2)
    ]
    for recorder in recorders:
        assert recorder.stdout is not None
        assert recorder.stdout.readline() == "ready\n"
    for recorder in recorders:
        assert recorder.stdin is not None
        recorder.stdin.write("go\n")
        recorder.stdin.flush()
    read = [dict(json.loads(recorder.communicate(timeout=60)[0])) for recorder in recorders]
    for pins in read:
        assert len(pins) == 12
        replayed = SnapshotPages([tmp_path], SITE, "article", pins)
        assert all(replayed.page(query).sha256 == sha256 for query, sha256 in pins.items())
    for number in range(12):
        versions = kept(tmp_path, f"Page {number}")
        assert len(versions) in ((2,) if mode == "all" else (1, 2))
        assert all(version.disagreement("article") is None and version.html() for version in versions)
    assert not [name for name in files(tmp_path) if name.endswith(".tmp")]


# --- secrets, and the way back --------------------------------------------------------------------------------------


def test_nothing_secret_is_written(wiki: FakeWiki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A canary wherever a secret can stand: environment, .netrc, proxies, headers, redirects, the page's own head."""
    home = tmp_path / f"home-{CANARY}"
    home.mkdir()
    home.joinpath(".netrc").write_text(f"default login {CANARY} password {CANARY}\n", encoding="ascii")
    for name, value in {
        "HOME": str(home), "NETRC": str(home / ".netrc"), "OPENAI_API_KEY": CANARY, "http_proxy": f"http://{CANARY}:x@h:1",
        "https_proxy": f"http://{CANARY}:x@h:1", "all_proxy": f"http://{CANARY}:x@h:1", "USER": CANARY,
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    secret = dict.fromkeys(("Set-Cookie", "X-Request-Id", "X-Client-IP", "ETag", "Server", "Via"), f"{CANARY}-1")
    html = mw.article("<p>Vorland is a town.</p>").replace('RLCONF={"', f'RLCONF={{"wgRequestId":"{CANARY}","')
    root = wiki.base_url.removesuffix("w/index.php")
    location = f"{root.replace('//', f'//{CANARY}:{CANARY}@')}wiki/A?token={CANARY}&oldid=7#{CANARY}"
    wiki.says("Vorland", redirect(location, **secret))
    wiki.says("/wiki/A", redirect(f"/wiki/B?wpLoginToken={CANARY}", **secret))
    wiki.says("/wiki/B", Reply(html, headers={**HTML, **secret}))
    wiki.says("Error", Reply(f"Denied. Key {CANARY}-0123456789abcdef", 403, {"Content-Type": "text/plain", **secret}))
    with closing(client(wiki, contact=f"{CANARY}@quill.example")) as asking:
        pages = LivePages(asking, site=SITE, extraction="article", root=tmp_path / "snapshot")
        assert pages.page("Vorland").text == TEXT
        with pytest.raises(InfraError) as caught:
            pages.page("Error")
    assert CANARY not in str(caught.value)
    written = files(tmp_path / "snapshot")
    assert len(written) == 4
    for name, data in written.items():
        assert CANARY not in name
        assert CANARY.encode() not in (gzip.decompress(data) if name.endswith(".gz") else data)
    (version,) = kept(tmp_path / "snapshot")
    assert version.metadata.answer.redirects == (f"{root}wiki/A?oldid=7",)
    assert version.metadata.answer.final_url == f"{root}wiki/B"


@pytest.mark.case("B47")
def test_a_replay_never_touches_any_of_this(offline: dict[str, str], tmp_path: Path) -> None:
    """Neither the modules that ask a wiki nor the libraries they need are loaded, and no network is used."""
    code = (
        "import runpy, sys\n"
        "sys.argv = ['reactrepro', 'replay', 'hotpotqa', '0']\n"
        "try:\n    runpy.run_module('reactrepro', run_name='__main__')\n"
        "except SystemExit as end:\n    assert not end.code, end.code\n"
        "live = {'requests', 'urllib3', 'selectolax'}\n"
        "names = ('live', 'recording', 'sites', 'patience', 'flights', 'received', 'page', 'store')\n"
        "live |= {f'reactrepro.wiki.{name}' for name in names}\n"
        "assert not live & set(sys.modules), live & set(sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=offline, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr


def test_what_an_episode_reads_is_what_stands_in_the_files(
    wiki: FakeWiki, episode: Callable[..., LivePages], tmp_path: Path
) -> None:
    """A file altered while the recording goes on is noticed, also in mode all, which looks into no other page."""
    pages = episode(mode="all")
    first: PageView = pages.page("Vorland")
    (version,) = kept(tmp_path / "snapshot")
    version.text_path("article").write_bytes(b"Vorland is a city.\n")
    with pytest.raises(Corrupt, match="was edited"):
        pages.page("Vorland")
    assert [pin.sha256 for pin in pages.read] == [first.sha256]
