"""What the paper reports: rows of other people's numbers, to stand beside ours and never among them.

Source: Yao et al. 2022, "ReAct: Synergizing Reasoning and Acting in Language Models" (arXiv:2210.03629, ICLR 2023),
table 1: PaLM-540B, prompted; exact match on HotpotQA and accuracy on FEVER, in percent. Other model,
other wiki, other day: a recording made today does not measure what these numbers measure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

SOURCE = "Yao et al. 2022 (arXiv:2210.03629), table 1, PaLM-540B"
SAMPLE = 500
"""Questions that the paper's released code evaluates on. A smaller sample is not comparable with the table."""

MEASURES: Mapping[str, str] = {"hotpotqa": "EM", "fever": "accuracy"}
"""Task -> what the table reports of it. The table has these two tasks and no other."""


@dataclass(frozen=True, slots=True)
class PaperRow:
    """One row of the paper's table 1, in percent.

    Attributes:
        label: the row's name in the paper.
        method: the method's name here; None for what is no prompting method.
        hotpotqa: exact match.
        fever: accuracy.
    """

    label: str
    method: str | None
    hotpotqa: float
    fever: float


TABLE_1: tuple[PaperRow, ...] = (
    PaperRow("Standard", "standard", 28.7, 57.1),
    PaperRow("CoT", "cot", 29.4, 56.3),
    PaperRow("CoT-SC", "cot_sc", 33.4, 60.4),
    PaperRow("Act", "act", 25.7, 58.9),
    PaperRow("ReAct", "react", 27.4, 60.9),
    PaperRow("CoT-SC -> ReAct", "cot_sc_then_react", 34.2, 64.6),
    PaperRow("ReAct -> CoT-SC", "react_then_cot_sc", 35.1, 62.0),
    PaperRow("Supervised SoTA", None, 67.5, 89.5),
)
"""The rows, in the paper's order. The last is the best supervised system that the paper names, no prompting."""


def rows(task: str) -> tuple[tuple[PaperRow, float], ...]:
    """Return the paper's rows for *task*, each with its number in percent; none for a task that the paper has not."""
    if task not in MEASURES:
        return ()
    return tuple((row, row.hotpotqa if task == "hotpotqa" else row.fever) for row in TABLE_1)
