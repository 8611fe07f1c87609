"""Evidence: what recordings of the same task and method say of an episode: its calls, their length, their tokens."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..backends import BACKENDS
from ..cassettes.library import Library
from ..cassettes.model import Interaction
from ..cassettes.runs import Run
from ..domain import Json
from ..errors import ReactReproError
from .order import Order

MOST = 200
"""Episodes that are read, at most, of the same model and of all others."""

PLAUSIBLE = (1.0, 10.0)
"""Characters per token. Servers that count only what no cache had report fewer tokens than were sent."""


@dataclass
class Evidence:
    """What was found.

    Attributes:
        calls: of each episode.
        growth: by how many characters a call's prompt is longer than the one before it, the mean of each episode.
        reply_characters: of each reply.
        ratios: characters per token of prompts, of the same model only.
        reply_tokens: of each reply, of the same model only.
        runs: labels of the runs that were read.
    """

    calls: list[int] = field(default_factory=list)
    growth: list[float] = field(default_factory=list)
    reply_characters: list[int] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    reply_tokens: list[float] = field(default_factory=list)
    runs: list[str] = field(default_factory=list)


def evidence(order: Order, library: Library) -> Evidence:
    """Return what the recordings at hand say of *order*; only those of its own model, where there are some."""
    found = {True: Evidence(), False: Evidence()}
    for run in library.runs(order.task.name, order.method):
        try:
            config = run.config
        except ReactReproError:
            continue  # `check` reports it
        if config.provenance != "scripted" and not config.parts and config.prompt == order.prompt:
            _read(run, config.model == order.target.model, found)
    return found[True] if found[True].calls else found[False]


def _read(run: Run, same_model: bool, found: dict[bool, Evidence]) -> None:
    into, before = found[same_model], len(found[same_model].calls)
    for key in run.keys()[: MOST - before]:
        try:
            _add(into, run.read(key).interactions, run.config.settings.api, same_model)
        except ReactReproError:
            continue
    if len(into.calls) > before:
        into.runs.append(run.label)


def _add(into: Evidence, interactions: tuple[Interaction, ...], api: str, same_model: bool) -> None:
    backend, sizes = BACKENDS.get(api)(), []
    rows = []
    for interaction in interactions:
        size = prompt_characters(interaction.request_json)
        rows.append((size, backend.completions(interaction.response_json)))
        sizes.append(size)
    if not rows:
        return
    into.calls.append(len(rows))
    if len(sizes) > 1:
        into.growth.append(max(0.0, (sizes[-1] - sizes[0]) / (len(sizes) - 1)))
    for size, replies in rows:
        into.reply_characters += [len(reply.raw) for reply in replies]
        used = replies[0].tokens
        if same_model and used.completion is not None:
            into.reply_tokens.append(used.completion / len(replies))
        if same_model and used.prompt and PLAUSIBLE[0] <= size / used.prompt <= PLAUSIBLE[1]:
            into.ratios.append(size / used.prompt)


def prompt_characters(body: Json) -> int:
    """Return how many characters of prompt a request *body* holds."""
    if not isinstance(body, dict):
        return 0
    if isinstance(body.get("prompt"), str):
        return len(body["prompt"])
    messages = body.get("messages")
    contents = [m.get("content") for m in messages if isinstance(m, dict)] if isinstance(messages, list) else []
    return sum(len(content) for content in contents if isinstance(content, str))
