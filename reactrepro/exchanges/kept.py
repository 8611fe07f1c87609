"""What is kept of the replies that agents get, whole or in events, and which of them are complete. Pure data.

Agents need more of a reply than the loop does: tool calls above all, whose ids the next request repeats. Ids that no
request repeats are replaced, not left out, since clients that check types want a text there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from ..domain import Json
from .scrub import ANYTHING, NUMBERS, THAT_IT_IS_THERE, Form


@dataclass(frozen=True, slots=True)
class Kept:
    """One endpoint.

    Attributes:
        form: what is kept of a reply, and of an event of a streamed one.
        member: the member that every reply has: a list, and not an empty one unless *may_be_empty*.
        is_last: tells whether an event is one that only a complete stream has.
        may_be_empty: see *member*.
    """

    form: Mapping[str, Form]
    member: str
    is_last: Callable[[Json], bool]
    may_be_empty: bool = False

    def is_reply(self, value: Json) -> bool:
        """Tell whether the parsed body of an answer with status 200 is a reply."""
        if not isinstance(value, dict) or value.get("error"):
            return False
        found = value.get(self.member)
        return isinstance(found, list) and (bool(found) or self.may_be_empty)


def _finished(event: Json) -> bool:
    choices = event.get("choices") if isinstance(event, dict) else None
    return isinstance(choices, list) and any(isinstance(c, dict) and c.get("finish_reason") for c in choices)


def _of_type(*names: str) -> Callable[[Json], bool]:
    return lambda event: isinstance(event, dict) and event.get("type") in names


def _never(_: Json) -> bool:
    return False


# --- OpenAI: chat/completions, completions, embeddings --------------------------------------------------------------

_CALL: dict[str, Form] = {
    "index": None,
    "id": None,
    "type": None,
    "function": {"name": None, "arguments": None},
    "custom": {"name": None, "input": None},
}
_CITED: dict[str, Form] = {"url": None, "title": None, "start_index": None, "end_index": None}
_PART: dict[str, Form] = {"type": None, "text": None, "refusal": None}
_MESSAGE: dict[str, Form] = {
    "role": None,
    "content": _PART,
    "refusal": None,
    "reasoning": None,
    "reasoning_content": None,
    "tool_calls": _CALL,
    "function_call": {"name": None, "arguments": None},
    "annotations": {"type": None, "url_citation": _CITED},
}
_CHOICE: dict[str, Form] = {
    "index": None,
    "text": None,
    "message": _MESSAGE,
    "delta": _MESSAGE,
    "finish_reason": None,
    "native_finish_reason": None,
    "stop_reason": None,
    "logprobs": ANYTHING,
}
_COMPLETION: dict[str, Form] = {
    "id": THAT_IT_IS_THERE,
    "object": None,
    "created": None,
    "model": None,
    "choices": _CHOICE,
    "usage": NUMBERS,
    "system_fingerprint": None,
}
_EMBEDDINGS: dict[str, Form] = {
    "object": None,
    "data": {"object": None, "index": None, "embedding": None},
    "model": None,
    "usage": NUMBERS,
}

# --- OpenAI: responses ----------------------------------------------------------------------------------------------

_TEXT: dict[str, Form] = {**_PART, "annotations": {"type": None, **_CITED}, "logprobs": ANYTHING}
_ITEM: dict[str, Form] = {
    "id": None,
    "type": None,
    "role": None,
    "status": None,
    "phase": None,
    "content": _TEXT,
    "summary": _PART,
    "encrypted_content": None,
    "name": None,
    "namespace": None,
    "arguments": None,
    "input": None,
    "call_id": None,
    "action": ANYTHING,
}
_RESPONSE: dict[str, Form] = {
    "id": None,
    "object": None,
    "created_at": None,
    "status": None,
    "model": None,
    "output": _ITEM,
    "usage": NUMBERS,
    "incomplete_details": {"reason": None},
    "instructions": ANYTHING,
    "parallel_tool_calls": None,
    "previous_response_id": None,
    "temperature": None,
    "text": ANYTHING,
    "tool_choice": ANYTHING,
    "tools": ANYTHING,
    "top_p": None,
    "truncation": None,
}
_RESPONSE_EVENT: dict[str, Form] = {
    **_RESPONSE,
    "type": None,
    "sequence_number": None,
    "response": _RESPONSE,
    "item": _ITEM,
    "item_id": None,
    "output_index": None,
    "content_index": None,
    "summary_index": None,
    "annotation_index": None,
    "part": _TEXT,
    "annotation": {"type": None, **_CITED},
    "delta": None,
    "text": ANYTHING,
    "refusal": None,
    "name": None,
    "arguments": None,
    "input": None,
    "logprobs": ANYTHING,
}

# --- Anthropic: messages --------------------------------------------------------------------------------------------

_BLOCK: dict[str, Form] = {
    "type": None,
    "id": None,
    "text": None,
    "thinking": None,
    "signature": None,
    "data": None,
    "name": None,
    "input": ANYTHING,
    "tool_use_id": None,
    "content": ANYTHING,
    "citations": ANYTHING,
}
_REPLY: dict[str, Form] = {
    "id": THAT_IT_IS_THERE,
    "type": None,
    "role": None,
    "model": None,
    "content": _BLOCK,
    "stop_reason": None,
    "stop_sequence": None,
    "usage": NUMBERS,
}
_REPLY_EVENT: dict[str, Form] = {
    **_REPLY,
    "index": None,
    "message": _REPLY,
    "content_block": _BLOCK,
    "delta": {
        "type": None,
        "text": None,
        "partial_json": None,
        "thinking": None,
        "signature": None,
        "citation": ANYTHING,
        "stop_reason": None,
        "stop_sequence": None,
    },
}

KEPT: Final[Mapping[str, Kept]] = {
    "chat/completions": Kept(_COMPLETION, "choices", _finished),
    "completions": Kept(_COMPLETION, "choices", _finished),
    "messages": Kept(_REPLY_EVENT, "content", _of_type("message_stop"), may_be_empty=True),
    "responses": Kept(
        _RESPONSE_EVENT, "output", _of_type("response.completed", "response.incomplete"), may_be_empty=True
    ),
    "embeddings": Kept(_EMBEDDINGS, "data", _never),
}
"""Logical endpoint -> what is kept of it."""
