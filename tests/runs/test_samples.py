"""Samples: n distinct replies, in order, in as few calls as the server allows, in the cassette and on replay."""

from __future__ import annotations

from typing import Any

import pytest

from reactrepro.cassettes.read import read_cassette
from reactrepro.cassettes.runs import Run
from reactrepro.domain import Settings
from reactrepro.errors import InfraError
from reactrepro.methods import METHODS
from reactrepro.runs.record import RecordReport
from reactrepro.runs.replay import replay_episode
from reactrepro.runs.what_if import WhatIf

from ..lab import Lab, lab
from ..llm_server import Asked, Say, error

__all__ = ["lab"]

LIMIT = "Field 'n': Value must be between 1 <= value <= 4, but got {}"  # llama.cpp's words


def reply(number: int) -> str:
    """The n-th sample: three of five say `bay`."""
    return f" Sample {number}.\nAnswer: {'bay' if number % 5 < 3 else f'x{number}'}"


class Server:
    """Answers with as many samples as it likes; each sample has another number."""

    def __init__(self, lab: Lab, *, most: int = 100, ignores: bool = False, refuses: str | None = None) -> None:
        self.lab, self.most, self.ignores, self.refuses = lab, most, ignores, refuses
        self.taken = 0
        lab.llm.answer = self.answer  # type: ignore[method-assign]

    def answer(self, asked: Asked) -> Say:
        self.lab.llm.asked.append(asked)
        wanted = asked.body.get("n", 1)
        if self.refuses is not None and wanted > self.most:
            return error(400, self.refuses.format(wanted))
        count = 1 if self.ignores else min(wanted, self.most)
        texts = [reply(self.taken + number) for number in range(count)]
        self.taken += count
        if asked.path.endswith("/messages"):
            return Say(texts[0])
        chat = asked.path.endswith("/chat/completions")
        choices = [
            {"index": n, "finish_reason": "stop"}
            | ({"message": {"role": "assistant", "content": text}} if chat else {"text": text})
            for n, text in enumerate(texts)
        ]
        # The order in which they come is not the order in which they are numbered.
        return Say({"model": "m", "choices": choices[::-1], "usage": {"prompt_tokens": 9, "completion_tokens": 5}})

    @property
    def sizes(self) -> list[int]:
        """How many samples each request asked for."""
        return [asked.body.get("n", 1) for asked in self.lab.llm.asked]


def record(lab: Lab, keys: str = "1", *, api: str = "chat", samples: int = 21, **more: Any) -> RecordReport:
    """Record with CoT-SC."""
    defaults = METHODS.get("cot_sc")().defaults("chat")
    settings = Settings.of("chat", max_steps=7, method=defaults, api=api, samples=samples)
    return lab.record(keys, method="cot_sc", api=api, settings=settings, site=None, **more)


def numbers(lab: Lab, run: Run, key: str = "1", *, wire: bool = False) -> list[int]:
    """The numbers that the replayed samples bear, in order."""
    found = lab.replay(run, key, wire=wire)
    assert found.problems == ()
    assert found.trajectory is not None
    return [int(sample.text.split()[1].rstrip(".")) for sample in found.trajectory.samples]


@pytest.mark.parametrize("api", ["chat", "completions"])
def test_all_samples_come_in_one_call_where_the_server_gives_them(lab: Lab, api: str) -> None:
    """In the order of their index; the replay asks the same once more, directly and through the SDK."""
    server = Server(lab)
    report = record(lab, api=api)
    assert (server.sizes, report.calls) == ([21], 1)
    for wire in (False, True):
        assert numbers(lab, report.run, wire=wire) == list(range(21))
    meta = read_cassette(report.run.path("1")).meta
    assert (meta.sent.samples_per_call, meta.samples, meta.pages) == ((21,), tuple(range(1, 22)), ())
    assert report.run.config.site is None


