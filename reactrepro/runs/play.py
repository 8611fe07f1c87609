"""One episode, played: what `replay`, `record` and `script` have in common."""

from __future__ import annotations

from collections.abc import Callable

from ..domain import Environment, Llm, Method, Prompt, Question, Score, Settings, Task, Trajectory


def judge(task: Task, question: Question) -> Callable[[str], float]:
    """Return the function that gives *question*'s environment its reward: 1 for an exact match, else 0."""
    return lambda answer: float(task.score(answer, question.gold).em)


def play(
    method: Method, task: Task, *, question: Question, prompt: Prompt, llm: Llm, env: Environment, settings: Settings
) -> tuple[Trajectory, Score]:
    """Run *method* and score what came of it. An unfinished episode is worth 0, whatever the gold answer.

    Raises:
        ReactReproError: whatever *llm* and *env* raise.
    """
    trajectory = method.run(question, prompt, llm, env, settings)
    return trajectory, scored(task, trajectory, question)


def numbers(trajectory: Trajectory) -> tuple[int, ...]:
    """Return the numbers of the samples of a method that takes several, as a recording keeps them; else none."""
    return tuple(sample.number for sample in trajectory.samples) if len(trajectory.samples) > 1 else ()


def scored(task: Task, trajectory: Trajectory, question: Question) -> Score:
    """Return what *trajectory* is worth as an answer to *question*."""
    return task.score(trajectory.answer if trajectory.ended == "finish" else None, question.gold)
