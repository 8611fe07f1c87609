"""A wiki on this machine that answers, and misbehaves, as it is told."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from reactrepro.wiki.live import WikiClient
from reactrepro.wiki.patience import Clock

from . import mediawiki as mw

HTML = {"Content-Type": "text/html; charset=UTF-8"}
POLICY = b"Set a user agent and follow the robot policy."


@dataclass(frozen=True)
class Reply:
    """One answer.

    Attributes:
        body: str is sent as UTF-8.
        headers: None: `HTML`; a Content-Length is added unless one is given or the body comes in pieces.
        length: the Content-Length to state; None: the true one; -1: none, the body ends with the connection.
        pause: seconds before the answer, or between pieces.
        pieces: the body is sent in so many.
        chunked: by HTTP's chunked encoding, of which "cut" leaves out the end.
        drop: the connection is closed instead of an answer.
    """

    body: str | bytes = b""
    status: int = 200
    headers: Mapping[str, str] | None = None
    length: int | None = None
    pause: float = 0
    pieces: int = 1
    chunked: str = ""
    drop: bool = False


def page(body: str = "<p>Vorland is a town.</p>", **fields: Any) -> Reply:
    """An article."""
    return Reply(mw.article(body), **fields)


def redirect(location: str, status: int = 302, **headers: str) -> Reply:
    """A redirect."""
    return Reply(status=status, headers={"Location": location, **headers})


@dataclass
class FakeWiki:
    """The server, as a test sees it.

    Attributes:
        base_url: the address of its index.php.
        replies: query, or path for all but index.php, to the replies in order; the last one is repeated.
        asked: of every request its query, or path.
        headers, paths: of every request its headers, and path with query as sent.
        connections: how many were opened.
    """

    base_url: str = ""
    replies: dict[str, Sequence[Reply]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    connections: int = 0
    stopping: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def port(self) -> int:
        """Where it listens."""
        port = urlsplit(self.base_url).port
        assert port is not None
        return port

    def says(self, query: str, *replies: Reply) -> None:
        """Have *query* (or a path) answered by *replies*."""
        self.replies[query] = replies

    def reply(self, path: str, headers: dict[str, str]) -> Reply:
        """Note a request, and return the answer to it."""
        parts = urlsplit(path)
        name = parts.path
        if name.endswith("/index.php"):
            given = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=True, errors="surrogatepass"))
            name = given["search"]
        with self.lock:
            before = self.asked.count(name)
            self.asked.append(name)
            self.headers.append(headers)
            self.paths.append(path)
        replies = self.replies.get(name) or [Reply(mw.nothing(name.encode("utf-8", "replace").decode()))]
        return replies[min(before, len(replies) - 1)]


class Handler(BaseHTTPRequestHandler):
    """Sends what `FakeWiki.reply` says."""

    protocol_version = "HTTP/1.1"
    timeout = 10
    disable_nagle_algorithm = True
    wiki: FakeWiki

    def setup(self) -> None:
        super().setup()
        self.wiki.connections += 1

    def do_GET(self) -> None:
        reply = self.wiki.reply(self.path, {name.lower(): value for name, value in self.headers.items()})
        if reply.pieces == 1 and reply.pause:
            self.wiki.stopping.wait(reply.pause)
        if reply.drop:
            self.close_connection = True
            return
        body = reply.body.encode() if isinstance(reply.body, str) else reply.body
        self.send_response(reply.status)
        for name, value in (HTML if reply.headers is None else reply.headers).items():
            self.send_header(name, value)
        if reply.chunked:
            self.send_header("Transfer-Encoding", "chunked")
        elif reply.length != -1:
            self.send_header("Content-Length", str(len(body) if reply.length is None else reply.length))
        self.close_connection = reply.length is not None or reply.chunked == "cut"
        self.end_headers()
        size = -(-len(body) // reply.pieces) or 1
        for start in range(0, len(body), size):
            piece = body[start : start + size]
            self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if reply.chunked else piece)
            if reply.pieces > 1:
                self.wfile.flush()
                if self.wiki.stopping.wait(reply.pause):
                    return
        if reply.chunked == "whole":
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """A server that takes a client's leaving as it comes."""

    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(wiki: FakeWiki | None = None, path: str = "/w/index.php") -> Iterator[FakeWiki]:
    """Serve a wiki on a port of its own."""
    wiki = wiki or FakeWiki()
    server = Server(("127.0.0.1", 0), type("OneHandler", (Handler,), {"wiki": wiki}))
    wiki.base_url = f"http://127.0.0.1:{server.server_address[1]}{path}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield wiki
    finally:
        wiki.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()


class FakeTime:
    """Time that passes only while somebody sleeps.

    Attributes:
        passed: seconds since the beginning.
        slept: every sleep.
    """

    START = datetime(2026, 11, 30, 19, 22, 5, tzinfo=UTC)

    def __init__(self) -> None:
        self.passed = 0.0
        self.slept: list[float] = []
        self._lock = threading.Lock()

    @property
    def clock(self) -> Clock:
        """As the client takes it; chance always gives the longest wait."""
        return Clock(lambda: self.passed, self.sleep, lambda: self.START + timedelta(seconds=self.passed), lambda: 1.0)

    def sleep(self, seconds: float) -> None:
        """Let time pass, without taking any."""
        with self._lock:
            self.passed += seconds
            self.slept.append(seconds)
        time.sleep(0)


def client(wiki: FakeWiki, clock: FakeTime | None = None, **options: Any) -> WikiClient:
    """A client of *wiki* that never really waits, unless told otherwise."""
    return WikiClient(wiki.base_url, clock=(clock or FakeTime()).clock, **options)
