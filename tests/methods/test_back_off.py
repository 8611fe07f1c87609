"""The back-offs, computed from trajectories of their parts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from reactrepro.domain import BackOff, Ended, Sample, Trajectory
from reactrepro.methods import BACK_OFFS


def acted(answer: str | None, ended: Ended = "finish") -> Trajectory:
    """A trajectory of ReAct."""
    return Trajectory("Question: ?", (), answer, ended, 3, 1, 1)


def voted(answers: Sequence[str | None]) -> Trajectory:
    """A trajectory of CoT-SC."""
    samples = tuple(Sample(n, "", answer) for n, answer in enumerate(answers, 1))
    return Trajectory("Question: ?", (), answers[0], "finish", 2, 0, 0, samples)


def compose(
    name: str, react: Trajectory, cot_sc: Trajectory, threshold: float | None = None
) -> tuple[Trajectory, list[str]]:
    """Compose, and say which parts were asked for."""
    asked: list[str] = []

    def part(role: str) -> Trajectory:
        asked.append(role)
        return {"react": react, "cot_sc": cot_sc}[role]

    method: BackOff = BACK_OFFS.get(name)()
    return method.compose(part, threshold), asked


def test_react_that_answers_is_not_backed_off() -> None:
    """The second part is not even asked for."""
    made, asked = compose("react_then_cot_sc", acted("x"), voted(["y"]))
    assert (made, asked) == (acted("x"), ["react"])


def test_react_without_an_answer_hands_over_to_the_vote() -> None:
    """Calls and reprompts of both count."""
    made, asked = compose("react_then_cot_sc", acted("", "step_limit"), voted(["y", "y"]))
    assert (made.answer, made.ended, made.llm_calls, made.reprompts) == ("y", "finish", 5, 1)
    assert (asked, len(made.samples)) == (["react", "cot_sc"], 2)


@pytest.mark.parametrize("ended", ["filtered", "refused", "context_exceeded"])
def test_an_episode_that_is_not_judged_is_not_backed_off(ended: Ended) -> None:
    """It is no answer within the step limit either, but the provider's doing."""
    assert compose("react_then_cot_sc", acted(None, ended), voted(["y"]))[0].ended == ended


def test_an_empty_answer_is_an_answer() -> None:
    """The model finished, with nothing."""
    assert compose("react_then_cot_sc", acted("", "finish"), voted(["y"]))[1] == ["react"]


@pytest.mark.parametrize(
    ("answers", "threshold", "asked"),
    [
        (["y", "y", "z", "z"], None, 1),  # 2 of 4 is half
        (["y", "y", "z", None, None], None, 2),  # 2 of 5 is less
        (["y", "y", "y", "z", None], None, 1),
        ([None, None], None, 2),
        (["y", "y", "z"], 3, 2),
        (["y", "x", "z"], 1, 1),
        ([None], 0, 1),
    ],
)
def test_react_answers_where_fewer_than_half_agree(
    answers: list[str | None], threshold: float | None, asked: int
) -> None:
    """Fewer than n/2 votes for the winner, samples without an answer counted in n; or than the threshold given."""
    made, parts = compose("cot_sc_then_react", acted("x"), voted(answers), threshold)
    assert parts == ["cot_sc", "react"][:asked]
    assert made.answer == ("x" if asked == 2 else answers[0])
