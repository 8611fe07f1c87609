"""The metadata of one version of an answer, as values and as JSON: the format ``reactrepro-page/1``. Pure.

The specification is docs/formats.md, "Wiki snapshot".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any, get_args

from ..domain import Json, Kind
from .names import is_extraction

FORMAT = "reactrepro-page/1"
PROVENANCES = ("recorded", "transcribed", "scripted")

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
_NONE = type(None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A wiki's answer to one query: what is known of it, apart from what an agent sees.

    Attributes:
        site: logical name of the wiki.
        query: the exact query.
        kind: what the wiki answered.
        provenance: `recorded` (fetched), `transcribed` (copied from a publication) or `scripted` (made up for a test).
        base_url: where the wiki's ``index.php`` stood.
        asked: the URL asked, without secrets.
        redirects: the URLs it was sent on to, in order, the last one left out.
        final_url: the URL that answered.
        status: its HTTP status.
        title: the article's title as displayed.
        revision: the article's revision number.
        time: when it was asked, UTC ("2026-11-30T19:22:05Z").
        filled_in: names of the fields above that nobody published: None there is unknown, a value is an assumption.
    """

    site: str
    query: str
    kind: Kind
    provenance: str
    base_url: str | None = None
    asked: str | None = None
    redirects: tuple[str, ...] = ()
    final_url: str | None = None
    status: int | None = None
    title: str | None = None
    revision: int | None = None
    time: str | None = None
    filled_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredView:
    """What the metadata says of one view.

    Attributes:
        version: the extraction's version.
        sha256: `PageView.sha256`, as it was when the version was written.
        titles, disambiguation, flags: as in `PageView`.
        text: (bytes, SHA-256) of the text file; None where the view has no text.
    """

    version: int
    sha256: str
    titles: tuple[str, ...]
    disambiguation: bool
    flags: tuple[str, ...]
    text: tuple[int, str] | None


_KEYS = frozenset(Answer.__slots__) | {"format", "views", "html"}
_VIEW_KEYS = frozenset(StoredView.__slots__)


@dataclass(frozen=True, slots=True)
class Metadata:
    """All that a metadata file says.

    Attributes:
        answer: what is known of the answer.
        views: extraction name to view.
        html: SHA-256 of the uncompressed HTML; None where none was kept.
    """

    answer: Answer
    views: Mapping[str, StoredView]
    html: str | None


def to_json(metadata: Metadata) -> Json:
    """Return *metadata* as JSON values, in the format's key order."""
    answer = metadata.answer
    return {
        "format": FORMAT,
        "site": answer.site,
        "query": answer.query,
        "kind": answer.kind,
        "title": answer.title,
        "revision": answer.revision,
        "time": answer.time,
        "provenance": answer.provenance,
        "filled_in": list(answer.filled_in),
        "base_url": answer.base_url,
        "asked": answer.asked,
        "redirects": list(answer.redirects),
        "final_url": answer.final_url,
        "status": answer.status,
        "views": {
            name: {
                "version": view.version,
                "sha256": view.sha256,
                "titles": list(view.titles),
                "disambiguation": view.disambiguation,
                "flags": list(view.flags),
                "text": None if view.text is None else {"bytes": view.text[0], "sha256": view.text[1]},
            }
            for name, view in sorted(metadata.views.items())
        },
        "html": None if metadata.html is None else {"sha256": metadata.html},
    }


def from_json(form: Json) -> Metadata:
    """Return what *form* says.

    Raises:
        KeyError: a key is absent.
        TypeError, ValueError: a key is unknown, or a value of the wrong type or outside of its vocabulary.
    """
    _only(form, _KEYS)
    answer = Answer(
        site=_of(form, "site", str),
        query=_of(form, "query", str),
        kind=_of(form, "kind", str),
        provenance=_of(form, "provenance", str),
        base_url=_of(form, "base_url", str, _NONE),
        asked=_of(form, "asked", str, _NONE),
        redirects=_strings(form, "redirects"),
        final_url=_of(form, "final_url", str, _NONE),
        status=_of(form, "status", int, _NONE),
        title=_of(form, "title", str, _NONE),
        revision=_of(form, "revision", int, _NONE),
        time=_of(form, "time", str, _NONE),
        filled_in=_strings(form, "filled_in"),
    )
    check(answer)
    views = {}
    for name, view in _of(form, "views", dict).items():
        if not is_extraction(name):
            raise ValueError(f"{name!r} cannot name an extraction")
        views[name] = _view(view)
    html = _of(form, "html", dict, _NONE)
    if html is not None:
        _only(html, {"sha256"})
    return Metadata(answer, views, None if html is None else _hash(html))


def _view(form: Any) -> StoredView:
    if not isinstance(form, dict):
        raise TypeError("a view is no object")
    _only(form, _VIEW_KEYS)
    text = _of(form, "text", dict, _NONE)
    if text is not None:
        _only(text, {"bytes", "sha256"})
    return StoredView(
        version=_of(form, "version", int),
        sha256=_hash(form),
        titles=_strings(form, "titles"),
        disambiguation=_of(form, "disambiguation", bool),
        flags=_strings(form, "flags"),
        text=None if text is None else (_of(text, "bytes", int), _hash(text)),
    )


def check(answer: Answer) -> None:
    """Check the fields that have a vocabulary.

    Raises:
        ValueError: a value is outside of it.
    """
    if answer.kind not in get_args(Kind):
        raise ValueError(f"unknown kind {answer.kind!r}")
    if answer.provenance not in PROVENANCES:
        raise ValueError(f"unknown provenance {answer.provenance!r}")
    if answer.time is not None and not _TIME.match(answer.time):
        raise ValueError(f"{answer.time!r} is no time of the form 2026-11-30T19:22:05Z")
    if unknown := set(answer.filled_in) - set(Answer.__slots__):
        raise ValueError(f"filled_in names no field: {', '.join(sorted(unknown))}")


def _only(form: Mapping[str, Any], known: Set[str]) -> None:
    if unknown := form.keys() - known:
        raise ValueError(f"unknown: {', '.join(map(repr, sorted(unknown)))}")


def _of(form: Any, key: str, *types: type) -> Any:
    value = form[key]
    if type(value) not in types:  # exactly: a bool is no int here
        raise TypeError(f"{key!r} is of the wrong type")
    return value


def _strings(form: Any, key: str) -> tuple[str, ...]:
    values = _of(form, key, list)
    if values and not all(type(value) is str for value in values):
        raise TypeError(f"{key!r} is no list of strings")
    return tuple(values)


def _hash(form: Any) -> str:
    value: str = _of(form, "sha256", str)
    if not _SHA256.match(value):
        raise ValueError(f"{value!r} is no SHA-256")
    return value
