"""Recording any agent: nothing lost, nothing half, nothing secret, and nothing that a replay could not answer."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest

import reactrepro
from reactrepro.cassettes.model import Exchanges
from reactrepro.cassettes.read import read_exchanges
from reactrepro.errors import Corrupt, DiskError, InfraError, Usage
from reactrepro.exchanges import agent_record

from ..agent_llm import EVENTS, KEY, AgentLlm
from ..llm_server import Say, error, serving, wrapped
from .test_http_client import HOST, asked, async_sdk, sync_sdk

HELLO = {"role": "user", "content": "hello"}


def said(request: httpx2.Request) -> httpx2.Response:
    """The reply to a request: its last message, turned round."""
    prompt = json.loads(request.content)["messages"][-1]["content"]
    return httpx2.Response(200, json=wrapped(request.url.path, prompt[::-1], {}))


def recording(path: Path, answer: Callable[[httpx2.Request], httpx2.Response] = said, **more: Any) -> Any:
    """A client that records what *answer* answers."""
    return reactrepro.http_client(path, "record", transport=httpx2.MockTransport(answer), **more)


def prompts(path: Path) -> list[str]:
    """The prompts that are recorded in *path*."""
    made: Exchanges = read_exchanges(path)
    return [interaction.request_json["messages"][-1]["content"] for interaction in made.interactions]


def part(path: Path) -> Path:
    """Where the unfinished recording stands."""
    return path.with_name(path.name + ".part")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a recording is to stand, in a folder that is not there yet."""
    return tmp_path / "agents" / "agent.yaml"


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDKs wait for nothing between attempts."""
    monkeypatch.setattr(openai._base_client.SyncAPIClient, "_sleep_for_retry", lambda *_, **__: None)  # type: ignore[attr-defined]


# --- nothing lost ---------------------------------------------------------------------------------------------------


def test_each_reply_is_on_disk_before_the_sdk_gets_it(path: Path) -> None:
    """After each reply the part is a whole recording; it takes its place at the end, and nothing else is left."""
    with recording(path) as client:
        for number in range(3):
            asked("chat", sync_sdk("chat", client), f"p{number}")
            assert prompts(part(path)) == [f"p{n}" for n in range(number + 1)]
            assert not path.exists()
    assert prompts(path) == ["p0", "p1", "p2"]
    assert [file.name for file in path.parent.iterdir()] == ["agent.yaml"]


def test_the_old_recording_stands_until_the_new_one_is_complete(path: Path) -> None:
    """A failure leaves it as it was, to the byte, and what is new beside it; the next attempt carries on from that."""
    with recording(path) as client:
        asked("chat", sync_sdk("chat", client), "old")
    old = path.read_bytes()
    with contextlib.suppress(ZeroDivisionError), recording(path) as client:
        assert [asked("chat", sync_sdk("chat", client), prompt) for prompt in ("ab", "cd", "ab")] == ["ba", "dc", "ba"]
        _ = 1 / 0
    assert path.read_bytes() == old
    assert prompts(part(path)) == ["ab", "cd", "ab"]
    sent: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(json.loads(request.content)["messages"][-1]["content"])
        return said(request)

    with recording(path, answer) as client:
        assert [asked("chat", sync_sdk("chat", client), prompt) for prompt in ("ef", "ab")] == ["fe", "ba"]
    assert sent == ["ef"]
    assert prompts(path) == ["ab", "ef"]
    assert not part(path).exists()
    with reactrepro.http_client(path) as client:
        assert [asked("chat", sync_sdk("chat", client), prompt) for prompt in ("ef", "ab")] == ["fe", "ba"]


CHILD = """
import sys, openai, reactrepro
from concurrent.futures import ThreadPoolExecutor
with reactrepro.http_client(sys.argv[1], "record") as client:
    sdk = openai.OpenAI(http_client=client, api_key="none", base_url=sys.argv[2])
    def ask(number):
        sdk.chat.completions.create(model="m", messages=[{"role": "user", "content": f"p{number}"}])
        sys.stdout.write(f"p{number}\\n")
        sys.stdout.flush()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(ask, range(40)))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_killed_it_loses_replies_in_flight_and_no_other(path: Path, loopback: str) -> None:
    """What was handed on is in the part; the next attempt asks for the rest only, whatever the killed one left."""
    env = {**os.environ, "PYTHONPATH": str(Path(reactrepro.__file__).parents[1])}
    with serving(AgentLlm(delay=0.02)) as llm:
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(path), llm.base_url], env=env, stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        got = [child.stdout.readline().strip() for _ in range(13)]
        child.send_signal(signal.SIGKILL)
        got += child.stdout.read().split()
        child.wait()
        child.stdout.close()
        kept = prompts(part(path))
        assert set(got) <= set(kept)
        assert len(kept) == len(set(kept)) <= len(got) + 4
        path.with_name(".agent.yaml.part.x1.tmp").write_bytes(b"half")
        before = len(llm.asked)
        with reactrepro.http_client(path, "record") as client:
            sdk = sync_sdk("chat", client, llm.base_url)
            for number in range(40):
                asked("chat", sdk, f"p{number}")
        assert len(llm.asked) - before == 40 - len(kept)
    assert sorted(prompts(path)) == sorted(f"p{number}" for number in range(40))
    assert [file.name for file in path.parent.iterdir()] == ["agent.yaml"]


