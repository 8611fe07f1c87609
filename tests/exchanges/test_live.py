"""Live: the real SDKs, a server that answers as it likes, and what of it is recorded, tried again or given up."""

from __future__ import annotations

import functools
import gzip
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any

import httpx2
import pytest

from reactrepro.backends import BACKENDS
from reactrepro.cassettes.matching import endpoint, same
from reactrepro.cassettes.model import Interaction
from reactrepro.domain import Call, Json
from reactrepro.errors import CassetteMiss, Corrupt, InfraError, Interrupted, Usage
from reactrepro.exchanges import live as live_module
from reactrepro.exchanges.live import Live, LiveModel, self_check
from reactrepro.exchanges.recorder import Recorder
from reactrepro.exchanges.refusals import ProviderError
from reactrepro.exchanges.retries import Gate, Patience
from reactrepro.exchanges.transport import WireDiffers

from ..llm_server import FakeLlm, Say, serving, wrapped
from .roads import APIS, PLACE, body, call, interaction

KEY = "sk-canary-0711-abcdefgh"
BASES = {"chat": "https://api.example.org/v1", "completions": "https://api.example.org/v1",
         "messages": "https://api.example.org"}  # fmt: skip

Reply = httpx2.Response | Exception | Callable[[httpx2.Request], httpx2.Response]
api = pytest.mark.parametrize("api", APIS)


def reply(text: str = "hello", api: str = "chat", **extra: Any) -> httpx2.Response:
    """A good answer."""
    return httpx2.Response(200, json=wrapped(f"/{APIS[api]}", text, extra))


