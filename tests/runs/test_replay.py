"""Replay: today's loop over recorded replies and pages, compared with what was recorded."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from reactrepro import prompts
from reactrepro.backends.llm import BackendLlm
from reactrepro.cassettes import write
from reactrepro.cassettes.model import Interaction
from reactrepro.cassettes.runs import Run
from reactrepro.cassettes.tapes import Tape, TapeEntry
from reactrepro.cassettes.text import body_json
from reactrepro.domain import Ask, Question, sha256_text
from reactrepro.errors import (
    CassetteAbsent,
    CassetteLeftover,
    CassetteMiss,
    Corrupt,
    OutcomeChanged,
    PageChanged,
    PromptAbsent,
    ReactReproError,
    WikiSnapshotMiss,
)
from reactrepro.report.model import EpisodeReport
from reactrepro.runs.replay import replay_episode
from reactrepro.runs.rounds import rounds

from ..world import BAY, BAY_REPLIES, FOUNDER, FOUNDER_REPLIES, World, published, world

__all__ = ["published", "world"]

ROUNDS = {  # spec of the published run: characters and SHA-256 of each round's prompt
    1: (6493, "6b37f42c0161f39777fef0900bfab1bc825c88a248288259c69661cca540e0c8"),
    2: (7176, "37f3d0720abce674f24a306c000d63e9528b044e22acecb71a99b4795b14d0b1"),
    3: (8402, "c4a8605e4347f14131637bbb05411c88d020502daa465fc73000bca50339b6d2"),
}


def replayed(world: World, key: str = "0", run: Run | None = None) -> EpisodeReport:
    """The report on one episode of *world*."""
    return replay_episode(run or world.run, key, world.sources)


def only(report: EpisodeReport, kind: type[ReactReproError]) -> ReactReproError:
    """The one problem of *report*, which is of *kind*."""
    assert [type(problem) for problem in report.problems] == [kind], report.problems
    return report.problems[0]


def rewrite(world: World, key: str = "0", *, interactions: object = None, **fields: object) -> None:
    """Change an episode's file and seal it again, as an editor who knows the format would."""
    cassette = world.run.read(key)
    changed = cassette.interactions if interactions is None else tuple(interactions)  # type: ignore[arg-type]
    sealed = write.seal(replace(cassette.meta, **fields), changed)  # type: ignore[arg-type]
    world.run.path(key).write_bytes(write.cassette_bytes(sealed))


def test_the_published_run_replays_as_published(published: World) -> None:
    """HotpotQA dev 0, DeepSeek-V3: EM 1, F1 1.00, 3 steps, 3 LLM calls, 0 parse-fail retries, answer yes."""
    report = replayed(published)
    assert report.ok, report.problems
    assert report.trajectory is not None
    assert report.score is not None
    assert (report.trajectory.answer, report.score.em, report.score.f1) == ("yes", True, 1.0)
    assert (len(report.trajectory.steps), report.trajectory.llm_calls, report.trajectory.reprompts) == (3, 3, 0)
    assert [len(step.observation) for step in report.trajectory.steps[:2]] == [511, 1074]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_every_round_of_the_published_run_is_exact(published: World, number: int) -> None:
    """6,493, 7,176 and 8,402 characters, with the published run's own sums."""
    shown = rounds(published.sources, "hotpotqa", "0")
    turn = shown.turn(number)
    assert (len(turn.prompt), sha256_text(turn.prompt)) == ROUNDS[number]
    assert turn.stop == (f"\nObservation {number}:",)
    assert shown.last == 3


def test_no_request_carries_what_was_not_asked(published: World) -> None:
    """Model, one user message, stop, max tokens and temperature: no top_p, no gold answer, no system message."""
    for interaction in published.run.read("0").interactions:
        body = interaction.request_json
        assert list(body) == ["model", "messages", "stop", "max_tokens", "temperature"]
        assert [message["role"] for message in body["messages"]] == ["user"]
        assert (body["max_tokens"], body["temperature"]) == (512, 0)


def test_the_gold_answer_and_gold_paragraphs_reach_no_prompt(world: World) -> None:
    """The loop is question-only, as in the paper: another gold answer leaves every prompt as it was."""
    before = [turn.prompt for turn in replayed(world).turns]
    rewrite(world, gold="Somebody else entirely")
    report = replayed(world)
    only(report, OutcomeChanged)
    assert [turn.prompt for turn in report.turns] == before
    assert not any("Somebody else" in prompt for prompt in before)


