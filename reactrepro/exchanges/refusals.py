"""What it means that a provider gave no reply: for this episode, or for all of them; and what to do about it.

Messages are for people with a bill to pay. They name the setting to change, and nothing of a key, an account or a
request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import InfraError, ParameterRefused, Unanswered
from .scrub import Scrubber

KEY = frozenset({401, 403})
INVALID = frozenset({400, 422})
ADDRESS = frozenset({404, 405, 410})
UNPAID = frozenset(
    {"insufficient_quota", "insufficient_balance", "billing_not_active", "billing_hard_limit_reached", "billing_error"}
)
"""What providers call an account without credit, some of them with status 429. No waiting helps."""

PARAMETERS = (
    "n", "stop", "stop_sequences", "temperature", "top_p", "max_tokens", "max_completion_tokens",
)  # fmt: skip
"""Parameters that some servers or models refuse, and that a request can go without or be made with another value of."""

_SPELLINGS = {
    "stop": ("stop", "stop_sequences", "stopSequences"),
    "stop_sequences": ("stop_sequences", "stop", "stopSequences"),
    "max_tokens": ("max_tokens", "maxTokens"),
}
"""How servers name a parameter; gateways use the names of the API behind them."""

_ABOUT_STOP = re.compile(r"param|argument|field|support|sequence|permitted|extra", re.IGNORECASE)
"""Stands beside the bare word "stop" where it means the parameter."""

_RANGE = re.compile(
    r"\b(?:between|range|at most|at least|less than|greater than|maximum|minimum|too (?:large|high|small|low))\b|[<>≤≥]"
)
"""In a complaint about a value, not about the parameter."""
_OPTIONS = {"temperature": "--temperature", "max_tokens": "--max-tokens", "max_completion_tokens": "--max-tokens"}

FILTERED = frozenset(
    {
        "content_filter", "ResponsibleAIPolicyViolation", "content_policy_violation", "data_inspection_failed",
        "DataInspectionFailed", "SensitiveContentDetected", "InputTextSensitiveContentDetected",
        "OutputTextSensitiveContentDetected",
    }
)  # fmt: skip
"""What providers call a request that their content filter refuses."""
_FILTERED = re.compile(
    r"content management policy|flagged as potentially violating|flagged by .*moderation|Content Exists Risk",
    re.IGNORECASE,
)
TOO_LONG = frozenset({"context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded"})
"""What providers call a prompt that the model's context does not hold."""
_TOO_LONG = re.compile(
    r"maximum context length|context[ _](?:length|window|size|limit)|prompt is too long", re.IGNORECASE
)

_CODE = re.compile(r"[A-Za-z][A-Za-z_.]{0,63}\Z|[0-9]{1,6}\Z")
"""Words and small numbers: no key, no id."""


