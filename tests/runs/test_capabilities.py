"""Capabilities: what a server refuses is left out or put otherwise, recorded as such, and not asked again on replay."""

from __future__ import annotations

import itertools
import json
import sys
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reactrepro.cassettes.read import read_cassette
from reactrepro.cassettes.runs import Run
from reactrepro.domain import Sent
from reactrepro.errors import InfraError, ParameterRefused
from reactrepro.report.episodes import as_dict, result_table, run_line
from reactrepro.report.model import EpisodeReport
from reactrepro.runs.record import RecordReport
from reactrepro.sent import Later

from ..lab import CALLS, GOLD, MINDS, Lab, lab
from ..llm_server import ON, Asked, Say, Takes, error
from .test_samples import LIMIT, Server, numbers

__all__ = ["lab"]

APIS = ("chat", "completions", "messages")


def sent(run: Run, key: str) -> Sent:
    """What the recording says of how it was asked."""
    return read_cassette(run.path(key)).meta.sent


def replays(lab: Lab, run: Run, keys: str = "0123") -> list[EpisodeReport]:
    """The replays, which are as recorded, directly and through the SDK, without one more request."""
    asked = len(lab.llm.asked)
    found = [lab.replay(run, key) for key in keys]
    wired = [lab.replay(run, key, wire=True) for key in keys]
    assert [report.problems for report in (*found, *wired)] == [()] * (2 * len(keys))
    assert [report.trajectory for report in found] == [report.trajectory for report in wired]
    assert len(lab.llm.asked) == asked
    return found


def answers(found: list[EpisodeReport]) -> list[str | None]:
    """What the replayed episodes answer."""
    return [report.trajectory.answer if report.trajectory else None for report in found]


def bodies(lab: Lab) -> list[dict[str, Any]]:
    """The bodies that came."""
    return [asked.body for asked in lab.llm.asked]


# --- one refusal ----------------------------------------------------------------------------------------------------


@pytest.mark.case("B02")
@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("worded", [False, True])
def test_refused_stop_strings_are_refused_once_and_cut_here(lab: Lab, api: str, worded: bool) -> None:
    """One probe for all episodes; nothing the model wrote behind its stop string is used; the probe is not stored."""
    lab.llm.takes, lab.llm.runs_on = Takes(stop=False, worded=worded), True
    report = lab.record(api=api)
    assert report.problems == []
    assert len(lab.llm.asked) == sum(CALLS) + 1
    assert ["stop" in body or "stop_sequences" in body for body in bodies(lab)] == [True] + [False] * sum(CALLS)
    assert not any("It is so." in asked.prompt for asked in lab.llm.asked)
    for key, calls in zip("0123", CALLS, strict=True):
        cassette = read_cassette(report.run.path(key))
        assert cassette.meta.sent == Sent(stop="emulated")
        assert [made.status for made in cassette.interactions] == [200] * calls
        assert b"nsupported" not in report.run.path(key).read_bytes()
    found = replays(lab, report.run)
    assert answers(found) == ["Ada Marlow", "the Harlow Bay", "twelve", "no"]
    assert sum(turn.completion.cut for turn in found[0].turns if turn.completion) == 3 * len(ON.format(1))
    assert f"stop: emulated); {3 * len(ON.format(1))} characters cut here" in " ".join(
        result_table(found[0], {}, {}).split()
    )
    assert as_dict(found[0], {}, {})["sent"]["cut"] == 3 * len(ON.format(1))
    assert "stop: emulated) (4 episodes)" in run_line(report.run, found, {}, {})


@pytest.mark.case("B04")
@pytest.mark.parametrize("api", ["chat", "completions"])
def test_a_token_limit_goes_by_the_name_that_is_taken(lab: Lab, api: str) -> None:
    """Switched once, on that very error; never are both sent."""
    lab.llm.takes = Takes(token_limits=("max_completion_tokens",))
    report = lab.record(api=api)
    assert report.problems == []
    names = [[name for name in body if name.startswith("max_")] for body in bodies(lab)]
    assert names == [["max_tokens"]] + [["max_completion_tokens"]] * sum(CALLS)
    assert {sent(report.run, key) for key in "0123"} == {Sent(token_limit="max_completion_tokens")}
    assert answers(replays(lab, report.run)) == ["Ada Marlow", "the Harlow Bay", "twelve", "no"]


