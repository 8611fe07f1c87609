"""Live: calls go to a server through the official SDK; each reply is safe on disk before it is used.

The only exchange that can cost money. Transport errors are tried again here, outside of the recorder, and never stored.
"""

from __future__ import annotations

import json
import threading
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from ..cassettes.matching import endpoint, same
from ..cassettes.mismatch import Place
from ..cassettes.model import Cassette
from ..domain import Call, Json
from ..errors import InfraError, Interrupted
from .recorded import miss, parsed
from .recorder import Recorder
from .retries import Patience, is_retryable
from .scrub import Scrubber
from .sdks import Method, method
from .transport import Transport, sending


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


class LiveModel:
    """One model at one address, shared by all threads.

    Args:
        endpoint: logical endpoint.
        base_url: as the SDK wants it.
        key: the API key; "" for none.
        patience: how failed calls are tried again.
        plain: send nothing that the environment adds (an organisation, a project).
        inner: the transport that reaches the network; for tests and for the self-check.
    """

    def __init__(
        self,
        endpoint: str,
        *,
        base_url: str,
        key: str,
        patience: Patience,
        plain: bool = True,
        inner: Any = None,
    ) -> None:
        import httpx2

        self.patience = patience
        self.scrubber = Scrubber([key])
        transport: Any = Transport(httpx2, inner=inner or httpx2.HTTPTransport(proxy=_proxy(base_url)))
        self.method: Method = method(
            endpoint,
            http_client=httpx2.Client(transport=transport, trust_env=False),
            base_url=base_url,
            key=key or "none",
            timeout=patience.timeout,
            plain=plain,
        )


class Live:
    """Answers each call from what is recorded already, then from the server (`domain.Exchange`).

    Args:
        model: whom to ask.
        recorder: keeps the replies.
        place: where this recording stands, for messages.
        extend: what to do when a call is not the one that was recorded at its place: drop the recorded rest and ask
            (True), or fail (False).
        stopped: tells whether the user wants an end; no further call is made then.

    Attributes:
        replayed: how many calls were answered from an earlier attempt.
    """

    def __init__(
        self,
        model: LiveModel,
        recorder: Recorder,
        place: Place,
        *,
        extend: bool = False,
        stopped: threading.Event | None = None,
    ) -> None:
        self._model, self._recorder, self._place = model, recorder, place
        self._extend = extend
        self._stopped = stopped or threading.Event()
        self._earlier = len(recorder.interactions)
        self.replayed = 0

    def send(self, call: Call) -> Json:
        """Return the response to *call*.

        Raises:
            ProviderError: no reply after all attempts, or a refusal that no attempt changes.
            CassetteMiss: an earlier attempt recorded another request at this place, and *extend* is off.
            Interrupted: the user wants an end.
            OSError: the reply could not be saved.
        """
        if self.replayed < self._earlier:
            interaction = self._recorder.interactions[self.replayed]
            asked = parsed(lambda: interaction.request_json, "request", self._place)
            if endpoint(interaction.uri) == call.endpoint and same(asked, call.body):
                self.replayed += 1
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
        failures = 0
        while True:
            if self._stopped.is_set():
                raise Interrupted
            try:
                with sending(self._recorder, call):
                    raw = self._model.method.create(**self._model.method.arguments(call.body))
                return json.loads(raw.http_response.content.decode("utf-8"))
            except (ValueError, RecursionError) as error:
                raise ProviderError(f"the server's reply is not JSON ({type(error).__name__}).", status=200) from None
            except self._model.method.sdk.APIStatusError as error:
                failures += 1
                self._refused(error, failures)
            except self._model.method.sdk.APIConnectionError as error:
                failures += 1
                self._wait(failures, None, f"no answer ({_why(error)})")

    def _refused(self, error: Any, failures: int) -> None:
        status, code = error.status_code, _code(error)
        if is_retryable(status):
            self._wait(failures, error.response.headers, f"status {status}", status=status, code=code)
            return
        said = self._model.scrubber.text(str(getattr(error, "message", "")))[:300]
        if status in {401, 403}:
            raise ProviderError(
                f"the provider refuses the key (status {status}). Set another one; nothing of it is shown or kept.",
                status=status,
                code=code,
                fatal=True,
            )
        if status in {404, 405, 410}:
            raise ProviderError(
                f"the provider has no such model or endpoint (status {status}): {said}\n"
                "  Check --model, --api (chat, completions or messages) and --base-url.",
                status=status,
                code=code,
                fatal=True,
            )
        raise ProviderError(f"the provider refuses the request (status {status}): {said}", status=status, code=code)

    def _wait(self, failures: int, headers: Any, what: str, **more: Any) -> None:
        patience = self._model.patience
        seconds = patience.wait(failures, headers)
        if seconds is None:
            asked = dict(headers or {}).get("retry-after")
            later = f"; it asks to wait {asked} s" if asked else ""
            raise ProviderError(f"{what} after {failures} of {patience.attempts} attempts{later}.", **more)
        patience.sleep(seconds)


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
        raise InfraError(f"the installed SDK cannot be recorded: {type(error).__name__}: {error}") from error
    if kept != [1] or not same(recorder.interactions[0].request_json, body):
        raise InfraError("the installed SDK's traffic does not pass through the recorder; nothing was sent.")


def _proxy(base_url: str) -> str | None:
    parts = urlsplit(base_url)
    if proxy_bypass(parts.hostname or ""):
        return None
    return getproxies().get(parts.scheme)


def _why(error: Exception) -> str:
    cause: BaseException = error
    while cause.__cause__ is not None:
        cause = cause.__cause__
    return type(cause).__name__


def _code(error: Any) -> str | None:
    body = getattr(error, "body", None)
    found = body.get("code") or body.get("type") if isinstance(body, dict) else None
    return found if isinstance(found, str) and len(found) < 80 else None
