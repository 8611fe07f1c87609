"""Asking a live wiki: who asks, how often, how long, and what counts as an answer."""

from __future__ import annotations

import gzip
import re
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reactrepro import __version__
from reactrepro.errors import InfraError, Usage
from reactrepro.wiki.live import REDIRECTS, WikiClient
from reactrepro.wiki.patience import Clock

from . import mediawiki as mw
from .fake_wiki import HTML, POLICY, FakeTime, FakeWiki, Reply, client, page, redirect, serving
from .samples import HARD

TEXT = {"Content-Type": "text/plain"}
ERROR_PAGE = "<html><head><title>Wikimedia Error</title></head><body><p>Too many of them.</p></body></html>"
VORLAND = mw.article("<p>Vorland is a town.</p>").encode()


@pytest.fixture
def wiki(loopback: str) -> Iterator[FakeWiki]:
    """A wiki on this machine."""
    with serving() as wiki:
        yield wiki


def infra(asking: WikiClient, query: str = "Vorland") -> str:
    """The message of the infra error that *query* ends in."""
    with pytest.raises(InfraError) as caught:
        asking.fetch(query)
    assert caught.value.exit_code == 4
    assert str(caught.value).isprintable()
    return str(caught.value)


# --- who asks -------------------------------------------------------------------------------------------------------


@pytest.mark.case("B03")
def test_who_asks_is_said(wiki: FakeWiki) -> None:
    """The User-Agent has Wikimedia's form: program and version, how to reach the operator, the library."""
    with closing(client(wiki, contact="mailto:ada@quill.example")) as asking:
        asking.fetch("Vorland")
    with closing(client(wiki)) as asking:
        asking.fetch("Vorland")
        assert asking.contact is None
    with closing(client(wiki, user_agent="Mine/1.0 (https://quill.example/)")) as asking:
        asking.fetch("Vorland")
    first, second, third = (headers["user-agent"] for headers in wiki.headers)
    program = re.escape(f"reactrepro/{__version__}")
    assert re.fullmatch(rf"{program} \(mailto:ada@quill\.example\) python-requests/[\d.]+", first)
    assert re.fullmatch(rf"{program} \(no contact given\) python-requests/[\d.]+", second)
    assert third == "Mine/1.0 (https://quill.example/)"
    assert {headers["accept-encoding"] for headers in wiki.headers} == {"gzip"}


@pytest.mark.parametrize("contact", ["ada@quill.example\r\nCookie: a=b", "Żuławska", "tab\tbed"])
def test_a_contact_that_is_no_header_is_refused(contact: str) -> None:
    """What cannot be sent, or would be sent as something else, is a usage error at the start."""
    with pytest.raises(Usage, match="printable ASCII"):
        WikiClient("http://127.0.0.1/w/index.php", contact=contact)


@pytest.mark.case("B03")
def test_403_is_an_infra_error(wiki: FakeWiki) -> None:
    """The refusal of an anonymous client is no page: URL, status and its words are in the error, and what to do."""
    wiki.says("Harlow Bay", Reply(POLICY, 403, TEXT))
    with closing(client(wiki)) as asking:
        said = infra(asking, "Harlow Bay")
    assert f"{wiki.base_url}?search=Harlow+Bay" in said
    assert "status 403" in said
    assert POLICY.decode() in said
    assert "--contact" in said
    assert wiki.asked == ["Harlow Bay"]
    with closing(client(wiki, contact="ada@quill.example")) as asking:
        assert "--contact" not in infra(asking, "Harlow Bay")


@pytest.mark.parametrize("status", [204, 304, 400, 401, 404, 410, 414])
def test_other_statuses_are_infra_errors_at_once(wiki: FakeWiki, status: int) -> None:
    """What another attempt would not change is not tried again."""
    wiki.says("Vorland", Reply("" if status in (204, 304) else mw.article("<p>Not a page of it.</p>"), status))
    with closing(client(wiki)) as asking:
        assert f"status {status}" in infra(asking)
    assert wiki.asked == ["Vorland"]


def test_what_an_error_says_is_shown_safely(wiki: FakeWiki) -> None:
    """Short, on one line, without control characters, addresses of machines and numbers of requests."""
    said = "\x1b[2J\u202eNo.\nRequest from 192.0.2.7 and 2001:db8::7 via 1a2b3c4d-1a2b-4c3d-9e8f-a1b2c3d4e5f6, "
    wiki.says("Vorland", Reply(said + "o" * 900, 403, TEXT))
    with closing(client(wiki, contact="x")) as asking:
        message = infra(asking)
    assert r"\x1b[2J\u202eNo. Request from … and … via …, ooo" in message
    assert len(message) < 400


