"""Reply -> answer, for the methods that answer in one go. Pure; no string raises.

The reply continues what the prompt ends in, its *label*: `Answer:`, or `Thought:`. The answer is the text behind the
last `Answer:`, up to the line's end, without blanks around it. The released code has no rule; this is ours.
"""

from __future__ import annotations

import re

from .flags import ordered
from .reply import Reply
from .wrapping import unwrapped

LABEL = "Answer:"

_LABEL = re.compile(
    r"(?P<dress>[>*_#`~ \t]{0,6})\b(?P<word>(?:the[ \t])?(?:final[ \t])?answer)(?P<tail>[ \t*_`]{0,4})"
    r"(?P<colon>[:：])(?P<close>[*_`]{0,4})",
    re.IGNORECASE | re.ASCII,
)
_DRESS = "*_`\"'“”‘’ \t"
_PAIRS = {"*": "*", "_": "_", "`": "`", '"': '"', "'": "'", "“": "”", "‘": "’"}


def strict(text: str, label: str, finish: str | None) -> Reply:
    """Read a reply by the rule above and nothing else; `Reply.action` is the answer, None where there is none."""
    whole = label + text
    at = whole.rfind(LABEL)
    answer = whole[at + len(LABEL) :].split("\n", 1)[0].strip() if at >= 0 else ""
    if answer:
        return Reply(thought=whole[len(label) : at].strip(), action=answer)
    return Reply(thought=text.strip(), action=None, flags=_none(text))


def tolerant(text: str, label: str, finish: str | None) -> Reply:
    """Read a reply that a chat model may have dressed up, and name every repair.

    A label in bold or in another letter case counts, and so does `Final answer:`; behind a label that ends its line the
    next line is read. Bold, back-ticks or quotes around the whole answer are left out. An answer that the token limit
    cut short is none.
    """
    found: set[str] = set()
    body = unwrapped(text, 1, found)
    marks = list(_LABEL.finditer(body))
    if marks:
        found |= _dressed(marks[-1])
        rest, before = body[marks[-1].end() :], body[: marks[-1].start()]
    elif label == LABEL:
        rest, before = body, ""
    else:
        return Reply(thought=body, action=None, flags=ordered([*found, *_none(body), *_cut_short(finish)]))
    if marks and not rest.partition("\n")[0].strip() and rest.strip():
        found.add("label_form")
    line, newline, _ = rest.strip().partition("\n")
    answer = _bare(line.strip(), found)
    if answer and not newline and finish in {"length", "max_tokens"}:
        return Reply(thought=before.strip(), action=None, flags=ordered([*found, "no_answer", "truncated_answer"]))
    if not answer:
        found |= {*_none(body), *_cut_short(finish)}
    return Reply(thought=before.strip(), action=answer or None, flags=ordered(found))


def _none(text: str) -> tuple[str, ...]:
    return ("no_answer",) if text.strip() else ("empty_reply", "no_answer")


def _cut_short(finish: str | None) -> tuple[str, ...]:
    return ("truncated_reply",) if finish in {"length", "max_tokens"} else ()


def _dressed(mark: re.Match[str]) -> set[str]:
    """Return the flags for everything in which a label differs from `Answer:`."""
    found = set()
    if mark["dress"].strip() or mark["tail"].strip() or mark["close"]:
        found.add("decorated_label")
    if mark["word"] != "Answer" or mark["colon"] != ":" or mark["tail"] != mark["tail"].rstrip(" \t"):
        found.add("label_form")
    return found


def _bare(answer: str, found: set[str]) -> str:
    """Return *answer* without what encloses it as a whole."""
    bare = answer
    while len(bare) > 1 and _PAIRS.get(bare[0]) == bare[-1] and bare[1:-1].strip(_DRESS):
        inner = bare[1:-1].strip()
        if bare[0] in inner.strip(bare[0]):
            break  # `"a" and "b"`
        bare = inner
    if bare != answer:
        found.add("decorated_answer")
    return bare
