"""Record: whole episodes from a model and a wiki on this machine, through the public functions."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reactrepro.cassettes import write as writing
from reactrepro.cassettes.locks import episode_lock, locked
from reactrepro.cassettes.model import Cassette
from reactrepro.cassettes.read import read_cassette
from reactrepro.cassettes.runs import Run
from reactrepro.cassettes.write import cassette_bytes, replace_file, run_bytes
from reactrepro.domain import PageView, Question
from reactrepro.errors import (
    CassetteAbsent,
    CassetteMiss,
    Corrupt,
    DiskError,
    InfraError,
    Interrupted,
    RecordingDiffers,
    Usage,
)
from reactrepro.exchanges import live as live_module
from reactrepro.exchanges.retries import Patience
from reactrepro.runs.order import FOLDER_LOCK
from reactrepro.runs.record import Recorded, RecordReport, record
from reactrepro.wiki.entry import Answer
from reactrepro.wiki.store import write_page

from ..lab import CALLS, PAGES, QUESTIONS, SITE, Lab, lab
from ..llm_server import Asked, Say, error
from ..wiki.fake_wiki import Reply, page

__all__ = ["lab"]


def states(report: RecordReport) -> dict[str, str]:
    """What became of each episode."""
    return {episode.key: episode.state for episode in report.episodes}


def prompts(lab: Lab) -> list[str]:
    """The prompts asked so far."""
    return [asked.prompt for asked in lab.llm.asked]


# --- recorded, and replayed -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("api", "profile", "model"),
    [
        ("chat", "chat", "openai-api/local/a-model"),
        ("completions", "paper", "openai-api/local/a-model"),
        ("messages", "chat", "openai-api/local/a-model"),
        ("messages", "chat", "anthropic/a-model"),
    ],
)
def test_what_is_recorded_replays(lab: Lab, api: str, profile: str, model: str) -> None:
    """Each wire API: the same trajectory once more, with the servers gone, directly and through the SDK."""
    report = lab.record(api=api, profile=profile, model=model)
    assert states(report) == dict.fromkeys("0123", "recorded")
    assert [episode.calls for episode in report.episodes] == [*CALLS]
    assert (report.calls, len(lab.llm.asked), report.stopped, report.remaining) == (sum(CALLS), sum(CALLS), None, [])
    assert {asked.path for asked in lab.llm.asked} == {
        {"chat": "/v1/chat/completions", "completions": "/v1/completions", "messages": "/v1/messages"}[api]
    }
    asked = len(lab.llm.asked), len(lab.wiki.asked)
    for key in "0123":
        direct, wire = lab.replay(report.run, key), lab.replay(report.run, key, wire=True)
        assert (direct.problems, wire.problems) == ((), ())
        assert direct.trajectory == wire.trajectory
        assert direct.turns == wire.turns
        expected = report.run.read(key).meta.outcome
        assert direct.expected == expected
        assert direct.trajectory is not None
        assert [turn.prompt for turn in direct.turns] == prompts(lab)[: CALLS[int(key)]]
        del lab.llm.asked[: CALLS[int(key)]]
    assert (asked[1], lab.llm.asked) == (len(lab.wiki.asked), [])
    assert lab.names() == {"run.json", "0.yaml", "1.yaml", "2.yaml", "3.yaml"}


def test_a_recording_says_how_it_came_to_be(lab: Lab) -> None:
    """Provenance, time, model asked and returned, fingerprint, host, versions, question, prompt, pages."""
    run = lab.record("2").run
    assert (run.config.provenance, run.config.provider, run.config.model) == ("recorded", "openai-api/local", "a-model")
    assert (run.config.site, run.config.selection, run.config.prompt) == (SITE, "2", "paper")
    meta = run.read("2").meta
    assert (meta.provenance, meta.model_returned, meta.system_fingerprint) == ("recorded", "a-model-0711", "fp_1")
    assert (meta.host, meta.question, meta.gold, meta.id) == ("127.0.0.1", QUESTIONS[2].text, "twelve", "id-2")
    assert meta.time is not None
    assert {"reactrepro", "python", "openai", "httpx2", "vcrpy", "requests", "selectolax"} <= meta.versions.keys()
    assert [pin.query for pin in meta.pages] == ["Marl", "[Marl]", "Marlow & Sons+ 100% Żół?"]
    assert meta.outcome is not None
    assert (meta.outcome.answer, meta.outcome.em, meta.outcome.reprompts) == ("twelve", True, 1)


def test_stock_vcrpy_replays_a_fresh_recording(lab: Lab) -> None:
    """`vcr.use_cassette` answers the real SDK from the file, matching on method, address and body."""
    import openai
    import vcr

    run = lab.record("0").run
    asked = len(lab.llm.asked)
    with vcr.use_cassette(str(run.path("0")), record_mode="none", match_on=("method", "uri", "body")) as played:
        client = openai.OpenAI(api_key="none", base_url=lab.llm.base_url, max_retries=0)
        for made in run.read("0").interactions:
            answer = client.chat.completions.create(**made.request_json)
            assert answer.choices[0].message.content == made.response_json["choices"][0]["message"]["content"]
        assert played.all_played
    assert len(lab.llm.asked) == asked


def test_a_query_with_special_characters_arrives_as_it_was(lab: Lab) -> None:
    """Percent-encoded on the way; and a page that is neither article nor results is never shown."""
    lab.wiki.says("Harlow Bay", Reply("<html><body>a login form</body></html>"))
    report = lab.record("23")
    assert "Marlow & Sons+ 100% Żół?" in lab.wiki.asked
    assert states(report) == {"2": "recorded", "3": "failed"}
    assert isinstance(report.episodes[1].problem, InfraError)
    assert not any(b"login form" in data for data in lab.files().values())


# --- nothing lost ---------------------------------------------------------------------------------------------------


def test_each_reply_is_on_disk_before_the_next_call(lab: Lab) -> None:
    """The server looks: when a request comes, the file holds every reply before it, sealed and readable."""
    seen: list[int] = []

    def look(_: Asked) -> None:
        folder = lab.cassettes / "hotpotqa" / "react" / "a-model"
        part = folder / "2.yaml.part"
        seen.append(len(read_cassette(part).interactions) if part.exists() else 0)
        assert (folder / "run.json").exists()
        assert not (folder / "2.yaml").exists()

    lab.llm.before = look
    lab.record("2")
    assert seen == [0, 1, 2, 3]
    assert lab.names() == {"run.json", "2.yaml"}


def test_a_broken_off_episode_is_carried_on_without_paying_again(lab: Lab) -> None:
    """It stops after the call under way; the same order asks only for what is missing, and arrives at the same."""
    whole = Lab(lab.root / "whole", lab.llm, lab.wiki) if lab.root.joinpath("whole").mkdir() is None else lab
    whole.record()
    expected, asked = whole.content(), prompts(lab)
    lab.llm.asked.clear()
    for stop_at in (2, 3, 4, 6, 7, 8):
        stopped = threading.Event()
        lab.llm.before = lambda _, at=stop_at, stopped=stopped: stopped.set() if len(lab.llm.asked) == at else None
        report = lab.record(stopped=stopped)
        assert isinstance(report.stopped, Interrupted)
        assert report.remaining
        assert set(states(report)) | set(report.remaining) == set("0123")
        assert [key for key in "0123" if key in report.remaining] == report.remaining
        parts = {f"{report.remaining[0]}.yaml.part"} & lab.names()
        assert lab.names() == {"run.json", *parts, *(f"{key}.yaml" for key in states(report))}
    lab.llm.before = lambda _: None
    assert lab.record().stopped is None
    assert prompts(lab) == asked
    assert lab.content() == expected


def test_a_stop_between_two_episodes_is_one_too(lab: Lab) -> None:
    """What is not done is listed, also where nothing was broken off."""
    stopped = threading.Event()
    report = lab.record(stopped=stopped, tell=lambda episode: stopped.set())
    assert isinstance(report.stopped, Interrupted)
    done = len(report.episodes)
    assert report.remaining == list("0123")[done:]


def test_a_finished_part_only_needs_its_name(lab: Lab) -> None:
    """Killed just before the last step: no call, and the time is that of the recording."""
    lab.record("0")
    run = lab.run
    whole = run.path("0").read_bytes()
    run.path("0").rename(run.part_path("0"))
    lab.llm.asked.clear()
    report = lab.record("0")
    assert (report.calls, lab.llm.asked) == (0, [])
    assert run.path("0").read_bytes() == whole


def test_what_a_killed_recorder_leaves_is_cleared_away(lab: Lab) -> None:
    """Lock files, half-written temporary files, a failure beside its finished episode; nothing of a living recorder."""
    run = lab.record("0").run
    wiki = next(lab.snapshot.rglob("vorland-*"))
    litter = [".0.lock", ".0.yaml.part.abc.tmp", ".7.yaml.part.abc.tmp", ".run.json.abc.tmp", "0.error.json"]
    for name in litter:
        (run.folder / name).write_bytes(b"half")
    old, new = wiki / ".a.txt.abc.tmp", wiki / ".b.txt.abc.tmp"
    old.touch()
    new.touch()
    os.utime(old, (1, 1))
    (run.folder / "9.error.json").write_bytes(b"{}")
    with locked(episode_lock(run.folder, "8")):
        (run.folder / ".8.yaml.part.abc.tmp").touch()
        lab.record("0")
        assert lab.names() == {"run.json", "0.yaml", "9.error.json", ".8.lock", ".8.yaml.part.abc.tmp"}
    assert (old.exists(), new.exists()) == (False, True)
    lab.record("0")
    assert lab.names() == {"run.json", "0.yaml", "9.error.json"}


def test_an_episode_that_another_recorder_has_is_left_to_it(lab: Lab) -> None:
    """It is reported as busy, which is no failure; what the other has finished in the end counts as kept."""
    run = lab.record("1").run
    with locked(episode_lock(run.folder, "0")):
        report = lab.record("01")
    assert states(report) == {"0": "busy", "1": "kept"}
    assert report.problems == []

    def finish(episode: Recorded) -> None:
        if episode.key == "0":
            shutil.copy(run.path("1"), run.path("0"))

    with locked(episode_lock(run.folder, "0")):
        report = lab.record("01", tell=finish)
    assert states(report) == {"0": "kept", "1": "kept"}


# --- modes ----------------------------------------------------------------------------------------------------------


def test_once_keeps_what_is_there(lab: Lab) -> None:
    """And records what is absent."""
    lab.record("0")
    before = lab.run.path("0").read_bytes()
    report = lab.record("01")
    assert states(report) == {"0": "kept", "1": "recorded"}
    assert (report.calls, len(lab.llm.asked)) == (1, 4)
    assert lab.run.path("0").read_bytes() == before


def test_new_episodes_keeps_what_still_replays(lab: Lab) -> None:
    """To the byte, without a call; what differs is asked for from there on, and only from there on."""
    lab.record("03")
    before = lab.run.path("0").read_bytes()
    report = lab.record("03", mode="new_episodes")
    assert (states(report), report.calls) == ({"0": "kept", "3": "kept"}, 0)
    assert lab.run.path("0").read_bytes() == before
    lab.llm.asked.clear()
    made = lab.run.read("0")
    other = made.interactions[1]
    longer = replace(other, body=other.body.replace("Thought 2:", "Thought two:"))
    altered = (made.interactions[0], longer, made.interactions[2])
    lab.run.path("0").write_bytes(cassette_bytes(writing.seal(made.meta, altered)))
    report = lab.record("03", mode="new_episodes")
    assert (states(report), report.calls, len(lab.llm.asked)) == ({"0": "recorded", "3": "kept"}, 2, 2)
    assert lab.replay(lab.run, "0").problems == ()


def test_new_episodes_drops_what_is_not_asked_for_anymore(lab: Lab) -> None:
    """No leftover stays behind, and no call is made for it."""
    lab.record("0")
    made = lab.run.read("0")
    more = (*made.interactions, made.interactions[0])
    lab.run.path("0").write_bytes(cassette_bytes(writing.seal(made.meta, more)))
    report = lab.record("0", mode="new_episodes")
    assert (states(report), report.calls) == ({"0": "recorded"}, 0)
    assert (lab.run.read("0").meta.time, len(lab.run.read("0").interactions)) == (made.meta.time, 3)


def test_new_episodes_reads_a_page_anew_that_is_gone(lab: Lab) -> None:
    """Where it is the same, nothing is asked of the model."""
    lab.record("0")
    shutil.rmtree(lab.snapshot)
    report = lab.record("0", mode="new_episodes")
    assert (states(report), report.calls) == ({"0": "kept"}, 0)
    assert lab.wiki.asked == ["Vorland"] * 2
    shutil.rmtree(lab.snapshot)
    lab.wiki.says("Vorland", page("<p>Vorland is another town. It was founded by Bo.</p>"))
    report = lab.record("0", mode="new_episodes")
    assert (states(report), report.calls) == ({"0": "recorded"}, 2)
    assert lab.replay(lab.run, "0").problems == ()


def test_all_records_everything_anew(lab: Lab) -> None:
    """Until it is finished, the old recording stands."""
    lab.record("01")
    old = lab.run.path("0").read_bytes()
    stopped = threading.Event()
    lab.llm.before = lambda _: stopped.set() if len(lab.llm.asked) == 6 else None
    report = lab.record("01", mode="all", stopped=stopped)
    assert (report.calls, report.remaining) == (2, ["0", "1"])
    assert lab.run.path("0").read_bytes() == old
    assert "0.yaml.part" in lab.names()
    lab.llm.asked.clear()
    lab.llm.before = lambda _: None
    report = lab.record("01", mode="all")
    assert (states(report), report.calls, len(lab.llm.asked)) == ({"0": "recorded", "1": "recorded"}, 4, 4)
    assert lab.names() == {"run.json", "0.yaml", "1.yaml"}


def test_all_leaves_what_it_cannot_record_as_it_is(lab: Lab) -> None:
    """A failure beside a recording that stands is no infra error of the run."""
    lab.record("1")
    lab.llm.script = [error(500)] * 3
    report = lab.record("1", mode="all")
    assert states(report) == {"1": "failed"}
    assert lab.names() == {"run.json", "1.yaml"}


def test_none_records_nothing_and_touches_nothing(lab: Lab) -> None:
    """It says what is there, without a key, a studio, a file or a request."""
    order = lab.order("01", mode="none", model="openai-api/local/a-model")
    with pytest.raises(CassetteAbsent, match="nothing of hotpotqa/react/a-model is recorded, and mode 'none'"):
        record(order, None)
    assert lab.files() == {}
    lab.record("0")
    before = lab.files()
    report = record(order, None)
    assert states(report) == {"0": "kept", "1": "absent"}
    assert [problem.exit_code for problem in report.problems] == [3]
    assert lab.files() == before
    assert len(lab.llm.asked) == 3


# --- one configuration ----------------------------------------------------------------------------------------------


def test_a_changed_configuration_is_another_run(lab: Lab) -> None:
    """The default name gets eight digits of the hash behind it; the old run is not touched."""
    first = lab.record("1").run
    before = {path.name: path.read_bytes() for path in first.folder.iterdir()}
    second = lab.record("1", max_tokens=99).run
    assert second.name == f"a-model-{second.config.settings_sha256()[:8]}"
    assert second.config.settings.max_tokens == 99
    assert {path.name: path.read_bytes() for path in first.folder.iterdir()} == before
    assert states(lab.record("1", max_tokens=99)) == {"1": "kept"}
    assert len(lab.llm.asked) == 2


def test_a_run_named_explicitly_has_to_have_this_configuration(lab: Lab) -> None:
    """Else nothing is asked and nothing is touched."""
    lab.record("1", run="mine")
    before, times = lab.files(), {path: path.stat().st_mtime_ns for path in lab.root.rglob("*")}
    with pytest.raises(Usage, match=r"the run hotpotqa/react/mine has another configuration; .* never mix"):
        lab.record("1", run="mine", temperature=1)
    for name in ("Mine", "../x", "con"):
        with pytest.raises(Usage, match="cannot name a run"):
            lab.record("1", run=name)
    assert lab.files() == before
    assert {path: path.stat().st_mtime_ns for path in lab.run.folder.iterdir()}.items() <= times.items()
    assert len(lab.llm.asked) == 1


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"provenance": "transcribed"}, "is transcribed"),
        ({"task_version": 2}, "was recorded under version 2 of the task"),
    ],
)
def test_a_run_of_another_kind_is_not_mixed_with(lab: Lab, changes: dict[str, Any], why: str) -> None:
    """The published run, transcribed, has the very settings that one records with to compare."""
    config = lab.order("1").config
    if version := changes.pop("task_version", None):
        changes = {"task": replace(config.task, version=version)}
    folder = lab.cassettes / "hotpotqa" / "react" / "a-model"
    replace_file(folder / "run.json", run_bytes(replace(config, **changes)))
    (folder.parent / "broken").mkdir()
    (folder.parent / "broken" / "run.json").write_bytes(b"{")
    with pytest.raises(Usage, match=why):
        lab.record("1", run="a-model")
    with pytest.raises(Corrupt):
        lab.record("1", run="broken")
    assert lab.llm.asked == []
    assert lab.record("1").run.name == f"a-model-{config.settings_sha256()[:8]}"


def test_the_selection_grows_with_what_is_asked_for(lab: Lab) -> None:
    """Words that ask for nothing new change nothing, the run's id neither."""
    for keys, selection, expected in (
        ("1", "1", "1"),
        ("13", "1,3", "1,3"),
        ("3", "3", "1,3"),
        ("0", "0", "1,3,0"),
        ("0123", "0-3", "0-3"),
        ("2", "2", "0-3"),
    ):
        lab.record(keys, selection=selection)
        assert Run.at(lab.run.folder).config.selection == expected
    before = lab.run.id
    lab.record("2", selection="2")
    assert Run.at(lab.run.folder).id == before