def test_no_cookie_and_no_password_is_ever_sent(
    wiki: FakeWiki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither what the wiki sets, nor what a .netrc or a redirect holds, comes back to it."""
    netrc = tmp_path / ".netrc"
    netrc.write_text("machine 127.0.0.1 login ada password canary\n", encoding="ascii")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HOME", str(tmp_path))
    location = wiki.base_url.replace("//", "//ada:canary@").replace("index.php", "there")
    wiki.says("Vorland", redirect(location, **{"Set-Cookie": "session=canary"}))
    wiki.says("/w/there", page(headers={**HTML, "Set-Cookie": "session=canary; Path=/"}))
    with closing(client(wiki)) as asking:
        found = asking.fetch("Vorland")
        asking.fetch("Vorland")
    assert found.final_url == wiki.base_url.replace("index.php", "there")
    assert "canary" not in repr((wiki.headers, wiki.paths, found))
    assert {name for headers in wiki.headers for name in headers} == {
        "host", "user-agent", "accept-encoding", "accept", "connection",
    }  # fmt: skip


# --- proxies and certificates ---------------------------------------------------------------------------------------


def test_proxies_of_the_environment_are_used_but_for_this_machine(
    wiki: FakeWiki, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user behind a proxy can record; a wiki on this machine is asked directly, and no_proxy is heeded."""
    monkeypatch.setenv("http_proxy", f"http://ada:secret@127.0.0.1:{wiki.port}")
    with closing(WikiClient("http://wiki.invalid/w/index.php")) as asking:
        assert asking.fetch("Vorland").final_url == "http://wiki.invalid/w/index.php?search=Vorland"
    assert wiki.paths == ["http://wiki.invalid/w/index.php?search=Vorland"]
    assert "proxy-authorization" in wiki.headers[0]
    assert "authorization" not in wiki.headers[0]
    with closing(client(wiki)) as asking:
        asking.fetch("Vorland")
    assert wiki.paths[1:] == ["/w/index.php?search=Vorland"]
    assert "proxy-authorization" not in wiki.headers[1]


@pytest.mark.parametrize("proxy", ["http://ada:canary@127.0.0.1:1", "http://ada:canary@[bad", "nope://ada:canary@x"])
def test_a_proxy_that_fails_is_an_infra_error_without_its_password(
    loopback: str, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    """Errors of the library can hold the proxy's address; ours never do, and hide no other error either."""
    monkeypatch.setenv("http_proxy", proxy)
    asking = WikiClient("http://wiki.invalid/w/index.php", clock=FakeTime().clock, retries=1)
    with closing(asking), pytest.raises(InfraError) as caught:
        asking.fetch("Vorland")
    assert "canary" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_a_certificate_bundle_that_is_not_there_is_a_usage_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variable is named, at the start; its value, which tells of somebody's folders, is not."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "none.pem"))
    with pytest.raises(Usage, match="REQUESTS_CA_BUNDLE names no file") as caught:
        WikiClient("https://quill.example/w/index.php")
    assert str(tmp_path) not in str(caught.value)


def test_a_server_that_speaks_no_tls_is_an_infra_error(wiki: FakeWiki) -> None:
    """The system's word for it is passed on."""
    with closing(WikiClient(wiki.base_url.replace("http:", "https:"), retries=0)) as asking:
        assert re.search(r"the connection failed \(\[SSL", infra(asking))


# --- patience -------------------------------------------------------------------------------------------------------


@pytest.mark.case("B17")
@pytest.mark.parametrize("header", ["7", "Mon, 30 Nov 2026 19:22:12 GMT"])
def test_retry_after_is_waited_for(wiki: FakeWiki, header: str) -> None:
    """429 with Retry-After, as seconds or as a date, then 200: waits as told, asks once more, gives the page."""
    busy = Reply(ERROR_PAGE, 429, {**HTML, "Retry-After": header})
    wiki.says("Vorland", busy, page())
    clock = FakeTime()
    with closing(client(wiki, clock)) as asking:
        assert asking.fetch("Vorland").html == VORLAND
    assert clock.passed == 7
    assert len(wiki.asked) == 2


@pytest.mark.case("B17")
def test_who_is_told_to_be_silent_for_long_is_silent(wiki: FakeWiki) -> None:
    """A Retry-After beyond the bound is an infra error that says how long; until then nobody asks for anything."""
    wiki.says("Vorland", Reply(ERROR_PAGE, 429, {**HTML, "Retry-After": "86400"}), page())
    clock = FakeTime()
    with closing(client(wiki, clock)) as asking:
        said = infra(asking)
        assert "86400 s of silence" in said
        assert "status 429: Wikimedia Error" in said
        clock.passed += 100
        assert "86300 s of silence" in infra(asking, "Harlow Bay")
        assert wiki.asked == ["Vorland"]
        assert clock.slept == []
        clock.passed += 86300
        assert asking.fetch("Vorland").status == 200


def test_all_are_silent_when_one_was_told(wiki: FakeWiki) -> None:
    """Retry-After is meant for the program, not for the thread that happened to ask."""
    wiki.says("Vorland", Reply("", 503, {"Retry-After": "60"}))
    clock = FakeTime()
    with closing(client(wiki, clock, retries=0)) as asking:
        infra(asking)
        asking.fetch("Harlow Bay")
    assert clock.passed == 60


@pytest.mark.case("B17")
@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 599])
def test_attempts_are_bounded(wiki: FakeWiki, status: int) -> None:
    """429 and 5xx are tried again, each time after twice the wait, and then are an infra error."""
    wiki.says("Vorland", Reply(ERROR_PAGE, status))
    clock = FakeTime()
    with closing(client(wiki, clock, retries=3)) as asking:
        said = infra(asking)
    assert f"in 4 attempts; at last it answered with status {status}: Wikimedia Error." in said
    assert len(wiki.asked) == 4
    assert clock.slept == [1, 2, 4]


