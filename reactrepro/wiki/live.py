"""Asks a live MediaWiki, politely and safely. The only module of the room that knows `requests`.

What comes back is a whole HTML page, or an `InfraError` that says why there is none: never an error page, never a page
cut short. Whether it is an article, results or nothing is for `page` to say; what is kept of it, for `recording`. Who
asks, how often, how long, and what is believed: docs/wiki-pages.md, "Reading a live wiki".
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from typing import NoReturn
from urllib.parse import urlencode

import requests
from requests import exceptions
from requests.utils import get_environ_proxies

from .. import __version__
from ..errors import InfraError, Usage
from ..visible import escaped
from .flights import Flights
from .patience import FIRST_WAIT, Clock, Pace, backoff, retry_after
from .received import HTML, content_type, in_utf8, is_whole, redirected, without_request_id, words
from .sites import checked_base_url, is_loopback, public

TIMEOUT = (10.0, 30.0)
"""Seconds to connect, and seconds without a single byte."""

INTERVAL = 0.5
"""Seconds from one request to the next, redirects included; none on this machine."""

LIMIT = 16 << 20
"""Bytes of a page, unpacked, at most."""

REDIRECTS = 10
"""Redirects followed, at most."""

_PIECE = 16 << 10
_LATE = "too late"
_BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_BROKEN: type[Exception] = exceptions.BaseHTTPError  # type: ignore[attr-defined]  # of urllib3, under requests' name
_TRANSIENT = (requests.ConnectionError, requests.Timeout, exceptions.ChunkedEncodingError, _BROKEN)


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page, and how it was come by.

    Attributes:
        asked: the URL asked. This and the other URLs are `sites.public`.
        redirects: the URLs it was sent on to, in order, the last one left out.
        final_url: the URL that answered.
        status: its HTTP status.
        time: when it was asked, UTC ("2026-11-30T19:22:05Z").
        html: the page in UTF-8, unpacked, its request id blotted out.
    """

    asked: str
    redirects: tuple[str, ...]
    final_url: str
    status: int
    time: str
    html: bytes