# --- nothing computed is read from metadata -------------------------------------------------------------------------


def test_deleting_the_expected_outcome_leaves_the_score(world: World) -> None:
    """The score is computed from the replies; without an expected outcome it is the same, and that is said."""
    before = replayed(world)
    rewrite(world, outcome=None)
    after = replayed(world)
    assert (after.score, after.trajectory) == (before.score, before.trajectory)
    assert "no expected outcome is recorded" in str(only(after, OutcomeChanged))


@pytest.mark.parametrize(
    "change",
    [
        {"answer": "Somebody"},
        {"em": False},
        {"f1": 0.5},
        {"steps": 4},
        {"llm_calls": 2},
        {"reprompts": 1},
        {"flags": (("cut_at_stop",), (), ())},
        {"ended": "step_limit"},
    ],
)
def test_altering_the_expected_outcome_fails(world: World, change: dict[str, object]) -> None:
    """Each field of the expected outcome is compared with the computed one."""
    outcome = world.run.read("0").meta.outcome
    assert outcome is not None
    rewrite(world, outcome=replace(outcome, **change))  # type: ignore[arg-type]
    report = replayed(world)
    assert next(iter(change)) in str(only(report, OutcomeChanged))
    assert report.score is not None
    assert report.score.em


def test_altering_a_recorded_reply_fails(world: World) -> None:
    """A reply that was edited is corrupt; edited and sealed anew, it changes the next request or the outcome."""
    path = world.run.path("0")
    text = path.read_text("ascii")
    path.write_text(text.replace("Ada Marlow founded it", "Ada Marlow built it"), "ascii")
    assert only(replayed(world), Corrupt).exit_code == 5
    path.write_text(text, "ascii")
    interactions = list(world.run.read("0").interactions)
    last = interactions[-1]
    interactions[-1] = replace(last, response=last.response.replace("Finish[Ada Marlow]", "Finish[Bea Marlow]"))
    rewrite(world, interactions=interactions)
    assert "answer: 'Ada Marlow' recorded, 'Bea Marlow' computed" in str(only(replayed(world), OutcomeChanged))


def test_altering_a_sentence_of_a_page_fails(world: World) -> None:
    """An edited page is noticed even where the answer stays the same."""
    for page in world.snapshot.rglob("*.article.txt"):
        page.write_bytes(page.read_bytes().replace(b"is a town", b"is a village"))
    report = replayed(world)
    assert only(report, PageChanged).exit_code == 1
    assert report.kind == "page changed"


def test_a_page_that_is_gone_is_absent(world: World) -> None:
    """Exit code 3, and the nearest entries by name."""
    for page in world.snapshot.rglob("*vorland*/*"):
        page.unlink()
    report = replayed(world)
    assert only(report, WikiSnapshotMiss).exit_code == 3
    assert report.kind == "missing"


def test_pages_added_later_never_change_an_old_run(world: World) -> None:
    """Versions are added; the recording's pins find the old one."""
    from reactrepro.domain import PageView
    from reactrepro.wiki.entry import Answer
    from reactrepro.wiki.store import write_page

    from ..world import SITE

    view = PageView(SITE, "Vorland", "article", "article", 1, text="Vorland is now a city.\n")
    answer = Answer(site=SITE, query="Vorland", kind="article", provenance="scripted", time="2027-01-01T00:00:00Z")
    write_page(world.snapshot, answer, [view])
    assert replayed(world).ok


# --- misses and leftovers -------------------------------------------------------------------------------------------


