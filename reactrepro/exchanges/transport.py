"""Transport: the place where an SDK's requests leave it, and where a recording answers them, through vcrpy.

One transport class stands under every SDK. Nothing is patched: which recording answers a request is a property of the
context that makes it (a `ContextVar`), so any number of threads and tasks share one client. An `Episode` drives vcrpy's
own `Cassette`, loaded by vcrpy's own serializer from the very bytes that our reader accepted; only the matcher and the
report on a miss are ours.

A transport that replays has no way out: there is no other transport inside it that a request could be handed on to.
One that records has one, and hands every reply to a `Recorder` before the SDK gets to see it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import yaml
from vcr.cassette import Cassette as VcrCassette  # type: ignore[import-untyped]
from vcr.errors import UnhandledHTTPRequestError  # type: ignore[import-untyped]
from vcr.record_mode import RecordMode  # type: ignore[import-untyped]
from vcr.request import Request as VcrRequest  # type: ignore[import-untyped]
from vcr.serialize import deserialize  # type: ignore[import-untyped]

from ..cassettes.matching import differences, endpoint, same
from ..cassettes.mismatch import Place
from ..cassettes.model import Cassette
from ..cassettes.read import MAX_CASSETTE, parse_cassette, read_bytes
from ..cassettes.write import cassette_bytes
from ..domain import Call, Json
from ..errors import Corrupt, ReactReproError, Usage
from .bodies import Answer, content_type, handed_on, json_or_text, unpacked
from .recorded import miss, parsed, refuse_error
from .recorder import Recorder
from .refusals import NoReply


class WireDiffers(ReactReproError):
    """The request that an SDK puts on the wire is not the one that the backend built.

    Attributes:
        fatal: it is the same for every episode.
    """

    kind = "wire differs"
    fatal = True


class Episode:
    """One recorded episode under replay. May be shared by threads and tasks.

    Equal requests are answered in recorded order, each recorded reply once.

    Args:
        cassette: what was recorded. Where it was read from a file, that file is read once more, by our checks and
            then by vcrpy.
        place: where this replay stands, for messages.

    Raises:
        Corrupt: vcrpy does not read what we read, or the file changed in between.
        CassetteAbsent: the file is gone.
    """

    def __init__(self, cassette: Cassette, place: Place) -> None:
        self._cassette = cassette
        self._place = place
        self._lock = threading.Lock()
        self._sent: Json = None
        self._vcr = _through_vcrpy(cassette, place, self._matches)
        self._numbers = {id(request): number for number, request in enumerate(self._vcr.requests)}

    @property
    def used(self) -> list[bool]:
        """For each interaction, whether it has answered a request."""
        return [self._vcr.play_counts[number] > 0 for number in range(len(self._cassette.interactions))]

    def answer(self, request: Any, call: Call | None = None) -> Answer:
        """Return the recorded answer to *request*.

        Args:
            request: vcrpy's form of what is on the wire.
            call: what the backend built, which has to be on the wire unchanged; None where nobody says.

        Raises:
            CassetteMiss: no unused interaction has this request; `CassetteMiss.mismatch` says what differs.
            Corrupt: a recorded request body is not JSON, or the recorded answer is an error.
            WireDiffers: the wire has another request than *call*.
        """
        sent = json_or_text(request.body)
        if call is not None:
            _refuse_other(request, sent, call)
        with self._lock:
            before = self.used
            self._sent = sent
            try:
                response = self._vcr.play_response(request)
            except UnhandledHTTPRequestError:
                call = call or Call(endpoint(request.uri), sent, sum(before) + 1)
                raise miss(self._cassette, before, call, self._place) from None
            number = next(n for n, (was, now) in enumerate(zip(before, self.used, strict=True)) if was != now)
        interaction = self._cassette.interactions[number]
        refuse_error(interaction, number + 1, self._place)
        return Answer(response["status"]["code"], response["body"]["string"], content_type(response["headers"]))

    def _matches(self, sent: Any, recorded: Any) -> bool:
        """Our matcher, as vcrpy calls it: method, logical endpoint, and the body by its meaning."""
        if sent.method != recorded.method or endpoint(sent.uri) != endpoint(recorded.uri):
            return False
        interaction = self._cassette.interactions[self._numbers[id(recorded)]]
        return same(parsed(lambda: interaction.request_json, "request", self._place), self._sent)


@dataclass(slots=True)
class _Sending:
    """One call under way: who answers or keeps it, what was built, and what the transport raised."""

    episode: Episode | Recorder
    call: Call | None
    error: Exception | None = None


_current: ContextVar[_Sending | None] = ContextVar("reactrepro_sending", default=None)


@contextmanager
def sending(episode: Episode | Recorder, call: Call) -> Iterator[None]:
    """Have *episode* answer, or keep, *call*, which an SDK sends inside; no SDK can hide why that failed.

    SDKs turn what a transport raises into "Connection error.", or retry. Whatever they make of it, what comes out of
    here is the transport's own error.

    Raises:
        ReactReproError: as `Episode.answer`.
        OSError: as `Recorder.keep`.
    """
    under_way = _Sending(episode, call)
    token = _current.set(under_way)
    try:
        yield
    except Exception:
        if under_way.error is None:
            raise
    finally:
        _current.reset(token)
    if under_way.error is not None:
        raise under_way.error from None


class Transport:
    """A transport, synchronous and asynchronous, for the clients of httpx2 or httpx.

    Args:
        httpx: the module whose clients use it: ``httpx2``, or ``httpx``.
        episode: who answers every request; None for the episode of the `sending` that is under way.
        inner: the transport that reaches the network, for recording; None for replaying, which has no way out.
        longest: seconds that a recorded call may take in all, however steadily its answer trickles in; None: no limit.
    """

    def __init__(
        self, httpx: ModuleType, episode: Episode | None = None, inner: Any = None, longest: float | None = None
    ) -> None:
        self._httpx: Any = httpx
        self._episode = episode
        self._inner = inner
        self._longest = longest

    def client(self) -> Any:
        """Return a synchronous client on this transport, which takes nothing from the environment."""
        return self._httpx.Client(transport=self, trust_env=False)

    def async_client(self) -> Any:
        """Return an asynchronous client on this transport, which takes nothing from the environment."""
        return self._httpx.AsyncClient(transport=self, trust_env=False)

    def handle_request(self, request: Any) -> Any:
        """Return the recorded response to *request*.

        Raises:
            ReactReproError: as `Episode.answer`.
            Usage: no episode is under way.
        """
        body = request.read()
        if self._inner is None:
            return self._respond(request, body)
        began = time.monotonic()
        response = self._inner.handle_request(request)
        try:
            raw = self._received(response, began)
        finally:
            response.close()
        return self._keep(request, body, response, raw)

    async def handle_async_request(self, request: Any) -> Any:
        """Return the recorded response to *request*; see `handle_request`."""
        if self._inner is not None:
            raise Usage("recording is synchronous.")
        return self._respond(request, await request.aread())

    def _respond(self, request: Any, body: bytes) -> Any:
        under_way = _current.get() if self._episode is None else _Sending(self._episode, None)
        if under_way is None:
            raise Usage("no recording is being replayed here: this transport answers inside `sending` only.")
        try:
            asked = VcrRequest(request.method, str(request.url), body, dict(request.headers))
            if isinstance(under_way.episode, Recorder):
                raise Usage("a recording needs a transport that reaches the network; this one replays.")
            answer = under_way.episode.answer(asked, under_way.call)
        except Exception as error:
            under_way.error = error
            raise
        stream = self._httpx.ByteStream(answer.body)
        return self._httpx.Response(answer.status, headers={"content-type": answer.content_type}, stream=stream)

    def _received(self, response: Any, began: float) -> bytes:
        pieces, size = [], 0
        for piece in response.stream:
            pieces.append(piece)
            size += len(piece)
            if size > MAX_CASSETTE:
                raise self._httpx.ReadError(f"more than {MAX_CASSETTE} bytes")
            if self._longest is not None and time.monotonic() - began > self._longest:
                raise self._httpx.ReadTimeout(f"not complete after {self._longest:g} s")
        return b"".join(pieces)

    def _keep(self, request: Any, body: bytes, response: Any, raw: bytes) -> Any:
        """Record a reply that came over the network, and hand it on; what is no reply is never recorded.

        An error's status and body are handed on to the SDK, which knows what they mean.
        """
        under_way = _current.get()
        if under_way is None or not isinstance(under_way.episode, Recorder):
            raise Usage("nothing is being recorded here: this transport sends inside `sending` only.")
        whole = self._httpx.Response(
            response.status_code, headers=response.headers, stream=self._httpx.ByteStream(raw), request=request
        )
        kept = handed_on(whole.headers)
        if whole.status_code >= 300:
            return self._httpx.Response(whole.status_code, headers=kept, stream=self._httpx.ByteStream(unpacked(whole)))
        try:
            asked = VcrRequest(request.method, str(request.url), body, dict(request.headers))
            sent = json_or_text(body)
            if under_way.call is not None:
                _refuse_other(asked, sent, under_way.call)
            text = under_way.episode.keep(asked, sent, dict(whole.headers), self._text(whole))
        except Exception as error:
            under_way.error = error
            raise
        return self._httpx.Response(200, headers=kept, stream=self._httpx.ByteStream(text.encode("utf-8")))

    def _text(self, response: Any) -> str:
        """Return the text of an answer that looks like a reply.

        Raises:
            NoReply: another status than 200, or a body that does not unpack or is no text.
        """
        if response.status_code != 200:
            raise NoReply(f"an answer with status {response.status_code}", strange=True)
        try:
            return str(response.read().decode("utf-8-sig"))
        except (UnicodeDecodeError, self._httpx.DecodingError):
            raise NoReply("an answer with status 200 that does not unpack, or is not UTF-8") from None

    def close(self) -> None:
        """Close what is inside; in a replay nothing is."""
        if self._inner is not None:
            self._inner.close()

    async def aclose(self) -> None:
        """Close nothing."""

    def __enter__(self) -> Transport:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Transport:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


# --- a cassette of ours as vcrpy's own ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Checked:
    """vcrpy's persister, over bytes that our own reader has accepted."""

    data: bytes

    def load_cassette(self, _: Any, serializer: Any) -> Any:
        """Return requests and responses, as vcrpy's persisters do."""
        return deserialize(self.data.decode("utf-8"), serializer)


