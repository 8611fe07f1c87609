"""The transport: vcrpy's own cassette under any SDK, nothing patched, no way to the network."""

from __future__ import annotations

import asyncio
import importlib
import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import vcr.patch
from vcr.serializers import yamlserializer

from reactrepro.cassettes.read import read_cassette
from reactrepro.cassettes.write import cassette_bytes
from reactrepro.domain import Call
from reactrepro.errors import CassetteAbsent, CassetteMiss, Corrupt, Usage
from reactrepro.exchanges.scripted import ENVELOPES
from reactrepro.exchanges.transport import Episode, Transport, sending

from ..cassettes.conftest import ODD
from .roads import APIS, PLACE, body, call, interaction, recording

URL = "https://host.invalid/v1/chat/completions"
HELLO = ENVELOPES["chat/completions"]("hello")


@pytest.fixture(params=["httpx2", "httpx"])
def httpx(request: pytest.FixtureRequest) -> ModuleType:
    """Both modules whose clients the transport serves."""
    return pytest.importorskip(request.param)


def one(**fields: Any) -> Episode:
    """An episode of one chat call, "p" answered by "hello"."""
    return Episode(recording([interaction("chat", "p", "hello", **fields)]), PLACE)


# --- one class for both modules, synchronous and asynchronous -------------------------------------------------------


def test_the_module_is_a_parameter(httpx: ModuleType) -> None:
    """The clients of httpx2 and of httpx are answered alike; a miss comes out as it is, and names the call."""
    with Transport(httpx, one()).client() as client:
        answer = client.post(URL, json=body("chat", "p"))
        assert isinstance(answer, httpx.Response)
        assert (answer.status_code, answer.json()) == (200, HELLO)
        with pytest.raises(CassetteMiss, match="an earlier call has used it") as caught:
            client.post(URL, json=body("chat", "p"))
    assert (caught.value.mismatch.step, caught.value.mismatch.replayed) == (2, 1)


def test_the_same_transport_is_asynchronous_too(httpx: ModuleType) -> None:
    """One object serves a synchronous and an asynchronous client, and both draw on the one recording."""
    transport = Transport(httpx, Episode(recording([interaction("chat", "p", "hello")] * 2), PLACE))

    async def asked() -> Any:
        async with transport.async_client() as client:
            return (await client.post(URL, json=body("chat", "p"))).json()

    assert asyncio.run(asked()) == HELLO
    assert transport.client().post(URL, json=body("chat", "p")).json() == HELLO
    with pytest.raises(CassetteMiss):
        asyncio.run(asked())


@pytest.mark.parametrize("asynchronous", [False, True])
def test_the_openai_sdk_takes_a_client_of_either_module(httpx: ModuleType, asynchronous: bool) -> None:
    """The SDK parses what the recording holds; its own type of answer comes out."""
    import openai

    transport, common = Transport(httpx, one()), {"api_key": "none", "base_url": "https://host.invalid/v1"}
    if asynchronous:
        anew = openai.AsyncOpenAI(http_client=transport.async_client(), **common)
        answer = asyncio.run(anew.chat.completions.create(**body("chat", "p")))
    else:
        answer = openai.OpenAI(http_client=transport.client(), **common).chat.completions.create(**body("chat", "p"))
    assert answer.choices[0].message.content == "hello"


def test_a_stream_is_answered_as_it_was_recorded(httpx: ModuleType) -> None:
    """A body of server-sent events, with its content type, goes through the SDK's own stream."""
    import openai

    parts = [{"choices": [{"index": 0, "delta": {"content": text}}]} for text in ("hel", "lo \u2013")]
    events = "".join(f"data: {json.dumps(part)}\n\n" for part in parts) + "data: [DONE]\n\n"
    asked = body("chat", "p") | {"stream": True}
    episode = one(
        body=json.dumps(asked), response=events, response_headers={"content-type": ["text/event-stream; charset=utf-8"]}
    )
    client = openai.OpenAI(
        api_key="none", base_url="https://host.invalid/v1", http_client=Transport(httpx, episode).client()
    )
    with client.chat.completions.create(**asked) as stream:
        assert [chunk.choices[0].delta.content for chunk in stream] == ["hel", "lo \u2013"]


def test_outside_of_an_episode_nothing_is_answered(httpx: ModuleType) -> None:
    """A shared transport answers inside `sending` only, and forgets the episode after it."""
    client = Transport(httpx).client()
    with pytest.raises(Usage, match="no recording is being replayed here"):
        client.post(URL, json=body("chat", "p"))
    with sending(one(), call("chat", "p")):
        assert client.post(URL, json=body("chat", "p")).json() == HELLO
    with pytest.raises(Usage):
        client.post(URL, json=body("chat", "p"))


