"""The 500 FEVER episodes that the released notebook prints, run again: every prompt, every answer.

The published thoughts and actions are scripted, and a tape has the published observations of Search and Lookup, nothing
else: the loop builds the prompts, parses, reprompts and counts, and the environment computes invalid actions, Finish,
the hidden finish and the reward.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from reactrepro.cassettes.tapes import Tape, TapeEntry
from reactrepro.domain import Completion, Observation, Prompt, Question, Settings, Trajectory, sha256_text
from reactrepro.judged import JudgedEnv
from reactrepro.methods.react import React, transcript
from reactrepro.parsing.actions import parse_action
from reactrepro.runs.play import judge, scored
from reactrepro.tape import WikiTapeEnv, environment
from reactrepro.tasks.fever import Fever

STEPS = 7  # as in the released notebook


FEVER = Fever()


def question_of(episode: dict[str, Any]) -> Question:
    """The claim, keyed by its place in the published run."""
    return Question(key=str(episode["n"]), text=episode["claim"], gold=episode["gt_answer"])


def tape_of(episode: dict[str, Any]) -> WikiTapeEnv:
    """The environment of an episode: the published observations of Search and Lookup, the rest computed."""
    question = question_of(episode)
    rows = [(step["action"], step["observation"]) for step in episode["steps"]]
    looked_up = tuple(TapeEntry(a, o) for a, o in rows if parse_action(a).name in ("search", "lookup"))
    env = environment(Tape("wiki", FEVER.opening(question), looked_up), judge(FEVER, question), "a tape")
    assert isinstance(env, WikiTapeEnv)
    return env


class Lenient(JudgedEnv):
    """Answers each Search and Lookup as the published step of that number, however the action is written."""

    def __init__(self, episode: dict[str, Any]) -> None:
        question = question_of(episode)
        super().__init__(FEVER.opening(question), judge(FEVER, question))
        self.published = episode["steps"]

    def search(self, argument: str) -> Observation:
        return Observation(self.published[self.steps]["observation"])

    lookup = search


class Published:
    """The model, as the notebook printed it; remembers kind, step, stop and prompt of each call."""

    def __init__(self, episode: dict[str, Any]) -> None:
        self.steps = {step["i"]: step for step in episode["steps"]}
        self.bad = {call["i"]: call["raw"] for call in episode["bad_calls"]}
        self.calls: list[dict[str, Any]] = []

    def complete(self, prompt: str, stop: Sequence[str], *, step: int) -> Completion:
        fallback = tuple(stop) == ("\n",)
        self.calls.append(
            {
                "kind": "fallback" if fallback else "main",
                "i": step,
                "stop": list(stop),
                "prompt_chars": len(prompt),
                "prompt_sha256": sha256_text(prompt),
            }
        )
        said = self.steps[step]
        if fallback:
            text = f" {said['action']}"
        else:
            text = self.bad.get(step, f" {said['thought']}\nAction {step}: {said['action']}")
        return Completion(text=text, raw=text)


Episode = tuple[dict[str, Any], dict[str, Any], Published, Trajectory, WikiTapeEnv]


@pytest.fixture(scope="module")
def prompt(reactrepro_test_data: Path) -> Prompt:
    """The paper's FEVER prompt."""
    text = json.loads((reactrepro_test_data / "fever_prompts.json").read_bytes())["webthink_simple3"]
    return Prompt("fever", "react", "paper", text)


@pytest.fixture(scope="module")
def episodes(reactrepro_test_data: Path, prompt: Prompt) -> list[Episode]:
    """Each published episode with its published calls, run again under strict."""
    settings = Settings.of("paper", max_steps=STEPS)
    assert settings.protocol == "strict"
    done = []
    files = ("fever_davinci002.jsonl", "fever_davinci002_calls.jsonl")
    lines = ((reactrepro_test_data / file).read_bytes().decode("utf-8").splitlines() for file in files)
    for episode, expected in ((json.loads(a), json.loads(b)) for a, b in zip(*lines, strict=True)):
        llm, env = Published(episode), tape_of(episode)
        trajectory = React().run(question_of(episode), prompt, llm, env, settings)
        env.finish()
        done.append((episode, expected, llm, trajectory, env))
    return done


def test_every_prompt_is_the_published_one(episodes: list[Episode]) -> None:
    """All 1,253 calls: kind, step, stop string, length and SHA-256 of the prompt."""
    assert sum(len(llm.calls) for _, _, llm, _, _ in episodes) == 1253
    for episode, expected, llm, trajectory, _ in episodes:
        assert llm.calls == expected["calls"], episode["n"]
        assert (trajectory.llm_calls, trajectory.reprompts) == (expected["n_calls"], expected["n_badcalls"])


def test_every_final_text_is_the_published_one(episodes: list[Episode], prompt: Prompt) -> None:
    """The transcript after the last step has the published length and sum."""
    for _, expected, _, trajectory, _ in episodes:
        text = transcript(prompt, trajectory)
        assert (len(text), sha256_text(text)) == (expected["traj_chars"], expected["traj_sha256"])


def test_every_answer_is_the_published_one(episodes: list[Episode]) -> None:
    """500 answers and steps, the hidden finish among the environment's, and the published score of 270."""
    assert len(episodes) == 500
    for episode, _, _, trajectory, env in episodes:
        assert trajectory.answer == episode["answer"]
        assert (len(trajectory.steps), env.steps) == (episode["n_steps"], episode["info_steps"])
        assert [step.observation for step in trajectory.steps] == [step["observation"] for step in episode["steps"]]
    scores = [scored(FEVER, trajectory, question_of(episode)) for episode, _, _, trajectory, _ in episodes]
    assert sum(score.em for score in scores) == 270
    assert sum(score.f1 for score in scores) / len(scores) == 0.54
    assert [int(score.em) for score in scores] == [int(episode["reward"]) for episode, *_ in episodes]


def test_the_counts(episodes: list[Episode]) -> None:
    """3 reprompts, 12 invalid actions, 9 unfinished episodes."""
    runs = [trajectory for _, _, _, trajectory, _ in episodes]
    assert Counter(run.ended for run in runs) == {"finish": 491, "step_limit": 9}
    assert sum(run.reprompts for run in runs) == sum(run.strict_reprompts for run in runs) == 3
    flags = Counter(flag for run in runs for step in run.flags for flag in step)
    assert flags == {"no_action": 3, "invalid_action": 12}


def test_tolerant_reads_the_published_replies_as_strict_does(episodes: list[Episode], prompt: Prompt) -> None:
    """Wherever tolerant flags nothing it does what strict did, prompt for prompt; what it repairs is counted."""
    settings = Settings.of("chat", max_steps=STEPS)
    flags: Counter[str] = Counter()
    for episode, expected, _, strict, _ in episodes:
        llm = Published(episode)
        trajectory = React().run(question_of(episode), prompt, llm, Lenient(episode), settings)
        flags.update(flag for step in trajectory.flags for flag in step)
        if not any(trajectory.flags):
            assert llm.calls == expected["calls"]
            assert trajectory == strict
    assert flags == {
        "blank_lines": 62,
        "label_form": 3,
        "trailing_text": 5,
        "quoted_argument": 1,
        "invalid_action": 1,
        "no_action": 2,
    }