def refused(status: int, message: str = "no", code: Any = None, **headers: str) -> httpx2.Response:
    """An error in OpenAI's form."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    error = {"message": message, "type": "some_error", "code": code, "param": None}
    return httpx2.Response(status, json={"error": error, "request_id": "req_canary"}, headers=named)


class Waits(threading.Event):
    """An event that remembers how long it was waited for, and never is."""

    def __init__(self) -> None:
        super().__init__()
        self.waited: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waited.append(timeout or 0)
        return self.is_set()


class Desk:
    """A `Live` over a scripted network.

    Attributes:
        sent: the requests that reached the network.
        saved: what was saved, each time.
        stopped: what it waits by.
    """

    def __init__(
        self, *replies: Reply, api: str = "chat", earlier: Sequence[Interaction] = (), extend: bool = False, **more: Any
    ) -> None:
        self.api, self.replies = api, list(replies)
        self.sent: list[httpx2.Request] = []
        self.saved: list[tuple[Interaction, ...]] = []
        self.stopped = Waits()
        given = {"key": KEY, "patience": Patience(attempts=3, chance=lambda: 1.0), "base_url": BASES[api]} | more
        self.model = LiveModel(APIS[api], inner=httpx2.MockTransport(self._answer), **given)
        self.model.gate = Gate(now=lambda: sum(self.stopped.waited))
        self.recorder = Recorder(earlier, self.saved.append, self.model.scrubber, BACKENDS.get(api)().completion)
        self.live = Live(self.model, self.recorder, PLACE, extend=extend, stopped=self.stopped)

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        self.sent.append(request)
        found = self.replies.pop(0)
        if isinstance(found, Exception):
            raise found
        return found(request) if callable(found) else found

    def send(self, prompt: str = "p", **changes: Any) -> Json:
        return self.live.send(call(self.api, prompt, **changes))

    def refused(self, prompt: str = "p") -> ProviderError:
        """The error that a call ends in."""
        with pytest.raises(ProviderError) as caught:
            self.send(prompt)
        assert "canary" not in str(caught.value)
        assert self.saved == []
        return caught.value


# --- a reply --------------------------------------------------------------------------------------------------------


@api
def test_what_is_built_is_sent_recorded_and_saved_before_it_is_used(api: str) -> None:
    """Each of the three APIs, through its SDK: the body arrives as it was built, temperature included."""
    desk = Desk(reply("one", api), reply("two", api), api=api)
    for number, text in enumerate(("one", "two"), 1):
        answer = desk.send(text)
        assert BACKENDS.get(api)().completion(answer).text == text
        assert len(desk.saved) == number
        made = desk.saved[-1][-1]
        assert answer == made.response_json
        assert same(made.request_json, body(api, text))
        assert same(json.loads(desk.sent[-1].content), body(api, text))
        assert made.request_json["temperature"] == 0
        assert endpoint(made.uri) == APIS[api]
    assert [len(saved) for saved in desk.saved] == [1, 2]
    assert desk.recorder.added == 2


@pytest.mark.case("B49")
@api
def test_nothing_that_an_sdk_adds_is_stored(api: str) -> None:
    """Versions, platforms, retry counts and keys in its headers change with every upgrade; the body does not."""
    desk = Desk(reply(api=api), api=api)
    desk.send()
    assert KEY in desk.sent[0].headers["authorization"]
    assert "x-stainless-lang" in desk.sent[0].headers
    made = desk.saved[0][0]
    assert (made.request_headers, made.response_headers) == ({"Content-Type": ["application/json"]},) * 2


@pytest.mark.case("B48")
def test_identical_requests_are_recorded_as_distinct_samples() -> None:
    """Nothing that was just recorded answers the next call."""
    desk = Desk(*(reply(text) for text in "abc"))
    for _ in range(3):
        desk.send("the same")
    assert [made.response_json["choices"][0]["message"]["content"] for made in desk.saved[-1]] == ["a", "b", "c"]


@pytest.mark.case("B45")
@pytest.mark.parametrize("pack", ["gzip", "deflate"])
def test_a_packed_reply_is_stored_as_text(pack: str) -> None:
    """Readable, and without a word of its encoding."""
    import zlib

    data = json.dumps(wrapped("/chat/completions", "héllo – 日本", {})).encode()
    packed = gzip.compress(data) if pack == "gzip" else zlib.compress(data)
    headers = {"content-type": "application/json", "content-encoding": pack}
    desk = Desk(httpx2.Response(200, content=packed, headers=headers))
    desk.send()
    made = desk.saved[0][0]
    assert "héllo – 日本" in made.response
    assert made.response_headers == {"Content-Type": ["application/json"]}


def test_a_byte_order_mark_is_no_part_of_a_reply() -> None:
    """Some servers send one."""
    desk = Desk(
        httpx2.Response(200, content=b"\xef\xbb\xbf" + json.dumps(wrapped("/chat/completions", "x", {})).encode())
    )
    assert desk.send()["choices"][0]["message"]["content"] == "x"


def test_cookies_are_neither_kept_nor_sent_back() -> None:
    """No call has to do with another."""
    first = reply()
    first.headers["set-cookie"] = "canary=1"
    desk = Desk(first, reply())
    desk.send("a")
    desk.send("b")
    assert "cookie" not in desk.sent[1].headers


# --- tried again ----------------------------------------------------------------------------------------------------


@pytest.mark.case("B46")
def test_429_429_200_is_one_interaction_and_the_waits_are_the_servers() -> None:
    """Errors are never stored; a Retry-After longer than our own wait is honoured."""
    desk = Desk(refused(429, retry_after="7"), refused(429, retry_after="1"), reply("at last"))
    assert desk.send()["choices"][0]["message"]["content"] == "at last"
    assert desk.stopped.waited == [7, 2]
    assert len(desk.sent) == 3
    assert [made.status for made in desk.saved[-1]] == [200]


BROKEN: dict[str, tuple[Reply, str]] = {
    "408": (refused(408), "status 408"),
    "409": (refused(409), "status 409"),
    "429": (refused(429, "org-canary is over", "rate_limit_exceeded"), "status 429, rate_limit_exceeded"),
    "500": (refused(500), "status 500"),
    "529": (refused(529), "status 529"),
    "502 of a proxy": (httpx2.Response(502, html="<h1>canary</h1>"), "status 502"),
    "503 cut": (httpx2.Response(503, content=b"\x1f\x8b", headers={"content-encoding": "gzip"}), "status 503"),
    "time-out": (httpx2.ReadTimeout("canary"), "no answer (timed out"),
    "refused": (httpx2.ConnectError("canary"), "no answer (ConnectError"),
    "closed": (httpx2.RemoteProtocolError("canary"), "no answer (RemoteProtocolError"),
    "reset": (httpx2.ReadError("canary"), "no answer (ReadError"),
    "proxy": (httpx2.ProxyError("canary"), "no answer (ProxyError"),
    "cut JSON": (httpx2.Response(200, content=b'{"choices": [{"mess'), "not readable JSON"),
    "bad gzip": (
        httpx2.Response(200, stream=httpx2.ByteStream(b"x" * 20), headers={"content-encoding": "gzip"}),
        "does not unpack",
    ),
    "not UTF-8": (httpx2.Response(200, content=b'{"choices": "\xff"}'), "not UTF-8"),
    "nothing": (httpx2.Response(200), "that is empty"),
    "nested": (httpx2.Response(200, content=b'{"choices": ' + b"[" * 100_000), "not readable JSON"),
    "error in 200": (httpx2.Response(200, json={"error": {"message": "org-canary overloaded"}}), "an error inside"),
    "error text": (httpx2.Response(200, json={"error": "overloaded", "choices": []}), "an error inside"),
    "no choices": (httpx2.Response(200, json={"choices": [], "model": "m"}), "has no `choices[0]`"),
    "no content": (httpx2.Response(200, json={"object": "error"}), "has no `choices[0]`"),
}


@pytest.mark.case("B46")
@pytest.mark.parametrize("name", BROKEN)
def test_a_transient_failure_is_tried_again_and_never_stored(name: str) -> None:
    """Whatever came, the next attempt's reply is the only thing recorded; after the last one there is an error."""
    broken, says = BROKEN[name]
    desk = Desk(broken, broken, reply("fine"))
    assert desk.send()["choices"][0]["message"]["content"] == "fine"
    assert desk.stopped.waited == [1, 2]
    assert [len(saved) for saved in desk.saved] == [1]
    desk = Desk(broken, broken, broken)
    error = desk.refused()
    assert says in str(error)
    assert "3 of 3 attempts" in str(error)
    assert (error.exit_code, error.fatal) == (4, False)
    assert len(desk.sent) == 3