def test_an_error_outlives_whoever_swallows_it(httpx: ModuleType) -> None:
    """Whatever an SDK does with what the transport raised, `sending` raises it."""
    client = Transport(httpx).client()

    def swallowing() -> None:
        with sending(one(), call("chat", "q")):
            try:
                client.post(URL, json=body("chat", "q"))
            except CassetteMiss:
                return

    with pytest.raises(CassetteMiss):
        swallowing()


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"a=b&c=d", b"[" * 100_000])
def test_a_request_that_is_no_json_is_a_miss(content: bytes) -> None:
    """It differs from every recorded one, and is no crash."""
    import httpx2

    with pytest.raises(CassetteMiss) as caught:
        Transport(httpx2, one()).client().post(URL, content=content)
    assert [difference.path for difference in caught.value.mismatch.differences] == ["$"]


# --- nothing patched, no network ------------------------------------------------------------------------------------


def _patchable() -> dict[str, Any]:
    """What `vcr.use_cassette` replaces in the HTTP libraries at hand."""
    found = {}
    for module in ("httpx", "httpx2", "requests.adapters", "urllib3.connectionpool", "http.client"):
        for name, value in vars(importlib.import_module(module)).items():
            if isinstance(value, type):
                found[f"{module}.{name}"] = value
                found |= {f"{module}.{name}.{attribute}": it for attribute, it in vars(value).items() if callable(it)}
    return found


def test_nothing_is_patched_at_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, during and after a replay every class of every HTTP library is what it was."""
    from reactrepro.exchanges.wire import Wire

    before, during = _patchable(), []
    answer = Episode.answer

    def looked(*args: Any) -> Any:
        during.append(_patchable())
        return answer(*args)

    def build(_: object) -> None:
        raise AssertionError("vcrpy patches")

    monkeypatch.setattr(Episode, "answer", looked)
    monkeypatch.setattr(vcr.patch.CassettePatcherBuilder, "build", build)
    for api in APIS:
        exchange = Wire(recording([interaction(api, "p", "hello")]), PLACE)
        exchange.send(call(api, "p"))
        exchange.finish()
    assert len(during) == 3
    for after in (*during, _patchable()):
        assert before.keys() <= after.keys()
        assert [name for name, value in before.items() if after[name] is not value] == []


@pytest.fixture
def server(loopback: str) -> Iterator[tuple[str, list[str]]]:
    """A server that would answer anything: its address, and the requests that reached it."""
    reached: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            reached.append(self.path)
            data = json.dumps(HELLO).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    served = HTTPServer((loopback, 0), Handler)
    thread = threading.Thread(target=served.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://{loopback}:{served.server_port}/v1", reached
    served.shutdown()
    thread.join()
    served.server_close()


@pytest.mark.case("B46")
@pytest.mark.parametrize("sdk", ["openai", "anthropic"])
def test_a_replay_never_contacts_a_server_that_is_there(
    sdk: str, server: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With an open network, a valid key and a server that would answer: the new prompt is a miss all the same."""
    import anthropic
    import httpx2
    import openai

    base, reached = server
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", "valid")
        monkeypatch.setenv(f"{name}_BASE_URL", base)
    live = openai.OpenAI(max_retries=0)
    assert live.chat.completions.create(**body("chat", "p")).choices[0].message.content == "hello"
    assert len(reached) == 1
    monkeypatch.setenv("HTTP_PROXY", base)
    http = Transport(httpx2, one(uri=f"{base}/chat/completions")).client()
    if sdk == "openai":
        with pytest.raises(CassetteMiss):
            openai.OpenAI(http_client=http).chat.completions.create(**body("chat", "new"))
    else:
        with pytest.raises(anthropic.APIConnectionError):
            anthropic.Anthropic(http_client=http, max_retries=0).messages.create(
                model="m", max_tokens=1, messages=[{"role": "user", "content": "new"}]
            )
    assert len(reached) == 1
    http.close()
    live.close()


def test_a_transport_holds_no_other_transport(httpx: ModuleType) -> None:
    """There is nothing in it that could open a connection."""
    client = Transport(httpx, one()).client()
    assert not client.trust_env
    held = [client._transport, *client._mounts.values()]
    assert [type(transport) for transport in held] == [Transport]
    assert {type(value) for value in vars(held[0]).values()} == {ModuleType, Episode, type(None)}


# --- what is loaded, and what of it is played -----------------------------------------------------------------------