def _through_vcrpy(cassette: Cassette, place: Place, matcher: Any) -> Any:
    persister = _Checked(_bytes(cassette))
    try:
        loaded = VcrCassette.load(
            path=place.file, persister=persister, record_mode=RecordMode.NONE, match_on=(matcher,)
        )
        read = [
            (request.method, request.uri, request.body.decode(), response["status"]["code"], response["body"]["string"])
            for request, response in loaded.data
        ]
    except (yaml.YAMLError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise Corrupt(f"{place.file}: vcrpy does not read it ({type(error).__name__}: {error}).") from error
    ours = [(i.method, i.uri, i.body, i.status, i.response.encode()) for i in cassette.interactions]
    if read != ours:
        raise Corrupt(f"{place.file}: vcrpy reads other interactions in it than reactrepro does. Record it again.")
    return loaded


def _bytes(cassette: Cassette) -> bytes:
    if cassette.path is None:
        return cassette_bytes(cassette)
    data = read_bytes(cassette.path, MAX_CASSETTE)
    if parse_cassette(data, cassette.path).interactions != cassette.interactions:
        raise Corrupt(f"{cassette.path} changed while it was being replayed. Replay it again.")
    return data


def _refuse_other(request: Any, sent: Json, call: Call) -> None:
    where = [difference.path for difference in differences(call.body, sent)]
    if request.method != "POST" or endpoint(request.uri) != call.endpoint:
        where.insert(0, f"(endpoint: {request.method} {endpoint(request.uri)} for POST {call.endpoint})")
    if where:
        raise WireDiffers(
            f"step {call.step}: the SDK sends another request than the one that was built.\n"
            f"  They differ at {', '.join(where[:3])}{' and elsewhere' if where[3:] else ''}.\n"
            "  The recording is not at fault. Use a version of the SDK that sends what it is given."
        )
