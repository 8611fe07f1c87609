"""Recorder: what goes over the wire, kept through vcrpy's Cassette, scrubbed, and saved whole after each reply."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vcr.cassette import Cassette as VcrCassette  # type: ignore[import-untyped]
from vcr.record_mode import RecordMode  # type: ignore[import-untyped]
from vcr.request import Request as VcrRequest  # type: ignore[import-untyped]

from ..cassettes.model import Interaction
from ..cassettes.text import body_json
from ..domain import Json
from ..errors import Corrupt, InfraError
from .refusals import NoReply, said_by
from .scrub import Scrubber


class Recorder:
    """The interactions of one episode under recording (used by one thread at a time).

    Args:
        interactions: what is recorded already, from an earlier attempt.
        save: called with all interactions after each new one; the next call is made only when it has returned.
        scrubber: decides what may be written.
        accept: called with each new reply's JSON; raises `Corrupt` or `InfraError` for what is none.

    Attributes:
        interactions: all of them, in order.
        added: how many of them this recorder has recorded.
    """

    def __init__(
        self,
        interactions: Sequence[Interaction],
        save: Callable[[tuple[Interaction, ...]], None],
        scrubber: Scrubber,
        accept: Callable[[Json], object] = lambda _: None,
    ) -> None:
        self.interactions = list(interactions)
        self.added = 0
        self._save = save
        self._scrubber = scrubber
        self._accept = accept
        self._vcr = VcrCassette(
            path="",
            record_mode=RecordMode.ALL,
            before_record_request=self._request,
            before_record_response=self._response,
        )

    def keep(self, request: Any, body: Json, headers: Mapping[str, str], text: str) -> str:
        """Record one reply and save; return its text as it was recorded, which is what the SDK gets to see.

        Args:
            request: vcrpy's form of what was on the wire.
            body: the request's JSON body, parsed.
            headers, text: of the response, whose status was 200; the text decoded and decompressed.

        Raises:
            NoReply: it is none; nothing was recorded.
            OSError: it could not be saved; nothing that was on disk is lost.
        """
        self._check(text)
        response = {
            "status": {"code": 200, "message": "OK"},
            "headers": {name: [value] for name, value in headers.items()},
            "body": {"string": text.encode("utf-8")},
        }
        self._vcr.append(request, response)
        asked, answered = self._vcr.data[-1]
        interaction = Interaction(
            method=asked.method,
            uri=asked.uri,
            body=body_json(body),
            status=answered["status"]["code"],
            response=answered["body"]["string"].decode("utf-8"),
            request_headers=self._scrubber.headers(dict(asked.headers)),
            response_headers=answered["headers"],
            reason=answered["status"]["message"],
        )
        self.interactions.append(interaction)
        self.added += 1
        self._save(tuple(self.interactions))
        return interaction.response

    def drop_from(self, number: int) -> None:
        """Forget the interactions from *number* (0-based) on; they are not what is asked for anymore."""
        del self.interactions[number:]

    def _check(self, text: str) -> None:
        try:
            value = json.loads(text)
            self._scrubber.response(text)
        except (ValueError, RecursionError) as error:
            begins = text.strip()[:1]
            strange = begins not in ("", "{")
            what = "no JSON at all" if strange else f"not readable JSON ({type(error).__name__})" if begins else "empty"
            raise NoReply(f"an answer with status 200 that is {what}", strange=strange) from None
        if isinstance(value, dict) and value.get("error"):
            said = self._scrubber.said(said_by(value))
            raise NoReply("an error inside of an answer with status 200" + (f": {said}" if said else ""), body=value)
        try:
            self._accept(value)
        except (Corrupt, InfraError) as error:
            raise NoReply(f"an answer with status 200 that is no reply: {self._scrubber.said(str(error))}") from None

    def _request(self, request: Any) -> Any:
        headers = {name: values[0] for name, values in self._scrubber.headers(dict(request.headers)).items()}
        return VcrRequest(request.method, self._scrubber.uri(request.uri), request.body, headers)

    def _response(self, response: dict[str, Any]) -> dict[str, Any]:
        plain = {name: values[0] for name, values in response["headers"].items()}
        text = self._scrubber.response(response["body"]["string"].decode("utf-8"))
        return {
            "status": response["status"],
            "headers": self._scrubber.headers(plain),
            "body": {"string": text.encode("utf-8")},
        }
