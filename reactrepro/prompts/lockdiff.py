r"""A difference between two prompts that one can read, in plain ASCII layout.

A unified diff hides exactly what matters in prompts: a blank at the end of a line, a control character, a dash of
another kind. Here such characters are written as escapes (`\x20`, `\x80`, `\xa0`, a backslash is doubled), long lines
are trimmed around the change, and under each changed pair of lines stands which character differs, by name.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

_COMPARED = 400  # lines a side that are aligned; what is longer is shown as one block replaced
_SHOWN = 60  # lines of a difference that are printed
_AROUND = 48  # characters kept on each side of a change in a long line
_LONG = 120

_Opcode = tuple[str, int, int, int, int]


def visible_diff(old: str, new: str, *, names: tuple[str, str] = ("locked", "now"), context: int = 1) -> str:
    """Return a unified diff of *old* and *new* in which every character can be seen; "" where they are equal.

    Args:
        old: the text as it should be.
        new: the text as it is.
        names: what to call the two in the diff's head.
        context: how many unchanged lines stand around a change.

    Lines end at `\n` only, and the end of the last line counts: a missing final newline is a difference. Time and
    length are bounded for texts of any size.
    """
    if old == new:
        return ""
    olds, news = old.split("\n"), new.split("\n")
    out = [f"--- {names[0]}", f"+++ {names[1]}"]
    for group in _grouped(_opcodes(olds, news), context):
        _, i1, _, j1, _ = group[0]
        _, _, i2, _, j2 = group[-1]
        out.append(f"@@ -{i1 + 1},{i2 - i1} +{j1 + 1},{j2 - j1} @@")
        for code in group:
            out += _shown(code, olds, news)
    if len(out) > _SHOWN:
        out[_SHOWN:] = [f"... {len(out) - _SHOWN} more lines"]
    return "\n".join(out) + "\n"


def visible(text: str) -> str:
    r"""Return *text*, one line, with every character that cannot be seen as an escape, and `\` doubled."""
    body = text.rstrip(" ")
    shown = "".join(_escape(character) for character in body)
    return shown + r"\x20" * (len(text) - len(body))


def _escape(character: str) -> str:
    if character == "\\":
        return "\\\\"
    if character.isprintable() and not unicodedata.combining(character):
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _opcodes(olds: Sequence[str], news: Sequence[str]) -> list[_Opcode]:
    """Return difflib's opcodes; the equal head and tail are found first, so that only the middle costs time."""
    head = _common(olds, news)
    tail = min(_common(olds[::-1], news[::-1]), len(olds) - head, len(news) - head)
    i2, j2 = len(olds) - tail, len(news) - tail
    codes: list[_Opcode] = [("equal", 0, head, 0, head)]
    if max(i2, j2) - head <= _COMPARED:
        matcher = SequenceMatcher(None, olds[head:i2], news[head:j2], autojunk=False)
        codes += [(tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in matcher.get_opcodes()]
    else:
        codes.append(("replace", head, i2, head, j2))
    codes.append(("equal", i2, len(olds), j2, len(news)))
    return [code for code in codes if code[1] < code[2] or code[3] < code[4]]


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many items the two begin with in common, by halving: comparing slices is what C does fast."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _grouped(codes: list[_Opcode], context: int) -> Iterator[list[_Opcode]]:
    """Yield hunks: runs of opcodes whose changes stand at most twice *context* equal lines apart."""
    hunk: list[_Opcode] = []
    for position, (tag, i1, i2, j1, j2) in enumerate(codes):
        if tag != "equal":
            hunk.append((tag, i1, i2, j1, j2))
            continue
        last = position == len(codes) - 1
        if hunk and not last and i2 - i1 <= 2 * context:
            hunk.append((tag, i1, i2, j1, j2))
            continue
        if hunk:
            after = min(context, i2 - i1)
            yield [*hunk, (tag, i1, i1 + after, j1, j1 + after)]
        before = min(context, i2 - i1)
        hunk = [] if last else [(tag, i2 - before, i2, j2 - before, j2)]
    if hunk:
        yield hunk


def _shown(code: _Opcode, olds: Sequence[str], news: Sequence[str]) -> list[str]:
    """Return the diff lines of one opcode."""
    tag, i1, i2, j1, j2 = code
    if tag == "equal":
        return [f" {_trimmed(line, 0, _LONG)}" for line in olds[i1:i2]]
    out = []
    paired = min(i2 - i1, j2 - j1, _SHOWN)
    for one, other in zip(olds[i1 : i1 + paired], news[j1 : j1 + paired], strict=True):
        first = _common(one, other)
        last = _common(one[::-1], other[::-1])
        out.append(f"-{_trimmed(one, first, len(one) - last)}")
        out.append(f"+{_trimmed(other, first, len(other) - last)}")
        out.append(f"? column {first + 1}: {_named(other, first)} in place of {_named(one, first)}")
    out += [f"-{_trimmed(line, 0, _LONG)}" for line in olds[i1 + paired : i2]]
    out += [f"+{_trimmed(line, 0, _LONG)}" for line in news[j1 + paired : j2]]
    return out


def _trimmed(line: str, first: int, last: int) -> str:
    """Return *line* made visible; a long one only around the changed characters *first* to *last*."""
    if len(line) <= _LONG:
        return visible(line)
    start = max(0, first - _AROUND)
    end = min(len(line), max(first, min(last, first + _LONG)) + _AROUND)
    piece = visible(line[start:end] + "|")[:-1] if end < len(line) else visible(line[start:end])
    return ("[...]" if start else "") + piece + ("[...]" if end < len(line) else "")


def _named(line: str, column: int) -> str:
    if column >= len(line):
        return "the end of the line"
    character = line[column]
    return f"U+{ord(character):04X} {unicodedata.name(character, 'CONTROL')}"
