"""The ReAct loop, with a scripted model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro.domain import Completion, Prompt, Question, Settings
from reactrepro.errors import InfraError, Usage, WikiSnapshotMiss
from reactrepro.methods import METHODS
from reactrepro.methods.react import React, step_text, transcript

from .conftest import PROMPT, Run, ScriptedLlm, TableEnv

SEARCH = " Check the bay.\nAction 1: Search[Harlow Bay]"
FINISH = " It lies north.\nAction 2: Finish[yes]"
BOTH = pytest.mark.parametrize("protocol", ["strict", "tolerant"])


@BOTH
def test_the_loop_asks_acts_and_appends(run: Run, protocol: str) -> None:
    """Each call sends the text so far and the next label; each step adds three lines with one blank after the label."""
    env = TableEnv(answers={"search[Harlow Bay]": "Harlow Bay lies north."})
    trajectory, llm, _ = run(SEARCH, FINISH, protocol=protocol, env=env)
    start = "Solve it.\n\nQuestion: ...\nQuestion: Where?\n"
    step_1 = "Thought 1: Check the bay.\nAction 1: Search[Harlow Bay]\nObservation 1: Harlow Bay lies north.\n"
    step_2 = "Thought 2: It lies north.\nAction 2: Finish[yes]\nObservation 2: Episode finished, reward = 1\n\n"
    assert llm.asked == [
        (start + "Thought 1:", ("\nObservation 1:",), 1),
        (start + step_1 + "Thought 2:", ("\nObservation 2:",), 2),
    ]
    assert transcript(PROMPT, trajectory) == start + step_1 + step_2
    assert transcript(PROMPT, trajectory, 1) == start + step_1
    assert "".join(map(step_text, trajectory.steps)) == step_1 + step_2
    assert (trajectory.answer, trajectory.ended, trajectory.opening) == ("yes", "finish", "Question: Where?")
    assert (trajectory.llm_calls, trajectory.reprompts, trajectory.strict_reprompts) == (2, 0, 0)
    assert trajectory.flags == ((), ())


@BOTH
def test_a_reply_without_an_action_is_reprompted(run: Run, protocol: str) -> None:
    """The second call repeats the thought, its first line, asks for the action and stops at the newline."""
    trajectory, llm, env = run(" Check the bay.\nThen go.", " Search[Harlow Bay] \nx", FINISH, protocol=protocol)
    prompt, stop, step = llm.asked[1]
    assert prompt == llm.asked[0][0] + " Check the bay.\nAction 1:"
    assert (stop, step) == (("\n",), 1)
    assert env.commands[0] == "search[Harlow Bay]"
    assert trajectory.steps[0].thought == "Check the bay."
    assert trajectory.steps[0].flags == ("no_action", "cut_at_stop")
    assert (trajectory.llm_calls, trajectory.reprompts, trajectory.strict_reprompts) == (3, 1, 1)


def test_the_tolerant_protocol_cleans_the_second_reply_too(run: Run) -> None:
    """A label that the reprompt's reply repeats is removed; under strict it makes the action invalid."""
    replies = (" Check the bay.", "Action 1: search['Harlow Bay']", FINISH)
    tolerant, _, env = run(*replies, protocol="tolerant")
    assert env.commands[0] == "search[Harlow Bay]"
    assert tolerant.steps[0].action.raw == "Search[Harlow Bay]"
    assert set(tolerant.steps[0].flags) == {"no_action", "repeated_label", "verb_form", "quoted_argument"}
    strict, _, env = run(*replies, protocol="strict")
    assert strict.steps[0].action.raw == "Action 1: search['Harlow Bay']"
    assert strict.steps[0].observation == "Invalid action: action 1: search['Harlow Bay']"
    assert strict.steps[0].flags == ("no_action", "invalid_action")


def test_the_prompt_goes_on_with_canonical_lines(run: Run) -> None:
    """What a chat model decorates stands undecorated in the next prompt, and strict would have reprompted it."""
    reply = "**Thought 1:** Check the bay.\n**Action 1:** `Search[Harlow Bay]`"
    trajectory, llm, _ = run(reply, FINISH, protocol="tolerant")
    assert "Thought 1: Check the bay.\nAction 1: Search[Harlow Bay]\nObservation 1: Nothing.\n" in llm.asked[1][0]
    assert (trajectory.reprompts, trajectory.strict_reprompts) == (0, 1)


def test_a_literal_backslash_n_leaves_the_observation(run: Run) -> None:
    """The two characters are removed; a real newline stays and leaves a blank line in the prompt."""
    env = TableEnv(answers={"search[Harlow Bay]": "a\\nb\\\\nc\n"})
    trajectory, llm, _ = run(SEARCH, FINISH, env=env)
    assert trajectory.steps[0].observation == "ab\\c\n"
    assert "Observation 1: ab\\c\n\nThought 2:" in llm.asked[1][0]


