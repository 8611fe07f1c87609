"""Diagnoses: what an episode did, exactly."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro.cassettes.library import Library
from reactrepro.diagnoses import Diagnoses, diagnose, stands_in
from reactrepro.domain import Ended, Step, Trajectory
from reactrepro.metrics import normalize_answer
from reactrepro.parsing.actions import parse_action
from reactrepro.runs.replay import replay_episode
from reactrepro.runs.roots import Sources

from .world import checkout

PAGE = "Vorland is a town in Quill. It lies on Harlow Bay."


def trajectory(*steps: tuple[str, str], answer: str | None = None, ended: Ended = "step_limit") -> Trajectory:
    """A trajectory of (action, observation)."""
    made = tuple(Step(i, "", parse_action(action), seen) for i, (action, seen) in enumerate(steps, 1))
    if made and made[-1].action.name == "finish":
        answer, ended = made[-1].action.argument, "finish"
    return Trajectory("Question: Which bay?", made, answer, ended, len(made), 0, 0)


def found(*steps: tuple[str, str], gold: str = "Harlow Bay", **more: object) -> dict[str, object]:
    """The diagnoses that are not 0, False or None."""
    return {name: value for name, value in diagnose(trajectory(*steps), gold, **more).as_dict().items() if value}  # type: ignore[arg-type]


SEARCH = ("Search[Vorland]", PAGE)
FINISH = ("Finish[the Harlow Bay.]", "Episode finished, reward = 1\n")


def test_an_answer_that_was_read() -> None:
    """Gold answer and given answer stand in what was read, normalized; nothing else is remarked."""
    assert found(SEARCH, FINISH) == {"gold_observed": True, "answer_observed": True, "evidence": 1}


def test_an_answer_from_memory() -> None:
    """Without evidence nothing was observed, right or not."""
    assert diagnose(trajectory(FINISH), "Harlow Bay") == Diagnoses(False, False, 0, 0, 0, 0, 0, 0, False)


def test_what_only_repeats_the_question_is_no_evidence() -> None:
    """A failed Search echoes the model's own words, Finish too; an article without text shows none."""
    missed = ("Search[Harlow Bay]", "Could not find Harlow Bay. Similar: ['Harlow Bay (ship)'].")
    assert found(missed, FINISH) == {"searches_without_result": 1}
    empty = Step(1, "", parse_action("Search[Harlow Bay]"), "The page found for Harlow Bay has no text to read.")
    marked = Step(1, "", empty.action, empty.observation, remarks=("empty_article",))
    assert diagnose(Trajectory("", (marked,), "", "step_limit", 1, 0, 0), "Harlow Bay").evidence == 0


def test_the_count_before_a_lookup_is_no_evidence() -> None:
    """`(Result 1 / 3)` answers no question about numbers; the sentence behind it does."""
    looked = ("Lookup[town]", "(Result 1 / 3) The town has 12 clerks.")
    assert found(SEARCH, looked, gold="3") == {"evidence": 2, "step_limit": True}
    assert found(SEARCH, looked, gold="12 Clerks")["gold_observed"] is True


@pytest.mark.parametrize("gold", ["yes", "No", "noanswer", "The", "!!", "REFUTES", "not enough info"])
def test_an_answer_that_is_chosen_is_not_looked_for(gold: str) -> None:
    """Yes and no, labels, and what normalizes to nothing: the question does not arise, which is not "no"."""
    labels = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")
    read = ("Search[Vorland]", "yes no noanswer the REFUTES not enough info !!")
    made = diagnose(trajectory(read, (f"Finish[{gold}]", "")), gold, labels=labels)
    assert (made.gold_observed, made.answer_observed, made.evidence) == (None, None, 1)


@pytest.mark.parametrize(
    ("answer", "text", "stands"),
    [
        ("Harlow Bay", "the Harlow, Bay", True),
        ("bay", "Bayonet", False),
        ("10", "in 1902 and 2010", False),
        ("Harlow Bay", "Bay Harlow", False),
        ("Harlow Bay", "Harlow a Bay", True),
        ("U.S.A.", "made in the USA.", True),
        ("", "anything", False),
        ("the", "the", False),
    ],
)
def test_an_answer_stands_in_a_text_as_whole_words_in_order(answer: str, text: str, stands: bool) -> None:
    """Token after token, both normalized; an answer of nothing stands nowhere."""
    assert stands_in(answer, text) is stands


