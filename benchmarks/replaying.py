"""Whole episodes, from files that are read anew each time: ours, and what most people write."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recordings import Workload

from reactrepro.exchanges.scripted import BASE_URL
from reactrepro.report.model import RunReport
from reactrepro.runs.replay import replay_all
from reactrepro.runs.select import choose


def replayed(workload: Workload) -> int:
    """Replay all of *workload* as `reactrepro replay --all` does; return the number of LLM calls."""
    sources = workload.sources
    chosen = choose(sources.library, "hotpotqa", (), everything=True)
    report = RunReport(tuple(replay_all(chosen.episodes, sources)))
    if report.exit_code:
        raise AssertionError(f"the replay failed: {next(e.problems for e in report.episodes if e.problems)}")
    return sum(len(episode.turns) for episode in report.episodes)


@dataclass(frozen=True)
class Stock:
    """The same requests and replies in vcrpy's own files, asked through the openai SDK.

    It does less than a replay: no page is read, nothing is parsed or scored, and the requests are ready-made. By
    vcrpy's default, bodies are not even compared.

    Attributes:
        episodes: (file, requests, replies' texts).
    """

    episodes: list[tuple[Path, list[dict[str, Any]], list[str]]]

    def replay(self) -> int:
        """Ask everything once, with a new client per episode; return the number of LLM calls."""
        import openai
        import vcr

        for path, bodies, texts in self.episodes:
            with vcr.use_cassette(str(path), record_mode="none"):
                client = openai.OpenAI(api_key="none", base_url=BASE_URL)
                for body, text in zip(bodies, texts, strict=True):
                    if client.chat.completions.create(**body).choices[0].message.content != text:
                        raise AssertionError(f"vcrpy gave another reply from {path}")
        return sum(len(bodies) for _, bodies, _ in self.episodes)


def record_stock(workload: Workload, folder: Path, episodes: int) -> Stock:
    """Record the first *episodes* of *workload* with vcrpy and the openai SDK, as vcrpy itself saves them."""
    import httpx2
    import openai
    import vcr
    from vcr.serializers import yamlserializer

    if not issubclass(yamlserializer._CassetteLoader, __import__("yaml").CSafeLoader):
        raise AssertionError("vcrpy does not use libyaml: the comparison would flatter us")
    made = []
    for cassette, _ in zip(workload.cassettes(), range(episodes), strict=False):
        path = folder / f"{cassette.meta.key}.yaml"
        answers = iter(cassette.interactions)

        def answer(request: Any, answers: Any = answers) -> Any:
            return httpx2.Response(200, headers={"Content-Type": "application/json"}, text=next(answers).response)

        bodies = [interaction.request_json for interaction in cassette.interactions]
        texts = []
        with vcr.use_cassette(str(path)), httpx2.Client(transport=httpx2.MockTransport(answer)) as transport:
            client = openai.OpenAI(api_key="none", base_url=BASE_URL, http_client=transport)
            for body in bodies:
                texts.append(client.chat.completions.create(**body).choices[0].message.content)
        made.append((path, bodies, texts))
    return Stock(made)
