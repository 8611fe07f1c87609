"""The labels that divide a reply: where `Thought 2:`, `Action 2:` and their like stand, however they are written.

Every pattern here repeats a bounded number of times, so that reading takes linear time on any string.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_DRESS = r"[ \t>*_#`~+\-•]{0,12}"
_NUMBER = r"(?P<gap>[ \t]{0,3})#?(?P<number>[0-9]{0,6})"
_END = (
    r"(?P<tail>[ \t*_`]{0,6})(?:[:：](?P<close>[*_`]{0,6})|(?<=[0-9*_`])(?=\n|\Z))"  # a bare `Action 2` fills its line
)
_TEXT = rf"(?P<dress>{_DRESS})(?P<word>thought|action|observation|question|claim){_NUMBER}{_END}"

_VERB = r"(?:search|look[ -]?up|finish)"
_SPACE = re.compile(r"\s*")
_DECORATION = dict.fromkeys(map(ord, "*_`"))
_LABEL = re.compile(_TEXT, re.IGNORECASE | re.ASCII)
_AT_LINE = re.compile(rf"^{_TEXT}", re.IGNORECASE | re.ASCII | re.MULTILINE)
_INLINE = re.compile(
    rf"(?P<dress>[*_`]{{0,3}})\b(?P<word>action){_NUMBER}{_END}(?=[ \t*_`]{{0,6}}{_VERB}[ \t]{{0,3}}\[)",
    re.IGNORECASE | re.ASCII,
)
_UNLABELLED = re.compile(rf"^(?={_DRESS}(?:{_VERB}|think)[*_` \t]{{0,4}}\[)", re.IGNORECASE | re.ASCII | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Label:
    """A label in a reply.

    Attributes:
        match: what was found. All else is worked out when it is asked for: a hostile reply is full of labels.
    """

    match: re.Match[str]

    @property
    def start(self) -> int:
        """Where its line begins; for a label inside a line, where it begins itself."""
        return self.match.start()

    @property
    def end(self) -> int:
        """Where the text that it labels begins."""
        return self.match.end()

    @property
    def word(self) -> str:
        """`thought`, `action`, `observation`, `question` or `claim`."""
        return self.match["word"].lower()

    @property
    def closing(self) -> str:
        """Decoration that was opened before the label and not closed in it, so that it is closed further on."""
        return "" if self._closed else self.match["dress"].strip(">#-+~• \t")

    @property
    def _closed(self) -> str:
        return (self.match["tail"] + (self.match["close"] or "")).strip()

    def problems(self, i: int) -> set[str]:
        """Return the flags for everything in which the label differs from that of step *i*."""
        dress, number = self.match["dress"], self.match["number"]
        found = set()
        if dress.strip() or self._closed:
            found.add("decorated_label")
        plain = f"{self.word.capitalize()}{' ' if number else ''}{number}:"
        if dress != dress.strip() or self.match[0][len(dress) :].translate(_DECORATION) != plain:
            found.add("label_form")
        if not number:
            found.add("missing_number")
        elif int(number) != i:
            found.add("wrong_number")
        return found


def find(text: str) -> list[Label]:
    """Return the labels at the beginnings of lines, in order."""
    return [Label(match) for match in _AT_LINE.finditer(text)]


def skip(text: str, found: set[str]) -> str:
    """Return *text* without the labels that it begins with, each of them flagged as repeated."""
    position = 0
    while match := _LABEL.match(text, _SPACE.match(text, position).end()):  # type: ignore[union-attr]
        found.add("repeated_label")
        position = match.end()
    return text[position:].lstrip() if position else text


def loose(text: str) -> tuple[Label | None, int | None]:
    """Return the first action that no label at the beginning of a line announces.

    It is either a label inside a line, with a known verb and a bracket behind it, or a line that begins with a verb
    and a bracket: (the label, None), (None, the line's start) or, where there is neither, (None, None).
    """
    inline, bare = _INLINE.search(text), _UNLABELLED.search(text)
    if inline and not (bare and bare.start() < inline.start()):
        return Label(inline), None
    return None, bare.start() if bare else None