def test_a_reply_of_another_api_is_none() -> None:
    """Anthropic's form where OpenAI's was asked for, and the other way round."""
    assert "no reply" in str(Desk(*[reply(api="messages")] * 3).refused())
    assert "no reply" in str(Desk(*[reply(api="chat")] * 3, api="messages").refused())


def test_who_asks_for_too_long_a_silence_is_not_waited_for() -> None:
    """At once, with the time it asks for."""
    desk = Desk(refused(429, retry_after="3600"))
    assert "1 of 3 attempts made; it asks to be left alone for 3600 s" in str(desk.refused())
    assert desk.stopped.waited == []


def test_a_wait_ends_when_the_user_wants_an_end() -> None:
    """No wait is waited out, and no further call is made."""
    desk = Desk(refused(429, retry_after="60"), reply())
    desk.live._stopped = threading.Event()
    threading.Timer(0.1, desk.live._stopped.set).start()
    began = time.monotonic()
    with pytest.raises(Interrupted):
        desk.send()
    assert time.monotonic() - began < 5
    assert len(desk.sent) == 1
    with pytest.raises(Interrupted):
        desk.send()
    assert len(desk.sent) == 1


def test_a_failure_is_forgotten_by_the_next_call() -> None:
    """Attempts count for one call each."""
    desk = Desk(refused(500), refused(500), reply(), refused(500), refused(500), reply())
    desk.send("a")
    desk.send("b")
    assert len(desk.saved) == 2


# --- given up -------------------------------------------------------------------------------------------------------


