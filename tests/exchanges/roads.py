"""The roads that a recording can be replayed on, and recordings to send down them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reactrepro import prompts
from reactrepro.backends import BACKENDS
from reactrepro.backends.llm import BackendLlm
from reactrepro.cassettes.matching import endpoint
from reactrepro.cassettes.mismatch import Place
from reactrepro.cassettes.model import Cassette, Interaction
from reactrepro.cassettes.runs import Run
from reactrepro.cassettes.tapes import read_tape
from reactrepro.cassettes.text import body_json
from reactrepro.cassettes.write import seal
from reactrepro.domain import Ask, Call, Environment, Json, Trajectory
from reactrepro.errors import ReactReproError
from reactrepro.exchanges.replay import Replay
from reactrepro.exchanges.scripted import ENVELOPES
from reactrepro.exchanges.wire import AsyncWire, Wire
from reactrepro.judged import ClosedBook
from reactrepro.methods import METHODS
from reactrepro.runs.play import judge, play
from reactrepro.runs.roots import Sources
from reactrepro.tape import environment
from reactrepro.tasks import TASKS
from reactrepro.wiki.env import WikiEnv
from reactrepro.wiki.snapshot import SnapshotPages

from ..cassettes.conftest import meta

APIS = {"chat": "chat/completions", "completions": "completions", "messages": "messages"}
PLACE = Place("task/method/run", "0", "0.yaml", ("prompts/x.txt changed since it was recorded.",))


class OverAsyncio:
    """`AsyncWire` for callers without a loop: a new loop for every call."""

    def __init__(self, cassette: Cassette, place: Place) -> None:
        self._wire = AsyncWire(cassette, place)
        self.finish = self._wire.finish

    def send(self, call: Call) -> Json:
        return asyncio.run(self._wire.send(call))


WIRES: dict[str, Callable[[Cassette, Place], Any]] = {"wire": Wire, "asyncio": OverAsyncio}
ROADS: dict[str, Callable[[Cassette, Place], Any]] = {"replay": Replay, **WIRES}


def body(api: str, prompt: str, **changes: Any) -> Json:
    """The request that a backend builds for *prompt*, with members changed, or left out where None is given."""
    stop = ("\nObservation 1:", "\n")
    made = BACKENDS.get(api)().request(prompt, stop, Ask("a-model", 100, 0))
    return {name: value for name, value in (made | changes).items() if value is not None}


def call(api: str, prompt: str, step: int = 1, **changes: Any) -> Call:
    """A call for *prompt*."""
    return Call(APIS[api], body(api, prompt, **changes), step)


def interaction(api: str, prompt: str, reply: str | Mapping[str, Any], **fields: Any) -> Interaction:
    """One recorded call."""
    response = ENVELOPES[APIS[api]](reply) if isinstance(reply, str) else reply
    plain = {
        "method": "POST",
        "uri": f"https://host.invalid/v1/{APIS[api]}",
        "body": body_json(body(api, prompt)),
        "status": 200,
        "response": body_json(response),
    }
    return Interaction(**(plain | fields))  # type: ignore[arg-type]


def recording(interactions: Iterable[Interaction]) -> Cassette:
    """A sealed cassette that was never on disk."""
    return seal(meta(), tuple(interactions))


def told(road: str, cassette: Cassette, calls: Iterable[Call]) -> list[Any]:
    """What *road* makes of *calls*: the replies, or the errors as type, report and message; what `finish` says last."""
    said: list[Any] = []
    try:
        exchange = ROADS[road](cassette, PLACE)
        for asked in calls:
            said.append(exchange.send(asked))
        exchange.finish()
    except ReactReproError as error:
        found = getattr(error, "mismatch", None)
        said.append((type(error), str(error), found and (found, found.as_dict())))
    return said


def recorded_calls(cassette: Cassette) -> list[Call]:
    """The calls that *cassette* was recorded from."""
    pairs = enumerate(cassette.interactions)
    return [Call(endpoint(made.uri), made.request_json, number + 1) for number, made in pairs]


@dataclass
class Heard:
    """An exchange that remembers what it was asked and what it answered."""

    exchange: Any
    calls: list[Call] = field(default_factory=list)
    replies: list[Json] = field(default_factory=list)

    def send(self, call: Call) -> Json:
        self.calls.append(call)
        self.replies.append(self.exchange.send(call))
        return self.replies[-1]


def replayed(run: Run, key: str, sources: Sources, road: str) -> tuple[list[Call], list[Json], Trajectory]:
    """Replay an episode on *road*; return its requests, its replies and its trajectory."""
    cassette, settings = run.read(key), run.config.settings
    question, task = cassette.meta.as_question(), TASKS.get(run.config.task.name)()
    method = METHODS.get(run.method)()
    prompt = prompts.load(task.prompt_task, method.prompt, cassette.meta.prompt.name, roots=sources.prompts)
    heard = Heard(ROADS[road](cassette, Place(run.label, key, str(run.path(key)))))
    ask = Ask(run.config.model, settings.max_tokens, settings.temperature, cassette.meta.sent)
    env: Environment
    if not method.acts:
        env = ClosedBook(task.opening(question), judge(task, question))
    elif cassette.meta.tape is not None:
        tape = read_tape(run.tape_path(key), cassette.meta.tape.sha256)
        env = environment(tape, judge(task, question), run.tape_path(key).name)
    else:
        pins = {pin.query: pin.sha256 for pin in cassette.meta.pages}
        pages = SnapshotPages(sources.snapshots, run.config.site or "", settings.extraction, pins)
        env = WikiEnv(pages, task.opening(question), judge(task, question))
    trajectory, _ = play(
        method,
        task,
        question=question,
        prompt=prompt,
        llm=BackendLlm(BACKENDS.get(settings.api)(), heard, ask),
        env=env,
        settings=settings,
    )
    heard.exchange.finish()
    return heard.calls, heard.replies, trajectory
