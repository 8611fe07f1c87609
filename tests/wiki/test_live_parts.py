"""The pure parts of reading a live wiki: names and addresses, waiting, what a server sent, work done once."""

from __future__ import annotations

import inspect
import re
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro.errors import InfraError, Usage
from reactrepro.wiki import live, received, sites
from reactrepro.wiki.flights import Flights
from reactrepro.wiki.patience import FIRST_WAIT, LAST_WAIT, Clock, Pace, backoff, retry_after
from reactrepro.wiki.recording import MODES

from .fake_wiki import FakeTime

EN = "https://en.wikipedia.org/w/index.php"
HERE = "http://127.0.0.1:8081/w/index.php"
NOW = datetime(2026, 11, 30, 19, 22, 5, tzinfo=UTC)

# --- names and addresses --------------------------------------------------------------------------------------------


def test_known_wikis_have_addresses() -> None:
    """Each stands in the table; of another, the address has to be given."""
    for site, address in sites.SITES.items():
        assert sites.base_of(site) == sites.checked_base_url(address) == address
        assert sites.site_of(address) == sites.checked_at(site, address) == site
    with pytest.raises(Usage, match="no address is known for the wiki 'quill'"):
        sites.base_of("quill")


@pytest.mark.parametrize(
    "base_url",
    [
        "", "en.wikipedia.org", "//en.wikipedia.org/w/index.php", "ftp://canary.example/w", "file:///canary",
        "https://", "https:///w/index.php", "https://canary.example", "https://canary.example/",
        "https://canary@a.example/w/index.php", "https://:canary@a.example/w/index.php", "canary:canary@a.example/w",
        "https://a.example/w/index.php?token=canary", "https://a.example/w/index.php?", "https://a.example/w#canary",
        "https://a.example:canary/w", "https://[canary/w", "https://a.example/w\ncanary", "https://a.example/w canary",
        "https://a.example:99999/w",
    ],
)  # fmt: skip
def test_an_address_that_cannot_be_asked_is_refused(base_url: str) -> None:
    """Neither passwords nor parameters: whatever was typed, the message does not repeat it."""
    with pytest.raises(Usage, match="base URL of") as caught:
        sites.checked_base_url(base_url)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (EN, "http://EN.wikipedia.org:80/w/index.php", True),
        (EN, "https://en.wikipedia.org.:443/w/index.php", True),
        (EN, "https://de.wikipedia.org/w/index.php", False),
        (EN, "https://en.wikipedia.org/wiki/index.php", False),
        (EN, "https://en.wikipedia.org:8443/w/index.php", False),
        (HERE, "http://localhost:40123/w/index.php", True),
        (HERE, "https://[::1]/w/index.php", True),
        (HERE, "http://127.9.9.9/w/index.php", True),
        (HERE, "http://127.0.0.1:8081/wiki/index.php", False),
        (HERE, EN, False),
        ("http://[bad", "http://[bad", False),
    ],
)
def test_when_two_addresses_are_one_wiki(one: str, other: str, same: bool) -> None:
    """Host, port and path; on this machine the path alone, as ports change from start to start."""
    assert sites.same_wiki(one, other) is same
    assert sites.same_wiki(other, one) is same


@pytest.mark.parametrize(
    ("base_url", "site"),
    [
        ("https://de.wikipedia.org/w/index.php", "de-wikipedia-org"),
        ("http://en.wikipedia.org/w/index.php", "enwiki"),
        ("https://Quill.example:8443/index.php", "quill-example"),
        (f"https://{'long.' * 20}example/w", "long-long-long-long-long-long-lo"),
    ],
)
def test_an_address_gives_a_name(base_url: str, site: str) -> None:
    """The host's letters and digits, where the wiki has no name yet."""
    assert sites.site_of(base_url) == site


@pytest.mark.parametrize("base_url", ["http://127.0.0.1:9/w/index.php", "http://localhost/w", "https://例え.テスト/w"])
def test_an_address_that_gives_no_name(base_url: str) -> None:
    """Any wiki could stand on this machine: its name has to be said."""
    with pytest.raises(Usage, match="choose a name"):
        sites.site_of(base_url)


@pytest.mark.parametrize(
    ("site", "base_url"),
    [("enwiki", "https://de.wikipedia.org/w/index.php"), ("enwiki", HERE), ("pelm", EN), ("quill", EN), ("a b", HERE)],
)
def test_a_name_never_stands_for_two_wikis(site: str, base_url: str) -> None:
    """A known name at another address, or a known address under another name, is a usage error."""
    with pytest.raises(Usage):
        sites.checked_at(site, base_url)


def test_other_wikis_may_have_other_names() -> None:
    """Any name that is not taken, also on this machine, whatever the port."""
    assert sites.checked_at("quill", "http://127.0.0.1:40123/w/index.php") == "quill"
    assert sites.checked_at("pelm", "http://localhost:40123/w/index.php") == "pelm"
    assert sites.checked_at("quill", "https://quill.example/w/index.php") == "quill"


