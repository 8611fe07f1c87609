"""A model on this machine, in a process of its own: what is measured is the work of who asks.

It answers at once, or after a while, as a model does. As a program it prints its port, serves, and ends when its
standard input does.
"""

from __future__ import annotations

import json
import os
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zlib import crc32

from recordings import response

SERVER_HEADERS = {
    "Date": "Sun, 30 Nov 2025 12:00:00 GMT",
    "Content-Type": "application/json",
    "Connection": "keep-alive",
    "Server": "cloudflare",
    "X-Request-ID": "req_0123456789abcdef0123456789abcdef",
    "openai-organization": "scripted",
    "openai-processing-ms": "512",
    "openai-project": "proj_0123456789abcdefghijklmn",
    "openai-version": "2020-10-01",
    "x-envoy-upstream-service-time": "530",
    "x-ratelimit-limit-requests": "10000",
    "x-ratelimit-limit-tokens": "10000000",
    "x-ratelimit-remaining-requests": "9999",
    "x-ratelimit-remaining-tokens": "9997000",
    "x-ratelimit-reset-requests": "6ms",
    "x-ratelimit-reset-tokens": "18ms",
    "cf-cache-status": "DYNAMIC",
    "set-cookie": "__cf_bm=0123456789; path=/; domain=.scripted.invalid; HttpOnly; Secure; SameSite=None",
    "Strict-Transport-Security": "max-age=31536000; includeSubDomains; preload",
    "X-Content-Type-Options": "nosniff",
    "CF-RAY": "0123456789abcdef-FRA",
    "alt-svc": 'h3=":443"; ma=86400',
}
"""What api.openai.com sends around a reply, and vcrpy keeps unless it is told otherwise."""

FIRST, SECOND = "Vorland", "Harlow Bay"
"""The pages that are asked for."""

REPLIES = (
    f" I need to search {FIRST} and {SECOND}, find who founded them, then compare.\nAction 1: Search[{FIRST}]",
    f" {FIRST} was founded by settlers. I need to know when, and look it up.\nAction 2: Lookup[council]",
    f" The council of {FIRST} voted for a bridge. I need to search {SECOND} next.\nAction 3: Search[{SECOND}]",
    f" I see who founded {SECOND}, but not when. I look up the council.\nAction 4: Lookup[council]",
    f" I am not sure about {FIRST} anymore, and search it once more.\nAction 5: Search[{FIRST}]",
    " Both were founded by the same settlers, so the answer is yes.\nAction 6: Finish[yes]",
)
"""What the model says at each step."""


@contextmanager
def serving(delay: float = 0) -> Iterator[str]:
    """Serve, with about *delay* seconds before each answer, and give the base URL."""
    command = [sys.executable, str(Path(__file__).resolve()), str(delay)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="ascii") as process:
        if process.stdout is None or not (port := process.stdout.readline().strip()):
            raise AssertionError("the server does not start")
        yield f"http://127.0.0.1:{port}/v1"
        process.communicate()


DELAY = float(sys.argv[1]) if __name__ == "__main__" and len(sys.argv) > 1 else 0.0
"""Seconds before an answer, in the mean; from three to five quarters of it, the same for the same request."""


class _Server(socketserver.ThreadingTCPServer):
    request_queue_size = 128


class _Handler(socketserver.StreamRequestHandler):
    disable_nagle_algorithm = True

    def handle(self) -> None:
        while self.rfile.readline():
            length = 0
            while (header := self.rfile.readline()) not in (b"\r\n", b""):
                name, _, value = header.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            asked = self.rfile.read(length)
            answer = _answer(asked)
            time.sleep(DELAY * (0.75 + crc32(asked) / 2**33))
            self.wfile.write(answer)


def _answer(asked: bytes) -> bytes:
    prompt = json.loads(asked)["messages"][0]["content"]
    step = int(prompt.rpartition("Thought ")[2].partition(":")[0])
    body = json.dumps(response(REPLIES[step - 1], step)).encode("ascii")
    lines = ["HTTP/1.1 200 OK", *(f"{name}: {value}" for name, value in SERVER_HEADERS.items())]
    lines += [f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode("ascii") + body


def _serve() -> None:
    server = _Server(("127.0.0.1", 0), _Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()
    os._exit(0)  # connections may be open


if __name__ == "__main__":
    _serve()
