"""What to say when a request was not recorded: what differs, why, and what to do now.

Pure: it compares one request with the recorded ones and puts the result into words. Text from recordings is shown
escaped, so that nothing in a stranger's file reaches a terminal as a control sequence.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..domain import Call, Json
from ..visible import escaped
from .matching import ABSENT, Difference, common_prefix, differences, endpoint, same
from .model import Cassette, Exchanges

_CONTEXT = 32
"""Characters shown on each side of the first difference."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a replay stands, and what is known beforehand of why it could fail.

    Attributes:
        run: the run's label.
        key: the episode.
        file: the cassette, as messages name it.
        causes: sentences about what changed since the recording ("prompts/… changed since it was recorded").
        remedy: what to do now, as a sentence.
        agent: the recording is of an agent that is not ours: it has no run, episodes or steps, only requests.
    """

    run: str
    key: str
    file: str
    causes: tuple[str, ...] = ()
    remedy: str = "Restore what changed, or record the episode again."
    agent: bool = False

    @property
    def name(self) -> str:
        """How messages call it."""
        return self.file if self.agent else f"{self.run}, episode {self.key}"

    @property
    def asker(self) -> str:
        """Who asks."""
        return "the agent" if self.agent else "the method"

    def at(self, step: int) -> str:
        """Return how messages call the place of the request *step*."""
        return f"{self.name}, {'request' if self.agent else 'step'} {step}"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A request that was not recorded, beside the recorded one that is nearest to it.

    Attributes:
        place: where.
        step: the 1-based step that asked; of an agent that is not ours, the number of the request.
        nearest: 1-based number of the nearest interaction; None where the cassette holds none.
        total: how many interactions the cassette holds.
        replayed: how many of them were used before this request.
        spent: the nearest interaction equals the request, but an earlier call has used it.
        differences: what differs between the nearest and the request, in the request's order.
        recorded, sent: the two bodies.
    """

    place: Place
    step: int
    nearest: int | None
    total: int
    replayed: int
    spent: bool
    differences: tuple[Difference, ...]
    recorded: Json
    sent: Json

    def __str__(self) -> str:
        return describe(self)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON-ready data; bodies are left out, differing texts are given by their first place."""
        return {
            "run": self.place.run,
            "key": self.place.key,
            "file": self.place.file,
            "step": self.step,
            "nearest": self.nearest,
            "replayed": self.replayed,
            "spent": self.spent,
            "differences": [_difference_dict(difference) for difference in self.differences],
            "causes": list(self.place.causes),
            "remedy": self.place.remedy,
        }


def find(cassette: Cassette | Exchanges, used: Sequence[bool], call: Call, place: Place) -> Mismatch:
    """Compare *call*, which no unused interaction answers, with all recorded ones and return the nearest.

    Unused interactions come before used ones; among them the one counts as nearest that differs least, by the number
    of characters that differ, and of several the earliest.
    """
    best: tuple[tuple[bool, int, int], int, tuple[Difference, ...]] | None = None
    spent = False
    for number, interaction in enumerate(cassette.interactions):
        found = list(differences(interaction.request_json, call.body))
        if (here := endpoint(interaction.uri)) != call.endpoint:
            found.insert(0, Difference("(endpoint)", here, call.endpoint))
        spent = spent or (not found and used[number])
        rank = (used[number], sum(difference.weight for difference in found), number)
        if best is None or rank < best[0]:
            best = (rank, number, tuple(found))
    if spent:
        best = next(
            ((False, 0, n), n, ()) for n, i in enumerate(cassette.interactions) if same(i.request_json, call.body)
        )
    return Mismatch(
        place=place,
        step=call.step,
        nearest=None if best is None else best[1] + 1,
        total=len(cassette.interactions),
        replayed=sum(used),
        spent=spent,
        differences=() if best is None else best[2],
        recorded=None if best is None else cassette.interactions[best[1]].request_json,
        sent=call.body,
    )


def describe(mismatch: Mismatch, *, verbose: bool = False) -> str:
    """Put *mismatch* into words: short, or with the whole prompt's diff when *verbose*."""
    place = mismatch.place
    lines = [
        f"{place.at(mismatch.step)}: the request was not recorded.",
        *_where(mismatch),
    ]
    shown = mismatch.differences if verbose else mismatch.differences[:3]
    for difference in shown:
        lines.extend(_difference_lines(difference))
    if hidden := len(mismatch.differences) - len(shown):
        lines.append(f"  and {hidden} more fields differ{'' if place.agent else ' (--verbose shows all)'}")
    if verbose:
        lines.extend(_prompt_diff(mismatch.differences))
    lines.extend(f"  {cause}" for cause in place.causes)
    lines.append(f"  {place.remedy}")
    return "\n".join(lines)