@pytest.mark.case("B37")
@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (refused(401, f"Incorrect API key provided: {KEY}", "invalid_api_key"),
         "refuses the key, or what is asked of it (status 401, invalid_api_key). Look into OPENAI_API_KEY."),
        (refused(403, "org-canary", "unsupported_country_region_territory"), "(status 403, unsupported_country_region"),
        (refused(404, "The model does not exist", "model_not_found"),
         "no model 'a-model' there (status 404, model_not_found: The model does not exist).\n  Check --model, --api"),
        (refused(404, "This is a chat model and not supported in v1/completions."), "This is a chat model"),
        (httpx2.Response(404, html="<h1>canary</h1>"), "(status 404).\n  Check --model, --api (chat, completions or"),
        (httpx2.Response(405), "--base-url"),
        (refused(410, "retired"), "retired"),
        (refused(402, "Insufficient Balance"), "no credit left (status 402, some_error). Top it up"),
        (refused(429, "quota", "insufficient_quota"), "no credit left (status 429, insufficient_quota)"),
        (refused(400, "Your credit balance is too low to access"), "no credit left (status 400"),
        (httpx2.Response(308, headers={"location": "https://canary.invalid/"}), "a redirect (status 308), and a key"),
        (httpx2.Response(302), "a redirect (status 302)"),
        (httpx2.Response(200, html="<html>canary</html>"), "no JSON at all. Does an API stand at that address? Check"),
        (httpx2.Response(204), "status 204"),
        (httpx2.Response(201, json=wrapped("/chat/completions", "x", {})), "status 201"),
    ],
)  # fmt: skip
def test_what_would_be_the_same_for_every_episode_is_said_at_once(answer: httpx2.Response, says: str) -> None:
    """No second attempt, nothing stored; the message names the setting to change and nothing that the server echoes."""
    desk = Desk(answer, key_hint="Look into OPENAI_API_KEY.")
    error = desk.refused()
    assert says in str(error)
    assert error.fatal
    assert error.exit_code == 4
    assert len(desk.sent) == 1
    assert desk.stopped.waited == []


@pytest.mark.parametrize(
    ("status", "message", "code", "kept"),
    [
        (400, "unknown field", "unknown_field", "unknown_field"),
        (400, "prompt is too long", "context_length_exceeded", "context_length_exceeded"),
        (413, "too large", 1301, "1301"),
        (422, "no", "InvalidInput.Text", "InvalidInput.Text"),
        (400, "no", KEY, "some_error"),
        (400, "no", "x" * 80, "some_error"),
        (501, "no", None, "some_error"),
    ],
)
def test_what_concerns_one_request_is_no_reason_to_stop(status: int, message: str, code: Any, kept: str) -> None:
    """The provider's words are shown, its code is kept if it is a word."""
    desk = Desk(*[refused(status, message, code)] * 3)
    error = desk.refused()
    assert (error.status, error.code, error.fatal) == (status, kept, False)


def test_anthropics_errors_are_read_where_they_stand() -> None:
    """Its SDK hands out the whole body, request id and all."""
    inner = {"type": "not_found_error", "message": "model: a-model"}
    desk = Desk(
        httpx2.Response(404, json={"type": "error", "error": inner, "request_id": "req_canary"}), api="messages"
    )
    error = desk.refused()
    assert "(status 404, not_found_error: model: a-model)" in str(error)
    assert error.code == "not_found_error"


def test_a_web_page_in_the_middle_is_tried_again() -> None:
    """Once a reply came, the address is right, and a page is some gateway's bad moment."""
    page = httpx2.Response(200, html="<html>canary</html>")
    desk = Desk(reply(), page, page, reply())
    desk.send("a")
    desk.send("b")
    assert desk.stopped.waited == [1, 2]


def test_a_certificate_that_does_not_verify_is_no_transient_failure() -> None:
    """It is said, once."""

    def fail(_: httpx2.Request) -> httpx2.Response:
        try:
            raise ssl.SSLCertVerificationError(1, "canary")
        except ssl.SSLError as error:
            raise httpx2.ConnectError("canary") from error

    desk = Desk(fail)
    error = desk.refused()
    assert "certificate does not verify. Check --base-url" in str(error)
    assert error.fatal


