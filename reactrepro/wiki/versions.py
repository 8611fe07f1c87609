"""Versions of an answer, read back from the files they stand in.

A version is a metadata file ``<version>.json``, a text file ``<version>.<extraction>.txt`` for every view that has a
text, and perhaps ``<version>.html.gz``, all in the answer's folder (`names.folder`). The specification is
docs/formats.md, "Wiki snapshot". Files may come from strangers: what is read is bounded, typed, and stays inside.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..domain import PageView
from ..errors import Corrupt, FormatNewer
from .entry import FORMAT, Metadata, from_json
from .files import check_inside, read_bytes
from .names import folder, is_version

METADATA_LIMIT = 1 << 20
TEXT_LIMIT = 16 << 20
HTML_LIMIT = 64 << 20


@dataclass(frozen=True, slots=True)
class Version:
    """One version of an answer: its metadata, and where it stands.

    Attributes:
        root: the snapshot folder.
        where: the answer's folder in it.
        stem: what the names of the version's files begin with.
        metadata: what its metadata file says.
    """

    root: str
    where: str
    stem: str
    metadata: Metadata

    @property
    def path(self) -> Path:
        """The metadata file."""
        return Path(self._file(".json"))

    @property
    def age(self) -> tuple[str, str]:
        """Sorts versions: by time, an unknown one first, then by name."""
        return self.metadata.answer.time or "", self.stem

    def text_path(self, extraction: str) -> Path:
        """Return where the text of *extraction* stands, if there is one."""
        return Path(self._file(f".{extraction}.txt"))

    @property
    def html_path(self) -> Path:
        """Where the compressed HTML stands, if it was kept."""
        return Path(self._file(".html.gz"))

    def view(self, extraction: str) -> PageView:
        """Return what an agent sees, from the files as they are now.

        Raises:
            Corrupt: the text file is absent, too large, not UTF-8 or no plain file.
            KeyError: the version has no view under *extraction*.
        """
        stored, answer = self.metadata.views[extraction], self.metadata.answer
        text = None
        if stored.text is not None:
            data = self._text_bytes(extraction)
            try:
                text = data.decode()
            except UnicodeDecodeError as error:
                raise Corrupt(
                    f"{self.text_path(extraction)} is not UTF-8 (byte {error.start}): cut short or altered."
                ) from error
        return PageView(
            site=answer.site, query=answer.query, kind=answer.kind, extraction=extraction, version=stored.version,
            titles=stored.titles, text=text, disambiguation=stored.disambiguation, flags=stored.flags,
        )  # fmt: skip

    def disagreement(self, extraction: str) -> str | None:
        """Say how the files of *extraction* disagree with what the metadata says of them; None where they agree.

        Raises:
            Corrupt, KeyError: as `view`.
        """
        stored = self.metadata.views[extraction]
        if self.view(extraction).sha256 == stored.sha256:
            return None
        if stored.text is not None:
            data = self._text_bytes(extraction)
            if (len(data), hashlib.sha256(data).hexdigest()) != stored.text:
                bytes_said = stored.text[0]
                if len(data) < bytes_said:
                    return f"{self.text_path(extraction)} was cut short: {len(data)} bytes of {bytes_said} are there"
                return (
                    f"{self.text_path(extraction)} was edited: its {len(data)} bytes are not the {bytes_said} that "
                    f"{self.path.name} names"
                )
        return f"{self.path} was edited: its view {extraction!r} no longer has the hash that it says"

    def html(self) -> bytes | None:
        """Return the HTML that the views come from; None where it was not kept or is left out here.

        Raises:
            Corrupt: the file is no gzip, too large, or not the HTML that the metadata names.
        """
        if self.metadata.html is None or not os.path.lexists(self.html_path):
            return None
        import gzip
        import io
        import zlib

        packed = read_bytes(self._file(".html.gz"), HTML_LIMIT, self.root)
        try:
            html = gzip.GzipFile(fileobj=io.BytesIO(packed)).read(HTML_LIMIT + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise Corrupt(f"{self.html_path} cannot be unpacked: {error}.") from error
        if len(html) > HTML_LIMIT or hashlib.sha256(html).hexdigest() != self.metadata.html:
            raise Corrupt(f"{self.html_path} is not the HTML that {self.path.name} names.")
        return html

    def _text_bytes(self, extraction: str) -> bytes:
        return read_bytes(self._file(f".{extraction}.txt"), TEXT_LIMIT, self.root)

    def _file(self, ending: str) -> str:
        return os.path.join(self.where, self.stem + ending)


def versions_of(root: str, site: str, query: str, problems: list[Corrupt]) -> list[Version]:
    """Return the versions of *site*'s answer to *query* below *root*, newest first.

    Args:
        problems: what could not be read is put here, so that one broken version does not hide another.
    """
    found = [one for one in versions_in(root, site, folder(query), problems) if one.metadata.answer.query == query]
    if len(found) > 1:
        found.sort(key=lambda version: version.age, reverse=True)
    return found


def versions_in(root: str, site: str, name: str, problems: list[Corrupt]) -> Iterator[Version]:
    """Read the versions in one answer's folder, in no order; what cannot be read is put into *problems*.

    Temporary files, texts and files of other names are passed over. A folder that is not there has no versions.

    Args:
        root, site, name: the snapshot folder, the folder of the site in it, the answer's folder in that.
    """
    parent = os.path.join(root, site)
    where = os.path.join(parent, name)
    try:
        files = os.listdir(where)
        check_inside(parent, root)
        check_inside(where, root)
    except (FileNotFoundError, NotADirectoryError):
        return
    except Corrupt as problem:
        problems.append(problem)
        return
    except OSError as error:
        problems.append(Corrupt(f"{where} cannot be read: {error.strerror}."))
        return
    for file in files:
        if file.endswith(".json") and is_version(file[:-5]):
            try:
                metadata = read(os.path.join(where, file), root)
            except Corrupt as problem:
                problems.append(problem)
                continue
            answer = metadata.answer
            if answer.site == site and folder(answer.query) == name:
                yield Version(root, where, file[:-5], metadata)
            else:
                problems.append(
                    Corrupt(
                        f"{where}/{file} answers {answer.query!r} of {answer.site}, whose place is "
                        f"{answer.site}/{folder(answer.query)}."
                    )
                )


def read(path: str, root: str) -> Metadata:
    """Read the metadata file at *path*, below *root*.

    Raises:
        FormatNewer: it is of a newer format.
        Corrupt: it is not what the format says.
    """
    data = read_bytes(path, METADATA_LIMIT, root)
    try:
        form = json.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise Corrupt(f"{path} is not JSON ({error}): it was cut short or altered.") from error
    found = form.get("format") if isinstance(form, dict) else None
    if found != FORMAT:
        if isinstance(found, str) and found.startswith("reactrepro-page/"):
            raise FormatNewer(f"{path} is {found}, and this program reads {FORMAT}: a newer reactrepro may read it.")
        raise Corrupt(f"{path} is no {FORMAT}.")
    try:
        return from_json(form)
    except (KeyError, TypeError, ValueError) as error:
        what = f"{error.args[0]!r} is absent" if isinstance(error, KeyError) else str(error)
        raise Corrupt(f"{path} does not have the form of {FORMAT}: {what}.") from error
