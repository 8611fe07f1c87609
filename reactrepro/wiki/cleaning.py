r"""The original's cleaning step for page text: UTF-8 -> unicode-escape -> Latin-1 -> UTF-8. Pure.

The round trip leaves text without a backslash as it is, whatever the script. A backslash is read as the escapes of
a Python string literal are: `\n` becomes a newline, `\101` an A; and where the result is no UTF-8 (`\xe9`), lies
above U+00FF (`\u20ac`) or the escape is cut short (`C:\users`, a final backslash), the original raises, which ended
its episode. Extraction `original` keeps such a text as it is and says so; extraction `article` cleans nothing.
Source of the rule: spec of the released environment, docs/wiki-pages.md, "Cleaning".
"""

from __future__ import annotations

import re

_ESCAPE = re.compile(rb"\\(?:[4-7][0-7]{2}|.)", re.DOTALL)
_KNOWN = frozenset(rb"""\'"abfnrtv01234567xuUN""") | {ord("\n")}


def clean(text: str) -> tuple[str, bool]:
    """Return *text* as the original's cleaning step leaves it, and whether it would have raised.

    Returns:
        The cleaned text and False; or *text* itself and True, where the original's step raises.
    """
    if "\\" not in text:
        # Identity, but for lone surrogates, at which the encoding to UTF-8 raises.
        return text, not _is_utf8(text)
    try:
        escaped = _ESCAPE.sub(_known, text.encode())
        return escaped.decode("unicode-escape").encode("latin-1").decode(), False
    except UnicodeError:
        return text, True


def _is_utf8(text: str) -> bool:
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _known(escape: re.Match[bytes]) -> bytes:
    r"""Double the backslash of an unknown escape.

    Python leaves unknown escapes alone and warns about each; doubled, they come out the same without the warning. An
    octal escape above `\377` gives a character above U+00FF, with a warning: raised here, where it would raise next.
    """
    found = escape[0]
    if len(found) > 2:
        raise UnicodeError("octal escape above U+00FF")
    return found if found[1] in _KNOWN else b"\\" + found
