"""Wire: the real SDKs over the recordings. It agrees with Replay on what is there and on what is not."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reactrepro.cassettes.matching import same
from reactrepro.cassettes.model import Cassette
from reactrepro.cassettes.runs import Run
from reactrepro.domain import Call
from reactrepro.errors import CassetteLeftover, CassetteMiss, Corrupt, Usage
from reactrepro.exchanges import transport, wire
from reactrepro.exchanges.scripted import ENVELOPES
from reactrepro.exchanges.transport import Episode, Transport, WireDiffers
from reactrepro.exchanges.wire import AsyncWire, Wire
from reactrepro.runs.roots import sources

from ..cassettes.conftest import ODD
from ..world import BAY, BAY_REPLIES, FOUNDER, FOUNDER_REPLIES, World, checkout
from .roads import APIS, PLACE, ROADS, WIRES, body, call, interaction, recorded_calls, recording, replayed, told

RECORDINGS = [
    (run, key)
    for file in sorted((checkout() / "cassettes").rglob("run.json"))
    for run in [Run.at(file.parent)]
    if not run.config.parts
    for key in run.keys()  # noqa: SIM118 - a run is no dict
]
"""Every committed episode that has exchanges; those of a back-off are its parts'."""

api = pytest.mark.parametrize("api", APIS)
road = pytest.mark.parametrize("road", ROADS)
wires = pytest.mark.parametrize("wires", WIRES)


@pytest.fixture(scope="module", autouse=True)
def _sdks() -> None:
    """Import both SDKs before any test is timed."""
    for endpoint in APIS.values():
        for asynchronous in (False, True):
            wire._method(endpoint, asynchronous=asynchronous)


