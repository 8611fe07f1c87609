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


ON = "\nObservation {}: It is so.\nThought 9: Then I know.\nAction 9: Finish[invented]"
"""What a model writes that nobody stops."""


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


@dataclass(frozen=True)
class Takes:
    """What a server takes; the rest it answers with a 400, in the words of real ones.

    Attributes:
        stop, blank_stop: stop strings; those of white space.
        token_limits: names of the token limit.
        temperature: any temperature; else the default alone.
        since: so many requests it takes whatever they hold.
        worded: by the message alone, without the field `param`.
    """

    stop: bool = True
    blank_stop: bool = True
    token_limits: Sequence[str] = ("max_tokens", "max_completion_tokens")
    temperature: bool = True
    since: int = 0
    worded: bool = False

    def refusal(self, body: Mapping[str, Any]) -> Say | None:
        """Return the answer to *body*, where it is a refusal."""
        stops = body.get("stop", body.get("stop_sequences", ()))
        name = "stop" if "stop" in body else "stop_sequences"
        if stops and not self.stop:
            return self._no(name, f"Unsupported parameter: '{name}' is not supported with this model.")
        if not self.blank_stop and any(not text.strip() for text in stops):
            return self._no(name, f"{name}: each stop sequence must contain non-whitespace")
        for limit in ("max_tokens", "max_completion_tokens"):
            if limit in body and limit not in self.token_limits:
                other = "max_completion_tokens" if limit == "max_tokens" else "max_tokens"
                return self._no(limit, f"Unsupported parameter: '{limit}' is not supported. Use '{other}' instead.")
        if "temperature" in body and not self.temperature:
            what = "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is"
            return self._no("temperature", f"{what} supported.", "unsupported_value")
        return None

    def _no(self, parameter: str, message: str, code: str = "unsupported_parameter") -> Say:
        said = {"message": message, "type": "invalid_request_error"}
        return Say({"error": said if self.worded else {**said, "param": parameter, "code": code}}, 400)


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
        takes: what it refuses before it thinks.
        runs_on: without a stop string it writes on, an observation of its own and a further step.
        before: called with every request before it is answered.
        delay: seconds before every answer.
        extra, headers: members and headers of every answer.
    """

    base_url: str = ""
    asked: list[Asked] = field(default_factory=list)
    minds: dict[str, Sequence[str | Say]] = field(default_factory=dict)
    script: list[Say] = field(default_factory=list)
    takes: Takes = field(default_factory=Takes)
    runs_on: bool = False
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
        refused = self.takes.refusal(asked.body) if len(self.asked) > self.takes.since else None
        return scripted or refused or self._thought(asked)

    def _thought(self, asked: Asked) -> Say:
        prompt = asked.prompt
        question = prompt.rpartition("Question: ")[2].partition("\n")[0]
        if question not in self.minds:
            return Say()
        said = self.minds[question]
        step = int(STEP.findall(prompt)[-1])
        chosen = said[min(step, len(said)) - 1]
        if isinstance(chosen, Say):
            return chosen
        first, _, second = chosen.partition("||")
        text = second if prompt.endswith(f"Action {step}:") else first
        stopped = asked.body.keys() & {"stop", "stop_sequences"}
        return Say(text if stopped or not self.runs_on else text + ON.format(step))


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