@BOTH
def test_an_unfinished_episode_is_closed_by_a_hidden_finish(run: Run, protocol: str) -> None:
    """After the last step the environment gets an empty finish; no step, no call and no prompt shows it."""
    replies = [f" So.\nAction {i}: Search[Harlow Bay]" for i in (1, 2, 3)]
    trajectory, llm, env = run(*replies, protocol=protocol, max_steps=3)
    assert env.commands == ["search[Harlow Bay]"] * 3 + ["finish[]"]
    assert (trajectory.answer, trajectory.ended, len(trajectory.steps)) == ("", "step_limit", 3)
    assert (trajectory.llm_calls, len(llm.asked)) == (3, 3)


def test_an_answer_given_as_empty_is_an_answer(run: Run) -> None:
    """`Finish[]` finishes; it is not the step limit."""
    trajectory, _, env = run(" So.\nAction 1: Finish[]")
    assert (trajectory.answer, trajectory.ended) == ("", "finish")
    assert env.commands == ["finish[]"]


def test_an_invalid_action_is_an_observation(run: Run) -> None:
    """The model's mistake costs a step and is flagged; the run goes on."""
    trajectory, _, _ = run(" So.\nAction 1: Search[Harlow Bay].", FINISH)
    assert trajectory.steps[0].observation == "Invalid action: search[Harlow Bay]."
    assert trajectory.flags == (("invalid_action",), ())


@pytest.mark.case("B01")
@BOTH
def test_invented_observations_appear_in_no_prompt(run: Run, protocol: str) -> None:
    """A reply that runs ahead is cut at the stop string whatever the server did, and the cut is flagged."""
    reply = (
        " I should look up Harlow Bay.\nAction 1: Search[Harlow Bay]\nObservation 1: Harlow Bay was founded in 1902."
        "\nThought 2: So it is 1902.\nAction 2: Finish[1902]"
    )
    trajectory, llm, env = run(reply, FINISH, protocol=protocol, env=TableEnv(answers={"search[Harlow Bay]": "A bay."}))
    assert env.commands == ["search[Harlow Bay]", "finish[yes]"]
    assert trajectory.flags == (("cut_at_stop",), ())
    assert all("1902" not in prompt for prompt, _, _ in llm.asked)
    assert trajectory.steps[0].observation == "A bay."


@pytest.mark.case("B06")
def test_decorated_replies_do_not_run_into_the_step_limit(run: Run) -> None:
    """Under strict a bold label is a reprompt, counted; under tolerant it is a repair, flagged. Neither crashes."""
    replies = ["**Action 1:** `Search[Harlow Bay]`", "Search[Harlow Bay]", "Finish[yes]", "Finish[yes]"]
    strict, _, _ = run(*replies, protocol="strict")
    assert (strict.ended, strict.reprompts) == ("finish", 2)
    tolerant, llm, _ = run(replies[0], replies[3], protocol="tolerant")
    assert (tolerant.ended, tolerant.reprompts, tolerant.strict_reprompts) == ("finish", 0, 2)
    assert "**" not in llm.asked[1][0]


@pytest.mark.case("B07")
@BOTH
def test_a_budget_spent_on_reasoning_is_labelled(run: Run, protocol: str) -> None:
    """The backend's note becomes a flag; the reasoning is in no prompt and is never an action."""
    spent = Completion(
        "", "", finish="length", reasoning="The bay... Action 1: Finish[no]", notes=("truncated_in_reasoning", "odd")
    )
    trajectory, llm, env = run(spent, spent, FINISH, protocol=protocol)
    assert env.commands == ["", "finish[yes]"]
    assert {"truncated_in_reasoning", "empty_reply", "no_action", "empty_action"} <= set(trajectory.steps[0].flags)
    assert "odd" not in trajectory.steps[0].flags
    assert all("bay..." not in prompt for prompt, _, _ in llm.asked)


@pytest.mark.case("B10")
@BOTH
@pytest.mark.parametrize("second", ["", "\n", "\nSearch[Harlow Bay]"])
def test_an_empty_second_reply_costs_a_step(run: Run, protocol: str, second: str) -> None:
    """No action twice: an invalid-action observation, and the run goes on to its limit, two calls a step."""
    trajectory, llm, env = run(*[" I give up.", second] * 3, protocol=protocol, max_steps=3)
    assert [step.observation for step in trajectory.steps] == ["Invalid action: "] * 3
    assert all({"no_action", "empty_action", "invalid_action"} <= set(step.flags) for step in trajectory.steps)
    assert (trajectory.ended, trajectory.answer, trajectory.llm_calls, trajectory.reprompts) == ("step_limit", "", 6, 3)
    assert env.commands == ["", "", "", "finish[]"]
    assert "Thought 1: I give up.\nAction 1: \nObservation 1: Invalid action: \nThought 2:" in llm.asked[2][0]


@pytest.mark.case("B15")
def test_thinking_text_is_not_in_the_next_prompt(run: Run) -> None:
    """Of a reply with a thinking block only the rest goes on."""
    reply = "<think>\nMaybe Action 1: Search[Wrong Place]\n</think>\n I need the bay.\nAction 1: Search[Harlow Bay]"
    trajectory, llm, env = run(reply, FINISH, protocol="tolerant")
    assert env.commands[0] == "search[Harlow Bay]"
    assert "Wrong" not in llm.asked[1][0]
    assert trajectory.flags[0] == ("think_block",)


