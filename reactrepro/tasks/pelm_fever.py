"""Pelm's claims: FEVER's kind of question about an invented country, which no model knows by heart (docs/pelm.md)."""

from __future__ import annotations

from pathlib import Path

from ..domain import Question
from .fever import Fever
from .packaged import questions_in

CLAIMS = Path(__file__).with_name("data") / "pelm_fever.jsonl"
"""JSON Lines: `claim`, `label`; for tests and readers also `support` and `evidence`, as in `pelm.QUESTIONS`."""


class PelmFever(Fever):
    """Claims on a closed world: FEVER's prompts, step limit and scoring.

    Attributes:
        name: the task's name, in paths and on the command line.
        version: moves when a score can.
        site: the wiki whose pages it reads.
    """

    name = "pelm_fever"
    version = 1
    site = "pelm"

    def questions(self) -> tuple[Question, ...]:
        """Return all claims, in order: text and label, nothing of what the file says about the pages needed."""
        return questions_in(CLAIMS, "claim", "label")
