"""Back-offs: recorded part by part, the second only where it is triggered, and computed from there on."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import pytest

from reactrepro.cassettes.runs import RUN_FILE, Run
from reactrepro.domain import Settings
from reactrepro.errors import Corrupt
from reactrepro.methods import BACK_OFFS
from reactrepro.prompts import load
from reactrepro.report.junit import junit
from reactrepro.runs import check as gate
from reactrepro.runs.accept import accept
from reactrepro.runs.check import check, examine
from reactrepro.runs.order import Order
from reactrepro.runs.record import RecordReport
from reactrepro.runs.record_back_off import BackOffOrder, record_back_off
from reactrepro.runs.replay import replay_episode
from reactrepro.runs.settings import part_settings
from reactrepro.runs.what_if import WhatIf
from reactrepro.tasks import TASKS

from ..lab import QUESTIONS, Lab, lab
from ..llm_server import Asked, Say

__all__ = ["lab"]

VOTES = {
    "0": ("Ada Marlow", "x", "y", "z"),
    "1": ("bay",) * 4,
    "2": ("a", "b", "c", "d"),
    "3": ("no", "no", "yes", "?"),
}
"""What each question's samples say. With a limit of two steps, ReAct answers question 1 only."""


def answering(lab: Lab) -> None:
    """Let the server answer CoT prompts, too."""
    think = lab.llm.answer

    def answer(asked: Asked) -> Say:
        if not asked.prompt.endswith("\nThought:"):
            return think(asked)
        lab.llm.asked.append(asked)
        question = asked.prompt.rpartition("Question: ")[2].partition("\n")[0]
        key = next(q.key for q in QUESTIONS if q.text == question)
        said = VOTES[key][: asked.body["n"]]
        return Say({"choices": [{"index": n, "text": f" So.\nAnswer: {answer}"} for n, answer in enumerate(said)]})

    lab.llm.answer = answer  # type: ignore[method-assign]


def wanted(lab: Lab, method: str, keys: str = "0123", **more: Any) -> BackOffOrder:
    """The order: profile paper, two steps, four samples."""
    task = TASKS.get("hotpotqa")()
    asked = {"api": "completions", "max_steps": 2, "samples": 4}
    whole, parts = part_settings(method, "paper", task, asked)

    def order(of: str, settings: Settings, acts: bool) -> Order:
        site = {} if acts else {"site": None}
        made = lab.order(keys, method=of, settings=settings, api="completions", profile="paper", **more)
        return replace(made, **site)

    first, second = (order(*part) for part in parts)
    return BackOffOrder(order=order(method, whole, True), parts=(first, second), sources=lab.sources)


def record(lab: Lab, method: str, keys: str = "0123", **more: Any) -> RecordReport:
    """Record a back-off."""
    return record_back_off(wanted(lab, method, keys, **more), lab.made)


def answers(lab: Lab, run: Run, what_if: WhatIf | None = None) -> dict[str, str | None]:
    """Question -> answer, replayed."""
    found = {}
    for key in run.keys():  # noqa: SIM118 - a run is no mapping
        report = replay_episode(run, key, lab.sources, **({"what_if": what_if} if what_if else {}))
        assert report.problems == ()
        assert report.trajectory is not None
        found[key] = report.trajectory.answer
    return found


@pytest.mark.parametrize(
    ("method", "second", "triggered", "expected"),
    [
        ("react_then_cot_sc", "cot_sc", ["0", "2", "3"], ["Ada Marlow", "the Harlow Bay", "a", "no"]),
        ("cot_sc_then_react", "react", ["0", "2"], ["", "bay", "", "no"]),
    ],
)
def test_the_second_part_is_asked_only_where_it_is_triggered(
    lab: Lab, method: str, second: str, triggered: list[str], expected: list[str]
) -> None:
    """Calls are stored in the parts; the back-off's own folder names them, and replays without a further call."""
    answering(lab)
    report = record(lab, method)
    assert report.problems == []
    assert [episode.state for episode in report.episodes] == ["recorded"] * 4
    assert sum(episode.calls for episode in report.episodes) == report.calls == len(lab.llm.asked)
    assert [path.name for path in report.run.folder.iterdir()] == [RUN_FILE]
    parts = {part.method: part for part in report.run.parts()}
    assert parts[second].keys() == triggered
    assert list(answers(lab, report.run).values()) == expected
    assert [found.ok for found in check(lab.cassettes, lab.sources)] == [True] * (4 + len(triggered) + 4)
    asked = len(lab.llm.asked)
    assert record(lab, method).calls == 0
    assert len(lab.llm.asked) == asked


def test_the_other_back_off_needs_no_further_call_for_what_is_there(lab: Lab) -> None:
    """Both share their parts: only what was not triggered before is asked."""
    answering(lab)
    record(lab, "react_then_cot_sc")
    report = record(lab, "cot_sc_then_react")
    assert report.calls == 1  # question 1 had no samples yet
    assert answers(lab, report.run) == {"0": "", "1": "bay", "2": "", "3": "no"}


