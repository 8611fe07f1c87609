r"""ReAct: thought, action, observation, until the model finishes or the steps run out.

The loop is `webthink` of the released notebooks (Yao et al. 2022). It differs in that an empty action does not raise
but is an invalid one, and in that a `tolerant` protocol can read the replies.

* One call per step: the text so far and `Thought i:`, stopped at `\nObservation i:`.
* A reply without an action is *reprompted*: a second call, `Thought i: {thought}\nAction i:`, stopped at the newline.
* After the last step, if the model has not finished, a hidden `finish[]` closes the episode: the answer is "", and it
  stands in no prompt, no step and no count.

A run takes at most `max_steps` steps of at most two calls, whatever the model writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..domain import (
    Completion,
    Ended,
    Environment,
    Llm,
    Prompt,
    Question,
    Settings,
    Step,
    Trajectory,
)
from ..parsing import PROTOCOLS, Reply
from ..parsing.actions import parse_action
from ..parsing.flags import FLAGS, ordered

UNJUDGED: Mapping[str, Ended] = {
    "content_filter": "filtered",
    "refusal": "refused",
    "model_context_window_exceeded": "context_exceeded",
}
"""Finish reasons after which there is no reply to judge, and how such an episode ended."""


class React:
    """The ReAct method, under the protocol that the settings name.

    Attributes:
        name: the method's name, in paths and on the command line.
    """

    name = "react"

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
        opening = env.reset()
        text = f"{prompt.text}{opening}\n"
        asker = _Asker(llm, settings.protocol)
        steps: list[Step] = []
        answer: str | None = ""
        ended: Ended = "step_limit"
        for i in range(1, settings.max_steps + 1):
            reply = asker.ask(text, i)
            if asker.unjudged:
                answer, ended = None, asker.unjudged
                break
            action = parse_action(reply.action or "")
            observation = env.step(action)
            flags = reply.flags if action.name else (*reply.flags, "invalid_action")
            seen = clean_observation(observation.text)
            steps.append(Step(i, reply.thought, action, seen, ordered(flags), observation.flags))
            text += step_text(steps[-1])
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


def clean_observation(text: str) -> str:
    r"""Return an observation as it goes into the prompt: the two characters `\n` are removed, real newlines stay."""
    return text.replace("\\n", "")


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


@dataclass
class _Asker:
    """Asks the model for one step at a time, and counts."""

    llm: Llm
    protocol: str
    calls: int = 0
    reprompts: int = 0
    strict_reprompts: int = 0
    unjudged: Ended | None = None  #: set once a reply came that is not to be judged

    def ask(self, text: str, i: int) -> Reply:
        """Return what the model thinks and does at step *i*, after a reprompt where that is needed."""
        protocol = PROTOCOLS.get(self.protocol)
        first = self._complete(f"{text}Thought {i}:", f"\nObservation {i}:", i)
        reply = protocol.parse(first.text, i, first.finish)
        if self.unjudged:
            return reply
        self.strict_reprompts += PROTOCOLS.get("strict").parse(first.text, i, first.finish).action is None
        flags = [*reply.flags, *_loop_flags(first)]
        if reply.action is not None:
            return Reply(reply.thought, reply.action, ordered(flags))
        self.reprompts += 1
        second = self._complete(f"{text}Thought {i}: {reply.thought}\nAction {i}:", "\n", i)
        action = protocol.parse_action(second.text, i, second.finish)
        return Reply(reply.thought, action.action or "", ordered([*flags, *action.flags, *_loop_flags(second)]))

    def _complete(self, prompt: str, stop: str, i: int) -> Completion:
        completion = self.llm.complete(prompt, (stop,), step=i)
        self.calls += 1
        self.unjudged = UNJUDGED.get(completion.finish or "")
        return completion


def _loop_flags(completion: Completion) -> Iterable[str]:
    """Yield the flags that come with a reply itself: it was cut here; its backend noted something."""
    if completion.cut:
        yield "cut_at_stop"
    yield from (note for note in completion.notes if note in FLAGS)
