"""32 connections, a storm of refusals, a kill and a resume: nothing is lost, nothing is paid for twice."""

from __future__ import annotations

import json
import signal
import sys
import threading

import pytest

from reactrepro.cassettes.read import read_cassette
from reactrepro.cassettes.runs import Run
from reactrepro.runs.record import record

from ..lab import Lab, lab
from ..llm_server import Asked, Say, error

__all__ = ["lab"]

EPISODES = 40
CONNECTIONS = 32
STORM = range(36, 60)
"""Requests that are refused, counted as they come."""

KILL = 80
"""Replies after which the recorder is killed; whole it takes 80 and more."""


def questions(lab: Lab) -> None:
    """Forty questions of two steps each."""
    texts = [f"What is number {n}?" for n in range(EPISODES)]
    for text in texts:
        lab.llm.minds[text] = (
            " I look.\nAction 1: Search[Vorland]",
            " Once more.\nAction 2: Lookup[town]",
            " Done.\nAction 3: Finish[x]",
        )
    lab.data.write_text(json.dumps([{"question": text, "answer": "x"} for text in texts]), encoding="utf-8")


def recorded_prompts(lab: Lab) -> list[str]:
    """The prompts of all replies that are on disk."""
    paths = [path for path in lab.cassettes.rglob("*.yaml*") if path.suffix in {".yaml", ".part"}]
    return [
        interaction.request_json["messages"][-1]["content"]
        for path in paths
        for interaction in read_cassette(path).interactions
    ]


@pytest.mark.slow
@pytest.mark.case("B17")
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL there")
def test_a_storm_a_kill_and_a_resume_lose_nothing_and_pay_nothing_twice(lab: Lab) -> None:
    """Every episode once; what was on disk when the recorder was killed is never asked for again."""
    questions(lab)
    paid: list[str] = []
    enough = threading.Event()
    lock = threading.Lock()
    ordinary = lab.llm.answer

    def answer(asked: Asked) -> Say:
        with lock:
            stormy = len(lab.llm.asked) in STORM
        said = ordinary(asked)
        if stormy:
            return error(429, "slow down", headers={"retry-after-ms": "50"})
        with lock:
            paid.append(asked.prompt)
            if len(paid) >= KILL:
                enough.set()
        return said

    lab.llm.answer = answer  # type: ignore[method-assign]
    words = ("all", "--max-connections", str(CONNECTIONS), "--quiet")
    began = lab.start(*words)
    assert enough.wait(60)
    began.kill()
    began.communicate()
    assert began.returncode == -signal.SIGKILL
    on_disk, before = recorded_prompts(lab), list(paid)
    assert len(before) - len(on_disk) <= CONNECTIONS  # no more than were on their way
    assert len(set(on_disk)) == len(on_disk)

    done = lab.command(*words)
    assert (done.returncode, done.stderr) == (0, "")
    after = paid[len(before) :]
    assert set(on_disk).isdisjoint(after)
    assert len(set(after)) == len(after)
    assert sorted({*on_disk, *after}) == sorted([*on_disk, *after])
    run: Run = lab.run
    assert run.keys() == [str(n) for n in range(EPISODES)]
    assert [len(run.read(key).interactions) for key in run.keys()] == [3] * EPISODES  # noqa: SIM118 - a run is no dict
    assert not [name for name in lab.names() if name.endswith((".part", ".tmp", ".lock", ".error.json"))]
    assert all(lab.replay(run, key).ok for key in ("0", "17", "39"))


def test_one_that_is_told_to_wait_has_all_wait(lab: Lab) -> None:
    """The gate is closed for as long as the server asks, and each attempt of every call passes it first."""
    lab.llm.script = [error(429, headers={"retry-after-ms": "30"}), error(503)]
    order = lab.order("01", connections=2)
    with lab.studio(order) as studio:
        closed: list[float] = []
        passed: list[int] = []
        gate = studio.model.gate
        close, passes = gate.close, gate.passes
        gate.close = lambda seconds: (closed.append(seconds), close(seconds))[1]  # type: ignore[method-assign,func-returns-value]
        gate.passes = lambda stop: (passed.append(1), passes(stop))[1]  # type: ignore[method-assign]
        report = record(order, studio)
    assert not report.problems
    assert len(closed) == 2
    assert max(closed) >= 0.03
    assert len(passed) == len(lab.llm.asked) == 4 + 2