def test_one_recorder_at_a_time(path: Path) -> None:
    """The second is refused, in this process and in others, and does no harm; afterwards the file is free."""
    with recording(path) as client:
        asked("chat", sync_sdk("chat", client), "p")
        with pytest.raises(Usage, match="is being recorded by another client or process"):
            recording(path)
        code = "import reactrepro, sys; reactrepro.http_client(sys.argv[1], 'record')"
        env = {**os.environ, "PYTHONPATH": str(Path(reactrepro.__file__).parents[1])}
        command = [sys.executable, "-c", code, str(path)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert "reactrepro.errors.Usage" in done.stderr
        asked("chat", sync_sdk("chat", client), "q")
    assert prompts(path) == ["p", "q"]
    with contextlib.suppress(ZeroDivisionError), recording(path):
        _ = 1 / 0
    client = recording(path)
    asked("chat", sync_sdk("chat", client), "r")
    thread = threading.Thread(target=client.finish)
    thread.start()
    thread.join()
    client.finish()
    with recording(path) as client:
        asked("chat", sync_sdk("chat", client), "s")
    assert prompts(path) == ["s"]


def test_a_full_disk_is_said_and_costs_no_more(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reply is not handed on, the recording is none, and no call is made where there is no room for its reply."""

    def full(target: Path, _: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(target))

    client = recording(path)
    asked("chat", sync_sdk("chat", client), "p")
    monkeypatch.setattr(agent_record, "replace_file", full)
    with pytest.raises(DiskError, match="No space left"):
        asked("chat", sync_sdk("chat", client), "q")
    with pytest.raises(DiskError, match="No space left"):
        client.finish()
    monkeypatch.undo()
    client.close()
    assert prompts(part(path)) == ["p"]
    monkeypatch.setattr(agent_record.shutil, "disk_usage", lambda _: type("Usage", (), {"total": 9, "free": 0}))
    sent: list[Any] = []
    with pytest.raises(DiskError), recording(path, lambda request: sent.append(request) or said(request)) as client:
        asked("chat", sync_sdk("chat", client), "r")
    assert sent == []


def test_where_nothing_can_be_written_nothing_is_asked(tmp_path: Path) -> None:
    """The client is not even made."""
    tmp_path.joinpath("file").touch()
    with pytest.raises(DiskError, match="cannot be written"):
        recording(tmp_path / "file" / "agent.yaml")


# --- nothing that a replay could not answer -------------------------------------------------------------------------


@pytest.mark.case("B17")
@pytest.mark.case("B46")
def test_errors_are_handed_on_and_never_recorded(path: Path, loopback: str, quickly: None) -> None:
    """The SDK tries again as it does live, and sees status, body and Retry-After; only the reply is recorded."""
    storm = [error(429, headers={"retry-after": "7", "x-why": "busy"}), error(500), Say(drop=True)]
    with serving(AgentLlm(script=storm[:2])) as llm, reactrepro.http_client(path, "record") as client:
        asked("chat", sync_sdk("chat", client, llm.base_url), "p")
        assert len(llm.asked) == 3
        llm.script += [storm[2], storm[0]]
        with pytest.raises(openai.RateLimitError) as caught:
            asked("chat", sync_sdk("chat", client, llm.base_url).with_options(max_retries=1), "q")
        headers = caught.value.response.headers
        assert (headers["retry-after"], headers["x-why"], caught.value.body["message"]) == ("7", "busy", "no")  # type: ignore[index]
        assert "set-cookie" not in headers
        asked("chat", sync_sdk("chat", client, llm.base_url), "q")
    assert prompts(path) == ["p", "q"]


def test_a_request_without_a_reply_makes_no_recording(path: Path, loopback: str) -> None:
    """However the agent got over it: a replay could not answer it. What is recorded waits for the next attempt."""
    with serving(AgentLlm(script=[error(400, "too long", code="context_length_exceeded")])) as llm:

        def agent() -> None:
            with reactrepro.http_client(path, "record") as client:
                sdk = sync_sdk("chat", client, llm.base_url)
                with pytest.raises(openai.BadRequestError, match="too long"):
                    asked("chat", sdk, "long")
                asked("chat", sdk, "short")

        with pytest.raises(InfraError, match=r"1 requests got no reply \(status 400\)"):
            agent()
        assert not path.exists()
        with reactrepro.http_client(path, "record") as client:
            asked("chat", sync_sdk("chat", client, llm.base_url), "short")
        assert len(llm.asked) == 2
    assert prompts(path) == ["short"]


CHUNK = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "m"}
TEXT = json.dumps({**CHUNK, "choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": None}]})


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Say({"error": {"message": "overloaded"}, "choices": None}), "that is no reply"),
        (Say({"choices": []}), "that is no reply"),
        (Say(b'{"choices": [{"ind'), "that is not readable JSON"),
        (Say(b"<html>", headers={"content-type": "text/html"}), "that is not readable JSON"),
        (Say(b"\xff{}"), "that is not readable JSON"),
        (Say(b"", status=204), "status 204"),
        (Say(f"data: {TEXT}\n\n".encode(), headers=EVENTS), "a stream that ended before its end"),
        (Say(f"data: {TEXT}\n\n".encode(), headers=EVENTS, cut=20), "RemoteProtocolError"),
        (Say(f'data: {TEXT}\n\ndata: {{"error": {{"message": "x"}}}}\n\n'.encode(), headers=EVENTS), "an error inside"),
        (Say(b"data: {oops\n\ndata: [DONE]\n\n", headers=EVENTS), "an event that is not JSON"),
        (Say(b"data: \xff\xfe\n\ndata: [DONE]\n\n", headers=EVENTS), "an event that is not JSON"),
        (Say(b"data: [DONE]\n\n", headers={**EVENTS, "content-encoding": "gzip"}), "DecodingError"),
        (Say(drop=True), "RemoteProtocolError"),
    ],
)
def test_what_is_no_reply_is_handed_on_as_it_came_and_never_recorded(
    answer: Say, why: str, path: Path, loopback: str
) -> None:
    """An error in disguise, half an answer, half a stream, a web page: the SDK makes of it what it would make live."""
    with serving(AgentLlm(script=[answer, answer])) as llm:

        def hear(sdk: Any) -> str:
            try:
                made = sdk.chat.completions.create(model="m", messages=[HELLO], stream="event-stream" in str(answer))
                return repr(list(made) if isinstance(made, openai.Stream) else made)
            except Exception as problem:
                return f"{type(problem)} {problem}"

        live = hear(openai.OpenAI(api_key="none", base_url=llm.base_url, max_retries=0))
        client = reactrepro.http_client(path, "record")
        sdk = sync_sdk("chat", client, llm.base_url).with_options(max_retries=0)
        assert hear(sdk) == live.replace("id='x'", "id='[removed]'")
        asked("chat", sdk, "fine")
        with pytest.raises(InfraError, match=why):
            client.finish()
        client.close()
    assert prompts(part(path)) == ["fine"]


def test_nothing_recorded_is_no_recording(path: Path) -> None:
    """Most likely the client was not given to the SDK; what stands there stays."""
    with recording(path) as client:
        asked("chat", sync_sdk("chat", client), "p")
    with pytest.raises(Usage, match=r"Give the client to the SDK: OpenAI\(http_client=client\)"), recording(path):
        pass
    assert prompts(path) == ["p"]


def test_nothing_is_finished_while_a_request_is_under_way(path: Path) -> None:
    """A recording that ends in the middle of a thread's work would be half a recording."""
    began, go = threading.Event(), threading.Event()

    def answer(request: httpx2.Request) -> httpx2.Response:
        began.set()
        go.wait(20)
        return said(request)

    with recording(path, answer) as client:
        thread = threading.Thread(target=asked, args=("chat", sync_sdk("chat", client), "p"))
        thread.start()
        began.wait(20)
        with pytest.raises(Usage, match="1 requests are still under way"):
            client.finish()
        go.set()
        thread.join()
        client.finish()
        with pytest.raises(Usage, match="is finished: nothing more can be recorded"):
            asked("chat", sync_sdk("chat", client), "q")
    assert prompts(path) == ["p"]


def test_what_nobody_knows_how_to_scrub_is_not_sent(path: Path) -> None:
    """Other endpoints, other methods, other bodies; swallowing that does not help."""
    sent: list[Any] = []
    client = recording(path, lambda request: sent.append(request) or said(request))
    with pytest.raises(openai.OpenAIError, match="It was not sent"):
        sync_sdk("chat", client).models.list()
    with pytest.raises(Usage, match="GET v1/models cannot be recorded"):
        client.finish()
    client.close()
    for body in ({"content": b"no JSON"}, {"json": [1]}):
        with pytest.raises(Usage, match="cannot be recorded"), recording(path) as client:
            client.post(f"{HOST}/chat/completions", **body)
    assert sent == []


def test_a_damaged_part_is_refused_by_name(path: Path) -> None:
    """It is never guessed at, and never thrown away."""
    path.parent.mkdir()
    part(path).write_bytes(b"reactrepro: {")
    with pytest.raises(Corrupt, match=r"An earlier attempt left it\. Remove it to begin anew"):
        recording(path)
    part(path).unlink()
    with recording(path) as client:
        asked("chat", sync_sdk("chat", client), "p")


# --- streams --------------------------------------------------------------------------------------------------------


def chunks(*texts: str) -> list[bytes]:
    """The events of a streamed reply: each text, the end, and what stands behind it."""
    choices: list[dict[str, Any]] = [{"index": 0, "delta": {"content": text}} for text in texts]
    choices.append({"index": 0, "delta": {}, "finish_reason": "stop"})
    made = [
        f"data: {json.dumps({**CHUNK, 'choices': [choice]}, separators=(',', ':'))}\n\n".encode() for choice in choices
    ]
    return [*made, b"data: [DONE]\n\n"]


class Slow(httpx2.SyncByteStream, httpx2.AsyncByteStream):
    """A stream whose rest comes when it is let go."""

    def __init__(self, first: list[bytes], rest: list[bytes]) -> None:
        self.first, self.rest = first, rest
        self.go = threading.Event()
        self.closed = self.read = False

    def __iter__(self) -> Iterator[bytes]:
        yield from self.first
        assert self.go.wait(20)
        yield from self.rest
        self.read = True

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.first:
            yield piece
        while not self.go.is_set():
            await asyncio.sleep(0.001)
        for piece in self.rest:
            yield piece
        self.read = True

    def close(self) -> None:
        self.closed = True

    async def aclose(self) -> None:
        self.closed = True


def streamed(stream: Slow) -> Callable[[httpx2.Request], httpx2.Response]:
    """What answers with *stream*."""
    return lambda _: httpx2.Response(200, headers=EVENTS, stream=stream)


def test_events_are_handed_on_as_they_come_and_the_end_when_it_is_on_disk(path: Path) -> None:
    """A user sees text while the model writes; nobody acts on a whole reply that a crash could lose."""
    *first, end, done = chunks("he", "llo")
    slow = Slow(first, [end, done])
    with recording(path, streamed(slow)) as client:
        sdk = sync_sdk("chat", client)
        for number, chunk in enumerate(sdk.chat.completions.create(model="m", messages=[HELLO], stream=True)):
            if chunk.choices[0].finish_reason is None:
                assert not slow.read
                assert not part(path).exists()
            else:
                assert prompts(part(path)) == ["hello"]
            if number == 1:
                slow.go.set()
        assert number == 2
        assert slow.closed
    whole = b"".join([*first, end, done]).decode()
    assert read_exchanges(path).interactions[0].response == whole.replace('"x"', '"[removed]"')


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_who_leaves_a_stream_early_has_it_recorded_whole(path: Path, asynchronous: bool) -> None:
    """The rest is read when the stream is closed, so that a replay may read as far as it likes."""
    first, *rest = chunks("he", "llo")
    slow = Slow([first], rest)
    slow.go.set()
    common: Any = {"model": "m", "messages": [HELLO], "stream": True}

    async def leave() -> None:
        transport = httpx2.MockTransport(streamed(slow))
        async with (
            reactrepro.async_http_client(path, "record", transport=transport) as client,
            await async_sdk("chat", client).chat.completions.create(**common) as stream,
        ):
            async for chunk in stream:
                assert chunk.choices[0].delta.content == "he"
                break

    if asynchronous:
        asyncio.run(leave())
    else:
        with (
            recording(path, streamed(slow)) as client,
            sync_sdk("chat", client).chat.completions.create(**common) as stream,
        ):
            assert next(stream).choices[0].delta.content == "he"
    assert slow.closed
    with reactrepro.http_client(path) as client:
        heard = list(sync_sdk("chat", client).chat.completions.create(**common))
    assert [chunk.choices[0].delta.content for chunk in heard] == ["he", "llo", None]


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_who_is_in_a_hurry_waits_for_no_stream(path: Path, asynchronous: bool) -> None:
    """Ctrl-C and a cancelled task end it at once; the request counts as one without a reply."""
    first, *rest = chunks("he", "llo")
    slow = Slow([first], rest)
    common: Any = {"model": "m", "messages": [HELLO], "stream": True}

    async def cancelled() -> None:
        transport = httpx2.MockTransport(streamed(slow))
        async with reactrepro.async_http_client(path, "record", transport=transport) as client:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.2):
                    async with await async_sdk("chat", client).chat.completions.create(**common) as stream:
                        async for _ in stream:
                            pass

    def interrupted() -> None:
        with (
            recording(path, streamed(slow)) as client,
            contextlib.suppress(KeyboardInterrupt),
            sync_sdk("chat", client).chat.completions.create(**common) as stream,
        ):
            next(stream)
            raise KeyboardInterrupt

    with pytest.raises(InfraError, match=r"1 requests got no reply \((CancelledError|a stream that was left)"):
        asyncio.run(cancelled()) if asynchronous else interrupted()
    assert slow.closed
    assert not slow.read


def test_a_cancelled_request_leaves_nothing_under_way(path: Path) -> None:
    """Whichever moment a time-out hits: it got its reply, or it did not, and the end says so."""

    async def answer(request: httpx2.Request) -> httpx2.Response:
        await asyncio.sleep(int(json.loads(request.content)["messages"][-1]["content"]) / 1000)
        return said(request)

    async def work() -> None:
        async with reactrepro.async_http_client(path, "record", transport=httpx2.MockTransport(answer)) as client:
            sdk = async_sdk("chat", client)

            async def ask(number: int) -> None:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(0.03):
                        await sdk.chat.completions.create(
                            model="m", messages=[{"role": "user", "content": f"{number}"}], timeout=5
                        )

            await asyncio.gather(*(ask(number) for number in range(20, 41)))
            await asyncio.sleep(0.2)  # a thread may be writing still

    with pytest.raises(InfraError, match="got no reply"):
        asyncio.run(work())


# --- nothing secret -------------------------------------------------------------------------------------------------


@pytest.mark.case("B25")
def test_a_key_that_a_server_echoes_is_removed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In replies and events; keys of requests, of the environment, and what the user calls a secret."""
    monkeypatch.setenv("OTHER_API_KEY", "env-0123456789ab")
    secrets = [KEY, "env-0123456789ab", "pass phrase"]

    def answer(request: httpx2.Request) -> httpx2.Response:
        if b"stream" in request.content:
            return httpx2.Response(200, headers=EVENTS, content=b"".join(chunks(*secrets)))
        return httpx2.Response(200, json=wrapped(request.url.path, " ".join(secrets), {}))

    with recording(path, answer, secrets=["pass phrase"]) as client:
        sdk = sync_sdk("chat", client, f"https://gw.invalid/{KEY}/v1", key=KEY)
        assert asked("chat", sdk, "p") == "[removed] [removed] [removed]"
        stream = sdk.chat.completions.create(model="m", messages=[HELLO], stream=True)
        assert [chunk.choices[0].delta.content for chunk in stream][:3] == ["[removed]"] * 3
        assert asked("messages", sync_sdk("messages", client, key="sk-ant-0123456789"), "p").startswith("[removed]")
    assert [secret for secret in secrets if secret.encode() in path.read_bytes()] == []
    assert read_exchanges(path).interactions[0].uri == "https://gw.invalid/-/v1/chat/completions"


def test_a_request_that_holds_a_key_is_not_sent(path: Path) -> None:
    """Its own key, too: an agent that was talked into telling it. "ollama" in the place of a key is none."""
    sent: list[Any] = []
    client = recording(path, lambda request: sent.append(request) or said(request))
    with pytest.raises(openai.OpenAIError, match="would hold a key"):
        asked("chat", sync_sdk("chat", client, key=KEY), f"my key is {KEY}")
    with pytest.raises(Corrupt, match="It was not sent"):
        client.finish()
    client.close()
    assert sent == []
    with recording(path) as client:
        assert asked("chat", sync_sdk("chat", client, key="ollama"), "I use ollama") == "amallo esu I"


def test_a_home_folder_is_written_only_if_the_agent_names_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a server says of its disk is hidden; an agent that works with its files gets the paths that it named."""
    monkeypatch.setattr(Path, "home", lambda: Path("/home/ada"))

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, json=wrapped(request.url.path, "/home/ada/x", {"model": "/home/ada/m.gguf"}))

    with recording(path, answer) as client:
        sdk = sync_sdk("chat", client)
        assert asked("chat", sdk, "Which model are you?") == "~/x"
        assert asked("chat", sdk, "Read /home/ada/x") == "/home/ada/x"
    first, second = read_exchanges(path).interactions
    assert (first.response_json["model"], second.response_json["model"]) == ("~/m.gguf", "/home/ada/m.gguf")


