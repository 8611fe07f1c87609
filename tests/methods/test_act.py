"""Act: ReAct without thoughts."""

from __future__ import annotations

import pytest

from reactrepro.domain import Question, Settings, Trajectory
from reactrepro.methods.act import Act

from .conftest import PROMPT, ScriptedLlm, TableEnv


def run(replies: list[str], *, protocol: str = "strict", max_steps: int = 7) -> tuple[Trajectory, ScriptedLlm]:
    """Run the loop over *replies*."""
    llm, env = ScriptedLlm(replies), TableEnv(answers={"search[Vorland]": "A town."})
    settings = Settings.of("paper", max_steps=max_steps, protocol=protocol)
    return Act().run(Question("0", "Where?", "yes"), PROMPT, llm, env, settings), llm


def test_each_call_asks_for_the_next_action() -> None:
    r"""The text so far and `Action i:`, stopped at `\nObservation i:`; a step adds two lines."""
    trajectory, llm = run([" Search[Vorland]", " Finish[yes]"])
    start = f"{PROMPT.text}Question: Where?\n"
    grown = f"{start}Action 1: Search[Vorland]\nObservation 1: A town.\n"
    assert llm.asked == [
        (f"{start}Action 1:", ("\nObservation 1:",), 1),
        (f"{grown}Action 2:", ("\nObservation 2:",), 2),
    ]
    assert (trajectory.answer, trajectory.ended, trajectory.llm_calls) == ("yes", "finish", 2)
    assert [step.thought for step in trajectory.steps] == ["", ""]


def test_an_empty_reply_is_an_invalid_action() -> None:
    """It is a step, and nothing is asked a second time."""
    trajectory, llm = run(["  ", " Finish[yes]"])
    assert (len(llm.asked), trajectory.reprompts) == (2, 0)
    assert trajectory.steps[0].observation == "Invalid action: "
    assert trajectory.flags == (("empty_action", "invalid_action"), ())


def test_an_unfinished_run_has_an_empty_answer() -> None:
    """The hidden finish closes it."""
    trajectory, _ = run([" Search[Vorland]"] * 3, max_steps=3)
    assert (trajectory.answer, trajectory.ended, len(trajectory.steps)) == ("", "step_limit", 3)


@pytest.mark.parametrize(
    ("protocol", "raw"), [("strict", "Search[Vorland]\nAction 2: Finish[yes]"), ("tolerant", "Search[Vorland]")]
)
def test_a_reply_that_runs_on(protocol: str, raw: str) -> None:
    """Strict executes all of it, as the original would; tolerant the first action."""
    trajectory, _ = run([" Search[Vorland]\nAction 2: Finish[yes]", " Finish[yes]"], protocol=protocol)
    assert trajectory.steps[0].action.raw == raw
