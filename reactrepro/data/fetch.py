"""Downloads one file. The only module of the room that knows `requests`.

The whole body comes back, or an `InfraError` that says why there is none: never an error page, never a part. Nothing is
written here.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from urllib.parse import urljoin, urlsplit

import requests
from requests import exceptions

from .. import __version__
from ..errors import InfraError, Usage
from ..visible import escaped

TIMEOUT = (10.0, 60.0)
"""Seconds to connect, and seconds without a single byte."""

LONGEST = 1800.0
"""Seconds for one file, at most."""

TRIES = 2
"""Attempts at one address, where the transfer breaks off."""

REDIRECTS = 10
"""Redirects followed, at most."""

_PIECE = 64 << 10
_BROKEN: tuple[type[Exception], ...] = (OSError, exceptions.BaseHTTPError)  # type: ignore[attr-defined]  # urllib3's

Tell = Callable[[int, int | None], None]
"""Told how many bytes have come, and of how many; None where the server does not say."""


def download(url: str, limit: int, tell: Tell = lambda _come, _of: None) -> bytes:
    """Return what is at *url*, at most *limit* bytes, unpacked.

    Raises:
        Usage: *url* is no http or https address, or holds a user name or password.
        InfraError: it cannot be had. The message says why, and does not repeat the address.
    """
    checked(url)
    with _Session() as session:
        for left in reversed(range(TRIES)):
            try:
                return _body(session, url, limit, tell)
            except _BrokenOff as error:
                if not left:
                    raise InfraError(f"{error} ({TRIES} attempts)") from None
    raise AssertionError


def checked(url: str) -> str:
    """Return *url* if it can be asked: http or https, a host, no credentials.

    Raises:
        Usage: it cannot.
    """
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and parts.hostname and url.isprintable() and " " not in url
    except ValueError:
        good = False
    if not good:
        raise Usage(f"{shown(url)} is no address to fetch from: it needs http:// or https:// and a host.")
    if "@" in parts.netloc:
        raise Usage("an address to fetch from holds a user name or password; give one without, or --from a file.")
    return url


def shown(url: str) -> str:
    """Return *url* as messages show it: without what stands behind `?` or `#`, which may be a secret."""
    plain = escaped(url.partition("?")[0].partition("#")[0])
    return plain if len(plain) <= 200 else f"{plain[:200]}…"


class _BrokenOff(Exception):
    """The transfer ended early; another attempt may not."""


class _Session(requests.Session):
    """A session that signs in nowhere and leaves redirects alone.

    By itself requests takes passwords from a .netrc, and reads the body of a redirecting answer without bound.
    """

    def __init__(self) -> None:
        super().__init__()
        self.auth = lambda request: request
        # Not packed: then Content-Length says how long the body is, and a short one is noticed.
        self.headers.update(
            {
                "User-Agent": f"reactrepro/{__version__} python-requests/{requests.__version__}",
                "Accept-Encoding": "identity",
            }
        )

    def get_redirect_target(self, resp: requests.Response) -> None:
        """See none."""


def _answer(session: requests.Session, url: str) -> requests.Response:
    """Return the answer to *url*, or to what it redirects to; of its body nothing has been read."""
    for _ in range(REDIRECTS + 1):
        response = session.get(url, stream=True, timeout=TIMEOUT)
        if not response.is_redirect:
            return response
        response.close()
        try:
            url = checked(urljoin(response.url, response.headers["location"]))
        except (Usage, ValueError):
            raise InfraError("it redirects to what is no address to fetch from") from None
    raise InfraError(f"it redirects more than {REDIRECTS} times")


def _body(session: requests.Session, url: str, limit: int, tell: Tell) -> bytes:
    began, body, coming = time.monotonic(), bytearray(), False
    try:
        with _answer(session, url) as response:
            if response.status_code != requests.codes.ok:
                raise InfraError(f"it answered with status {response.status_code}")
            packed, length = response.headers.get("content-encoding"), response.headers.get("content-length", "")
            whole = int(length) if length.isdecimal() and not packed else None
            if whole is not None and whole > limit:
                raise InfraError(f"it announces {whole:,} bytes, more than the {limit:,} that are read")
            coming = True
            for piece in response.iter_content(_PIECE):
                body += piece
                if len(body) > limit:
                    raise InfraError(f"it sends more than the {limit:,} bytes that are read")
                if time.monotonic() - began > LONGEST:
                    raise InfraError(f"it was not done after {LONGEST:g} s")
                tell(len(body), whole)
    except _BROKEN as error:
        if coming:
            raise _BrokenOff(f"it broke off: {_reason(error)}") from None
        raise InfraError(_reason(error)) from None
    if whole is not None and len(body) < whole:  # urllib3 before 2 does not say so itself
        raise _BrokenOff(f"it broke off after {len(body):,} of {whole:,} bytes")
    if not body:
        raise InfraError("it answered with status 200 and 0 bytes")
    return bytes(body)


def _reason(error: BaseException) -> str:
    """Return the system's words for what lies behind *error*, else the innermost error's name; no text of requests'."""
    cause: BaseException | None = error
    name = type(error).__name__
    while cause is not None:
        name = type(cause).__name__
        if isinstance(cause, TimeoutError):
            return "no connection, or no further byte, in time"
        if isinstance(cause, socket.gaierror):
            return f"the host's name does not resolve ({escaped(cause.strerror or '')})"
        if isinstance(cause, OSError) and isinstance(cause.strerror, str):
            return escaped(cause.strerror)
        cause = cause.__cause__ or cause.__context__
    return name
