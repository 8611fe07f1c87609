"""The wire APIs: request bodies out of prompts, completions out of responses, whatever a server makes of them."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro.backends import BACKENDS
from reactrepro.backends.llm import BackendLlm
from reactrepro.domain import Ask, Sent, Tokens
from reactrepro.errors import Corrupt, InfraError
from reactrepro.exchanges.scripted import ENVELOPES, Scripted
from reactrepro.runs.replay import replay_episode

from ..world import BAY, World

ASK = Ask("model-1", 100, 0)
PROMPT = "Question: Where?\nThought 1:"
STOP = ("\nObservation 1:",)

APIS = ("chat", "completions", "messages")


def backend(api: str) -> Any:
    """The backend of *api*."""
    return BACKENDS.get(api)()


def completed(api: str, response: object) -> Any:
    """What the backend of *api* makes of *response*."""
    return backend(api).completion(response)


@pytest.mark.parametrize(
    ("api", "body"),
    [
        (
            "chat",
            {
                "model": "model-1",
                "messages": [{"role": "user", "content": PROMPT}],
                "stop": ["\nObservation 1:"],
                "max_tokens": 100,
                "temperature": 0,
            },
        ),
        (
            "completions",
            {"model": "model-1", "prompt": PROMPT, "stop": ["\nObservation 1:"], "max_tokens": 100, "temperature": 0},
        ),
        (
            "messages",
            {
                "model": "model-1",
                "messages": [{"role": "user", "content": PROMPT}],
                "stop_sequences": ["\nObservation 1:"],
                "max_tokens": 100,
                "temperature": 0,
            },
        ),
    ],
)
def test_each_api_has_its_body(api: str, body: object) -> None:
    """The prompt unchanged in one place, stop, limit, temperature, and nothing else: no top_p."""
    assert backend(api).request(PROMPT, STOP, ASK) == body


@pytest.mark.case("B36")
@pytest.mark.parametrize("api", ["chat", "messages"])
@pytest.mark.parametrize("prompt", ["Question: Q?\nThought 1:", "Question: Q?\nAction 1: "])
def test_the_last_turn_is_the_users_and_holds_the_prompt_unchanged(api: str, prompt: str) -> None:
    """No prefilled assistant turn, which newer models refuse; a trailing blank stays, since the user said it."""
    body = backend(api).request(prompt, STOP, ASK)
    assert body["messages"] == [{"role": "user", "content": prompt}]


@pytest.mark.parametrize("api", APIS)
def test_what_the_server_refuses_is_left_out_as_the_recording_says(api: str) -> None:
    """`sent` shapes the body: no stop, another name for the limit, no temperature."""
    sent = Sent(stop="emulated", token_limit="max_completion_tokens", omitted=("temperature",))
    body = backend(api).request(PROMPT, STOP, replace(ASK, sent=sent))
    assert not {"stop", "stop_sequences", "temperature"} & body.keys()
    limit = "max_tokens" if api == "messages" else "max_completion_tokens"  # Anthropic's API has one name only
    assert {name: value for name, value in body.items() if "tokens" in name} == {limit: 100}


@pytest.mark.case("B53")
@pytest.mark.parametrize(("api", "sent"), [("chat", 4), ("completions", 4), ("messages", 6)])
def test_no_more_stop_strings_are_sent_than_the_api_takes(api: str, sent: int) -> None:
    """Four at most on OpenAI's APIs, the first ones, no empty one and none twice; all of them are applied here."""
    stop = ("aa", "", "bb", "aa", "cc", "dd", "ee", "ff")
    body = backend(api).request(PROMPT, stop, ASK)
    assert (body.get("stop") or body["stop_sequences"]) == ["aa", "bb", "cc", "dd", "ee", "ff"][:sent]
    completion = BackendLlm(backend(api), Scripted(["one ff two aa"]), ASK).complete(PROMPT, stop, step=1)
    assert (completion.text, completion.cut) == ("one ", 9)


