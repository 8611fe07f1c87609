"""Fakes for the loop: a model that says what it was told to, an environment that answers from a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from reactrepro.domain import Action, Completion, Observation, Prompt, Question, Settings, Trajectory
from reactrepro.methods import METHODS
from reactrepro.parsing.stops import cut


@dataclass
class ScriptedLlm:
    """Says its replies in order, cut at the stop string; remembers prompts and stops."""

    replies: Sequence[str | Completion]
    asked: list[tuple[str, tuple[str, ...], int]] = field(default_factory=list)

    def complete(self, prompt: str, stop: Sequence[str], *, step: int) -> Completion:
        reply = self.replies[len(self.asked)]
        self.asked.append((prompt, tuple(stop), step))
        if isinstance(reply, Completion):
            return reply
        text, removed = cut(reply, stop)
        return Completion(text=text, raw=reply, finish="stop", cut=removed)


@dataclass
class TableEnv:
    """Answers commands from a table; judges, refuses and finishes as the original does."""

    question: str = "Where?"
    gold: str = "yes"
    answers: Mapping[str, str] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)

    def reset(self) -> str:
        return f"Question: {self.question}"

    def step(self, action: Action) -> Observation:
        self.commands.append(action.command)
        if action.name == "finish":
            reward = int(action.argument == self.gold)
            return Observation(f"Episode finished, reward = {reward}\n", done=True, reward=reward)
        if not action.name:
            return Observation(f"Invalid action: {action.command}")
        return Observation(self.answers.get(action.command, "Nothing."))


PROMPT = Prompt("hotpotqa", "react", "paper", "Solve it.\n\nQuestion: ...\n")

Run = Callable[..., tuple[Trajectory, ScriptedLlm, TableEnv]]


@pytest.fixture
def run() -> Run:
    """Run the ReAct loop over replies: `run("reply", ..., protocol="strict", env=TableEnv())`."""

    def run(
        *replies: str | Completion, protocol: str = "strict", max_steps: int = 7, env: TableEnv | None = None
    ) -> tuple[Trajectory, ScriptedLlm, TableEnv]:
        llm, env = ScriptedLlm(replies), env or TableEnv()
        question = Question(key="0", text=env.question, gold=env.gold)
        settings = Settings.of("chat", max_steps=max_steps, protocol=protocol)
        return METHODS.get("react")().run(question, PROMPT, llm, env, settings), llm, env

    return run
