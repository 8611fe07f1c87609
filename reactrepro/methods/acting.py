r"""What the methods that act have in common: ask for a step, execute it, write down what came of it, until it is over.

The loop is `webthink` of the released notebooks (Yao et al. 2022). It differs in that an empty action does not raise
but is an invalid one, and in that a `tolerant` protocol can read the replies. A run takes at most `max_steps` steps,
whatever the model writes. After the last one, if the model has not finished, a hidden `finish[]` closes the episode:
the answer is "", and it stands in no prompt, no step and no count.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence

from ..domain import Completion, Ended, Environment, Llm, Prompt, Step, Trajectory, Turn
from ..parsing import PROTOCOLS, Reply
from ..parsing.actions import parse_action
from ..parsing.flags import FLAGS, ordered

UNJUDGED: Mapping[str, Ended] = {
    "content_filter": "filtered",
    "refusal": "refused",
    "model_context_window_exceeded": "context_exceeded",
}
"""Finish reasons after which there is no reply to judge, and how such an episode ended."""


class Asker(ABC):
    """Asks the model for one step at a time, and counts.

    Args:
        llm: the model.
        protocol: name of the protocol that reads its replies.

    Attributes:
        calls, reprompts, strict_reprompts: as in `Trajectory`.
        unjudged: set once a reply came that is not to be judged.
    """

    def __init__(self, llm: Llm, protocol: str) -> None:
        self.protocol = PROTOCOLS.get(protocol)
        self.calls = self.reprompts = self.strict_reprompts = 0
        self.unjudged: Ended | None = None
        self._llm = llm

    @abstractmethod
    def ask(self, text: str, i: int) -> Reply:
        """Return what the model does at step *i*, where *text* stands so far."""

    @abstractmethod
    def step_text(self, step: Step) -> str:
        """Return the lines that *step* adds to the prompt: one blank after each label, a newline at the end."""

    def complete(self, prompt: str, stop: str, i: int) -> Completion:
        """Make one call."""
        completion = self._llm.complete(prompt, (stop,), step=i)
        self.calls += 1
        self.unjudged = UNJUDGED.get(completion.finish or "")
        return completion


def act_out(asker: Asker, prompt: Prompt, env: Environment, max_steps: int) -> Trajectory:
    """Return the trajectory of what *asker* does in *env*.

    Raises:
        ReactReproError: whatever the model and *env* raise.
    """
    opening = env.reset()
    text = f"{prompt.text}{opening}\n"
    steps: list[Step] = []
    answer: str | None = ""
    ended: Ended = "step_limit"
    for i in range(1, max_steps + 1):
        reply = asker.ask(text, i)
        if asker.unjudged:
            answer, ended = None, asker.unjudged
            break
        action = parse_action(reply.action or "")
        observation = env.step(action)
        flags = reply.flags if action.name else (*reply.flags, "invalid_action")
        seen = clean_observation(observation.text)
        steps.append(Step(i, reply.thought, action, seen, ordered(flags), observation.flags))
        text += asker.step_text(steps[-1])
        if observation.done:
            answer, ended = action.argument, "finish"
            break
    if ended == "step_limit":
        env.step(parse_action("finish[]"))
    return Trajectory(
        opening=opening,
        steps=tuple(steps),
        answer=answer,
        ended=ended,
        llm_calls=asker.calls,
        reprompts=asker.reprompts,
        strict_reprompts=asker.strict_reprompts,
    )


def shortened(trajectory: Trajectory, turns: Sequence[Turn], max_steps: int) -> Trajectory:
    """Return what *trajectory*, whose calls are *turns*, would have been under a smaller step limit.

    The loop stops earlier and does nothing else before that: no prompt says how many steps there are.
    """
    kept = [turn for turn in turns if turn.step <= max_steps]
    if len(kept) == len(turns):
        return trajectory
    first = {turn.step: turn for turn in reversed(kept)}
    return Trajectory(
        opening=trajectory.opening,
        steps=trajectory.steps[:max_steps],
        answer="",
        ended="step_limit",
        llm_calls=len(kept),
        reprompts=len(kept) - len(first),
        strict_reprompts=sum(map(_strictly_reprompted, first.values())) if trajectory.strict_reprompts else 0,
    )


def _strictly_reprompted(turn: Turn) -> bool:
    said = turn.completion
    return said is not None and PROTOCOLS.get("strict").parse(said.text, turn.step, said.finish).action is None


def clean_observation(text: str) -> str:
    r"""Return an observation as it goes into the prompt: the two characters `\n` are removed, real newlines stay."""
    return text.replace("\\n", "")


def reply_flags(completion: Completion) -> Iterable[str]:
    """Yield the flags that come with a reply itself: it was cut here; its backend noted something."""
    if completion.cut:
        yield "cut_at_stop"
    yield from (note for note in completion.notes if note in FLAGS)