# --- an attempt that does not fit -----------------------------------------------------------------------------------


@contextmanager
def broken_off(lab: Lab, key: str = "0") -> Iterator[Path]:
    """An episode of which two replies are recorded."""
    stopped = threading.Event()
    lab.llm.before = lambda _: stopped.set() if len(lab.llm.asked) == 2 else None
    lab.record(key, stopped=stopped)
    lab.llm.before = lambda _: None
    lab.llm.asked.clear()
    yield lab.run.part_path(key)


def test_an_attempt_with_another_prompt_is_refused(lab: Lab) -> None:
    """It says which prompt changed, where, and what to do; no call is made, and the attempt is not touched."""
    mine = lab.root / "prompts" / "hotpotqa" / "paper"
    mine.mkdir(parents=True)
    packaged = Path(__file__).parents[2] / "reactrepro" / "prompts" / "hotpotqa" / "paper"
    for name in ("react.txt", "react.instruction.txt"):
        text = (packaged / name).read_bytes()
        (mine / name).write_bytes(text.replace(b"Milhouse", b"Millhouse"))
    with broken_off(lab) as part:
        before = part.read_bytes()
        report = lab.record("01", studio={"prompt_roots": (lab.root / "prompts",)})
        assert states(report) == {"0": "failed", "1": "recorded"}
        problem = report.episodes[0].problem
        assert isinstance(problem, CassetteMiss)
        assert problem.exit_code == 1
        said = str(problem)
        assert "0.yaml.part, nearest: interaction 1 of 2" in said
        assert "differs from character" in said
        assert "The attempt was begun with another prompt (paper, " in said
        assert "react.txt" in said
        assert "--mode all, or remove the file" in said
        assert part.read_bytes() == before
        assert len(lab.llm.asked) == 1
        assert lab.record("0").calls == 1


