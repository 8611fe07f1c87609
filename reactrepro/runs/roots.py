"""Where recordings and snapshots are found: the packaged ones, and what a user lays over them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..cassettes.library import Library
from ..errors import Usage

CASSETTES_VARIABLE = "REACTREPRO_CASSETTES"
SNAPSHOT_VARIABLE = "REACTREPRO_WIKI_SNAPSHOT"


@dataclass(frozen=True, slots=True)
class Sources:
    """Everything that a replay reads from.

    Attributes:
        library: the recordings.
        snapshots: wiki snapshot roots, the uppermost first.
        prompts: folders with a user's own prompts, searched before the packaged ones.
        prompt: name of a prompt that takes the place of the recorded one; None for the recorded one.
    """

    library: Library
    snapshots: tuple[Path, ...]
    prompts: tuple[Path, ...] = ()
    prompt: str | None = None


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
    prompts = (here / "prompts",) if (here / "prompts").is_dir() else ()
    return Sources(Library(layers["cassettes"]), layers["wiki_snapshot"], prompts)


def shown(path: Path) -> str:
    """Return *path* as messages name it: relative to the current folder where it stands below it."""
    here, there = os.getcwd(), os.path.abspath(path)
    return Path(there[len(here) + 1 :]).as_posix() if there.startswith(here + os.sep) else str(path)


def _from_environment(environment: Mapping[str, str], variable: str) -> list[Path]:
    folders = [Path(entry) for entry in environment.get(variable, "").split(os.pathsep) if entry]
    for folder in folders:
        if not folder.is_dir():
            raise Usage(f"{variable} names {folder}, which is no folder.")
    return folders
