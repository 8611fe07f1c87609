"""Recordings that nothing comes of: no run is left behind, and a server that is down is not asked for long."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reactrepro.cassettes.locks import episode_lock, locked
from reactrepro.cassettes.read import read_run
from reactrepro.cassettes.runs import RUN_FILE
from reactrepro.cassettes.write import replace_file, run_bytes
from reactrepro.errors import InfraError, Usage
from reactrepro.exchanges.retries import MANY, Breaker, Patience
from reactrepro.runs import order as ordering
from reactrepro.runs import record as recording
from reactrepro.runs.order import Order, prepare, withdraw

from ..lab import QUESTIONS, Lab, lab
from ..llm_server import Say, error

__all__ = ["lab"]

HASTY = {"patience": Patience(attempts=2, first_wait=0.01, timeout=10)}


def left(folder: Path) -> list[str]:
    """Everything in *folder*, folders included."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


# --- no run is left behind ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_refused_first_call_hides_no_run_of_the_layer_below(lab: Lab) -> None:
    """Through the command: a wrong key, under the name of a packaged run; that one still replays."""
    lab.llm.minds = {question.text: [error(401)] for question in QUESTIONS}
    done = lab.command("0-3", "--run", "deepseek-v3-250324")
    assert (done.returncode, done.stdout.split("\n")[0]) == (
        4,
        "hotpotqa/react/deepseek-v3-250324: 4 remain (0, 1, 2, 3); 0 calls made.",
    )
    assert left(lab.cassettes) == []
    words = lab.words()
    command = [*words[: words.index("record")], "replay", "hotpotqa", "0", "--run", "deepseek-v3-250324"]
    assert lab.run_words(command).returncode == 0
    lab.llm.minds = {question.text: [" I know.\nAction 1: Finish[x]"] for question in QUESTIONS}
    assert lab.command("0-3", "--run", "deepseek-v3-250324").returncode == 0
    assert lab.names() == {"run.json", "0.yaml", "1.yaml", "2.yaml", "3.yaml"}


@pytest.mark.slow
def test_two_recorders_that_are_refused_at_once_leave_nothing_either(lab: Lab) -> None:
    """Whoever ends last removes what either made."""
    lab.llm.delay = 0.05
    lab.llm.minds = {question.text: [error(404)] for question in QUESTIONS}
    both = [lab.start("0-3"), lab.start("0-3")]
    said = [process.communicate(timeout=60)[1] for process in both]
    assert [process.returncode for process in both] == [4, 4], said
    assert left(lab.cassettes) == []


def test_what_came_of_a_run_stays(lab: Lab) -> None:
    """A reply, a failure, another recorder's lock, or a configuration that this order would not write."""
    order = lab.order("1")
    run = prepare(order)
    for name in ("0.yaml.part", "3.error.json", ".0.lock"):
        (run.folder / name).touch()
        withdraw(order, run)
        assert left(run.folder) == sorted([name, "run.json"])
        (run.folder / name).unlink()
    noted = run_bytes(replace(order.config, note="by hand"))
    replace_file(run.folder / RUN_FILE, noted)
    withdraw(order, run)
    assert (run.folder / RUN_FILE).read_bytes() == noted
    replace_file(run.folder / RUN_FILE, run_bytes(order.config))
    withdraw(order, run)
    assert left(lab.cassettes) == []
    withdraw(order, run)
    assert left(lab.cassettes) == []


def test_a_recorder_that_begins_in_between_keeps_the_run(lab: Lab) -> None:
    """Its lock file comes after the look and before the removal: the configuration is put back."""
    order = lab.order("1")
    run = prepare(order)
    with locked(episode_lock(run.folder, "1")):
        ordering._remove(run.folder, run_bytes(order.config))
        assert left(run.folder) == [".1.lock", "run.json"]


@pytest.fixture
def in_between(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Order], object]], None]:
    """Let something happen between the preparation of a recording and its first episode."""

    def let(happen: Callable[[Order], object]) -> None:
        def prepared(order: Order) -> Any:
            run = prepare(order)
            withdraw(order, run)
            assert not run.folder.exists()
            happen(order)
            return run

        monkeypatch.setattr(recording, "prepare", prepared)

    return let


