"""The commands, from their words to their exit codes: run as a user runs them, in a process of their own."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from reactrepro import cli
from reactrepro.errors import ReactReproError

from ..world import FOUNDER, FOUNDER_REPLIES, World, published, world

__all__ = ["published", "world"]

Run = Callable[..., subprocess.CompletedProcess[bytes]]
ROUND_1 = "6b37f42c0161f39777fef0900bfab1bc825c88a248288259c69661cca540e0c8"


@pytest.fixture
def run(offline: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run `reactrepro` offline in an empty folder; output as bytes."""
    empty = tmp_path_factory.mktemp("empty")

    def run(*words: str, cwd: Path | None = None, **variables: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "reactrepro", *words]
        return subprocess.run(
            command,
            cwd=cwd or empty,
            env=offline | {"PYTHONUTF8": "1"} | variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )

    return run


def text(done: subprocess.CompletedProcess[bytes]) -> str:
    """Standard output, with the platform's line ends undone."""
    return done.stdout.decode("utf-8").replace("\r\n", "\n")


# --- replay ---------------------------------------------------------------------------------------------------------


@pytest.mark.case("B47")
def test_replay_needs_no_key_and_no_network(run: Run, exact: object) -> None:
    """From an empty folder, without keys and with every socket an error, the published run is shown."""
    done = run("replay", "hotpotqa", "0")
    assert (done.returncode, done.stderr) == (0, b"")
    shown = text(done)
    recording = next(line for line in shown.split("\n") if line.startswith("recording"))
    assert shown.replace(recording, "recording           (the packaged file)") == exact


def test_the_wire_road_shows_the_same(run: Run) -> None:
    """`--wire` sends the requests through the real SDK, offline and without a key, and prints the same, to the byte."""
    direct, wire = run("replay", "hotpotqa", "0"), run("replay", "hotpotqa", "0", "--wire", PYTHONWARNINGS="ignore")
    assert (wire.returncode, wire.stderr) == (0, b"")
    assert wire.stdout == direct.stdout


def test_replay_without_words_shows_the_preferred_run(run: Run) -> None:
    """A bare `reactrepro replay` replays one episode."""
    done = run("replay")
    assert done.returncode == 0
    assert "1 episode replayed, 1 as recorded." in text(done)


def test_replay_as_json_holds_every_field(run: Run) -> None:
    """Data for programs: settings, overrides, trajectory, score, provenance; ASCII."""
    done = run("replay", "hotpotqa", "0", "--json")
    assert done.stdout.isascii()
    data = json.loads(done.stdout)
    (episode,) = data["episodes"]
    assert (data["exit_code"], data["others"], episode["result"]) == (0, 0, "ok")
    assert (episode["answer"], episode["em"], episode["f1"], episode["llm_calls"]) == ("yes", True, 1.0, 3)
    assert episode["overrides"] == {"protocol": "strict", "extraction": "original"}
    assert episode["tokens"] == {"prompt": None, "completion": None}
    assert episode["provenance"] == "transcribed"
    assert [step["action"] for step in episode["steps"]] == [
        "Search[Scott Derrickson]",
        "Search[Ed Wood]",
        "Finish[yes]",
    ]


def test_many_episodes_make_a_table_and_one_summary_line(run: Run, world: World) -> None:
    """One row per episode, profile and overrides per run, one line that sums up."""
    places = ("--cassettes", str(world.cassettes), "--wiki-snapshot", str(world.snapshot))
    done = run("replay", "hotpotqa", "0-1", "--run", "scripted", *places)
    assert done.returncode == 0, done.stderr
    assert "Thought" not in text(done)
    assert "hotpotqa/react/scripted: profile chat; overridden: protocol strict; id " in text(done)
    assert text(done).split("\n")[-2] == (
        "2 episodes replayed, 2 as recorded; EM 1.00, F1 1.00 over the 2 that were judged."
    )
    quiet = run("replay", "hotpotqa", "0-1", "--run", "scripted", "--quiet", *places)
    assert text(quiet).count("\n") == 1


def test_other_recordings_are_counted_and_all_replays_them(run: Run, world: World) -> None:
    """One trajectory, and how many others fit; --all takes them."""
    world.record(FOUNDER, FOUNDER_REPLIES, world.new_run("twin"))
    done = run("replay", "hotpotqa", "0", cwd=world.root)
    assert "2 other recordings fit; --all replays them." in text(done)
    done = run("replay", "hotpotqa", "0", "--all", cwd=world.root)
    assert "3 episodes replayed, 3 as recorded" in text(done)


