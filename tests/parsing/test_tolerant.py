"""Protocol `tolerant`: what chat models write, case by case. Every reply is one to `Thought 2:`."""

from __future__ import annotations

import pytest

from reactrepro.parsing import tolerant
from reactrepro.parsing.actions import parse_action

BAY = "Search[Harlow Bay]"
THOUGHT = "Check the bay."

# reply -> thought, action, flags
REPLIES: list[tuple[str, str, str | None, set[str]]] = [
    # bold, back-ticks, headings, bullets
    (
        "**Thought 2:** Check the bay.\n**Action 2:** `Search[Harlow Bay]`",
        THOUGHT,
        BAY,
        {"repeated_label", "decorated_label", "decorated_action"},
    ),
    (
        "**Thought 2: Check the bay.**\n**Action 2: Search[Harlow Bay]**",
        THOUGHT,
        BAY,
        {"repeated_label", "decorated_label", "decorated_action"},
    ),
    (" Check the bay.\n`Action 2: Search[Harlow Bay]`", THOUGHT, BAY, {"decorated_label", "decorated_action"}),
    (" Check the bay.\n### Action 2\n Search[Harlow Bay]", THOUGHT, BAY, {"decorated_label", "label_form"}),
    (" Check the bay.\n**Action 2**\nSearch[Harlow Bay]", THOUGHT, BAY, {"decorated_label", "label_form"}),
    (" Check the bay.\nAction 2\n\nSearch[Harlow Bay]", THOUGHT, BAY, {"label_form"}),
    (" Check the bay.\n### Action 2:\nSearch[Harlow Bay]", THOUGHT, BAY, {"decorated_label", "label_form"}),
    (" Check the bay.\n- **Action 2**: **Search**[Harlow Bay]", THOUGHT, BAY, {"decorated_label", "decorated_action"}),
    (
        "```\nThought 2: Check the bay.\nAction 2: Search[Harlow Bay]\n```",
        THOUGHT,
        BAY,
        {"repeated_label", "code_fence", "decorated_action"},
    ),
    (
        " Check the bay.\nAction 2:\n```\nSearch[Harlow Bay]\n```",
        THOUGHT,
        BAY,
        {"label_form", "code_fence", "decorated_action"},
    ),
    # numbers and form of labels
    ("I will search.\nAction: Search[Harlow Bay]", "I will search.", BAY, {"missing_number"}),
    (" Check the bay.\nAction 3: Search[Harlow Bay]", THOUGHT, BAY, {"wrong_number"}),
    (" Check the bay.\naction2:search[Harlow Bay]", THOUGHT, BAY, {"label_form", "verb_form"}),
    (" Check the bay.\nAction 2\uff1aSearch[Harlow Bay]", THOUGHT, BAY, {"label_form"}),
    (" Check the bay.\n   Action 2:   Search[Harlow Bay]", THOUGHT, BAY, {"label_form"}),
    (" Check the bay.\n\n\nAction 2: \n\nSearch[Harlow Bay]", THOUGHT, BAY, {"blank_lines", "label_form"}),
    (" Check the bay.\nAction 2: Action 2: Search[Harlow Bay]", THOUGHT, BAY, {"repeated_label"}),
    (" Check the bay.\nAction 2:\nAction 2: Search[Harlow Bay]", THOUGHT, BAY, {"repeated_label"}),
    (" Check the bay. Action 2: Search[Harlow Bay]", THOUGHT, BAY, {"inline_label"}),
    (" Check the bay.\nSearch[Harlow Bay]", THOUGHT, BAY, {"missing_label"}),
    # thoughts
    (
        "Thought 2: Check the bay.\nIt lies north.\nAction 2: Search[Harlow Bay]",
        "Check the bay.\nIt lies north.",
        BAY,
        {"repeated_label"},
    ),
    (
        " So far.\nThought 2: Check the bay.\nAction 2: Search[Harlow Bay]",
        "So far.\nCheck the bay.",
        BAY,
        {"repeated_label"},
    ),
    ("Action 2: Search[Harlow Bay]", "", BAY, {"no_thought"}),
    ("\nAction 2: Search[Harlow Bay]", "", BAY, {"no_thought"}),
    ("Search[Harlow Bay]", "", BAY, {"no_thought", "missing_label"}),
    ("Question: Where?\nCheck the bay.\nAction 2: Search[Harlow Bay]", THOUGHT, BAY, {"restated_question"}),
    # quotes and verbs
    (" Check the bay.\nAction 2: Search['Harlow Bay']", THOUGHT, BAY, {"quoted_argument"}),
    (" Check the bay.\nAction 2: Search[\u201cHarlow Bay\u201d]", THOUGHT, BAY, {"quoted_argument"}),
    (' Check the bay.\nAction 2: Finish["a" and "b"]', THOUGHT, 'Finish["a" and "b"]', set()),
    (" Check the bay.\nAction 2: Finish['Tis]", THOUGHT, "Finish['Tis]", set()),
    (" Check the bay.\nAction 2: FINISH[1902]", THOUGHT, "Finish[1902]", {"verb_form"}),
    (" Check the bay.\nAction 2: Look up [tide table]", THOUGHT, "Lookup[tide table]", {"verb_form"}),
    (
        " Check the bay.\nAction 2: I choose Search[Harlow Bay] now",
        THOUGHT,
        BAY,
        {"text_before_action", "trailing_text"},
    ),
    (" Check the bay.\nAction 2: Think[north]", THOUGHT, "Think[north]", set()),
    # brackets
    (" Check the bay.\nAction 2: Search[Harlow [Bay] (x)]", THOUGHT, "Search[Harlow [Bay] (x)]", set()),
    (" Check the bay.\nAction 2: Search[[Harlow Bay]]", THOUGHT, "Search[[Harlow Bay]]", set()),
    (" Check the bay.\nAction 2: Search[Harlow Bay]]", THOUGHT, BAY, {"trailing_text"}),
    (" Check the bay.\nAction 2: Search[[Harlow Bay]\nmore]", THOUGHT, "Search[[Harlow Bay]\nmore]", set()),
    (
        " Check the bay.\nAction 2: Search[Harlow Bay\nBecause of [1].",
        THOUGHT,
        BAY,
        {"unclosed_bracket", "trailing_text"},
    ),
    (" Check the bay.\nAction 2: Finish[ yes ]", THOUGHT, "Finish[ yes ]", set()),
    (" Check the bay.\nAction 2: Finish[]", THOUGHT, "Finish[]", set()),
    # what follows
    (" Check the bay.\nAction 2: Search[Harlow Bay], Search[Quill]", THOUGHT, BAY, {"second_action"}),
    (" Check the bay.\nAction 2: Search[Harlow Bay]\nAction 2: Search[Quill]", THOUGHT, BAY, {"second_action"}),
    (
        " Check the bay.\nAction 2: Search[Harlow Bay]\n\nQuestion: Who?\nThought 1: x\nAction 1: Finish[y]",
        THOUGHT,
        BAY,
        {"invented_question", "ran_ahead", "second_action"},
    ),
    # known verbs only: what is none is handed on for the environment to refuse
    (" Check the bay.\nAction 2: Login", THOUGHT, "Login", set()),
    (" Check the bay.\nAction 2: go\nnorth", THOUGHT, "go", {"trailing_text"}),
    # no action
    (" I could use Search[Harlow Bay] here.", "I could use Search[Harlow Bay] here.", None, {"no_action"}),
    (" Check the bay.\nIt lies north.", THOUGHT, None, {"no_action"}),
    (" Check the bay.\nAction 2:", THOUGHT, None, {"no_action"}),
    ("Thought 2: Check the bay.", THOUGHT, None, {"repeated_label", "no_action"}),
]


