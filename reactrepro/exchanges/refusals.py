"""What it means that a provider gave no reply: for this episode, or for all of them; and what to do about it.

Messages are for people with a bill to pay. They name the setting to change, and nothing of a key, an account or a
request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..errors import InfraError
from .scrub import Scrubber

KEY = frozenset({401, 403})
ADDRESS = frozenset({404, 405, 410})
UNPAID = frozenset(
    {"insufficient_quota", "insufficient_balance", "billing_not_active", "billing_hard_limit_reached", "billing_error"}
)
"""What providers call an account without credit, some of them with status 429. No waiting helps."""

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
    """

    def __init__(self, message: str, *, strange: bool = False) -> None:
        super().__init__(message)
        self.strange = strange


def refusal(error: Any, scrubber: Scrubber, *, model: str, key_hint: str) -> ProviderError:
    """Return what an SDK's `APIStatusError` means, where it is not tried again.

    Args:
        error: from the SDK.
        scrubber: keeps secrets out of messages.
        model: the model asked for.
        key_hint: where the key comes from, as a sentence.
    """
    status, code = int(error.status_code), code_of(error.body)
    named = f"status {status}, {code}" if code else f"status {status}"
    said = scrubber.said(said_by(error.body), model)
    fatal = True
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
    return ProviderError(message, status=status, code=code, fatal=fatal)


def is_unpaid(status: int, code: str | None, said: str = "") -> bool:
    """Tell whether a refusal is about money."""
    return status == 402 or code in UNPAID or "credit balance is too low" in said


def said_by(body: object) -> str:
    """Return the message in an error's parsed *body*, and nothing that stands beside it; "" where there is none."""
    inner = _error(body)
    message = inner.get("message") if isinstance(inner, Mapping) else inner
    return message if isinstance(message, str) else ""


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


def _error(body: object) -> object:
    """Return the error object: some SDKs hand out the body whole, others what stands under "error"."""
    return body.get("error", body) if isinstance(body, Mapping) else None


def _colon(said: str) -> str:
    return f": {said}" if said else ""