def test_local_recordings_are_laid_over_the_packaged_ones(run: Run, world: World) -> None:
    """./cassettes first, the packaged still visible; variable and option over both."""
    listed = [row["run"] for row in json.loads(run("list", "--json", cwd=world.root).stdout)]
    assert {"scripted", "deepseek-v3-250324"} <= set(listed)
    listed = json.loads(run("list", "--json", REACTREPRO_CASSETTES=str(world.cassettes)).stdout)
    assert "scripted" in [row["run"] for row in listed]
    assert "scripted" not in [row["run"] for row in json.loads(run("list", "--json").stdout)]


# --- exit codes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("replay", "hotpotqa", "7"), 3, "it is not recorded"),
        (("replay", "nothing"), 3, "no recording fits nothing"),
        (("replay", "hotpotqa", "x/y"), 2, "is no index"),
        (("replay", "--nonsense"), 2, "No such option"),
        (("replay", "--cassettes", "/no/such/folder"), 2, "does not exist"),
        (("nonsense",), 2, "No such command"),
        (("check", "/no/such/path"), 2, "does not exist"),
        (("wiki", "show", "Scott Derickson"), 3, "Nearest: enwiki: Scott Derrickson"),
        (("wiki", "show", "Ed Wood", "--extraction", "article"), 2, "has no extraction 'article'"),
        (("prompts", "show", "hotpotqa", "0", "--round", "4"), 2, "there is no round 4"),
        (("prompts", "show", "hotpotqa", "0", "--reprompt"), 2, "needed no reprompt"),
        (("prompts", "show", "hotpotqa", "9"), 3, "is not recorded"),
        (("replay", "--help"), 0, ""),
        (("--version",), 0, ""),
        (("check",), 0, ""),
        (("list",), 0, ""),
    ],
)
def test_exit_codes_are_honest(run: Run, words: tuple[str, ...], code: int, says: str) -> None:
    """2 usage, 3 absent, 0 fine; the message names what was asked for."""
    done = run(*words)
    assert done.returncode == code, done.stderr
    assert says in done.stderr.decode()
    assert b"Traceback" not in done.stderr


@pytest.mark.case("B14")
def test_damage_has_its_exit_code_and_the_highest_counts(run: Run, published: World) -> None:
    """1 differs, 3 absent, 5 corrupt, whatever the command."""
    places = ("--cassettes", str(published.cassettes), "--wiki-snapshot", str(published.snapshot))
    file, run_file = published.run.path("0"), published.run.folder / "run.json"
    page = next(published.snapshot.rglob("*derrickson*/*.txt"))
    whole, configured, read = file.read_bytes(), run_file.read_bytes(), page.read_bytes()

    def code(*words: str) -> int:
        return run(*words, *places).returncode

    def both(expected: int) -> None:
        assert code("check", str(published.cassettes)) == expected
        assert code("replay", "hotpotqa", "0", "--run", published.run.name) == expected

    both(0)
    file.write_bytes(whole[:-1000])
    both(5)
    file.write_bytes(whole.replace(b"I need to search Scott Derrickson", b"I need to find Scott Derrickson"))
    both(5)
    file.write_bytes(whole)
    run_file.write_bytes(configured.replace(b'"temperature": 0', b'"temperature": 1'))
    both(1)
    run_file.write_bytes(configured)
    page.write_bytes(read.replace(b"filmmaker", b"film maker"))
    both(1)
    page.write_bytes(read)
    file.write_bytes(whole.replace(b'"answer": "yes"', b'"answer": "no"'))
    both(1)
    file.write_bytes(whole)
    both(0)
    file.unlink()
    assert code("check", str(published.cassettes)) == 3
    assert code("replay", "hotpotqa", "0", "--run", published.run.name) == 3


def test_a_page_taken_away_from_the_only_snapshot_is_absent(world: World, run: Run) -> None:
    """Exit code 3; the packaged snapshot has no such page either."""
    shutil.rmtree(next(world.snapshot.rglob("vorland-*")))
    done = run("replay", "hotpotqa", "0", "--run", "scripted", cwd=world.root)
    assert done.returncode == 3
    assert "no answer of testwiki to 'Vorland'" in done.stderr.decode()


def test_an_interrupt_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is no traceback."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.cli, "main", interrupted)
    assert cli.run(["replay"]) == 130