@pytest.mark.case("B04")
def test_a_token_limit_goes_back_to_its_old_name(lab: Lab) -> None:
    """A server that knows `max_tokens` alone is no trouble for an episode that began on one that did not."""
    lab.llm.takes = Takes(token_limits=("max_completion_tokens",))
    lab.llm.minds = {**MINDS, next(iter(MINDS)): (MINDS[next(iter(MINDS))][0], error(500), error(500))}
    assert [episode.state for episode in lab.record("0").episodes] == ["failed"]
    lab.llm.minds, lab.llm.takes = dict(MINDS), Takes(token_limits=("max_tokens",))
    report = lab.record("0")
    assert report.problems == []
    assert sent(report.run, "0") == Sent(token_limit="max_completion_tokens", later=(Later(2),))
    replays(lab, report.run, "0")


@pytest.mark.case("B05")
@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    "message",
    [
        "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
        "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
        "`temperature` is deprecated for this model.",
    ],
)
def test_a_refused_temperature_is_left_out_and_said(lab: Lab, api: str, message: str) -> None:
    """The report says that decoding was not greedy; no `top_p` is ever sent, and nothing is asked in a loop."""
    lab.llm.script = [error(400, message)]
    report = lab.record("01", api=api)
    assert report.problems == []
    assert ["temperature" in body for body in bodies(lab)] == [True] + [False] * 4
    assert not any("top_p" in body for body in bodies(lab))
    assert sent(report.run, "1") == Sent(omitted=("temperature",))
    (found,) = replays(lab, report.run, "1")
    assert "not greedy" in result_table(found, {}, {})


@pytest.mark.case("B12")
def test_stop_strings_of_white_space_are_left_out_where_they_are_refused(lab: Lab) -> None:
    """In the middle of an episode, at its first reprompt: the calls before stay as they were sent."""
    lab.llm.takes, lab.llm.runs_on = Takes(blank_stop=False), True
    report = lab.record("23")
    assert report.problems == []
    assert [body.get("stop") for body in bodies(lab)[:5]] == [
        ["\nObservation 1:"], ["\nObservation 2:"], ["\n"], None, ["\nObservation 3:"],
    ]  # fmt: skip
    assert sent(report.run, "2") == Sent(later=(Later(3, stop="visible"),))
    assert sent(report.run, "3") == Sent(stop="visible")
    assert answers(replays(lab, report.run, "23")) == ["twelve", "no"]


@pytest.mark.parametrize(
    ("body", "parameter"),
    [
        ({"detail": [{"type": "extra_forbidden", "loc": ["body", "stop"], "msg": "Extra inputs"}]}, "stop"),
        (
            {"object": "error", "message": {"detail": [{"loc": ["body", "temperature"], "msg": "no"}]}, "param": None},
            "temperature",
        ),
        ({"error": {"message": "This model doesn't support the stopSequences field."}}, "stop"),
        ({"error": {"message": "Argument not supported on this model: stop"}}, "stop"),
        ({"error": {"message": "no", "param": "stop[0]"}}, "stop"),
    ],
)
def test_refusals_are_understood_in_many_forms(lab: Lab, body: Any, parameter: str) -> None:
    """FastAPI's list of complaints, Mistral's, a gateway's words for the API behind it."""
    lab.llm.script = [Say(body, 422)]
    report = lab.record("1")
    assert report.problems == []
    first, second = bodies(lab)
    assert first.keys() - second.keys() == {parameter}
    replays(lab, report.run, "1")


# --- several of them ------------------------------------------------------------------------------------------------


@pytest.mark.case("B02", "B04", "B05", "B12")
@pytest.mark.parametrize("api", APIS)
def test_every_combination_of_refusals_is_recorded_and_replays(lab: Lab, api: str) -> None:
    """One probe for each refusal; the second episode is asked at once as the server wants it."""
    limits = [("max_tokens", "max_completion_tokens"), ("max_completion_tokens",)][: 1 if api == "messages" else 2]
    for number, (stop, blank, names, temperature) in enumerate(
        itertools.product((True, False), (True, False), limits, (True, False))
    ):
        lab.llm.takes = Takes(stop=stop, blank_stop=blank, token_limits=names, temperature=temperature)
        lab.llm.runs_on = True
        lab.llm.asked.clear()
        report = lab.record("21", api=api, run=f"run-{number}")
        assert report.problems == []
        blanks = not blank and stop and api != "messages"  # Anthropic's API never gets any
        assert len(lab.llm.asked) == CALLS[2] + CALLS[1] + (not stop) + blanks + (len(names) == 1) + (not temperature)
        assert answers(replays(lab, report.run, "21")) == ["twelve", "the Harlow Bay"]


