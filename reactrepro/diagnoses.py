"""What an episode did, told from its trajectory and the gold answer alone. Pure and deterministic.

The paper's claim is grounding: that the answer comes from what was read (Yao et al. 2022, section 3.3 and table 2).
Whether it did is a judgement; whether the answer *stood* in anything that was read is a fact, and so are the other
things counted here. Nothing is guessed at: each attribute of `Diagnoses` states its rule, whole.

**What counts as read** (*evidence*): the observations of Search and Lookup, but for those that only answer that there
is nothing ("Could not find ...", "No more results.", an article without text), since these repeat the model's own
words. Of a Lookup's observation the count in front, ``(Result 1 / 3)``, does not count.

**What counts as standing in it**: both normalized by `metrics.normalize_answer`, the answer's tokens one after the
other among the observation's: "Marlow" stands neither in "Marlowe" nor in "Marlow's", which normalizes to one word.
An answer that normalizes to nothing, ``yes``, ``no``, and a label of the task are not read but chosen: for them the
question does not arise.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import asdict, dataclass

from .domain import Step, Trajectory
from .metrics import normalize_answer

CLOSED = ("yes", "no", "noanswer")
"""Answers that are chosen, not read."""

NOT_FOUND = "Could not find "
NO_MORE = "No more results."

_RESULT = re.compile(r"\(Result \d+ / \d+\) ")


@dataclass(frozen=True, slots=True)
class Diagnoses:
    """The diagnoses of one episode.

    Attributes:
        gold_observed: the gold answer stands in some evidence; None where that question does not arise.
        answer_observed: the given answer does; None also where none was given.
        evidence: observations that count as read. With 0 the episode answered from memory, or not at all.
        repeated_actions: steps whose action, by name and argument, an earlier step took already; invalid actions are
            not among them, nor is a Lookup that brings another observation than before: so one pages through its hits.
        searches_without_result: Search steps whose observation begins with "Could not find ".
        lookups_without_result: Lookup steps that brought nothing ("No more results.").
        lookups_without_page: Lookup steps before any Search found a page to look in.
        invalid_actions: steps whose action is none that the environment knows, or is no action.
        step_limit: the steps ran out before the model gave an answer.
    """

    gold_observed: bool | None
    answer_observed: bool | None
    evidence: int
    repeated_actions: int
    searches_without_result: int
    lookups_without_result: int
    lookups_without_page: int
    invalid_actions: int
    step_limit: bool

    def as_dict(self) -> dict[str, bool | int | None]:
        """Return name to value, in the order above."""
        return asdict(self)


def diagnose(trajectory: Trajectory, gold: str, *, labels: Collection[str] = ()) -> Diagnoses:
    """Return the diagnoses of *trajectory*.

    Args:
        trajectory: of any method; one without actions has no evidence.
        gold: the gold answer, as in the data.
        labels: answers that the task chooses from (FEVER's three), if it does.
    """
    steps = trajectory.steps
    read = [found for step in steps if (found := evidence(step)) is not None]
    closed = {*CLOSED, *map(normalize_answer, labels)}
    answer = trajectory.answer if trajectory.ended == "finish" else None
    return Diagnoses(
        gold_observed=_observed(gold, read, closed),
        answer_observed=None if answer is None else _observed(answer, read, closed),
        evidence=len(read),
        repeated_actions=_repeated(steps),
        searches_without_result=sum(_is_empty_search(step) for step in steps),
        lookups_without_result=sum(_is_empty_lookup(step) for step in steps),
        lookups_without_page=_without_page(steps),
        invalid_actions=sum(not step.action.name for step in steps),
        step_limit=trajectory.ended == "step_limit",
    )


def evidence(step: Step) -> str | None:
    """Return the text that *step* gave to read, or None."""
    if "empty_article" in step.remarks:
        return None
    if step.action.name == "search" and not _is_empty_search(step):
        return step.observation
    if step.action.name == "lookup" and not _is_empty_lookup(step):
        return _RESULT.sub("", step.observation, count=1) if _RESULT.match(step.observation) else step.observation
    return None


def stands_in(answer: str, text: str) -> bool:
    """Tell whether the normalized *answer*, token after token, stands in the normalized *text*; nothing stands in none.

    Tokens are whole words: ``10`` does not stand in "1902 and 2010".
    """
    wanted = normalize_answer(answer)
    return bool(wanted) and f" {wanted} " in f" {normalize_answer(text)} "


def _observed(answer: str, read: list[str], closed: Collection[str]) -> bool | None:
    wanted = normalize_answer(answer)
    if not wanted or wanted in closed:
        return None
    return any(stands_in(wanted, text) for text in read)


def _is_empty_search(step: Step) -> bool:
    return step.action.name == "search" and step.observation.startswith(NOT_FOUND)


def _is_empty_lookup(step: Step) -> bool:
    return step.action.name == "lookup" and step.observation.strip() == NO_MORE


def _repeated(steps: tuple[Step, ...]) -> int:
    seen: dict[tuple[str, str], set[str]] = {}
    count = 0
    for step in steps:
        if not step.action.name:
            continue
        before = seen.setdefault((step.action.name, step.action.argument), set())
        count += bool(before) and (step.action.name != "lookup" or step.observation in before)
        before.add(step.observation)
    return count


def _without_page(steps: tuple[Step, ...]) -> int:
    count = 0
    for step in steps:
        if step.action.name == "search" and not _is_empty_search(step):
            break
        count += step.action.name == "lookup"
    return count
