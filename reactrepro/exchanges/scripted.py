"""Scripted: answers from a list of replies. The fake that serves tests, examples and users' own tests.

What it plays can be saved as a recording of provenance ``scripted`` (`runs.script`), never as anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..cassettes.model import Interaction
from ..cassettes.text import body_json
from ..domain import Call, Json
from ..errors import Usage

BASE_URL = "https://scripted.invalid/v1"
"""Stands in the addresses of scripted interactions; the top-level domain is reserved for names that never resolve."""


class Scripted:
    """Answers each call with the next reply of a script (`domain.Exchange`).

    Args:
        replies: texts, each put into a minimal response of the call's wire API; or whole JSON responses, as they are.

    Attributes:
        interactions: what was asked and answered so far, as a cassette holds it.
    """

    def __init__(self, replies: Iterable[str | Mapping[str, Any]]) -> None:
        self._replies = list(replies)
        self.interactions: list[Interaction] = []

    def send(self, call: Call) -> Json:
        """Return the next reply.

        Raises:
            Usage: the script has none left.
        """
        number = len(self.interactions)
        if number >= len(self._replies):
            raise Usage(f"the script has {len(self._replies)} replies, and step {call.step} asks for one more.")
        reply = self._replies[number]
        response = ENVELOPES[call.endpoint](reply) if isinstance(reply, str) else dict(reply)
        self.interactions.append(
            Interaction("POST", f"{BASE_URL}/{call.endpoint}", body_json(call.body), 200, body_json(response))
        )
        return response


def _chat(text: str) -> Json:
    message = {"role": "assistant", "content": text}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


def _completions(text: str) -> Json:
    return {"choices": [{"index": 0, "text": text, "finish_reason": "stop"}]}


def _messages(text: str) -> Json:
    return {"role": "assistant", "content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}


ENVELOPES: Mapping[str, Callable[[str], Json]] = {
    "chat/completions": _chat,
    "completions": _completions,
    "messages": _messages,
}
"""Logical endpoint -> the least response that carries a text."""