def test_an_attempt_with_another_question_is_refused(lab: Lab) -> None:
    """A data file whose rows moved."""
    with broken_off(lab):
        moved = (Question("0", "Where is Quill?", "x", 0),)
        report = lab.record("0", questions=moved)
        problem = report.episodes[0].problem
        assert isinstance(problem, RecordingDiffers)
        assert "was begun with another question ('Who founded the town on Harlow Bay?')" in str(problem)
        assert lab.llm.asked == []


def test_a_damaged_attempt_is_refused_with_the_way_out(lab: Lab) -> None:
    """Exit code 5, nothing asked, and `all` begins anew."""
    with broken_off(lab) as part:
        part.write_bytes(part.read_bytes()[:-500])
        report = lab.record("0")
        problem = report.episodes[0].problem
        assert isinstance(problem, Corrupt)
        assert "--mode all, or remove the file" in str(problem)
        assert lab.llm.asked == []
        assert lab.record("0", mode="all").calls == 3


def test_an_attempt_goes_on_with_the_pages_that_it_has_read(lab: Lab) -> None:
    """The wiki has moved meanwhile, and newer versions stand in the snapshot; what was read is read again."""
    with broken_off(lab):
        lab.wiki.says("Vorland", page("<p>Vorland is another town.</p>"))
        lab.record("3", studio={"wiki_mode": "all"})
        report = lab.record("0", studio={"wiki_mode": "all"})
        assert (states(report), report.calls) == ({"0": "recorded"}, 1)
        assert lab.replay(lab.run, "0").problems == ()
        assert lab.replay(lab.run, "3").problems == ()


