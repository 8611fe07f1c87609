"""Answers written into the wiki snapshot: versions are added, and nothing that stands there is ever changed.

Each file is put in place whole, the metadata last: an answer whose metadata is absent does not exist. A version is
named by its metadata's hash, so two recorders that write the same at once write the same files, and two that write
different answers to one query do not meet.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from ..cassettes.write import replace_file
from ..domain import PageView
from ..errors import Corrupt, Usage
from .entry import Answer, Metadata, StoredView, check, to_json
from .names import checked_site, folder, is_extraction
from .versions import HTML_LIMIT, METADATA_LIMIT, TEXT_LIMIT, Version


def write_page(root: Path, answer: Answer, views: Sequence[PageView], html: bytes | None = None) -> Version:
    """Add a version to the snapshot folder *root*, and return it; what stands there already is not written again.

    Args:
        root: the snapshot folder; made where it is absent.
        answer: what is known of the answer. Credentials in its URLs are left out.
        views: what an agent sees of it, one per extraction; a transcribed page has only those that were published.
        html: the page the views come from, where it is to be kept.

    Raises:
        Usage: the parts do not fit together, or do not fit into the format.
        Corrupt: a file of that version stands there with other contents.
        OSError: the disk is full or not writable; nothing incomplete is left behind that counts.
    """
    _check(answer, views, html)
    texts = {view.extraction: view.text.encode() for view in views if view.text is not None}
    metadata = Metadata(
        answer=_without_credentials(answer),
        views={view.extraction: _stored(view, texts.get(view.extraction)) for view in views},
        html=None if html is None else hashlib.sha256(html).hexdigest(),
    )
    data = (json.dumps(to_json(metadata), indent=2, ensure_ascii=True) + "\n").encode("ascii")
    if len(data) > METADATA_LIMIT:
        raise Usage(f"what is known of the answer to {answer.query!a:.80} is too large to be kept: {len(data)} bytes.")
    stem = hashlib.sha256(data).hexdigest()[:12]
    where = Path(root, answer.site, folder(answer.query))
    version = Version(str(root), str(where), stem, metadata)
    where.mkdir(parents=True, exist_ok=True)
    if html is not None and not (version.html_path.exists() and version.html() == html):
        _put(version.html_path, _packed(html))
    for extraction, text in texts.items():
        _put(version.text_path(extraction), text)
    _put(version.path, data)
    return version


def _check(answer: Answer, views: Sequence[PageView], html: bytes | None) -> None:
    checked_site(answer.site)
    try:
        check(answer)
    except ValueError as error:
        raise Usage(f"the answer to {answer.query!r} cannot be kept: {error}.") from error
    if not views or len({view.extraction for view in views}) != len(views):
        raise Usage(f"the answer to {answer.query!r} needs at least one view, and one per extraction.")
    for view in views:
        if (view.site, view.query, view.kind) != (answer.site, answer.query, answer.kind):
            raise Usage(f"the view {view.extraction!r} is not of the answer of {answer.site} to {answer.query!r}.")
        if not is_extraction(view.extraction):
            raise Usage(f"{view.extraction!r} cannot name an extraction.")
        try:
            size = len((view.text or "").encode())
        except UnicodeEncodeError as error:
            raise Usage(f"the text for {answer.query!r} holds a lone surrogate, which no UTF-8 file can.") from error
        if size > TEXT_LIMIT:
            raise Usage(f"the text for {answer.query!r} is too large to be kept: {size} bytes.")
    if html is not None and len(html) > HTML_LIMIT:
        raise Usage(f"the HTML for {answer.query!r} is too large to be kept: {len(html)} bytes.")


def _stored(view: PageView, text: bytes | None) -> StoredView:
    return StoredView(
        version=view.version,
        sha256=view.sha256,
        titles=view.titles,
        disambiguation=view.disambiguation,
        flags=view.flags,
        text=None if text is None else (len(text), hashlib.sha256(text).hexdigest()),
    )


def _put(path: Path, data: bytes) -> None:
    """Put *data* at *path*, unless it stands there already."""
    try:
        standing = path.read_bytes()
    except FileNotFoundError:
        try:
            replace_file(path, data)
        except PermissionError:
            # Windows: another recorder is just putting the same file there.
            if not path.exists() or path.read_bytes() != data:
                raise
        return
    if standing != data:
        raise Corrupt(f"{path} stands there with other contents; remove it, or restore it, and record again.")


def _packed(html: bytes) -> bytes:
    """Compress *html* to the same bytes always: no time, no name, one level."""
    import gzip
    import io

    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=packed, mtime=0) as file:
        file.write(html)
    return packed.getvalue()


def _without_credentials(answer: Answer) -> Answer:
    """Return *answer* with user names, passwords and fragments taken out of its URLs."""
    from dataclasses import replace
    from urllib.parse import urlsplit, urlunsplit

    def bare(url: str) -> str:
        parts = urlsplit(url)
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], fragment=""))

    return replace(
        answer,
        base_url=answer.base_url and bare(answer.base_url),
        asked=answer.asked and bare(answer.asked),
        redirects=tuple(map(bare, answer.redirects)),
        final_url=answer.final_url and bare(answer.final_url),
    )
