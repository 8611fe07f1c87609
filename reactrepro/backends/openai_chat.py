"""OpenAI chat completions, and every server that speaks it.

The prompt goes into one user message, unchanged: no system message, no prefilled assistant turn, which newer models
refuse and older ones answer differently.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from ..domain import Ask, Completion, Json
from . import shape


class OpenAIChat:
    """``POST …/chat/completions``."""

    api: ClassVar[str] = "chat"
    samples: ClassVar[bool] = True
    endpoint: ClassVar[str] = "chat/completions"

    def request(self, prompt: str, stop: Sequence[str], ask: Ask) -> Json:
        """Return the body that asks *ask.model* to answer *prompt*."""
        return {
            "model": ask.model,
            "messages": [{"role": "user", "content": prompt}],
            **shape.common(ask, stop, "stop", self.unsent(stop, ask)),
        }

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
    message = choice.get("message")
    message = message if isinstance(message, dict) else {}
    notes: list[str] = []
    finish = choice.get("finish_reason")
    text, thinking = shape.text_of(message.get("content"), notes)
    refusal = shape.optional_text(message.get("refusal"))
    if refusal and not text:
        finish = "refusal"
    for name in ("reasoning_content", "reasoning"):
        if isinstance(message.get(name), str) and message[name]:
            thinking.append(message[name])
            break
    return shape.completed(response, (text, thinking), finish, notes, ("prompt_tokens", "completion_tokens"))
