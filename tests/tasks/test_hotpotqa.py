"""The HotpotQA task."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reactrepro.domain import Question, Score, Task
from reactrepro.errors import Usage
from reactrepro.tasks import TASKS


@pytest.fixture
def task() -> Task:
    """The task, as the registry gives it."""
    return TASKS.get("hotpotqa")()


def test_it_is_registered(task: Task) -> None:
    """The registry gives the class; its steps are the paper's."""
    assert (task.name, task.version, task.max_steps, task.prompt_task) == ("hotpotqa", 1, 7, "hotpotqa")
    with pytest.raises(Usage, match="hotpotqa"):
        TASKS.get("hotpotsoup")


@pytest.mark.case("B42")
@pytest.mark.parametrize("text", ["Where is Vorland? ", " a\tb ", "caf\u00e9\u00a0?", ""])
def test_the_question_is_sent_as_in_the_data(task: Task, text: str) -> None:
    """Not a character of the question is touched."""
    assert task.opening(Question(key="0", text=text, gold="yes")) == "Question: " + text


def test_answers_are_scored_by_the_official_rules(task: Task) -> None:
    """EM and F1 of one answer, together."""
    assert task.score("the Marlow river", "Marlow") == Score(em=False, f1=pytest.approx(2 / 3))
    assert task.score("Marlow", "the Marlow") == Score(em=True, f1=1.0)


@pytest.mark.parametrize("gold", ["The The", "!!!", "yes"])
def test_an_unfinished_episode_scores_0(task: Task, gold: str) -> None:
    """Without an answer there is nothing to match, even where the gold answer normalizes to nothing."""
    assert task.score(None, gold) == Score(em=False, f1=0.0)


def test_an_empty_answer_matches_an_empty_gold_answer(task: Task) -> None:
    """The official rule, for an answer that was given: EM 1 with F1 0."""
    assert task.score("", "The The") == Score(em=True, f1=0.0)


def test_two_gold_answers_of_the_dev_set_normalize_to_nothing(task: Task, reactrepro_test_data: Path) -> None:
    """Rows 3667 and 5470 are the ones for which an unfinished episode has to be told apart from an empty answer."""
    rows = json.loads((reactrepro_test_data / "hotpot_dev_v1_simplified.json").read_bytes())
    assert [n for n, row in enumerate(rows) if task.score("", row["answer"]).em] == [3667, 5470]
    assert all(task.score(row["answer"], row["answer"]).em for row in rows)