# --- providers that fail --------------------------------------------------------------------------------------------


@pytest.mark.case("B46")
def test_429_429_200_is_one_interaction_and_a_replay_does_not_wait(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """The errors were waited out, and are nowhere in the file."""
    lab.llm.script = [error(429, headers={"Retry-After": "0.02"})] * 2
    report = lab.record("1")
    assert (states(report), report.calls, len(lab.llm.asked)) == ({"1": "recorded"}, 1, 3)
    made = report.run.read("1")
    assert [one.status for one in made.interactions] == [200]
    data = re.sub(rb"[0-9a-f]{40,}", b"", report.run.path("1").read_bytes())  # a hash may hold any three digits
    assert b"429" not in data
    monkeypatch.setattr("time.sleep", lambda _: pytest.fail("a replay waits"))
    for wire in (False, True):
        assert lab.replay(report.run, "1", wire=wire).problems == ()


def test_a_provider_that_fails_costs_its_episode_only(lab: Lab) -> None:
    """It is kept as a failure without a message; the others go on, and the next order asks for just this one."""
    lab.llm.minds[QUESTIONS[0].text] = [" Hm.\nAction 1: Search[Vorland]", error(500, "canary", code="server_error")]
    report = lab.record("0123")
    assert states(report) == {"0": "failed", "1": "recorded", "2": "recorded", "3": "recorded"}
    (problem,) = report.problems
    assert isinstance(problem, InfraError)
    assert "status 500, server_error; 3 of 3 attempts made" in str(problem)
    run = report.run
    assert lab.names() == {"run.json", "0.error.json", "0.yaml.part", "1.yaml", "2.yaml", "3.yaml"}
    assert run.failed() == ["0"]
    kept = json.loads(run.error_path("0").read_bytes())
    assert kept.pop("time").endswith("Z")
    assert kept == {
        "format": "reactrepro-error/1",
        "key": "0",
        "question_sha256": QUESTIONS[0].sha256,
        "kind": "infra error",
        "status": 500,
        "code": "server_error",
    }
    lab.llm.minds[QUESTIONS[0].text] = [
        " Hm.\nAction 1: Search[Vorland]",
        " Now.\nAction 2: Finish[Ada Marlow]",
    ]
    lab.llm.asked.clear()
    report = lab.record("0123")
    assert (report.calls, len(lab.llm.asked)) == (1, 1)
    assert lab.names() == {"run.json", "0.yaml", "1.yaml", "2.yaml", "3.yaml"}


def test_a_200_that_is_no_reply_is_asked_for_again_at_once_and_next_time(lab: Lab) -> None:
    """An error in disguise is no reply: it is not stored, and a later order does not meet it again."""
    lab.llm.script = [Say({"error": {"message": "overloaded"}}), Say({"choices": []}), Say(b"<html>busy")]
    report = lab.record("1", studio={"patience": Patience(attempts=2, first_wait=0.01)})
    assert states(report) == {"1": "failed"}
    assert lab.names() == {"run.json", "1.error.json"}
    lab.llm.script = []
    assert states(lab.record("1")) == {"1": "recorded"}
    assert len(lab.run.read("1").interactions) == 1


@pytest.mark.case("B37")
@pytest.mark.parametrize("connections", [1, 4])
@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refusal_that_holds_for_all_stops_everything(lab: Lab, status: int, connections: int) -> None:
    """It is said once, no episode counts as failed, and nothing further is asked."""
    lab.llm.minds = {question.text: [error(status, "This is a chat model")] for question in QUESTIONS}
    report = lab.record(connections=connections)
    assert (report.episodes, report.remaining) == ([], list("0123"))
    assert isinstance(report.stopped, InfraError)
    assert report.problems == [report.stopped]
    assert f"status {status}" in str(report.stopped)
    assert len(lab.llm.asked) <= connections
    assert connections > 1 or prompts(lab)[0].endswith(f"{QUESTIONS[0].text}\nThought 1:")
    assert lab.files() == {}


def test_what_was_recorded_before_a_refusal_stays(lab: Lab) -> None:
    """A key that is withdrawn in the middle; the same order carries on with another."""
    lab.llm.minds[QUESTIONS[2].text] = [" Marl, maybe.\nAction 1: Search[Marl]", error(401)]
    report = lab.record()
    assert states(report) == {"0": "recorded", "1": "recorded"}
    assert report.remaining == ["2", "3"]
    assert lab.names() == {"run.json", "0.yaml", "1.yaml", "2.yaml.part"}


def test_a_bad_request_fails_its_episode(lab: Lab) -> None:
    """Status 400: no second attempt, and the others go on."""
    lab.llm.minds[QUESTIONS[1].text] = [error(400, "no such field", code="unknown_field")]
    report = lab.record("012", studio={})
    assert states(report) == {"0": "recorded", "1": "failed", "2": "recorded"}
    assert json.loads(report.run.error_path("1").read_bytes())["code"] == "unknown_field"
    assert len(lab.llm.asked) == CALLS[0] + 1 + CALLS[2]


def test_a_self_check_that_fails_ends_it_before_any_request(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file, no call, no page."""

    def failed(*_: object) -> None:
        raise InfraError("the self-check failed")

    monkeypatch.setattr("reactrepro.runs.studio.self_check", failed)
    with pytest.raises(InfraError):
        lab.record()
    assert (lab.llm.asked, lab.wiki.asked, lab.files()) == ([], [], {})


def test_a_bug_in_a_thread_keeps_its_traceback(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no episode's problem; the other threads finish their calls and save them."""
    send = live_module.Live.send

    def broken(self: Any, call: Any) -> Any:
        if "Which bay" in call.body["messages"][0]["content"].rpartition("Question:")[2]:
            raise ZeroDivisionError
        return send(self, call)

    monkeypatch.setattr(live_module.Live, "send", broken)
    with pytest.raises(ZeroDivisionError):
        lab.record(connections=4)
    assert {name for name in lab.names() if name.startswith(".")} == set()


# --- the wiki -------------------------------------------------------------------------------------------------------


@pytest.mark.case("B03", "B17")
@pytest.mark.parametrize(
    ("replies", "asked"),
    [
        ([Reply(b"Set a user agent.", 403, {"Content-Type": "text/plain"})], 1),
        ([Reply("<title>Wikimedia Error</title>", 429, {"Content-Type": "text/html", "Retry-After": "7000"})], 1),
        ([Reply(drop=True)], 2),
    ],
    ids=["403", "429", "dropped"],
)
def test_a_wiki_that_refuses_costs_its_episode_only(lab: Lab, replies: list[Reply], asked: int) -> None:
    """Its words are neither shown to the model nor stored; the reply that was paid for is kept for the next time."""
    lab.wiki.says("Harlow Bay", *replies)
    report = lab.record("013")
    assert states(report) == {"0": "recorded", "1": "recorded", "3": "failed"}
    assert isinstance(report.problems[0], InfraError)
    assert lab.wiki.asked.count("Harlow Bay") == asked
    assert json.loads(report.run.error_path("3").read_bytes())["kind"] == "infra error"
    assert len(read_cassette(report.run.part_path("3")).interactions) == 2
    assert not any(word in data for data in lab.files().values() for word in (b"user agent", b"Wikimedia Error"))
    lab.wiki.says("Harlow Bay", *PAGES["Harlow Bay"])
    lab.llm.asked.clear()
    assert states(lab.record("013"))["3"] == "recorded"
    assert len(lab.llm.asked) == 1


@pytest.mark.case("B45")
def test_packed_answers_are_stored_as_text(lab: Lab) -> None:
    """A gzip reply and a gzip page: both readable in the files, both replayed."""
    import gzip

    lab.llm.minds[QUESTIONS[0].text] = [
        Say(" Go.\nAction 1: Search[Vorland]", gzipped=True),
        Say(" Done – so.\nAction 2: Finish[Ada Marlow]", gzipped=True),
    ]
    plain = PAGES["Vorland"][0].body
    assert isinstance(plain, str)
    packed = {"Content-Type": "text/html; charset=UTF-8", "Content-Encoding": "gzip"}
    lab.wiki.says("Vorland", Reply(gzip.compress(plain.encode()), headers=packed))
    run = lab.record("0").run
    assert b"Action 1: Search[Vorland]" in run.path("0").read_bytes()
    assert b"founded in 1902" in b"".join(data for name, data in lab.files().items() if name.endswith(".txt"))
    for wire in (False, True):
        assert lab.replay(run, "0", wire=wire).problems == ()


@pytest.mark.parametrize("provenance", ["transcribed", "scripted"])
def test_a_live_recording_reads_only_recorded_pages(lab: Lab, provenance: Any) -> None:
    """An excerpt that somebody published or made up never answers it, in whatever folder it stands."""
    views = [PageView(SITE, "Vorland", "article", name, 1, text="Excerpt only.\n") for name in ("article", "original")]
    for root in (lab.snapshot, lab.root / "other"):
        write_page(root, Answer(site=SITE, query="Vorland", kind="article", provenance=provenance), views)
    report = lab.record("0", studio={"snapshots": (lab.root / "other",)})
    assert lab.wiki.asked == ["Vorland"]
    assert "Excerpt" not in prompts(lab)[1]
    assert states(report) == {"0": "recorded"}
    replayed = lab.replay(report.run, "0")
    assert replayed.problems == ()


def test_a_page_of_another_wiki_stops_the_recording(lab: Lab) -> None:
    """One name for two wikis would mix what agents read; nothing is asked."""
    answer = Answer(
        site=SITE, query="x", kind="article", provenance="recorded", base_url="https://other.invalid/w/index.php"
    )
    write_page(lab.snapshot, answer, [PageView(SITE, "x", "article", "article", 1, text="x\n")])
    with pytest.raises(Usage, match="one name for two wikis"):
        lab.record("0")
    assert lab.llm.asked == []


def test_four_at_a_time_record_the_same_as_one(lab: Lab) -> None:
    """Whatever the order; each page is fetched once."""
    one = Lab(lab.root / "one", lab.llm, lab.wiki) if lab.root.joinpath("one").mkdir() is None else lab
    one.record()
    asked = sorted(prompts(lab)), sorted(lab.wiki.asked)
    lab.llm.asked.clear()
    lab.wiki.asked.clear()
    lab.llm.delay = 0.02
    most: list[int] = []
    lab.llm.before = lambda _: most.append(threading.active_count())
    report = lab.record(connections=4)
    assert states(report) == dict.fromkeys("0123", "recorded")
    assert (sorted(prompts(lab)), sorted(lab.wiki.asked)) == asked
    assert lab.content() == one.content()
    assert max(most) >= 4


def test_servers_on_this_machine_are_asked_directly(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy of the environment could not reach them; neither the model nor the wiki."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert states(lab.record("0")) == {"0": "recorded"}


# --- nothing leaked -------------------------------------------------------------------------------------------------

CANARIES = {
    "LOCAL_API_KEY": "sk-canary-1-abcdefgh",
    "REACTREPRO_LOCAL_API_KEY": "sk-canary-2-abcdefgh",
    "OPENAI_API_KEY": "sk-canary-3-abcdefgh",
    "ANTHROPIC_AUTH_TOKEN": "tok-canary-4-abcdefgh",
    "OPENAI_ORG_ID": "org-canary-5-abcdefgh",
    "OPENAI_PROJECT_ID": "proj-canary-6-abcdefgh",
    "OPENAI_CUSTOM_HEADERS": "X-Mine: mine-canary-7-abcdefgh",
    "HTTPS_PROXY": "http://canary8user:canary8pass@127.0.0.1:9",
}
HEADERS = {
    "Set-Cookie": "__cf_bm=canary-cookie",
    "OpenAI-Organization": "canary-org",
    "openai-project": "canary-project",
    "anthropic-organization-id": "canary-anthropic",
    "X-Request-Id": "canary-request",
    "request-id": "canary-request-2",
    "CF-RAY": "canary-ray",
    "Content-Type": "application/json; charset=utf-8",
}


@pytest.mark.case("B25")
@pytest.mark.parametrize("api", ["chat", "completions", "messages"])
def test_no_secret_gets_into_any_file(lab: Lab, api: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Canaries stand in every place that a secret can stand in; all bytes written are searched."""
    from reactrepro.exchanges.scrub import secrets_in

    for name, value in CANARIES.items():
        monkeypatch.setenv(name, value)
    home = lab.root / "canaryhome"
    monkeypatch.setattr(Path, "home", lambda: home)
    echoes = " ".join(value.rpartition("//")[2].rpartition(": ")[2].partition("@")[0] for value in CANARIES.values())
    lab.llm.headers = HEADERS
    lab.llm.extra = {
        "id": "canary-id",
        "request_id": "canary-id",
        "organization": "canary-org",
        "user": {"id": "canary-user"},
        "model": f"{home}/models/a.gguf",
        "key": CANARIES["REACTREPRO_LOCAL_API_KEY"],
    }
    lab.llm.minds[QUESTIONS[1].text] = [f" Your keys: {echoes}.\nAction 1: Finish[Harlow Bay]"]
    lab.llm.minds[QUESTIONS[2].text] = [
        error(400, f"bad key {echoes}", code=CANARIES["LOCAL_API_KEY"], headers=HEADERS)
    ]
    lab.wiki.says("Vorland", replace(PAGES["Vorland"][0], headers={
        "Content-Type": "text/html", "Set-Cookie": "canary=1", "X-Request-Id": "canary-wiki"
    }))  # fmt: skip
    secrets = secrets_in(CANARIES)
    report = lab.record("012", api=api, environment=CANARIES, studio={"secrets": secrets})
    assert lab.llm.asked[0].headers["authorization"] == f"Bearer {CANARIES['REACTREPRO_LOCAL_API_KEY']}"
    assert states(report) == {"0": "recorded", "1": "recorded", "2": "failed"}
    found = {name: data for name, data in lab.files().items() if b"canary" in data.lower()}
    assert found == {}
    assert "canary" not in str(report.problems)
    assert report.run.read("0").meta.model_returned == "~/models/a.gguf"
    outcome = report.run.read("1").meta.outcome
    assert outcome is not None
    for key in "01":
        assert lab.replay(report.run, key).problems == ()


def test_a_model_that_is_named_after_the_home_folder_is_refused(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Servers like to name a model by its file; the name would stand in every request."""
    monkeypatch.setattr(Path, "home", lambda: Path("/home/canary"))
    with pytest.raises(Usage, match="--served-model-name, --alias") as caught:
        lab.record("0", model="openai-api/local//home/canary/a.gguf")
    assert "canary" not in str(caught.value)
    with pytest.raises(Usage):
        lab.record("0", environment={"LOCAL_API_KEY": "a-model"})
    assert lab.llm.asked == []


# --- a full disk ----------------------------------------------------------------------------------------------------


@pytest.fixture
def full_after(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let the disk be full after so many files were synced."""
    left = [0]
    sync = os.fsync

    def fsync(handle: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(handle)

    def arm(count: int) -> None:
        left[0] = count
        monkeypatch.setattr(os, "fsync", fsync)

    yield arm
    monkeypatch.setattr(os, "fsync", sync)


@pytest.mark.parametrize("connections", [1, 3])
def test_a_full_disk_stops_it_and_leaves_what_was_recorded(lab: Lab, full_after: Any, connections: int) -> None:
    """An error that says what to do; nothing half-written, nothing more paid for; later the same order carries on."""
    run = lab.record("1").run
    finished = run.path("1").read_bytes()
    full_after(13)
    report = lab.record(connections=connections)
    assert isinstance(report.stopped, DiskError)
    assert report.stopped.exit_code == 4
    assert "No space left on device. What was recorded is intact. Make room" in str(report.stopped)
    assert str(lab.root) in str(report.stopped)
    assert run.path("1").read_bytes() == finished
    for path in run.folder.iterdir():
        assert not path.name.startswith(".")
        assert path.suffix != ".part" or read_cassette(path).interactions
    assert not run.failed()
    assert report.remaining
    paid = len(lab.llm.asked)
    full_after(10**6)
    assert lab.record().stopped is None
    assert paid <= len(lab.llm.asked) <= sum(CALLS) + connections
    assert lab.names() == {"run.json", "0.yaml", "1.yaml", "2.yaml", "3.yaml"}
    assert [lab.replay(run, key).problems for key in "0123"] == [()] * 4


def test_no_call_is_paid_for_that_could_not_be_saved(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """Room is looked for before each call; where nobody knows how much there is, the call is made."""
    usage = shutil.disk_usage(lab.root)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=100_000))
    report = lab.record("1")
    assert isinstance(report.stopped, DiskError)
    assert "1.yaml.part cannot be written" in str(report.stopped)
    assert lab.llm.asked == []
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(total=0, free=0))
    assert states(lab.record("1")) == {"1": "recorded"}


def test_a_folder_that_cannot_be_written_is_an_error(lab: Lab) -> None:
    """Before anything is asked."""
    lab.cassettes.write_text("a file, not a folder", encoding="utf-8")
    with pytest.raises(DiskError, match="cannot be written"):
        lab.record("1")
    assert lab.llm.asked == []


def test_a_method_folder_that_is_locked_for_long_is_an_error(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recorder that hangs while it names a run; nothing is mixed, nothing asked."""
    monkeypatch.setattr("reactrepro.runs.order.PATIENCE", 0.05)
    with locked(lab.cassettes / "hotpotqa" / "react" / FOLDER_LOCK), pytest.raises(DiskError, match="another recorder"):
        lab.record("1")
    assert lab.llm.asked == []


def test_a_cassette_holds_what_it_is_made_of(lab: Lab) -> None:
    """The form of a recorded cassette is that of every other: written again it is the same file."""
    path = lab.record("0").run.path("0")
    made = read_cassette(path)
    assert isinstance(made, Cassette)
    assert cassette_bytes(made) == path.read_bytes()