@pytest.mark.case("B13")
def test_a_changed_word_of_an_exemplar_is_a_miss(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A changed prompt never gets the old replies: a miss with episode and step, no score."""
    load = prompts.load

    def edited(*args: object, **more: object) -> object:
        prompt = load(*args, **more)  # type: ignore[arg-type]
        return replace(prompt, text=prompt.text.replace("Colorado orogeny was an episode", "Colorado orogeny was one"))

    monkeypatch.setattr(prompts, "load", edited)
    report = replayed(world)
    problem = only(report, CassetteMiss)
    assert report.score is None
    assert report.kind == "prompt changed"
    assert problem.exit_code == 1
    for words in (
        "hotpotqa/react/scripted, episode 0, step 1",
        "0.yaml",
        "$.messages[0].content differs from character",
        "prompts/hotpotqa/paper/react.txt changed since it was recorded",
    ):
        assert words in str(problem)


@pytest.mark.case("B13")
@pytest.mark.parametrize(
    ("name", "value"),
    [("temperature", 0.7), ("max_tokens", 100), ("model", "other"), ("api", "completions")],
)
def test_a_changed_setting_is_a_miss(world: World, name: str, value: object) -> None:
    """Model, sampling parameters and wire API are part of the request."""
    path = world.run.folder / "run.json"
    data = json.loads(path.read_bytes())
    (data if name in data else data["settings"])[name] = value
    path.write_text(json.dumps(data), "ascii")
    report = replayed(world, run=Run.at(world.run.folder))
    assert only(report, CassetteMiss).exit_code == 1
    assert report.kind == "request changed"


def test_zero_is_zero_however_it_is_written(world: World) -> None:
    """temperature 0 and 0.0 ask for the same."""
    path = world.run.folder / "run.json"
    path.write_text(path.read_text("ascii").replace('"temperature": 0', '"temperature": 0.0'), "ascii")
    assert replayed(world, run=Run.at(world.run.folder)).ok


@pytest.mark.case("B49")
def test_another_port_other_headers_other_escapes_and_key_order_all_match(world: World) -> None:
    """A recording outlives an SDK's spelling of the same request."""
    changed = []
    for interaction in world.run.read("0").interactions:
        body = dict(reversed(interaction.request_json.items()))
        changed.append(
            replace(
                interaction,
                uri="http://127.0.0.1:8001/other/v1/chat/completions",
                body=json.dumps(body, ensure_ascii=False, separators=(",", ":")),
                request_headers={"x-stainless-lang": ["python"], "Content-Type": ["application/json"]},
            )
        )
    rewrite(world, interactions=changed)
    assert replayed(world).ok


def test_what_is_recorded_and_not_asked_for_is_a_leftover(world: World) -> None:
    """A recorded interaction that the replay never uses fails it, by number."""
    interactions = world.run.read("0").interactions
    rewrite(world, interactions=[*interactions, replace(interactions[-1], body=body_json({"prompt": "more"}))])
    report = replayed(world)
    assert "1 of 4 recorded interactions were never asked for (number 4)" in str(only(report, CassetteLeftover))
    assert report.kind == "left over"


def test_what_is_asked_for_and_not_recorded_is_a_miss(world: World) -> None:
    """One reply taken out of a recording is missed at its step."""
    rewrite(world, interactions=world.run.read("0").interactions[:2])
    problem = only(replayed(world), CassetteMiss)
    assert isinstance(problem, CassetteMiss)
    assert problem.mismatch.step == 3


@pytest.mark.case("B48")
def test_the_same_question_twice_keeps_each_its_own_replies(tmp_path: Path) -> None:
    """Two episodes with identical text replay their own replies in every order and subset."""
    world = World(tmp_path)
    twin = replace(FOUNDER, key="5", index=5)
    world.record(FOUNDER, FOUNDER_REPLIES)
    world.record(twin, [" Bea did.\nAction 1: Finish[Bea]"])
    for order in (["0", "5"], ["5", "0"], ["5"], ["0", "0"]):
        answers = {key: replayed(world, key).trajectory for key in order}
        assert all(replayed(world, key).ok for key in order)
        for key, answer in {"0": "Ada Marlow", "5": "Bea"}.items():
            if key in answers:
                assert answers[key] is not None
                assert answers[key].answer == answer  # type: ignore[union-attr]


@pytest.mark.case("B48")
def test_equal_requests_are_answered_in_recorded_order(tmp_path: Path) -> None:
    """Inside one episode, equal requests form a queue, and the queue has an end."""
    from reactrepro.backends.openai_chat import OpenAIChat
    from reactrepro.cassettes.mismatch import Place
    from reactrepro.exchanges.replay import Replay
    from reactrepro.exchanges.scripted import Scripted

    world = World(tmp_path)
    world.record(BAY, BAY_REPLIES)
    script = Scripted(["first", "second", "other", "third"])
    ask = Ask("m", 5, 0.7)
    llm = BackendLlm(OpenAIChat(), script, ask)
    for prompt in ("same", "same", "else", "same"):
        llm.complete(prompt, (), step=1)
    cassette = write.seal(world.run.read("1").meta, tuple(script.interactions))
    replay = BackendLlm(OpenAIChat(), Replay(cassette, Place("r", "1", "f")), ask)
    asked = ("else", "same", "same", "same")
    assert [replay.complete(prompt, (), step=1).text for prompt in asked] == ["other", "first", "second", "third"]
    with pytest.raises(CassetteMiss, match="an earlier call has used it"):
        replay.complete("same", (), step=1)


def test_a_recorded_error_status_is_never_a_reply(world: World) -> None:
    """An error in a cassette does not pass for a model's answer."""
    interactions = list(world.run.read("0").interactions)
    interactions[0] = replace(interactions[0], status=429, reason="Too Many Requests")
    rewrite(world, interactions=interactions)
    assert "status 429" in str(only(replayed(world), Corrupt))


@pytest.mark.case("B45")
def test_a_left_over_encoding_header_never_matters(world: World) -> None:
    """Bodies are readable text; a `Content-Encoding: gzip` that some recorder left beside one is not believed."""
    interactions = world.run.read("0").interactions
    headers = {"Content-Encoding": ["gzip"], "Content-Length": ["7"], "Content-Type": ["application/json"]}
    rewrite(world, interactions=[replace(i, response_headers=headers) for i in interactions])
    assert "I need to search Vorland." in world.run.path("0").read_text("ascii")
    assert replayed(world).ok


@pytest.mark.case("B45")
def test_a_compressed_body_in_a_cassette_is_refused(world: World) -> None:
    """Stock vcrpy writes compressed bodies as base64, which nobody can review; such a file is no recording of ours."""
    path = world.run.path("0")
    text = path.read_text("ascii")
    start, end = text.index('      string: "'), text.index("\n- request:", 10)
    path.write_text(f"{text[:start]}      string: !!binary H4sIAAAAAAAAAwMAAAAAAAAAAAA={text[end:]}", "ascii")
    assert "names a YAML type" in str(only(replayed(world), Corrupt))


@pytest.mark.parametrize("side", ["body", "response"])
def test_a_body_that_is_no_json_is_corrupt(world: World, side: str) -> None:
    """Exit code 5, not a crash."""
    interactions = list(world.run.read("0").interactions)
    for bad in ("{", "[" * 100000, "1" * 5000):
        interactions[0] = replace(interactions[0], **{side: bad})  # type: ignore[arg-type]
        rewrite(world, interactions=interactions)
        assert only(replayed(world), Corrupt).exit_code == 5


# --- absent and unknown ---------------------------------------------------------------------------------------------


@pytest.mark.case("B14")
def test_an_absent_recording_says_so_and_is_no_score(world: World) -> None:
    """It names the file and what is recorded; exit code 3; no EM of 0."""
    report = replayed(world, "7")
    problem = only(report, CassetteAbsent)
    assert (problem.exit_code, report.score) == (3, None)
    assert "recorded in this run: 0, 1" in str(problem)


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ('"method": "react"', '"method": "dance"', Corrupt),
        ('"api": "chat"', '"api": "fax"', Corrupt),
        ('"protocol": "strict"', '"protocol": "loose"', Corrupt),
        ('"max_steps": 7', '"max_steps": "7"', Corrupt),
        ('"reactrepro-run/1"', '"reactrepro-run/2"', Corrupt),
        ('"site": "testwiki"', '"site": null', Corrupt),
        ('"site": "testwiki"', '"site": "../../etc"', ReactReproError),
    ],
)
def test_a_run_that_names_what_nobody_knows_is_refused(
    world: World, old: str, new: str, kind: type[ReactReproError]
) -> None:
    """Unknown names, newer formats and wrong types are problems of the file, not tracebacks."""
    path = world.run.folder / "run.json"
    text = path.read_text("ascii")
    assert old in text
    path.write_text(text.replace(old, new), "ascii")
    report = replayed(world, run=Run.at(world.run.folder))
    assert len(report.problems) == 1
    assert isinstance(report.problems[0], kind)