@pytest.mark.case("B12")
@pytest.mark.parametrize("api", APIS)
def test_stop_strings_of_white_space_are_left_out_alone(api: str) -> None:
    """Where a server refuses these, it still gets the others."""
    body = backend(api).request(PROMPT, ("\n", "x"), replace(ASK, sent=Sent(stop="visible")))
    assert (body.get("stop") or body["stop_sequences"]) == ["x"]


@pytest.mark.case("B12")
@pytest.mark.parametrize(("stop", "sent"), [(["\n"], None), (["", "\n"], None), (["\n", "x"], ["x"]), (["x"], ["x"])])
def test_blank_stop_strings_are_not_sent_to_anthropic(stop: list[str], sent: list[str] | None) -> None:
    """The API answers 400 to them; mixed lists keep their valid members."""
    assert backend("messages").request(PROMPT, stop, ASK).get("stop_sequences") == sent


@pytest.mark.case("B12")
@pytest.mark.parametrize(
    ("api", "reply", "text"),
    [
        ("messages", "\n\n Search[Harlow Bay]\nObservation", "\n\n Search[Harlow Bay]"),
        ("messages", "Search[Harlow Bay]", "Search[Harlow Bay]"),
        ("messages", " \n ", " \n "),
        ("chat", "\nSearch[Harlow Bay]", ""),
    ],
)
def test_a_stop_string_that_was_not_sent_counts_from_the_first_visible_character(
    api: str, reply: str, text: str
) -> None:
    """A reply that begins with a newline is not emptied; a server that got the newline would have stopped there."""
    llm = BackendLlm(backend(api), Scripted([reply]), ASK)
    completion = llm.complete(PROMPT, ("\n",), step=1)
    assert completion.text == text
    assert completion.cut == len(reply) - len(text)


@pytest.mark.parametrize("api", APIS)
def test_a_reply_is_cut_at_the_first_stop_string_whatever_the_server_did(api: str) -> None:
    """The raw reply is kept beside the cut one, with the number of characters that went."""
    llm = BackendLlm(backend(api), Scripted([" x\nAction 1: Search[y]\nObservation 1: z"]), ASK)
    completion = llm.complete(PROMPT, STOP, step=1)
    assert completion.text == " x\nAction 1: Search[y]"
    assert completion.raw.endswith("Observation 1: z")
    assert completion.cut == len("\nObservation 1: z")
    assert [(turn.step, turn.prompt, turn.stop) for turn in llm.turns] == [(1, PROMPT, STOP)]


@pytest.mark.parametrize(
    ("api", "response", "text", "finish", "tokens"),
    [
        (
            "chat",
            {
                "choices": [{"message": {"content": "hi"}, "finish_reason": "length"}],
                "usage": {"prompt_tokens": 5, "completion_tokens": 2},
            },
            "hi",
            "length",
            Tokens(5, 2),
        ),
        ("completions", {"choices": [{"text": "hi", "finish_reason": "stop"}], "usage": None}, "hi", "stop", Tokens()),
        (
            "messages",
            {
                "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": " x"}],
                "stop_reason": "stop_sequence",
                "usage": {"input_tokens": 7, "output_tokens": 3},
            },
            " x",
            "stop_sequence",
            Tokens(7, 3),
        ),
    ],
)
def test_each_api_has_its_response(api: str, response: object, text: str, finish: str, tokens: Tokens) -> None:
    """Text, reason and usage under the API's own names."""
    completion = completed(api, response)
    assert (completion.text, completion.raw, completion.finish, completion.tokens) == (text, text, finish, tokens)


@pytest.mark.case("B07")
@pytest.mark.parametrize(
    ("api", "response", "note"),
    [
        (
            "chat",
            {
                "choices": [
                    {
                        "message": {"content": "", "reasoning_content": "The bay. Action 1: Search[x]"},
                        "finish_reason": "length",
                    }
                ]
            },
            "truncated_in_reasoning",
        ),
        ("chat", {"choices": [{"message": {"content": ""}, "finish_reason": "length"}]}, "truncated_empty"),
        (
            "messages",
            {"content": [{"type": "thinking", "thinking": "The bay."}], "stop_reason": "max_tokens"},
            "truncated_in_reasoning",
        ),
        ("completions", {"choices": [{"text": " \n", "finish_reason": "length"}]}, "truncated_empty"),
    ],
)
def test_a_budget_spent_on_reasoning_is_no_empty_answer(api: str, response: object, note: str) -> None:
    """It has its own name, and reasoning is never parsed as an action."""
    completion = completed(api, response)
    assert note in completion.notes
    assert not completion.text.strip()


