"""Transports under the clients of `http_client`: from an SDK to a recording, and from a server to both.

A transport that replays has no way out: no other one is inside of it that a request could be handed on to.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio.to_thread

from ..cassettes.read import MAX_CASSETTE
from ..errors import ReactReproError
from .agent_record import Recording
from .agent_replay import Asked, Replaying
from .bodies import Answer, handed_on, unpacked
from .events import Events


def for_sdks(error: ReactReproError) -> ReactReproError:
    """Return *error* as one that the SDKs at hand let pass.

    Whatever a transport raises they take for a broken connection, try again after a wait, and in the end say
    "Connection error."; only errors of their own base class they hand on.
    """
    bases = [
        getattr(sys.modules[name], base)
        for name, base in (("openai", "OpenAIError"), ("anthropic", "AnthropicError"))
        if hasattr(sys.modules.get(name), base)
    ]
    kind: Any = type(error)
    made = _passing(kind, *bases) if bases else kind
    passing: ReactReproError = made.__new__(made, *error.args)
    vars(passing).update(vars(error))
    return passing


@functools.cache
def _passing(kind: Any, *bases: Any) -> Any:
    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__, "__doc__": kind.__doc__}
    return type(kind.__name__, (kind, *bases), names)


def caused(error: BaseException, found: BaseException) -> bool:
    """Tell whether *error* came of *found*, or of what `for_sdks` made of it."""
    seen: set[int] = set()
    step: BaseException | None = error
    while step is not None and id(step) not in seen:
        if step.args == found.args and isinstance(step, type(found)):
            return step is not error
        seen.add(id(step))
        step = step.__cause__ or step.__context__
    return False


def _hurried() -> bool:
    """Tell whether the user or a cancellation wants an end, so that nothing is waited for."""
    error = sys.exc_info()[1]
    return error is not None and not isinstance(error, Exception | GeneratorExit)


# --- transports -----------------------------------------------------------------------------------------------------


class _Transport:
    """What all of them have in common."""

    def __init__(self, httpx: Any) -> None:
        self._httpx = httpx

    def _played(self, answer: Answer) -> Any:
        stream = self._httpx.ByteStream(answer.body)
        return self._httpx.Response(answer.status, headers={"content-type": answer.content_type}, stream=stream)

    def close(self) -> None:
        """Close nothing."""

    async def aclose(self) -> None:
        """Close nothing."""

    def __enter__(self) -> _Transport:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> _Transport:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class ReplayTransport(_Transport):
    """Answers from a recording, synchronously and asynchronously."""

    def __init__(self, httpx: Any, session: Replaying) -> None:
        super().__init__(httpx)
        self._session = session

    def handle_request(self, request: Any) -> Any:
        """Return the recorded response to *request*.

        Raises:
            ReactReproError: as `Replaying.answer`.
        """
        return self._answered(request, request.read())

    async def handle_async_request(self, request: Any) -> Any:
        """Return the recorded response to *request*; see `handle_request`."""
        return self._answered(request, await request.aread())

    def _answered(self, request: Any, body: bytes) -> Any:
        try:
            return self._played(self._session.answer(Asked.of(request.method, str(request.url), body)))
        except ReactReproError as error:
            raise for_sdks(error) from None


class _Recorded(_Transport):
    """What the recording transports have in common.

    Args:
        httpx: the module whose clients they serve.
        session: the recording.
        network: the client that asks.
    """

    def __init__(self, httpx: Any, session: Recording, network: Any) -> None:
        super().__init__(httpx)
        self._session, self._network = session, network

    def _begin(self, request: Any, body: bytes) -> tuple[Asked, Any]:
        """Return the request, and the response that an earlier attempt got to it, or None."""
        asked = Asked.of(request.method, str(request.url), body)
        try:
            answer = self._session.begin(asked, request.headers)
        except ReactReproError as error:
            raise for_sdks(error) from None
        return asked, None if answer is None else self._played(answer)

    def _take(self, asked: Asked, response: Any, body: bytes) -> Any:
        try:
            text = self._session.take(asked, response.status_code, response.headers, body)
        except ReactReproError as error:
            raise for_sdks(error) from None
        stream = self._httpx.ByteStream(text)
        return self._httpx.Response(response.status_code, headers=handed_on(response.headers), stream=stream)

    def _checked(self, size: int) -> None:
        if size > MAX_CASSETTE:
            raise self._httpx.ReadError(f"more than {MAX_CASSETTE} bytes")


class RecordTransport(_Recorded):
    """Asks the server, and records its replies."""

    def handle_request(self, request: Any) -> Any:
        """Return the server's response to *request*; a reply is on the disk by then, a stream before its end."""
        asked, answered = self._begin(request, request.read())
        if answered is not None:
            return answered
        try:
            response = self._network.send(request, stream=True)
            if _streams(response):
                return self._httpx.Response(
                    200, headers=handed_on(response.headers), stream=self._stream(asked, response)
                )
            try:
                body = self._received(response) if response.status_code == 200 else unpacked(response)
            finally:
                response.close()
        except BaseException as error:
            self._session.fail(asked, type(error).__name__)
            raise
        return self._take(asked, response, body)

    def _received(self, response: Any) -> bytes:
        pieces, size = [], 0
        for piece in response.iter_bytes():
            pieces.append(piece)
            size += len(piece)
            self._checked(size)
        return b"".join(pieces)

    def _stream(self, asked: Asked, response: Any) -> Any:
        return _stream_kind(_Stream, self._httpx.SyncByteStream)(self._session, asked, response)

    def close(self) -> None:
        """Close the connections."""
        self._network.close()
        self._session.closed()


