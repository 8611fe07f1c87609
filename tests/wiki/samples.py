"""Queries, answers, views and actions for the tests, about an invented country."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from reactrepro.domain import Action, PageView
from reactrepro.wiki.entry import Answer
from reactrepro.wiki.store import write_page
from reactrepro.wiki.versions import Version

from . import mediawiki as mw

TIME = "2026-11-30T19:22:05Z"
TOWN = "Vorland is a town.\n"
MARL = mw.article("<p><b>Marl</b> may refer to:</p><ul><li>Marl (rock), a rock</li></ul>")

HARD = [
    "Mars", "mars", "MARS", "AC/DC", "CON", "con", "nul", "NUL.txt", "..", ".", "../../etc/passwd", "C:\\Windows", "~",
    "x" * 300, "", " ", "\x00", "a\x00b", "\n", "🐈", "日本", "Zoë Żuławska", "dots...", "spaces  ", "-rf", "*?",
    "\ud83d", "[Marl]", "Marl", "A&B", "A+B", "A B", "a" * 39 + " b", "%2e%2e", "\u212a", "İ",
]  # fmt: skip
"""Queries that would make bad file names, or the same one."""


def answer(query: str = "Vorland", time: str | None = TIME, **fields: Any) -> Answer:
    """What is known of an answer; single fields by name."""
    known = {"site": "quill", "kind": "article", "provenance": "recorded", "base_url": "https://quill.example/w"}
    return Answer(**{**known, "query": query, "time": time, **fields})


def view(text: str | None = TOWN, query: str = "Vorland", **fields: Any) -> PageView:
    """What an agent sees of it; single fields by name."""
    known = {"site": "quill", "kind": "article", "extraction": "article", "version": 1}
    return PageView(**{**known, "query": query, "text": text, **fields})


def write(root: Path, text: str = TOWN, time: str | None = TIME, query: str = "Vorland") -> Version:
    """Write an article with one view, without HTML."""
    return write_page(root, answer(query, time), [view(text, query)])


def files(root: Path) -> dict[str, bytes]:
    """Every file below *root*, by relative path."""
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def action(command: str) -> Action:
    """An action as the parser hands it over: a verb it knows with brackets, or no name."""
    for name in ("search", "lookup", "finish", "think"):
        if command.startswith(f"{name}[") and command.endswith("]"):
            return Action(name, command[len(name) + 1 : -1], command.capitalize(), command)
    return Action("", "", command, command)