@pytest.mark.parametrize(
    ("url", "written"),
    [
        ("https://a.example/w/index.php?search=A%26B+c", "https://a.example/w/index.php?search=A%26B+c"),
        ("https://u:canary@a.example/wiki/X?oldid=7&token=canary#canary", "https://a.example/wiki/X?oldid=7"),
        ("https://a.example/wiki/X?wpToken=canary", "https://a.example/wiki/X"),
        ("https://a.example/wiki/X?canary", "https://a.example/wiki/X"),
        ("https://a.example/wiki/%C3%A9?%73earch=x", "https://a.example/wiki/%C3%A9?%73earch=x"),
    ],
)
def test_what_of_a_url_is_written(url: str, written: str) -> None:
    """Parameters by which a page is found, spelled as they were; nothing else."""
    assert sites.public(url) == written


# --- waiting --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, 0), ("", 0), ("0", 0), ("7", 7), (" 120 ", 120), ("-5", 0), ("1.5", 0), ("soon", 0), ("٧", 0),
        ("5, 7", 0), ("Mon, 30 Nov 2026 19:23:05 GMT", 60), ("Mon, 30 Nov 2026 19:00:00 GMT", 0),
        ("Monday, 30-Nov-26 19:23:05 GMT", 60), ("Mon, 30 Nov 2026 20:23:05 +0100", 60),
        ("Mon, 30 Nov 2026 19:23:05 -0000", 60), ("Mon, 99 Nov 2026 19:23:05 GMT", 0), ("9" * 5000, float("inf")),
    ],
)  # fmt: skip
def test_retry_after(header: str | None, seconds: float) -> None:
    """Seconds or a date; what is neither asks for nothing."""
    assert retry_after(header, NOW) == seconds


@given(st.text(max_size=40))
def test_any_retry_after(header: str) -> None:
    """Whatever a server writes, it is a number of seconds from 0."""
    assert retry_after(header, NOW) >= 0


def test_backoff_doubles_and_is_bounded() -> None:
    """Half of each wait is chance, so that workers who failed together do not come back together."""
    assert [backoff(attempt, 1) for attempt in (1, 2, 3, 4)] == [FIRST_WAIT * factor for factor in (1, 2, 4, 8)]
    assert [backoff(attempt, 0) for attempt in (1, 2)] == [FIRST_WAIT / 2, FIRST_WAIT]
    assert backoff(9, 1) == backoff(9999, 1) == LAST_WAIT


def test_turns_are_an_interval_apart() -> None:
    """The first at once, each next one an interval after the one before, not after the one who asks."""
    time_ = FakeTime()
    pace = Pace(2, 60, time_.clock)
    began: list[float] = []
    for _ in range(3):
        assert pace.turn() == 0
        began.append(time_.passed)
    time_.passed += 1.5
    pace.turn()
    began.append(time_.passed)
    time_.passed += 50
    for _ in range(2):
        pace.turn()
        began.append(time_.passed)
    assert began == [0, 2, 4, 6, 56, 58]
    assert pace.turns == 6


def test_turns_of_many_threads_are_an_interval_apart() -> None:
    """On a real clock, eight threads, each start at least the interval after the one before."""
    pace = Pace(0.01, 60, Clock())
    began = time.monotonic()
    starts: list[float] = []

    def work() -> None:
        for _ in range(3):
            pace.turn()
            starts.append(time.monotonic())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert pace.turns == len(starts) == 24
    assert max(starts) - began >= 23 * 0.01


def test_silence_is_kept_or_refused() -> None:
    """Up to the longest wait it is waited for, also by those whose turn it was; beyond, nobody waits at all."""
    time_ = FakeTime()
    pace = Pace(1, 60, time_.clock)
    pace.turn()
    pace.hold(10)
    pace.hold(5)
    pace.turn()
    assert time_.passed == 10
    pace.hold(100)
    assert pace.turn() == 100
    assert time_.passed == 10
    assert pace.turns == 2
    time_.passed += 40
    assert pace.turn() == 0
    assert time_.passed == 110


# --- what a server sent ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "found"),
    [
        (None, ("", None)),
        ("", ("", None)),
        ("TEXT/HTML", ("text/html", None)),
        ("text/html; charset=UTF-8", ("text/html", "utf-8")),
        ('text/html;charset="utf-8"; x=y', ("text/html", "utf-8")),
        ("application/xhtml+xml", ("application/xhtml+xml", None)),
        ("nonsense", ("text/plain", None)),
    ],
)
def test_content_type(header: str | None, found: tuple[str, str | None]) -> None:
    """Type and charset, in lower case."""
    assert received.content_type(header) == found


@given(st.text(st.characters(max_codepoint=255), max_size=60), st.binary(max_size=60))
def test_any_header_and_body_are_taken(header: str, body: bytes) -> None:
    """Whatever a server sends, its type, words and target are found or are not, without a crash."""
    kind, charset = received.content_type(header)
    received.words(body, kind)
    target = received.redirected("https://a.example/w/index.php", header)
    assert target is None or target.startswith(("http://", "https://"))
    for name in (charset, header):
        try:
            received.in_utf8(body, name)
        except ValueError:
            continue


