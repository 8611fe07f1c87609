"""FEVER (Thorne et al. 2018) as the ReAct paper uses it: the claim alone, judged by its label."""

from __future__ import annotations

from collections.abc import Mapping

from .. import metrics
from ..domain import Question, Score

LABELS = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")
"""The labels, as the data set writes them."""

NEAR_LABELS: Mapping[str, str] = {
    "support": "SUPPORTS",
    "supported": "SUPPORTS",
    "true": "SUPPORTS",
    "refute": "REFUTES",
    "refuted": "REFUTES",
    "false": "REFUTES",
    "not enough information": "NOT ENOUGH INFO",
    "insufficient information": "NOT ENOUGH INFO",
}
"""Answers, normalized, that mean a label and are none. They are counted apart and never earn a point."""


class Fever:
    """Claims, scored as the released ReAct code scores them: an answer has to equal the label once normalized.

    Attributes:
        name: the task's name, in paths and on the command line.
        version: moves when a score can.
        max_steps: step limit; 5 for FEVER in the paper (section 3.2). The released notebook took 7: a setting.
        scorer: the scoring rules' name and version.
        labels: the answers that it chooses from.
        headline: what tables call `em`. There is no partial credit, so that F1 is the same and is left out.
        prompt_task: the task whose prompts it uses.
        prompt: the prompts that it uses unless others are asked for. The paper's are not ours to ship: `reactrepro
            fetch prompts` installs them, as `paper`.
        site: the wiki whose pages it reads.
    """

    name = "fever"
    version = 1
    scorer = "fever-react/1"
    labels = LABELS
    headline = "accuracy"
    max_steps = 5
    prompt_task = "fever"
    prompt = "plain"
    site = "enwiki"

    def opening(self, question: Question) -> str:
        """Return `Claim: ` and the claim, untouched."""
        return f"Claim: {question.text}"

    def score(self, answer: str | None, gold: str) -> Score:
        """Score *answer* against the label *gold*; None is worth 0.

        `em` and `f1` are the ReAct rule (released notebooks, `FeverWrapper`): equal once normalized, so that `Refutes.`
        counts. Beside it, in `Score.more`:

        * `official_accuracy`: the data set's own scorer (`fever-scorer`), equal in upper case, nothing stripped;
        * `near_label`: 1 where the answer is one of `NEAR_LABELS`;
        * `near_label_correct`: 1 where that one leads to *gold*. A number of its own: it is in no accuracy.
        """
        if answer is None:
            return Score(em=False, f1=0.0, more=dict.fromkeys(MEASURES, 0.0))
        right = metrics.exact_match(answer, gold)
        near = NEAR_LABELS.get(metrics.normalize_answer(answer))
        counted = (answer.upper() == gold.upper(), near is not None, near == gold)
        return Score(em=right, f1=float(right), more=dict(zip(MEASURES, map(float, counted), strict=True)))


MEASURES = ("official_accuracy", "near_label", "near_label_correct")
"""The names in `Score.more`."""
