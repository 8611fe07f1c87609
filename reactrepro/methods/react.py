r"""ReAct: thought, action, observation, until the model finishes or the steps run out (Yao et al. 2022, section 2).

* One call per step: the text so far and `Thought i:`, stopped at `\nObservation i:`.
* A reply without an action is *reprompted*: a second call, `Thought i: {thought}\nAction i:`, stopped at the newline.

So a run takes at most two calls per step. What else the loop does is told in `acting`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..domain import Environment, Llm, Prompt, Question, Settings, Step, Trajectory
from ..parsing import PROTOCOLS, Reply
from ..parsing.flags import ordered
from .acting import Asker, act_out, reply_flags, shortened


class React:
    """The method `react` (`domain.Method`)."""

    name = "react"
    prompt = "react"
    acts = True
    shortened = staticmethod(shortened)
    rules: tuple[str, ...] = ()

    def defaults(self, profile: str) -> Mapping[str, Any]:
        """Return nothing: the profiles are made for it."""
        return {}

    def run(self, question: Question, prompt: Prompt, llm: Llm, env: Environment, settings: Settings) -> Trajectory:
        """Answer *question* with *llm*, acting in *env*.

        Only what *env* says reaches a prompt: of *question* nothing is read, so that no gold answer can leak.

        Args:
            question: the item, as *env* was made for it.
            prompt: what stands before the question.
            llm: the model; its replies come cut at the stop string.
            env: the environment; an episode is over when an observation says so.
            settings: of which the step limit and the protocol matter here.

        Raises:
            ReactReproError: whatever *llm* and *env* raise.
            Usage: no protocol bears the name in *settings*.
        """
        return act_out(_Thinking(llm, settings.protocol), prompt, env, settings.max_steps)


def step_text(step: Step) -> str:
    """Return the lines that *step* adds to the prompt: one blank after each label, a newline at the end."""
    i = step.i
    return f"Thought {i}: {step.thought}\nAction {i}: {step.action.raw}\nObservation {i}: {step.observation}\n"


def transcript(prompt: Prompt, trajectory: Trajectory, rounds: int | None = None) -> str:
    """Return the text as the loop grows it: the prompt, the opening and the first *rounds* steps (None: all of them).

    Round n's call sends `transcript(prompt, trajectory, n - 1)` and `Thought n:`.
    """
    steps = "".join(step_text(step) for step in trajectory.steps[:rounds])
    return f"{prompt.text}{trajectory.opening}\n{steps}"


class _Thinking(Asker):
    """Asks for a thought and an action, and once more for the action alone where there is none."""

    def ask(self, text: str, i: int) -> Reply:
        """Return what the model thinks and does at step *i*, after a reprompt where that is needed."""
        first = self.complete(f"{text}Thought {i}:", f"\nObservation {i}:", i)
        reply = self.protocol.parse(first.text, i, first.finish)
        if self.unjudged:
            return reply
        self.strict_reprompts += PROTOCOLS.get("strict").parse(first.text, i, first.finish).action is None
        flags = [*reply.flags, *reply_flags(first)]
        if reply.action is not None:
            return Reply(reply.thought, reply.action, ordered(flags))
        self.reprompts += 1
        second = self.complete(f"{text}Thought {i}: {reply.thought}\nAction {i}:", "\n", i)
        action = self.protocol.parse_action(second.text, i, second.finish)
        return Reply(reply.thought, action.action or "", ordered([*flags, *action.flags, *reply_flags(second)]))

    def step_text(self, step: Step) -> str:
        """See `step_text`."""
        return step_text(step)
