"""What of an exchange may stand in a recording. Allow-lists: what is not named here is not written.

A secret has many ways into a recording: a header, an address, a server that echoes the key, a request id in a body.
Rather than list them, this module lists what a replay and its readers need.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import unquote, urlsplit, urlunsplit

from ..cassettes.read import SECRET_HEADERS
from ..domain import Json
from ..errors import Corrupt

HEADERS = frozenset({"content-type"})
"""The headers that are kept, of requests and responses."""

SEGMENTS = re.compile(
    r"(?:v[0-9]{1,2}(?:(?:alpha|beta)[0-9]{0,2})?|api|openai|anthropic|beta|compatible-mode|inference"
    r"|chat|completions|messages|responses|embeddings)\Z"
)
"""The parts of an address's path that are kept. Some gateways have an account's name, or a key, among the others."""

Form: TypeAlias = "Mapping[str, Form] | str | None"
"""What is kept of a JSON value: of an object the members named; ANYTHING; NUMBERS; None for plain values only; of an
id only THAT_IT_IS_THERE."""

ANYTHING: Final = "anything"
NUMBERS: Final = "numbers"
THAT_IT_IS_THERE: Final = "that it is there"

_TEXTS: dict[str, Form] = {"type": None, "text": None}
_PART: dict[str, Form] = {**_TEXTS, "thinking": _TEXTS, "summary": _TEXTS, "signature": None, "data": None}
_MESSAGE: dict[str, Form] = {
    "role": None,
    "content": _PART,
    "refusal": None,
    "reasoning": None,
    "reasoning_content": None,
}
_CHOICE: dict[str, Form] = {
    "index": None,
    "text": None,
    "message": _MESSAGE,
    "finish_reason": None,
    "native_finish_reason": None,
    "stop_reason": None,
    "logprobs": ANYTHING,
}
RESPONSE: Mapping[str, Form] = {
    "choices": _CHOICE,
    "content": _PART,
    "created": None,
    "model": None,
    "object": None,
    "role": None,
    "stop_reason": None,
    "stop_sequence": None,
    "system_fingerprint": None,
    "type": None,
    "usage": NUMBERS,
}
"""What is kept of a response body. Ids of requests, responses, messages and accounts are not among it."""

REMOVED = "[removed]"
_SHORTEST = 6
"""A key of fewer characters is no secret, and replacing it would spoil text."""

_SECRET_NAME = re.compile(
    r".*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|COOKIE)|OPENAI_(?:ORG|ORGANIZATION|PROJECT)(?:_ID)?"
    r"|ANTHROPIC_ORGANIZATION_ID",
    re.IGNORECASE,
)
_HEADERS_NAME = re.compile(r".*_CUSTOM_HEADERS", re.IGNORECASE)
_PROXY_NAME = re.compile(r".*_PROXY", re.IGNORECASE)
_SECRET = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])[!-~]{12,}\Z")
"""What a variable of such a name holds counts as a secret if it looks like one: "disabled" is none."""

_ID = re.compile(
    r"\b(?:sk|pk|key|org|proj|project|req|request|user|acct|account|msg|chatcmpl|cmpl)[-_][\w*.-]{3,}"
    r"|(?=[\w*-]*[0-9*])[\w*-]{12,}"
)


def secrets_in(environment: Mapping[str, str]) -> set[str]:
    """Return the values in *environment* that must not be written, whoever echoes them.

    Keys, tokens and passwords of whatever service, account names of the SDKs, headers that an SDK is told to send, and
    what stands before the ``@`` of a proxy.
    """
    found: set[str] = set()
    for name, value in environment.items():
        if _SECRET_NAME.fullmatch(name) and _SECRET.match(value.strip()):
            found.add(value.strip())
        elif _HEADERS_NAME.fullmatch(name):
            found |= {line.partition(":")[2].strip() for line in value.split("\n")}
        elif _PROXY_NAME.fullmatch(name) and "@" in value:
            found |= {unquote(part) for part in value.rpartition("@")[0].rpartition("//")[2].split(":")}
    return found


def secrets_sent(headers: Mapping[str, str]) -> set[str]:
    """Return the keys in the *headers* of a request; what does not look like one ("ollama") is none."""
    found = {value.strip() for name, value in headers.items() if name.lower() in SECRET_HEADERS}
    found |= {value.partition(" ")[2].strip() for value in found}
    return {value for value in found if _SECRET.match(value)}


class Scrubber:
    """Removes what must not be written.

    Args:
        secrets: values that must not be written wherever they stand: keys above all.
        home: the path of the user's home folder is not written, either.
    """

    def __init__(self, secrets: Iterable[str] = (), *, home: bool = True) -> None:
        self._secrets = sorted({s for s in secrets if len(s) >= _SHORTEST}, key=len, reverse=True)
        home_folder = _home() if home else ""
        pattern = rf"(?<![\w.]){re.escape(home_folder)}(?![\w.-])"
        self._home = re.compile(pattern) if len(home_folder) > 1 else None

    def text(self, text: str) -> str:
        """Return *text* without secrets and without the user's home folder."""
        for secret in self._secrets:
            text = text.replace(secret, REMOVED)
        return self._home.sub("~", text) if self._home else text

    def holds(self, value: Json) -> bool:
        """Tell whether some text in *value* holds a secret; a home folder is none."""
        if isinstance(value, str):
            return any(secret in value for secret in self._secrets)
        if isinstance(value, dict):
            return any(self.holds(name) or self.holds(item) for name, item in value.items())
        return isinstance(value, list) and any(map(self.holds, value))

    def refuse(self, data: bytes, where: str) -> None:
        """Assert that *data*, which is about to be written, holds no secret. The last line of defence.

        Raises:
            Corrupt: it does; it was not written.
        """
        for secret in self._secrets:
            if secret.encode("utf-8") in data or json.dumps(secret)[1:-1].encode("ascii") in data:
                raise Corrupt(f"{where} was not written: it would hold a key. That is an error of this program.")

    def said(self, text: str, *known: str) -> str:
        """Return what a server says, for people to read: no secret, nothing that looks like an id, and not too long.

        Args:
            text: its words.
            known: what is no secret though it looks like one: a model's name.
        """

        def shown(match: re.Match[str]) -> str:
            return match[0] if any(match[0] in name for name in known) else "…"

        words = _ID.sub(shown, " ".join(self.text(text).split()))
        return words if len(words) <= 300 else f"{words[:300]}…"

    def uri(self, uri: str) -> str:
        """Return scheme, host and port of *uri*, and what of its path is known: no credentials, query or fragment."""
        parts = urlsplit(uri)
        host = parts.hostname or ""
        host = f"[{host}]" if ":" in host else host
        port = f":{parts.port}" if parts.port is not None else ""
        path = "/".join(part if not part or SEGMENTS.match(part) else "-" for part in parts.path.split("/"))
        return self.text(urlunsplit((parts.scheme, host + port, path, "", "")))

    def headers(self, headers: Mapping[str, str]) -> dict[str, list[str]]:
        """Return the headers that are kept, under the names by which HTTP knows them."""
        kept = {name.title(): [self.text(value)] for name, value in headers.items() if name.lower() in HEADERS}
        return dict(sorted(kept.items()))

    def response(self, body: str, form: Form = RESPONSE) -> str:
        """Return a response body as it is kept; unchanged, to the character, where nothing has to go.

        Args:
            body: its text.
            form: what is kept of it.

        Raises:
            ValueError: it is not JSON.
            RecursionError: it is nested too deep.
        """
        twice: list[bool] = []

        def members(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
            made = dict(pairs)
            twice.append(len(made) != len(pairs))  # the text holds what the value does not
            return made

        value = json.loads(body, object_pairs_hook=members)
        kept = self._kept(value, form)
        if kept == value and not any(twice):
            return body
        try:
            text = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
            text.encode("utf-8")
        except UnicodeEncodeError:  # half of a character outside of the BMP, where the token limit cut it
            text = json.dumps(kept, ensure_ascii=True, separators=(",", ":"))
        return text

    def _kept(self, value: Any, form: Form) -> Any:
        if isinstance(value, str):
            return REMOVED if form == THAT_IT_IS_THERE else self.text(value)
        if isinstance(value, list):
            items = [item for item in value if not (form == NUMBERS and isinstance(item, str))]
            return [self._kept(item, form) for item in items]
        if not isinstance(value, dict):
            return value
        if form == ANYTHING:
            return {self.text(name): self._kept(item, form) for name, item in value.items()}
        if form == NUMBERS:
            return {name: self._kept(item, form) for name, item in value.items() if not isinstance(item, str)}
        known = form if isinstance(form, Mapping) else {}
        return {name: self._kept(item, known[name]) for name, item in value.items() if name in known}


def _home() -> str:
    try:
        return str(Path.home())
    except RuntimeError:  # nobody knows where it is
        return ""