def test_an_action_that_the_limit_cut_is_asked_for_again(run: Run) -> None:
    """Under tolerant a cut action is reprompted; a second cut costs the step. Strict takes it as it stands."""
    cut = Completion(*[" Check the bay.\nAction 1: Search[Harlow B"] * 2, finish="length")
    trajectory, llm, env = run(
        cut, Completion(" Search[Har", " Search[Har", finish="length"), FINISH, protocol="tolerant"
    )
    assert llm.asked[1][0].endswith("Thought 1: Check the bay.\nAction 1:")
    assert env.commands == ["", "finish[yes]"]
    assert {"truncated_action", "no_action", "empty_action"} <= set(trajectory.flags[0])
    assert trajectory.strict_reprompts == 0
    _, _, env = run(cut, FINISH, protocol="strict")
    assert env.commands[0] == "search[Harlow B"


@BOTH
@pytest.mark.parametrize(
    ("finish", "ended"),
    [("content_filter", "filtered"), ("refusal", "refused"), ("model_context_window_exceeded", "context_exceeded")],
)
def test_a_reply_that_cannot_be_judged_ends_the_episode(run: Run, protocol: str, finish: str, ended: str) -> None:
    """Filtered or refused, at the first or the second call: no step, no answer, no hidden finish; the call counts."""
    for first in ((), (" I give up.",)):
        trajectory, _, env = run(
            SEARCH, *first, Completion("Finish[yes]", "Finish[yes]", finish=finish), protocol=protocol
        )
        assert (trajectory.answer, trajectory.ended, len(trajectory.steps)) == (None, ended, 1)
        assert (trajectory.llm_calls, trajectory.reprompts) == (2 + len(first), len(first))
        assert env.commands == ["search[Harlow Bay]"]


def test_errors_pass_through(run: Run) -> None:
    """What the model's or the environment's side raises is not the loop's to handle."""

    class Broken(TableEnv):
        def step(self, action: object) -> object:
            raise WikiSnapshotMiss("Harlow Bay")

    with pytest.raises(WikiSnapshotMiss):
        run(SEARCH, env=Broken())

    class Down(ScriptedLlm):
        def complete(self, prompt: str, stop: object, *, step: int) -> Completion:
            raise InfraError("down")

    question = Question(key="0", text="Where?", gold="yes")
    with pytest.raises(InfraError):
        React().run(question, PROMPT, Down([]), TableEnv(), Settings.of("chat", max_steps=7))
    with pytest.raises(Usage, match="strict"):
        run(SEARCH, protocol="lenient")


def test_the_loop_is_question_only(run: Run) -> None:
    """Another gold answer changes no prompt, up to the reward that the environment tells at the end."""
    prompts = []
    for gold in ("yes", "no", "The gold paragraph."):
        _, llm, _ = run(SEARCH, " Hm.", "Lookup[tide]", " So.\nAction 3: Finish[yes]", env=TableEnv(gold=gold))
        prompts.append([prompt for prompt, _, _ in llm.asked])
        assert all(gold == "yes" or gold not in prompt for prompt in prompts[-1])
    assert prompts[0] == prompts[1] == prompts[2]


@pytest.mark.case("B42")
def test_no_blank_of_prompt_or_question_is_touched(run: Run) -> None:
    """Trailing blanks of the prompt's last line and of the question are sent."""
    llm = ScriptedLlm([" So.\nAction 1: Finish[yes]"])
    prompt = Prompt("hotpotqa", "react", "paper", "three types: \n\x80 \n")
    env = TableEnv(question="Where is Vorland? ")
    question = Question(key="0", text=env.question, gold="yes")
    React().run(question, prompt, llm, env, Settings.of("paper", max_steps=7))
    assert llm.asked[0][0] == "three types: \n\x80 \nQuestion: Where is Vorland? \nThought 1:"


def test_it_is_registered() -> None:
    """The registry gives the class, whose name is the one it is found by."""
    assert METHODS.get("react").name == "react"


@given(
    st.lists(st.text(max_size=40), min_size=14, max_size=14), st.sampled_from(["strict", "tolerant"]), st.integers(0, 7)
)
def test_every_run_ends(replies: list[str], protocol: str, max_steps: int) -> None:
    """Whatever the model writes: at most the configured steps, two calls each, and counts that add up."""
    llm, env = ScriptedLlm(replies), TableEnv()
    settings = Settings.of("chat", max_steps=max_steps, protocol=protocol)
    trajectory = React().run(Question(key="0", text="Where?", gold="yes"), PROMPT, llm, env, settings)
    assert len(trajectory.steps) <= max_steps
    assert trajectory.llm_calls == len(llm.asked) == len(trajectory.steps) + trajectory.reprompts
    if protocol == "strict":
        assert trajectory.reprompts == trajectory.strict_reprompts