@pytest.mark.case("B17")
def test_a_dropped_connection_is_tried_again(wiki: FakeWiki) -> None:
    """Closed without an answer, or in the middle of one: as with an error of the server."""
    half = Reply(VORLAND[:300], length=len(VORLAND))
    chunks = Reply(VORLAND[:300], chunked="cut")
    wiki.says("Vorland", Reply(drop=True), half, chunks, page())
    with closing(client(wiki)) as asking:
        assert asking.fetch("Vorland").html == VORLAND
        assert asking.requests_made == len(wiki.asked) == 4
    wiki.says("Bay", Reply(drop=True))
    with closing(client(wiki, retries=1)) as asking:
        assert "the connection failed (RemoteDisconnected)" in infra(asking, "Bay")


def test_a_server_that_is_not_there(loopback: str) -> None:
    """The system's reason is in the error."""
    with closing(WikiClient("http://127.0.0.1:1/w/index.php", clock=FakeTime().clock)) as asking:
        assert re.search(r"in 5 attempts; at last the connection failed \(.*refused.*\)", infra(asking))


@pytest.mark.case("B17")
def test_a_socket_that_never_answers(wiki: FakeWiki) -> None:
    """Time-outs are finite, before the first byte and between two."""
    wiki.says("Vorland", Reply(pause=10))
    wiki.says("Bay", page(pieces=2, pause=10))
    began = time.monotonic()
    with closing(client(wiki, timeout=(1, 0.1), retries=1)) as asking:
        for query in ("Vorland", "Bay"):
            assert "not one byte in 0.1 s" in infra(asking, query)
    assert time.monotonic() - began < 3
    assert len(wiki.asked) == 4


def test_a_page_that_never_ends(wiki: FakeWiki) -> None:
    """A server that sends a few bytes now and then does not hold a worker for ever."""
    wiki.says("Vorland", page(pieces=400, pause=0.02))
    with closing(WikiClient(wiki.base_url, timeout=(1, 1), longest_answer=0.1, retries=0)) as asking:
        assert "not complete after 0.1 s" in infra(asking)


