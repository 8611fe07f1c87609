"""OpenAI (legacy) completions: the paper's own setting, and what base models behind vLLM or llama.cpp want."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..domain import Ask, Completion, Json
from . import shape


class OpenAICompletions:
    """``POST …/completions``."""

    api: ClassVar[str] = "completions"
    samples: ClassVar[bool] = True
    endpoint: ClassVar[str] = "completions"

    def request(self, prompt: str, stop: Sequence[str], ask: Ask) -> Json:
        """Return the body that asks *ask.model* to continue *prompt*."""
        return {"model": ask.model, "prompt": prompt, **shape.common(ask, stop, "stop", self.unsent(stop, ask))}

    def unsent(self, stop: Sequence[str], ask: Ask) -> tuple[str, ...]:
        """Return the stop strings that are left out."""
        return shape.unsent(stop, ask)

    def completion(self, response: Json) -> Completion:
        """Read a response: its first choice.

        Raises:
            Corrupt: no choice in it.
            InfraError: an error object inside a 200.
        """
        response = shape.checked(response)
        return _completion(response, shape.choices_of(response)[0])

    def completions(self, response: Json) -> tuple[Completion, ...]:
        """Read a response: all of its choices. Raises as `completion`."""
        response = shape.checked(response)
        return tuple(_completion(response, choice) for choice in shape.choices_of(response))


def _completion(response: dict[str, Any], choice: dict[str, Any]) -> Completion:
    notes: list[str] = []
    reply = shape.text_of(choice.get("text"), notes)
    finish = choice.get("finish_reason")
    return shape.completed(response, reply, finish, notes, ("prompt_tokens", "completion_tokens"))