def test_a_server_that_never_answered_may_not_be_there() -> None:
    """The first failure asks to check the address; later ones do not."""
    assert "Check --base-url" in str(Desk(*[httpx2.ConnectError("x")] * 3).refused())
    desk = Desk(reply(), *[httpx2.ConnectError("x")] * 3)
    desk.send()
    with pytest.raises(ProviderError) as caught:
        desk.send("b")
    assert "Check" not in str(caught.value)


def test_a_request_that_holds_a_key_is_not_sent() -> None:
    """It would be written; so nothing is paid for it."""
    desk = Desk(secrets=["other-secret-01"])
    for secret in (KEY, "other-secret-01"):
        with pytest.raises(Corrupt, match="It was not sent") as caught:
            desk.send(f"the key is {secret}")
        assert secret not in str(caught.value)
    assert desk.sent == []


def test_an_echoed_key_is_removed_before_it_is_used() -> None:
    """What the model reads next is what is on disk."""
    desk = Desk(reply(f"your key is {KEY}"))
    answer = desk.send()
    assert answer["choices"][0]["message"]["content"] == "your key is [removed]"
    assert answer == desk.saved[0][0].response_json


# --- SDKs that do not do as they should -----------------------------------------------------------------------------


@api
def test_the_self_check_passes(api: str) -> None:
    """With the installed SDKs, without a network: sockets are blocked here."""
    self_check(APIS[api], body(api, "self-check"))


def test_the_self_check_finds_an_sdk_that_sends_past_the_recorder(monkeypatch: pytest.MonkeyPatch) -> None:
    """An SDK with a transport of its own."""
    make = live_module.method

    def past(*given: Any, **named: Any) -> Any:
        other = httpx2.Client(transport=httpx2.MockTransport(lambda _: reply()))
        return make(*given, **named | {"http_client": other})

    monkeypatch.setattr(live_module, "method", past)
    with pytest.raises(InfraError, match=r"the self-check failed: .* does not pass through the recorder"):
        self_check("chat/completions", body("chat", "self-check"))
    desk = Desk()
    assert "does not pass through the recorder" in str(desk.refused())