def _where(mismatch: Mismatch) -> Iterator[str]:
    file = mismatch.place.file
    if mismatch.nearest is None:
        yield f"  {file} holds no interaction at all."
    elif mismatch.spent:
        yield (
            f"  {file}: interaction {mismatch.nearest} of {mismatch.total} is this very request, but an earlier call "
            f"has used it: {mismatch.place.asker} asks more often than it did."
        )
    else:
        yield f"  {file}, nearest: interaction {mismatch.nearest} of {mismatch.total}; {mismatch.replayed} replayed."


def _difference_lines(difference: Difference) -> Iterator[str]:
    recorded, sent = difference.recorded, difference.sent
    if not (isinstance(recorded, str) and isinstance(sent, str) and max(len(recorded), len(sent)) > _CONTEXT):
        yield f"  {difference.path}: {_value(recorded)} recorded, {_value(sent)} sent"
        return
    at = common_prefix(recorded, sent)
    line, column = sent.count("\n", 0, at) + 1, at - (sent.rfind("\n", 0, at) + 1) + 1
    yield f"  {difference.path} differs from character {at + 1} (line {line}, column {column}):"
    yield f"    recorded: {_around(recorded, at)}"
    yield f"    sent:     {_around(sent, at)}"


def _difference_dict(difference: Difference) -> dict[str, Any]:
    recorded, sent = difference.recorded, difference.sent
    row: dict[str, Any] = {"path": difference.path}
    if isinstance(recorded, str) and isinstance(sent, str):
        at = common_prefix(recorded, sent)
        row |= {
            "character": at + 1,
            "line": sent.count("\n", 0, at) + 1,
            "column": at - (sent.rfind("\n", 0, at) + 1) + 1,
            "recorded": recorded[max(0, at - _CONTEXT) : at + _CONTEXT],
            "sent": sent[max(0, at - _CONTEXT) : at + _CONTEXT],
        }
    else:
        row |= {name: value for name, value in (("recorded", recorded), ("sent", sent)) if value is not ABSENT}
    return row


def _prompt_diff(found: Sequence[Difference]) -> Iterator[str]:
    for difference in found:
        if isinstance(difference.recorded, str) and isinstance(difference.sent, str):
            yield f"  diff of {difference.path} (blanks at a line's end are shown as ·):"
            rows = difflib.unified_diff(
                _visible(difference.recorded), _visible(difference.sent), "recorded", "sent", lineterm="", n=2
            )
            yield from (f"    {row}" for row in rows)


def _visible(text: str) -> list[str]:
    rows = []
    for row in text.split("\n"):
        bare = row.rstrip(" ")
        rows.append(escaped(bare) + "·" * (len(row) - len(bare)))
    return rows


def _around(text: str, at: int) -> str:
    start, end = max(0, at - _CONTEXT), min(len(text), at + _CONTEXT)
    before = "…" if start else ""
    after = "…" if end < len(text) else ""
    return f"'{before}{escaped(text[start:end])}{after}'"


def _value(value: Any) -> str:
    if value is ABSENT:
        return "nothing"
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= 80 else text[:77] + "..."
