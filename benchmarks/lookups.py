"""Parts of a replay: reading a file, finding the recorded request, and saying what differs from it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from clock import Side
from recordings import Workload, enlarged, forget, prompt_of
from vcr import matchers  # type: ignore[import-untyped]
from vcr.cassette import Cassette as VcrCassette  # type: ignore[import-untyped]
from vcr.record_mode import RecordMode  # type: ignore[import-untyped]
from vcr.request import Request  # type: ignore[import-untyped]

from reactrepro.cassettes.mismatch import Place, describe
from reactrepro.cassettes.model import Cassette
from reactrepro.cassettes.read import parse_cassette
from reactrepro.domain import Call
from reactrepro.errors import CassetteMiss
from reactrepro.exchanges.replay import Replay

MANY = 400
"""Interactions in a cassette that is far larger than any that is recorded: 21 samples make 21."""

_PLACE = Place("hotpotqa/react/generated", "0", "cassettes/hotpotqa/react/generated/0.yaml")
_NOT_OURS = b"# Some other program has been here.\n"
"""Behind a file of ours, this means nothing, and sends it through the YAML loader."""


def first(workload: Workload) -> Cassette:
    """Return the first episode."""
    return next(workload.cassettes())


def reading(workload: Workload, *, yaml: bool, times: int) -> Side:
    """Return what reads and checks one and the same file, by our own reader or by the YAML loader."""
    path = workload.run.path("0")
    data = path.read_bytes() + (_NOT_OURS if yaml else b"")

    def read() -> int:
        for _ in range(times):
            parse_cassette(data, path)
        return times

    return read


def missing(cassette: Cassette, *, verbose: bool, times: int) -> Side:
    """Return what asks for a prompt of which one character was changed, and puts the miss into words."""
    body = cassette.interactions[-1].request_json
    prompt = prompt_of(cassette.interactions[-1])
    at = len(prompt) // 2
    altered = f"{prompt[:at]}#{prompt[at + 1 :]}"
    call = Call("chat/completions", {**body, "messages": [{"role": "user", "content": altered}]}, 4)

    def miss() -> int:
        for _ in range(times):
            try:
                Replay(forget(cassette), _PLACE).send(call)
            except CassetteMiss as missed:
                if f"character {at + 1}" not in describe(missed.mismatch, verbose=verbose):
                    raise AssertionError("the report does not name the character that differs") from missed
            else:
                raise AssertionError("the altered prompt was answered")
        return times

    return miss


def matching(cassette: Cassette, *, backwards: bool = False) -> Side:
    """Return what asks for everything that *cassette* holds, in recorded order or in the opposite one."""
    calls = [Call("chat/completions", interaction.request_json, 1) for interaction in cassette.interactions]

    def match() -> int:
        replay = Replay(forget(cassette), _PLACE)
        for call in reversed(calls) if backwards else calls:
            replay.send(call)
        replay.finish()
        return len(calls)

    return match


def vcr_matching(cassette: Cassette, some: Iterable[int]) -> Side:
    """Return what asks vcrpy for *some* of the interactions, matched on method, address and body."""
    requests = [Request(i.method, i.uri, i.body, dict(i.request_headers)) for i in cassette.interactions]
    responses: list[dict[str, Any]] = [
        {"status": {"code": 200, "message": "OK"}, "headers": {}, "body": {"string": i.response.encode()}}
        for i in cassette.interactions
    ]
    asked = [requests[number] for number in some]

    def match() -> int:
        played = VcrCassette(
            "in memory", match_on=(matchers.method, matchers.uri, matchers.body), record_mode=RecordMode.NONE
        )
        played.data = list(zip(requests, responses, strict=True))
        played.rewound = True
        for request in asked:
            if not played.can_play_response_for(request):
                raise AssertionError("vcrpy does not know its own request")
            played.play_response(request)
        return len(asked)

    return match


def large(workload: Workload, interactions: int = MANY) -> Cassette:
    """Return a cassette with many interactions."""
    return enlarged(first(workload), interactions)
