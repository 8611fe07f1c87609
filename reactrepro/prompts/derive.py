"""The ablations, as pure functions: the Act prompt from the ReAct prompt, the Standard prompt from the CoT prompt.

Yao et al. 2022, section 3.2 ("Baselines"): Act-only removes the thoughts from ReAct trajectories; Standard removes all
thoughts, actions and observations. That the released code's own prompts obey these rules to the byte is tested; a
prompt of one's own can be ablated the same way.
"""

from __future__ import annotations


def act_from_react(react: str) -> str:
    """Return the Act exemplars for the ReAct exemplars *react*.

    Every line that begins with `Thought ` goes; observations, their odd characters and the actions' numbers stay.
    The paper's Act prompts end in an empty line: where the ReAct prompt does not end so, but begins with an empty line
    (HotpotQA, whose instruction is no part of the Act prompt), that line moves to the end.
    """
    act = "\n".join(line for line in react.split("\n") if not line.startswith("Thought "))
    if act.startswith("\n") and not act.endswith("\n\n"):
        act = act[1:] + "\n"
    return act


def standard_from_cot(cot: str) -> str:
    """Return the Standard exemplars for the CoT exemplars *cot*: every line that begins with `Thought:` goes."""
    return "\n".join(line for line in cot.split("\n") if not line.startswith("Thought:"))
