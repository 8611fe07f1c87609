"""Recording from a server that answers at once: the bare SDK, our recorder, and vcrpy, on the same work.

The work is ten episodes of six calls, whose prompts grow from 6,500 to 9,500 characters. All sides send through the
same method of the same SDK and play the same loop on the same pages, which are in memory; one connection is kept open.
Times are wall times here: a disk is waited for, not worked for.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import quantiles
from typing import Any

import httpx2
import vcr  # type: ignore[import-untyped]
from loopback import FIRST, REPLIES, SECOND
from recordings import SITE, page_text

from reactrepro import prompts
from reactrepro.backends import BACKENDS
from reactrepro.backends.llm import BackendLlm
from reactrepro.backends.providers import target
from reactrepro.cassettes.write import move
from reactrepro.domain import Ask, Call, Json, PageView, Pin, Question, Settings
from reactrepro.exchanges.live import Live, LiveModel
from reactrepro.exchanges.retries import Patience
from reactrepro.exchanges.sdks import method
from reactrepro.methods.react import React
from reactrepro.runs import episode as recorder
from reactrepro.runs.episode import Studio
from reactrepro.runs.order import Order
from reactrepro.runs.play import judge, play
from reactrepro.runs.record import record
from reactrepro.tasks.hotpotqa import HotpotQA
from reactrepro.wiki.env import WikiEnv

ENDPOINT = "chat/completions"
SAVED = 40_000
"""Bytes of a file that is saved, on average: it grows to 68,000."""
SETTINGS = Settings.of("chat", max_steps=7)
PROMPT = prompts.load("hotpotqa", "react", "paper")
PAGES = {
    query: PageView(SITE, query, "article", "article", 1, text=page_text(query, other, 3))
    for query, other in ((FIRST, SECOND), (SECOND, FIRST))
}


class Pages:
    """Pages in memory that remember what was read."""

    def __init__(self) -> None:
        self._read: dict[str, Pin] = {}

    @property
    def read(self) -> tuple[Pin, ...]:
        """A pin for every page read."""
        return tuple(self._read.values())

    def page(self, query: str) -> PageView:
        """Return the page."""
        view = PAGES[query]
        self._read[query] = Pin(SITE, query, view.sha256)
        return view


@dataclass
class Took:
    """What one side took, over all rounds, in milliseconds.

    Attributes:
        whole: each round, its beginning and the ends of its episodes included, per call.
        cpu: the same, of CPU time.
        calls: each call, from `send` to its reply.
        parts: part -> what it took in each call, in rounds of their own: a clock has its price, too.
    """

    whole: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    calls: list[float] = field(default_factory=list)
    parts: dict[str, list[float]] = field(default_factory=dict)


class Recordings:
    """The sides that are compared: each plays all episodes once.

    Args:
        base_url: the server.
        folder: where files are written.
        episodes: how many.
        connections: how many episodes are recorded at a time.
    """

    def __init__(self, base_url: str, folder: Path, episodes: int, connections: int = 1) -> None:
        self._connections = connections
        self._folder, self._numbers = folder, count()
        self._questions = tuple(
            Question(str(n), f"Were {FIRST} and {SECOND} founded by settlers of one country? ({n})", "yes", n)
            for n in range(episodes)
        )
        limits = httpx2.Limits(max_connections=None, max_keepalive_connections=None)
        self._client = httpx2.Client(trust_env=False, limits=limits)
        self._method = method(ENDPOINT, http_client=self._client, base_url=base_url)
        self._whom = target("openai-api/loopback/scripted", environment={}, base_url=base_url)
        model = LiveModel(ENDPOINT, base_url=base_url, key="", patience=Patience(attempts=1), direct=True)
        self._studio = Studio(
            model=model,
            pages=lambda _pins, _lenient: Pages(),
            prompt=PROMPT,
            versions={"reactrepro": "0", "python": "3", "openai": "3", "httpx2": "2", "vcrpy": "9", "requests": "2"},
            git_commit="0" * 40,
            host=self._whom.host,
            close=model.close,
        )

    @property
    def episodes(self) -> int:
        """How many episodes a side plays in a round."""
        return len(self._questions)

    @property
    def calls(self) -> int:
        """How many calls a side makes in a round."""
        return len(self._questions) * len(REPLIES)

    def bare(self) -> None:
        """Record nothing."""
        if self._connections == 1:
            for question in self._questions:
                self._play(question, self.send)
            return
        with ThreadPoolExecutor(self._connections) as pool:
            list(pool.map(lambda question: self._play(question, self.send), self._questions))

    def ours(self) -> None:
        """Record as the command does: every reply on the disk, synced, before it is used."""
        order = Order(
            task=HotpotQA(),
            questions=self._questions,
            selection="all",
            method="react",
            prompt="paper",
            target=self._whom,
            settings=SETTINGS,
            site=SITE,
            root=self._fresh(),
            connections=self._connections,
        )
        report = record(order, self._studio)
        if report.problems or report.calls != self.calls:
            raise AssertionError(f"the recording failed: {report.problems}")

    def vcrpy(self) -> None:
        """Record by `use_cassette`, one cassette per episode, saved when it ends; nothing is synced."""
        folder = self._fresh()
        for question in self._questions:
            with vcr.use_cassette(str(folder / f"{question.key}.yaml"), record_mode="once") as cassette:
                self._play(question, self.send)
            if len(cassette) != len(REPLIES):
                raise AssertionError(f"vcrpy recorded {len(cassette)} calls of {len(REPLIES)}")

    def vcrpy_each(self) -> None:
        """The same, saved after each reply, as a recorder has to that loses none; still nothing is synced."""
        folder = self._fresh()
        for question in self._questions:
            with vcr.use_cassette(str(folder / f"{question.key}.yaml"), record_mode="once") as cassette:

                def saved(call: Call, kept: Any = cassette) -> Json:
                    answer = self.send(call)
                    kept._save()
                    return answer

                self._play(question, saved)

    def send(self, call: Call) -> Json:
        """Make a call through the SDK, as `Live` does."""
        return self._method.create(**self._method.arguments(call.body)).http_response.json()

    def close(self) -> None:
        """Close the connections."""
        self._studio.close()
        self._client.close()

    def _fresh(self) -> Path:
        folder = self._folder / str(next(self._numbers))
        folder.mkdir(parents=True)
        return folder

    def _play(self, question: Question, send: Callable[[Call], Json]) -> None:
        task = HotpotQA()
        ask = Ask("scripted", SETTINGS.max_tokens, SETTINGS.temperature)
        trajectory, _ = play(
            React(),
            task,
            question=question,
            prompt=PROMPT,
            llm=BackendLlm(BACKENDS.get("chat")(), _Exchange(send), ask),
            env=WikiEnv(Pages(), task.opening(question), judge(task, question)),
            settings=SETTINGS,
        )
        if trajectory.llm_calls != len(REPLIES):
            raise AssertionError(f"{trajectory.llm_calls} calls")


@dataclass(frozen=True)
class _Exchange:
    send: Callable[[Call], Json]


PARTS = ("serialise", "replace", "fsync")
"""`replace` is all of `replace_file`, `fsync` (the file's and its folder's) included."""


def measure(base_url: str, folder: Path, *, episodes: int, rounds: int) -> tuple[dict[str, Took], list[float]]:
    """Return what each side took, and what the disk takes; they take turns, so that a busy machine hurts all alike."""
    made = Recordings(base_url, folder, episodes)
    sides = {"bare": made.bare, "ours": made.ours, "vcrpy": made.vcrpy, "vcrpy each": made.vcrpy_each}
    found = {name: Took() for name in sides}
    syncing: list[float] = []
    try:
        for side in sides.values():
            side()
        for _ in range(rounds):
            for name, side in sides.items():
                _turn(made, side, found[name])
            with ExitStack() as stack:
                parts = {part: stack.enter_context(timed(*_PARTS[part])) for part in _PARTS}
                made.ours()
            _split(parts, found["ours"].parts)
            syncing += disk(folder, size=SAVED, times=len(REPLIES))
    finally:
        made.close()
    return found, syncing


def _turn(made: Recordings, side: Callable[[], None], took: Took) -> None:
    gc.collect()
    with timed((Live, "send") if side == made.ours else (Recordings, "send")) as calls:
        wall, cpu = time.perf_counter(), time.process_time()
        side()
        took.whole.append((time.perf_counter() - wall) * 1000 / made.calls)
        took.cpu.append((time.process_time() - cpu) * 1000 / made.calls)
    took.calls.extend(milliseconds for _, milliseconds in calls)


_PARTS: Mapping[str, tuple[tuple[Any, str], ...]] = {
    "save": ((recorder.EpisodeRecording, "_save"),),
    "serialise": ((recorder, "seal"), (recorder, "cassette_bytes")),
    "replace": ((recorder, "replace_file"),),
    "fsync": ((os, "fsync"),),
}


def _split(parts: Mapping[str, list[tuple[float, float]]], into: dict[str, list[float]]) -> None:
    """Add up, for each save, what each part took within it; what comes at an episode's end is no part of a call."""
    for began, milliseconds in parts["save"]:
        into.setdefault("save", []).append(milliseconds)
        for part in PARTS:
            ended = began + milliseconds / 1000
            into.setdefault(part, []).append(sum(took for at, took in parts[part] if began <= at < ended))


@contextmanager
def timed(*places: tuple[Any, str]) -> Iterator[list[tuple[float, float]]]:
    """Give a list of when each call of the named functions began, and how many milliseconds it took."""
    found: list[tuple[float, float]] = []

    def around(function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            began = time.perf_counter()
            try:
                return function(*arguments, **named)
            finally:
                found.append((began, (time.perf_counter() - began) * 1000))

        return timed

    before = [(owner, name, vars(owner)[name]) for owner, name in places]
    for owner, name, function in before:
        setattr(owner, name, around(function))
    try:
        yield found
    finally:
        for owner, name, function in before:
            setattr(owner, name, function)


def disk(folder: Path, *, size: int, times: int) -> list[float]:
    """Return what the disk itself takes to keep a file of *size* bytes: write, fsync, rename, fsync the folder."""
    found = []
    for _ in range(times):
        began = time.perf_counter()
        with open(folder / "new", "wb") as file:
            file.write(b"x" * size)
            file.flush()
            os.fsync(file.fileno())
        move(folder / "new", folder / "old")
        found.append((time.perf_counter() - began) * 1000)
    return found


def tenth(values: list[float]) -> float:
    """Return the 90th percentile."""
    return quantiles(values, n=10, method="inclusive")[-1]
