"""The pure parts of `nox -s live`, which itself needs real servers: what it counts as wrong has to be seen."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from live import check
from live.checks import ALL, fixtures, full_disk, on_disk, recorder_killed, storm
from live.checks.running import Servers
from live.checks.stage import MARK, NO_NETWORK, CheckFailed, Done, Skipped, Stage
from reactrepro.cassettes.model import Interaction
from reactrepro.cassettes.text import body_json
from reactrepro.cassettes.write import cassette_bytes, seal
from reactrepro.tasks.pelm import Pelm

from . import conftest
from .lab import Lab, environment, lab
from .world import World, world

__all__ = ["lab", "world"]

ASKED = {"model": "m", "prompt": "Thought 1:", "max_tokens": 30}
MADE = Interaction(
    "POST", "http://127.0.0.1:8092/v1/completions", body_json(ASKED), 200, '{"choices": [1], "model": 1}'
)


class NoServers(Servers):
    """Servers that nobody starts."""

    def __init__(self) -> None:
        super().__init__((), Path("warm.txt"))

    def start(self) -> None:
        """Do nothing."""


def lines(capsys: pytest.CaptureFixture[str]) -> list[list[str]]:
    """What was printed, in words, without the times."""
    return [row.split() for row in capsys.readouterr().out.splitlines()]


# --- the run of checks ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "result", "code"),
    [
        (None, "ok", 0),
        (Skipped("no root"), "skipped", 0),
        (CheckFailed("lost"), "FAILED", 1),
        (KeyError(1), "FAILED", 1),
    ],
)
def test_each_check_is_a_line_and_only_a_failure_fails(
    error: Exception | None,
    result: str,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A check that breaks by itself has failed, too, and the next one runs all the same."""

    def one(_: Stage) -> str:
        if error is not None:
            raise error
        return "measured"

    checks: dict[str, Callable[[Stage], str]] = {"one": one, "two": lambda _: "fine"}
    monkeypatch.setattr(check, "ALL", checks)
    assert check.run(Stage(tmp_path, NoServers()), ["one", "two"]) == code
    first, second, *_ = lines(capsys)
    assert first[:2] == ["one", result]
    assert second[:2] == ["two", "ok"]


def test_options_name_checks_and_are_passed_on_to_the_servers() -> None:
    """An unknown check is a usage error; ports and state folder are those of `live.servers`."""
    given = check.parser().parse_args(["--only", "slow", "--only", "apis", "--state", "s", "--llm-port", "1"])
    assert given.only == ["slow", "apis"]
    assert check.server_options(given) == ["--state", "s", "--llm-port", "1", "--wiki-port", "8081"]
    with pytest.raises(SystemExit, match="2"):
        check.parser().parse_args(["--only", "nothing"])


def test_the_page_on_the_session_tells_of_every_check() -> None:
    """docs/recording-live.md has one row per check, in their order."""
    page = Path(__file__).parents[1] / "docs" / "recording-live.md"
    rows = [row.split("`")[1] for row in page.read_text(encoding="utf-8").splitlines() if row.startswith("| `")]
    assert rows == list(ALL)


def test_the_guard_against_the_network_is_that_of_the_tests() -> None:
    """What blocks the replays of the session is what blocks the replays of this test suite."""
    assert NO_NETWORK == conftest.NO_NETWORK