def test_one_pace_for_all_workers(wiki: FakeWiki) -> None:
    """Between two requests lies the interval, whoever makes them; a followed redirect is a request."""
    wiki.says("Vorland", redirect("/wiki/Vorland"))
    wiki.says("/wiki/Vorland", page())
    clock = FakeTime()
    with closing(client(wiki, clock, min_interval=0.5)) as asking:
        threads = [threading.Thread(target=asking.fetch, args=("Vorland",)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert asking.requests_made == len(wiki.asked) == 16
    assert clock.passed >= 15 * 0.5


@pytest.mark.parametrize(("base_url", "pause"), [("http://127.0.0.1/w/i.php", 0), ("https://a.example/w/i.php", 0.5)])
def test_strangers_are_asked_slowly_by_default(base_url: str, pause: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a second between requests; a wiki on this machine bothers nobody."""
    clock = FakeTime()
    with closing(WikiClient(base_url, clock=clock.clock, retries=0)) as asking:
        monkeypatch.setattr(asking._session, "send", lambda *_, **__: (_ for _ in ()).throw(TimeoutError()))
        for _ in range(3):
            infra(asking)
    assert clock.passed == 2 * pause


# --- what was asked -------------------------------------------------------------------------------------------------


def test_special_characters_are_parts_of_the_query(wiki: FakeWiki) -> None:
    """The kind "a query with special characters": each arrives as it is, and different queries stay different."""
    queries = ["A&B", "A", "C#", "C", "a+b", "a b", "100%", "100%25", "ü", "u\u0308", "x=y", "?", "/", "\\", "é;ß"]
    with closing(client(wiki)) as asking:
        for query in [*queries, *HARD]:
            asking.fetch(query)
    assert wiki.asked == [*queries, *HARD]
    assert wiki.paths[:9] == [
        f"/w/index.php?search={spelled}"
        for spelled in ("A%26B", "A", "C%23", "C", "a%2Bb", "a+b", "100%25", "100%2525", "%C3%BC")
    ]


@given(query=st.text(st.characters(), max_size=40))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_query_arrives(wiki: FakeWiki, query: str) -> None:
    """Whatever a model writes, lone surrogates included, is sent to the character."""
    with closing(client(wiki)) as asking:
        asking.fetch(query)
    assert wiki.asked[-1] == query


def test_redirects_are_followed_and_noted(wiki: FakeWiki) -> None:
    """What was asked, what lay between, and what answered; an address beyond ASCII, relative or absolute."""
    root = wiki.base_url.removesuffix("/w/index.php")
    wiki.says("Zoë", redirect("/wiki/Zo\u00c3\u00ab", 301))  # UTF-8 bytes, as raw as some servers send them
    wiki.says("/wiki/Zo%C3%AB", redirect("Zoe_Marlow", 308))
    wiki.says("/wiki/Zoe_Marlow", redirect(f"{root}/wiki/Marlow#Life", 307))
    wiki.says("/wiki/Marlow", page())
    with closing(client(wiki, min_interval=60)) as asking:
        found = asking.fetch("Zoë")
    assert found.asked == f"{wiki.base_url}?search=Zo%C3%AB"
    assert found.redirects == (f"{root}/wiki/Zo%C3%AB", f"{root}/wiki/Zoe_Marlow")
    assert found.final_url == f"{root}/wiki/Marlow"
    assert (found.status, found.time, found.html) == (200, "2026-11-30T19:22:05Z", VORLAND)


def test_a_redirect_keeps_the_connection(wiki: FakeWiki) -> None:
    """The body of a redirect is read, so that the next request needs no new connection."""
    wiki.says("Vorland", Reply("moved " * 2000, 302, {"Location": "/wiki/Vorland", **HTML}))
    wiki.says("/wiki/Vorland", page())
    with closing(client(wiki)) as asking:
        asking.fetch("Vorland")
        asking.fetch("Vorland")
    assert (len(wiki.asked), wiki.connections) == (4, 1)


def test_redirects_are_bounded(wiki: FakeWiki) -> None:
    """A circle ends at once, a chain after ten."""
    wiki.says("Vorland", redirect("/wiki/A"))
    wiki.says("/wiki/A", redirect("/wiki/B"))
    wiki.says("/wiki/B", redirect("/wiki/A"))
    wiki.says("Bay", redirect("/wiki/0"))
    for number in range(20):
        wiki.says(f"/wiki/{number}", redirect(f"/wiki/{number + 1}"))
    with closing(client(wiki)) as asking:
        assert "redirects in a circle, last to" in infra(asking)
        assert wiki.asked == ["Vorland", "/wiki/A", "/wiki/B"]
        assert f"more than {REDIRECTS} times" in infra(asking, "Bay")
        assert len(wiki.asked) == 3 + 1 + REDIRECTS


@pytest.mark.parametrize(
    "location",
    ["file:///etc/passwd", "ftp://a.example/", "javascript:alert(1)", "https:///x", "http://a:b:c/",
     "http://a.example:99999/", "http://[::1/", "\u00ff\u00fe", "data:text/html,<p>a b c</p>"],
)  # fmt: skip
def test_a_redirect_to_no_web_address_is_an_infra_error(wiki: FakeWiki, location: str) -> None:
    """Only http and https are followed."""
    wiki.says("Vorland", redirect(location))
    with closing(client(wiki)) as asking:
        assert "redirects to what is no http or https address" in infra(asking)


def test_a_redirect_without_an_address_is_an_infra_error(wiki: FakeWiki) -> None:
    """It is a status that is not 200."""
    wiki.says("Vorland", Reply(mw.article("<p>a b c</p>"), 302))
    with closing(client(wiki)) as asking:
        assert "status 302" in infra(asking)


# --- what came ------------------------------------------------------------------------------------------------------


@pytest.mark.case("B45")
def test_a_packed_page_is_unpacked(wiki: FakeWiki) -> None:
    """gzip, whole or in chunks, gives the same text; a packed body that is empty or broken is no page, and no crash."""
    packed = gzip.compress(VORLAND)
    headers = {**HTML, "Content-Encoding": "gzip"}
    wiki.says("Vorland", Reply(packed, headers=headers))
    wiki.says("Chunks", Reply(packed, headers=headers, chunked="whole", pieces=7))
    wiki.says("Deflated", Reply(zlib.compress(VORLAND), headers={**HTML, "Content-Encoding": "deflate"}))
    wiki.says("Empty", Reply(b"", headers=headers))
    wiki.says("Broken", Reply(b"\x1f\x8b" + VORLAND, headers=headers))
    wiki.says("Cut", Reply(packed[:-40], headers=headers))
    with closing(client(wiki, retries=0)) as asking:
        assert {asking.fetch(query).html for query in ("Vorland", "Chunks", "Deflated")} == {VORLAND}
        assert "ends before its end tag" in infra(asking, "Empty")
        assert "the connection failed (DecodeError)" in infra(asking, "Broken")
        assert infra(asking, "Cut")


def test_a_page_cut_short_is_no_page(wiki: FakeWiki) -> None:
    """Also where the connection's end is all that says where it ends: a page of MediaWiki's has an end tag."""
    wiki.says("Vorland", Reply(VORLAND[:-20], length=-1))
    with closing(client(wiki, retries=2)) as asking:
        assert "ends before its end tag" in infra(asking)
    assert len(wiki.asked) == 3
    wiki.says("Bay", Reply(VORLAND, length=-1))
    with closing(client(wiki)) as asking:
        assert asking.fetch("Bay").html == VORLAND


@pytest.mark.parametrize("kind", ["text/plain", "application/json", "image/png", "text", "", "multipart/form-data"])
def test_what_is_no_html_is_no_page(wiki: FakeWiki, kind: str) -> None:
    """Whatever it looks like: its type is the server's word."""
    wiki.says("Vorland", Reply(VORLAND, headers={"Content-Type": kind} if kind else {}))
    with closing(client(wiki)) as asking:
        assert "status 200, but" in infra(asking)


def test_a_page_has_a_greatest_size(wiki: FakeWiki) -> None:
    """Counted as it comes in, unpacked: neither a long page nor a small one that unpacks to much fills the memory."""
    wiki.says("Long", Reply(VORLAND + b"x" * 5000))
    wiki.says("Bomb", Reply(gzip.compress(b" " * 50_000_000), headers={**HTML, "Content-Encoding": "gzip"}))
    wiki.says("Endless", Reply(VORLAND, length=1 << 40))
    with closing(client(wiki, limit=5000, retries=0)) as asking:
        for query in ("Long", "Bomb"):
            assert "larger than 5000 bytes" in infra(asking, query)
        assert "IncompleteRead" in infra(asking, "Endless")


def test_a_page_is_kept_in_utf_8(wiki: FakeWiki) -> None:
    """In UTF-8 it stays as it came, byte for byte; in another encoding it is turned; in neither, it is no page."""
    text = mw.article("<p>Zoë is – naïve.</p>")
    odd = VORLAND.replace(b"town", b"to\xffwn")
    for name, body, charset in [
        ("utf-8", text.encode(), "; charset=utf-8"),
        ("alias", text.encode(), '; Charset="UTF8"'),
        ("none", text.encode(), ""),
        ("1252", text.encode("cp1252"), "; charset=windows-1252"),
        ("utf-16", text.encode("utf-16"), "; charset=utf-16"),
        ("odd", odd, "; charset=utf-8"),
        ("wrong", text.encode(), "; charset=us-ascii"),
        ("unknown", text.encode(), "; charset=klingon"),
        ("no text", text.encode(), "; charset=hex"),
    ]:
        wiki.says(name, Reply(body, headers={"Content-Type": f"text/html{charset}"}))
    with closing(client(wiki)) as asking:
        for name in ("utf-8", "alias", "none", "1252", "utf-16"):
            assert asking.fetch(name).html == text.encode()
        assert asking.fetch("odd").html == odd
        for name in ("wrong", "unknown", "no text"):
            assert "is not in the encoding that it says" in infra(asking, name)


def test_the_clock_is_the_worlds_unless_told_otherwise() -> None:
    """Time and chance are parameters, with the usual ones as defaults."""
    clock = Clock()
    assert clock.now().utcoffset() is not None
    assert clock.monotonic() <= clock.monotonic()
    assert 0 <= clock.chance() < 1
