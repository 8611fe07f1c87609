"""Whole episodes, from files that are read anew each time: ours, and what most people write."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import openai
import vcr  # type: ignore[import-untyped]
import yaml
from loopback import SERVER_HEADERS
from recordings import SITE, Workload

from reactrepro import prompts
from reactrepro.backends import BACKENDS
from reactrepro.backends.llm import BackendLlm
from reactrepro.cassettes.model import Cassette
from reactrepro.domain import Ask, Call, Json, Outcome
from reactrepro.exchanges.scripted import BASE_URL
from reactrepro.methods.react import React
from reactrepro.report.model import RunReport
from reactrepro.runs.play import judge, play
from reactrepro.runs.replay import replay_all
from reactrepro.runs.select import choose
from reactrepro.tasks.hotpotqa import HotpotQA
from reactrepro.wiki.env import WikiEnv
from reactrepro.wiki.snapshot import SnapshotPages


def replayed(workload: Workload, *, first: int | None = None, wire: bool = False) -> int:
    """Replay *workload*, or its first episodes, as `reactrepro replay --all` does; return the number of LLM calls."""
    sources = workload.sources
    chosen = choose(sources.library, "hotpotqa", (), everything=True)
    report = RunReport(tuple(replay_all(chosen.episodes[:first], sources, wire=wire)))
    if report.exit_code:
        raise AssertionError(f"the replay failed: {next(e.problems for e in report.episodes if e.problems)}")
    return sum(len(episode.turns) for episode in report.episodes)


@dataclass(frozen=True)
class Stock:
    """The same episodes in vcrpy's own files, asked through the openai SDK; the loop, pages and scoring are ours.

    It is spared what a replay does besides: finding the recordings, and comparing requests and outcomes. By vcrpy's
    default, bodies are not even compared.

    Attributes:
        workload: the recordings.
        files: vcrpy's file, and ours as it is after reading, of each episode.
    """

    workload: Workload
    files: tuple[tuple[Path, Cassette], ...]

    def replay(self) -> int:
        """Replay every episode once, with a new client for each; return the number of LLM calls."""
        calls = 0
        for path, cassette in self.files:
            with vcr.use_cassette(str(path), record_mode="none"):
                calls += _play(self.workload, cassette, openai.OpenAI(api_key="none", base_url=BASE_URL))
        return calls


def record_stock(workload: Workload, folder: Path, episodes: int) -> Stock:
    """Record the first *episodes* of *workload* with vcrpy and the openai SDK, as vcrpy itself saves them."""
    if not yaml.__with_libyaml__:
        raise AssertionError("PyYAML is built without libyaml: the comparison would flatter us")
    files = []
    for cassette, _ in zip(workload.cassettes(), range(episodes), strict=False):
        path = folder / f"{cassette.meta.key}.yaml"
        with _client(cassette) as client, vcr.use_cassette(str(path)):
            _play(workload, cassette, client)
        files.append((path, cassette))
    return Stock(workload, tuple(files))


@contextmanager
def _client(cassette: Cassette) -> Iterator[Any]:
    """Give a client that a server seems to answer; vcrpy records it as it records any other."""
    answers = iter(cassette.interactions)

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers=SERVER_HEADERS, text=next(answers).response)

    with httpx2.Client(transport=httpx2.MockTransport(answer)) as transport:
        yield openai.OpenAI(api_key="none", base_url=BASE_URL, http_client=transport)


class _Sdk:
    """Has requests answered by an SDK's client (`domain.Exchange`)."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def send(self, call: Call) -> Json:
        choice = self._client.chat.completions.create(**call.body).choices[0]
        return {"choices": [{"message": {"content": choice.message.content}, "finish_reason": choice.finish_reason}]}


def _play(workload: Workload, cassette: Cassette, client: Any) -> int:
    """Play the episode of *cassette* with *client*; return the number of LLM calls."""
    settings, meta = workload.run.config.settings, cassette.meta
    task, question = HotpotQA(), meta.as_question()
    pins = {pin.query: pin.sha256 for pin in meta.pages}
    pages = SnapshotPages(workload.sources.snapshots, SITE, settings.extraction, pins)
    trajectory, score = play(
        React(),
        task,
        question=question,
        prompt=prompts.load("hotpotqa", "react", "paper"),
        llm=BackendLlm(
            BACKENDS.get("chat")(), _Sdk(client), Ask("scripted", settings.max_tokens, settings.temperature)
        ),
        env=WikiEnv(pages, task.opening(question), judge(task, question)),
        settings=settings,
    )
    if Outcome.computed(trajectory, score) != meta.outcome:
        raise AssertionError(f"episode {meta.key} came out otherwise")
    return trajectory.llm_calls
