"""`http_client`: any agent, through the real SDKs, recorded from a server and replayed without one."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest

import reactrepro
from reactrepro.cassettes.matching import endpoint
from reactrepro.cassettes.model import Interaction
from reactrepro.cassettes.read import read_cassette, read_exchanges
from reactrepro.cassettes.write import cassette_bytes, seal_exchanges
from reactrepro.errors import CassetteAbsent, CassetteLeftover, CassetteMiss, Corrupt, Usage

from .. import agent_llm
from ..agent_llm import EVENTS, KEY, TOWN, AgentLlm
from ..llm_server import Say, serving, wrapped

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

HOST = "https://host.invalid/v1"
APIS = ("chat", "completions", "messages")


def sync_sdk(api: str, client: Any, base_url: str = HOST, key: str = "none") -> Any:
    """The SDK of *api* on *client*, as a user makes it."""
    if api == "messages":
        return anthropic.Anthropic(http_client=client, api_key=key, base_url=base_url.removesuffix("/v1"))
    return openai.OpenAI(http_client=client, api_key=key, base_url=base_url)


def async_sdk(api: str, client: Any, base_url: str = HOST, key: str = "none") -> Any:
    """`sync_sdk` for asyncio."""
    if api == "messages":
        return anthropic.AsyncAnthropic(http_client=client, api_key=key, base_url=base_url.removesuffix("/v1"))
    return openai.AsyncOpenAI(http_client=client, api_key=key, base_url=base_url)


def worked(api: str, path: Path, mode: Any, *, asynchronous: bool, stream: bool, **how: Any) -> list[Any]:
    """What the agent on *api* hears from a recording, or while recording."""
    if not asynchronous:
        with reactrepro.http_client(path, mode) as client:
            return list(getattr(agent_llm, api)(sync_sdk(api, client, **how), "How is it there?", stream=stream))

    async def work() -> list[Any]:
        async with reactrepro.async_http_client(path, mode) as client:
            agent = getattr(agent_llm, f"async_{api}")
            return list(await agent(async_sdk(api, client, **how), "How is it there?", stream=stream))

    return asyncio.run(work())


# --- recorded from a server, replayed without one -------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("api", APIS)
def test_a_replay_says_to_the_byte_what_was_heard(
    api: str, asynchronous: bool, stream: bool, tmp_path: Path, loopback: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tool calls and streams included; the server is gone, sockets are blocked, another key and host do not matter."""
    path = tmp_path / "agents" / "weather.yaml"
    how = {"asynchronous": asynchronous, "stream": stream}
    with serving(AgentLlm()) as llm:
        heard = worked(api, path, "record", base_url=llm.base_url, key=KEY, **how)
        asked = len(llm.asked)
    monkeypatch.setattr(httpx2.HTTPTransport, "handle_request", None)
    monkeypatch.setattr(httpx2.AsyncHTTPTransport, "handle_async_request", None)
    assert worked(api, path, "replay", **how) == heard
    assert len(read_exchanges(path).interactions) == asked == (1 if api == "completions" else 2)
    said = json.dumps(heard, ensure_ascii=False)
    assert f"It rains in {TOWN}" in said or stream
    assert agent_llm.CANARY not in said


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("api", APIS)
def test_no_secret_reaches_the_file(
    api: str, stream: bool, tmp_path: Path, loopback: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys, cookies, accounts, request ids, whatever else stands in headers, beside the known members or in events."""
    monkeypatch.setenv("SOME_TOKEN", "env-canary-123456")
    path = tmp_path / "weather.yaml"
    files: list[bytes] = []

    def look(_: Any) -> None:
        files.extend(file.read_bytes() for file in tmp_path.iterdir() if file.is_file())

    with serving(AgentLlm(before=look)) as llm:
        worked(api, path, "record", asynchronous=False, stream=stream, base_url=llm.base_url, key=KEY)
        assert any(KEY in value for value in llm.asked[0].headers.values())
    look(None)
    assert files[-1].startswith(b"reactrepro: {")
    assert [data for data in files if b"canary" in data] == []
    made = read_exchanges(path).interactions[0]
    kind = EVENTS["content-type"] if stream else "application/json"
    assert (made.request_headers, made.response_headers) == (
        {"Content-Type": ["application/json"]},
        {"Content-Type": [kind]},
    )


def test_stock_vcrpy_replays_the_file(tmp_path: Path, loopback: str) -> None:
    """It is a cassette of vcrpy's own format; the real SDK gets the same from `vcr.use_cassette`, stream included."""
    import vcr

    path = tmp_path / "weather.yaml"
    with serving(AgentLlm()) as llm:
        url = llm.base_url
        heard = worked("chat", path, "record", asynchronous=False, stream=True, base_url=url, key=KEY)
    matched = ("method", "uri", "body")
    with vcr.use_cassette(str(path), record_mode="none", match_on=matched) as played:
        sdk = openai.OpenAI(api_key="none", base_url=url, max_retries=0)
        assert agent_llm.chat(sdk, "How is it there?", stream=True) == heard
        assert played.all_played


def test_an_episodes_reader_refuses_the_file_and_the_other_way_round(tmp_path: Path, loopback: str) -> None:
    """Neither passes for the other: the format's name says what a file is."""
    path = tmp_path / "weather.yaml"
    with serving(AgentLlm()) as llm:
        worked("chat", path, "record", asynchronous=False, stream=False, base_url=llm.base_url)
    with pytest.raises(Corrupt, match="format field is 'reactrepro-exchange/1', not 'reactrepro-episode/1'"):
        read_cassette(path)
    path.write_bytes(path.read_bytes().replace(b"exchange/1", b"exchange/2"))
    with pytest.raises(Corrupt, match="written by a newer reactrepro"):
        reactrepro.http_client(path)
    path.write_bytes(path.read_bytes().replace(b"exchange/2", b"exchange/1").replace(b"It rains", b"It pours"))
    with pytest.raises(Corrupt, match="the hash differs"):
        reactrepro.http_client(path)


def test_the_openai_sdk_takes_a_client_of_httpx_too(tmp_path: Path, loopback: str) -> None:
    """For SDKs that are built on httpx the module is a parameter."""
    httpx = pytest.importorskip("httpx")
    path = tmp_path / "weather.yaml"
    with serving(AgentLlm()) as llm, reactrepro.http_client(path, "record", httpx=httpx) as client:
        assert isinstance(client, httpx.Client)
        heard = agent_llm.chat(sync_sdk("chat", client, llm.base_url), "p", stream=True)
    with reactrepro.http_client(path, httpx=httpx) as client:
        assert agent_llm.chat(sync_sdk("chat", client), "p", stream=True) == heard

    async def again() -> list[Any]:
        async with reactrepro.async_http_client(path, httpx=httpx) as client:
            assert isinstance(client, httpx.AsyncClient)
            return await agent_llm.async_chat(async_sdk("chat", client), "p", stream=True)

    assert asyncio.run(again()) == heard


def test_an_sdk_may_close_the_client(tmp_path: Path, loopback: str) -> None:
    """`with OpenAI(...)` closes the client that it is given; the recording is put in its place all the same."""
    path = tmp_path / "weather.yaml"
    with serving(AgentLlm()) as llm, reactrepro.http_client(path, "record") as client:
        with sync_sdk("chat", client, llm.base_url) as sdk:
            heard = agent_llm.chat(sdk, "p", stream=False)
        assert not path.exists()
    client = reactrepro.http_client(path)
    with sync_sdk("chat", client) as sdk:
        assert agent_llm.chat(sdk, "p", stream=False) == heard
    client.finish()


RESPONSES = {
    "id": "resp_1", "object": "response", "created_at": 1796000000, "status": "completed", "model": "m", "error": None,
    "output": [{"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "weather", "arguments": "{}",
                "status": "completed"}],
    "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "user": "canary", "service_tier": "canary",
    "usage": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
}  # fmt: skip


def test_responses_and_embeddings_are_recorded_too(tmp_path: Path, loopback: str) -> None:
    """Agents use them beside the three APIs; whole and streamed."""
    path = tmp_path / "more.yaml"
    events = [
        {"type": "response.created", "sequence_number": 0, "response": {**RESPONSES, "output": [], "status": "queued"}},
        {"type": "response.function_call_arguments.delta", "sequence_number": 1, "delta": "{}", "item_id": "fc_1",
         "output_index": 0, "obfuscation": "canary"},
        {"type": "response.completed", "sequence_number": 2, "response": RESPONSES},
    ]  # fmt: skip
    streamed = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()
    vectors = {"object": "list", "data": [{"object": "embedding", "index": 0, "embedding": [0.25, -1.5]}], "model": "m",
               "usage": {"prompt_tokens": 1, "total_tokens": 1}, "id": "canary"}  # fmt: skip

    def work(sdk: Any) -> list[Any]:
        whole = sdk.responses.create(model="m", input="p")
        parts = [event.model_dump() for event in sdk.responses.create(model="m", input="p", stream=True)]
        return [whole.model_dump(), parts, sdk.embeddings.create(model="m", input="p").model_dump()]

    script = [Say(RESPONSES), Say(streamed, headers=EVENTS), Say(vectors)]
    with serving(AgentLlm(script=script)) as llm, reactrepro.http_client(path, "record") as client:
        heard = work(sync_sdk("chat", client, llm.base_url))
    with reactrepro.http_client(path) as client:
        assert work(sync_sdk("chat", client)) == heard
    assert heard[0]["output"][0]["call_id"] == "call_1"
    assert heard[1][-1]["response"]["usage"]["total_tokens"] == 3
    assert heard[2]["data"][0]["embedding"] == [0.25, -1.5]
    assert b"canary" not in path.read_bytes()


# --- what was not recorded ------------------------------------------------------------------------------------------


@pytest.fixture
def weather(tmp_path: Path) -> Path:
    """A recording of three calls of the chat API and one of messages: "a", "b", "a" again, and "a"."""
    path = tmp_path / "weather.yaml"
    numbers = iter(range(9))

    def answered(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, json=wrapped(request.url.path, f"reply {next(numbers)}", {}))

    with reactrepro.http_client(path, "record", transport=httpx2.MockTransport(answered)) as client:
        for prompt in ("a", "b", "a"):
            asked("chat", sync_sdk("chat", client), prompt)
        asked("messages", sync_sdk("messages", client), "a")
    return path


def asked(api: str, sdk: Any, prompt: str, **more: Any) -> str:
    """What the model says to *prompt*."""
    common = {"model": "m", "messages": [{"role": "user", "content": prompt}], **more}
    if api == "messages":
        return str(sdk.messages.create(max_tokens=9, **common).content[0].text)
    return str(sdk.chat.completions.create(**common).choices[0].message.content)


async def async_asked(api: str, sdk: Any, prompt: str) -> str:
    """`asked` for asyncio."""
    common = {"model": "m", "messages": [{"role": "user", "content": prompt}]}
    if api == "messages":
        return str((await sdk.messages.create(max_tokens=9, **common)).content[0].text)
    return str((await sdk.chat.completions.create(**common)).choices[0].message.content)


@pytest.fixture
def no_waits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The waits between attempts of the SDKs, which are skipped and noted."""
    waits: list[str] = []

    async def waited(self: Any, **_: Any) -> None:
        waits.append(type(self).__name__)

    for module in (openai, anthropic):
        for kind in ("SyncAPIClient", "AsyncAPIClient"):
            found = getattr(module._base_client, kind)  # type: ignore[attr-defined]
            wait = waited if kind.startswith("Async") else lambda self, **_: waits.append(type(self).__name__)
            monkeypatch.setattr(found, "_sleep_for_retry", wait)
    return waits


@pytest.mark.case("B14")
@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("api", ["chat", "messages"])
def test_a_miss_comes_out_as_it_is_and_is_never_tried_again(
    api: str, asynchronous: bool, weather: Path, no_waits: list[str]
) -> None:
    """No "Connection error.", no waits: the SDKs take it for an error of their own, and hand it on."""

    async def async_work() -> None:
        async with reactrepro.async_http_client(weather) as client:
            await async_asked(api, async_sdk(api, client), "A longer question than before?")

    def work() -> None:
        with reactrepro.http_client(weather) as client:
            asked(api, sync_sdk(api, client), "A longer question than before?")

    with pytest.raises(CassetteMiss) as caught:
        asyncio.run(async_work()) if asynchronous else work()
    assert str(caught.value) == (
        f"{weather}, request 1: the request was not recorded.\n"
        f"  {weather}, nearest: interaction {4 if api == 'messages' else 1} of 4; 0 replayed.\n"
        '  $.messages[0].content: "a" recorded, "A longer question than before?" sent\n'
        '  Restore what changed, or record it again: mode="record".'
    )
    assert caught.value.mismatch.as_dict()["differences"][0]["sent"] == "A longer question than before?"
    assert isinstance(caught.value, anthropic.AnthropicError if api == "messages" else openai.OpenAIError)
    assert no_waits == []


def test_a_miss_in_a_stream_comes_out_as_it_is(weather: Path, no_waits: list[str]) -> None:
    """Asking for a stream where none was recorded is another request."""
    missing = pytest.raises(CassetteMiss, match=r"\$\.stream: nothing recorded, true sent")
    with missing, reactrepro.http_client(weather) as client:
        asked("chat", sync_sdk("chat", client), "b", stream=True)
    assert no_waits == []


@pytest.mark.case("B48")
def test_equal_requests_are_answered_in_recorded_order_each_once(weather: Path) -> None:
    """Different ones come in any order; one more than was recorded is a miss that says so."""
    client = reactrepro.http_client(weather)
    sdk = sync_sdk("chat", client)
    assert asked("messages", sync_sdk("messages", client), "a") == "reply 3"
    assert [asked("chat", sdk, prompt) for prompt in ("a", "b", "a")] == ["reply 0", "reply 1", "reply 2"]
    with pytest.raises(CassetteMiss, match="this very request, but an earlier call has used it: the agent asks more"):
        asked("chat", sdk, "a")


def test_a_miss_that_is_swallowed_is_raised_in_the_end(weather: Path) -> None:
    """An agent that takes every error for a bad tool and goes on did not replay."""

    def agent() -> None:
        with reactrepro.http_client(weather, allow_leftover=True) as client:
            sdk = sync_sdk("chat", client)
            asked("chat", sdk, "a")
            with pytest.raises(openai.OpenAIError):
                asked("chat", sdk, "c")

    with pytest.raises(CassetteMiss, match="request 2"):
        agent()


def test_a_miss_that_is_wrapped_is_unwrapped(weather: Path) -> None:
    """Whatever a framework makes of it, what leaves the client says what differs; another error stays another."""

    def agent(**more: Any) -> None:
        with reactrepro.http_client(weather, **more) as client:
            try:
                asked("chat", sync_sdk("chat", client), "c")
            except Exception as error:
                raise RuntimeError("the model is not available") from error

    with pytest.raises(CassetteMiss, match="was not recorded"):
        agent()
    with pytest.raises(ZeroDivisionError), reactrepro.http_client(weather):
        _ = 1 / 0


def test_what_is_left_over_fails_unless_that_is_allowed(weather: Path) -> None:
    """A reply that nobody asks for shows that the agent does less than it did."""
    message = r"3 of 4 recorded interactions were never asked for \(number 2, 3, 4\)"
    with pytest.raises(CassetteLeftover, match=message), reactrepro.http_client(weather) as client:
        asked("chat", sync_sdk("chat", client), "a")
    with reactrepro.http_client(weather, allow_leftover=True) as client:
        asked("chat", sync_sdk("chat", client), "a")
    client = reactrepro.http_client(weather)
    with pytest.raises(CassetteLeftover):
        client.finish()


def test_without_a_recording_there_is_no_client(tmp_path: Path) -> None:
    """The message says how to make one; an unknown mode names the two that there are."""
    with pytest.raises(CassetteAbsent, match=r'does not exist\. Record it: mode="record"'):
        reactrepro.http_client(tmp_path / "none.yaml")
    with pytest.raises(Usage, match='no mode \'once\': use "replay" or "record"'):
        reactrepro.http_client(tmp_path / "none.yaml", "once")  # type: ignore[arg-type]
    with pytest.raises(Usage, match="is a folder"):
        reactrepro.http_client(tmp_path, "record")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.case("B46")
def test_a_replay_never_reaches_a_network(weather: Path, offline: dict[str, str]) -> None:
    """No socket is opened, whatever the environment names: another process, an audit hook, no vcrpy."""
    code = """
import sys, openai, reactrepro
with reactrepro.http_client(sys.argv[1], allow_leftover=True) as client:
    sdk = openai.OpenAI(http_client=client, api_key="none", base_url="http://127.0.0.1:9/v1")
    said = sdk.chat.completions.create(model="m", messages=[{"role": "user", "content": "b"}])
    print(said.choices[0].message.content, "vcr" in sys.modules)
    try:
        sdk.models.list()
    except reactrepro.errors.CassetteMiss as error:
        print("miss")
"""
    proxied = offline | {"HTTPS_PROXY": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9"}
    command = [sys.executable, "-c", code, str(weather)]
    done = subprocess.run(command, env=proxied, capture_output=True, text=True, check=False)
    assert done.stdout.split("\n")[:2] == ["reply 1 False", "miss"]
    assert "reactrepro.errors.CassetteMiss: " in done.stderr


def test_importing_reactrepro_imports_no_http_library(offline: dict[str, str]) -> None:
    """The public functions are loaded when they are asked for; a name that is none is an AttributeError."""
    code = """
import sys, reactrepro
assert not {"httpx2", "openai", "vcr", "msgspec"} & set(sys.modules), sorted(sys.modules)
assert callable(reactrepro.http_client) and callable(reactrepro.async_http_client)
assert "openai" not in sys.modules and "vcr" not in sys.modules
try:
    reactrepro.weather
except AttributeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], env=offline, capture_output=True, text=True, check=True)
    assert done.stdout == "module 'reactrepro' has no attribute 'weather'\n"


