"""What stands around a reply and is no part of it: thinking text, end tokens, a rest of the stop string."""

from __future__ import annotations

import re

_OPENING = re.compile(r"<think(?:ing)?>|\[THINK\]|◁think▷", re.IGNORECASE)
_CLOSING = re.compile(r"</think(?:ing)?>|\[/THINK\]|◁/think▷", re.IGNORECASE)
_SPECIAL = r"<\|[^|<>\n]{1,40}\|>|<｜[^｜<>\n]{1,40}｜>|</s>|<eos>|<(?:start|end)_of_turn>|\[EOS\]"
_MARK = re.compile(_SPECIAL)
_LEADING = re.compile(rf"\s*(?:{_SPECIAL})(?:(?:assistant|model)[ \t]*\n)?")


def unwrapped(text: str, i: int, found: set[str]) -> str:
    """Return the reply in *text* at step *i*, stripped; what was taken away is added to *found*."""
    if "\r" in text:
        found.add("carriage_return")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _without_stop(_without_tokens(_without_thinking(text, found), found).strip(), i, found)
    if not text:
        found.add("empty_reply")
    return text


def _without_thinking(text: str, found: set[str]) -> str:
    """Return what follows the last closing tag, up to an opening tag that nothing closes."""
    if "think" not in text.lower():
        return text
    start = max((match.end() for match in _CLOSING.finditer(text)), default=0)
    opening = _OPENING.search(text, start)
    if not start and not opening:
        return text
    found.add("think_block")
    return text[start : opening.start()] if opening else text[start:]


def _without_tokens(text: str, found: set[str]) -> str:
    """Return *text* up to the first end token that some text precedes; those in front of all text are passed over."""
    if "<" not in text and "[EOS]" not in text:
        return text
    start = 0
    while match := _LEADING.match(text, start):
        start = match.end()
    end = _MARK.search(text, start)
    if not start and not end:
        return text
    found.add("end_token")
    return text[start : end.start()] if end else text[start:]


def _without_stop(text: str, i: int, found: set[str]) -> str:
    """Return *text* without a last line that is the beginning of `Observation i:`, three letters at least."""
    body, newline, last = text.rpartition("\n")
    rest = last.strip(" \t*_`#")
    if not newline or len(rest) < 3 or not f"Observation {i}:".startswith(rest):
        return text
    found.add("stop_residue")
    return body.rstrip()
