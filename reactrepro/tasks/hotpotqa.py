"""HotpotQA (Yang et al. 2018) as the ReAct paper uses it: the question alone, without its gold paragraphs."""

from __future__ import annotations

from .. import metrics
from ..domain import Question, Score


class HotpotQA:
    """Multi-hop questions, scored by the official exact match and F1.

    Attributes:
        name: the task's name, in paths and on the command line.
        version: moves when a score can.
        max_steps: step limit; 7 for HotpotQA in the paper (section 3.2).
        scorer: the scoring rules' name and version: those of the official evaluation.
        prompt_task: the task whose prompts it uses.
        prompt: the prompts that it uses unless others are asked for.
        site: the wiki whose pages it reads.
    """

    name = "hotpotqa"
    version = 1
    scorer = "hotpotqa-official/1"
    max_steps = 7
    prompt_task = "hotpotqa"
    prompt = "paper"
    site = "enwiki"

    def opening(self, question: Question) -> str:
        """Return `Question: ` and the question's text, untouched: a trailing blank is part of the data."""
        return f"Question: {question.text}"

    def score(self, answer: str | None, gold: str) -> Score:
        """Score *answer* against *gold* by the official rules.

        None is worth 0. An unfinished episode counts as None, whatever its gold answer: by the official rule its empty
        answer would match the two gold answers of the dev set that normalize to nothing (rows 3667 and 5470).
        """
        if answer is None:
            return Score(em=False, f1=0.0)
        return Score(em=metrics.exact_match(answer, gold), f1=metrics.f1(answer, gold))