def test_a_file_and_a_cassette_in_memory_are_answered_alike(tmp_path: Path) -> None:
    """What vcrpy reads from our file is what stands in the value, every odd character included."""
    made = recording([interaction("chat", ODD, ODD), interaction("chat", "p", "hello")])
    path = tmp_path / "0.yaml"
    path.write_bytes(cassette_bytes(made))
    for cassette in (made, read_cassette(path)):
        assert cassette.path in (None, path)
        episode = Episode(cassette, PLACE)
        assert [request.body.decode() for request in episode._vcr.requests] == [i.body for i in made.interactions]
        assert [type(stored).__module__ for stored in episode._vcr.requests] == ["vcr.request"] * 2
        assert type(episode._vcr).__module__ == "vcr.cassette"


HOSTILE = b"reactrepro: &a !!python/object/apply:os.abort []\ninteractions: [*a, *a]\nversion: 1\n"


@pytest.mark.parametrize(
    ("alter", "kind"),
    [
        (lambda data: data.replace(b"hello", b"hallo"), Corrupt),
        (lambda data: data[: len(data) // 2], Corrupt),
        (lambda data: b"", Corrupt),
        (lambda data: HOSTILE, Corrupt),
        (lambda data: cassette_bytes(recording([interaction("chat", "p", "other")])), Corrupt),
        (None, CassetteAbsent),
    ],
)
def test_a_file_that_changed_since_it_was_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, alter: Any, kind: type[Exception]
) -> None:
    """vcrpy gets the bytes that our reader has accepted, and no others."""
    path = tmp_path / "0.yaml"
    path.write_bytes(cassette_bytes(recording([interaction("chat", "p", "hello")])))
    cassette = read_cassette(path)
    if alter is None:
        path.unlink()
    else:
        path.write_bytes(alter(path.read_bytes()))
    monkeypatch.setattr(yamlserializer, "deserialize", lambda _: pytest.fail("vcrpy was given the file"))
    with pytest.raises(kind):
        Episode(cassette, PLACE)


@pytest.mark.parametrize("field", ["method", "uri", "body", "status", "response"])
def test_a_file_that_vcrpy_reads_otherwise_is_refused(monkeypatch: pytest.MonkeyPatch, field: str) -> None:
    """Both readers have to see the same method, address, body, status and reply."""
    cassette = recording([interaction("chat", "p", "hello")])
    other: dict[str, Any] = {"status": 201} if field == "status" else {field: "other"}
    data = cassette_bytes(recording([replace(cassette.interactions[0], **other)])).decode()
    deserialize = yamlserializer.deserialize
    monkeypatch.setattr(yamlserializer, "deserialize", lambda _: deserialize(data))
    with pytest.raises(Corrupt, match=r"0\.yaml: vcrpy reads other interactions in it"):
        Episode(cassette, PLACE)


def test_what_vcrpy_cannot_read_is_corrupt() -> None:
    """A lone surrogate stands in no YAML file."""
    with pytest.raises(Corrupt, match=r"0\.yaml: vcrpy does not read it"):
        one(response='{"x": "\ud800"}')


def test_no_recorded_header_has_an_effect(httpx: ModuleType) -> None:
    """Cookies, encodings, lengths, redirects and waiting times of a stranger's file are not played."""
    headers = {
        "Set-Cookie": ["a=b"],
        "Content-Encoding": ["gzip"],
        "Content-Length": ["3"],
        "Location": ["http://127.0.0.1/"],
        "Retry-After": ["60"],
        "x\r\nbad": ["\u20ac\n"],
    }
    client = Transport(httpx, one(response_headers=headers)).client()
    answer = client.post(URL, json=body("chat", "p"))
    assert answer.json() == HELLO
    assert dict(answer.headers) == {"content-type": "application/json"}
    assert not client.cookies


@pytest.mark.parametrize(
    ("recorded", "played"),
    [
        ({"CONTENT-TYPE": ["text/event-stream"]}, "text/event-stream"),
        ({"content-type": ["a/b; charset=utf-8", "c/d"]}, "a/b; charset=utf-8"),
        ({"content-type": []}, "application/json"),
        ({"content-type": ["a/b\r\nx: y"]}, "application/json"),
        ({"content-type": ["\u00fc"]}, "application/json"),
        ({}, "application/json"),
    ],
)
def test_the_content_type_is_played_where_it_is_one(recorded: dict[str, list[str]], played: str) -> None:
    """Streams need theirs; what is no header value is left out."""
    import httpx2

    answer = Transport(httpx2, one(response_headers=recorded)).client().post(URL, json=body("chat", "p"))
    assert answer.headers["content-type"] == played


def test_an_episode_knows_what_was_used() -> None:
    """`used` follows the recording's order, whatever the order of the calls."""
    import httpx2

    episode = Episode(recording([interaction("chat", text, text) for text in "abc"]), PLACE)
    client = Transport(httpx2, episode).client()
    for asked, used in (("b", [False, True, False]), ("a", [True, True, False])):
        client.post(URL, json=Call(URL, body("chat", asked), 1).body)
        assert episode.used == used