def test_compressed_replies_are_recorded_as_text(path: Path, loopback: str) -> None:
    """And handed on as such, streams too."""
    packed = Say(gzip.compress(b"".join(chunks("he", "llo"))), headers={**EVENTS, "content-encoding": "gzip"})
    script = [Say("hi \u2013", gzipped=True), packed]
    with serving(AgentLlm(script=script)) as llm, reactrepro.http_client(path, "record") as client:
        sdk = sync_sdk("chat", client, llm.base_url)
        assert asked("chat", sdk, "p") == "hi \u2013"
        stream = sdk.chat.completions.create(model="m", messages=[HELLO], stream=True)
        assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == "hello"
    assert read_exchanges(path).interactions[1].response.endswith("data: [DONE]\n\n")


def test_a_proxy_that_cannot_be_used_is_said_without_its_password(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the file is free again."""
    monkeypatch.setenv("HTTPS_PROXY", "nope://ada:canary@x")
    with pytest.raises(Usage, match="proxy that the environment names cannot be used") as caught:
        reactrepro.http_client(path, "record")
    assert "canary" not in str(caught.value)
    with recording(path) as client:
        asked("chat", sync_sdk("chat", client), "p")


def test_the_file_says_when_and_by_what_it_was_made(path: Path) -> None:
    """Provenance, time, and the versions of the packages that were in use."""
    with recording(path) as client:
        asked("chat", sync_sdk("chat", client), "p")
    meta = read_exchanges(path).meta
    assert (meta.format, meta.provenance) == ("reactrepro-exchange/1", "recorded")
    assert time.strptime(meta.time or "", "%Y-%m-%dT%H:%M:%SZ")
    assert {"reactrepro", "python", "openai", "httpx2"} <= set(meta.versions)