@pytest.mark.parametrize(("reply", "thought", "action", "flags"), REPLIES)
def test_replies(reply: str, thought: str, action: str | None, flags: set[str]) -> None:
    """Thought, action and every repair."""
    read = tolerant.parse(reply, 2, "stop")
    assert (read.thought, read.action, set(read.flags)) == (thought, action, flags)


@pytest.mark.case("B01")
def test_only_the_first_action_counts_and_no_invented_observation_survives() -> None:
    """Of a reply that runs ahead, uncut, the thought and action before the invented observation are left."""
    reply = (
        " I should look up Harlow Bay.\nAction 1: Search[Harlow Bay]\nObservation 1: Harlow Bay was founded in 1902."
        "\nThought 2: So it is 1902.\nAction 2: Finish[1902]"
    )
    read = tolerant.parse(reply, 1, "stop")
    assert (read.thought, read.action) == ("I should look up Harlow Bay.", "Search[Harlow Bay]")
    assert read.flags == ("invented_observation",)
    assert tolerant.parse(reply, 2, "stop").action == "Search[Harlow Bay]"


@pytest.mark.case("B01")
def test_an_action_that_rests_on_an_invented_observation_is_not_executed() -> None:
    """Thought, invented observation, action: the action is not taken; without a thought before it, it is dropped."""
    read = tolerant.parse(" Hm.\n**Observation 2:** 1902.\nAction 2: Finish[1902]", 2, "stop")
    assert (read.thought, read.action) == ("Hm.", None)
    assert set(read.flags) == {"invented_observation", "no_action"}
    read = tolerant.parse("Observation 1: north.\nThought 2: Check the bay.\nAction 2: Search[Harlow Bay]", 2, "stop")
    assert (read.thought, read.action) == (THOUGHT, BAY)
    assert set(read.flags) == {"invented_observation", "repeated_label"}


