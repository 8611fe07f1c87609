"""Exact match and token F1 by the official HotpotQA evaluation.

The rules are those of `hotpot_evaluate_v1.py` (Yang et al. 2018, github.com/hotpotqa/hotpot), which in turn took them
from SQuAD; the released ReAct code scores by the same. They are not bent: no substring matching, no Unicode folding, no
partial credit for a verbose yes or no. Pure; knows no task.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = dict.fromkeys(map(ord, string.punctuation))
_CLOSED = ("yes", "no", "noanswer")


def normalize_answer(text: str) -> str:
    """Return *text* in the form in which answers are compared.

    In this order: lower case; ASCII punctuation deleted (so `U.S.A.` is `usa`, and curly quotes and dashes stay);
    the words `a`, `an`, `the` replaced by a blank; white space of any kind squeezed to single blanks.
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(prediction: str, gold: str) -> bool:
    """Return whether the two are equal once normalized. Two that normalize to nothing are equal."""
    return normalize_answer(prediction) == normalize_answer(gold)


def f1(prediction: str, gold: str) -> float:
    """Return the token F1 of the two, 0.0 to 1.0. See `token_scores`."""
    return token_scores(prediction, gold)[0]


def token_scores(prediction: str, gold: str) -> tuple[float, float, float]:
    """Return (F1, precision, recall) over the multisets of normalized tokens.

    Where either side is `yes`, `no` or `noanswer`, only an equal answer earns anything. Without a common token all
    three are 0.0, also when both sides are empty (exact match is True there: the official rule).
    """
    one, other = normalize_answer(prediction), normalize_answer(gold)
    if one != other and (one in _CLOSED or other in _CLOSED):
        return 0.0, 0.0, 0.0
    predicted, wanted = one.split(), other.split()
    common = (Counter(predicted) & Counter(wanted)).total()
    if common == 0:
        return 0.0, 0.0, 0.0
    precision, recall = common / len(predicted), common / len(wanted)
    return 2 * precision * recall / (precision + recall), precision, recall


@dataclass(frozen=True, slots=True)
class Vote:
    """What a majority vote came to.

    Attributes:
        answer: the winner, as the first sample that gave it wrote it; None where no sample gave any answer.
        votes: how many samples gave it.
        of: how many samples there were, those without an answer included.
    """

    answer: str | None
    votes: int
    of: int


def majority_vote(answers: Sequence[str | None]) -> Vote:
    """Return the answer that most of *answers* give; they are the same where they are equal once normalized.

    Of several with equally many votes the one that was given first wins. None is a sample without an answer: it counts
    among the samples and never wins (self-consistency: Wang et al. 2022; the tie rule is ours).
    """
    votes = Counter(normalize_answer(answer) for answer in answers if answer is not None)
    if not votes:
        return Vote(None, 0, len(answers))
    winner, count = max(votes.items(), key=lambda item: item[1])  # the first of equals: a Counter keeps their order
    first = next(answer for answer in answers if answer is not None and normalize_answer(answer) == winner)
    return Vote(first, count, len(answers))
