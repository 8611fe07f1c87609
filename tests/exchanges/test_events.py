"""Server-sent events: taken apart wherever the network cuts them, scrubbed one by one, whole or not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro.exchanges.events import Events
from reactrepro.exchanges.kept import KEPT
from reactrepro.exchanges.scrub import Scrubber

KEY = "sk-canary-0711-abcdefgh"


def events(endpoint: str = "chat/completions") -> Events:
    """What takes the events of a reply of *endpoint*."""
    kept, scrubber = KEPT[endpoint], Scrubber([KEY])
    return Events(lambda text: scrubber.response(text, kept.form), kept.is_last, scrubber.holds)


def passed(data: bytes, *cuts: int, endpoint: str = "chat/completions") -> tuple[bytes, bytes, Events]:
    """What is handed on of *data*, cut into pieces: before the end, and after it."""
    stream, start, made = events(endpoint), 0, b""
    for cut in (*sorted(cuts), len(data)):
        made += stream.feed(data[start:cut])
        start = cut
    made += stream.end()
    return made, stream.held(), stream


def chunk(text: str, finish: str | None = None) -> str:
    """An event's data, in the form in which it is kept."""
    choice: dict[str, Any] = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
    return json.dumps({"id": "[removed]", "choices": [choice]}, ensure_ascii=False)


WHOLE = f"data: {chunk('Grüße 🜨')}\n\ndata:{chunk('…')}\n\ndata: {chunk('', 'stop')}\n\ndata: [DONE]\n\n".encode()


@given(st.lists(st.integers(0, len(WHOLE)), max_size=8))
def test_it_does_not_matter_where_the_network_cuts(cuts: list[int]) -> None:
    """In the middle of a character, a line end or a field; what needs no scrubbing passes to the byte."""
    first, rest, stream = passed(WHOLE, *cuts)
    assert first + rest == WHOLE
    assert rest == WHOLE[WHOLE.index(f"data: {chunk('', 'stop')}".encode()) :]
    assert (stream.problem, stream.text) == (None, WHOLE.decode())


@given(st.lists(st.integers(0, 400), max_size=8), st.sampled_from(["\n", "\r\n", "\r"]))
def test_line_ends_are_kept(cuts: list[int], end: str) -> None:
    """Whichever of the three that the format knows."""
    data = WHOLE.decode().replace("\n", end).encode()
    first, rest, stream = passed(data, *(min(cut, len(data)) for cut in cuts))
    assert (first + rest, stream.problem) == (data, None)


@given(st.binary(max_size=200))
def test_nothing_that_comes_is_a_crash(data: bytes) -> None:
    """Any bytes are handed on or left out; without an end they are no reply."""
    first, rest, stream = passed(data)
    assert stream.problem is not None
    assert len(first + rest) <= len(data)


def test_only_names_and_data_are_kept() -> None:
    """Comments, ids and waits go; data over several lines is one value; secrets and unknown members go."""
    value = json.dumps({"type": "message_stop", "account": "canary", "index": 1}, indent=1)
    lines = "".join(f"data: {line}\n" for line in value.split("\n"))
    data = f": canary\n\nid: canary\nretry: 9\nevent: message_stop\nevent: {KEY} x\nnothing\n{lines}\n".encode()
    first, rest, stream = passed(data, endpoint="messages")
    assert (first, stream.problem) == (b"", None)
    assert rest == b'event: message_stop\ndata: {"type":"message_stop","index":1}\n\n'


@pytest.mark.case("B25")
def test_a_key_in_pieces_is_a_key() -> None:
    """A server that echoes one token by token gets no recording; pieces of other choices do not tear it apart."""
    values = []
    for start in range(0, len(KEY), 4):
        values += [chunk(KEY[start : start + 4]), chunk("x").replace('"index": 0', '"index": 1')]
    data = "".join(f"data: {value}\n\n" for value in [*values, chunk("", "stop"), "[DONE]"]).encode()
    assert passed(data)[2].problem == "a stream that spells a key"
    assert passed(data.replace(b"sk-c", b"sk-d"))[2].problem is None


def test_a_last_event_without_its_blank_line_counts() -> None:
    """Some servers leave it out, and the SDKs do not mind."""
    first, rest, stream = passed(WHOLE.rstrip(b"\n"))
    assert (first + rest, stream.problem) == (WHOLE.rstrip(b"\n"), None)


@pytest.mark.parametrize(
    ("endpoint", "last", "whole"),
    [
        ("chat/completions", {"choices": [{"finish_reason": "tool_calls"}]}, True),
        ("completions", {"choices": [{"finish_reason": "length"}]}, True),
        ("chat/completions", {"choices": []}, False),
        ("chat/completions", {"choices": None}, False),
        ("messages", {"type": "message_stop"}, True),
        ("messages", {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, False),
        ("responses", {"type": "response.completed", "response": {"error": None}}, True),
        ("responses", {"type": "response.incomplete", "response": {}}, True),
        ("responses", {"type": "response.failed", "response": {}}, False),
        ("messages", {"type": "error", "error": {"type": "overloaded_error"}}, False),
        ("embeddings", {"data": []}, False),
        ("messages", ["message_stop"], False),
    ],
)
def test_each_api_has_an_event_that_only_a_whole_stream_has(endpoint: str, last: Any, whole: bool) -> None:
    """Without it the stream was cut off, or failed, and is no reply."""
    stream = passed(f"data: {json.dumps(last)}\n\n".encode(), endpoint=endpoint)[2]
    assert (stream.problem is None) is whole