@pytest.mark.case("B06")
@pytest.mark.parametrize(
    ("reply", "thought"),
    [
        ("**Thought 2:** Check the bay.\n**Action 2:** `Search[Harlow Bay]`", THOUGHT),
        ("I will search.\nAction: Search[Harlow Bay]", "I will search."),
        ("Thought 2: Check the bay.\nAction 2: Search[Harlow Bay]", THOUGHT),
    ],
)
def test_decorated_and_repeated_labels_are_recovered(reply: str, thought: str) -> None:
    """No label is left in what goes into the prompt, and the repair is flagged."""
    read = tolerant.parse(reply, 2, "stop")
    assert (read.thought, read.action) == (thought, BAY)
    assert read.flags


@pytest.mark.case("B07")
def test_an_empty_reply_is_not_an_empty_answer() -> None:
    """A reply that the limit ended before any text is no action, and says so."""
    read = tolerant.parse("", 1, "length")
    assert (read.thought, read.action) == ("", None)
    assert set(read.flags) == {"empty_reply", "truncated_reply", "no_action"}


@pytest.mark.case("B09")
@pytest.mark.parametrize(
    ("reply", "name", "argument", "flag"),
    [
        ("Action 3: Finish[Marlow]. This follows from the first paragraph.", "finish", "Marlow", "trailing_text"),
        ("Action 3: Lookup[tide table] on the other page", "lookup", "tide table", "trailing_text"),
        ("Action 3: Finish[Marlow", "finish", "Marlow", "unclosed_bracket"),
        ("Action 3: Finish[Marlow\nand Quill]", "finish", "Marlow\nand Quill", "no_thought"),
    ],
)
def test_what_stands_around_the_bracket(reply: str, name: str, argument: str, flag: str) -> None:
    """Text after the bracket, a missing bracket, a bracket on the next line."""
    read = tolerant.parse(reply, 3, "stop")
    action = parse_action(read.action or "")
    assert (action.name, action.argument) == (name, argument)
    assert flag in read.flags


@pytest.mark.parametrize("finish", ["length", "max_tokens"])
@pytest.mark.parametrize(
    "action",
    ["Search[Harlow B", "Search[Harlow [x]", "Search[", "Sear", "Finish[1902, because [1] says\nso", "**Finish[19"],
)
def test_an_action_that_the_limit_cut_is_not_executed(action: str, finish: str) -> None:
    """What the token limit cut inside an action is no action; the same text is repaired where nothing cut it."""
    reply = f" Check the bay.\nAction 2: {action}"
    read = tolerant.parse(reply, 2, finish)
    assert (read.thought, read.action) == (THOUGHT, None)
    assert {"truncated_action", "no_action"} <= set(read.flags) <= {"truncated_action", "no_action", "decorated_action"}
    assert tolerant.parse(reply, 2, "stop").action is not None
    assert tolerant.parse_action(action, 2, finish).action is None


@pytest.mark.parametrize("rest", ["", ". This is beca", "\nThought 3: Th", "\nObserv"])
def test_a_whole_action_is_executed_wherever_the_limit_fell(rest: str) -> None:
    """A bracket that is closed makes the action whole, whatever the limit cut behind it."""
    read = tolerant.parse(f" Check the bay.\nAction 2: Search[Harlow Bay]{rest}", 2, "length")
    assert (read.thought, read.action) == (THOUGHT, BAY)


