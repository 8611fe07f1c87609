"""Standard, CoT, CoT-SC: one prompt, an answer, a vote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from reactrepro import prompts
from reactrepro.domain import Completion, Question, Settings, Trajectory
from reactrepro.judged import ClosedBook
from reactrepro.methods import METHODS
from reactrepro.parsing.stops import cut
from reactrepro.tasks import TASKS

QUESTION = Question("0", "Where is Vorland? ", "Quill")
CLAIM = Question("0", "Vorland is in Quill.", "SUPPORTS")


@dataclass
class Sampled:
    """Gives as many of its replies as are wanted, two to a call."""

    replies: Sequence[str | Completion]
    asked: list[tuple[str, tuple[str, ...], int]] = field(default_factory=list)
    calls: int = 0

    def complete(self, prompt: str, stop: Sequence[str], *, step: int) -> Completion:
        raise AssertionError("methods without steps sample")

    def sample(self, prompt: str, stop: Sequence[str], count: int, *, step: int) -> tuple[Completion, ...]:
        self.asked.append((prompt, tuple(stop), step))
        self.calls += (count + 1) // 2
        return tuple(self._completion(reply, stop) for reply in self.replies[:count])

    def _completion(self, reply: str | Completion, stop: Sequence[str]) -> Completion:
        if isinstance(reply, Completion):
            return reply
        text, removed = cut(reply, stop)
        return Completion(text=text, raw=reply, finish="stop", cut=removed)


def run(method: str, replies: Sequence[str | Completion], *, task: str = "hotpotqa") -> tuple[Trajectory, Sampled]:
    """Run *method* under its own settings for profile paper."""
    made, known = METHODS.get(method)(), TASKS.get(task)()
    question = CLAIM if task == "fever" else QUESTION
    prompt = prompts.load(known.prompt_task, made.prompt, known.prompt)
    asked = {"samples": len(replies)} if method == "cot_sc" else {}
    settings = Settings.of("paper", max_steps=7, method=made.defaults("paper"), **asked)
    llm = Sampled(replies)
    return made.run(question, prompt, llm, ClosedBook(known.opening(question), lambda _: 0.0), settings), llm


@pytest.mark.parametrize(
    ("method", "task", "label", "stop"),
    [
        ("standard", "hotpotqa", "Question: Where is Vorland? \nAnswer:", "\nQuestion:"),
        ("cot", "hotpotqa", "Question: Where is Vorland? \nThought:", "\nQuestion:"),
        ("cot_sc", "hotpotqa", "Question: Where is Vorland? \nThought:", "\nQuestion:"),
        ("standard", "fever", "Claim: Vorland is in Quill.\nAnswer:", "\nClaim:"),
        ("cot", "fever", "Claim: Vorland is in Quill.\nThought:", "\nClaim:"),
    ],
)
def test_the_prompt_is_the_exemplars_the_question_and_a_label(method: str, task: str, label: str, stop: str) -> None:
    """Nothing else: no instruction of ReAct's before them; stopped where the next question would begin."""
    known = TASKS.get(task)()
    file = prompts.load(known.prompt_task, METHODS.get(method)().prompt, known.prompt)
    _, llm = run(method, [" Quill"], task=task)
    assert llm.asked == [(file.text + label, (stop,), 1)]


def test_standard_answers_with_its_line() -> None:
    """One call, one sample, no step; what the model runs on with is cut at the stop string."""
    trajectory, _ = run("standard", [" Quill\nQuestion: Who?\nAnswer: Marlow"])
    assert (trajectory.answer, trajectory.ended, trajectory.llm_calls, trajectory.steps) == ("Quill", "finish", 1, ())
    assert [(sample.text, sample.flags) for sample in trajectory.samples] == [(" Quill", ("cut_at_stop",))]


def test_a_reply_without_an_answer_ends_without_one() -> None:
    """It is judged, and worth nothing."""
    trajectory, _ = run("cot", [" I wonder."])
    assert (trajectory.answer, trajectory.ended, trajectory.flags) == (None, "no_answer", (("no_answer",),))


def test_a_filtered_reply_is_not_judged() -> None:
    """The provider gave no reply that could be."""
    trajectory, _ = run("cot", [Completion("", "", finish="content_filter")])
    assert (trajectory.answer, trajectory.ended) == (None, "filtered")


def test_the_majority_wins_as_it_was_first_written() -> None:
    """Answers are the same once normalized."""
    trajectory, llm = run("cot_sc", [" a\nAnswer: No", " b\nAnswer: the Quill.", " c\nAnswer: quill"])
    assert (trajectory.answer, trajectory.llm_calls, len(llm.asked)) == ("the Quill.", 2, 1)
    assert [sample.answer for sample in trajectory.samples] == ["No", "the Quill.", "quill"]
    assert [sample.number for sample in trajectory.samples] == [1, 2, 3]


def test_the_answer_that_was_seen_first_wins_a_tie() -> None:
    """Whatever the order of the others."""
    assert run("cot_sc", [" a\nAnswer: x", " b\nAnswer: y", " c\nAnswer: y", " d\nAnswer: x"])[0].answer == "x"


def test_a_sample_without_an_answer_never_wins() -> None:
    """Nor does a filtered one; only where no sample answers is there no answer."""
    filtered = Completion("", "", finish="content_filter")
    assert run("cot_sc", [" ?", " ?", filtered, " c\nAnswer: x"])[0].answer == "x"
    assert run("cot_sc", [" ?", " ?"])[0].ended == "no_answer"
    assert run("cot_sc", [filtered, filtered])[0].ended == "filtered"
    assert run("cot_sc", [filtered, " ?"])[0].ended == "no_answer"


def test_the_papers_settings() -> None:
    """CoT gets 256 tokens in profile paper; CoT-SC takes 21 samples at temperature 0.7; the others are as ReAct."""
    found = {name: dict(METHODS.get(name)().defaults("paper")) for name in METHODS}
    assert found == {
        "react": {},
        "act": {},
        "standard": {},
        "cot": {"max_tokens": 256},
        "cot_sc": {"max_tokens": 256, "temperature": 0.7, "samples": 21},
    }
    assert METHODS.get("cot_sc")().defaults("chat") == {"temperature": 0.7, "samples": 21}