def test_commands_get_no_settings_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recording gets canaries for keys; a replay gets none, and no network."""
    for name in ("MY_API_KEY", "LOCAL_BASE_URL", "REACTREPRO_CASSETTES", "https_proxy", "OPENAI_LOG"):
        monkeypatch.setenv(name, "of the user")
    stage = Stage(tmp_path, NoServers())
    for offline in (False, True):
        found = stage.environment(offline=offline)
        assert "of the user" not in found.values()
        assert any(MARK in value for value in found.values()) is not offline
    assert Path(found["PYTHONPATH"].split(":")[0], "sitecustomize.py").read_text(encoding="utf-8") == NO_NETWORK


# --- what lies on the disk ------------------------------------------------------------------------------------------


def test_what_does_not_belong_to_a_finished_run_is_named(world: World) -> None:
    """Unfinished, temporary and lock files, failures, and episodes that are missing."""
    assert on_disk.strays(world.run.folder, ["0", "1"]) == []
    for name in (".0.lock", "2.yaml.part", ".2.yaml.part.abc.tmp", "3.error.json"):
        world.run.folder.joinpath(name).touch()
    found = on_disk.strays(world.run.folder, ["0", "1", "4"])
    assert found == [".0.lock", ".2.yaml.part.abc.tmp", "2.yaml.part", "3.error.json", "4.yaml"]


@pytest.mark.parametrize("name", ["1.yaml", "2.yaml.part", "run.json"])
def test_a_half_written_file_is_seen(world: World, name: str) -> None:
    """Cut off at its end, under a name that promises something whole."""
    folder = world.run.folder
    assert on_disk.half_written(folder) == []
    source = folder / ("0.yaml" if name.endswith(".part") else name)
    folder.joinpath(name).write_bytes(source.read_bytes()[:-20])
    (found,) = on_disk.half_written(folder)
    assert found.startswith(f"{name}: ")


def test_replies_are_counted_in_unfinished_episodes_too(world: World) -> None:
    """Three of the one, one of the other, and three more that are not finished."""
    assert on_disk.replies(world.run.folder) == 4
    world.run.folder.joinpath("2.yaml.part").write_bytes(world.run.path("0").read_bytes())
    assert on_disk.replies(world.run.folder) == 7


@pytest.mark.parametrize(
    "wrong", [{"status": 500}, {"response": '{"error": {"code": 503}}'}, {"response": '{"choi'}, {"response": "[]"}]
)
def test_a_recorded_error_is_seen(world: World, wrong: dict[str, object]) -> None:
    """Whatever stands in a recording and is no reply of an API."""
    assert on_disk.no_replies(world.run.folder) == []
    cassette = world.run.read("1")
    changed = tuple(replace(one, **wrong) for one in cassette.interactions)  # type: ignore[arg-type]
    world.run.path("1").write_bytes(cassette_bytes(seal(cassette.meta, changed)))
    (found,) = on_disk.no_replies(world.run.folder)
    assert found.startswith("1.yaml, number 1")


def test_a_secret_is_found_in_packed_files_too(tmp_path: Path) -> None:
    """In text, in hidden files, and in the HTML of a page."""
    tmp_path.joinpath("sub").mkdir()
    for name, data in (("a.txt", f"x{MARK}-1"), ("sub/.b", MARK), ("c.txt", "nothing")):
        tmp_path.joinpath(name).write_text(data, encoding="utf-8")
    tmp_path.joinpath("d.html.gz").write_bytes(gzip.compress(MARK.encode()))
    assert on_disk.holding(tmp_path, MARK) == ["a.txt", "d.html.gz", "sub/.b"]
    assert on_disk.size(tmp_path)[0] == 4


# --- single checks --------------------------------------------------------------------------------------------------


def test_kills_are_the_same_for_one_seed() -> None:
    """Ten of them, at moments of each kind, other ones for another seed."""
    made = recorder_killed.kills(1)
    assert made == recorder_killed.kills(1) != recorder_killed.kills(2)
    assert len(made) == recorder_killed.KILLS == 10
    assert {kill.answers for kill in made} == {0, 1}
    assert all(0 <= kill.seconds <= 4 for kill in made)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"uri": "http://127.0.0.1:9/v1/chat/completions"}, "POST completions for POST chat/completions"),
        ({"body": body_json({**ASKED, "max_tokens": 31})}, "the request at $.max_tokens"),
        ({"body": body_json({**ASKED, "stop": ["x"]})}, "the request at $.stop"),
        ({"status": 201}, "the status: 200 for 201"),
        ({"response": '{"choices": [1]}'}, "the fields of the response: ['choices', 'model'] for ['choices']"),
    ],
)
def test_a_fixture_that_was_made_by_hand_differs(change: dict[str, object], said: str) -> None:
    """By its request, or by fields of the response that no such server gives; never by what the model said."""
    other = replace(MADE, response='{"choices": [2], "model": 3}', uri="http://localhost:1/v1/completions")
    assert list(fixtures.unlike(MADE, other)) == []
    assert list(fixtures.unlike(MADE, replace(MADE, **change))) == [said]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (0, "1 recorded"),
        (130, "error: no space left"),
        (1, "Traceback (most recent call last):\nOSError: No space left on device"),
        (1, "error: it cannot be written"),
    ],
)
def test_a_full_disk_has_to_be_a_clear_error(code: int, said: str) -> None:
    """Neither a success, nor an interrupt, nor a traceback, nor silence about the reason."""
    full_disk.require_clear(Done(1, "", "error: 0.yaml cannot be saved: no space left on device."))
    with pytest.raises(CheckFailed):
        full_disk.require_clear(Done(code, "", said))


def test_a_command_without_a_report_has_failed() -> None:
    """What it said instead stands in the message."""
    with pytest.raises(CheckFailed, match="exit code 2 and no report; it said: usage / error"):
        Done(2, "", "usage\nerror").states()


# --- the storm ------------------------------------------------------------------------------------------------------


class LabServers(NoServers):
    """The lab's servers in the place of the real ones."""

    def __init__(self, made: Lab) -> None:
        super().__init__()
        self._urls = {"wiki": made.wiki.base_url}
        self._llm = made.llm.base_url

    def url(self, name: str) -> str:
        """The address of the wiki, or of the one model."""
        return self._urls.get(name, self._llm)


@pytest.mark.slow
def test_the_storm_is_weathered_on_loopback_servers(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check itself, with a model of two steps: 36 episodes, 32 connections, 20 refusals, one kill."""
    monkeypatch.setenv("PYTHONPATH", environment()["PYTHONPATH"])
    folder = tmp_path / "stage"
    folder.mkdir()
    lab.llm.delay = 0.05
    said = (" I look.\nAction 1: Search[Vorland]", " Done.\nAction 2: Finish[x]")
    for question in Pelm().questions():
        lab.llm.minds |= {question.text: said, f"{question.text} (Again.)": said}
    found = storm.check(Stage(folder, LabServers(lab)))
    assert found.startswith("72 replies in 36 episodes, 20 refused, ")