@pytest.fixture
def on_the_wire(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every request that reaches the transport, in vcrpy's form."""
    seen: list[Any] = []
    answer = Episode.answer

    def heard(self: Episode, request: Any, call: Call | None = None) -> Any:
        seen.append(request)
        return answer(self, request, call)

    monkeypatch.setattr(Episode, "answer", heard)
    return seen


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whoever sleeps fails the test, even where an SDK swallows the error."""
    slept: list[object] = []
    for name in ("time.sleep", "asyncio.sleep", "anyio.sleep"):
        monkeypatch.setattr(name, lambda *seconds: slept.append(seconds))
    yield
    assert slept == []


# --- both roads agree -----------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:The model:DeprecationWarning")
@pytest.mark.parametrize(("run", "key"), RECORDINGS, ids=[f"{run.label}/{key}" for run, key in RECORDINGS])
@wires
def test_wire_agrees_with_replay_on_every_committed_recording(
    run: Run, key: str, wires: str, on_the_wire: list[Any]
) -> None:
    """Requests, replies and trajectory are equal, and each request reaches the transport as the backend built it."""
    expected = replayed(run, key, sources(here=checkout()), "replay")
    assert replayed(run, key, sources(here=checkout()), wires) == expected
    assert [json.loads(request.body) for request in on_the_wire] == [call.body for call in expected[0]]
    called = [replace(call, step=n + 1) for n, call in enumerate(expected[0])]
    assert recorded_calls(run.read(key)) == called


ODD_REPLIES = [
    f" {ODD}\nAction 1: Search[Vorland]\nObservation 1: I made this up.\nAction 2: Finish[x]",
    " no action at all",
    " Search[Harlow Bay]",
    " Zürich – naïve\x85 and so on.\nAction 3: Search[C:\\new]",
    " So.\nAction 4: Finish[Ada Marlow]",
]


@api
@wires
@pytest.mark.parametrize("replies", [FOUNDER_REPLIES, ODD_REPLIES], ids=["plain", "odd"])
def test_wire_agrees_with_replay_on_scripted_worlds(
    tmp_path: Path, api: str, wires: str, replies: list[str], on_the_wire: list[Any]
) -> None:
    """Chat, completions and messages; prompts and replies with every odd character, cuts and reprompts."""
    world = World(tmp_path, api=api)
    world.record(FOUNDER, replies)
    expected = replayed(world.run, "0", world.sources, "replay")
    assert replayed(world.run, "0", world.sources, wires) == expected
    assert [json.loads(request.body) for request in on_the_wire] == [call.body for call in expected[0]]


@wires
def test_responses_come_back_whole(tmp_path: Path, wires: str) -> None:
    """What the SDK has no field for comes through too: extra members, null content, lists of parts, no usage."""
    answer = {
        "choices": [{"message": {"content": [{"type": "text", "text": BAY_REPLIES[0]}, {"type": "new"}]}, "x": [None]}],
        "usage": None,
        "vendor": {"deep": [1, 2.5, True, None, "\u0080"]},
    }
    world = World(tmp_path)
    world.record(BAY, [answer])
    calls, replies, _ = replayed(world.run, "1", world.sources, wires)
    assert replies == [answer]
    assert replayed(world.run, "1", world.sources, "replay") == (calls, replies, _)


@pytest.mark.case("B49")
@api
@wires
def test_a_recording_outlives_an_sdks_spelling(api: str, wires: str, on_the_wire: list[Any]) -> None:
    """Key order, escapes, spacing, SDK headers, host, port and prefix of the recording do not matter."""
    asked = body(api, "Zürich – \u0080")
    spelt = json.dumps(dict(reversed(asked.items())), ensure_ascii=False, separators=(",", ":"))
    headers = {"x-stainless-lang": ["cobol"], "Content-Type": ["application/json"], "Authorization": ["Bearer other"]}
    one = interaction(
        api, "", "hello", uri=f"http://127.0.0.1:8001/api/v3/{APIS[api]}", body=spelt, request_headers=headers
    )
    cassette = recording([one])
    assert told(wires, cassette, [call(api, "Zürich – \u0080")]) == [ENVELOPES[APIS[api]]("hello")]
    assert on_the_wire[0].headers["x-stainless-lang"] == "python"
    assert on_the_wire[0].body != one.body.encode()


@api
@wires
def test_what_an_sdk_has_no_argument_for_is_sent_all_the_same(api: str, wires: str, on_the_wire: list[Any]) -> None:
    """Temperature to the anthropic SDK, a server's own parameters to any: nothing is dropped, nothing is added."""
    more = {"top_k": 3, "temperature": 0.5, "min_p": None, "x": {"y": [1, {"z": None}]}, "max_tokens": 1_000_000}
    asked = Call(APIS[api], body(api, "p") | more, 1)
    one = interaction(api, "p", "hello", body=json.dumps(asked.body))
    assert told(wires, recording([one]), [asked]) == [ENVELOPES[APIS[api]]("hello")]
    assert json.loads(on_the_wire[0].body) == asked.body


# --- what was not recorded, and what is no reply --------------------------------------------------------------------


def two(api: str) -> list[Any]:
    """Two recorded calls with long prompts."""
    return [interaction(api, f"{'A long prompt. ' * 9}{n}", f"reply {n}") for n in (1, 2)]


def asks(api: str, *numbers: int, **changes: Any) -> list[Call]:
    """The calls that `two` was recorded from, by number."""
    return [call(api, f"{'A long prompt. ' * 9}{n}", step, **changes) for step, n in enumerate(numbers, 1)]


STOP = {"chat": "stop", "completions": "stop", "messages": "stop_sequences"}
TEXT = {"chat": "$.messages[0].content", "completions": "$.prompt", "messages": "$.messages[0].content"}


def _misses(api: str) -> Iterator[tuple[str, list[Any], list[Call], type[Exception], list[str]]]:
    recorded = two(api)
    first, second = recorded
    edited = call(api, "A long prompt. " * 8 + "A l0ng prompt. 1")
    differs = f"{TEXT[api]} differs from character 124 (line 1, column 124)"
    yield "prompt", recorded, [edited], CassetteMiss, [differs, "step 1", "prompts/x.txt changed"]
    for name, value, words in (
        ("model", "other", '$.model: "a-model" recorded, "other" sent'),
        ("temperature", 0.7, "$.temperature: 0 recorded, 0.7 sent"),
        ("temperature", False, "$.temperature: 0 recorded, false sent"),
        ("max_tokens", 101, "$.max_tokens: 100 recorded, 101 sent"),
        (STOP[api], ["\nObservation 2:"], 'Observation 1:" recorded, "\\nObservation 2:" sent'),
        (STOP[api], None, f'.{STOP[api]}: ["\\nObservation 1:"'),
        ("top_p", 1, "$.top_p: nothing recorded, 1 sent"),
    ):
        yield f"{name} {value}", recorded, asks(api, 1, **{name: value}), CassetteMiss, [words, "nearest"]
    yield "missing", [first], asks(api, 1, 2), CassetteMiss, ["step 2", "1 replayed"]
    yield "empty", [], asks(api, 1), CassetteMiss, ["holds no interaction at all"]
    yield "repeated", recorded, asks(api, 1, 1), CassetteMiss, ["an earlier call has used it"]
    other = replace(first, uri="https://host.invalid/v1/other")
    yield "endpoint", [other], asks(api, 1), CassetteMiss, [f'(endpoint): "v1/other" recorded, "{APIS[api]}" sent']
    yield "method", [replace(first, method="PUT")], asks(api, 1), CassetteMiss, ["nearest"]
    yield "left over", recorded, asks(api, 2), CassetteLeftover, ["1 of 2", "(number 1)"]
    for number, bad in enumerate(("{", "[" * 100_000, "1" * 5000, "")):
        unread = ["0.yaml: a recorded request body is not readable JSON"]
        yield f"request {number}", [replace(first, body=bad), second], asks(api, 2), Corrupt, unread
        elsewhere = replace(other, body=bad)
        yield f"request {number} elsewhere", [elsewhere], asks(api, 2), Corrupt, unread
        unread = ["0.yaml: a recorded response body is not readable JSON"]
        yield f"response {number}", [replace(first, response=bad), second], asks(api, 1), Corrupt, unread
    for status in (204, 301, 400, 401, 408, 429, 500, 529):
        refused = replace(
            second, status=status, reason="No", response_headers={"Retry-After": ["60"], "location": ["/"]}
        )
        yield f"status {status}", [first, refused], asks(api, 1, 2), Corrupt, [f"interaction 2 has the status {status}"]


MISSES = {f"{name}-{what}": case for name in APIS for what, *case in _misses(name)}


@pytest.mark.case("B13")
@pytest.mark.case("B14")
@pytest.mark.case("B46")
@pytest.mark.usefixtures("no_waiting")
@road
@pytest.mark.parametrize("case", MISSES)
def test_what_is_not_recorded_is_reported_alike_on_every_road(case: str, road: str) -> None:
    """Type, report and words are the same, and no SDK waits, retries, redirects or says "Connection error."."""
    interactions, calls, kind, words = MISSES[case]
    cassette = recording(interactions)
    found = told(road, cassette, calls)
    assert found[-1][0] is kind
    assert all(word in found[-1][1] for word in words), found[-1][1]
    assert "onnection" not in found[-1][1]
    assert found == told("replay", recording(interactions), calls)


@pytest.mark.case("B48")
@api
@road
def test_equal_requests_are_answered_in_recorded_order(api: str, road: str) -> None:
    """Inside one episode equal requests form a queue, each reply once, wherever other calls stand between."""
    cassette = recording(
        interaction(api, p, r) for p, r in (("same", "1"), ("else", "2"), ("same", "3"), ("same", "4"))
    )
    calls = [call(api, prompt) for prompt in ("same", "same", "else", "same")]
    assert told(road, cassette, calls) == [ENVELOPES[APIS[api]](text) for text in ("1", "3", "2", "4")]


@pytest.mark.case("B14")
def test_the_anthropic_sdk_hides_a_miss_and_wire_does_not() -> None:
    """Left alone, the SDK turns the miss into "Connection error."; Wire raises the miss itself, with its report."""
    import anthropic
    import httpx2

    cassette = recording(two("messages"))
    http = Transport(httpx2, Episode(cassette, PLACE)).client()
    hidden = anthropic.Anthropic(api_key="none", base_url=wire.HOST, http_client=http, max_retries=0)
    (changed,) = asks("messages", 1, model="other")
    with pytest.raises(anthropic.APIConnectionError, match=r"Connection error\.") as caught:
        hidden.messages.create(**{k: v for k, v in changed.body.items() if k != "temperature"})
    assert isinstance(caught.value.__cause__, CassetteMiss)
    with pytest.raises(CassetteMiss) as raised:
        Wire(cassette, PLACE).send(changed)
    assert [difference.path for difference in raised.value.mismatch.differences] == ["$.model"]
    assert raised.value.__cause__ is None
    assert raised.value.__suppress_context__


# --- the SDK between ------------------------------------------------------------------------------------------------


@wires
def test_an_sdk_that_changes_a_request_is_found_out(monkeypatch: pytest.MonkeyPatch, wires: str) -> None:
    """The recording is not blamed for what the SDK did."""
    made = wire._method("chat/completions", asynchronous=wires == "asyncio")

    def meddling(**arguments: Any) -> Any:
        return made.create(**(arguments | {"temperature": 1, "n": 2}))

    monkeypatch.setitem(wire._methods, ("chat/completions", wires == "asyncio"), replace(made, create=meddling))
    ((kind, words, _),) = told(wires, recording(two("chat")), asks("chat", 1))
    assert kind is WireDiffers
    assert "They differ at $.n, $.temperature.\n" in words or "They differ at $.temperature, $.n.\n" in words
    assert "The recording is not at fault" in words


@wires
def test_an_sdk_that_uses_another_endpoint_is_found_out(monkeypatch: pytest.MonkeyPatch, wires: str) -> None:
    """The path on the wire is part of the request that was built."""
    client = wire._method("chat/completions", asynchronous=wires == "asyncio").client
    monkeypatch.setattr(client, "base_url", f"{wire.HOST}/v1/messages?")
    ((kind, words, _),) = told(wires, recording(two("chat")), asks("chat", 1))
    assert kind is WireDiffers
    assert "(endpoint: POST messages for POST chat/completions)" in words


@api
@wires
def test_an_sdk_that_refuses_a_request_is_no_miss(api: str, wires: str) -> None:
    """A lone surrogate cannot be put on any wire; Replay alone would not notice."""
    asked = call(api, "\ud800")
    one = interaction(api, "\ud800", "hello")
    ((kind, words, _),) = told(wires, recording([one]), [asked])
    assert kind is WireDiffers
    assert "does not send the request that was built (UnicodeEncodeError" in words
    assert told("replay", recording([one]), [asked]) == [ENVELOPES[APIS[api]]("hello")]


@wires
def test_an_endpoint_that_no_sdk_has_is_said(wires: str) -> None:
    """A backend of somebody's own replays without an SDK only."""
    ((kind, words, _),) = told(wires, recording(two("chat")), [Call("own/thing", {}, 1)])
    assert kind is Usage
    assert "'own/thing'" in words


def test_a_bug_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that is nobody's purpose comes out as it is, through either SDK."""

    def broken(*_: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(Episode, "answer", broken)
    for api in APIS:
        with pytest.raises(ZeroDivisionError):
            Wire(recording(two(api)), PLACE).send(*asks(api, 1))


# --- keys, network, imports -----------------------------------------------------------------------------------------

CANARY = "canary-in-the-environment"
VARIABLES = {
    "OPENAI_API_KEY": CANARY,
    "OPENAI_ADMIN_KEY": CANARY,
    "OPENAI_ORG_ID": CANARY,
    "OPENAI_PROJECT_ID": CANARY,
    "OPENAI_BASE_URL": f"https://{CANARY}.invalid/v9",
    "OPENAI_CUSTOM_HEADERS": f"Authorization: {CANARY}\nX-Odd: \u00fc\u2013",
    "OPENAI_WEBHOOK_SECRET": CANARY,
    "ANTHROPIC_API_KEY": CANARY,
    "ANTHROPIC_AUTH_TOKEN": CANARY,
    "ANTHROPIC_BASE_URL": f"https://{CANARY}.invalid",
    "ANTHROPIC_CUSTOM_HEADERS": f"Authorization: {CANARY}\nX-Odd: \u00fc\u2013",
    "ANTHROPIC_PROFILE": CANARY,
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "HTTP_PROXY": "http://127.0.0.1:9",
    "ALL_PROXY": f"socks5://{CANARY}:9",
    "SSL_CERT_FILE": f"/{CANARY}",
}


@pytest.fixture
def new_clients() -> Iterator[None]:
    """Clients are made anew in the test, and again after it."""

    def forget() -> None:
        wire._methods.clear()
        wire._clients.clear()

    forget()
    yield
    forget()


@pytest.mark.case("B47")
@pytest.mark.usefixtures("new_clients")
@pytest.mark.parametrize("variables", [VARIABLES, {}], ids=["canaries", "nothing"])
@api
@wires
def test_the_environment_does_not_matter(
    monkeypatch: pytest.MonkeyPatch, api: str, wires: str, variables: dict[str, str], on_the_wire: list[Any]
) -> None:
    """Keys, addresses, organisations, headers and proxies of the environment reach no client; none is needed."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    cassette = recording(two(api))
    assert told(wires, cassette, asks(api, 1, 2)) == [ENVELOPES[APIS[api]](f"reply {n}") for n in (1, 2)]
    for request in on_the_wire:
        assert request.uri.startswith(f"{wire.HOST}/v1/")
        assert CANARY not in str(dict(request.headers)) + request.uri + request.body.decode()


def test_the_direct_road_imports_no_sdk_and_no_vcrpy(offline: dict[str, str]) -> None:
    """`exchanges.replay` loads neither, and `exchanges.wire` loads an SDK only for a call that needs it."""
    code = (
        "import sys; heavy = {'vcr', 'openai', 'anthropic', 'httpx2', 'httpx'}\n"
        "import reactrepro.exchanges.replay, reactrepro.exchanges.scripted\n"
        "assert not heavy & set(sys.modules)\n"
        "import reactrepro.exchanges.wire\n"
        "assert not {'openai', 'anthropic'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], env=offline, check=True, timeout=60)


# --- threads and tasks ----------------------------------------------------------------------------------------------


def episode(api: str, number: int) -> tuple[Cassette, list[Call]]:
    """An episode whose prompts every episode has, and whose replies are its own."""
    prompts = ["same", "same", "other"]
    cassette = recording(interaction(api, prompt, f"{number}.{n}") for n, prompt in enumerate(prompts))
    return cassette, [call(api, prompt) for prompt in prompts]


def test_eight_threads_share_one_client_and_mix_nothing() -> None:
    """120 episodes with equal requests: each gets its own replies, in order, through one client per SDK."""
    methods = {endpoint: wire._method(endpoint, asynchronous=False) for endpoint in APIS.values()}
    together = threading.Barrier(8)
    apis = list(APIS)

    def one(number: int) -> None:
        if number < 8:
            together.wait(10)
        api = apis[number % 3]
        cassette, calls = episode(api, number)
        expected = [ENVELOPES[APIS[api]](f"{number}.{n}") for n in range(3)]
        assert told("wire", cassette, calls) == expected

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, range(120)))
    assert {endpoint: wire._method(endpoint, asynchronous=False) for endpoint in APIS.values()} == methods
    assert {id(method.client._client) for method in methods.values()} == {id(wire._clients[False])}


def test_sixty_episodes_at_a_time_under_asyncio_mix_nothing() -> None:
    """`asyncio.gather` over 60 episodes with equal requests, each with its own misses and replies."""

    async def one(number: int) -> None:
        api = list(APIS)[number % 3]
        cassette, calls = episode(api, number)
        exchange = AsyncWire(cassette, PLACE)
        for n, asked in enumerate(calls):
            await asyncio.sleep(0)
            assert await exchange.send(asked) == ENVELOPES[APIS[api]](f"{number}.{n}")
        exchange.finish()
        with pytest.raises(CassetteMiss, match="an earlier call has used it"):
            await exchange.send(calls[0])

    async def all_of_them() -> None:
        await asyncio.gather(*(one(number) for number in range(60)))

    asyncio.run(all_of_them())


@pytest.mark.case("B48")
def test_samples_of_one_episode_may_be_asked_for_at_once() -> None:
    """Equal requests of several threads and tasks get each recorded reply once; the one too many is a miss."""
    samples = [interaction("chat", "same", str(n)) for n in range(16)]
    expected = sorted(str(n) for n in range(16))
    exchange = Wire(recording(samples), PLACE)
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda _: exchange.send(call("chat", "same")), range(16)))
    exchange.finish()
    assert sorted(reply["choices"][0]["message"]["content"] for reply in replies) == expected

    async def gathered() -> list[Any]:
        exchange = AsyncWire(recording(samples), PLACE)
        sent = (exchange.send(call("chat", "same")) for _ in range(17))
        return await asyncio.gather(*sent, return_exceptions=True)

    *found, missed = sorted(asyncio.run(gathered()), key=lambda reply: isinstance(reply, Exception))
    assert sorted(reply["choices"][0]["message"]["content"] for reply in found) == expected
    assert isinstance(missed, CassetteMiss)


@pytest.mark.case("B48")
def test_calls_of_one_episode_never_get_each_others_replies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Different requests of one episode, in eight threads that are interrupted while they compare."""

    def slow(a: Any, b: Any) -> bool:
        time.sleep(0.0002)
        return same(a, b)

    monkeypatch.setattr(transport, "same", slow)
    texts = [str(n) for n in range(16)]
    exchange = Wire(recording(interaction("chat", text, text) for text in texts), PLACE)
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda text: exchange.send(call("chat", text)), texts))
    exchange.finish()
    assert replies == [ENVELOPES["chat/completions"](text) for text in texts]
