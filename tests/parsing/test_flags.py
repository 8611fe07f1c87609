"""The table of format flags, its examples and its page."""

from __future__ import annotations

from pathlib import Path

import pytest

from reactrepro.parsing import answers, flags, tolerant
from reactrepro.parsing.stops import cut

PAGE = Path(__file__).parents[2] / "docs" / "format-flags.md"


def test_the_page_is_the_table() -> None:
    """docs/format-flags.md is what `reactrepro.parsing.flags.markdown()` returns."""
    assert PAGE.read_bytes().decode("utf-8").replace("\r\n", "\n") == flags.markdown()


@pytest.mark.parametrize("name", flags.FLAGS)
def test_each_example_bears_its_flag(name: str) -> None:
    """The example of every flag is read as the table says."""
    flag = flags.FLAGS[name]
    text, removed = cut(flag.reply, ("\nObservation 2:",))
    if flag.source == "answer":
        read = answers.tolerant(text, "Thought:", flag.finish)
    else:
        parse = tolerant.parse_action if flag.source == "reprompt" else tolerant.parse
        read = parse(text, 2, flag.finish)
    assert read.action == flag.action
    assert name in read.flags or flag.source == "loop"
    assert bool(removed) == (name == "cut_at_stop")


def test_flags_come_in_the_tables_order() -> None:
    """Each once; a name that the table does not hold comes last."""
    assert flags.ordered(["no_action", "zzz", "think_block", "no_action"]) == ("think_block", "no_action", "zzz")
