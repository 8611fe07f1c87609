"""Which wiki is meant: logical names, and the addresses that they stand at. Pure.

Snapshots, pins and runs know a wiki by its name, since an address can change without the wiki changing. What the name
must never do is stand for two wikis; so a name and an address are compared before anything is asked or written.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from urllib.parse import SplitResult, unquote_plus, urlsplit, urlunsplit

from ..errors import Usage
from .names import checked_site, is_site

SITES: Mapping[str, str] = {
    "enwiki": "https://en.wikipedia.org/w/index.php",
    "pelm": "http://127.0.0.1:8081/w/index.php",
}
"""Name to address of the wikis that tasks use. An address is that of the wiki's ``index.php``."""

PARAMETERS = frozenset({"search", "title", "oldid", "curid", "fulltext", "go", "profile", "ns0", "redirect"})
"""The query parameters of a URL that are ever written down: those by which MediaWiki finds a page."""

_PORTS = {"http": 80, "https": 443}
_EXAMPLE = "such as https://en.wikipedia.org/w/index.php"


def base_of(site: str) -> str:
    """Return the address of *site*.

    Raises:
        Usage: it is not in `SITES`.
    """
    if site not in SITES:
        raise Usage(f"no address is known for the wiki {site!r} (known: {', '.join(SITES)}): give its base URL.")
    return SITES[site]


def checked_base_url(base_url: str) -> str:
    """Return *base_url* if a wiki can be asked there: http or https, a host, a path, and nothing else.

    Raises:
        Usage: it is something else, or holds a user name or password. What it holds is not repeated in the message.
    """
    parts = _split(base_url)
    if parts is None or parts.scheme not in _PORTS or not parts.hostname or not parts.path.strip("/"):
        raise Usage(f"the base URL of a wiki is the http or https address of its index.php, {_EXAMPLE}.")
    if "@" in parts.netloc:
        raise Usage("the base URL of the wiki holds a user name or password; a wiki is read without signing in.")
    if "?" in base_url or "#" in base_url:
        raise Usage(
            f"the base URL of a wiki has neither parameters nor a fragment: give the plain address, {_EXAMPLE}."
        )
    return base_url


def site_of(base_url: str) -> str:
    """Return a name for the wiki at *base_url*: the known one, else its host's letters and digits.

    Raises:
        Usage: the address gives no name; one on this machine never does, unless it is in `SITES` to the letter.
    """
    for site, known in SITES.items():
        if base_url == known or (not is_loopback(known) and same_wiki(base_url, known)):
            return site
    parts = _split(checked_base_url(base_url))
    name = re.sub("[^a-z0-9]+", "-", (parts.hostname or "") if parts else "").strip("-")[:32].rstrip("-")
    if is_loopback(base_url) or not is_site(name):
        raise Usage(f"the address {base_url} names no wiki: choose a name for the site.")
    return name


def checked_at(site: str, base_url: str) -> str:
    """Return *site*, the name of the wiki at *base_url*.

    Raises:
        Usage: *site* is no name, or the name of a wiki in `SITES` that stands elsewhere, or *base_url* is the address
            of a wiki in `SITES` that has another name.
    """
    checked_site(site)
    if site in SITES and not same_wiki(SITES[site], base_url):
        raise Usage(f"{site} is the wiki at {SITES[site]}, not at {base_url}: give that one a name of its own.")
    for name, known in SITES.items():
        if name != site and not is_loopback(known) and same_wiki(known, base_url):
            raise Usage(f"the wiki at {base_url} is {name}, not {site}: recordings of it go by that name.")
    return site


def same_wiki(one: str, other: str) -> bool:
    """Tell whether two addresses are those of one wiki: host, port and path are equal; http or https is all the same.

    On this machine (`is_loopback`) neither the host's spelling nor the port matters: both change from start to start.
    """
    found = _identity(one)
    return found is not None and found == _identity(other)


def is_loopback(url: str) -> bool:
    """Tell whether *url* leads to this very machine."""
    parts = _split(url)
    host = (parts.hostname or "") if parts else ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def public(url: str) -> str:
    """Return *url* without whatever could be a secret: user name, password, fragment, parameters not in `PARAMETERS`.

    A wiki, or what stands before it, can send one on to addresses with tokens in them.
    """
    parts = urlsplit(url)
    kept = (one for one in parts.query.split("&") if unquote_plus(one.partition("=")[0]) in PARAMETERS)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="&".join(kept), fragment=""))


def _identity(url: str) -> tuple[str, int, str] | None:
    parts = _split(url)
    if parts is None:
        return None
    if is_loopback(url):
        return "", 0, parts.path
    port = parts.port if parts.port not in (None, _PORTS.get(parts.scheme)) else None
    return (parts.hostname or "").rstrip("."), port or 0, parts.path


def _split(url: str) -> SplitResult | None:
    if not url.isprintable() or " " in url:
        return None
    try:
        parts = urlsplit(url)
        _ = parts.port  # is checked when it is read
    except ValueError:
        return None
    return parts