def test_the_self_check_finds_an_sdk_that_sends_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another body than the one that was built."""
    import openai

    create = openai.resources.chat.completions.Completions.create

    @functools.wraps(create)
    def other(self: Any, **named: Any) -> Any:
        return create(self, **named | {"max_tokens": 7})

    monkeypatch.setattr(openai.resources.chat.completions.Completions, "create", other)
    with pytest.raises(InfraError, match=r"(?s)the self-check failed: .*\$\.max_tokens"):
        self_check("chat/completions", body("chat", "self-check"))
    with pytest.raises(WireDiffers) as caught:
        Desk(reply()).send()
    assert caught.value.fatal


@pytest.mark.parametrize("kind", [TypeError, ValueError])
def test_an_sdk_that_refuses_a_request_is_no_crash(monkeypatch: pytest.MonkeyPatch, kind: type[Exception]) -> None:
    """SDKs raise their own kinds of errors, before anything is sent."""
    import openai

    def create(*_: object, **__: object) -> None:
        raise kind(f"{KEY} is not wanted")

    monkeypatch.setattr(openai.resources.chat.completions.Completions, "create", create)
    error = Desk().refused()
    assert f"the installed SDK does not send this request ({kind.__name__}: [removed] is not wanted)" in str(error)
    assert error.fatal


# --- carried on -----------------------------------------------------------------------------------------------------

EARLIER = [interaction("chat", "a", "one"), interaction("chat", "b", "two")]


def test_what_is_recorded_is_not_asked_again() -> None:
    """The earlier replies answer, in order; the first new call goes to the server, and is saved behind them."""
    desk = Desk(reply("three"), earlier=EARLIER)
    texts = [desk.send(prompt)["choices"][0]["message"]["content"] for prompt in "abc"]
    assert texts == ["one", "two", "three"]
    assert (len(desk.sent), desk.recorder.added, desk.live.replayed) == (1, 1, 2)
    assert [len(saved) for saved in desk.saved] == [3]
    assert desk.saved[0][:2] == tuple(EARLIER)


def test_an_attempt_that_does_not_fit_is_a_miss() -> None:
    """Where the first differing character is, and no call is made."""
    desk = Desk(earlier=EARLIER)
    desk.send("a")
    with pytest.raises(CassetteMiss, match=r"interaction 2 of 2; 1 replayed") as caught:
        desk.send("x")
    assert caught.value.exit_code == 1
    assert desk.sent == []


def test_or_the_rest_is_dropped_and_asked_for() -> None:
    """Where that is wanted: from the first call that differs; what is not asked for anymore goes at the end."""
    desk = Desk(reply("new"), earlier=EARLIER, extend=True)
    desk.send("a")
    desk.send("x")
    desk.live.finish()
    assert [made.request_json["messages"][0]["content"] for made in desk.recorder.interactions] == ["a", "x"]
    desk = Desk(earlier=EARLIER, extend=True)
    desk.send("a")
    desk.live.finish()
    assert len(desk.recorder.interactions) == 1


def test_an_earlier_error_is_no_reply() -> None:
    """Nobody but an editor puts one there."""
    desk = Desk(earlier=[interaction("chat", "a", "one", status=429)])
    with pytest.raises(Corrupt, match="an error is no reply"):
        desk.send("a")


def test_what_speaks_against_a_call_is_asked_before_it_is_paid() -> None:
    """Before each attempt, and not for what is recorded."""
    desk = Desk(refused(500), reply(), earlier=EARLIER[:1])
    asked: list[int] = []
    desk.live._before = lambda: asked.append(len(desk.sent))
    desk.send("a")
    assert asked == []
    desk.send("b")
    assert asked == [0, 1]


# --- the way to the server ------------------------------------------------------------------------------------------


@pytest.fixture
def llm(loopback: str) -> Iterator[FakeLlm]:
    """A server on this machine."""
    with serving() as llm:
        yield llm


@pytest.fixture
def ask(llm: FakeLlm) -> Iterator[Callable[..., Json]]:
    """Make one call over the network."""
    models: list[LiveModel] = []

    def asked(api: str = "chat", prompt: str = "p", **more: Any) -> Json:
        base = llm.base_url if api != "messages" else llm.base_url.removesuffix("/v1")
        given = {"base_url": base, "key": KEY, "patience": Patience(attempts=2, first_wait=0.01), "direct": True} | more
        models.append(LiveModel(APIS[api], **given))
        recorder = Recorder((), lambda _: None, models[-1].scrubber)
        return Live(models[-1], recorder, PLACE).send(call(api, prompt))

    yield asked
    for model in models:
        model.close()


@pytest.mark.parametrize(
    ("say", "why"),
    [
        (Say(drop=True), "no answer"),
        (Say(cut=40), "no answer"),
        (Say(b'{"choices": [', unannounced=True), "not readable JSON"),
        (Say(pause=5), "no answer (timed out"),
        (Say(drip=0.01), "no answer (timed out"),
    ],
    ids=["dropped", "cut", "cut unannounced", "silent", "trickling"],
)
def test_a_connection_that_breaks_is_tried_again(llm: FakeLlm, ask: Callable[..., Json], say: Say, why: str) -> None:
    """Over real sockets: closed before or in the middle of an answer, silent, or slower than a call may take."""
    patience = Patience(attempts=2, first_wait=0.01, timeout=0.3)
    llm.script = [say]
    assert ask(patience=patience)["choices"][0]["message"]["content"] == "hello"
    assert len(llm.asked) == 2
    llm.script = [say, say]
    with pytest.raises(ProviderError) as caught:
        ask(patience=patience)
    assert why in str(caught.value)


def test_a_server_that_is_not_there(ask: Callable[..., Json]) -> None:
    """Said in the system's words."""
    with pytest.raises(ProviderError, match="Connection refused"):
        ask(base_url="http://127.0.0.1:9/v1")