takes = st.builds(
    Takes,
    stop=st.booleans(),
    blank_stop=st.booleans(),
    token_limits=st.sampled_from(
        [("max_tokens",), ("max_completion_tokens",), ("max_tokens", "max_completion_tokens")]
    ),
    temperature=st.booleans(),
    since=st.integers(0, 5),
    worded=st.booleans(),
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=takes, then=takes, at=st.integers(0, 8))
def test_a_server_that_changes_its_mind_is_recorded_as_it_was_asked(
    lab: Lab, first: Takes, then: Takes, at: int
) -> None:
    """Whatever is refused at whichever call: what was recorded replays, or nothing was recorded at all."""
    name = f"run-{next(_numbers)}"
    lab.llm.asked.clear()

    def change(_: object) -> None:
        lab.llm.takes = first if len(lab.llm.asked) <= at else then

    lab.llm.before, lab.llm.runs_on = change, True
    report = lab.record("21", run=name)
    assert all(isinstance(problem, ParameterRefused) for problem in report.problems)
    recorded = "".join(episode.key for episode in report.episodes if episode.state == "recorded")
    replays(lab, report.run, recorded)


_numbers = itertools.count()


@pytest.mark.case("B53", "B02")
@pytest.mark.parametrize(
    "refused", [{}, {"stop": False}, {"temperature": False}, {"stop": False, "temperature": False}]
)
def test_samples_are_asked_for_however_that_goes(lab: Lab, refused: dict[str, bool]) -> None:
    """`n` is refused last, after what else there is: nothing is probed twice, and all samples are distinct."""
    server, probes = Server(lab, most=4, refuses=LIMIT), len(refused)
    answer = server.answer
    lab.llm.answer = lambda asked: _noted(lab, asked, Takes(**refused)) or answer(asked)  # type: ignore[method-assign]
    wanted = replace(lab.order("1", method="cot_sc", site=None).settings, samples=9)
    report = lab.record("1", method="cot_sc", site=None, settings=wanted)
    assert report.problems == []
    assert server.sizes == [9] * probes + [9, 4, 4, 1]
    assert sent(report.run, "1").samples_per_call == (4, 4, 1)
    for wire in (False, True):
        assert numbers(lab, report.run, wire=wire) == list(range(9))


def _noted(lab: Lab, asked: Asked, takes: Takes) -> Say | None:
    if refused := takes.refusal(asked.body):
        lab.llm.asked.append(asked)
    return refused


