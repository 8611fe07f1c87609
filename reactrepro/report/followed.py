"""A look ahead, as text and as data: every round's prompt as it would be sent, beside the one that was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..cassettes.matching import common_prefix
from ..domain import sha256_text
from ..prompts.lockdiff import visible_diff
from ..visible import lines
from . import text


@dataclass(frozen=True, slots=True)
class Round:
    """One call of a look ahead.

    Attributes:
        step: the 1-based step that makes it.
        prompt: as it would be sent.
        recorded: as it was.
    """

    step: int
    prompt: str
    recorded: str

    @property
    def differs_from(self) -> int | None:
        """The 1-based number of the first character that differs; None where none does."""
        return None if self.prompt == self.recorded else common_prefix(self.recorded, self.prompt) + 1

    def as_dict(self) -> dict[str, Any]:
        """Return JSON-ready data, both prompts included."""
        return {
            "step": self.step,
            "characters": len(self.prompt),
            "sha256": sha256_text(self.prompt),
            "recorded_characters": len(self.recorded),
            "differs_from_character": self.differs_from,
            "prompt": self.prompt,
            "recorded_prompt": self.recorded,
        }


def block(number: int, found: Round, *, verbose: bool) -> Iterator[str]:
    """Yield the lines about round *number*: how it differs, the difference, and, if *verbose*, the whole prompt."""
    at = found.differs_from
    how = "the same as recorded" if at is None else f"differs from character {at} of what was recorded"
    size = f"{len(found.prompt)} characters, sha256 {sha256_text(found.prompt)[:12]}"
    yield f"round {number}, step {found.step}: {size}; {how}"
    if at is not None:
        yield visible_diff(found.recorded, found.prompt, names=("recorded", "now")).rstrip("\n")
    if verbose:
        yield text.indented(lines(found.prompt))
