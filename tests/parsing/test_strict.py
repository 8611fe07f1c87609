"""Protocol `strict` and the action rule are the original's, on every string."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reactrepro.domain import Action
from reactrepro.parsing.actions import parse_action
from reactrepro.parsing.stops import cut
from reactrepro.parsing.strict import parse
from reactrepro.parsing.strict import parse_action as parse_reprompt

PIECES = st.sampled_from(
    [
        "\nAction 1: ",
        "\nAction 2: ",
        "Action 1:",
        "\nThought 1: ",
        " ",
        "\n",
        "a",
        "Search[",
        "]",
        "finish[x]",
        "\r",
        "\x1c",
    ]
)
REPLIES = st.one_of(st.lists(PIECES).map("".join), st.text())


def _original(reply: str, i: int) -> tuple[str, str | None]:
    """The released loop's reading of a reply, told with `partition`: thought, and action or None."""
    mark = f"\nAction {i}: "
    reply = reply.strip()
    before, found, after = reply.partition(mark)
    if found and mark not in after:
        return before, after
    return reply.partition("\n")[0], None


@given(REPLIES, st.integers(1, 12))
@example(" t\nAction 1: a\nThought 2: u\nAction 2: b", 1)
@example("\nAction 1: Search[x]", 1)
@example(" t\nAction 1: a\nAction 1: b", 1)
@example(" t\nAction 11: a", 1)
def test_strict_reads_as_the_original(reply: str, i: int) -> None:
    """Thought and action equal the original's; without an action the reply is flagged."""
    read = parse(reply, i, None)
    assert (read.thought, read.action) == _original(reply, i)
    assert ("no_action" in read.flags) == (read.action is None)
    assert ("empty_reply" in read.flags) == (not reply.strip())
    assert parse(reply, i, "length") == read


@pytest.mark.parametrize(
    ("reply", "thought", "action"),
    [
        (" t\nAction 1: Search[x]\n", "t", "Search[x]"),
        (" t\nAction 1:   Finish[x]", "t", "  Finish[x]"),
        (" t \n\nAction 1: \n\nFinish[x]", "t \n", "\n\nFinish[x]"),
        (" t\nAction 2: Search[x]", "t", None),
        (" t\nAction 1:Search[x]", "t", None),
        ("Action 1: Search[x]", "Action 1: Search[x]", None),
        (" t\nAction 1: a\nAction 1: b", "t", None),
        ("", "", None),
        (
            " t\nAction 1: Search[a]\nThought 2: u\nAction 2: Finish[b]",
            "t",
            "Search[a]\nThought 2: u\nAction 2: Finish[b]",
        ),
    ],
)
def test_what_counts_as_an_action(reply: str, thought: str, action: str | None) -> None:
    """Number, one blank, one occurrence, and a thought before it; the rest of the reply is the action."""
    read = parse(reply, 1, "stop")
    assert (read.thought, read.action) == (thought, action)


@pytest.mark.parametrize(
    ("reply", "action"), [(" Search[x] ", "Search[x]"), ("\n", ""), ("", ""), ("Action 1: x", "Action 1: x")]
)
def test_the_reprompts_reply_is_stripped(reply: str, action: str) -> None:
    """The second reply is the action, stripped, whatever it says."""
    assert parse_reprompt(reply, 1, None).action == action


@pytest.mark.parametrize(
    ("text", "name", "argument", "command"),
    [
        ("Search[Harlow Bay]", "search", "Harlow Bay", "search[Harlow Bay]"),
        ("Finish[ yes ]", "finish", " yes ", "finish[ yes ]"),
        ("finish[]", "finish", "", "finish[]"),
        ("Lookup[a [b] c]", "lookup", "a [b] c", "lookup[a [b] c]"),
        ("Think[x]", "think", "x", "think[x]"),
        ("Search[a]\nThought 2: u\nAction 2: Finish[b]", "search", "a]\nThought 2: u\nAction 2: Finish[b", None),
        ("search[x] ", "search", "x", "search[x]"),
        (" Finish[x]", "", "", "Finish[x]"),
        ("\n\nFinish[x]", "", "", "Finish[x]"),
        ("FINISH[x]", "", "", "fINISH[x]"),
        ("Search[x].", "", "", "search[x]."),
        ("Search[x", "", "", "search[x"),
        ("Search [x]", "", "", "search [x]"),
        ("\u0130[x]", "", "", "i\u0307[x]"),
        ("Login", "", "", "login"),
        ("", "", "", ""),
        (" ", "", "", ""),
    ],
)
def test_actions(text: str, name: str, argument: str, command: str | None) -> None:
    """Only the first character is lower-cased; verb in front, bracket at the end, the argument is all between."""
    lowered = text[:1].lower() + text[1:]
    assert parse_action(text) == Action(name, argument, raw=text, command=lowered if command is None else command)


@given(st.one_of(st.lists(PIECES).map("".join), st.text()))
def test_the_argument_is_a_piece_of_the_text(text: str) -> None:
    """No string raises; verb, brackets and argument make up the command again."""
    action = parse_action(text)
    assert action.raw == text
    if action.name:
        assert f"{action.name}[{action.argument}]" == action.command


@pytest.mark.parametrize(
    ("text", "stops", "kept"),
    [
        ("ab\nObservation 1: c", ("\nObservation 1:",), "ab"),
        ("ab", ("\nObservation 1:",), "ab"),
        ("a\nb", ("\n",), "a"),
        ("\na", ("\n",), ""),
        ("abc", ("c", "b"), "a"),
        ("abc", ("", "b"), "a"),
        ("abc", (), "abc"),
    ],
)
def test_the_local_cut(text: str, stops: tuple[str, ...], kept: str) -> None:
    """The earliest of the stop strings counts, empty ones do not, and the removed characters are counted."""
    assert cut(text, stops) == (kept, len(text) - len(kept))
