r"""The format flags: what was repaired, emulated or missing in a step's replies.

Flags stand in recordings' expected outcomes, so a name here is for good. docs/format-flags.md is `markdown()`, and a
test reads every example below and finds its flag.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Flag:
    """What a flag means.

    Attributes:
        meaning: one sentence for the reader of a report.
        reply: an example: a reply to `Thought 2:` (to `Action 2:` where *source* is "reprompt"); "" where the flag
            says nothing about a text.
        action: the action that is read from the example, or None.
        finish: the example's finish reason.
        source: who sets it: "parser", "reprompt" (the parser, on a second reply), "answer" (the parser, on a reply to
            `Thought:` that is to end in an answer; *action* is the answer) or "loop".
    """

    meaning: str
    reply: str
    action: str | None = None
    finish: str = "stop"
    source: Literal["parser", "reprompt", "answer", "loop"] = "parser"


_BAY = "Search[Harlow Bay]"
_STEP = " Check the bay.\nAction 2: Search[Harlow Bay]"

FLAGS: Mapping[str, Flag] = {
    # what stands around a reply
    "carriage_return": Flag(
        "Lines end in carriage returns; read as newlines.", " Check the bay.\r\nAction 2: Search[Harlow Bay]", _BAY
    ),
    "think_block": Flag(
        "Thinking text inside the reply: only what follows the last closing tag is read, and nothing after an opening "
        "tag that is not closed.",
        "<think>Action 2: Search[Quill]?</think>" + _STEP,
        _BAY,
    ),
    "end_token": Flag(
        "An end token was written as text; it and what follows are left out.", _STEP + "<|im_end|>", _BAY
    ),
    "stop_residue": Flag("The reply ends in a piece of the stop string, which is left out.", _STEP + "\nObserv", _BAY),
    "empty_reply": Flag("The reply holds no text.", ""),
    # labels
    "repeated_label": Flag(
        "A label that the prompt had already given, or the same one twice.",
        "Thought 2: Check the bay.\nAction 2: Search[Harlow Bay]",
        _BAY,
    ),
    "decorated_label": Flag(
        "Bold, back-ticks, a heading, a bullet or the like around a label.",
        " Check the bay.\n**Action 2:** Search[Harlow Bay]",
        _BAY,
    ),
    "label_form": Flag(
        "A label in another form than `Action 2: `: letter case, blanks, indentation, a wide colon.",
        " Check the bay.\nACTION 2:Search[Harlow Bay]",
        _BAY,
    ),
    "missing_number": Flag("A label without its step number.", " Check the bay.\nAction: Search[Harlow Bay]", _BAY),
    "wrong_number": Flag(
        "A label with the number of another step.", " Check the bay.\nAction 1: Search[Harlow Bay]", _BAY
    ),
    "inline_label": Flag(
        "The action's label stands inside a line; known verbs only.",
        " Check the bay. Action 2: Search[Harlow Bay]",
        _BAY,
    ),
    "missing_label": Flag(
        "The action stands on a line of its own, without a label; known verbs only.",
        " Check the bay.\nSearch[Harlow Bay]",
        _BAY,
    ),
    "code_fence": Flag(
        "A code fence around the reply or the action.", "```\nCheck the bay.\nAction 2: Search[Harlow Bay]\n```", _BAY
    ),
    # the thought
    "restated_question": Flag(
        "The question is repeated before the thought; left out.",
        "Question: Where is it?\nThought 2: Check the bay.\nAction 2: Search[Harlow Bay]",
        _BAY,
    ),
    "blank_lines": Flag(
        "Blank lines between thought and action; left out.", " Check the bay.\n\nAction 2: Search[Harlow Bay]", _BAY
    ),
    "no_thought": Flag("An action without a thought; the thought is empty.", "Action 2: Search[Harlow Bay]", _BAY),
    # the action
    "text_before_action": Flag(
        "Text between the label and the action, on the same line; left out.",
        " Check the bay.\nAction 2: I will use Search[Harlow Bay]",
        _BAY,
    ),
    "decorated_action": Flag(
        "Bold, back-ticks or quotes around the action.", " Check the bay.\nAction 2: `Search[Harlow Bay]`", _BAY
    ),
    "verb_form": Flag(
        "The verb in another form than `Search`, `Lookup`, `Finish`: letter case, a blank before the bracket.",
        " Check the bay.\nAction 2: SEARCH [Harlow Bay]",
        _BAY,
    ),
    "quoted_argument": Flag(
        "Quotes around the whole argument; left out.", ' Check the bay.\nAction 2: Search["Harlow Bay"]', _BAY
    ),
    "unclosed_bracket": Flag(
        "No closing bracket in a reply that was not cut off: the argument ends with the line.",
        " Check the bay.\nAction 2: Search[Harlow Bay",
        _BAY,
    ),
    "unbalanced_bracket": Flag(
        "No bracket balances the first: the argument ends at the last closing bracket of the line.",
        " Check the bay.\nAction 2: Search[[Harlow Bay]",
        "Search[[Harlow Bay]",
    ),
    # what follows the action
    "trailing_text": Flag("Text after the action; left out.", _STEP + ". It lies north.", _BAY),
    "second_action": Flag("A second action; the first counts.", _STEP + "\nAction 3: Finish[1902]", _BAY),
    "ran_ahead": Flag("A further thought after the action; left out.", _STEP + "\nThought 3: So it is 1902.", _BAY),
    "invented_observation": Flag(
        "The model wrote an observation; it and what follows are left out.",
        _STEP + "\nObservation: It was founded in 1902.\nThought 3: So it is 1902.",
        _BAY,
    ),
    "invented_question": Flag(
        "The model wrote a further question after the action; left out.", _STEP + "\nQuestion: Who is Marlow?", _BAY
    ),
    # no action
    "truncated_action": Flag(
        "The token limit cut the reply inside the action, which is not executed.",
        " Check the bay.\nAction 2: Search[Harlow B",
        finish="length",
    ),
    "truncated_reply": Flag(
        "The token limit cut the reply before any action.", " Check the bay, which l", finish="length"
    ),
    "truncated_in_reasoning": Flag(
        "The model spent the whole token limit on reasoning beside the reply, which is empty: raise the setting "
        "max_tokens.",
        "",
        finish="length",
        source="loop",
    ),
    "truncated_empty": Flag(
        "The reply is empty, the token limit ended it, and no reasoning was shown: raise the setting max_tokens.",
        "",
        finish="length",
        source="loop",
    ),
    "no_action": Flag("No action that can be executed: the loop asked for it in a second call.", " I give up."),
    "empty_action": Flag("The second call gave no action either; the step is spent.", " \n", source="reprompt"),
    # the answer of a method that answers in one go
    "decorated_answer": Flag(
        "Bold, back-ticks or quotes around the answer; left out.",
        " It is a bay.\nAnswer: **Harlow Bay**",
        "Harlow Bay",
        source="answer",
    ),
    "truncated_answer": Flag(
        "The token limit cut the reply inside the answer, which does not count.",
        " It is a bay.\nAnswer: Harlow B",
        finish="length",
        source="answer",
    ),
    "no_answer": Flag("No answer in a reply that should end in one.", " I cannot say.", source="answer"),
    "invalid_action": Flag(
        "The action is none that the environment knows.", " Check the bay.\nAction 2: Login", "Login", source="loop"
    ),
    # the reply's end
    "cut_at_stop": Flag(
        "The server did not stop at the stop string; the reply was cut there, here.",
        _STEP + "\nObservation 2: It was founded in 1902.",
        _BAY,
        source="loop",
    ),
}
"""Flag names, in the order in which a step bears them."""

_ORDER = {name: position for position, name in enumerate(FLAGS)}


def ordered(found: Iterable[str]) -> tuple[str, ...]:
    """Return the flags of *found*, each once, in the table's order; names that it does not hold come last."""
    if not found:
        return ()
    return tuple(sorted(set(found), key=lambda name: (_ORDER.get(name, len(_ORDER)), name)))


