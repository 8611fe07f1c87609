"""A server on this machine that speaks the three wire APIs, answers as it is scripted to, and misbehaves as told."""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

STEP = re.compile(r"Thought (\d+):")


@dataclass(frozen=True)
class Say:
    """One answer.

    Attributes:
        body: a text is what the model says, wrapped as the API wraps it; bytes are sent as they are; else JSON.
        status: HTTP status.
        headers: beside content-type, which is JSON's unless given.
        pause: seconds before the answer.
        gzipped: the body is packed.
        cut: only so many bytes are sent before the connection is closed, of those that were announced.
        unannounced: no Content-Length: the body ends with the connection.
        drip: seconds between one byte and the next.
        drop: the connection is closed instead of an answer.
        extra: members added to a wrapped body.
    """

    body: Any = "hello"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    pause: float = 0
    gzipped: bool = False
    cut: int | None = None
    unannounced: bool = False
    drip: float = 0
    drop: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)


def error(status: int, message: str = "no", *, code: Any = None, headers: Mapping[str, str] | None = None) -> Say:
    """An error in OpenAI's form."""
    return Say({"error": {"message": message, "type": "some_error", "code": code}}, status, headers or {})


@dataclass(frozen=True)
class Asked:
    """A request as it came: path, headers in lower case, parsed body, and the prompt in it."""

    path: str
    headers: Mapping[str, str]
    body: Any
    prompt: str


def wrapped(path: str, text: str, extra: Mapping[str, Any]) -> dict[str, Any]:
    """What each of the three APIs sends, members included that no recording may keep."""
    tokens = len(text.split())
    if path.endswith("/messages"):
        made: dict[str, Any] = {
            "id": "msg_01canary",
            "type": "message",
            "role": "assistant",
            "model": "a-model-0711",
            "content": [{"type": "text", "text": text}],
            "stop_reason": "stop_sequence",
            "stop_sequence": "\nObservation",
            "usage": {"input_tokens": 9, "output_tokens": tokens, "service_tier": "standard"},
        }
    else:
        chat = path.endswith("/chat/completions")
        said = {"message": {"role": "assistant", "content": text, "id": "msg_01canary"}} if chat else {"text": text}
        made = {
            "id": "chatcmpl-canary" if chat else "cmpl-canary",
            "object": "chat.completion" if chat else "text_completion",
            "created": 1796000000,
            "model": "a-model-0711",
            "system_fingerprint": "fp_1",
            "choices": [{"index": 0, "finish_reason": "stop", "logprobs": None, **said}],
            "usage": {"prompt_tokens": 9, "completion_tokens": tokens, "total_tokens": 9 + tokens},
        }
    return {**made, **extra}


@dataclass
class FakeLlm:
    """The server, as a test sees it.

    Attributes:
        base_url: as OpenAI's SDK wants it.
        asked: every request, in order of coming.
        minds: question -> what the model says at its steps, the first one first. What stands behind "||" is said to a
            reprompt.
        script: answers that come before what the minds say, each once, in order.
        before: called with every request before it is answered.
        delay: seconds before every answer.
        extra, headers: members and headers of every answer.
    """

    base_url: str = ""
    asked: list[Asked] = field(default_factory=list)
    minds: dict[str, Sequence[str | Say]] = field(default_factory=dict)
    script: list[Say] = field(default_factory=list)
    before: Callable[[Asked], None] = lambda _: None
    delay: float = 0
    extra: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    stopping: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    problems: list[BaseException] = field(default_factory=list)

    def answer(self, asked: Asked) -> Say:
        """Note a request, and return the answer to it."""
        with self.lock:
            self.asked.append(asked)
            scripted = self.script.pop(0) if self.script else None
        try:
            self.before(asked)
        except BaseException as problem:
            self.problems.append(problem)
            return Say(status=500)
        return scripted or self._thought(asked.prompt)

    def _thought(self, prompt: str) -> Say:
        question = prompt.rpartition("Question: ")[2].partition("\n")[0]
        if question not in self.minds:
            return Say()
        said = self.minds[question]
        step = int(STEP.findall(prompt)[-1])
        chosen = said[min(step, len(said)) - 1]
        if isinstance(chosen, Say):
            return chosen
        first, _, second = chosen.partition("||")
        return Say(second if prompt.endswith(f"Action {step}:") else first)


class Handler(BaseHTTPRequestHandler):
    """Sends what `FakeLlm.answer` says."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 30
    llm: FakeLlm

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        prompt = body["prompt"] if "prompt" in body else body.get("messages", [{}])[-1].get("content", "")
        headers = {name.lower(): value for name, value in self.headers.items()}
        self._send(self.llm.answer(Asked(self.path, headers, body, prompt)))

    def _send(self, say: Say) -> None:
        if say.pause or self.llm.delay:
            self.llm.stopping.wait(say.pause + self.llm.delay)
        if say.drop:
            self.close_connection = True
            return
        data = self._body(say)
        headers = {"content-type": "application/json", **self.llm.headers, **say.headers}
        if say.gzipped:
            data, headers = gzip.compress(data), {**headers, "content-encoding": "gzip"}
        self.send_response(say.status)
        for name, value in headers.items():
            self.send_header(name, value)
        if say.unannounced:
            self.close_connection = True
        else:
            self.send_header("content-length", str(len(data)))
        self.end_headers()
        if say.cut is not None:
            data, self.close_connection = data[: say.cut], True
        if not say.drip:
            self.wfile.write(data)
            return
        for number in range(len(data)):
            self.wfile.write(data[number : number + 1])
            if self.llm.stopping.wait(say.drip):
                return

    def _body(self, say: Say) -> bytes:
        if isinstance(say.body, bytes):
            return say.body
        if isinstance(say.body, str) and say.status == 200:
            return json.dumps(wrapped(self.path, say.body, {**self.llm.extra, **say.extra})).encode()
        return json.dumps(say.body).encode()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    """A server that takes a client's leaving as it comes."""

    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing."""


@contextmanager
def serving(llm: FakeLlm | None = None) -> Iterator[FakeLlm]:
    """Serve a model on a port of its own."""
    llm = llm or FakeLlm()
    server = Server(("127.0.0.1", 0), type("OneHandler", (Handler,), {"llm": llm}))
    llm.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield llm
    finally:
        llm.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()
    assert llm.problems == []