def test_a_bug_keeps_its_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only errors raised on purpose become messages."""

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(cli.cli, "main", broken)
    with pytest.raises(ZeroDivisionError):
        cli.run(["replay"])


def test_every_error_class_has_a_documented_exit_code() -> None:
    """1 to 6, 130 for an interrupt, and nothing else."""
    todo, codes = [ReactReproError], set()
    while todo:
        kind = todo.pop()
        codes.add(kind.exit_code)
        todo += kind.__subclasses__()
    assert codes == {1, 2, 3, 4, 5, 6, 130}


def test_a_reader_that_goes_away_is_no_error_message(offline: dict[str, str]) -> None:
    """`reactrepro replay | head -1` prints one line and nothing else."""
    command = f'"{sys.executable}" -m reactrepro check | true; echo "${{PIPESTATUS[0]}}"'
    if shutil.which("bash") is None:
        pytest.skip("no bash here")
    done = subprocess.run(["bash", "-c", command], env=offline, capture_output=True, check=False)
    assert done.stdout in {b"141\n", b"0\n"}  # 0 where everything was written before the reader had gone
    assert done.stderr == b""


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
def test_an_output_that_takes_nothing_is_no_traceback(offline: dict[str, str], redirection: str) -> None:
    """A full disk behind the output, or no output at all."""
    if not Path("/dev/full").exists() or shutil.which("bash") is None:
        pytest.skip("no /dev/full or no bash here")
    command = f'"{sys.executable}" -m reactrepro replay hotpotqa 0 {redirection}'
    done = subprocess.run(["bash", "-c", command], env=offline, capture_output=True, check=False)
    assert b"Traceback" not in done.stderr
    assert done.returncode == (4 if "full" in redirection else 0)


# --- prompts and pages ----------------------------------------------------------------------------------------------


def test_prompts_list_has_characters_bytes_and_sums(run: Run, exact: object) -> None:
    """Every file of the prompts named paper, to the byte."""
    done = run("prompts", "list")
    assert done.returncode == 0
    assert text(done) == exact
    rows = {row["name"]: row for row in json.loads(run("prompts", "list", "--json").stdout)}
    assert rows["hotpotqa/paper/react"]["bytes"] == 5900


@pytest.mark.parametrize(
    ("number", "characters", "sha256"),
    [
        (1, 6493, ROUND_1),
        (2, 7176, "37f3d0720abce674f24a306c000d63e9528b044e22acecb71a99b4795b14d0b1"),
        (3, 8402, "c4a8605e4347f14131637bbb05411c88d020502daa465fc73000bca50339b6d2"),
    ],
)
def test_raw_writes_exactly_the_bytes_of_the_round(run: Run, number: int, characters: int, sha256: str) -> None:
    """--raw writes exactly the bytes that are sent at that round, and nothing else."""
    done = run("prompts", "show", "hotpotqa", "0", "--round", str(number), "--raw")
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(done.stdout.decode("utf-8")) == characters
    assert hashlib.sha256(done.stdout).hexdigest() == sha256


def test_prompts_show_says_what_it_shows(run: Run) -> None:
    """Characters, bytes, sum and stop string stand above the text; control characters are escaped."""
    done = run("prompts", "show", "hotpotqa", "0")
    head, _, body = text(done).partition("\n\n")
    assert "characters  6493" in head
    assert "bytes       6500" in head
    assert ROUND_1 in head
    assert "(1844-\\x80\\x931846)" in body
    data = json.loads(run("prompts", "show", "hotpotqa", "0", "--json", "--round", "2").stdout)
    assert (data["characters"], data["round"]) == (7176, 2)


def test_a_prompt_that_is_no_longer_the_recorded_one_is_shown_with_that_remark(run: Run, published: World) -> None:
    """What would be sent is shown; that it is not what was recorded is said, with exit code 1."""
    run_file = published.run.folder / "run.json"
    run_file.write_bytes(run_file.read_bytes().replace(b'"temperature": 0', b'"temperature": 1'))
    done = run("prompts", "show", "hotpotqa", "0", "--cassettes", str(published.cassettes))
    assert done.returncode == 1
    assert b"not as recorded" in done.stderr
    assert ROUND_1 in text(done)
    done = run("prompts", "show", "hotpotqa", "0", "--round", "2", "--cassettes", str(published.cassettes))
    assert (done.returncode, done.stdout) == (1, b"")


def test_wiki_list_and_show(run: Run) -> None:
    """The two pages of the published run: transcribed, under the original's extraction, text only."""
    done = run("wiki", "list")
    assert done.returncode == 0
    assert ["enwiki", "Scott", "Derrickson", "article", "original", "1", "transcribed", "unknown"] in [
        line.split() for line in text(done).split("\n")
    ]
    shown = text(run("wiki", "show", "Scott Derrickson"))
    assert "transcribed" in shown
    assert "Scott Derrickson (born July 16, 1966) is an American filmmaker." in shown
    assert shown.endswith("a B.A\n")
    data = json.loads(run("wiki", "show", "Ed Wood", "--json").stdout)
    assert data["text"].endswith("The Life and Art of Edward D\n")


# --- consoles -------------------------------------------------------------------------------------------------------


