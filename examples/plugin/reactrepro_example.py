"""A task, a method and a wire API of one's own. pyproject.toml gives each a name, and reactrepro finds them by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from reactrepro.backends.openai_chat import OpenAIChat
from reactrepro.domain import Ask, Environment, Json, Llm, Prompt, Question, Sample, Score, Settings, Trajectory


class Spelling:
    """A task: how is a word spelled backwards? Right is only what is right letter for letter."""

    name = "spelling"
    version = 1
    scorer = "spelling-exact/1"
    prompt_task = "hotpotqa"  # whose prompts it uses
    prompt = "paper"
    site = "enwiki"
    max_steps = 3

    def questions(self) -> tuple[Question, ...]:
        """Return the questions that come with the package."""
        words = ("lighthouse", "harbour")
        return tuple(Question(str(n), f"What is {word!r} backwards?", word[::-1], n) for n, word in enumerate(words))

    def opening(self, question: Question) -> str:
        """Return the line that follows the prompt."""
        return f"Question: {question.text}"

    def score(self, answer: str | None, gold: str) -> Score:
        """Score an answer; None is worth 0."""
        right = answer == gold
        return Score(em=right, f1=float(right))


class Guess:
    """A method: one call, whose reply is the answer."""

    name = "guess"
    prompt = "standard"  # the method whose prompt it uses
    acts = False  # it needs no wiki
    rules = ("the reply, stripped, is the answer",)

    def defaults(self, profile: str) -> Mapping[str, Any]:
        """Return what it has otherwise than the profile."""
        return {"max_tokens": 16}

    def run(self, question: Question, prompt: Prompt, llm: Llm, env: Environment, settings: Settings) -> Trajectory:
        """Answer a question. Nothing of *question* but what *env* says of it may reach the model."""
        opening = env.reset()
        reply = llm.complete(f"{prompt.text}{opening}\nAnswer:", ("\n",), step=1)
        answer = reply.text.strip()
        return Trajectory(
            opening=opening,
            steps=(),
            answer=answer,
            ended="finish",
            llm_calls=1,
            reprompts=0,
            strict_reprompts=0,
            samples=(Sample(1, reply.text, answer),),
        )


class BriefChat(OpenAIChat):
    """A wire API: chat completions with a system message before the prompt."""

    api = "chat_brief"

    def request(self, prompt: str, stop: Sequence[str], ask: Ask) -> Json:
        """Return the body that asks for a completion."""
        body = super().request(prompt, stop, ask)
        body["messages"] = [{"role": "system", "content": "Be brief."}, *body["messages"]]
        return body
