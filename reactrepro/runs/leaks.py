"""Secrets in what is kept: every file of a run, and the metadata of pages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from ..cassettes.read import MAX_CASSETTE, read_bytes
from ..cassettes.runs import Run
from ..cassettes.secrets import Scan, Secret, secret_in_address
from ..errors import ReactReproError, SecretFound
from ..wiki.versions import Version
from .roots import shown

_THEN = "Make the key invalid if this file was ever shared, take it out, and record again where it is a recording."
_UNLESS = "If it is no secret, say so with --no-secret"


class Leaks:
    """Looks for secrets, in files that have much in common.

    Args:
        known: hashes, as reports show them, of what looks like a secret and is none.
    """

    def __init__(self, known: Collection[str] = ()) -> None:
        self._scan = Scan(known)

    def in_run(self, run: Run, key: str | None = None) -> dict[str, SecretFound]:
        """Return what was found in the files of *run*, or of its episode *key*, unfinished ones included, by name."""
        begins = "" if key is None else f"{key}."
        try:
            paths = sorted(path for path in run.folder.iterdir() if path.name.startswith(begins) and path.is_file())
        except OSError:
            return {}
        found = {}
        for path in paths:
            if (problem := self.in_file(path)) is not None:
                found[path.name] = problem
        return found

    def in_file(self, path: Path) -> SecretFound | None:
        """Return what was found in the file *path*; one that cannot be read is somebody else's to report."""
        try:
            secrets = self._scan(read_bytes(path, MAX_CASSETTE))
        except ReactReproError:
            return None
        if not secrets:
            return None
        return SecretFound(_words(path, secrets, line=True), secrets[0].line)

    def in_pages(self, versions: Iterable[Version]) -> Iterator[tuple[Path, SecretFound]]:
        """Yield what was found in the metadata of *versions*: in any text of it, and in its addresses."""
        for version in versions:
            answer = version.metadata.answer
            addresses = [a for a in (answer.base_url, answer.asked, *answer.redirects, answer.final_url) if a]
            titles = [title for view in version.metadata.views.values() for title in view.titles]
            texts = "\n".join([answer.query, answer.title or "", *addresses, *titles])
            if secrets := self._scan(texts.encode("utf-8", "surrogatepass")):
                yield version.path, SecretFound(_words(version.path, secrets, line=False))
            elif what := next(filter(None, map(secret_in_address, addresses)), None):
                yield version.path, SecretFound(f"{shown(version.path)}: an address has {what}.\n  {_THEN}")


def _words(path: Path, secrets: Sequence[Secret], *, line: bool) -> str:
    more = f"; and {len(secrets) - 1} more" if len(secrets) > 1 else ""
    where = f"line {secrets[0].line}" if line else "the metadata"
    return f"{shown(path)}: {where} {secrets[0]}{more}.\n  {_THEN}\n  {_UNLESS} {secrets[0].digest}."
