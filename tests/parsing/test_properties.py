"""What holds of protocol `tolerant` for every string."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reactrepro.parsing import PROTOCOLS, strict, tolerant
from reactrepro.parsing.flags import FLAGS, ordered

STEP = 2
FINISHES = st.sampled_from(["stop", "length", "max_tokens", None, "whatever"])
# fmt: off
PIECES = st.sampled_from([
    "\nAction 2: ", "Action 2:", "\nAction 3: ", "Action: ", "**Action 2:** ", "action 2 :", "\nThought 2: ",
    "Thought:", "\nObservation 2: ", "Observation:", "\nObserv", "Question: ", "Claim: ", "Search[", "Finish[",
    "lookup [", "THINK[", "Search[x]", "Finish[a [b] c]", "]", "[", "x", "it is so.", " ", "\n", "\n\n", "\r\n",
    "`", "```", "```\n", "**", '"', "'", "<think>", "</think>", "<|im_end|>", "</s>", "- ", "> ", "#", ":",
    "\u201c", "\u201d", "\u0130", "\ud800",
])
# fmt: on
REPLIES = st.one_of(st.lists(PIECES, max_size=16).map("".join), st.text(max_size=200))

PLAIN = st.text(
    st.characters(exclude_categories=["C", "Z"], exclude_characters="<[]`\u25c1\"'\u2018\u201c\u00ab:\uff1a"),
    min_size=1,
)
WORDS = ("thought", "action", "observation", "question", "claim")
LINE = (
    st.lists(PLAIN, min_size=1, max_size=4)
    .map(" ".join)
    .filter(lambda line: not line.lower().lstrip("*_#~>+-\u2022 ").startswith(WORDS))
)
THOUGHTS = st.lists(LINE, min_size=1, max_size=3).map("\n".join)
ACTIONS = st.builds("{}[{}]".format, st.sampled_from(["Search", "Lookup", "Finish", "Think"]), LINE)


@settings(max_examples=500)
@given(REPLIES, FINISHES)
def test_no_string_raises_and_every_repair_is_named(reply: str, finish: str | None) -> None:
    """Whatever is read otherwise than `strict` reads it bears a flag, and every flag is in the table."""
    read = tolerant.parse(reply, STEP, finish)
    assert read == tolerant.parse(reply, STEP, finish)
    assert set(read.flags) <= set(FLAGS)
    assert read.flags == ordered(read.flags)
    assert ("no_action" in read.flags) == (read.action is None)
    if not read.flags:
        assert read == strict.parse(reply, STEP, finish)


@given(REPLIES, FINISHES)
def test_the_reprompts_reply_neither(reply: str, finish: str | None) -> None:
    """The same holds of the second reply."""
    read = tolerant.parse_action(reply, STEP, finish)
    assert set(read.flags) <= set(FLAGS)
    assert ("empty_action" in read.flags) == (not read.action)
    if not read.flags:
        assert read == strict.parse_action(reply, STEP, finish)


@given(THOUGHTS, ACTIONS, FINISHES)
def test_a_clean_reply_is_read_as_strict_reads_it(thought: str, action: str, finish: str | None) -> None:
    """Thought, canonical label, action: no flag, and the very result of `strict`."""
    reply = f" {thought}\nAction {STEP}: {action}"
    read = tolerant.parse(reply, STEP, finish)
    assert read == strict.parse(reply, STEP, finish)
    assert (read.thought, read.action, read.flags) == (thought, action, ())


@settings(max_examples=500)
@given(REPLIES)
def test_what_goes_into_the_prompt_is_canonical(reply: str) -> None:
    """What was read, written with canonical labels and read again, is the same without a repair."""
    read = tolerant.parse(reply, STEP, "stop")
    if read.action is None or not read.thought.strip():
        return
    again = tolerant.parse(f" {read.thought}\nAction {STEP}: {read.action}", STEP, "stop")
    assert (again.thought.strip(), again.action) == (read.thought.strip(), read.action)
    assert again.flags in ((), ("unbalanced_bracket",))  # a bracket of the argument's own


@given(REPLIES, FINISHES)
def test_no_invented_observation_is_left(reply: str, finish: str | None) -> None:
    """No line of a thought or an action begins with the label of an observation."""
    read = tolerant.parse(reply, STEP, finish)
    for text in (read.thought, read.action or ""):
        assert not any(line.lstrip(" *`").startswith(("Observation 2:", "Observation:")) for line in text.split("\n"))


HOSTILE = [
    "Action 2: Search[" + "[" * 1_000_000,
    "t\nAction 2: Search[" + "]" * 1_000_000,
    "t\n" + "Action 2: " * 100_000,
    "t\n" + "Action 2:\n" * 100_000,
    "Thought 2: " * 100_000,
    "Observation 2:\n" * 70_000,
    " " * 1_000_000,
    "t" + "\n" * 1_000_000,
    "*" * 1_000_000,
    ("*" * 12 + "\n") * 80_000,
    "Action" + " " * 1_000_000,
    "Action 2" + "*" * 1_000_000,
    "</think>" * 120_000,
    "<think>" * 140_000,
    "<|" * 500_000,
    "<|im_end|>" * 100_000,
    "t\nAction 2: Search[" + '"' * 1_000_000 + "]",
    "t\nAction 2: " + "Search " * 140_000,
    "```\n" * 250_000,
    "t\r" * 500_000,
    "Question: x\n" * 80_000,
]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_a_megabyte_costs_linear_time(number: int) -> None:
    """No pattern backtracks and no loop copies: a megabyte made to hurt is read within seconds."""
    for protocol in map(PROTOCOLS.get, PROTOCOLS):
        begun = time.process_time()
        protocol.parse(HOSTILE[number], STEP, "stop")
        protocol.parse_action(HOSTILE[number], STEP, "length")
        assert time.process_time() - begun < 5
