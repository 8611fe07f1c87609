"""Reading responses that servers shape differently. Shared by the backends; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ..domain import Ask, Completion, Json, Tokens
from ..errors import Corrupt, InfraError

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

REASONING_TYPES = frozenset({"thinking", "redacted_thinking", "reasoning"})


MOST_STOPS = 4
"""Stop strings that OpenAI's two APIs take in one request (API reference, `stop`: "Up to 4 sequences")."""


def unsent(
    stop: Sequence[str], ask: Ask, *, blank_refused: bool = False, most: int | None = MOST_STOPS
) -> tuple[str, ...]:
    """Return the stop strings that are not sent; the local cut applies them all the same.

    All of them where stop is emulated; else empty ones, those of nothing but white space where the API or the server
    refuses them, and those beyond the *most* that the API takes, in order.
    """
    blank_refused = blank_refused or ask.sent.stop == "visible"
    sent = [text for text in dict.fromkeys(stop) if text and (text.strip() or not blank_refused)][:most]
    if ask.sent.stop == "emulated":
        sent = []
    return tuple(text for text in stop if text not in sent)


def common(
    ask: Ask, stop: Sequence[str], stop_name: str, left_out: Sequence[str], limit_name: str | None = None
) -> dict[str, Any]:
    """Return the sampling part of a body: stop strings, token limit, temperature, as far as they are sent.

    `n` stands in it where more than one reply is wanted. *limit_name* is that of an API that knows one name only for
    the token limit.
    """
    body: dict[str, Any] = {}
    if sent := [text for text in dict.fromkeys(stop) if text not in left_out]:
        body[stop_name] = sent
    body[limit_name or ask.sent.token_limit] = ask.max_tokens
    if "temperature" not in ask.sent.omitted:
        body["temperature"] = ask.temperature
    if ask.samples > 1:
        body["n"] = ask.samples
    return body


def checked(response: Json) -> dict[str, Any]:
    """Return *response*, a JSON object that is no error.

    Raises:
        Corrupt: no JSON object.
        InfraError: an error object inside a successful answer.
    """
    if not isinstance(response, dict):
        raise Corrupt(f"the response is no JSON object but {type(response).__name__}.")
    error = response.get("error")
    if error:
        message = error.get("message") if isinstance(error, dict) else error
        raise InfraError(f"the provider answered with an error inside a successful response: {message!s:.300}")
    return response


def choices_of(response: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the ``choices``, in the order of their ``index``, where each has another one, else as they came.

    Raises:
        Corrupt: there is none, or one of them is no object.
    """
    choices = response.get("choices")
    if not isinstance(choices, list) or not choices or not all(isinstance(choice, dict) for choice in choices):
        raise Corrupt("the response has no `choices[0]`.")
    places = [choice.get("index") for choice in choices]
    if all(type(place) is int for place in places) and len(set(places)) == len(places):
        return sorted(choices, key=lambda choice: int(choice["index"]))
    return choices


def text_of(content: Json, notes: list[str]) -> tuple[str, list[str]]:
    """Return (text, thinking texts) of a message's content: a string, None, or a list of typed parts.

    Text parts are joined in order, thinking is collected apart, other parts are ignored and noted.

    Args:
        content: as it came.
        notes: receives a short word for everything odd.
    """
    if content is None:
        notes.append("content_null")
        return "", []
    if isinstance(content, str):
        return clean(content, notes), []
    if not isinstance(content, list):
        notes.append("content_unreadable")
        return "", []
    texts: list[str] = []
    thinking: list[str] = []
    for part in content:
        kind = part.get("type") if isinstance(part, dict) else None
        if isinstance(part, str):
            texts.append(part)
        elif kind in {"text", "output_text"} and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif kind in REASONING_TYPES:
            thinking.extend(_thinking(part))
        elif "part_ignored" not in notes:
            notes.append("part_ignored")
    return clean("".join(texts), notes), thinking


def clean(text: str, notes: list[str]) -> str:
    """Return *text* with lone surrogates, which no later request could carry, replaced by U+FFFD, and note it."""
    if _LONE_SURROGATE.search(text):
        notes.append("lone_surrogate")
        return _LONE_SURROGATE.sub("\ufffd", text)
    return text


def tokens(usage: Json, prompt_name: str, completion_name: str) -> Tokens:
    """Return the usage under the API's two names; what is absent or no number is unknown."""
    if not isinstance(usage, dict):
        return Tokens()
    return Tokens(_count(usage.get(prompt_name)), _count(usage.get(completion_name)))


def optional_text(value: Json) -> str | None:
    """Return *value* if it is a text, else None."""
    return value if isinstance(value, str) else None


def reasoning_note(text: str, finish: str | None, reasoning: str | None, notes: list[str]) -> None:
    """Note a reply whose whole token budget went into thinking: empty, cut by the limit, and not an empty answer."""
    if not text.strip() and finish in {"length", "max_tokens"}:
        notes.append("truncated_in_reasoning" if reasoning else "truncated_empty")


def completed(
    response: dict[str, Any], reply: tuple[str, list[str]], finish: Json, notes: list[str], usage: tuple[str, str]
) -> Completion:
    """Return the completion that *response* holds; the local cut comes later.

    Args:
        response: the whole response.
        reply: its text, and what came of thinking.
        finish: the provider's reason.
        notes: what was odd so far.
        usage: the API's names for the prompt's and the completion's tokens.
    """
    text, thinking = reply
    reason, reasoning = optional_text(finish), "\n".join(thinking) or None
    reasoning_note(text, reason, reasoning, notes)
    return Completion(
        text=text,
        raw=text,
        finish=reason,
        tokens=tokens(response.get("usage"), *usage),
        model=optional_text(response.get("model")),
        fingerprint=optional_text(response.get("system_fingerprint")),
        reasoning=reasoning,
        notes=tuple(notes),
    )


def _thinking(part: dict[str, Any]) -> list[str]:
    inner = part.get("thinking", part.get("text", part.get("summary")))
    if isinstance(inner, str):
        return [inner]
    if isinstance(inner, list):
        return [item["text"] for item in inner if isinstance(item, dict) and isinstance(item.get("text"), str)]
    return []


def _count(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
