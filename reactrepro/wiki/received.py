"""What a wiki's server sent, looked at before it counts as a page. Pure."""

from __future__ import annotations

import codecs
import html
import re
from email.message import Message
from urllib.parse import urljoin, urlsplit, urlunsplit

from ..visible import escaped

HTML = frozenset({"text/html", "application/xhtml+xml"})

_TITLE = re.compile("<title[^>]*>(.*?)</title", re.IGNORECASE | re.DOTALL)
_PRIVATE = re.compile(r"\b(?=[\w-]*[0-9])[\w-]{16,}|(?:[0-9]+\.){3}[0-9]+|(?:[0-9a-fA-F]*:){3,}[0-9a-fA-F]*", re.ASCII)
_REQUEST_ID = re.compile(rb'("wgRequestId":\s*")[^"]*"')


def redirected(at: str, location: str) -> str | None:
    """Return where the header Location of the answer at *at* leads, without credentials and fragment.

    Args:
        at: the URL that answered.
        location: the header, its bytes read as Latin-1, as http.client does; they are UTF-8 where they are not ASCII.

    Returns:
        An http or https URL; None where it leads to no such.
    """
    try:
        parts = urlsplit(urljoin(at, location.encode("latin-1").decode()))
        _ = parts.port  # is checked when it is read
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment=""))


def content_type(header: str | None) -> tuple[str, str | None]:
    """Return the media type that the header Content-Type names, "" where there is none, and the charset."""
    parsed = Message()
    parsed["content-type"] = header or ""
    return (parsed.get_content_type() if header else ""), parsed.get_content_charset()


def in_utf8(body: bytes, charset: str | None) -> bytes:
    """Return *body* in UTF-8, byte for byte as it came where it is in UTF-8, which it is where nobody says otherwise.

    Raises:
        ValueError: it is not in *charset*, or nobody knows that one.
    """
    try:
        if charset is None or codecs.lookup(charset).name == "utf-8":
            return body
        return body.decode(charset).encode()
    except LookupError as error:
        raise ValueError(str(error)) from error


def is_whole(page: bytes) -> bool:
    """Tell whether *page* has its end tag, as every page of MediaWiki's; a page without it was cut short on the way."""
    return b"</html" in page.lower()


def without_request_id(page: bytes) -> bytes:
    """Return *page* without the id that MediaWiki gives each request and prints into the page's head."""
    head, body, rest = page.partition(b"<body")
    return _REQUEST_ID.sub(rb'\1"', head) + body + rest


def words(body: bytes, media_type: str) -> str:
    """Return what an error's *body* says, for people: an HTML page's title, else the first words; "" for nothing.

    Numbers of requests and addresses of machines are left out.
    """
    text = body.decode("utf-8", "replace")
    if media_type in HTML:
        title = _TITLE.search(text)
        text = html.unescape(title[1]) if title else ""
    said = _PRIVATE.sub("…", " ".join(text[:1000].split()))
    return escaped(said[:120])
