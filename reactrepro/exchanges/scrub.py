"""What of an exchange may stand in a recording. Allow-lists: what is not named here is not written.

A secret has many ways into a recording: a header, a query string, a server that echoes the key, a request id in a body.
Rather than list them, this module lists what a replay and its readers need.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from ..errors import Corrupt

HEADERS = frozenset({"content-type"})
"""The headers that are kept, of requests and responses."""

RESPONSE_FIELDS = frozenset(
    {
        "choices",
        "content",
        "created",
        "model",
        "object",
        "role",
        "stop_reason",
        "stop_sequence",
        "system_fingerprint",
        "type",
        "usage",
    }
)
"""The top-level fields of a response that are kept. Ids of requests, responses and accounts are not among them."""

REMOVED = "[removed]"
_SHORTEST = 6
"""A secret of fewer characters is no secret, and replacing it would spoil text."""


class Scrubber:
    """Removes what must not be written.

    Args:
        secrets: values that must not be written wherever they stand: keys above all.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = sorted({s for s in secrets if len(s) >= _SHORTEST}, key=len, reverse=True)
        home = str(Path.home())
        self._home = f"{home}/" if len(home) > 1 else ""

    def text(self, text: str) -> str:
        """Return *text* without secrets and without the user's home folder."""
        for secret in self._secrets:
            text = text.replace(secret, REMOVED)
            text = text.replace(json.dumps(secret)[1:-1], REMOVED)
        return text.replace(self._home, "~/") if self._home else text

    def refuse(self, data: bytes, where: str) -> None:
        """Assert that *data*, which is about to be written, holds no secret. The last line of defence.

        Raises:
            Corrupt: it does; it was not written.
        """
        for secret in self._secrets:
            if secret.encode("utf-8") in data or json.dumps(secret)[1:-1].encode("ascii") in data:
                raise Corrupt(f"{where} was not written: it would hold a key. That is an error of this program.")

    def uri(self, uri: str) -> str:
        """Return scheme, host, port and path of *uri*: no credentials, no query, no fragment."""
        parts = urlsplit(uri)
        host = parts.hostname or ""
        host = f"[{host}]" if ":" in host else host
        port = f":{parts.port}" if parts.port is not None else ""
        return self.text(urlunsplit((parts.scheme, host + port, parts.path, "", "")))

    def headers(self, headers: Mapping[str, str]) -> dict[str, list[str]]:
        """Return the headers that are kept, under the names by which HTTP knows them."""
        kept = {name.title(): [self.text(value)] for name, value in headers.items() if name.lower() in HEADERS}
        return dict(sorted(kept.items()))

    def response(self, body: str) -> str:
        """Return a response body with the fields that are kept; unchanged, to the character, where it has no others."""
        body = self.text(body)
        try:
            value: Any = json.loads(body)
        except (ValueError, RecursionError):
            return body
        if not isinstance(value, dict) or value.keys() <= RESPONSE_FIELDS:
            return body
        kept = {name: item for name, item in value.items() if name in RESPONSE_FIELDS}
        return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
