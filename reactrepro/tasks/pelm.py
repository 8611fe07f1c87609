"""Pelm: HotpotQA's kinds of questions about an invented country, which no model can know by heart (docs/pelm.md).

What an agent does not find on the wiki it cannot answer. The wiki's pages stand in `live/encyclopedia/` of the
checkout; the questions are part of the package.
"""

from __future__ import annotations

from pathlib import Path

from ..domain import Question
from .hotpotqa import HotpotQA
from .packaged import questions_in

QUESTIONS = Path(__file__).with_name("data") / "pelm.jsonl"
"""JSON Lines: `question`, `answer`, `type` (bridge, comparison); for tests and readers also `support`, the titles of
the pages needed, and `evidence`, what stands on each of them."""


class Pelm(HotpotQA):
    """Two-hop questions on a closed world: HotpotQA's prompts, step limit and scoring.

    Attributes:
        name: the task's name, in paths and on the command line.
        version: moves when a score can.
        site: the wiki whose pages it reads.
    """

    name = "pelm"
    version = 1
    site = "pelm"

    def questions(self) -> tuple[Question, ...]:
        """Return all questions, in order."""
        return questions()


def questions() -> tuple[Question, ...]:
    """Return all questions, in order: text and gold answer, nothing of what the file says about the pages needed."""
    return questions_in(QUESTIONS)