@pytest.mark.case("B32")
def test_an_anthropic_refusal_is_its_own_outcome(tmp_path: Path) -> None:
    """Empty content with `refusal` is no IndexError and no wrong answer: the episode is refused, and not judged."""
    world = World(tmp_path, api="messages")
    world.record(BAY, [{"content": [], "stop_reason": "refusal"}])
    report = replay_episode(world.run, "1", world.sources)
    assert report.ok
    assert report.trajectory is not None
    assert (report.trajectory.ended, report.trajectory.answer) == ("refused", None)


@pytest.mark.case("B32")
def test_empty_anthropic_content_is_a_reply_without_an_action(tmp_path: Path) -> None:
    """`end_turn` with nothing in it is reprompted like any reply that gives no action."""
    world = World(tmp_path, api="messages")
    world.record(BAY, [{"content": [], "stop_reason": "end_turn"}, "Finish[Harlow Bay]"])
    report = replay_episode(world.run, "1", world.sources)
    assert report.ok
    assert report.trajectory is not None
    assert (report.trajectory.answer, report.trajectory.reprompts) == ("Harlow Bay", 1)
    assert "no_action" in report.trajectory.steps[0].flags


@pytest.mark.case("B33")
def test_a_filtered_reply_ends_the_episode_unjudged(tmp_path: Path) -> None:
    """`content_filter` with null content: filtered, no retry, no score of its own."""
    world = World(tmp_path)
    filtered = {"choices": [{"message": {"content": None}, "finish_reason": "content_filter"}]}
    world.record(BAY, [" I look.\nAction 1: Search[Vorland]", filtered])
    report = replay_episode(world.run, "1", world.sources)
    assert report.ok
    assert report.trajectory is not None
    assert (report.trajectory.ended, report.trajectory.answer, len(report.trajectory.steps)) == ("filtered", None, 1)


def test_a_refusal_of_openai_is_one_too() -> None:
    """A `refusal` beside null content is the refusal's finish."""
    refused = {"choices": [{"message": {"content": None, "refusal": "I cannot."}, "finish_reason": "stop"}]}
    assert completed("chat", refused).finish == "refusal"


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("response", [None, [], "x", {}, {"choices": None}, {"choices": []}, {"choices": ["x"]}])
def test_what_is_no_response_is_corrupt(api: str, response: object) -> None:
    """No crash: an error that says what is missing."""
    with pytest.raises(Corrupt):
        completed(api, response)


@pytest.mark.parametrize("api", APIS)
def test_an_error_inside_a_successful_answer_is_an_infra_error(api: str) -> None:
    """`choices: null` with an error object inside a 200."""
    with pytest.raises(InfraError, match="overloaded"):
        completed(api, {"choices": None, "error": {"message": "overloaded", "code": 529}})


def test_a_lone_surrogate_cannot_poison_the_next_request() -> None:
    """It is replaced by U+FFFD, since no request could carry it, and that is noted."""
    completion = completed("chat", {"choices": [{"message": {"content": "a\ud83db"}}]})
    assert (completion.text, completion.notes) == ("a\ufffdb", ("lone_surrogate",))


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["choices", "message", "content", "text", "type", "usage", "error", "thinking"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.sampled_from(APIS), junk)
def test_no_response_crashes_a_backend(api: str, response: object) -> None:
    """Whatever JSON a server sends, it is a completion or one of our errors."""
    with contextlib.suppress(Corrupt, InfraError):
        assert isinstance(completed(api, response).text, str)


@pytest.mark.parametrize("api", APIS)
def test_a_scripted_reply_comes_back_as_it_was_written(api: str) -> None:
    """The envelope of each API is read by its own backend."""
    found = backend(api)
    assert found.completion(ENVELOPES[found.endpoint](" hi\n")).text == " hi\n"