# --- threads and tasks ----------------------------------------------------------------------------------------------


def question(number: int) -> str:
    """What the episode *number* asks."""
    return f"How is it in town {number}?"


def test_eight_threads_record_and_replay_120_episodes(tmp_path: Path, loopback: str) -> None:
    """One file, one client, one SDK: each episode hears what it heard, and each reply is recorded once."""
    path = tmp_path / "many.yaml"

    def episode(sdk: Any, number: int) -> list[Any]:
        return agent_llm.chat(sdk, question(number), stream=number % 4 == 0)

    def work(sdk: Any) -> list[Any]:
        with ThreadPoolExecutor(8) as pool:
            return list(pool.map(lambda number: episode(sdk, number), range(120)))

    with serving(AgentLlm()) as llm, reactrepro.http_client(path, "record") as client:
        heard = work(sync_sdk("chat", client, llm.base_url))
        assert len(llm.asked) == 240
    assert len(read_exchanges(path).interactions) == 240
    assert len({json.dumps(made) for made in heard}) == 120
    with reactrepro.http_client(path) as client:
        assert work(sync_sdk("chat", client)) == heard


def test_eight_threads_have_a_client_each_120_times(tmp_path: Path, loopback: str) -> None:
    """One file per episode, as evaluations keep them: no client has to do with another."""
    api = "messages"

    def work(mode: Any, base_url: str = HOST) -> list[Any]:
        def episode(number: int) -> list[Any]:
            with reactrepro.http_client(tmp_path / f"{number}.yaml", mode) as client:
                return agent_llm.messages(sync_sdk(api, client, base_url), question(number), stream=False)

        with ThreadPoolExecutor(8) as pool:
            return list(pool.map(episode, range(120)))

    with serving(AgentLlm()) as llm:
        heard = work("record", llm.base_url)
    assert len({json.dumps(made) for made in heard}) == 120
    assert work("replay") == heard


