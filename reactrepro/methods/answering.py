r"""The methods that answer in one go, from memory: Standard, CoT and CoT-SC (Yao et al. 2022, section 3.2: baselines).

The released code has prompts for them, and no code. Ours: the prompt is the exemplar file as it is, the question's
line, and a label: `Answer:` for Standard, `Thought:` for CoT. The reply is stopped where the next question would begin
(`\nQuestion:`, for FEVER `\nClaim:`). The answer is what stands behind the last `Answer:`, up to the line's end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import metrics
from ..domain import Completion, Ended, Environment, Llm, Prompt, Question, Sample, Settings, Trajectory
from ..parsing import PROTOCOLS
from ..parsing.flags import ordered
from .acting import UNJUDGED, reply_flags

_RULES = (
    "a reply is stopped where the next question would begin (`\\nQuestion:`, `\\nClaim:`)",
    "the answer is the text after the last `Answer:`, up to the line's end",
)


class Standard:
    """The method `standard`: the answer alone (`domain.Method`)."""

    name = "standard"
    prompt = "standard"
    acts = False
    label = "Answer:"  #: what the prompt ends in
    rules: tuple[str, ...] = (
        "the prompt is the file as it is, without ReAct's instruction before it; it ends in `Answer:`",
        *_RULES,
    )

    def defaults(self, profile: str) -> Mapping[str, Any]:
        """Return nothing: an answer is shorter than a thought and an action."""
        return {}

    def run(self, question: Question, prompt: Prompt, llm: Llm, env: Environment, settings: Settings) -> Trajectory:
        """Answer *question* with *llm*; of *env* only its opening is used.

        Args:
            question: the item, as *env* was made for it; nothing of it is read.
            prompt: what stands before the question.
            llm: the model.
            env: has the question's line.
            settings: of which the protocol and the number of samples matter here.

        Raises:
            ReactReproError: whatever *llm* raises.
            Usage: no protocol bears the name in *settings*.
        """
        opening = env.reset()
        stop = f"\n{opening.partition(':')[0]}:"
        before = llm.calls
        replies = llm.sample(f"{prompt.text}{opening}\n{self.label}", (stop,), settings.samples, step=1)
        samples = tuple(self._sample(n, reply, settings.protocol) for n, reply in enumerate(replies, start=1))
        answer, ended = elected(samples)
        if answer is None:
            unjudged = {UNJUDGED.get(reply.finish or "") for reply in replies}
            ended = (unjudged.pop() if len(unjudged) == 1 else None) or ended
        return Trajectory(
            opening=opening,
            steps=(),
            answer=answer,
            ended=ended,
            llm_calls=llm.calls - before,
            reprompts=0,
            strict_reprompts=0,
            samples=samples,
        )

    def _sample(self, number: int, reply: Completion, protocol: str) -> Sample:
        read = PROTOCOLS.get(protocol).parse_answer(reply.text, self.label, reply.finish)
        answer = None if reply.finish in UNJUDGED else read.action
        return Sample(number, reply.text, answer, ordered([*read.flags, *reply_flags(reply)]))


class Cot(Standard):
    """The method `cot`: chain of thought (Wei et al. 2022), then the answer."""

    name = "cot"
    prompt = "cot"
    label = "Thought:"
    rules: tuple[str, ...] = (
        "the prompt is the file as it is, without ReAct's instruction before it; it ends in `Thought:`",
        *_RULES,
    )

    def defaults(self, profile: str) -> Mapping[str, Any]:
        """Return 256 tokens for profile `paper`: a whole chain of thought does not fit into the 100 of one step."""
        return {"max_tokens": 256} if profile == "paper" else {}


class CotSc(Cot):
    """The method `cot_sc`: a majority vote over samples of CoT (self-consistency, Wang et al. 2022).

    21 samples at temperature 0.7, as in the paper.
    """

    name = "cot_sc"
    rules: tuple[str, ...] = (
        *Cot.rules,
        "the vote is over normalized answers; of a tie the answer seen first wins; a sample without an answer counts "
        "among the samples and never wins",
    )

    def defaults(self, profile: str) -> Mapping[str, Any]:
        """Return the paper's number of samples and its temperature, beside what CoT has."""
        return {**super().defaults(profile), "temperature": 0.7, "samples": 21}


def elected(samples: tuple[Sample, ...]) -> tuple[str | None, Ended]:
    """Return the answer that *samples* vote for, and how such an episode ended."""
    answer = metrics.majority_vote([sample.answer for sample in samples]).answer
    return answer, "finish" if answer is not None else "no_answer"
