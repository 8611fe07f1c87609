"""Protocol `tolerant`: recovers what chat models really write, and names every repair.

A reply that `strict` reads and that holds nothing odd is read exactly as `strict` reads it, without a flag; a reply
that is read differently always bears one. Nothing is repaired silently. The rules, in the order in which they apply:

1. Thinking text, end tokens and a rest of the stop string are no part of the reply (`wrapping`).
2. An `Observation` label and all that follows it is invented and left out; one that opens the reply goes with the text
   up to the next label.
3. The first action counts. It is the text after the first `Action` label at the beginning of a line, whatever its
   number: of a reply that runs ahead or starts again at 1, only the first action does not rest on something made up.
   Without such a label it is the first known verb with a bracket that begins a line, or that an `Action` label inside
   a line announces.
4. What stands before it is the thought, without labels; a repeated question is left out.
5. The action is read by `bracket`. One that the token limit cut is never executed: it is no action.
6. Without an action the thought is the first line, as in `strict`, and the loop asks for the action.

Time is linear in the reply's length, and no string raises.
"""

from __future__ import annotations

import re

from . import answers, bracket, labels
from .flags import ordered
from .labels import Label
from .reply import Protocol, Reply
from .wrapping import unwrapped

CUT_SHORT = frozenset({"length", "max_tokens"})
"""The finish reasons that say that the token limit ended the reply."""

_AFTER = {
    "thought": "ran_ahead",
    "action": "second_action",
    "question": "invented_question",
    "claim": "invented_question",
}
_FENCE = re.compile(r"```[A-Za-z]{0,20}[ \t]*\Z")


def parse(text: str, i: int, finish: str | None) -> Reply:
    """Read a reply to `Thought i:`."""
    found: set[str] = set()
    body = _without_observations(unwrapped(text, i, found), found)
    start, action = _action(body, i, finish in CUT_SHORT, found)
    thought = _thought(body[:start], i, found, inline=start < len(body) and body[start - 1 : start] not in ("", "\n"))
    if action is None:
        found.add("no_action")
        if finish in CUT_SHORT and "truncated_action" not in found:
            found.add("truncated_reply")
        thought = thought.strip().split("\n", 1)[0]
    elif not thought.strip():
        found.add("no_thought")
    return Reply(thought=thought, action=action, flags=ordered(found))


def parse_action(text: str, i: int, finish: str | None) -> Reply:
    """Read a reply to `Action i:`: the action alone, or whatever else the model wrote, with the action in it."""
    found: set[str] = set()
    body = _without_observations(unwrapped(text, i, found), found)
    cut = finish in CUT_SHORT
    if any(mark.word == "action" for mark in labels.find(body)) and not _opens_with_action(body):
        found.add("repeated_label")
        _, action = _action(body, i, cut, found)
    else:
        body = labels.skip(body, found)
        later = labels.find(body)
        segment = body[: later[0].start] if later else body
        _, action = _read(segment, later, cut, found, start=0)
    if action is None:
        found.add("empty_action")
    return Reply(thought="", action=action, flags=ordered(found))


def _opens_with_action(body: str) -> bool:
    """Tell whether *body* begins with a verb and its bracket: the label before it stands in the prompt."""
    return labels.loose(body)[1] == 0


PROTOCOL = Protocol(parse=parse, parse_action=parse_action, parse_answer=answers.tolerant)


def _without_observations(body: str, found: set[str]) -> str:
    """Return *body* up to the first `Observation` label that text precedes, without those that open it."""
    marks = labels.find(body) if "observation" in body.lower() else []
    if not any(mark.word == "observation" for mark in marks):
        return body
    found.add("invented_observation")
    start = 0
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        if mark.word != "observation":
            continue
        if mark.start > start:
            return body[start : mark.start].strip()
        start = following.start if following else len(body)
    return body[start:].strip()


def _action(body: str, i: int, cut: bool, found: set[str]) -> tuple[int, str | None]:
    """Return where the thought before the first action ends, and the action, None where there is none."""
    marks = labels.find(body)
    ends = [*(mark.start for mark in marks[1:]), len(body)]
    announced = [n for n, mark in enumerate(marks) if mark.word == "action"]
    for n in announced:
        segment = body[marks[n].end : ends[n]]
        if not segment.strip():
            continue
        found |= marks[n].problems(i)
        if n != announced[0]:
            found.add("repeated_label")
        if segment[0] != " " or segment[1].isspace():
            found.add("label_form")
        return _read(segment, marks[n + 1 :], cut, found, start=marks[announced[0]].start)
    if announced:
        return marks[announced[0]].start, None
    label, line = labels.loose(body)
    if label:
        found |= label.problems(i) | {"inline_label"}
        start, begin = label.start, label.end
    elif line is not None:
        found.add("missing_label")
        start = begin = line
    else:
        return len(body), None
    later = [mark for mark in marks if mark.start > start]
    segment = body[begin : later[0].start if later else len(body)]
    return _read(segment, later, cut, found, start=start)


def _read(segment: str, later: list[Label], cut: bool, found: set[str], *, start: int) -> tuple[int, str | None]:
    """Return *start* and the action in *segment*; flag the labels that come *later*."""
    action = bracket.read(labels.skip(segment.strip(), found), cut and not later, found)
    found |= {_AFTER[mark.word] for mark in later}
    return start, action


def _thought(text: str, i: int, found: set[str], *, inline: bool) -> str:
    """Return the thought in *text*, which ends where the action begins."""
    marks = labels.find(text)
    if not marks:
        return _tidy(text.rstrip() if inline else text.removesuffix("\n"), found)
    parts = [text[: marks[0].start].strip()]
    for mark, end in zip(marks, [*(mark.start for mark in marks[1:]), len(text)], strict=True):
        part = text[mark.end : end].strip()
        if mark.word in ("question", "claim"):
            found.add("restated_question")
            part = part.partition("\n")[2].strip()
        else:
            found |= {"repeated_label"} | (mark.problems(i) - {"missing_number"})
        if mark.closing and part.endswith(mark.closing):
            part = part.removesuffix(mark.closing).rstrip()
        parts.append(labels.skip(part, found))
    return _tidy("\n".join(part for part in parts if part), found)


def _tidy(thought: str, found: set[str]) -> str:
    """Return *thought* without blank lines at its end and code fences around it."""
    bare = thought.rstrip()
    if "\n" in thought[len(bare) :]:
        found.add("blank_lines")
        thought = bare
    if "```" in thought:
        lines = thought.split("\n")
        first = next((n for n, line in enumerate(lines) if not _FENCE.match(line)), len(lines))
        last = next((n for n, line in enumerate(lines[::-1]) if not _FENCE.match(line)), 0)
        if first or last:
            found.add("code_fence")
            thought = "\n".join(lines[first : len(lines) - last]).strip()
    return thought
