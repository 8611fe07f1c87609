"""Wire: the same calls through the official SDKs, answered from the cassette at the transport.

It proves what `replay` takes for granted: that what the SDK puts on the wire is what the backend built, and that vcrpy
reads our files as we do. There is one client per SDK and process, whatever the number of episodes, threads and tasks;
none of them retries, waits, reads a key or a proxy from the environment, or can open a connection.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from ..cassettes.mismatch import Place
from ..cassettes.model import Cassette
from ..domain import Call, Json
from .recorded import Refusals, parsed, refuse_leftover
from .sdks import Method, method
from .transport import Episode, Transport, WireDiffers, sending

HOST: Final = "https://replay.invalid"
"""Stands in the addresses of requests; the top-level domain is reserved for names that never resolve."""


class _Road:
    """What `Wire` and `AsyncWire` have in common."""

    def __init__(self, cassette: Cassette, place: Place) -> None:
        self._place = place
        self._episode = Episode(cassette, place)
        self._refusals = Refusals(cassette.meta.unanswered)

    def finish(self) -> None:
        """Assert that every recorded interaction was used.

        Raises:
            CassetteLeftover: some were not.
        """
        refuse_leftover(self._episode.used, self._place)
        self._refusals.finish(self._place)

    @contextmanager
    def _sending(self, call: Call) -> Iterator[None]:
        self._refusals.check(call)  # of what the provider answered then nothing was kept that an SDK could be given
        with sending(self._episode, call):
            try:
                yield
            except (TypeError, ValueError) as error:
                raise WireDiffers(
                    f"step {call.step}: the SDK does not send the request that was built ({type(error).__name__}: "
                    f"{error}).\n  The recording is not at fault. Use another version of the SDK."
                ) from error
        self._refusals.calls += 1

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
            Unanswered: the provider refused to answer this call.
            WireDiffers: the SDK sends another request than *call*, or refuses to send it.
            Usage: no SDK has a method for the endpoint.
        """
        sdk = _method(call.endpoint, asynchronous=False)
        with self._sending(call):
            raw = sdk.create(**sdk.arguments(call.body))
        return self._reply(raw)


class AsyncWire(_Road):
    """`Wire` for asyncio."""

    async def send(self, call: Call) -> Json:
        """Return the recorded response to *call*; see `Wire.send`."""
        sdk = _method(call.endpoint, asynchronous=True)
        with self._sending(call):
            raw = await sdk.create(**sdk.arguments(call.body))
        return self._reply(raw)


# --- the SDKs -------------------------------------------------------------------------------------------------------

_methods: dict[tuple[str, bool], Method] = {}
_clients: dict[bool, Any] = {}
_making = threading.Lock()


def _method(endpoint: str, *, asynchronous: bool) -> Method:
    """Return the method for *endpoint*; one client per SDK and process stands behind all of them."""
    found = _methods.get((endpoint, asynchronous))
    if found is None:
        with _making:
            found = _methods[endpoint, asynchronous] = method(
                endpoint,
                http_client=_client(asynchronous),
                base_url=HOST if endpoint == "messages" else f"{HOST}/v1",
                asynchronous=asynchronous,
            )
    return found


def _client(asynchronous: bool) -> Any:
    if asynchronous not in _clients:
        import httpx2

        transport = Transport(httpx2)
        _clients[asynchronous] = transport.async_client() if asynchronous else transport.client()
    return _clients[asynchronous]
