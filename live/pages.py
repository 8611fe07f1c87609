"""The invented encyclopedia: one page per file in `encyclopedia/`, as wikitext. Pure but for reading the files.

A file is named after its title, in lower-case ASCII letters, digits and hyphens. Its first line is `TITLE: ` and the
title; the rest is the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

FOLDER = Path(__file__).with_name("encyclopedia")
WRITTEN = "2026-01-01T00:00:00Z"
"""The time of every page's one revision, so that two wikis made from the same files show the same."""

_LINK = re.compile(r"\[\[([^]|]+)(?:\|([^]]+))?]]")
_REDIRECT = re.compile(r"#REDIRECT \[\[([^]|]+)]]\s*")
_MARKUP = re.compile(r"<ref\b[^>]*/>|<ref\b.*?</ref>|<[a-z/][^>]*>|\{\{.*?}}|'{2,}", re.DOTALL)


@dataclass(frozen=True)
class Page:
    """A page: its title and its wikitext."""

    title: str
    text: str

    @property
    def redirect(self) -> str | None:
        """The title that it sends its readers on to, or None."""
        found = _REDIRECT.fullmatch(self.text)
        return found[1] if found else None

    @property
    def links(self) -> tuple[str, ...]:
        """The titles that it links to, in order; like every title they begin with a capital letter."""
        return tuple(found[1][0].upper() + found[1][1:] for found in _LINK.finditer(self.text))

    @property
    def plain(self) -> str:
        """Its text about as a reader sees it: no links, emphasis, notes or HTML; tables stay wikitext."""
        return _MARKUP.sub("", _LINK.sub(lambda found: found[2] or found[1], self.text))


def read(folder: Path = FOLDER) -> tuple[Page, ...]:
    """Return the pages in the order of their file names.

    Raises:
        ValueError: a file does not begin with a title, or there is none.
    """
    found = []
    for path in sorted(folder.glob("*.wiki")):
        first, _, text = path.read_text(encoding="utf-8").partition("\n")
        if not first.startswith("TITLE: "):
            raise ValueError(f"{path.name} does not begin with 'TITLE: '")
        found.append(Page(first.removeprefix("TITLE: "), text.rstrip("\n")))
    if not found:
        raise ValueError("there is no file *.wiki")
    return tuple(found)


def dump(written: Iterable[Page]) -> str:
    """Return the pages as an XML dump, the form in which a MediaWiki imports them."""
    parts = ['<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" version="0.10" xml:lang="en">\n']
    for page in written:
        parts.append(
            f"<page><title>{escape(page.title)}</title><ns>0</ns><revision><timestamp>{WRITTEN}</timestamp>"
            f'<text xml:space="preserve">{escape(page.text)}</text></revision></page>\n'
        )
    return "".join([*parts, "</mediawiki>\n"])
