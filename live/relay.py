"""A relay before an LLM server: it counts calls, and a check may act at an exact moment of one (delay it, kill it)."""

from __future__ import annotations

import contextlib
import http.client
import threading
from collections.abc import Callable, Container, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from .process import LOOPBACK

Moment: TypeAlias = Literal["asked", "answered", "passed"]
"""Of one call: the server has it and has not answered; its answer is here and goes no further yet; it was passed on."""

_SECONDS = 600
_OWN = frozenset({"connection", "content-length", "host", "keep-alive", "transfer-encoding"})
"""Headers that belong to one connection; the others are passed on as they come."""


_REFUSAL = {"Content-Type": "application/json", "Retry-After": "1"}
_SLOWLY = b'{"error": {"message": "too many requests", "type": "rate_limit", "code": "rate_limit_exceeded"}}'


class Relay:
    """Passes calls on to a server, one connection each. A context manager: it listens inside.

    Where the server gives no answer, the caller's connection is closed without one.

    Args:
        target: base URL of the server.
        watch: told of each moment of each call (numbered from 1), in the thread that carries it, and before it goes on.
        headers: added to every answer.
        refused: numbers of calls that the server never sees: status 429, with a second to wait.

    Attributes:
        base_url: the same address on this relay.
        calls: how many calls came in.
        keys: what the callers sent as keys.
    """

    def __init__(
        self,
        target: str,
        watch: Callable[[Moment, int], None] = lambda moment, number: None,
        headers: Mapping[str, str] | None = None,
        refused: Container[int] = (),
    ) -> None:
        parts = urlsplit(target)
        self._netloc = parts.netloc
        self._headers = dict(headers or {})
        self._lock = threading.Lock()
        self._server = _Server((LOOPBACK, 0), _Handler)
        self._server.relay = self
        self.base_url = f"http://{LOOPBACK}:{self._server.server_address[1]}{parts.path}"
        self.watch, self.refused = watch, refused
        self.calls = 0
        self.keys: set[str] = set()

    def __enter__(self) -> Relay:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def enter(self, headers: Mapping[str, str]) -> int:
        """Count a call; return its number."""
        with self._lock:
            self.calls += 1
            self.keys |= {value for name, value in headers.items() if name.lower() in {"authorization", "x-api-key"}}
            return self.calls

    def ask(self, path: str, headers: Mapping[str, str], body: bytes, number: int) -> tuple[int, dict[str, str], bytes]:
        """Return the server's answer: status, headers, body.

        Raises:
            OSError, http.client.HTTPException: there is none.
        """
        connection = http.client.HTTPConnection(self._netloc, timeout=_SECONDS)
        with contextlib.closing(connection):
            connection.request("POST", path, body, _passed_on(headers))
            self.watch("asked", number)
            response = connection.getresponse()
            answer = response.read()
            self.watch("answered", number)
            return response.status, {**_passed_on(dict(response.getheaders())), **self._headers}, answer


class _Server(ThreadingHTTPServer):
    relay: Relay

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: callers that are killed in the middle of a call are what a relay is for."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        relay, headers = self.server.relay, dict(self.headers.items())
        body = self.rfile.read(int(self.headers["Content-Length"]))
        number = relay.enter(headers)
        if number in relay.refused:
            self.send_response_only(429)
            for name, value in {**_REFUSAL, "Content-Length": str(len(_SLOWLY))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(_SLOWLY)
            return
        try:
            status, more, answer = relay.ask(self.path, headers, body, number)
        except (OSError, http.client.HTTPException):
            self.close_connection = True
            return
        self.send_response_only(status)
        for name, value in {**more, "Content-Length": str(len(answer))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer)
        self.wfile.flush()
        relay.watch("passed", number)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def _passed_on(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _OWN}
