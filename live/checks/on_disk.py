"""What a recording has left on the disk: read, counted, and looked through for what should not be there."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path

from reactrepro.cassettes.model import Cassette
from reactrepro.cassettes.read import read_cassette, read_run
from reactrepro.cassettes.runs import EPISODE, PART, RUN_FILE
from reactrepro.errors import ReactReproError


def strays(run: Path, keys: Iterable[str]) -> list[str]:
    """Return the names in the folder *run* that do not belong to a run in which exactly *keys* are recorded."""
    expected = {RUN_FILE, *(f"{key}{EPISODE}" for key in keys)}
    return sorted(expected ^ {path.name for path in run.iterdir()})


def half_written(run: Path) -> list[str]:
    """Return what is wrong with files in *run* that bear the name of something whole; unfinished recordings do, too."""
    found = []
    for path in sorted(run.glob("*")):
        try:
            if path.name == RUN_FILE:
                read_run(path)
            elif path.name.endswith((EPISODE, PART)):
                read_cassette(path)
        except ReactReproError as error:
            found.append(f"{path.name}: {error}")
    return found


def cassettes(run: Path) -> dict[str, Cassette]:
    """Return the recordings in *run* by file name, unfinished ones included."""
    paths = [path for path in sorted(run.glob("*")) if path.name.endswith((EPISODE, PART))]
    return {path.name: read_cassette(path) for path in paths}


def replies(run: Path) -> int:
    """Return how many replies are recorded in *run*."""
    return sum(len(cassette.interactions) for cassette in cassettes(run).values())


def no_replies(run: Path) -> list[str]:
    """Return what is recorded in *run* as a reply and is none of any API: an error, something cut short."""
    found = []
    for name, cassette in cassettes(run).items():
        for number, interaction in enumerate(cassette.interactions, 1):
            try:
                answer = interaction.response_json
            except ValueError:
                answer = None
            whole = isinstance(answer, dict) and (answer.get("choices") or answer.get("content"))
            if interaction.status != 200 or not whole:
                found.append(f"{name}, number {number}, status {interaction.status}")
    return found


def holding(folder: Path, mark: str) -> list[str]:
    """Return the files below *folder* in whose bytes *mark* stands, in unpacked ones of ``.gz`` files, too."""
    found = []
    for path, data in _files(folder):
        if mark.encode() in data or (path.suffix == ".gz" and mark.encode() in gzip.decompress(data)):
            found.append(path.relative_to(folder).as_posix())
    return sorted(found)


def size(folder: Path) -> tuple[int, int]:
    """Return how many files stand below *folder*, and how many bytes they have."""
    sizes = [len(data) for _, data in _files(folder)]
    return len(sizes), sum(sizes)


def _files(folder: Path) -> Iterator[tuple[Path, bytes]]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path, path.read_bytes()
