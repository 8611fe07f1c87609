"""Many episodes at once: how many of them hear what was recorded, through `http_client` and `vcr.use_cassette`.

Each episode has a recording of its own, as evaluations keep them, and asks three questions that every episode asks and
that each recording answers in its own way. Run as a program: what vcrpy patches under several threads it may leave
patched, which is no state to measure anything else in.
"""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import openai
import vcr  # type: ignore[import-untyped]

import reactrepro

BASE_URL = "http://127.0.0.1:9/v1"
"""Nothing listens there, should a call get out."""
THREADS = 8
QUESTIONS = 3
MATCHED = ("method", "uri", "body")


def body(question: int) -> dict[str, Any]:
    """Return the request for *question*, the same in every episode."""
    return {"model": "m", "messages": [{"role": "user", "content": f"Question {question}?"}]}


def reply(episode: int, question: int) -> str:
    """Return what the model said to *question* in *episode*."""
    return f"Answer {question} of episode {episode}."


def record(folder: Path, episodes: int) -> None:
    """Record every episode in both ways, one after the other."""
    for episode in range(episodes):
        numbers = iter([*range(QUESTIONS)] * 2)

        def answer(_: httpx2.Request, episode: int = episode, numbers: Any = numbers) -> httpx2.Response:
            message = {"role": "assistant", "content": reply(episode, next(numbers))}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            whole = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
            return httpx2.Response(200, json=whole)

        transport = httpx2.MockTransport(answer)
        with reactrepro.http_client(folder / f"{episode}.ours.yaml", "record", transport=transport) as client:
            _ask(client)
        with httpx2.Client(transport=transport) as plain, vcr.use_cassette(str(folder / f"{episode}.vcrpy.yaml")):
            _ask(plain)


def _ask(client: Any) -> list[str]:
    sdk = openai.OpenAI(api_key="none", base_url=BASE_URL, http_client=client, max_retries=0)
    return [_text(sdk.chat.completions.create(**body(number))) for number in range(QUESTIONS)]


async def _async_ask(client: Any) -> list[str]:
    sdk = openai.AsyncOpenAI(api_key="none", base_url=BASE_URL, http_client=client, max_retries=0)
    heard = []
    for number in range(QUESTIONS):
        heard.append(_text(await sdk.chat.completions.create(**body(number))))
        await asyncio.sleep(0)
    return heard


def _text(made: Any) -> str:
    return str(made.choices[0].message.content)


def _ours(folder: Path, episode: int) -> list[str]:
    with reactrepro.http_client(folder / f"{episode}.ours.yaml") as client:
        return _ask(client)


async def _async_ours(folder: Path, episode: int) -> list[str]:
    async with reactrepro.async_http_client(folder / f"{episode}.ours.yaml") as client:
        return await _async_ask(client)


def _theirs(folder: Path, episode: int) -> list[str]:
    path = str(folder / f"{episode}.vcrpy.yaml")
    with httpx2.Client(trust_env=False) as client, vcr.use_cassette(path, record_mode="none", match_on=MATCHED):
        return _ask(client)


async def _async_theirs(folder: Path, episode: int) -> list[str]:
    path = str(folder / f"{episode}.vcrpy.yaml")
    async with httpx2.AsyncClient(trust_env=False) as client:
        with vcr.use_cassette(path, record_mode="none", match_on=MATCHED):
            return await _async_ask(client)


def _judged(episode: int, heard: list[str] | BaseException) -> str:
    if isinstance(heard, BaseException):
        return type(heard).__name__
    return "right" if heard == [reply(episode, number) for number in range(QUESTIONS)] else "another episode's replies"


def in_threads(replay: Callable[[Path, int], list[str]], folder: Path, episodes: int) -> Counter[str]:
    """Return what became of *episodes* episodes in several threads."""

    def run(episode: int) -> str:
        try:
            return _judged(episode, replay(folder, episode))
        except Exception as error:
            return _judged(episode, error)

    with ThreadPoolExecutor(THREADS) as pool:
        return Counter(pool.map(run, range(episodes)))


def in_tasks(replay: Callable[[Path, int], Any], folder: Path, episodes: int) -> Counter[str]:
    """Return what became of *episodes* episodes at once under `asyncio.gather`."""

    async def run() -> list[Any]:
        return await asyncio.gather(*(replay(folder, number) for number in range(episodes)), return_exceptions=True)

    return Counter(_judged(number, heard) for number, heard in enumerate(asyncio.run(run())))


def measured(threaded: int, tasks: int) -> dict[str, dict[str, int]]:
    """Run this program for so many episodes; return by name what became of them."""
    command = [sys.executable, __file__, str(threaded), str(tasks)]
    found: dict[str, dict[str, int]] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found


def main(threaded: int, tasks: int) -> None:
    """Measure, ours first: after vcrpy nothing is as it was."""
    logging.disable()
    with tempfile.TemporaryDirectory(prefix="reactrepro-bench-") as name:
        folder = Path(name)
        record(folder, max(threaded, tasks))
        found = {
            "http_client in threads": in_threads(_ours, folder, threaded),
            "http_client in tasks": in_tasks(_async_ours, folder, tasks),
            "use_cassette in tasks": in_tasks(_async_theirs, folder, tasks),
            "use_cassette in threads": in_threads(_theirs, folder, threaded),
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
