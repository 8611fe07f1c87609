"""The same calls of the openai SDK, answered through `http_client` and through `vcr.use_cassette`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import openai
import vcr  # type: ignore[import-untyped]
from loopback import SERVER_HEADERS
from recordings import Workload

import reactrepro
from reactrepro.cassettes.model import Cassette
from reactrepro.exchanges.scripted import BASE_URL

Calls = list[dict[str, Any]]

LIKE_OURS = ("method", "uri", "body")
"""What vcrpy has to compare to do what `http_client` does; by default it leaves the body out and plays what is next."""


@dataclass(frozen=True)
class Agents:
    """Recordings of the same calls, one of each kind per episode.

    Attributes:
        folder: where they are: ``ours`` and ``vcrpy``.
        episodes: the requests of each episode.
    """

    folder: Path
    episodes: tuple[Calls, ...]

    @classmethod
    def record(cls, workload: Workload, folder: Path, episodes: int) -> Agents:
        """Record the first *episodes* of *workload*."""
        made = []
        for number, (cassette, _) in enumerate(zip(workload.cassettes(), range(episodes), strict=False)):
            calls = [interaction.request_json for interaction in cassette.interactions]
            path = folder / "ours" / f"{number}.yaml"
            with reactrepro.http_client(path, "record", transport=_server(cassette)) as client:
                ask(sdk(client), calls)
            path = folder / "vcrpy" / f"{number}.yaml"
            with httpx2.Client(transport=_server(cassette)) as plain, vcr.use_cassette(str(path)):
                ask(sdk(plain), calls)
            made.append(calls)
        return cls(folder, tuple(made))

    def ours(self) -> int:
        """Replay every episode through `http_client`: a client and an SDK of its own for each."""
        for number, calls in enumerate(self.episodes):
            with reactrepro.http_client(self.folder / "ours" / f"{number}.yaml") as client:
                ask(sdk(client), calls)
        return sum(map(len, self.episodes))

    def theirs(self, **options: Any) -> Callable[[], int]:
        """Return what replays every episode through `vcr.use_cassette`; one SDK for all of them, made beforehand."""
        shared = sdk(httpx2.Client(trust_env=False))

        def replay() -> int:
            for number, calls in enumerate(self.episodes):
                with vcr.use_cassette(str(self.folder / "vcrpy" / f"{number}.yaml"), record_mode="none", **options):
                    ask(shared, calls)
            return sum(map(len, self.episodes))

        return replay


def sdk(client: Any) -> Any:
    """Return the SDK on *client*."""
    return openai.OpenAI(api_key="none", base_url=BASE_URL, http_client=client, max_retries=0)


def ask(client: Any, calls: Calls) -> list[str]:
    """Return what the model says to each of *calls*."""
    return [client.chat.completions.create(**body).choices[0].message.content for body in calls]


def _server(cassette: Cassette) -> httpx2.MockTransport:
    answers: Iterator[Any] = iter(cassette.interactions)
    return httpx2.MockTransport(lambda _: httpx2.Response(200, headers=SERVER_HEADERS, text=next(answers).response))