class AsyncRecordTransport(_Recorded):
    """`RecordTransport` for asyncio and trio. What waits for a disk waits in a thread."""

    async def handle_async_request(self, request: Any) -> Any:
        """Return the server's response to *request*; see `RecordTransport.handle_request`."""
        asked, answered = self._begin(request, await request.aread())
        if answered is not None:
            return answered
        try:
            response = await self._network.send(request, stream=True)
            if _streams(response):
                return self._httpx.Response(
                    200, headers=handed_on(response.headers), stream=self._stream(asked, response)
                )
            try:
                body = await self._received(response)
            finally:
                await response.aclose()
        except BaseException as error:
            self._session.fail(asked, type(error).__name__)
            raise
        try:
            return await anyio.to_thread.run_sync(self._take, asked, response, body)
        except BaseException as error:
            self._session.fail(asked, type(error).__name__)  # cancelled before the thread began
            raise

    async def _received(self, response: Any) -> bytes:
        pieces, size = [], 0
        try:
            async for piece in response.aiter_bytes():
                pieces.append(piece)
                size += len(piece)
                self._checked(size)
        except self._httpx.DecodingError:
            if response.status_code == 200:
                raise
            return b""
        return b"".join(pieces)

    def _stream(self, asked: Asked, response: Any) -> Any:
        return _stream_kind(_AsyncStream, self._httpx.AsyncByteStream)(self._session, asked, response)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._network.aclose()
        self._session.closed()


# --- streams --------------------------------------------------------------------------------------------------------


def _streams(response: Any) -> bool:
    kind: str = response.headers.get("content-type", "")
    return bool(response.status_code == 200) and kind.partition(";")[0].strip().lower() == "text/event-stream"


@functools.cache
def _stream_kind(ours: type, theirs: type) -> type:
    return type(ours.__name__, (ours, theirs), {})


class _Passing:
    """A streamed reply on its way: each event is handed on as it comes, the end when the whole is on the disk."""

    def __init__(self, session: Recording, asked: Asked, response: Any) -> None:
        self._session, self._asked, self._response = session, asked, response
        self._events: Events = session.events(asked)
        self._settled = False
        self._size = 0

    def _feed(self, piece: bytes) -> bytes:
        self._size += len(piece)
        if self._size > MAX_CASSETTE:
            self._events.problem = self._events.problem or f"a stream of more than {MAX_CASSETTE} bytes"
        return self._events.feed(piece)

    def _settle(self) -> bytes:
        self._settled = True
        try:
            return self._session.settle(self._asked, self._response.headers, self._events)
        except ReactReproError as error:
            raise for_sdks(error) from None

    def _fail(self, why: str) -> None:
        if not self._settled:
            self._settled = True
            self._session.fail(self._asked, why)


class _Stream(_Passing):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._pieces: Iterator[bytes] = self._response.iter_bytes()

    def __iter__(self) -> Iterator[bytes]:
        try:
            for piece in self._pieces:
                if made := self._feed(piece):
                    yield made
        except GeneratorExit:
            raise  # left early: `close` reads the rest
        except BaseException as error:
            self._fail(type(error).__name__)
            raise
        if made := self._events.end():
            yield made
        if not self._settled and (made := self._settle()):
            yield made

    def close(self) -> None:
        """Read and record the rest, which who left the stream early would ask for in vain in a replay."""
        try:
            if not self._settled and not _hurried():
                for _ in self:
                    pass
        except ReactReproError:
            raise
        except Exception:  # the network's; noted, and nobody reads on
            self._fail("a stream that was cut off")
        finally:
            self._fail("a stream that was left before its end")
            self._response.close()


class _AsyncStream(_Passing):
    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._pieces: AsyncIterator[bytes] = self._response.aiter_bytes()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for piece in self._pieces:
                if made := self._feed(piece):
                    yield made
        except GeneratorExit:
            raise
        except BaseException as error:
            self._fail(type(error).__name__)
            raise
        if made := self._events.end():
            yield made
        if not self._settled and (made := await anyio.to_thread.run_sync(self._settle)):
            yield made

    async def aclose(self) -> None:
        """Read and record the rest; see `_Stream.close`."""
        try:
            if not self._settled and not _hurried():
                async for _ in self:
                    pass
        except ReactReproError:
            raise
        except Exception:
            self._fail("a stream that was cut off")
        finally:
            self._fail("a stream that was left before its end")
            await self._response.aclose()
