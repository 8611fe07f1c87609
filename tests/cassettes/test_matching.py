"""When two requests are the same, and how the nearest recorded one is reported."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro.cassettes import mismatch
from reactrepro.cassettes.matching import ABSENT, Difference, common_prefix, differences, endpoint, meaning, same
from reactrepro.cassettes.mismatch import Place
from reactrepro.cassettes.model import Cassette
from reactrepro.domain import Call

from .conftest import chat

values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-5, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        (0, 0.0, True),
        (1, True, False),
        (0, False, False),
        (1.0, True, False),
        (None, False, False),
        ("é", "e\u0301", False),
        ("a", "a ", False),
        ([1, 2], [2, 1], False),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1.0}, True),
        ({"a": None}, {}, False),
        ({}, [], False),
        ("1", 1, False),
        ([], None, False),
    ],
)
def test_bodies_compare_as_parsed_values(a: Any, b: Any, equal: bool) -> None:
    """0 equals 0.0, booleans are no numbers, key order is nothing, every character counts."""
    assert same(a, b) is equal
    assert same(b, a) is equal


@given(values, values)
def test_no_difference_means_same(a: Any, b: Any) -> None:
    """`same` and `differences` agree on every pair of bodies."""
    assert same(a, b) == (not list(differences(a, b)))


@given(values, values)
def test_what_means_the_same_has_one_meaning(a: Any, b: Any) -> None:
    """Looking requests up by `meaning` and comparing them by `same` is one rule."""
    assert (meaning(json.dumps(a)) == meaning(json.dumps(b))) == same(a, b)
    assert meaning(json.dumps(a, indent=1)) == meaning(json.dumps(json.loads(json.dumps(a))))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("0", "-0.0"),
        ("1e2", "100"),
        ("1e22", f"1{'0' * 22}"),
        ('"\\ud83d"', ' "\\uD83D"'),
        ('{"b": 1, "a": 2.0}', '{"a": 2, "b": 1}'),
    ],
)
def test_numbers_are_found_by_value(a: str, b: str) -> None:
    """However a writer spells them; booleans, texts and lists stay what they are."""
    assert meaning(a) == meaning(b)
    assert len({meaning(text) for text in ("1", "true", '"1"', "[1]", "null", '{"1": 1}', "1e400", "NaN")}) == 8


@given(values)
def test_a_body_survives_any_json_writer(a: Any) -> None:
    """White space, escapes and key order of the writer never matter."""
    assert same(a, json.loads(json.dumps(a, ensure_ascii=False, sort_keys=True, indent=3)))


@pytest.mark.case("B49")
@pytest.mark.parametrize(
    ("uri", "logical"),
    [
        ("https://ark.cn-beijing.volces.com/api/v3/chat/completions", "chat/completions"),
        ("http://127.0.0.1:8000/v1/chat/completions", "chat/completions"),
        ("http://localhost:8001/v1/chat/completions?x=1", "chat/completions"),
        ("https://api.openai.com/v1/completions", "completions"),
        ("https://api.anthropic.com/v1/messages", "messages"),
        ("http://h/other/path/", "other/path"),
    ],
)
def test_host_port_and_prefix_are_no_part_of_an_endpoint(uri: str, logical: str) -> None:
    """The same request to another port or host is the same request."""
    assert endpoint(uri) == logical


@given(st.text("ab", max_size=30), st.text("ab", max_size=30))
def test_common_prefix_is_the_longest(a: str, b: str) -> None:
    """The first differing character is where the texts part."""
    n = common_prefix(a, b)
    assert a[:n] == b[:n]
    assert n == min(len(a), len(b)) or a[n] != b[n]


def test_differences_name_the_leaf_by_its_json_path() -> None:
    """Each differing leaf is named, absent sides included."""
    found = list(
        differences(
            {"model": "a", "messages": [{"role": "user", "content": "x"}], "stop": ["s"], "n": 1},
            {"model": "a", "messages": [{"role": "user", "content": "y"}], "stop": ["s", "t"], "temperature": 0},
        )
    )
    assert found == [
        Difference("$.messages[0].content", "x", "y"),
        Difference("$.stop[1]", ABSENT, "t"),
        Difference("$.temperature", ABSENT, 0),
        Difference("$.n", 1, ABSENT),
    ]


def test_the_nearest_is_the_one_that_differs_least(make: Callable[..., Cassette]) -> None:
    """Ranked by how much differs, not by order; what is unused comes first."""
    cassette = make(chat("a" * 50, "1"), chat("the prompt, almost", "2"), chat("b" * 50, "3"))
    body = chat("the prompt, Almost", "").request_json
    found = mismatch.find(cassette, [False, False, False], Call("chat/completions", body, 2), Place("r", "0", "0.yaml"))
    assert found.nearest == 2
    assert [d.path for d in found.differences] == ["$.messages[0].content"]
    found = mismatch.find(cassette, [False, True, False], Call("chat/completions", body, 2), Place("r", "0", "0.yaml"))
    assert found.nearest == 1


def test_a_request_made_once_too_often_says_so(make: Callable[..., Cassette]) -> None:
    """When the very request was recorded and is used up, that is what the message says."""
    one = chat("p", "r")
    found = mismatch.find(make(one), [True], Call("chat/completions", one.request_json, 3), Place("run", "0", "0.yaml"))
    assert found.spent
    assert "interaction 1 of 1 is this very request, but an earlier call has used it" in str(found)


def test_the_report_is_short_and_shows_the_place(make: Callable[..., Cassette], exact: object) -> None:
    """Run, episode, step, file, field, character with line and column, both sides, cause and remedy: in few lines."""
    prompt = "\n".join(f"Observation {n}: named after Milhous. " for n in range(80))
    changed = prompt.replace("40: named after Milhous. ", "40: named after Milhous.")
    cassette = make(chat("other", "x"), chat(prompt, "r"))
    place = Place(
        "hotpotqa/react/m",
        "7",
        "cassettes/hotpotqa/react/m/7.yaml",
        ("prompts/x/react.txt changed.",),
    )
    found = mismatch.find(cassette, [True, False], Call("chat/completions", chat(changed, "").request_json, 2), place)
    short = mismatch.describe(found)
    assert len(short) < 800
    assert short == exact
    assert "·" in mismatch.describe(found, verbose=True)


def test_control_characters_of_a_recording_reach_no_terminal(make: Callable[..., Cassette]) -> None:
    """An escape sequence in a stranger's file is shown as text."""
    cassette = make(chat("\x1b[2Jevil \u202e" + "x" * 60, "r"))
    call = Call("chat/completions", chat("y" * 60, "").request_json, 1)
    report = mismatch.describe(mismatch.find(cassette, [False], call, Place("r", "0", "f")), verbose=True)
    assert "\x1b" not in report
    assert "\u202e" not in report
    assert "\\x1b[2Jevil \\u202e" in report
