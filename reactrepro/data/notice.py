"""Licences and citations: what is printed, and the file that is kept beside what was fetched."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..cassettes.write import replace_file
from .catalogue import TERMS

MIT = Path(__file__).with_name("mit.txt")
"""The permission and the disclaimer of the released code's licence."""


def terms(names: Iterable[str]) -> str:
    """Return the terms of the works *names*, for readers."""
    return "\n".join(
        f"{TERMS[name].work}, {TERMS[name].address}\n  licence: {TERMS[name].licence}\n  cite: {TERMS[name].citation}"
        for name in names
    )


def keep(path: Path, what: str, source: str, names: tuple[str, ...]) -> None:
    """Write the notice about *what*, which came from *source*, to *path*.

    Raises:
        OSError: it cannot be written.
    """
    licence = f"\n\n{MIT.read_text(encoding='utf-8')}" if "react" in names else "\n"
    replace_file(path, f"{what}\nFetched from: {source}\n\n{terms(names)}{licence}".encode())
