"""One file from several places: the first that brings the right bytes is taken, and the others' failures are told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from ..errors import Corrupt, InfraError, ReactReproError


class Progress(Protocol):
    """Is told how a fetch goes on."""

    def asking(self, url: str) -> None:
        """*url* is asked now."""

    def come(self, size: int, whole: int | None) -> None:
        """So many bytes have come, of so many; None: unknown."""

    def failed(self, url: str, why: str) -> None:
        """*url* did not bring the file."""


class Silence:
    """A `Progress` that says nothing."""

    def asking(self, url: str) -> None:
        """Say nothing."""

    def come(self, size: int, whole: int | None) -> None:
        """Say nothing."""

    def failed(self, url: str, why: str) -> None:
        """Say nothing."""


def first_good(
    mirrors: Sequence[str],
    fault: Callable[[bytes], str | None],
    *,
    limit: int,
    name: str,
    expected: str,
    remedy: str,
    progress: Progress,
) -> tuple[bytes, str]:
    """Return the right bytes, and the address they came from.

    Args:
        mirrors: addresses, in the order in which they are asked.
        fault: says what is wrong with bytes; None where nothing is.
        limit: bytes of the file, at most.
        name: the file's name.
        expected: what it has to be, in words.
        remedy: how it can be given by other means: a command.
        progress: is told.

    Raises:
        Usage: an address is none.
        InfraError: no address brought anything.
        Corrupt: none brought the right file, and one a wrong one.
    """
    from .fetch import checked, download, shown  # requests: a tenth of a second, paid by who asks a network

    for url in mirrors:
        checked(url)
    failures: list[tuple[str, ReactReproError]] = []
    for url in mirrors:
        progress.asking(shown(url))
        try:
            data = download(url, limit, progress.come)
            if (wrong := fault(data)) is None:
                return data, shown(url)
            raise Corrupt(f"it is another file: {wrong}")
        except (InfraError, Corrupt) as error:
            failures.append((shown(url), error))
            progress.failed(shown(url), str(error))
    told = "".join(f"\n  {url}: {error}" for url, error in failures)
    kind = Corrupt if any(isinstance(error, Corrupt) for _, error in failures) else InfraError
    raise kind(
        f"{name} could not be fetched; nothing was written.{told}\n"
        f"  Expected: {expected}.\n"
        f"  If you have the file, or can get it elsewhere: {remedy}"
    )


def read_local(path: Path, limit: int) -> bytes:
    """Return the bytes of the user's file at *path*, at most *limit*.

    Raises:
        Corrupt: it is larger, or cannot be read.
    """
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise Corrupt(f"{path} cannot be read: {error.strerror}.") from None
    if len(data) > limit:
        raise Corrupt(f"{path} has more than the {limit:,} bytes that are read.")
    return data
