"""FEVER: labels, near-labels, accuracies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro import prompts
from reactrepro.domain import Question
from reactrepro.metrics import exact_match
from reactrepro.prompts import derive
from reactrepro.tasks.fever import LABELS, NEAR_LABELS, Fever
from reactrepro.tasks.pelm_fever import PelmFever

TABLE = [
    # answer, gold -> em, official, near, near and right
    ("REFUTES", "REFUTES", 1, 1, 0, 0),
    ("refutes", "REFUTES", 1, 1, 0, 0),
    ("Refutes.", "REFUTES", 1, 0, 0, 0),
    ("NOT ENOUGH INFORMATION", "NOT ENOUGH INFO", 0, 0, 1, 1),
    ("supported", "SUPPORTS", 0, 0, 1, 1),
    ("supported", "REFUTES", 0, 0, 1, 0),
    ("SUPPORTS because it says so", "SUPPORTS", 0, 0, 0, 0),
    ("True", "SUPPORTS", 0, 0, 1, 1),
    ("", "SUPPORTS", 0, 0, 0, 0),
]


@pytest.mark.case("B23")
@pytest.mark.parametrize(("answer", "gold", "em", "official", "near", "right"), TABLE)
def test_a_label_has_to_be_the_word(answer: str, gold: str, em: int, official: int, near: int, right: int) -> None:
    """Normalized for ReAct's rule, in upper case for the official one; near-labels are counted, and earn nothing."""
    score = Fever().score(answer, gold)
    assert (score.em, score.f1) == (bool(em), float(em))
    assert score.more == {"official_accuracy": official, "near_label": near, "near_label_correct": right}


def test_no_answer_is_worth_nothing() -> None:
    """An unfinished episode scores 0 in every measure."""
    score = Fever().score(None, "SUPPORTS")
    assert (score.em, score.f1, set(score.more.values())) == (False, 0.0, {0.0})


@given(st.text())
def test_the_react_rule_is_exact_match(answer: str) -> None:
    """And a near-label is never right at the same time."""
    for gold in LABELS:
        score = Fever().score(answer, gold)
        assert score.em == exact_match(answer, gold)
        assert not (score.em and score.more["near_label"])


def test_near_labels_are_no_labels() -> None:
    """Each leads to a label and equals none."""
    assert set(NEAR_LABELS.values()) == set(LABELS)
    assert not any(exact_match(near, label) for near in NEAR_LABELS for label in LABELS)


def test_a_claim_opens_as_one() -> None:
    """With its text untouched."""
    assert Fever().opening(Question("0", "It is so. ", "SUPPORTS")) == "Claim: It is so. "
    assert Fever().max_steps == 5


def test_pelm_has_twelve_claims_four_of_each_label() -> None:
    """Keyed by their place."""
    claims = PelmFever().questions()
    assert [claim.key for claim in claims] == [str(n) for n in range(12)]
    assert sorted(claim.gold for claim in claims) == sorted(LABELS * 4)


def test_our_exemplars_are_ablated_as_the_papers_are() -> None:
    """Act is ReAct without thoughts, Standard is CoT without thoughts; three exemplars, one of each label."""
    files = {method: prompts.load("fever", method, "plain") for method in ("react", "act", "cot", "standard")}
    exemplars = {
        method: prompt.text.removeprefix(prompt.text.partition("\n\n")[0] + "\n\n") for method, prompt in files.items()
    }
    assert exemplars["act"] == derive.act_from_react(exemplars["react"])
    assert exemplars["standard"] == derive.standard_from_cot(exemplars["cot"])
    for text in exemplars.values():
        assert text.count("Claim: ") == 3
        assert "Claim: Stranger Things is set in Bloomington, Indiana.\n" in text
        assert all(text.count(f"{label}\n") + text.count(f"{label}]\n") == 1 for label in LABELS)
    for method in ("react", "act"):
        assert "not quoted from anywhere" in files[method].text.partition("\n")[0]
