"""Where recordings and snapshots are found: the packaged ones, and what a user lays over them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..cassettes.library import Library
from ..data.folder import FetchedPrompts
from ..errors import Usage
from ..prompts import PACKAGED

CASSETTES_VARIABLE = "REACTREPRO_CASSETTES"
SNAPSHOT_VARIABLE = "REACTREPRO_WIKI_SNAPSHOT"


@dataclass(frozen=True, slots=True)
class Sources:
    """Everything that a replay reads from.

    Attributes:
        library: the recordings.
        snapshots: wiki snapshot roots, the uppermost first.
        prompts: folders with prompts, in the order in which they are searched, for `prompts.load`.
        prompt: name of a prompt that takes the place of the recorded one; None for the recorded one.
    """

    library: Library
    snapshots: tuple[Path, ...]
    prompts: Iterable[Path] = ()
    prompt: str | None = None


class _Prompts:
    """The folders of prompts: ./prompts, the packaged one, then the fetched ones.

    Those are looked for only where the others do not have the prompt: to find the platform's folder costs a replay more
    than everything it reads.
    """

    def __init__(self, here: Path, environment: Mapping[str, str]) -> None:
        self._here, self._environment = here, environment

    def __iter__(self) -> Iterator[Path]:
        if (local := self._here / "prompts").is_dir():
            yield local
        yield PACKAGED
        yield from FetchedPrompts(self._environment)


def packaged() -> Path:
    """Return the folder that holds the packaged ``cassettes`` and ``wiki_snapshot``.

    In a checkout, editable installs included, that is the checkout itself; in an installed wheel, a folder inside the
    package.
    """
    package = Path(__file__).resolve().parents[1]
    inside = package / "_recordings"
    return inside if inside.is_dir() else package.parent


def sources(
    cassettes: Sequence[Path] = (),
    wiki_snapshot: Sequence[Path] = (),
    *,
    here: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Sources:
    """Return the layered sources: the given folders, over those of the environment, over ./, over the packaged.

    Args:
        cassettes: folders given by option, the uppermost first.
        wiki_snapshot: likewise for snapshots.
        here: the folder whose ``cassettes``, ``wiki_snapshot`` and ``prompts`` are laid over the packaged ones;
            default: the current one.
        environment: default: the process's.

    Raises:
        Usage: a folder that the environment names does not exist.
    """
    here = Path.cwd() if here is None else here
    environment = os.environ if environment is None else environment
    base = packaged()
    layers = {}
    for name, variable, given in (
        ("cassettes", CASSETTES_VARIABLE, cassettes),
        ("wiki_snapshot", SNAPSHOT_VARIABLE, wiki_snapshot),
    ):
        named = _from_environment(environment, variable)
        local = [folder for folder in (here / name, base / name) if folder.is_dir()]
        layers[name] = tuple(dict.fromkeys(path.resolve() for path in [*given, *named, *local]))
    return Sources(Library(layers["cassettes"]), layers["wiki_snapshot"], _Prompts(here, environment))


def shown(path: Path) -> str:
    """Return *path* as messages name it: relative to the current folder where it stands below it."""
    here, there = os.getcwd(), os.path.abspath(path)
    return Path(there[len(here) + 1 :]).as_posix() if there.startswith(here + os.sep) else str(path)


def nearby(text: str) -> str:
    """Return *text* with the paths in it as `shown` shows them."""
    return text.replace(os.getcwd() + os.sep, "")


def _from_environment(environment: Mapping[str, str], variable: str) -> list[Path]:
    folders = [Path(entry) for entry in environment.get(variable, "").split(os.pathsep) if entry]
    for folder in folders:
        if not folder.is_dir():
            raise Usage(f"{variable} names {folder}, which is no folder.")
    return folders