def test_a_prompt_that_is_gone_is_absent(world: World) -> None:
    """A recording made with a prompt that is not at hand says which."""
    meta = world.run.read("0").meta
    rewrite(world, prompt=replace(meta.prompt, name="mine"))
    assert "recorded with the prompt 'mine'" in str(only(replayed(world), PromptAbsent))


# --- what the replies look like -------------------------------------------------------------------------------------


@pytest.mark.case("B29")
@pytest.mark.parametrize("usage", ["absent", None, {"prompt_tokens": 5}, {"prompt_tokens": "many"}, []])
def test_missing_usage_is_unknown_and_the_reply_is_used(tmp_path: Path, usage: object) -> None:
    """A paid reply without usage counts; its tokens are unknown, not zero."""
    from reactrepro.report.episodes import tokens

    world = World(tmp_path)
    text = BAY_REPLIES[0]
    reply: dict[str, object] = {"choices": [{"message": {"content": text}}]}
    if usage != "absent":
        reply["usage"] = usage
    world.record(BAY, [reply])
    report = replayed(world, "1")
    assert report.ok
    assert tokens(report).completion is None


@pytest.mark.case("B31")
def test_content_as_a_list_of_parts_is_read_part_by_part(tmp_path: Path) -> None:
    """Text parts are joined, thinking is logged and not parsed, unknown parts are noted."""
    world = World(tmp_path)
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm, Action 1: Finish[wrong]"}]},
        {"type": "text", "text": " I search.\nAction 1: "},
        {"type": "text", "text": "Finish[Harlow Bay]"},
        {"type": "reference", "reference_ids": [1]},
    ]
    world.record(BAY, [{"choices": [{"message": {"content": parts}}]}])
    report = replayed(world, "1")
    assert report.trajectory is not None
    assert report.trajectory.answer == "Harlow Bay"
    completion = report.turns[0].completion
    assert completion is not None
    assert completion.reasoning == "hm, Action 1: Finish[wrong]"
    assert "part_ignored" in completion.notes