def test_a_run_that_was_withdrawn_in_between_is_made_again(lab: Lab, in_between: Any) -> None:
    """The other recorder's first call failed; this one's does not."""
    in_between(lambda _: None)
    report = lab.record("01")
    assert [episode.state for episode in report.episodes] == ["recorded"] * 2
    assert read_run(report.run.folder / RUN_FILE) == lab.order("01").config
    assert lab.names() == {"run.json", "0.yaml", "1.yaml"}


def test_and_one_whose_name_went_to_another_configuration_is_left_alone(lab: Lab, in_between: Any) -> None:
    """Two configurations never mix, whatever the timing."""
    in_between(lambda order: prepare(replace(order, settings=replace(order.settings, max_tokens=99))))
    report = lab.record("01")
    assert isinstance(report.stopped, Usage)
    assert report.remaining == ["0", "1"]
    assert lab.llm.asked == []
    assert lab.names() == {"run.json"}
    assert lab.run.config.settings.max_tokens == 99


# --- a server that is down ------------------------------------------------------------------------------------------


@pytest.fixture
def nowhere(loopback: str) -> str:
    """An address at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


@pytest.mark.parametrize("connections", [1, 4])
def test_a_server_that_is_down_stops_everything(lab: Lab, nowhere: str, connections: int) -> None:
    """Three episodes in a row without a connection: the third does not count as failed, the others are not tried."""
    lab.llm.minds = {}
    report = lab.record(studio=HASTY, base_url=nowhere, connections=connections)
    assert [episode.state for episode in report.episodes] == ["failed"] * (MANY - 1)
    assert isinstance(report.stopped, InfraError)
    assert "(Connection refused). Check --base-url, and that the server is up; 2 of 2 attempts" in str(report.stopped)
    assert str(report.stopped).endswith("3 episodes in a row found no server there, so the others were not tried.")
    assert len(report.remaining) == 2
    assert set(report.run.failed()) | set(report.remaining) == set("0123")
    lab.llm.minds = {question.text: [" I know.\nAction 1: Finish[x]"] for question in QUESTIONS}
    assert lab.record().calls == 4


@pytest.mark.slow
def test_the_command_says_what_is_left(lab: Lab, nowhere: str) -> None:
    """Exit code 4; and one episode alone is an infra error as ever."""
    done = lab.command("0-3", "--attempts", "1", "--base-url", nowhere)
    assert done.returncode == 4
    assert done.stderr.count("failed: episode") == 2
    assert "\nstopped: the provider gives no answer (Connection refused)" in done.stderr
    assert "2 failed, 2 remain (2, 3); 0 calls made." in done.stdout
    assert "The same command carries on" in done.stdout
    done = lab.command("3", "--attempts", "1", "--base-url", nowhere, "--json")
    assert (done.returncode, json.loads(done.stdout)["episodes"][0]["state"]) == (4, "failed")


@pytest.mark.parametrize("say", [Say(drop=True), Say(pause=0.4), error(503)], ids=["dropped", "silent", "busy"])
def test_a_server_that_is_there_is_asked_for_every_episode(lab: Lab, say: Say) -> None:
    """It is slow, or breaks connections off, or is overloaded: each episode has its own chance."""
    lab.llm.minds = {question.text: [say] for question in QUESTIONS}
    report = lab.record(studio={"patience": Patience(attempts=1, timeout=0.2)})
    assert [episode.state for episode in report.episodes] == ["failed"] * 4
    assert report.stopped is None


def test_only_calls_in_a_row_count() -> None:
    """An answer in between begins anew, and so does a call that was given up for another reason."""
    breaker = Breaker()
    gave_up = breaker.gave_up
    assert [gave_up(unconnected=True), gave_up(unconnected=True)] == [False, False]
    breaker.answered()
    assert [gave_up(unconnected=True), gave_up(unconnected=True)] == [False, False]
    assert not gave_up(unconnected=False)
    assert [gave_up(unconnected=True) for _ in range(4)] == [False, False, True, True]