@pytest.mark.case("B44")
@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "utf-8"])
def test_no_console_stops_a_replay(run: Run, world: World, encoding: str) -> None:
    """A console that lacks a character shows another; what is sent stays the same bytes."""
    from dataclasses import replace

    greek = replace(FOUNDER, key="3", index=3, text="Where is Θήρα – the isle?")
    world.record(greek, [" x\nAction 1: Finish[Θήρα]"])
    variables = {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONIOENCODING": encoding, "PYTHONCOERCECLOCALE": "0"}
    done = run("replay", "hotpotqa", "3", "--run", "scripted", cwd=world.root, **variables)
    assert done.returncode == 0, done.stderr
    assert b"1 as recorded" in done.stdout
    raw = run("prompts", "show", "hotpotqa", "3", "--run", "scripted", "--raw", cwd=world.root, **variables)
    assert raw.stdout.decode("utf-8").endswith("Where is Θήρα – the isle?\nThought 1:")
    published_prompt = run("prompts", "show", "hotpotqa", "0", "--raw", **variables)
    assert hashlib.sha256(published_prompt.stdout).hexdigest() == ROUND_1


def test_recorded_control_characters_reach_no_terminal(run: Run, world: World) -> None:
    """A stranger's recording cannot clear the screen."""
    from dataclasses import replace

    evil = replace(FOUNDER, key="4", index=4, text="Clear \x1b[2J the \u202e screen?")
    world.record(evil, [" \x1b]0;title\x07\nAction 1: Finish[\x1b[31mred]"])
    for words in (("replay", "hotpotqa", "4"), ("prompts", "show", "hotpotqa", "4"), ("replay", "--all")):
        done = run(*words, cwd=world.root)
        assert b"\x1b" not in done.stdout + done.stderr
        assert "\u202e" not in text(done)


def test_help_lists_every_command_and_the_exit_codes() -> None:
    """`--help` is the map of the program."""
    shown = CliRunner().invoke(cli.cli, ["--help"]).output
    for word in ("replay", "check", "list", "prompts", "wiki", "Exit codes"):
        assert word in shown
    for name, command in cli.cli.commands.items():
        assert command.help, name
        for subname, sub in getattr(command, "commands", {}).items():
            assert sub.help, (name, subname)


def test_the_environment_of_these_tests_has_no_key() -> None:
    """What is shown here is shown without credentials."""
    assert not [name for name in os.environ if name.endswith("_API_KEY")]


def test_a_closed_error_stream_hides_no_result(offline: dict[str, str], tmp_path: Path) -> None:
    """`2>&-`: the exit code and the output are as they are otherwise."""
    command = f"exec {shlex.quote(sys.executable)} -m reactrepro check 2>&-"
    done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=offline, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert " recordings checked: " in done.stdout


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
def test_what_is_no_number_is_a_usage_error(run: Run, value: str) -> None:
    """For a temperature, a time limit, a threshold."""
    model = ("--model", "openai-api/x/m", "--base-url", "http://127.0.0.1:9/v1", "--dry-run")
    for words in (("record", "pelm", "0", *model, "--temperature", value), ("score", "pelm", "--threshold", value)):
        assert run(*words).returncode == 2


def test_a_recording_of_another_agent_needs_no_run(run: Run, tmp_path: Path) -> None:
    """`check` passes over it where it is sound, and reports it where it is not."""
    from reactrepro.cassettes.write import cassette_bytes, seal_exchanges

    folder = tmp_path / "cassettes" / "agents"
    folder.mkdir(parents=True)
    data = cassette_bytes(seal_exchanges((), time=None, versions={}, provenance="recorded"))
    (folder / "weather.yaml").write_bytes(data)
    assert run("check", "-q", cwd=tmp_path).returncode == 0
    (folder / "weather.yaml").write_bytes(data.replace(b'"count": 0', b'"count": 1'))
    assert run("check", "-q", cwd=tmp_path).returncode == 5


def test_recordings_and_what_is_computed_from_them_add_up(run: Run) -> None:
    """Each recording has a provenance of its own or is composed of others."""
    said = text(run("check")).splitlines()
    declared, composed = re.fullmatch(
        r"provenance: (.*) \(.*\); (\d+) more are computed from these\.", said[-2]
    ).groups()
    numbers = [int(part.split()[0]) for part in declared.split(", ")]
    assert said[-1] == f"{sum(numbers) + int(composed)} recordings checked: {sum(numbers) + int(composed)} ok."


def test_a_pipe_is_no_file_of_questions(run: Run) -> None:
    """Nothing waits for its end."""
    done = run("record", "qa", "all", "--data", "/dev/zero", "--model", "openai/m", "--dry-run")
    assert (done.returncode, b"no ordinary file" in done.stderr) == (5, True)