@given(st.text(), st.text(), st.text())
def test_what_was_put_in_is_found(before: str, answer: str, after: str) -> None:
    """Between blanks, every answer with a token is found; containment agrees with that of the token lists."""
    text = f"{before} {answer} {after}"
    wanted, tokens = normalize_answer(answer).split(), normalize_answer(text).split()
    runs = [tokens[i : i + len(wanted)] for i in range(len(tokens))]
    assert stands_in(answer, text) is (bool(wanted) and wanted in runs)
    assert stands_in(answer, text) is bool(wanted)


def test_a_repeated_action_is_one_by_name_and_argument() -> None:
    """The same Search again counts, each time; another argument and an invalid action do not."""
    assert found(SEARCH, SEARCH, ("Search[Quill]", PAGE), SEARCH)["repeated_actions"] == 2
    assert "repeated_actions" not in found(("Jump[x]", "Invalid"), ("Jump[x]", "Invalid"))


def test_paging_through_a_lookup_is_no_repetition() -> None:
    """The same Lookup brings the next hit; only when it brings what it brought before does it repeat."""
    first, second = ("Lookup[a]", "(Result 1 / 2) A."), ("Lookup[a]", "(Result 2 / 2) B.")
    nothing = ("Lookup[a]", "No more results.\n")
    assert "repeated_actions" not in found(SEARCH, first, second, nothing)
    assert found(SEARCH, first, second, nothing, nothing)["repeated_actions"] == 1


def test_lookups_without_page_and_without_result() -> None:
    """Before any Search found a page, there is nothing to look in; a failed Search changes nothing about that."""
    nothing = ("Lookup[a]", "No more results.\n")
    missed = ("Search[Q]", "Could not find Q. Similar: [].")
    made = diagnose(trajectory(nothing, missed, nothing, SEARCH, nothing), "x")
    assert (made.lookups_without_page, made.lookups_without_result, made.searches_without_result) == (2, 3, 1)


def test_invalid_actions_and_the_step_limit() -> None:
    """What the environment does not know is invalid; `think` it knows. An episode that finished ran into no limit."""
    made = diagnose(
        trajectory(("", "Invalid action: "), ("go", "Invalid action: go"), ("think[x]", "Nice thought.")), "x"
    )
    assert (made.invalid_actions, made.step_limit, made.answer_observed) == (2, True, None)
    assert not diagnose(trajectory(ended="filtered"), "x").step_limit


# --- on recordings --------------------------------------------------------------------------------------------------


def recorded(label: str, key: str) -> dict[str, object]:
    """The diagnoses of a committed recording, those that are 0, False or None left out."""
    library = Library.of([checkout() / "cassettes"])
    (run,) = [run for run in library.runs() if run.label == label]
    report = replay_episode(run, key, Sources(library, (checkout() / "wiki_snapshot",)))
    assert report.ok
    assert report.trajectory is not None
    assert report.question is not None
    made = diagnose(report.trajectory, report.question.gold)
    return {name: value for name, value in made.as_dict().items() if value}


def test_the_published_episode() -> None:
    """Two searches and a yes: two observations to read, and nothing to look for in them."""
    assert recorded("hotpotqa/react/deepseek-v3-250324", "0") == {"evidence": 2}


def test_recordings_of_small_models() -> None:
    """A model that goes round in circles, one that reads the answer and does not give it, one that never acts."""
    assert recorded("pelm/react/gemma-3-270m", "0") == {"repeated_actions": 1, "searches_without_result": 2}
    assert recorded("pelm/react/gemma-3-270m", "1") == {"gold_observed": True, "evidence": 2, "repeated_actions": 1}
    assert recorded("pelm/react/smollm2-135m-instruct", "0") == {"invalid_actions": 7, "step_limit": True}


def test_every_diagnosis_states_its_rule() -> None:
    """The docstring and docs/scoring.md say what each one means."""
    page = (checkout() / "docs" / "scoring.md").read_text(encoding="utf-8")
    for diagnosis in fields(Diagnoses):
        assert f"{diagnosis.name}:" in (Diagnoses.__doc__ or "")
        assert f"`{diagnosis.name}`" in page
