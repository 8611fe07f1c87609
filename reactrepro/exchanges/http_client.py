"""HTTP clients that record or replay what any agent exchanges with its models: for ``OpenAI(http_client=...)`` and
``Anthropic(http_client=...)``. docs/any-agent.md tells how to use them.

A client that replays has no way out: no transport that could reach a network is inside of it.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeAlias, cast

import httpx2

from ..errors import Usage
from .agent_record import Recording
from .agent_replay import Replaying
from .agent_transport import AsyncRecordTransport, RecordTransport, ReplayTransport, caused

Mode: TypeAlias = Literal["replay", "record"]


class _Ending:
    """What a client of ours has beside what a client has."""

    reactrepro_session: Replaying | Recording

    def finish(self) -> None:
        """End the replay or the recording; leaving the client's ``with`` does it, unless an exception is under way.

        A replay that ends well was answered all along, and every recorded reply was asked for. A recording is put in
        its place here.

        Raises:
            CassetteMiss: a request was not recorded, and somebody swallowed the error.
            CassetteLeftover: recorded replies were not asked for.
            InfraError: a request got no reply; the recording is incomplete, and stays in ``<name>.part``.
            Usage: nothing was recorded, or a request is still under way.
            DiskError: the recording could not be written.
        """
        self.reactrepro_session.finish()

    def _end(self, error: BaseException | None) -> None:
        found = self.reactrepro_session.error
        if error is None:
            self.finish()
        elif found is not None and isinstance(error, Exception) and error is not found and caused(error, found):
            raise found from None  # "Connection error." says nothing


class HttpClient(_Ending, httpx2.Client):
    """A client of `http_client`."""

    def __exit__(self, *exception: Any) -> None:
        try:
            try:
                self._end(exception[1])
            finally:
                super(_Ending, self).__exit__(*exception)
        finally:
            self.reactrepro_session.release()


class AsyncHttpClient(_Ending, httpx2.AsyncClient):
    """A client of `async_http_client`."""

    async def __aexit__(self, *exception: Any) -> None:
        try:
            try:
                self._end(exception[1])
            finally:
                await super(_Ending, self).__aexit__(*exception)
        finally:
            self.reactrepro_session.release()


def http_client(
    cassette: str | os.PathLike[str],
    mode: Mode = "replay",
    *,
    allow_leftover: bool = False,
    secrets: Iterable[str] = (),
    transport: Any = None,
    httpx: ModuleType = httpx2,
) -> HttpClient:
    """Return a client that answers from *cassette*, or records into it; threads may share it.

    Use it in a ``with``; see `HttpClient.finish` for what happens at its end.

    Args:
        cassette: the file.
        mode: ``replay`` never reaches a network, and needs no key. ``record`` asks the server, and puts a new
            recording in the file's place when it is complete.
        allow_leftover: a replay may end before every recorded reply was asked for.
        secrets: what must not be written. The keys that requests are sent with, and those in the environment, are
            known.
        transport: reaches the network for a recording; without it proxies and certificates are the environment's.
        httpx: the module whose client is made. The SDKs use ``httpx2``; others may want ``httpx``.

    Raises:
        CassetteAbsent: there is nothing to replay.
        Corrupt: the file, or what an attempt that was broken off left of it, is damaged or unsafe.
        Usage: no such mode; or somebody else is recording the file.
        DiskError: nothing can be written there.
    """
    session = _session(cassette, mode, allow_leftover, secrets)
    inner: Any = ReplayTransport(httpx, session) if isinstance(session, Replaying) else None
    if isinstance(session, Recording):
        inner = RecordTransport(httpx, session, _network(httpx, httpx.Client, transport, session))
    client = _kind(HttpClient, httpx.Client)(transport=inner, trust_env=False)
    client.reactrepro_session = session
    return cast(HttpClient, client)


def async_http_client(
    cassette: str | os.PathLike[str],
    mode: Mode = "replay",
    *,
    allow_leftover: bool = False,
    secrets: Iterable[str] = (),
    transport: Any = None,
    httpx: ModuleType = httpx2,
) -> AsyncHttpClient:
    """Return what `http_client` does, for ``AsyncOpenAI`` and ``AsyncAnthropic``; tasks may share it.

    Use it in an ``async with``. *transport* has to be asynchronous.
    """
    session = _session(cassette, mode, allow_leftover, secrets)
    inner: Any = ReplayTransport(httpx, session) if isinstance(session, Replaying) else None
    if isinstance(session, Recording):
        inner = AsyncRecordTransport(httpx, session, _network(httpx, httpx.AsyncClient, transport, session))
    client = _kind(AsyncHttpClient, httpx.AsyncClient)(transport=inner, trust_env=False)
    client.reactrepro_session = session
    return cast(AsyncHttpClient, client)


def _session(
    cassette: str | os.PathLike[str], mode: str, allow_leftover: bool, secrets: Iterable[str]
) -> Replaying | Recording:
    if mode == "replay":
        return Replaying(Path(cassette), allow_leftover=allow_leftover)
    if mode == "record":
        return Recording(Path(cassette), secrets=secrets)
    raise Usage(f'there is no mode {mode!r}: use "replay" or "record".')


@functools.cache
def _kind(ours: Any, theirs: Any) -> Any:
    """Return *ours* over the client *theirs*, which may be another module's."""
    if issubclass(ours, theirs):
        return ours
    members = {name: value for name, value in vars(ours).items() if name not in ("__dict__", "__weakref__")}
    return type(ours.__name__, (_Ending, theirs), members)


@functools.cache
def _certificates(httpx: Any) -> Any:
    return httpx.create_ssl_context()  # 0.1 s, and for each episode a client is made


def _network(httpx: Any, kind: Any, transport: Any, session: Recording) -> Any:
    """Return the client that a recording asks through: the SDKs' own limits, and no redirects: keys do not follow them.

    Raises:
        Usage: the proxy that the environment names cannot be used.
    """
    limits = httpx.Limits(max_connections=1000, max_keepalive_connections=100)
    reached = (
        {"transport": transport, "trust_env": False} if transport is not None else {"verify": _certificates(httpx)}
    )
    try:
        return kind(limits=limits, follow_redirects=False, **reached)
    except (ValueError, ImportError, httpx.InvalidURL):  # whose words hold the address, maybe a password
        session.release()
        raise Usage(
            "the proxy that the environment names cannot be used. Change HTTPS_PROXY, HTTP_PROXY or ALL_PROXY, or name "
            "the server in NO_PROXY."
        ) from None