def markdown() -> str:
    """Return docs/format-flags.md."""
    rows = [_row(name, flag) for name, flag in FLAGS.items()]
    return _PAGE.format(rows="\n".join(rows))


_ASKED = {"reprompt": "Action 2:", "answer": "Thought:"}


def _row(name: str, flag: Flag) -> str:
    reply = _code(flag.reply) if flag.reply else "(none)"
    if flag.source in _ASKED:
        reply += f" to `{_ASKED[flag.source]}`"
    if flag.finish != "stop":
        reply += f", finish reason `{flag.finish}`"
    action = _code(flag.action) if flag.action is not None else "none"
    return f"| `{name}` | {flag.source} | {flag.meaning} | {reply} | {action} |"


def _code(text: str) -> str:
    r"""Return *text* as inline code of a Markdown table: newlines as `\n`, bars escaped, back-ticks fenced."""
    shown = text.replace("\r", "\\r").replace("\n", "\\n").replace("|", "\\|")
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    pad = " " if fence != "`" else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


_PAGE = """\
# Format flags

What was repaired, emulated or missing in the replies of one step. A step bears its flags in the order of this table,
recordings expect them, and reports count them. This page is generated from `reactrepro/parsing/flags.py`; a test
compares the two, and reads every example.

* `parser`: set by the protocol that reads the reply. `strict` sets `empty_reply`, `no_action` and `empty_action`, and
  repairs nothing; all others are repairs of `tolerant`. A reply that `tolerant` reads otherwise than `strict` always
  bears a flag.
* `reprompt`: set by the protocol on the reply to the second call, which asks for the action alone. That reply is
  repaired by the same rules and bears the same flags.
* `answer`: set by the protocol on the reply of a method that answers in one go (`standard`, `cot`, `cot_sc`). Such a
  reply bears the flags of its label and of what stands around it, too. `strict` sets `empty_reply` and `no_answer`.
* `loop`: set by the method, under both protocols.

The example is a reply to `Thought 2:`, with newlines shown as `\\n`; a reply may bear further flags than its row's.

| flag | set by | meaning | example | action read |
| --- | --- | --- | --- | --- |
{rows}

## Choices

* **The first action counts**, whatever its number. What follows it in the same reply rests on an observation that the
  model made up, and nothing after an `Observation` label reaches a later prompt.
* **A reply that the token limit cut inside its action is not executed**: it counts as a reply without an action, and
  the loop asks for the action. An action whose bracket is closed is whole, wherever the limit fell.
* **Brackets**: the argument ends at the bracket that balances the first, on whatever line, so that an answer of two
  lines and a title with brackets in it stay whole. Blanks inside the brackets are kept.
* **Quotes** go only where they enclose the whole argument: `Finish["a" and "b"]` stays as it is.
* **Thinking tags**: `<think>`, `<thinking>`, `[THINK]` and `◁think▷`, with or without the opening one. If everything
  stands inside, the reply has no action.
* **Without an action** the thought is the reply's first line, as in the original.
* **Unknown verbs** are handed on as they are; the environment calls them invalid.
"""
