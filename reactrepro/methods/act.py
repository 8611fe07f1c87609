r"""Act: ReAct without the thoughts (Yao et al. 2022, section 3.2, "Baselines").

The released code has prompts for it, and no loop. Ours: one call per step, the text so far and `Action i:`, stopped at
`\nObservation i:`; the reply is the action. Nothing is asked a second time: an empty reply is an invalid action.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..domain import Environment, Llm, Prompt, Question, Settings, Step, Trajectory
from ..parsing import Reply
from ..parsing.flags import ordered
from .acting import Asker, act_out, reply_flags, shortened


class Act:
    """The method `act` (`domain.Method`)."""

    name = "act"
    prompt = "act"
    acts = True
    shortened = staticmethod(shortened)
    rules: tuple[str, ...] = (
        "the prompt is the file as it is, without ReAct's instruction before it",
        "each call ends in `Action i:` and is stopped at `\\nObservation i:`; the reply is the action",
        "no second call: an empty reply is an invalid action",
    )

    def defaults(self, profile: str) -> Mapping[str, Any]:
        """Return nothing: it is asked as ReAct is."""
        return {}

    def run(self, question: Question, prompt: Prompt, llm: Llm, env: Environment, settings: Settings) -> Trajectory:
        """Answer *question*; arguments and errors as in `react.React.run`. The thoughts of the steps are ""."""
        return act_out(_Acting(llm, settings.protocol), prompt, env, settings.max_steps)


class _Acting(Asker):
    """Asks for an action."""

    def ask(self, text: str, i: int) -> Reply:
        """Return what the model does at step *i*."""
        reply = self.complete(f"{text}Action {i}:", f"\nObservation {i}:", i)
        action = self.protocol.parse_action(reply.text, i, reply.finish)
        return Reply("", action.action or "", ordered([*action.flags, *reply_flags(reply)]))

    def step_text(self, step: Step) -> str:
        """Return `Action i: ...` and `Observation i: ...`."""
        return f"Action {step.i}: {step.action.raw}\nObservation {step.i}: {step.observation}\n"
