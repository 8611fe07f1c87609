"""Wire: the same calls through the official SDKs, answered from the cassette at the transport.

It proves what `replay` takes for granted: that what the SDK puts on the wire is what the backend built, and that vcrpy
reads our files as we do. There is one client per SDK and process, whatever the number of episodes, threads and tasks;
none of them retries, waits, reads a key or a proxy from the environment, or can open a connection.
"""

from __future__ import annotations

import inspect
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any, Final

from ..cassettes.mismatch import Place
from ..cassettes.model import Cassette
from ..domain import Call, Json
from ..errors import Usage
from .recorded import parsed, refuse_leftover
from .transport import Episode, Transport, WireDiffers, sending

HOST: Final = "https://replay.invalid"
"""Stands in the addresses of requests; the top-level domain is reserved for names that never resolve."""


class _Road:
    """What `Wire` and `AsyncWire` have in common."""

    def __init__(self, cassette: Cassette, place: Place) -> None:
        self._place = place
        self._episode = Episode(cassette, place)

    def finish(self) -> None:
        """Assert that every recorded interaction was used.

        Raises:
            CassetteLeftover: some were not.
        """
        refuse_leftover(self._episode.used, self._place)

    @contextmanager
    def _sending(self, call: Call) -> Iterator[None]:
        with sending(self._episode, call):
            try:
                yield
            except (TypeError, ValueError) as error:
                raise WireDiffers(
                    f"step {call.step}: the SDK does not send the request that was built ({type(error).__name__}: "
                    f"{error}).\n  The recording is not at fault. Use another version of the SDK."
                ) from error

    def _reply(self, raw: Any) -> Json:
        return parsed(lambda: json.loads(raw.http_response.content.decode("utf-8")), "response", self._place)


class Wire(_Road):
    """Answers each call as `Replay` does, by way of an SDK (`domain.Exchange`).

    Args:
        cassette: what was recorded.
        place: where this replay stands, for messages.

    Raises:
        Corrupt: vcrpy does not read what we read, or the file changed since it was read.
    """

    def send(self, call: Call) -> Json:
        """Return the recorded response to *call*.

        Raises:
            CassetteMiss: no unused interaction has this request; `CassetteMiss.mismatch` says what differs.
            Corrupt: a recorded body is not JSON, or the recorded answer is an error.
            WireDiffers: the SDK sends another request than *call*, or refuses to send it.
            Usage: no SDK has a method for the endpoint.
        """
        method = _method(call.endpoint, asynchronous=False)
        with self._sending(call):
            raw = method.create(**method.arguments(call.body))
        return self._reply(raw)


class AsyncWire(_Road):
    """`Wire` for asyncio."""

    async def send(self, call: Call) -> Json:
        """Return the recorded response to *call*; see `Wire.send`."""
        method = _method(call.endpoint, asynchronous=True)
        with self._sending(call):
            raw = await method.create(**method.arguments(call.body))
        return self._reply(raw)


# --- the SDKs -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Method:
    """A typed method of an SDK.

    Attributes:
        create: the method; it returns the response as it came.
        names: the names of its arguments that stand in the body.
    """

    create: Callable[..., Any]
    names: frozenset[str]

    def arguments(self, body: Mapping[str, Json]) -> dict[str, Any]:
        """Return *body* as arguments; what the SDK has no argument for (anymore) goes beside them, as extra body."""
        known = {name: value for name, value in body.items() if name in self.names}
        extra = {name: value for name, value in body.items() if name not in self.names}
        return {**known, "extra_body": extra} if extra else known


_NOT_IN_THE_BODY = frozenset({"extra_headers", "extra_query", "extra_body", "timeout"})
_methods: dict[tuple[str, bool], _Method] = {}
_making = threading.Lock()


def _method(endpoint: str, *, asynchronous: bool) -> _Method:
    found = _methods.get((endpoint, asynchronous))
    if found is None:
        with _making:
            found = _methods[endpoint, asynchronous] = _make_method(endpoint, asynchronous)
    return found


def _make_method(endpoint: str, asynchronous: bool) -> _Method:
    if endpoint not in _SDKS:
        raise Usage(f"no SDK's method sends {endpoint!r}: only {', '.join(_SDKS)} can be replayed over the wire.")
    client, path = _SDKS[endpoint]
    create = attrgetter(f"{path}.with_raw_response.create")(client(asynchronous))
    return _Method(create, frozenset(inspect.signature(create).parameters) - _NOT_IN_THE_BODY)


@cache
def _openai(asynchronous: bool) -> Any:
    import openai

    kind: Any = openai.AsyncOpenAI if asynchronous else openai.OpenAI
    client = kind(api_key="none", base_url=f"{HOST}/v1", **_common(asynchronous))
    client.organization = client.project = None  # what OPENAI_ORG_ID and OPENAI_PROJECT_ID said
    return _unmoved(client)


@cache
def _anthropic(asynchronous: bool) -> Any:
    import anthropic

    kind: Any = anthropic.AsyncAnthropic if asynchronous else anthropic.Anthropic
    # Newer versions trace prompts into whatever OpenTelemetry exporter the process has; older ones know no such option.
    untraced = {"open_telemetry": False} if "open_telemetry" in inspect.signature(kind).parameters else {}
    return _unmoved(kind(api_key="none", base_url=HOST, **untraced, **_common(asynchronous)))


def _common(asynchronous: bool) -> dict[str, Any]:
    import httpx2

    transport = Transport(httpx2)
    http_client = transport.async_client() if asynchronous else transport.client()
    return {"http_client": http_client, "max_retries": 0, "timeout": None}


def _unmoved(client: Any) -> Any:
    """Return *client* without the headers of OPENAI_CUSTOM_HEADERS and the like, which no argument turns off."""
    client._custom_headers = {}
    return client


_SDKS: Final[Mapping[str, tuple[Callable[[bool], Any], str]]] = {
    "chat/completions": (_openai, "chat.completions"),
    "completions": (_openai, "completions"),
    "messages": (_anthropic, "messages"),
}
"""Logical endpoint -> who makes the client, and where in it the method `create` is."""
