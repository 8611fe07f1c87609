"""The back-offs: ReAct where it comes to an answer, else CoT-SC; and the other way round (Yao et al. 2022, sec. 3.2).

"Combining Internal and External Knowledge": both are compositions. They make no call and write no prompt of their own;
what they say follows from the trajectories of their parts.
"""

from __future__ import annotations

from collections.abc import Callable

from ..domain import Trajectory
from ..metrics import majority_vote


class ReactThenCotSc:
    """The method `react_then_cot_sc`: where ReAct gives no answer within its step limit, CoT-SC answers.

    The paper's limits are 7 steps for HotpotQA and 5 for FEVER.
    """

    name = "react_then_cot_sc"
    trusts = False  #: a threshold has a meaning
    parts = ("react", "cot_sc")
    rules: tuple[str, ...] = (
        "CoT-SC answers where ReAct gave no answer within its step limit; an empty answer is one",
    )

    def compose(self, part: Callable[[str], Trajectory], threshold: float | None = None) -> Trajectory:
        """Return what becomes of one question; see `domain.BackOff`. *threshold* has no meaning here."""
        react = part("react")
        if react.ended != "step_limit":
            return react
        cot_sc = part("cot_sc")
        return _joined(acted=react, sampled=cot_sc, decisive=cot_sc)


class CotScThenReact:
    """The method `cot_sc_then_react`: where fewer than half of the samples agree on the answer, ReAct answers."""

    name = "cot_sc_then_react"
    trusts = True  #: a threshold has a meaning
    parts = ("cot_sc", "react")
    rules: tuple[str, ...] = (
        "ReAct answers where the winning answer has fewer than n/2 votes, and then whatever it comes to",
    )

    def compose(self, part: Callable[[str], Trajectory], threshold: float | None = None) -> Trajectory:
        """Return what becomes of one question; see `domain.BackOff`. The paper's threshold is n/2 votes."""
        cot_sc = part("cot_sc")
        vote = majority_vote([sample.answer for sample in cot_sc.samples])
        if vote.votes >= (len(cot_sc.samples) / 2 if threshold is None else threshold):
            return cot_sc
        react = part("react")
        return _joined(acted=react, sampled=cot_sc, decisive=react)


def _joined(*, acted: Trajectory, sampled: Trajectory, decisive: Trajectory) -> Trajectory:
    return Trajectory(
        opening=decisive.opening,
        steps=acted.steps,
        answer=decisive.answer,
        ended=decisive.ended,
        llm_calls=acted.llm_calls + sampled.llm_calls,
        reprompts=acted.reprompts + sampled.reprompts,
        strict_reprompts=acted.strict_reprompts + sampled.strict_reprompts,
        samples=sampled.samples,
    )
