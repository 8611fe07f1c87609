"""A server on this machine that has files, and misbehaves as told; and a small data set."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from reactrepro.data.catalogue import DataFile


@dataclass(frozen=True)
class Answer:
    """What is sent.

    Attributes:
        body: all of it.
        status: HTTP status.
        headers: beside Content-Length.
        length: what Content-Length says; None: the truth; -1: there is none.
        hang: the body is followed by silence until the client leaves.
    """

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None
    hang: bool = False


class Mirror:
    """What is served.

    Attributes:
        address: where, without a slash at its end.
        answers: path -> what it answers: one after the other, the last one for ever.
        asked: the paths asked for, in order; headers in lower case beside each.
        sent: set once a body was sent.
    """

    def __init__(self) -> None:
        self.address = ""
        self.answers: dict[str, list[Answer]] = {}
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.stopping = threading.Event()
        self.sent = threading.Event()

    def put(self, path: str, *answers: Answer | bytes) -> str:
        """Serve *answers* at *path*; return its URL."""
        self.answers[path] = [Answer(one) if isinstance(one, bytes) else one for one in answers]
        return self.address + path

    @property
    def paths(self) -> list[str]:
        """The paths asked for, in order."""
        return [path for path, _ in self.asked]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    mirror: Mirror

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.mirror.asked.append((path, {name.lower(): value for name, value in self.headers.items()}))
        waiting = self.mirror.answers.get(path, [Answer(b"no", 404)])
        answer = waiting[0] if len(waiting) == 1 else waiting.pop(0)
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if answer.length != -1:
            self.send_header("Content-Length", str(len(answer.body) if answer.length is None else answer.length))
        self.close_connection = answer.length is not None
        self.end_headers()
        self.wfile.write(answer.body)
        self.wfile.flush()
        self.mirror.sent.set()
        if answer.hang:
            self.mirror.stopping.wait(20)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client may leave."""


@contextmanager
def serving() -> Iterator[Mirror]:
    """Serve on a port of its own."""
    mirror = Mirror()
    server = _Server(("127.0.0.1", 0), type("OneHandler", (_Handler,), {"mirror": mirror}))
    mirror.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield mirror
    finally:
        mirror.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()


ROWS = [
    {"question": "Who founded Vorland?", "answer": "Ada Marlow", "type": "bridge", "_id": "5a"},
    {"question": "Is Harlow Bay warm? ", "answer": "no", "type": "comparison", "_id": "5b"},
    {
        "question": "Wo liegt Żółw?",
        "answer": "\u201cQuill\u201d",
        "type": "bridge",
        "_id": "5c",
        "context": [["T", ["s"]]],
    },
]
GOOD = json.dumps(ROWS, ensure_ascii=False).encode()


def small(data: bytes = GOOD, *mirrors: str, **changes: Any) -> DataFile:
    """HotpotQA in three rows, as if it had been published so."""
    plain = {
        "data_set": "hotpotqa",
        "short": "simplified",
        "name": "hotpot_dev_v1_simplified.json",
        "holds": "three rows",
        "rows": 3,
        "size": len(data),
        "sha256": sha256(data).hexdigest(),
        "sum_source": "made here",
        "mirrors": mirrors,
        "terms": ("hotpotqa", "react"),
    }
    return DataFile(**plain | changes)
