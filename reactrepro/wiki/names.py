"""Where an answer stands in the snapshot: a folder name from the query, and which names are safe at all. Pure.

No part of a path is ever taken from a query or a wiki as it is: a folder is named by the query's ASCII letters and
digits, for people, and by its hash, for everything else. So every query has a folder on every file system: `Mars`
beside `mars` where case does not count, `CON` on Windows, `../..`, 300 characters, the empty query.
"""

from __future__ import annotations

import hashlib
import re

from ..errors import Usage

SLUG = 40
"""Most characters of a query that its folder's name shows."""

_SITE = re.compile(r"[a-z0-9][a-z0-9_-]{0,31}\Z")
_EXTRACTION = re.compile(r"[a-z][a-z0-9_-]{0,31}\Z")
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}\Z")
_FOLDER = re.compile(r"[a-z0-9-]{1,40}-[0-9a-f]{12}\Z")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])\Z", re.IGNORECASE)  # devices, on Windows
_OTHERS = re.compile("[^a-z0-9]+")
_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}  # ASCII: Unicode versions differ, names may not


def folder(query: str) -> str:
    """Return the name of the folder of the answers to *query* ("Scott Derrickson" -> "scott-derrickson-…")."""
    digest = hashlib.sha256(query.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{slug(query)}-{digest[:12]}"


def slug(query: str) -> str:
    """Return the readable part of a folder's name: `SLUG` characters of a-z, 0-9 and inner hyphens at most."""
    return _OTHERS.sub("-", query.translate(_LOWER)).strip("-")[:SLUG].rstrip("-") or "query"


def checked_site(site: str) -> str:
    """Return *site*, the logical name of a wiki ("enwiki"; never a host or a port).

    Raises:
        Usage: it is no safe folder name.
    """
    if not is_site(site):
        raise Usage(
            f"{site!r} cannot name a wiki: use a-z, 0-9, '_' and '-', 32 at most, beginning with a letter or a digit."
        )
    return site


def is_site(name: str) -> bool:
    """Tell whether *name* can name a wiki."""
    return bool(_SITE.match(name)) and not _RESERVED.match(name)


def is_folder(name: str) -> bool:
    """Tell whether *name* has the form that `folder` gives."""
    return bool(_FOLDER.match(name))


def is_extraction(name: str) -> bool:
    """Tell whether *name* can name an extraction, and so be part of a file name."""
    return bool(_EXTRACTION.match(name))


def is_version(stem: str) -> bool:
    """Tell whether *stem* can name a version's files."""
    return bool(_VERSION.match(stem)) and not _RESERVED.match(stem)