class WikiClient:
    """Asks one wiki; shared by all the workers of a recording.

    Args:
        base_url: the address of the wiki's ``index.php``, without user name or password.
        contact: how the wiki's operators can reach whoever asks: an e-mail address, or a URL.
        user_agent: sent in place of the descriptive one that is made of *contact*.
        timeout: seconds to connect, and seconds without a single byte.
        longest_answer: seconds for one whole page, at most.
        retries: further attempts after 429, 5xx, time-outs and broken connections.
        min_interval: seconds from one request to the next, whoever asks; None: `INTERVAL`, and 0 on this machine.
        longest_wait: seconds of silence asked for by the wiki (Retry-After) that are waited for, at most.
        limit: bytes of a page, at most.
        clock: time and chance.

    Attributes:
        base_url, contact, user_agent: as above.
        flights: work that those who share the client share, too (`recording.LivePages`).

    Raises:
        Usage: the address or the contact cannot be used; the environment names a certificate bundle that is not there.
    """

    def __init__(
        self,
        base_url: str,
        *,
        contact: str | None = None,
        user_agent: str | None = None,
        timeout: tuple[float, float] = TIMEOUT,
        longest_answer: float = 120,
        retries: int = 4,
        min_interval: float | None = None,
        longest_wait: float = 120,
        limit: int = LIMIT,
        clock: Clock | None = None,
    ) -> None:
        self.base_url = checked_base_url(base_url)
        self.contact = contact
        self.user_agent = _sendable(user_agent or _user_agent(contact))
        self.flights = Flights()
        self._timeout = timeout
        self._longest_answer = longest_answer
        self._retries = retries
        self._longest_wait = longest_wait
        self._limit = limit
        self._clock = clock or Clock()
        if min_interval is None:
            min_interval = 0 if is_loopback(base_url) else INTERVAL
        self._pace = Pace(min_interval, longest_wait, self._clock)
        self._bundle = _bundle()
        self._session = _session(self.user_agent)

    @property
    def requests_made(self) -> int:
        """How many requests were made so far, redirects and further attempts included."""
        return self._pace.turns

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def fetch(self, query: str) -> Fetched:
        """Return the wiki's answer to *query*, which may still be a page of no use; transient failures are retried.

        Raises:
            InfraError: there is none.
        """
        url = f"{self.base_url}?{urlencode({'search': query}, errors='surrogatepass')}"
        attempt = 1
        while True:
            try:
                return self._attempt(url)
            except _Again as failure:
                self._pace.hold(failure.silence)
                if failure.silence > self._longest_wait:
                    raise self._too_long(url, failure.silence, failure.why) from None
                if attempt > self._retries:
                    raise InfraError(
                        f"{_shown(url)} gave no page in {attempt} attempts; at last {failure.why.rstrip('.')}. Nothing "
                        "was shown to the model and nothing stored. Run the same command again later: what is done "
                        f"stays done.{self._asks_for_contact() if failure.silence else ''}"
                    ) from None
            self._clock.sleep(backoff(attempt, self._clock.chance()))
            attempt += 1

    def _attempt(self, url: str) -> Fetched:
        urls, answered, time = [url], [], ""
        while True:
            if silence := self._pace.turn():
                raise self._too_long(url, silence, "it was asked earlier")
            time = time or self._clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
            with self._get(urls[-1]) as response:
                answered.append(public(response.url))
                target = self._target(response)
                if target is None:
                    page = self._page(response)
                    asked, *redirects = answered
                    last = redirects.pop() if redirects else asked
                    return Fetched(asked, tuple(redirects), last, response.status_code, time, page)
            if target in urls or len(urls) > REDIRECTS:
                what = "in a circle" if target in urls else f"more than {REDIRECTS} times"
                raise InfraError(f"{_shown(url)} redirects {what}, last to {_shown(target)}. Nothing was stored.")
            urls.append(target)

    def _get(self, url: str) -> requests.Response:
        """Ask for *url*, and return once the head of the response is there."""
        try:
            return self._session.send(
                self._session.prepare_request(requests.Request("GET", url)),
                timeout=self._timeout,
                stream=True,
                allow_redirects=False,
                proxies={} if is_loopback(url) else get_environ_proxies(url),
                verify=self._bundle,
            )
        except OSError as error:  # every error of requests is one
            raise self._failed(error, url) from None

    def _target(self, response: requests.Response) -> str | None:
        """Return where *response* redirects to, without credentials and fragment; None where it does not.

        Raises:
            InfraError: to nowhere that could be followed.
        """
        if not response.is_redirect:
            return None
        target = redirected(response.url, response.headers["location"])
        if target is None:
            raise InfraError(
                f"{_shown(response.url)} redirects to what is no http or https address. Nothing was stored."
            )
        for _ in self._pieces(response):
            pass  # read to its end, so that the connection can be used again
        return target

    def _page(self, response: requests.Response) -> bytes:
        """Return the page that *response* brings.

        Raises:
            InfraError: it brings none.
            _Again: it brings none now.
        """
        status, where = response.status_code, _shown(response.url)
        media_type, charset = content_type(response.headers.get("content-type"))
        if status != requests.codes.ok:
            self._refused(response, media_type)
        if media_type not in HTML:
            raise InfraError(f"{where}: it answered with status 200, but {media_type!a:.80} is no HTML page.")
        body = b"".join(self._pieces(response))
        try:
            page = in_utf8(body, charset)
        except ValueError:
            raise InfraError(
                f"{where}: its page, status 200, is not in the encoding that it says: {charset!a:.40}."
            ) from None
        if not is_whole(page):
            raise _Again("its page, status 200, ends before its end tag: cut short on the way, or not MediaWiki's")
        return without_request_id(page)

    def _refused(self, response: requests.Response, media_type: str) -> NoReturn:
        """Raise the error that a status other than 200 is."""
        status = response.status_code
        try:
            said = words(next(iter(self._pieces(response)), b""), media_type)
        except (InfraError, _Again):
            said = ""
        why = f"it answered with status {status}" + (f": {said}" if said else "")
        if status == requests.codes.too_many_requests or status // 100 == 5:
            silence = retry_after(response.headers.get("retry-after"), self._clock.now())
            raise _Again(why, max(silence, FIRST_WAIT) if status == requests.codes.too_many_requests else silence)
        advice = self._asks_for_contact() if status in (401, 403) else " Look at the address in a browser."
        raise InfraError(
            f"{_shown(response.url)}: {why.rstrip('.')}. Nothing was shown to the model and nothing stored.{advice}"
        )

    def _pieces(self, response: requests.Response) -> Iterable[bytes]:
        """Yield what *response* brings, unpacked, as it comes in.

        Raises:
            InfraError: it is more than `limit` bytes.
            _Again: it breaks off, or takes too long.
        """
        began, size = self._clock.monotonic(), 0
        raw = response.raw
        if hasattr(raw, "read1"):  # returns with what is there; urllib3 before 2 does not know it
            pieces = iter(lambda: raw.read1(_PIECE, decode_content=True), b"")
        else:
            pieces = response.iter_content(_PIECE)
        try:
            for piece in pieces:
                size += len(piece)
                if size > self._limit:
                    raise InfraError(
                        f"{_shown(response.url)}: its page is larger than {self._limit} bytes. It was not read."
                    )
                if self._clock.monotonic() - began > self._longest_answer:
                    raise _Again(f"its page was not complete after {self._longest_answer:g} s")
                yield piece
        except (OSError, _BROKEN) as error:
            raise self._failed(error, response.url) from None

    def _failed(self, error: Exception, url: str) -> Exception:
        """Return what *error* means, without its own words, which may hold a proxy's password."""
        certificate, reason = _reason(error)
        if isinstance(error, _TRANSIENT) and not certificate:
            connect, read = self._timeout
            late = f"no connection within {connect:g} s, or not one byte in {read:g} s"
            return _Again(late if reason == _LATE else f"the connection failed ({reason})")
        return InfraError(
            f"{_shown(url)} cannot be asked: {reason}. Check the address, the proxy variables of the environment, and "
            "the certificates."
        )

    def _too_long(self, url: str, silence: float, why: str) -> InfraError:
        return InfraError(
            f"{_shown(url)} was not answered: the server asks for {silence:.0f} s of silence (Retry-After; {why}), and "
            f"at most {self._longest_wait:g} s are waited for. Run the same command again after that time."
            f"{self._asks_for_contact()}"
        )

    def _asks_for_contact(self) -> str:
        if self.contact:
            return ""
        return " The wiki was not told whom to contact; say it with --contact: some wikis refuse those who do not."


