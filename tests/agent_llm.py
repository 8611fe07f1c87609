"""Agents that are not ours, and a server that calls their tools, streams, and puts a canary wherever a secret can be.

The server answers by what it is asked alone, so equal work gets equal replies in any number of threads and tasks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .llm_server import Asked, FakeLlm, Say, wrapped

KEY = "sk-canary-0711-abcdefgh"
CANARY = "canary"
HEADERS = {
    "x-request-id": "req_canary",
    "set-cookie": "__cf_bm=canary",
    "openai-organization": "org-canary",
    "anthropic-organization-id": "canary-1",
}
EVENTS = {"content-type": "text/event-stream; charset=utf-8"}
TOWN = "Quill – Östermark 🜨"


@dataclass
class AgentLlm(FakeLlm):
    """The server: the first request of a conversation that brings tools gets a tool call, every other one a text."""

    headers: Mapping[str, str] = field(default_factory=lambda: dict(HEADERS))

    def _thought(self, prompt: Any) -> Say:
        raise AssertionError("answered in `answer`")

    def answer(self, asked: Asked) -> Say:
        """Return the answer to *asked*; what is scripted comes first."""
        with self.lock:
            self.asked.append(asked)
            scripted = self.script.pop(0) if self.script else None
        return scripted or reply(asked.path, asked.body)


def reply(path: str, body: Mapping[str, Any]) -> Say:
    """Return the answer to *body*."""
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:8]
    wants_tool = "tools" in body and len(body["messages"]) == 1
    text = f"It rains in {TOWN} ({digest})."
    call = f"call_{digest}"
    if path.endswith("/messages"):
        whole = _message(text, call if wants_tool else None)
        return Say(_events(_message_events(whole), named=True), headers=EVENTS) if body.get("stream") else Say(whole)
    whole = wrapped(path, text, {"service_tier": "canary", "x": {"account": CANARY}})
    if wants_tool:
        whole["choices"][0] |= {"finish_reason": "tool_calls", "message": _asking(call)}
    if body.get("stream"):
        return Say(_events(_chunks(whole)) + b": bye canary\n\ndata: [DONE]\n\n", headers=EVENTS)
    return Say(whole)


def _asking(call: str) -> dict[str, Any]:
    function = {"name": "weather", "arguments": json.dumps({"town": TOWN})}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call, "type": "function", "function": function}],
    }


def _chunks(whole: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a chat completion, or a completion, in pieces: some characters of text or arguments each."""
    choice = whole["choices"][0]
    common = {name: whole[name] for name in ("id", "created", "model", "system_fingerprint")}
    common |= {"object": "chat.completion.chunk", "obfuscation": CANARY}

    def chunk(**fields: Any) -> dict[str, Any]:
        return {**common, "choices": [{"index": 0, "finish_reason": None, **fields}]}

    if "text" in choice:
        made = [chunk(text=piece) for piece in _pieces(choice["text"])]
    elif calls := choice["message"].get("tool_calls"):
        (call,) = calls
        first = {"index": 0, **call, "function": {"name": call["function"]["name"], "arguments": ""}}
        made = [chunk(delta={"role": "assistant", "content": None, "tool_calls": [first]})]
        made += [
            chunk(delta={"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
            for piece in _pieces(call["function"]["arguments"])
        ]
    else:
        made = [chunk(delta={"role": "assistant"})]
        made += [chunk(delta={"content": piece}) for piece in _pieces(choice["message"]["content"])]
    last = {"text": ""} if "text" in choice else {"delta": {}}
    made.append(chunk(finish_reason=choice["finish_reason"], **last) | {"x": CANARY})
    return [*made, {**common, "choices": [], "usage": whole["usage"]}]


def _pieces(text: str) -> list[str]:
    return [text[start : start + 11] for start in range(0, len(text), 11)]


def _message(text: str, call: str | None) -> dict[str, Any]:
    whole = wrapped("/messages", text, {"container": {"id": CANARY}})
    if call:
        tool = {"type": "tool_use", "id": call, "name": "weather", "input": {"town": TOWN}}
        whole |= {"content": [{"type": "text", "text": "I look."}, tool], "stop_reason": "tool_use"}
    return whole


def _message_events(whole: Mapping[str, Any]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "ping"},
    ]
    for index, block in enumerate(whole["content"]):
        tool = block["type"] == "tool_use"
        empty = {**block, "input": {}} if tool else {**block, "text": ""}
        made.append({"type": "content_block_start", "index": index, "content_block": empty})
        for piece in _pieces(json.dumps(block["input"]) if tool else block["text"]):
            delta = (
                {"type": "input_json_delta", "partial_json": piece} if tool else {"type": "text_delta", "text": piece}
            )
            made.append({"type": "content_block_delta", "index": index, "delta": delta})
        made.append({"type": "content_block_stop", "index": index})
    usage = {"output_tokens": 7, "service_tier": CANARY}
    stop = {"stop_reason": whole["stop_reason"], "stop_sequence": None, "container": CANARY}
    return [*made, {"type": "message_delta", "delta": stop, "usage": usage}, {"type": "message_stop"}]


def _events(values: list[dict[str, Any]], *, named: bool = False) -> bytes:
    made = []
    for number, value in enumerate(values):
        name = f"event: {value['type']}\n" if named else ""
        made.append(f"{name}id: canary-{number}\ndata: {json.dumps(value, ensure_ascii=number % 2 == 0)}\n\n")
    return "".join(made).encode()


# --- the agents -----------------------------------------------------------------------------------------------------

PARAMETERS = {"type": "object", "properties": {"town": {"type": "string"}}}
FUNCTION = {"type": "function", "function": {"name": "weather", "parameters": PARAMETERS}}
TOOL = {"name": "weather", "description": "Tells the weather.", "input_schema": PARAMETERS}


def chat(sdk: Any, question: str, *, stream: bool) -> list[Any]:
    """An agent on OpenAI's chat API: what it heard, as plain values."""
    messages: list[Any] = [{"role": "user", "content": question}]
    heard: list[Any] = []
    for _ in range(2):
        asked = {"model": "m", "messages": messages, "tools": [FUNCTION]}
        if stream:
            with sdk.chat.completions.stream(**asked, stream_options={"include_usage": True}) as events:
                heard.append([event.type for event in events])
                said = events.get_final_completion()
        else:
            said = sdk.chat.completions.create(**asked)
        heard.append(said.model_dump(mode="json"))
        messages += _after_chat(said)
    return heard


async def async_chat(sdk: Any, question: str, *, stream: bool) -> list[Any]:
    """`chat` for asyncio."""
    messages: list[Any] = [{"role": "user", "content": question}]
    heard: list[Any] = []
    for _ in range(2):
        asked = {"model": "m", "messages": messages, "tools": [FUNCTION]}
        if stream:
            async with sdk.chat.completions.stream(**asked, stream_options={"include_usage": True}) as events:
                heard.append([event.type async for event in events])
                said = await events.get_final_completion()
        else:
            said = await sdk.chat.completions.create(**asked)
        heard.append(said.model_dump(mode="json"))
        messages += _after_chat(said)
    return heard


def _after_chat(said: Any) -> list[Any]:
    message = said.choices[0].message
    if not message.tool_calls:
        return []
    (call,) = message.tool_calls
    town = json.loads(call.function.arguments)["town"]
    function = {"name": call.function.name, "arguments": call.function.arguments}
    return [
        {"role": "assistant", "tool_calls": [{"id": call.id, "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": call.id, "content": f"rain in {town}"},
    ]


def messages(sdk: Any, question: str, *, stream: bool) -> list[Any]:
    """An agent on Anthropic's API."""
    turns: list[Any] = [{"role": "user", "content": question}]
    heard: list[Any] = []
    for _ in range(2):
        asked = {"model": "m", "max_tokens": 99, "messages": turns, "tools": [TOOL]}
        if stream:
            with sdk.messages.stream(**asked) as events:
                heard.append([event.type for event in events])
                said = events.get_final_message()
        else:
            said = sdk.messages.create(**asked)
        heard.append(said.model_dump(mode="json"))
        turns += _after_message(said)
    return heard


async def async_messages(sdk: Any, question: str, *, stream: bool) -> list[Any]:
    """`messages` for asyncio."""
    turns: list[Any] = [{"role": "user", "content": question}]
    heard: list[Any] = []
    for _ in range(2):
        asked = {"model": "m", "max_tokens": 99, "messages": turns, "tools": [TOOL]}
        if stream:
            async with sdk.messages.stream(**asked) as events:
                heard.append([event.type async for event in events])
                said = await events.get_final_message()
        else:
            said = await sdk.messages.create(**asked)
        heard.append(said.model_dump(mode="json"))
        turns += _after_message(said)
    return heard


def _after_message(said: Any) -> list[Any]:
    calls = [block for block in said.content if block.type == "tool_use"]
    if not calls:
        return []
    content = [block.model_dump(mode="json", include={"type", "text", "id", "name", "input"}) for block in said.content]
    result = {"type": "tool_result", "tool_use_id": calls[0].id, "content": f"rain in {calls[0].input['town']}"}
    return [{"role": "assistant", "content": content}, {"role": "user", "content": [result]}]


def completions(sdk: Any, question: str, *, stream: bool) -> list[Any]:
    """A caller of OpenAI's completions API, which has no tools."""
    said = sdk.completions.create(model="m", prompt=question, stream=stream)
    return [part.model_dump(mode="json") for part in said] if stream else [said.model_dump(mode="json")]


async def async_completions(sdk: Any, question: str, *, stream: bool) -> list[Any]:
    """`completions` for asyncio."""
    said = await sdk.completions.create(model="m", prompt=question, stream=stream)
    return [part.model_dump(mode="json") async for part in said] if stream else [said.model_dump(mode="json")]