ADDED = {
    "OPENAI_ORG_ID": "org-canary-1",
    "OPENAI_PROJECT_ID": "proj-canary-1",
    "OPENAI_CUSTOM_HEADERS": "X-Mine: header-canary",
    "OPENAI_API_KEY": "sk-other-canary",
    "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
    "ANTHROPIC_API_KEY": "sk-other-canary",
    "ANTHROPIC_AUTH_TOKEN": "token-canary",
    "ANTHROPIC_CUSTOM_HEADERS": "X-Mine: header-canary",
    "ANTHROPIC_BASE_URL": "http://127.0.0.1:9/v1",
}


@api
def test_a_strangers_server_gets_nothing_that_the_environment_adds(
    api: str, llm: FakeLlm, ask: Callable[..., Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No account, no project, no header and no key but the one that is meant for it."""
    for name, value in ADDED.items():
        monkeypatch.setenv(name, value)
    ask(api, key="meant-for-it")
    sent = json.dumps(dict(llm.asked[0].headers))
    assert "meant-for-it" in sent
    assert "canary" not in sent


def test_the_sdks_own_provider_gets_account_and_project(
    llm: FakeLlm, ask: Callable[..., Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    """There they mean something."""
    for name, value in ADDED.items():
        monkeypatch.setenv(name, value)
    ask(plain=False)
    assert llm.asked[0].headers["openai-organization"] == "org-canary-1"
    assert llm.asked[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_proxy_is_asked_as_the_environment_says(
    llm: FakeLlm, ask: Callable[..., Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    """For http, https or everything, unless the server is named in NO_PROXY or is this machine."""
    proxy = llm.base_url.removesuffix("/v1")
    far = {"base_url": "http://llm.invalid/v1", "direct": False}
    for name in ("http_proxy", "ALL_PROXY"):
        with monkeypatch.context() as environment:
            environment.setenv(name, proxy)
            ask(**far)
            assert llm.asked[-1].path == "http://llm.invalid/v1/chat/completions"
            assert llm.asked[-1].headers["host"] == "llm.invalid"
            environment.setenv("no_proxy", "llm.invalid")
            with pytest.raises(ProviderError):
                ask(**far, patience=Patience(attempts=1))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert ask()


@pytest.mark.parametrize(
    ("proxy", "says"),
    [("socks5://user:canary@127.0.0.1:9", "needs the package socksio"), ("canary:3128", "its address is none"),
     ("ftp://canary", "its address is none")],
)  # fmt: skip
def test_a_proxy_that_cannot_be_used_is_a_usage_error(proxy: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which variable, and not what it holds: it may be a password."""
    if says.endswith("socksio"):
        monkeypatch.setitem(__import__("sys").modules, "socksio", None)
    monkeypatch.setenv("ALL_PROXY", proxy)
    with (
        pytest.raises(Usage, match=says) as caught,
        closing(LiveModel("chat/completions", base_url="https://llm.invalid/v1", key="", patience=Patience())),
    ):
        pass
    assert "canary" not in str(caught.value)


def test_many_threads_share_one_model(llm: FakeLlm, ask: Callable[..., Json]) -> None:
    """Each call is kept by the recorder of its own thread."""
    from concurrent.futures import ThreadPoolExecutor

    model = LiveModel("chat/completions", base_url=llm.base_url, key=KEY, patience=Patience(), direct=True)
    recorders = [Recorder((), lambda _: None, model.scrubber) for _ in range(8)]

    def work(number: int) -> None:
        for step in range(5):
            Live(model, recorders[number], PLACE)._ask(Call("chat/completions", body("chat", f"{number}/{step}"), step))

    with closing(model), ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    for number, recorder in enumerate(recorders):
        asked = [made.request_json["messages"][0]["content"] for made in recorder.interactions]
        assert asked == [f"{number}/{step}" for step in range(5)]