@pytest.mark.case("B15")
@pytest.mark.parametrize("opening", ["<think>\n", "", "<THINKING>", "[THINK]"])
def test_only_what_follows_the_thinking_is_read(opening: str) -> None:
    """A draft action in the block is not executed, and nothing of the block is in the thought."""
    closing = {"<THINKING>": "</THINKING>", "[THINK]": "[/THINK]"}.get(opening, "</think>")
    reply = f"{opening}Maybe Action 1: Search[Wrong Place]\n{closing}\n I need the bay.\nAction 1: Search[Harlow Bay]"
    read = tolerant.parse(reply, 1, "stop")
    assert (read.thought, read.action, read.flags) == ("I need the bay.", BAY, ("think_block",))


@pytest.mark.case("B15")
@pytest.mark.parametrize(
    "reply",
    [
        "<think>\nI need the bay.\nAction 1: Search[Harlow Bay]\n</think>",
        "<think>\nI need the bay.\nAction 1: Search[Harlow Bay]",
    ],
)
def test_an_action_inside_the_thinking_is_none(reply: str) -> None:
    """Everything inside the block: no action, and an empty thought."""
    read = tolerant.parse(reply, 1, "stop")
    assert (read.thought, read.action) == ("", None)
    assert set(read.flags) == {"think_block", "empty_reply", "no_action"}


@pytest.mark.case("B38")
@pytest.mark.parametrize(
    ("end", "flag"),
    [
        ("\nObserv", "stop_residue"),
        ("\nObservation 1:", "stop_residue"),
        ("\n**Observ", "stop_residue"),
        ("<|im_end|>", "end_token"),
        ("\n</s>", "end_token"),
        ("<|eot_id|><|start_header_id|>user", "end_token"),
        ("<\uff5cend\u2581of\u2581sentence\uff5c>", "end_token"),
        ("\nObservation 1:<|im_end|>", "stop_residue"),
    ],
)
def test_a_rest_of_the_stop_string_is_removed(end: str, flag: str) -> None:
    """The argument is clean, and the residue is in neither thought nor action."""
    read = tolerant.parse(f" I need it.\nAction 1: Search[Harlow Bay]{end}", 1, "stop")
    assert (read.thought, read.action) == ("I need it.", BAY)
    assert flag in read.flags
    assert tolerant.parse(f"\nAction 1: Search[Harlow Bay]{end}", 1, "stop").action == BAY
    assert tolerant.parse_action(f" Search[Harlow Bay]{end}", 1, "stop").action == BAY


def test_tokens_in_front_of_the_text_are_passed_over() -> None:
    """A chat template's opening, written as text, does not empty the reply."""
    read = tolerant.parse("<|im_start|>assistant\n Check the bay.\nAction 2: Search[Harlow Bay]", 2, "stop")
    assert (read.thought, read.action, read.flags) == (THOUGHT, BAY, ("end_token",))


@pytest.mark.parametrize(
    ("reply", "action", "flags"),
    [
        (" Search[Harlow Bay]", BAY, set()),
        (" Action 2: Search[Harlow Bay]", BAY, {"repeated_label"}),
        ("**Action 2:** `Search[Harlow Bay]`", BAY, {"repeated_label", "decorated_label", "decorated_action"}),
        ("Action 1: Search[Harlow Bay]", BAY, {"repeated_label", "wrong_number"}),
        ("I will use Search[Harlow Bay].", BAY, {"text_before_action", "trailing_text"}),
        ("Thought 2: Check. Action 2: Search[Harlow Bay]", BAY, {"repeated_label", "text_before_action"}),
        ("Search[Harlow Bay]\nObservation 2: x", BAY, {"invented_observation"}),
        ("search['Harlow Bay'", BAY, {"verb_form", "quoted_argument", "unclosed_bracket"}),
        ("Login", "Login", set()),
        ("\n", None, {"empty_reply", "empty_action"}),
        ("Action 2:", None, {"repeated_label", "empty_action"}),
    ],
)
def test_the_reprompts_reply(reply: str, action: str | None, flags: set[str]) -> None:
    """The second reply is cleaned by the same rules."""
    read = tolerant.parse_action(reply, 2, "stop")
    assert (read.thought, read.action, set(read.flags)) == ("", action, flags)