@pytest.mark.parametrize(
    ("body", "kind", "said"),
    [
        (b"<html><title>\n Wikimedia  Error </title><p>No.</p>", "text/html", "Wikimedia Error"),
        (b"<title>&lt;b&gt; &amp; \x1b</title>", "text/html", "<b> & \\x1b"),
        (b"<p>No title.</p>", "text/html", ""),
        (b"<p>No.</p>\n", "text/plain", "<p>No.</p>"),
        (b"", "text/plain", ""),
        (b"\xff\n\tNo", "", "\ufffd No"),
        (b"a wheelbarrow-like unfriendliness", "", "a wheelbarrow-like unfriendliness"),
        (b"id 4f1d2c3b4a596877 from 10.0.0.1, 2001:db8:0:0:0:0:0:1", "", "id … from …, …"),
    ],
)
def test_words(body: bytes, kind: str, said: str) -> None:
    """A title, or the first words, on one line."""
    assert received.words(body, kind) == said


def test_request_ids_are_blotted_out_of_the_head_only() -> None:
    """What an article says is left alone, and so is all else."""
    page = b'<head><script>RLCONF={"wgTitle":"V","wgRequestId": "canary7"};</script></head>'
    text = b'<body><p>It prints "wgRequestId":"abc" there.</p></body></html>'
    assert received.without_request_id(page + text) == page.replace(b"canary7", b"") + text


# --- work done once -------------------------------------------------------------------------------------------------


def test_work_is_done_once() -> None:
    """Its result is remembered, by key."""
    flights = Flights()
    numbers = iter(range(10))
    assert [flights.once(key, lambda: next(numbers)) for key in ("a", "b", "a", "b", "c")] == [0, 1, 0, 1, 2]


def test_failures_are_shared_and_forgotten() -> None:
    """Who waits for work that fails gets the same error; who comes later has it done anew."""
    flights = Flights()
    begun, go_on = threading.Event(), threading.Event()
    caught: list[BaseException] = []

    def fails() -> None:
        begun.set()
        go_on.wait(5)
        raise InfraError("no")

    def ask() -> None:
        try:
            flights.once("a", fails)
        except InfraError as error:
            caught.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    begun.wait(5)
    time.sleep(0.05)
    go_on.set()
    for thread in threads:
        thread.join()
    assert [str(error) for error in caught] == ["no"] * 4
    assert flights.once("a", lambda: 7) == 7


def test_an_interruption_is_not_passed_on() -> None:
    """Ctrl-C reaches the one whom it met; who waited for him gets an infra error."""
    flights = Flights()
    begun, waited = threading.Event(), threading.Event()
    caught: list[BaseException] = []

    def interrupted() -> None:
        begun.set()
        waited.wait(5)
        raise KeyboardInterrupt

    def wait() -> None:
        begun.wait(5)
        threading.Timer(0.05, waited.set).start()
        try:
            flights.once("a", lambda: None)
        except BaseException as error:
            caught.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        flights.once("a", interrupted)
    thread.join()
    assert [type(error) for error in caught] == [InfraError]


def test_dates_are_compared_in_utc() -> None:
    """A date without a zone is UTC, as RFC 9110 has it."""
    assert retry_after("Mon, 30 Nov 2026 19:23:05", NOW) == 60
    assert retry_after("Mon, 30 Nov 2026 19:23:05 GMT", NOW + timedelta(seconds=59)) == 1


def test_the_documentation_says_what_the_code_does() -> None:
    """Modes, wikis, parameters and every number of the section stand there as they are."""
    text = Path(__file__).parents[2].joinpath("docs", "wiki-pages.md").read_text(encoding="utf-8")
    section = text.split("\n## Reading a live wiki\n")[1].split("\n## ")[0]
    assert re.findall(r"^\| `(\w+)`", section, re.MULTILINE) == list(MODES)
    listed = section.split("finds a page (")[1].split(")")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == sites.PARAMETERS
    defaults = {name: one.default for name, one in inspect.signature(live.WikiClient).parameters.items()}
    connect, read = live.TIMEOUT
    for said in (
        f"`enwiki` is {sites.SITES['enwiki']}, `pelm`",
        f"lie {live.INTERVAL:g} s; none on this machine",
        f"{connect:g} s to connect, {read:g} s without a byte, {defaults['longest_answer']} s for a page",
        f"{live.REDIRECTS} redirects, to http and https. {live.LIMIT >> 20} MiB, unpacked",
        f"tried again, {defaults['retries']} times, after about 1, 2, 4 and 8 s",
        f"Up to {defaults['longest_wait']} s are waited",
    ):
        assert said in " ".join(section.split())
    assert sites.SITES.keys() == {"enwiki", "pelm"}
    assert defaults["timeout"] == live.TIMEOUT
    assert all(f"`{kind}`" in section for kind in received.HTML)