@pytest.mark.case("B01")
def test_a_reply_that_runs_on_is_cut_at_the_stop_string(tmp_path: Path) -> None:
    """The invented observation reaches no later prompt; the step says that it was cut."""
    world = World(tmp_path)
    world.record(
        FOUNDER,
        [
            " I look.\nAction 1: Search[Vorland]\nObservation 1: Vorland was founded by Bea.\nAction 2: Finish[Bea]",
            " So Ada.\nAction 2: Finish[Ada Marlow]",
        ],
    )
    report = replayed(world)
    assert report.ok
    assert report.trajectory is not None
    assert report.trajectory.steps[0].flags == ("cut_at_stop",)
    assert "Bea" not in report.turns[1].prompt


def test_an_unfinished_episode_is_worth_nothing(tmp_path: Path) -> None:
    """Seven steps without Finish: ended by the limit, answer "", EM 0 even where the gold normalises to nothing."""
    world = World(tmp_path)
    question = Question("3667", "Which band?", "The The", 3667)
    world.record(question, [f" x\nAction {i}: Search[Vorland]" for i in range(1, 8)])
    report = replayed(world, "3667")
    assert report.ok
    assert report.trajectory is not None
    assert report.score is not None
    assert (report.trajectory.answer, report.trajectory.ended, len(report.trajectory.steps)) == ("", "step_limit", 7)
    assert (report.score.em, report.score.f1) == (False, 0.0)


@pytest.mark.parametrize("scope", ["wiki", "environment"])
def test_a_tape_replays_as_pages_do(tmp_path: Path, scope: str) -> None:
    """The same episode over a tape: same prompts, same trajectory, same score."""
    world = World(tmp_path)
    world.record(FOUNDER, FOUNDER_REPLIES)
    pages = replayed(world)
    assert pages.trajectory is not None
    entries = [TapeEntry(step.action.raw, step.observation) for step in pages.trajectory.steps[:2]]
    if scope == "environment":
        entries.append(TapeEntry("Finish[Ada Marlow]", "Episode finished, reward = 1\n", True, 1))
    tape = Tape(scope, "Question: " + FOUNDER.text, tuple(entries))  # type: ignore[arg-type]
    run = world.new_run("taped", site=None)
    world.record(FOUNDER, FOUNDER_REPLIES, run, tape=tape)
    taped = replayed(world, run=run)
    assert taped.ok, taped.problems
    assert taped.trajectory == pages.trajectory
    assert [turn.prompt for turn in taped.turns] == [turn.prompt for turn in pages.turns]
    run.tape_path("0").write_bytes(run.tape_path("0").read_bytes().replace(b"Quill", b"Ouill"))
    assert only(replayed(world, run=run), Corrupt).exit_code == 5
    run.tape_path("0").unlink()
    assert only(replayed(world, run=run), CassetteAbsent).exit_code == 3


def test_interactions_know_their_json() -> None:
    """Bodies are parsed once, on demand."""
    interaction = Interaction("POST", "https://h.invalid/v1/completions", '{"a": 1}', 200, "{}")
    assert interaction.request_json is interaction.request_json