@pytest.mark.case("B53")
@pytest.mark.parametrize(
    ("how", "asked", "recorded"),
    [
        ({"ignores": True}, [21] + [1] * 20, (21, *[1] * 20)),
        ({"most": 8}, [21, 8, 5], (21, 8, 5)),
        ({"most": 4, "refuses": LIMIT}, [21, 4, 4, 4, 4, 4, 1], (4, 4, 4, 4, 4, 1)),
        ({"most": 2, "refuses": "`n` is too large"}, [21, 16, 8, 4, *[2] * 10, 1], (*[2] * 10, 1)),
        ({"most": 1, "refuses": "'n' > 1 is not supported"}, [21] + [1] * 21, (1,) * 21),
    ],
)
def test_fewer_samples_than_were_asked_for_are_topped_up(
    lab: Lab, how: dict[str, Any], asked: list[int], recorded: tuple[int, ...]
) -> None:
    """n ignored, limited or refused: 21 samples all the same, none twice; refusals are not in the recording."""
    server = Server(lab, **how)
    report = record(lab)
    assert server.sizes == asked
    assert read_cassette(report.run.path("1")).meta.sent.samples_per_call == recorded
    for wire in (False, True):
        assert numbers(lab, report.run, wire=wire) == list(range(21))
    found = lab.replay(report.run, "1")
    assert found.trajectory is not None
    assert (found.trajectory.answer, found.trajectory.llm_calls) == ("bay", len(recorded))


def test_a_refused_number_is_refused_once_in_a_recording(lab: Lab) -> None:
    """What the server said in the first episode holds for the others."""
    server = Server(lab, most=4, refuses=LIMIT)
    assert record(lab, "0123", samples=6).problems == []
    assert server.sizes == [6, 4, 2, 4, 2, 4, 2, 4, 2]


def test_an_api_without_n_is_asked_n_times(lab: Lab) -> None:
    """Anthropic's: equal requests are distinct samples, in recorded order."""
    server = Server(lab)
    report = record(lab, api="messages", samples=5)
    assert (server.sizes, report.calls) == ([1] * 5, 5)
    for wire in (False, True):
        assert numbers(lab, report.run, wire=wire) == list(range(5))


def test_connections_do_not_mix_samples(lab: Lab) -> None:
    """Four episodes at a time: each has its own samples, all of them, in one order on every replay."""
    server = Server(lab, most=2, refuses=LIMIT)
    report = record(lab, "0123", samples=7, connections=4)
    taken = [numbers(lab, report.run, key) for key in "0123"]
    assert sorted(number for episode in taken for number in episode) == list(range(server.taken))
    assert taken == [numbers(lab, report.run, key, wire=True) for key in "0123"]


@pytest.mark.parametrize("at", range(1, 7))
def test_a_recording_that_broke_off_carries_on(lab: Lab, at: int) -> None:
    """Whatever was saved is not asked again, and asked the same way, whichever call it was that failed."""
    server = Server(lab, most=4, refuses=LIMIT)
    answer = server.answer

    def failing(asked: Asked) -> Say:
        good = [size for size in server.sizes if size <= 4]
        return error(500) if len(good) == at - 1 and asked.body.get("n", 1) <= 4 else answer(asked)

    lab.llm.answer = failing  # type: ignore[method-assign]
    (problem,) = record(lab).problems
    assert isinstance(problem, InfraError)
    lab.llm.answer = answer  # type: ignore[method-assign]
    report = record(lab)
    assert report.calls == 6 - (at - 1)
    assert numbers(lab, report.run) == list(range(21))


@pytest.mark.parametrize("wanted", [1, 4, 5, 20, 21])
def test_a_vote_over_fewer_samples_is_computed(lab: Lab, wanted: int) -> None:
    """The first samples, the calls that brought them, and not one call more."""
    Server(lab, most=4, refuses=LIMIT)
    report = record(lab)
    found = replay_episode(report.run, "1", lab.sources, what_if=WhatIf(samples=wanted)).trajectory
    whole = lab.replay(report.run, "1").trajectory
    assert found is not None
    assert whole is not None
    assert found.samples == whole.samples[:wanted]
    assert (found.answer, found.llm_calls) == ("bay", -(-wanted // 4))


def test_more_samples_than_were_recorded_are_no_question(lab: Lab) -> None:
    """They do not follow from the recording."""
    Server(lab)
    report = record(lab, samples=3)
    found = replay_episode(report.run, "1", lab.sources, what_if=WhatIf(samples=4))
    assert [problem.exit_code for problem in found.problems] == [2]