@pytest.mark.parametrize("api", ["chat", "messages"])
def test_sixty_tasks_at_once_record_and_replay(api: str, tmp_path: Path, loopback: str) -> None:
    """Under `asyncio.gather`, on one client, streams and whole replies mixed."""
    path = tmp_path / "many.yaml"

    async def work(mode: Any, base_url: str = HOST) -> list[Any]:
        async with reactrepro.async_http_client(path, mode) as client:
            sdk = async_sdk(api, client, base_url)
            agent = getattr(agent_llm, f"async_{api}")
            tasks = (agent(sdk, question(number), stream=bool(number % 2)) for number in range(60))
            return list(await asyncio.gather(*tasks))

    with serving(AgentLlm()) as llm:
        heard = asyncio.run(work("record", llm.base_url))
    assert len({json.dumps(made) for made in heard}) == 60
    assert asyncio.run(work("replay")) == heard


def test_threads_that_ask_the_same_get_each_reply_once(tmp_path: Path) -> None:
    """Samples of one prompt: nothing that was just recorded answers the next call, and none is played twice."""
    path, numbers, lock = tmp_path / "samples.yaml", iter(range(99)), threading.Lock()

    def answered(request: httpx2.Request) -> httpx2.Response:
        with lock:
            number = next(numbers)
        return httpx2.Response(200, json=wrapped(request.url.path, f"sample {number}", {}))

    def work(client: Any) -> list[str]:
        sdk = sync_sdk("chat", client)
        with ThreadPoolExecutor(8) as pool:
            return sorted(pool.map(lambda _: asked("chat", sdk, "Say a number."), range(40)))

    with reactrepro.http_client(path, "record", transport=httpx2.MockTransport(answered)) as client:
        heard = work(client)
    assert len(set(heard)) == 40
    with reactrepro.http_client(path) as client:
        assert work(client) == heard
    recorded = [json.loads(made.response) for made in read_exchanges(path).interactions]
    with reactrepro.http_client(path) as client:
        sdk = sync_sdk("chat", client)
        one_by_one = [asked("chat", sdk, "Say a number.") for _ in range(40)]
    assert one_by_one == [made["choices"][0]["message"]["content"] for made in recorded]


def test_the_address_and_its_case_play_no_part(weather: Path) -> None:
    """What is matched is the endpoint, so a replay works under any host; see also `endpoint`."""
    assert endpoint("https://gw.invalid/openai/v1/responses?x=1") == "responses"
    with reactrepro.http_client(weather, allow_leftover=True) as client:
        assert asked("chat", sync_sdk("chat", client, "https://other.invalid/api/v3"), "b") == "reply 1"


def test_an_error_that_was_recorded_by_others_is_no_reply(weather: Path) -> None:
    """A file that somebody wrote with a status of its own is refused when that answer would be played."""
    made = list(read_exchanges(weather).interactions)
    made[1] = Interaction("POST", made[1].uri, made[1].body, 429, made[1].response)
    weather.write_bytes(cassette_bytes(seal_exchanges(tuple(made), time=None, versions={}, provenance="scripted")))
    refused = pytest.raises(Corrupt, match="interaction 2 has the status 429")
    with refused, reactrepro.http_client(weather) as client:
        asked("chat", sync_sdk("chat", client), "b")