class _Again(Exception):
    """This attempt failed; another may not.

    Attributes:
        why: in words.
        silence: seconds for which the server wants no request.
    """

    def __init__(self, why: str, silence: float = 0) -> None:
        super().__init__(why)
        self.why = why
        self.silence = silence


class _Session(requests.Session):
    """A session that leaves redirects alone: `send` reads their bodies without bound even where it follows none."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        """See none."""


def _session(user_agent: str) -> requests.Session:
    session = _Session()
    # Not the environment's business: passwords from a .netrc. Proxies and certificates are; see `WikiClient._get`.
    session.trust_env = False
    session.headers.update({"User-Agent": user_agent, "Accept-Encoding": "gzip"})
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))  # none: no answer depends on another
    for scheme in ("http://", "https://"):
        session.mount(scheme, requests.adapters.HTTPAdapter(pool_maxsize=64))
    return session


def _user_agent(contact: str | None) -> str:
    """Wikimedia's form (https://foundation.wikimedia.org/wiki/Policy:User-Agent_policy)."""
    return f"reactrepro/{__version__} ({contact or 'no contact given'}) python-requests/{requests.__version__}"


def _sendable(user_agent: str) -> str:
    if not (user_agent.isascii() and user_agent.isprintable()):
        raise Usage("the contact or User-Agent has to be printable ASCII on one line: it is sent as an HTTP header.")
    return user_agent


def _bundle() -> str | bool:
    """Return the certificate bundle that the environment names, or True for the usual one."""
    for name in _BUNDLES:
        if path := os.environ.get(name):
            if not os.path.exists(path):
                raise Usage(f"the environment variable {name} names no file or folder.")
            return path
    return True


def _reason(error: Exception) -> tuple[bool, str]:
    """Return whether a certificate is the reason, and the reason: the system's words, or the innermost error's name."""
    cause: BaseException | None = error
    name = type(error).__name__
    while cause is not None:
        if type(cause).__name__ != "error":  # as zlib calls its own
            name = type(cause).__name__
        if isinstance(cause, ssl.SSLCertVerificationError):
            return True, f"its certificate does not verify ({escaped(cause.verify_message)})"
        if isinstance(cause, TimeoutError):
            return False, _LATE
        if isinstance(cause, OSError) and isinstance(cause.strerror, str):
            return False, cause.strerror
        cause = cause.__cause__ or cause.__context__
    return False, name


def _shown(url: str) -> str:
    shown = escaped(public(url))
    return shown if len(shown) <= 200 else f"{shown[:200]}…"