class ProviderError(InfraError):
    """A provider that did not give a reply.

    Attributes:
        status: the HTTP status; None where no answer came.
        code: the provider's own word for the error, or None.
        fatal: it will be the same for every episode: a refused key, a model that is not there.
    """

    def __init__(
        self, message: str, *, status: int | None = None, code: str | None = None, fatal: bool = False
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.fatal = status, code, fatal


class NoReply(InfraError):
    """What came with status 200, and is no reply: not JSON, cut short, an error in disguise. Never recorded.

    Attributes:
        strange: it is not even like the answer of such an API: a web page, most likely.
        body: what came, parsed, where it is an error in disguise.
    """

    def __init__(self, message: str, *, strange: bool = False, body: object = None) -> None:
        super().__init__(message)
        self.strange, self.body = strange, body


def refusal(
    error: Any, scrubber: Scrubber, *, asked: Mapping[str, Any], key_hint: str
) -> ProviderError | ParameterRefused | Unanswered:
    """Return what an SDK's `APIStatusError` means, where it is not tried again.

    Args:
        error: from the SDK.
        scrubber: keeps secrets out of messages.
        asked: the body that was sent.
        key_hint: where the key comes from, as a sentence.
    """
    model = str(asked.get("model", ""))
    status, code = int(error.status_code), code_of(error.body)
    named = f"status {status}, {code}" if code else f"status {status}"
    said = scrubber.said(said_by(error.body), model)
    fatal = True
    if (found := unanswered(error.body, status, scrubber)) is not None:
        return found
    if is_unpaid(status, code, said):
        message = f"the account has no credit left ({named}). Top it up; waiting does not help."
    elif status in KEY:
        message = f"the provider refuses the key, or what is asked of it ({named}). {key_hint}"
    elif status in ADDRESS:
        message = (
            f"the provider has no model {scrubber.text(model)!r} there ({named}{_colon(said)}).\n"
            "  Check --model, --api (chat, completions or messages) and --base-url."
        )
    elif status < 400:
        message = (
            f"the address answers with a redirect ({named}), and a key is not sent on. Give the address that it leads "
            "to as --base-url."
        )
    else:
        fatal = False
        message = f"the provider refuses the request ({named}{_colon(said)})."
        if status in INVALID and (parameter := _parameter(error.body, asked)) is not None:
            if parameter in _OPTIONS and code != "unsupported_parameter" and _RANGE.search(said):
                message += f"\n  The value is the problem, for every episode: choose another {_OPTIONS[parameter]}."
                return ProviderError(message, status=status, code=code, fatal=True)
            limit = _limit(said_by(error.body), asked[parameter])
            return ParameterRefused(message, parameter, limit=limit, status=status, code=code)
    return ProviderError(message, status=status, code=code, fatal=fatal)


def unanswered(body: object, status: int, scrubber: Scrubber) -> Unanswered | None:
    """Return what an error's parsed *body* means for the episode: filtered, or too long; None where it is neither."""
    inner, said = _error(body), said_by(body)
    deeper = inner.get("innererror") if isinstance(inner, Mapping) else None
    words = {
        str(part.get(name)).partition(".")[0]
        for part in (inner, deeper)
        if isinstance(part, Mapping)
        for name in ("code", "type")
    }
    code = code_of(body)
    ended = f"(status {status}{f', {code}' if code else ''}{_colon(scrubber.said(said))})"
    if status < 500 and (words & FILTERED or _FILTERED.search(said)):
        message = f"the provider's content filter refuses the request {ended}."
        return Unanswered(message, "content_filter", status=status, code=code)
    if words & TOO_LONG or (status in INVALID | {200, 413} and _TOO_LONG.search(said)):
        message = f"the prompt is too long for the model, or for the model and the token limit {ended}."
        return Unanswered(message, "model_context_window_exceeded", status=status, code=code)
    return None


def is_unpaid(status: int, code: str | None, said: str = "") -> bool:
    """Tell whether a refusal is about money."""
    return status == 402 or code in UNPAID or "credit balance is too low" in said


def said_by(body: object) -> str:
    """Return the message in an error's parsed *body*, and nothing that stands beside it; "" where there is none."""
    inner = _error(body)
    message = inner.get("message") if isinstance(inner, Mapping) else inner
    if isinstance(message, str):
        return message
    return "; ".join(str(entry["msg"]) for entry in _detail(body) if isinstance(entry.get("msg"), str))


def code_of(body: object) -> str | None:
    """Return the provider's own word for the error in *body*, if it is a word."""
    inner = _error(body)
    if not isinstance(inner, Mapping):
        return None
    for name in ("code", "type"):
        value = inner.get(name)
        text = str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""
        if _CODE.match(text) and text != "error":
            return text
    return None


def _parameter(body: object, asked: Mapping[str, Any]) -> str | None:
    """Return the parameter of *asked* that an error's *body* is about: by its field `param`, else by its message."""
    inner = _error(body)
    sent = [name for name in PARAMETERS if name in asked]
    named = [inner.get("param")] if isinstance(inner, Mapping) else []
    for entry in _detail(body):
        location = entry.get("loc")
        named += location if isinstance(location, list) else []
    for name in sent:
        if any(_plain(value) in _SPELLINGS.get(name, (name,)) for value in named):
            return name
    said = said_by(body)[:500]
    for name in sent:
        if any(re.search(rf"['\"`]{spelling}['\"`]", said) for spelling in _SPELLINGS.get(name, (name,))):
            return name
    for name in sent:
        for spelling in _SPELLINGS.get(name, (name,)):
            is_word = spelling != "n" and re.search(rf"\b{spelling}\b", said)
            if is_word and (spelling != "stop" or _ABOUT_STOP.search(said)):
                return name
    return None


def _plain(value: object) -> str | None:
    """Return the parameter that "body.stop" or "stop[0]" is about."""
    return re.split(r"[.\[]", value.removeprefix("body."))[0] if isinstance(value, str) else None


def _detail(body: object) -> list[Mapping[str, Any]]:
    """Return the list of complaints that servers built on FastAPI answer with."""
    for part in (body, _error(body)):
        for holder in (part, part.get("message")) if isinstance(part, Mapping) else ():
            found = holder.get("detail") if isinstance(holder, Mapping) else None
            if isinstance(found, list):
                return [entry for entry in found if isinstance(entry, Mapping)]
    return []


def _limit(said: str, value: Any) -> int | None:
    """Return the largest whole number in a message that is below *value*: what the server says it takes."""
    if type(value) is not int:
        return None
    below = [
        number for number in map(int, re.findall(r"(?<![\w.])[0-9]{1,6}(?![\w.]*[0-9])", said)) if 0 < number < value
    ]
    return max(below, default=None)


def _error(body: object) -> object:
    """Return the error object: some SDKs hand out the body whole, others what stands under "error"."""
    return body.get("error", body) if isinstance(body, Mapping) else None


def _colon(said: str) -> str:
    return f": {said}" if said else ""
