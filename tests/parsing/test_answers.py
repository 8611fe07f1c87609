"""Answers of the methods that answer in one go."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro.parsing import PROTOCOLS, answers

STRICT = [
    ("Answer:", " Harlow Bay", "Harlow Bay"),
    ("Answer:", " Harlow Bay\n\nIt lies north.", "Harlow Bay"),
    ("Answer:", " no, wait. Answer: Quill ", "Quill"),
    ("Answer:", "\nHarlow Bay", None),
    ("Answer:", "   ", None),
    ("Thought:", " It is a bay.\nAnswer: Harlow Bay", "Harlow Bay"),
    ("Thought:", " Answer: Quill\nAnswer: Harlow Bay\nSo it is.", "Harlow Bay"),
    ("Thought:", " It is a bay.\nanswer: Harlow Bay", None),
    ("Thought:", " It is a bay, and the answer is Harlow Bay.", None),
    ("Thought:", " **Answer:** Harlow Bay", "** Harlow Bay"),
    ("Thought:", "", None),
]

TOLERANT = [
    ("Thought:", " It is a bay.\n**Answer:** Harlow Bay", "Harlow Bay", {"decorated_label"}),
    ("Thought:", " It is a bay.\nFinal answer: Harlow Bay", "Harlow Bay", {"label_form"}),
    ("Thought:", " It is a bay.\nAnswer:\nHarlow Bay\n", "Harlow Bay", {"label_form"}),
    ("Thought:", ' It is a bay.\nAnswer: "Harlow Bay"', "Harlow Bay", {"decorated_answer"}),
    ("Thought:", ' Two of them.\nAnswer: "a" and "b"', '"a" and "b"', set()),
    ("Thought:", "<think>Answer: Quill</think> A bay.\nAnswer: Harlow Bay", "Harlow Bay", {"think_block"}),
    ("Answer:", "\n\nHarlow Bay", "Harlow Bay", set()),
    ("Answer:", " **Harlow Bay**", "Harlow Bay", {"decorated_answer"}),
    ("Answer:", "Answer: Harlow Bay<|im_end|>", "Harlow Bay", {"end_token"}),
    ("Thought:", " I cannot say.", None, {"no_answer"}),
    ("Thought:", "  ", None, {"empty_reply", "no_answer"}),
]


@pytest.mark.parametrize(("label", "reply", "answer"), STRICT)
def test_strict_takes_what_stands_behind_the_last_label(label: str, reply: str, answer: str | None) -> None:
    """Up to the line's end, without blanks around it, and nothing else."""
    read = answers.strict(reply, label, "stop")
    assert read.action == answer
    assert ("no_answer" in read.flags) == (answer is None)


@pytest.mark.parametrize(("label", "reply", "answer", "flags"), TOLERANT)
def test_tolerant_names_every_repair(label: str, reply: str, answer: str | None, flags: set[str]) -> None:
    """What chat models dress an answer in is left out, and flagged."""
    read = answers.tolerant(reply, label, "stop")
    assert (read.action, set(read.flags)) == (answer, flags)


@pytest.mark.parametrize("finish", ["length", "max_tokens"])
def test_an_answer_that_the_token_limit_cut_does_not_count(finish: str) -> None:
    """Under tolerant; a line that is complete was not cut."""
    assert answers.tolerant(" A bay.\nAnswer: Harlow", "Thought:", finish).action is None
    assert answers.tolerant(" A bay.\nAnswer: Harlow Bay\nIt", "Thought:", finish).action == "Harlow Bay"
    assert answers.strict(" A bay.\nAnswer: Harlow", "Thought:", finish).action == "Harlow"


@given(st.text(alphabet=st.sampled_from('AaNnSsWwEeRr:* \n"`xΩ\r：')), st.sampled_from(["Answer:", "Thought:"]))
def test_no_reply_raises(text: str, label: str) -> None:
    """And no answer has blanks around it, a newline in it, or nothing in it."""
    for name in PROTOCOLS:
        answer = PROTOCOLS.get(name).parse_answer(text, label, "stop").action
        assert answer is None or (answer == answer.strip() and answer and "\n" not in answer)


@given(st.text(alphabet="abc XYZ1", min_size=1).filter(lambda text: text.strip()))
def test_both_protocols_read_a_plain_reply_alike(answer: str) -> None:
    """Without a flag."""
    reply = f" So it is.\nAnswer: {answer}"
    strict, tolerant = (answers.strict(reply, "Thought:", "stop"), answers.tolerant(reply, "Thought:", "stop"))
    assert strict == tolerant
    assert strict.action == answer.strip()
