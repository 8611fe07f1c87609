"""Live: calls go to a server through the official SDK; each reply is safe on disk before it is used.

The only exchange that can cost money. Transport errors are tried again here, outside of the recorder, and never stored.
"""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from ..cassettes.matching import endpoint, same
from ..cassettes.mismatch import Place
from ..cassettes.model import Cassette, UnansweredRef
from ..domain import Call, Json
from ..errors import Corrupt, InfraError, Interrupted, Unanswered, Usage
from .meter import Meter, Unmetered, metered
from .recorded import Refusals, miss, parsed, refuse_error
from .recorder import Recorder
from .refusals import NoReply, ProviderError, code_of, is_unpaid, refusal, unanswered
from .retries import MANY, Breaker, Gate, Patience, is_retryable, is_shared
from .scrub import Scrubber
from .sdks import Method, method
from .transport import Transport, sending

MOST = 64
"""Connections that are kept open, at most: no recording has more calls under way."""

CONNECT = 30.0
"""Seconds to connect, at most."""


class LiveModel:
    """One model at one address, shared by all threads.

    Args:
        endpoint: logical endpoint.
        base_url: as the SDK wants it.
        key: the API key; "" for none.
        patience: how failed calls are tried again.
        key_hint: where the key comes from and what to do about it, as a sentence, for messages.
        secrets: what else must not be written.
        plain: send nothing that the environment adds (an organisation, a project).
        direct: never through a proxy: the server is on this machine.
        inner: the transport that reaches the network; for tests and for the self-check.
        meter: counts the calls and what they cost.

    Attributes:
        patience, key_hint, meter: as above.
        gate: has all calls wait when one is told to.
        scrubber: decides what may be written.
        answered: some call was answered with a reply.
        too_long: how many first prompts of episodes were too long, before any reply came.
        breaker: notices that there is no server anymore.

    Raises:
        Usage: the proxy that the environment names cannot be used.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        base_url: str,
        key: str,
        patience: Patience,
        key_hint: str = "Set another key.",
        secrets: Iterable[str] = (),
        plain: bool = True,
        direct: bool = False,
        inner: Any = None,
        meter: Meter | None = None,
    ) -> None:
        import httpx2

        self.patience, self.key_hint = patience, key_hint
        self.meter, self.gate = meter or Unmetered(), Gate(patience.longest_wait)
        self.scrubber = Scrubber([key, *secrets])
        self.answered = False
        self.too_long = 0
        self.breaker = Breaker()
        reached = inner or _network(base_url, None if direct else _proxy(base_url))
        transport: Any = Transport(httpx2, inner=reached, longest=patience.timeout)
        self._client = httpx2.Client(transport=transport, trust_env=False)
        self.method: Method = method(
            endpoint,
            http_client=self._client,
            base_url=base_url,
            key=key or "none",
            timeout=httpx2.Timeout(patience.timeout, connect=min(CONNECT, patience.timeout)),
            plain=plain,
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


class Live:
    """Answers each call from what is recorded already, then from the server (`domain.Exchange`).

    Args:
        model: whom to ask.
        recorder: keeps the replies.
        place: where this recording stands, for messages.
        refused: calls that the provider refused to answer in an earlier attempt.
        extend: what to do when a call is not the one that was recorded at its place: drop the recorded rest and ask
            (True), or fail (False).
        stopped: set when the user wants an end; no further call is made then, and no wait is waited out.
        before: called before each call that is made; raises what speaks against it.

    Attributes:
        replayed: how many calls were answered from an earlier attempt.
    """

    def __init__(
        self,
        model: LiveModel,
        recorder: Recorder,
        place: Place,
        *,
        refused: Sequence[UnansweredRef] = (),
        extend: bool = False,
        stopped: threading.Event | None = None,
        before: Callable[[], None] = lambda: None,
    ) -> None:
        self._model, self._recorder, self._place = model, recorder, place
        self._extend = extend
        self._stopped = stopped or threading.Event()
        self._before = before
        self._earlier = len(recorder.interactions)
        self._refusals = Refusals(refused)
        self.replayed = 0

    @property
    def unanswered(self) -> tuple[UnansweredRef, ...]:
        """The calls that the provider refused to answer, then and now."""
        return tuple(self._refusals.raised)

    def send(self, call: Call) -> Json:
        """Return the response to *call*.

        Raises:
            ProviderError: no reply after all attempts, or a refusal that no attempt changes.
            ParameterRefused: a refusal of one parameter.
            Unanswered: a refusal of just this request.
            CassetteMiss: an earlier attempt recorded another request at this place, and *extend* is off.
            Corrupt: *call* holds a key; nothing was sent.
            BudgetExceeded: the call could pass a limit; it was not made.
            Interrupted: the user wants an end.
            OSError: the reply could not be saved.
        """
        self._refusals.check(call)
        try:
            response = self._sent(call)
        except Unanswered as error:
            self._refusals.keep(error, call)
            raise
        self._refusals.calls += 1
        return response

    def _sent(self, call: Call) -> Json:
        if self.replayed < self._earlier:
            interaction = self._recorder.interactions[self.replayed]
            asked = parsed(lambda: interaction.request_json, "request", self._place)
            if endpoint(interaction.uri) == call.endpoint and same(asked, call.body):
                self.replayed += 1
                refuse_error(interaction, self.replayed, self._place)
                return parsed(lambda: interaction.response_json, "response", self._place)
            if not self._extend:
                used = [number < self.replayed for number in range(self._earlier)]
                cassette = Cassette(None, tuple(self._recorder.interactions))  # type: ignore[arg-type]
                raise miss(cassette, used, call, self._place)
            self._recorder.drop_from(self.replayed)
            self._earlier = self.replayed
        return self._ask(call)

    def finish(self) -> None:
        """Forget what an earlier attempt recorded and this one did not ask for; only where *extend* is on."""
        if self._extend and self.replayed < self._earlier:
            self._recorder.drop_from(self.replayed)

    def _ask(self, call: Call) -> Json:
        if self._model.scrubber.holds(call.body):
            raise Corrupt("the request would hold a key, or another secret of the environment. It was not sent.")
        failures = 0
        while True:
            if not self._model.gate.passes(self._stopped.wait) or self._stopped.is_set():
                raise Interrupted
            self._before()
            try:
                return metered(self._model.meter, call.body, self._stopped, partial(self._once, call), self._status)
            except self._model.method.sdk.APIStatusError as error:
                failures += 1
                self._model.breaker.answered()
                self._refused(error, failures, call)
            except self._model.method.sdk.APIConnectionError as error:
                failures += 1
                self._broken(error, failures)
            except NoReply as error:
                failures += 1
                self._model.breaker.answered()
                if error.strange and not self._model.answered:
                    raise ProviderError(
                        f"{error}. Does an API stand at that address? Check --base-url and --api.",
                        status=200,
                        fatal=True,
                    ) from None
                if (found := unanswered(error.body, 200, self._model.scrubber)) is not None:
                    raise self._of_episode(found) from None
                self._wait(failures, None, str(error), status=200)

    def _once(self, call: Call) -> Json:
        """Make one call, and return the reply as it was recorded."""
        before, sdk = self._recorder.added, self._model.method
        with sending(self._recorder, call):
            try:
                sdk.create(**sdk.arguments(call.body))
            except (TypeError, ValueError) as error:  # its own; what the transport raised goes before
                said = self._model.scrubber.said(f"{type(error).__name__}: {error}")
                raise ProviderError(f"the installed SDK does not send this request ({said}).", fatal=True) from error
        if self._recorder.added != before + 1:
            raise ProviderError("the installed SDK's traffic does not pass through the recorder.", fatal=True)
        self._model.answered = True
        self._model.breaker.answered()
        return self._recorder.interactions[-1].response_json

    def _refused(self, error: Any, failures: int, call: Call) -> None:
        status, code = int(error.status_code), code_of(error.body)
        if is_retryable(status, error.response.headers) and not is_unpaid(status, code):
            named = f"status {status}, {code}" if code else f"status {status}"
            self._wait(failures, error.response.headers, f"the provider answers with {named}", status=status, code=code)
            return
        found = refusal(error, self._model.scrubber, asked=call.body, key_hint=self._model.key_hint)
        raise self._of_episode(found) if isinstance(found, Unanswered) else found

    def _of_episode(self, found: Unanswered) -> InfraError:
        """Return *found*; or, where the first prompts of all are too long already, a problem of the settings."""
        if found.finish == "content_filter" or self._model.answered or self._recorder.interactions:
            return found
        self._model.too_long += 1
        message = (
            f"{found}\n  No prompt fitted so far. Ask a model, or start the server, with a larger context; or lower "
            "--max-tokens."
        )
        fatal = self._model.too_long >= MANY
        return ProviderError(message, status=found.status, code=found.code, fatal=fatal)

    def _broken(self, error: Exception, failures: int) -> None:
        cause = _innermost(error)
        if isinstance(cause, ssl.SSLCertVerificationError):
            raise ProviderError(
                "the server's certificate does not verify. Check --base-url, the clock, and SSL_CERT_FILE.", fatal=True
            )
        why = cause.strerror if isinstance(cause, OSError) and cause.strerror else type(cause).__name__
        if isinstance(error, self._model.method.sdk.APITimeoutError):
            why = "timed out"
        check = "" if self._model.answered else ". Check --base-url, and that the server is up"
        try:
            self._wait(failures, None, f"the provider gives no answer ({why}){check}")
        except ProviderError as given_up:
            if self._model.breaker.gave_up(unconnected=_is_unconnected(error)):
                raise ProviderError(f"{given_up} {_NO_SERVER}", fatal=True) from None
            raise

    def _wait(self, failures: int, headers: Any, what: str, **more: Any) -> None:
        """Wait before the next attempt.

        Raises:
            ProviderError: there is none.
            Interrupted: the user wants an end.
        """
        patience = self._model.patience
        seconds = patience.wait(failures, headers)
        if seconds is None:
            asked = patience.asked(headers)
            later = f"; it asks to be left alone for {asked:.0f} s" if asked else ""
            raise ProviderError(f"{what}; {failures} of {patience.attempts} attempts made{later}.", **more)
        if is_shared(more.get("status")):
            self._model.gate.close(seconds)
        if self._stopped.wait(seconds):
            raise Interrupted

    @property
    def _status(self) -> Any:
        """What the SDK raises where the server answers with an error status."""
        return self._model.method.sdk.APIStatusError


def self_check(endpoint: str, body: Json) -> None:
    """Prove, without a network, that what the installed SDK sends passes through the recorder unchanged.

    Raises:
        InfraError: it does not: this SDK, or this HTTP library, is not one that can be recorded.
    """
    import httpx2

    kept: list[int] = []
    answer = b'{"choices": [], "content": []}'
    inner = httpx2.MockTransport(
        lambda _: httpx2.Response(200, headers={"content-type": "application/json"}, content=answer)
    )
    model = LiveModel(endpoint, base_url="http://127.0.0.1:9/v1", key="", patience=Patience(attempts=1), inner=inner)
    recorder = Recorder([], lambda interactions: kept.append(len(interactions)), model.scrubber)
    live = Live(model, recorder, Place("self-check", "0", "(nowhere)"))
    try:
        live.send(Call(endpoint, body, 1))
    except Exception as error:
        raise InfraError(f"{_NOT_RECORDED} ({type(error).__name__}: {error}). {_OTHER_VERSION}") from error
    finally:
        model.close()
    if kept != [1] or not same(recorder.interactions[0].request_json, body):
        raise InfraError(f"{_NOT_RECORDED}. {_OTHER_VERSION}")


_NOT_RECORDED = "the self-check failed: what the installed SDK sends does not pass through the recorder"
_NO_SERVER = f"{MANY} episodes in a row found no server there, so the others were not tried."
_OTHER_VERSION = "Nothing was sent. Install the versions of the SDK and of vcrpy that reactrepro asks for."


def _proxy(base_url: str) -> str | None:
    """Return the proxy that the environment names for *base_url*."""
    parts = urlsplit(base_url)
    if proxy_bypass(parts.hostname or ""):
        return None
    named = getproxies()
    return named.get(parts.scheme) or named.get("all")


def _network(base_url: str, proxy: str | None) -> Any:
    import httpx2

    # Without TLS the certificates of the world, 0.1 s to load, are not needed; a context without any trusts nobody.
    plain = base_url.startswith("http://") and proxy is None
    verify: Any = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else True
    limits = httpx2.Limits(max_connections=MOST, max_keepalive_connections=MOST)
    try:
        return httpx2.HTTPTransport(verify=verify, proxy=proxy, limits=limits)
    except (ValueError, ImportError, httpx2.InvalidURL) as error:  # its words hold the address, maybe a password
        needs = "it needs the package socksio" if isinstance(error, ImportError) else "its address is none"
        raise Usage(
            f"the proxy that the environment names cannot be used: {needs}. Change HTTPS_PROXY, HTTP_PROXY or "
            "ALL_PROXY, or name the server in NO_PROXY."
        ) from None


def _is_unconnected(error: BaseException | None) -> bool:
    """Tell whether no connection was made: refused, no such host, no way there; not that an answer failed to come."""
    import httpx2

    while error is not None:
        if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
            return True
        error = error.__cause__ or error.__context__
    return False


def _innermost(error: BaseException) -> BaseException:
    while (cause := error.__cause__ or error.__context__) is not None:
        error = cause
    return error