def test_a_parameter_that_is_refused_for_good_is_an_end(lab: Lab) -> None:
    """Both names of the token limit: each is tried once, then the server's words are the problem; no loop."""
    lab.llm.takes = Takes(token_limits=(), stop=False, temperature=False)
    report = lab.record("1")
    (problem,) = report.problems
    assert isinstance(problem, ParameterRefused)
    assert "'max_completion_tokens' is not supported" in str(problem)
    assert [sorted(body.keys() - {"model", "messages"}) for body in bodies(lab)] == [
        ["max_tokens", "stop", "temperature"], ["max_tokens", "temperature"], ["max_completion_tokens", "temperature"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("api", "message"),
    [("chat", "Unsupported parameter: 'top_p'"), ("chat", "'logprobs' is not supported"),
     ("messages", "'max_tokens' is not supported"), ("chat", "Please stop asking.")],
)  # fmt: skip
def test_a_refusal_of_what_was_not_sent_is_final(lab: Lab, api: str, message: str) -> None:
    """So is one of what the API has no other name for. It is asked once, and nothing is learned."""
    lab.llm.script = [error(400, message)]
    report = lab.record("10", api=api)
    assert [episode.state for episode in report.episodes] == ["recorded", "failed"] or [
        episode.state for episode in report.episodes
    ] == ["failed", "recorded"]
    assert len(lab.llm.asked) == 1 + sum(CALLS[int(episode.key)] for episode in report.episodes if not episode.problem)
    (kept,) = [episode.key for episode in report.episodes if episode.state == "recorded"]
    assert sent(report.run, kept) == Sent()


@pytest.mark.parametrize(
    ("message", "option"),
    [("temperature: range: 0..1", "--temperature"), ("max_tokens: 512 > 100, which is the maximum", "--max-tokens")],
)
def test_a_value_out_of_range_is_the_users_to_change(lab: Lab, message: str, option: str) -> None:
    """Nothing is left out in silence; it would be refused for every episode, so everything stops."""
    lab.llm.script = [error(400, message)]
    report = lab.record("01")
    assert report.stopped is not None
    assert f"choose another {option}" in str(report.stopped)
    assert len(lab.llm.asked) == 1


@pytest.mark.case("B02", "B04", "B05")
def test_connections_share_what_was_learned(lab: Lab) -> None:
    """Four at a time: each probes at most once, and what is recorded is the same."""
    lab.llm.takes = Takes(stop=False, token_limits=("max_completion_tokens",), temperature=False)
    lab.llm.runs_on, lab.llm.delay = True, 0.01
    report = lab.record(connections=4)
    assert report.problems == []
    assert sum(CALLS) + 3 <= len(lab.llm.asked) <= sum(CALLS) + 3 * 4
    wanted = Sent(stop="emulated", token_limit="max_completion_tokens", omitted=("temperature",))
    assert {sent(report.run, key) for key in "0123"} == {wanted}
    replays(lab, report.run)


@pytest.mark.case("B02")
def test_what_was_learned_holds_for_an_attempt_that_is_carried_on(lab: Lab) -> None:
    """The first call is carried on with as it was asked; the rest needs no probe, and the recording says one thing."""
    lab.llm.takes, lab.llm.runs_on = Takes(stop=False), True
    lab.llm.script = [Takes(stop=False).refusal({"stop": ["x"]}) or Say()]
    lab.llm.minds = {**MINDS, next(iter(MINDS)): (MINDS[next(iter(MINDS))][0], error(400), error(400))}
    assert [episode.state for episode in lab.record("0").episodes] == ["failed"]
    lab.llm.minds = dict(MINDS)
    lab.llm.asked.clear()
    report = lab.record("0")
    assert (report.problems, report.calls, len(lab.llm.asked)) == ([], 2, 2)
    assert sent(report.run, "0") == Sent(stop="emulated")
    replays(lab, report.run, "0")


# --- no reply to judge ----------------------------------------------------------------------------------------------

AZURE = {
    "error": {
        "code": "content_filter",
        "message": "The response was filtered due to the prompt triggering our content management policy.",
        "innererror": {
            "code": "ResponsibleAIPolicyViolation",
            "content_filter_result": {"violence": {"filtered": True}},
        },
    }
}
TOO_LONG = {
    "error": {"message": "This model's maximum context length is 8192 tokens.", "code": "context_length_exceeded"}
}
WORDS = {"error": {"type": "invalid_request_error", "message": "prompt is too long: 210000 tokens > 200000 maximum"}}


def third(lab: Lab, said: Say) -> RecordReport:
    """Record all questions; what the provider answers to the third call of the first one is *said*."""
    question = next(iter(MINDS))
    lab.llm.minds = {**MINDS, question: (*MINDS[question][:2], said)}
    return lab.record()


@pytest.mark.case("B33")
@pytest.mark.parametrize(
    ("said", "ended"),
    [
        (Say(AZURE, 400), "filtered"),
        (Say({"choices": None, **AZURE}), "filtered"),
        (Say({"choices": [{"index": 0, "finish_reason": "content_filter", "message": {"content": None}}]}), "filtered"),
        (Say({"choices": [{"message": {"content": None, "refusal": "I cannot."}}]}), "refused"),
        (Say(TOO_LONG, 400), "context_exceeded"),
        (Say(WORDS, 400), "context_exceeded"),
    ],
)
def test_an_episode_without_a_reply_to_judge_is_recorded_as_that(lab: Lab, said: Say, ended: str) -> None:
    """Asked once, not again: the steps before stand, the others go on, and the replay ends in the same way."""
    report = third(lab, said)
    assert (report.problems, len(report.episodes)) == ([], 4)
    assert len(lab.llm.asked) == sum(CALLS)
    assert [episode.ended for episode in report.episodes] == [ended, "finish", "finish", "finish"]
    (found, *_) = replays(lab, report.run)
    assert found.trajectory is not None
    assert (found.trajectory.ended, found.trajectory.answer, len(found.trajectory.steps)) == (ended, None, 2)
    assert found.trajectory.llm_calls == 3
    assert b"policy" not in report.run.path("0").read_bytes()
    again = lab.record(mode="new_episodes")
    assert ([episode.state for episode in again.episodes], again.calls) == (["kept"] * 4, 0)
    assert len(lab.llm.asked) == sum(CALLS)


@pytest.mark.case("B33")
def test_an_episode_that_is_filtered_at_once_has_no_exchange(lab: Lab) -> None:
    """A recording without one reply is one; altered, it is a difference."""
    lab.llm.script = [Say(AZURE, 400)]
    report = lab.record("1")
    assert report.problems == []
    cassette = read_cassette(report.run.path("1"))
    assert cassette.interactions == ()
    assert [(entry.call, entry.finish, entry.code) for entry in cassette.meta.unanswered] == [
        (1, "content_filter", "content_filter")
    ]
    (found,) = replays(lab, report.run, "1")
    assert found.trajectory is not None
    assert found.trajectory.ended == "filtered"
    path, other = report.run.path("1"), "0" * 64
    path.write_text(path.read_text().replace(cassette.meta.unanswered[0].request_sha256, other), encoding="utf-8")
    for wire in (False, True):
        (problem,) = lab.replay(report.run, "1", wire=wire).problems
        assert (problem.exit_code, problem.kind) == (1, "request changed")


def test_a_context_that_holds_no_prompt_at_all_stops_everything(lab: Lab) -> None:
    """A server that was started with too small a context would else spoil every episode; three are enough to tell."""
    lab.llm.minds = {question: (Say(TOO_LONG, 400),) for question in MINDS}
    report = lab.record()
    assert (len(lab.llm.asked), [episode.state for episode in report.episodes]) == (3, ["failed"] * 2)
    assert "with a larger context" in str(report.stopped)
    lab.llm.minds = {**MINDS, next(iter(MINDS)): (Say(TOO_LONG, 400),)}
    report = lab.record()
    assert [episode.state for episode in report.episodes] == ["failed", "recorded", "recorded", "recorded"]


@pytest.mark.parametrize(
    ("said", "answer", "ended"), [([], None, "filtered"), ([Say(" x\nAnswer: bay")], "bay", "finish")]
)
def test_samples_of_a_filtered_question_are_not_asked_for_one_by_one(
    lab: Lab, said: list[Say], answer: str | None, ended: str
) -> None:
    """The prompt is the same: one refusal is all of theirs. What came before it votes."""
    lab.llm.minds = {}
    lab.llm.script = [*said, Say(AZURE, 400)]
    order = lab.order("1", method="cot_sc", api="messages", site=None)
    wanted = replace(order.settings, samples=5)
    report = lab.record("1", method="cot_sc", api="messages", site=None, settings=wanted)
    assert (report.problems, len(lab.llm.asked)) == ([], 1 + len(said))
    (found,) = replays(lab, report.run, "1")
    assert found.trajectory is not None
    assert [sample.answer for sample in found.trajectory.samples] == [*(["bay"] * len(said)), *[None] * (5 - len(said))]
    assert (found.trajectory.answer, found.trajectory.ended) == (answer, ended)


@pytest.mark.case("B32")
@pytest.mark.parametrize(
    ("content", "reason", "ended"),
    [
        ([], "refusal", "refused"),
        ([], "end_turn", "step_limit"),
        ([{"type": "thinking", "thinking": "hm"}], "end_turn", "step_limit"),
    ],
)
def test_anthropic_without_text_is_recorded_and_not_tried_again(
    lab: Lab, content: list[Any], reason: str, ended: str
) -> None:
    """A refusal ends the episode; nothing said is a reply without an action."""
    lab.llm.minds = {question: (Say({"content": content, "stop_reason": reason}),) for question in MINDS}
    report = lab.record("1", api="messages", max_steps=2)
    assert report.problems == []
    assert len(lab.llm.asked) == (1 if ended == "refused" else 4)
    (found,) = replays(lab, report.run, "1")
    assert found.trajectory is not None
    assert found.trajectory.ended == ended


@pytest.mark.parametrize(
    "content",
    [
        None,
        [{"type": "text", "text": " I know.\nAction 1: "}, {"type": "text", "text": "Finish[x]"}],
        ["a", 7, None],
        7,
    ],
)
def test_odd_content_without_usage_is_recorded_as_it_came(lab: Lab, content: Any) -> None:
    """Null, a list, no text at all; and no `usage`: unknown is not zero."""
    choice = {"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}
    lab.llm.minds = {question: (Say({"choices": [choice]}),) for question in MINDS}
    report = lab.record("1", max_steps=1)
    assert report.problems == []
    (found,) = replays(lab, report.run, "1")
    assert as_dict(found, {}, {})["tokens"] == {"prompt": None, "completion": None}


def test_choices_null_beside_an_error_is_tried_again_and_never_recorded(lab: Lab) -> None:
    """A 200 with an error inside is no reply."""
    lab.llm.script = [Say({"choices": None, "error": {"message": "overloaded", "code": 529}})]
    report = lab.record("1")
    assert (report.problems, report.calls, len(lab.llm.asked)) == ([], 1, 2)
    replays(lab, report.run, "1")


# --- a budget spent on thinking -------------------------------------------------------------------------------------


def spent(content: str | None = "") -> Say:
    """A reply whose tokens went into reasoning."""
    message = {"role": "assistant", "content": content, "reasoning_content": "The bay lies north."}
    return Say({"choices": [{"index": 0, "message": message, "finish_reason": "length"}]})


@pytest.mark.case("B07")
@pytest.mark.parametrize("connections", [1, 2])
def test_three_episodes_without_room_to_answer_stop_everything(lab: Lab, connections: int) -> None:
    """The message names the setting; what was recorded is kept, and replays."""
    lab.llm.minds = {question: (spent(),) for question in MINDS}
    report = lab.record(max_steps=1, connections=connections)
    assert isinstance(report.stopped, InfraError)
    assert "Raise --max-tokens" in str(report.stopped)
    assert "512 tokens" in str(report.stopped)
    assert report.stopped.exit_code == 4
    kept = "".join(sorted(episode.key for episode in report.episodes if episode.state == "recorded"))
    assert len(kept) in (3, 3 + connections - 1)
    found = replays(lab, report.run, kept)
    assert all("truncated_in_reasoning" in episode.trajectory.flags[0] for episode in found if episode.trajectory)


@pytest.mark.case("B07")
@pytest.mark.parametrize("number", range(3))
def test_one_episode_with_room_is_enough_to_go_on(lab: Lab, number: int) -> None:
    """The limit is no general problem then."""
    lab.llm.minds = {question: (spent(),) for question in MINDS}
    question = list(MINDS)[number]
    lab.llm.minds[question] = (" I know.\nAction 1: Finish[x]",)
    report = lab.record(max_steps=1)
    assert (report.stopped, len(report.episodes)) == (None, 4)


def test_a_reply_that_ran_on_to_the_limit_had_room(lab: Lab) -> None:
    """Without stop strings a model writes until the limit; what counts is what stands before the cut."""
    said = " I look.\nAction 1: Search[Vorland]" + ON.format(1)
    choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "length"}
    lab.llm.takes = Takes(stop=False)
    lab.llm.minds = {question: (Say({"choices": [choice]}),) for question in MINDS}
    report = lab.record(max_steps=1)
    assert (report.stopped, len(report.episodes)) == (None, 4)


@pytest.mark.case("B07", "B33")
def test_the_command_says_what_came_of_it(lab: Lab) -> None:
    """Exit code 4 and the option to change; episodes that were not judged are counted, in both commands."""
    lab.llm.minds = {question: (spent(),) for question in MINDS}
    done = lab.command("0-3", "--max-steps", "1")
    assert done.returncode == 4
    assert "Raise --max-tokens" in done.stderr
    assert "3 recorded, 1 remain (3)" in done.stdout
    lab.llm.takes = Takes(temperature=False)
    lab.llm.minds = {**MINDS, next(iter(MINDS)): (Say(AZURE, 400),)}
    done = lab.command("0-1", "--run", "filtered")
    assert (done.returncode, "2 recorded, not judged: 1 filtered" in done.stdout) == (0, True), (
        done.stdout + done.stderr
    )
    assert "temperature 0 refused and not sent, so decoding was not greedy." in done.stdout
    done = lab.run_words([sys.executable, "-m", "reactrepro", "replay", "hotpotqa", "0-1", "--run", "filtered"])
    assert (done.returncode, "not judged: 1 filtered" in done.stdout) == (0, True), done.stdout
    assert GOLD[1] in done.stdout
    data = json.loads(lab.command("0-1", "--run", "filtered", "--json").stdout)
    assert [episode["state"] for episode in data["episodes"]] == ["kept", "kept"]
