"""How requests were put where that is not as asked, in words for readers of tables."""

from __future__ import annotations

from collections.abc import Sequence

from ..domain import Sent, Turn
from ..visible import escaped
from . import text


def cut(turns: Sequence[Turn]) -> int:
    """Return how many characters of all replies stood behind a stop string and were cut here."""
    return sum(reply.cut for turn in turns for reply in (turn.completion, *turn.further) if reply is not None)


def is_cut_here(sent: Sent) -> bool:
    """Tell whether stop strings were refused, so that it was for us to stop at them."""
    return {sent.stop, *(change.stop for change in sent.later)} != {"native"}


def in_words(sent: Sent, temperature: float) -> str:
    """Return what the server refused, and what was done about it; "" for nothing.

    Args:
        sent: of an episode.
        temperature: as asked.
    """
    parts = _form(sent.at(1), temperature)
    for change in sent.later:
        now = "; ".join(_form(sent.at(change.call), temperature)) or "as asked"
        parts.append(f"from call {change.call} on: {now}")
    return "; ".join(parts)


def episode(sent: Sent, turns: Sequence[Turn], temperature: float) -> str:
    """Return the same with the number of characters that were cut, where stop strings were refused."""
    words = in_words(sent, temperature)
    if is_cut_here(sent):
        words += f"; {text.counted(cut(turns), 'character')} cut here"
    return words


def _form(form: Sent, temperature: float) -> list[str]:
    parts = []
    if form.stop == "visible":
        parts.append("stop strings of white space refused and not sent")
    elif form.stop == "emulated":
        parts.append("stop strings refused and not sent (stop: emulated)")
    if form.token_limit != "max_tokens":  # noqa: S105 - a parameter name
        parts.append(f"token limit sent as {escaped(form.token_limit)}")  # a stranger's word
    if "temperature" in form.omitted:
        parts.append(
            f"temperature {temperature:g} refused and not sent, so decoding was "
            f"{'not greedy' if temperature == 0 else 'at another one'}"
        )
    return parts