def test_every_threshold_and_limit_is_computed(lab: Lab) -> None:
    """From both parts, recorded for all questions; what more would be asked for is said to be missing."""
    answering(lab)
    run = record(lab, "cot_sc_then_react").run
    assert list(answers(lab, run, WhatIf(threshold=1)).values()) == ["Ada Marlow", "bay", "a", "no"]
    assert list(answers(lab, run, WhatIf(samples=1)).values()) == ["Ada Marlow", "bay", "a", "no"]
    found = replay_episode(run, "1", lab.sources, what_if=WhatIf(threshold=5))
    assert [problem.exit_code for problem in found.problems] == [3]
    assert "a part that it needs is missing" in str(found.problems[0])
    other = record(lab, "react_then_cot_sc").run
    shorter = replay_episode(other, "1", lab.sources, what_if=WhatIf(max_steps=1)).trajectory
    assert shorter is not None
    assert (shorter.answer, len(shorter.steps)) == ("the Harlow Bay", 1)


def test_a_shorter_limit_is_what_recording_under_it_gives(lab: Lab) -> None:
    """Step for step, answer for answer."""
    whole = lab.record(api="completions", profile="paper").run
    for limit in range(1, 5):
        short = lab.record(api="completions", profile="paper", max_steps=limit, run=f"short-{limit}").run
        for key in "0123":
            computed = replay_episode(whole, key, lab.sources, what_if=WhatIf(max_steps=limit)).trajectory
            assert computed == lab.replay(short, key).trajectory


def test_a_change_in_a_part_is_a_change_of_the_whole(lab: Lab) -> None:
    """Its id covers the files of its parts, and what is wrong with them is wrong with it."""
    answering(lab)
    run = record(lab, "react_then_cot_sc").run
    before = run.id
    part = run.parts()[0].path("0")
    part.write_bytes(part.read_bytes().replace(b"Search[Vorland]", b"Search[Vorlanb]"))
    again = Run.at(run.folder)
    assert again.id != before
    assert [problem.exit_code for problem in replay_episode(again, "0", lab.sources).problems] == [5]


@pytest.mark.parametrize(
    "parts",
    [
        {"react": "react/../../../etc", "cot_sc": "cot_sc/a-model"},
        {"react": "act/a-model", "cot_sc": "cot_sc/a-model"},
        {"react_then_cot_sc": "react_then_cot_sc/a-model"},
        {"../react": "../react/a-model"},
        {"react": "react/a-model"},
        {"cot_sc_then_react": "cot_sc_then_react/a-model", "cot_sc": "cot_sc/a-model"},
    ],
)
def test_parts_that_are_none_are_refused(lab: Lab, parts: dict[str, str]) -> None:
    """No path leads out of the task's folder, and none back to the run itself."""
    answering(lab)
    run = record(lab, "react_then_cot_sc").run
    record(lab, "cot_sc_then_react")
    file = run.folder / RUN_FILE
    file.write_text(json.dumps(json.loads(file.read_bytes()) | {"parts": parts}), encoding="utf-8")
    (problem,) = replay_episode(Run.at(run.folder), "0", lab.sources).problems
    assert isinstance(problem, Corrupt)
    assert any(row.problems for row in check(lab.cassettes, lab.sources) if row.run == run)


def test_a_part_that_stops_stops_the_whole(lab: Lab) -> None:
    """The second part is not asked; what is recorded stays, and the same command carries on."""
    answering(lab)
    lab.llm.script = [Say({"error": {"message": "no such model"}}, 404)]
    report = record(lab, "react_then_cot_sc")
    assert report.stopped is not None
    assert (report.remaining, report.calls) == (["0", "1", "2", "3"], 0)
    assert not list(lab.cassettes.rglob(RUN_FILE))
    assert record(lab, "react_then_cot_sc").problems == []


def test_all_back_offs_are_under_test() -> None:
    """Both of the paper's."""
    assert list(BACK_OFFS) == ["react_then_cot_sc", "cot_sc_then_react"]


def test_a_prompt_of_a_part_is_one_cause(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gate tells it once, of the recordings of the part; the composed ones are of its class, and cost nothing."""
    answering(lab)
    run = record(lab, "cot_sc_then_react").run
    monkeypatch.chdir(lab.root)
    accept((), lab.sources, lab.root)
    assert examine(None, lab.sources).exit_code == 0
    own = lab.root / "prompts/hotpotqa/paper/cot.txt"
    own.parent.mkdir(parents=True)
    own.write_text(load("hotpotqa", "cot", "paper").text.replace("step by step", "one step at a time"), "utf-8")
    sources = replace(lab.sources, prompts=(lab.root / "prompts",))
    for only in (None, "prompts"):
        report = examine(None, sources, gate.Asked(only=only))  # type: ignore[arg-type]
        (finding,) = (one for one in report.findings if not one.is_warning)
        assert (finding.kind, finding.subject, finding.count) == ("prompt changed", "hotpotqa/paper/cot", 4)
        assert {touched.run.method for touched in finding.touched} == {"cot_sc"}
        assert "+" in finding.diff
        assert finding.estimate is not None
        assert 0 < finding.estimate.at_least <= finding.estimate.expected
        kinds = {episode.key: episode.kind for episode in report.episodes if episode.run == run}
        assert kinds == dict.fromkeys("0123", "prompt changed")
        assert ET.fromstring(junit(report)).get("failures") == "8"  # noqa: S314 - made here
    accept(["hotpotqa/paper/cot"], sources, lab.root)
    report = examine(None, sources)
    assert report.counts == {"ok": 2, "accepted, not yet recorded": 8}
    assert examine(None, sources, gate.Asked(allow_stale=True)).exit_code == 0
