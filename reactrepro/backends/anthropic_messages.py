"""Anthropic messages. The prompt goes into one user message, unchanged; the last turn is always the user's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ..domain import Ask, Completion, Json
from ..errors import Corrupt
from . import shape


class AnthropicMessages:
    """``POST …/messages``."""

    api: ClassVar[str] = "messages"
    endpoint: ClassVar[str] = "messages"
    samples: ClassVar[bool] = False

    def request(self, prompt: str, stop: Sequence[str], ask: Ask) -> Json:
        """Return the body that asks *ask.model* to answer *prompt*.

        Stop strings of nothing but white space are refused by this API (400) and therefore not sent; the local cut
        applies them all the same.
        """
        return {
            "model": ask.model,
            "messages": [{"role": "user", "content": prompt}],
            **shape.common(ask, stop, "stop_sequences", self.unsent(stop, ask), "max_tokens"),
        }

    def unsent(self, stop: Sequence[str], ask: Ask) -> tuple[str, ...]:
        """Return the stop strings that are left out: those of nothing but white space. It has no limit of four."""
        return shape.unsent(stop, ask, blank_refused=True, most=None)

    def completion(self, response: Json) -> Completion:
        """Read a response: text blocks by type, thinking apart, a refusal as its own finish.

        Raises:
            Corrupt: no content in it.
            InfraError: an error object inside a 200.
        """
        response = shape.checked(response)
        if "content" not in response:
            raise Corrupt("the response has no `content`.")
        notes: list[str] = []
        text, thinking = shape.text_of(response["content"], notes)
        finish = response.get("stop_reason")
        return shape.completed(response, (text, thinking), finish, notes, ("input_tokens", "output_tokens"))

    def completions(self, response: Json) -> tuple[Completion, ...]:
        """Read a response, which has one reply: this API has no parameter for more. Raises as `completion`."""
        return (self.completion(response),)
