"""Secrets in what is kept: every file of a run, and the metadata of pages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from ..cassettes.read import MAX_CASSETTE, read_bytes
from ..cassettes.runs import Run
from ..cassettes.secrets import Scan, secret_in_address
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

    def in_run(self, run: Run) -> dict[str, SecretFound]:
        """Return what was found in the files of *run*, unfinished ones included, by file name."""
        try:
            paths = sorted(path for path in run.folder.iterdir() if path.is_file())
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
        more = f"; and {len(secrets) - 1} more" if len(secrets) > 1 else ""
        text = f"{shown(path)}: {secrets[0]}{more}.\n  {_THEN}\n  {_UNLESS} {secrets[0].digest}."
        return SecretFound(text, secrets[0].line)

    def in_pages(self, versions: Iterable[Version]) -> Iterator[tuple[Path, SecretFound]]:
        """Yield what was found in the metadata of *versions*: in the text of the file, and in its addresses."""
        for version in versions:
            answer = version.metadata.answer
            problem = self.in_file(version.path)
            for address in (answer.base_url, answer.asked, *answer.redirects, answer.final_url):
                if problem is None and address and (what := secret_in_address(address)):
                    problem = SecretFound(f"{shown(version.path)}: an address has {what}.\n  {_THEN}")
            if problem is not None:
                yield version.path, problem
