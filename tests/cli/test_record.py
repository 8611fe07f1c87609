"""`reactrepro record`: run as a user runs it, in a process of its own, killed, interrupted, twice at once."""

from __future__ import annotations

import json
import os
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reactrepro import cli
from reactrepro.cassettes.read import read_cassette, read_run
from reactrepro.errors import InfraError

from ..lab import CALLS, QUESTIONS, Lab, environment, lab
from ..llm_server import Say, error
from ..zygote import Started, Zygote

__all__ = ["lab"]

forking = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    """A process that has everything imported."""
    made = Zygote(environment())
    yield made
    made.close()


@pytest.fixture
def start(lab: Lab, zygote: Zygote) -> Callable[..., Started]:
    """Start the command that records from the lab; questions and options are to be added."""

    def started(*words: str, name: str = "command", folder: Path | None = None, terminal: str | None = None) -> Started:
        command = lab.words(*words)
        return zygote.start(command[command.index("record") :], folder or lab.root, name, terminal)

    return started


@pytest.fixture
def command(lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Run the command in this process; return (exit code, output, errors)."""
    monkeypatch.chdir(lab.root)

    def run(*words: str) -> tuple[int, str, str]:
        given = lab.words(*words)
        code = cli.run(given[given.index("record") :])
        out, err = capsys.readouterr()
        return code, out, err

    return run


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until *condition* holds."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


# --- what it prints -------------------------------------------------------------------------------------------------


def test_the_installed_command_records_and_its_last_line_replays(lab: Lab) -> None:
    """In an empty folder, in a process of its own; what it says to run next works, offline."""
    done = lab.command("0-3", "--max-connections", "2")
    assert (done.returncode, done.stderr) == (0, "")
    first, spent, last = done.stdout.splitlines()
    assert first == f"hotpotqa/react/a-model: 4 recorded; {sum(CALLS)} calls made."
    assert spent == "tokens: 99 prompt, 73 completion; cost: unknown (no price of this model is known)."
    assert last == "Replay it with: reactrepro replay hotpotqa 0-3 --run a-model"
    words = last.partition("reactrepro ")[2].split()
    replayed = subprocess.run(
        [sys.executable, "-m", "reactrepro", *words, "--quiet"],
        cwd=lab.root, env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (replayed.returncode, replayed.stderr) == (0, "")
    assert replayed.stdout.startswith("4 episodes replayed, 4 as recorded; EM 1.00")


def test_folders_are_named_where_they_are_not_the_usual_ones(command: Callable[..., Any], lab: Lab) -> None:
    """The command that replays finds what was recorded."""
    code, out, _ = command("1", "--cassettes", "my runs", "--wiki-snapshot", "pages", "--run", "mine", "--note", "why")
    assert code == 0
    assert "reactrepro replay hotpotqa 1 --run mine --cassettes 'my runs' --wiki-snapshot pages" in out
    config = read_run(lab.root / "my runs" / "hotpotqa" / "react" / "mine" / "run.json")
    assert (config.selection, config.note) == ("1", "why")


def test_an_unfinished_recording_beside_a_finished_one_is_pointed_out(command: Callable[..., Any], lab: Lab) -> None:
    """What an interrupted `--mode all` leaves is not forgotten, and can be carried on."""
    assert command("1")[0] == 0
    run = lab.run
    shutil.copy(run.path("1"), run.part_path("1"))
    out = command("1")[1]
    assert "1 kept; 0 calls made." in out
    assert "cassettes/hotpotqa/react/a-model/1.yaml.part is an unfinished recording beside the finished one" in out
    assert "1 recorded; 0 calls made." in command("1", "--mode", "new_episodes")[1]
    assert litter(lab) == []


def test_all_questions_are_written_out(command: Callable[..., Any], lab: Lab) -> None:
    """So that `check` finds what of them is missing."""
    lab.llm.minds[QUESTIONS[3].text] = [error(400)]
    code, out, err = command("all", "--quiet")
    assert (code, lab.run.config.selection) == (4, "0-3")
    assert out == "hotpotqa/react/a-model: 3 recorded, 1 failed; 8 calls made.\n"
    assert err == "failed: episode 3: the provider refuses the request (status 400, some_error: no).\n"
    assert cli.run(["check", "cassettes"]) == 4
    lab.run.error_path("3").unlink()
    assert cli.run(["check", "cassettes"]) == 3


def test_data_for_programs(command: Callable[..., Any], lab: Lab) -> None:
    """JSON on standard output and nothing else there."""
    lab.llm.minds[QUESTIONS[1].text] = [error(400, "no good")]
    code, out, err = command("0", "1", "--json")
    assert (code, err) == (4, "")
    data = json.loads(out)
    assert data == {
        "run": "hotpotqa/react/a-model",
        "folder": str(lab.run.folder),
        "calls": 3,
        "spent": {
            "calls_sent": 4,
            "replies": 3,
            "unknown": 0,
            "tokens": {"prompt": 27, "completion": 24},
            "currency": None,
            "cost": None,
            "uncertain": None,
            "prices_of": None,
        },
        "episodes": [
            {
                "key": "0",
                "state": "recorded",
                "calls": 3,
                "tokens": {"prompt": 27, "completion": 24},
                "cost": None,
                "ended": "finish",
                "problem": None,
            },
            {
                "key": "1",
                "state": "failed",
                "ended": None,
                "calls": 0,
                "tokens": {"prompt": None, "completion": None},
                "cost": None,
                "problem": "the provider refuses the request (status 400, some_error: no good).",
            },
        ],
        "remaining": [],
        "stopped": None,
    }


def test_what_stopped_everything_is_said_once(command: Callable[..., Any], lab: Lab) -> None:
    """With what remains, and what carries on."""
    lab.llm.minds = {question.text: [error(401)] for question in QUESTIONS}
    code, out, err = command("0-3", "--max-connections", "4")
    assert code == 4
    assert err.count("\n") == 1
    assert err.startswith(
        "stopped: the provider refuses the key, or what is asked of it (status 401, some_error). No key"
    )
    assert "REACTREPRO_LOCAL_API_KEY (for recording only, it comes first) or LOCAL_API_KEY" in err
    assert "4 remain (0, 1, 2, 3); 0 calls made." in out
    assert "The same command carries on" in out
    assert "Replay it with" not in out


@pytest.mark.parametrize("wanted", ["--contact", "REACTREPRO_CONTACT"])
def test_a_missing_contact_is_said(wanted: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where the wiki is somebody else's; not where it is this machine's, nor when one is given."""
    from reactrepro.cli.record import _reachable

    assert _reachable(None, "x", "http://127.0.0.1:8081/w/index.php")
    assert _reachable("me@example.org", "enwiki", None)
    assert not _reachable(None, "enwiki", None)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("reactrepro.runs.record.record", lambda *_, **__: pytest.fail("it goes on"))
    words = ["record", "hotpotqa", "0", "--model", "openai-api/x/m", "--base-url", "http://127.0.0.1:9/v1"]
    said: list[str] = []
    monkeypatch.setattr("click.echo", lambda text, **_: said.append(text))
    with pytest.raises(pytest.fail.Exception):
        cli.run(words)
    assert [wanted in text for text in said] == [True]
    said.clear()
    monkeypatch.setenv("REACTREPRO_CONTACT", "me@example.org")
    with pytest.raises(pytest.fail.Exception):
        cli.run(words)
    assert said == []


# --- before anything is asked ---------------------------------------------------------------------------------------


@pytest.mark.case("B47")
def test_without_a_key_it_fails_at_once(lab: Lab, offline: dict[str, str], tmp_path: Path) -> None:
    """Exit code 2, before any request to the provider or the wiki, naming both variables; no file is made."""
    words = ["record", "hotpotqa", "0", "--data", str(lab.data), "--model", "volcengine/m", "--cassettes", "c"]
    done = subprocess.run(
        [sys.executable, "-m", "reactrepro", *words],
        cwd=tmp_path, env=offline, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "needs a key: set REACTREPRO_ARK_API_KEY (for recording only) or ARK_API_KEY" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "c").exists()


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("9",), 2, "no question 9 of hotpotqa is at hand"),
        (("0", "--base-url", "http://user:canary@127.0.0.1:9/v1"), 2, "holds credentials"),
        (("0", "--model", "gpt-x"), 2, "names no provider"),
        (("0", "--method", "nothing"), 2, "nothing"),
        (("0", "--prompt", "nothing"), 2, "nothing"),
        (("0", "--profile", "nothing"), 2, "unknown profile"),
        (("0", "--api", "nothing"), 2, "does not speak"),
        (("0", "--protocol", "nothing"), 2, "unknown protocol"),
        (("0", "--extraction", "nothing"), 2, "unknown extraction"),
        (("0", "--site", "../x"), 2, "x"),
        (("0", "--site", "enwiki"), 2, "enwiki is the wiki at"),
        (("0", "--wiki-base-url", "http://canary:canary@127.0.0.1/w/index.php"), 2, "user name or password"),
        (("0", "--contact", "ü"), 2, "ASCII"),
        (("0", "--mode", "sometimes"), 2, "Invalid value"),
        (("0", "--max-connections", "0"), 2, "Invalid value"),
        (("0", "--mode", "none"), 3, "mode 'none' records nothing"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_asked(
    command: Callable[..., Any], lab: Lab, words: tuple[str, ...], code: int, says: str
) -> None:
    """Exit code 2, or 3 where something is absent; no request, no file."""
    found, out, err = command(*words)
    assert (found, out) == (code, "")
    assert says in err
    assert "canary" not in err
    assert (lab.llm.asked, lab.wiki.asked, lab.files()) == ([], [], {})


def test_a_run_that_is_another_one_is_refused(command: Callable[..., Any], lab: Lab) -> None:
    """An explicit --run with other settings: exit code 2, and not a byte is changed."""
    assert command("1", "--run", "mine")[0] == 0
    before = lab.files()
    code, _, err = command("1", "--run", "mine", "--max-tokens", "7")
    assert code == 2
    assert "has another configuration" in err
    assert lab.files() == before


def test_a_self_check_that_fails_is_said(
    command: Callable[..., Any], lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 4, and no request."""

    def failed(*_: object) -> None:
        raise InfraError("the self-check failed: x")

    monkeypatch.setattr("reactrepro.runs.studio.self_check", failed)
    assert command("0")[0] == 4
    assert (lab.llm.asked, lab.wiki.asked, lab.files()) == ([], [], {})


@pytest.mark.case("B25")
def test_no_key_is_printed_however_it_was_given(command: Callable[..., Any], lab: Lab, monkeypatch: Any) -> None:
    """Each variable's key is used, the recording-only one first; a server that echoes it changes nothing."""
    for name, key in (
        ("LOCAL_API_KEY", "sk-canary-plain-01"),
        ("REACTREPRO_LOCAL_API_KEY", "sk-canary-recording-02"),
    ):
        monkeypatch.setenv(name, key)
        lab.llm.minds[QUESTIONS[0].text] = [error(401, f"Incorrect API key: {key}")]
        lab.llm.minds[QUESTIONS[1].text] = [error(400, f"What is {key}?", code=key)]
        lab.llm.minds[QUESTIONS[3].text] = [f" {key}\nAction 1: Finish[{key}]"]
        for words in (("0",), ("1",), ("3", "--json"), ("3",)):
            _, out, err = command(*words)
            assert "canary" not in out + err
            assert lab.llm.asked[-1].headers["authorization"] == f"Bearer {key}"
        assert not any(b"canary" in data for data in lab.files().values())
        shutil.rmtree(lab.cassettes)


# --- killed ---------------------------------------------------------------------------------------------------------


def read_all(lab: Lab) -> None:
    """Read every file that a reader would, as it stands after a kill."""
    for path in lab.cassettes.rglob("*.yaml*"):
        if path.suffix in {".yaml", ".part"}:
            assert read_cassette(path).interactions
    for path in lab.cassettes.rglob("run.json"):
        read_run(path)


def litter(lab: Lab) -> list[str]:
    """Lock files, temporary files and unfinished recordings."""
    return [name for name in lab.files() if "/." in name or name.endswith((".part", ".tmp", ".lock"))]


@forking
def test_killed_at_ten_random_moments_it_loses_nothing(
    lab: Lab, start: Callable[..., Started], record_property: Callable[[str, object], None]
) -> None:
    """SIGKILL, ten times and more: the same command carries on to the same files, and pays for one call per kill."""
    whole = lab.root / "whole"
    whole.mkdir()
    assert start("0-3", folder=whole).wait() == 0
    unbroken = Lab(whole, lab.llm, lab.wiki)
    expected = unbroken.content()
    asked = [one.prompt for one in lab.llm.asked]
    chance, kills, rounds = random.Random(), 0, 0  # noqa: S311
    lab.llm.delay = 0.03
    while kills < 10:
        rounds += 1
        shutil.rmtree(lab.cassettes, ignore_errors=True)
        shutil.rmtree(lab.snapshot, ignore_errors=True)
        lab.llm.asked.clear()
        killed_here = 0
        while True:
            began = start("0-3")
            time.sleep(chance.uniform(0.05, 0.35))
            began.kill()
            if began.wait() != -signal.SIGKILL:
                break
            kills, killed_here = kills + 1, killed_here + 1
            read_all(lab)
            if kills >= 10:
                break
        for path in lab.snapshot.rglob("*.tmp"):
            os.utime(path, (1, 1))
        assert start("0-3").wait() == 0
        assert lab.content() == expected
        assert lab.run.config == unbroken.run.config
        assert litter(lab) == []
        paid = [one.prompt for one in lab.llm.asked]
        assert set(paid) == set(asked)
        assert len(paid) - len(asked) <= killed_here
    record_property("rounds", rounds)


@forking
def test_killed_in_the_middle_of_a_call_it_loses_that_call(lab: Lab, start: Callable[..., Started]) -> None:
    """What was answered before is there; the one call is made once more."""
    first, second, third = lab.llm.minds[QUESTIONS[0].text]
    lab.llm.minds[QUESTIONS[0].text] = [first, second, Say(" x", pause=30)]
    began = start("0")
    wait_for(lambda: len(lab.llm.asked) == 3)
    began.kill()
    assert began.wait() == -signal.SIGKILL
    assert len(read_cassette(lab.run.part_path("0")).interactions) == 2
    assert any(name.endswith("/.0.lock") for name in lab.files())
    lab.llm.minds[QUESTIONS[0].text] = [first, second, third]
    assert start("0").wait() == 0
    assert len(lab.llm.asked) == 4
    assert litter(lab) == []


# --- interrupted ----------------------------------------------------------------------------------------------------


@forking
def test_an_interrupt_waits_for_the_calls_under_way(lab: Lab, start: Callable[..., Started]) -> None:
    """Exit code 130; the reply that was being paid for is kept; it says what is done and what remains."""
    lab.llm.delay = 0.2
    began = start("0-3")
    wait_for(lambda: len(lab.llm.asked) == 2)
    began.kill(signal.SIGINT)
    assert began.wait() == 130
    assert "stopping after the calls under way; once more stops at once." in began.err
    assert "stopped: stopped on request." in began.err
    assert "4 remain (0, 1, 2, 3); 2 calls made." in began.out
    assert "The same command carries on" in began.out
    assert len(read_cassette(lab.run.part_path("0")).interactions) == 2
    lab.llm.delay = 0
    assert start("0-3").wait() == 0
    assert len(lab.llm.asked) == sum(CALLS)
    assert litter(lab) == []


@forking
@pytest.mark.parametrize("where", ["retry", "wiki"])
def test_an_interrupt_waits_for_no_wait(lab: Lab, start: Callable[..., Started], where: str) -> None:
    """Neither for the time that a provider wants to be left alone, nor for a wiki's."""
    from ..wiki.fake_wiki import Reply

    if where == "retry":
        lab.llm.script = [error(503, headers={"Retry-After": "60"})]
    else:
        lab.wiki.says("Vorland", Reply("x", 503, {"Content-Type": "text/html", "Retry-After": "60"}))
    began = start("0")
    wait_for(lambda: lab.wiki.asked if where == "wiki" else lab.llm.asked)
    time.sleep(0.1)
    began.kill(signal.SIGINT)
    at = time.monotonic()
    assert began.wait() == 130
    assert time.monotonic() - at < 5
    lab.wiki.replies.clear()
    assert not [name for name in lab.files() if name.endswith(".error.json")]


@forking
def test_a_second_interrupt_waits_for_nothing(lab: Lab, start: Callable[..., Started]) -> None:
    """Exit code 130 at once, with the same words; what was recorded is carried on with."""
    lab.llm.minds[QUESTIONS[0].text] = [" Go.\nAction 1: Search[Vorland]", Say(" x", pause=30)]
    began = start("0-3", "--max-connections", "2")
    wait_for(lambda: sum("founded the town" in one.prompt for one in lab.llm.asked) == 2)
    began.kill(signal.SIGINT)
    wait_for(lambda: "once more" in began.err)
    at = time.monotonic()
    began.kill(signal.SIGINT)
    assert began.wait() == 130
    assert time.monotonic() - at < 5
    assert "stopped at once; the calls under way were abandoned." in began.err
    assert re.search(r"remain \(0, ", began.out)
    lab.llm.minds[QUESTIONS[0].text] = [" Go.\nAction 1: Search[Vorland]", " So.\nAction 2: Finish[Ada Marlow]"]
    lab.llm.asked.clear()
    assert start("0").wait() == 0
    assert len(lab.llm.asked) == 1
    left = [name for name in litter(lab) if name.startswith("cassettes")]
    other = [f"cassettes/hotpotqa/react/a-model/{key}.yaml.part" for key in "12"]  # whatever the other thread was at
    assert left in ([], other[:1], other[1:])


# --- two at once ----------------------------------------------------------------------------------------------------


@forking
def test_two_recorders_on_one_run_do_no_harm(lab: Lab, start: Callable[..., Started]) -> None:
    """Each episode is recorded once and no call made twice; who finds one busy says so, and that is no failure."""
    lab.llm.delay = 0.05
    both = [start("0-3", "--json", name=name) for name in ("first", "second")]
    assert [one.wait() for one in both] == [0, 0]
    found = [{row["key"]: row["state"] for row in json.loads(one.out)["episodes"]} for one in both]
    for key in "0123":
        assert sorted([found[0][key], found[1][key]]) in (["kept", "recorded"], ["busy", "recorded"])
    prompts = [one.prompt for one in lab.llm.asked]
    assert len(prompts) == len(set(prompts)) == sum(CALLS)
    assert len(lab.wiki.asked) == len(set(lab.wiki.asked)) or len(lab.wiki.asked) <= 2 * 5
    assert litter(lab) == []
    assert lab.names() == {"run.json", "0.yaml", "1.yaml", "2.yaml", "3.yaml"}


@forking
def test_two_recorders_of_two_configurations_get_two_runs(lab: Lab, start: Callable[..., Started]) -> None:
    """Started at the same moment, they do not take one name."""
    both = [start("1", "--max-tokens", str(n), name=f"n{n}") for n in (10, 20)]
    assert [one.wait() for one in both] == [0, 0]
    folders = sorted((lab.cassettes / "hotpotqa" / "react").iterdir())
    assert {read_run(folder / "run.json").settings.max_tokens for folder in folders} == {10, 20}
    assert [sorted(path.name for path in folder.iterdir()) for folder in folders] == [["1.yaml", "run.json"]] * 2


# --- a full disk ----------------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 300 KB."""
    where = tmp_path / "disk"
    where.mkdir()
    mount = shutil.which("mount")
    if sys.platform != "linux" or mount is None or os.geteuid() != 0:
        pytest.skip("no file system can be mounted here")
    if subprocess.run([mount, "-t", "tmpfs", "-o", "size=300k", "tmpfs", where], check=False).returncode:
        pytest.skip("no file system can be mounted here")
    yield where
    subprocess.run(["umount", where], check=True)


@forking
def test_a_disk_that_is_full_is_an_error_that_loses_nothing(
    lab: Lab, start: Callable[..., Started], small_disk: Path
) -> None:
    """Exit code 4, what to do, no call that could not be saved, everything before intact; then it is carried on."""
    places = ("--cassettes", str(small_disk / "cassettes"))
    lab.cassettes = small_disk / "cassettes"
    ballast = small_disk / "ballast"
    assert start("1", *places).wait() == 0
    ballast.write_bytes(b"x" * 90_000)
    began = start("0-3", *places)
    assert began.wait() == 4
    assert "stopped: " in began.err
    assert "cannot be written: No space left on device. What was recorded is intact. Make room" in began.err
    read_all(lab)
    names = {path.name for path in lab.run.folder.iterdir()}
    assert {"run.json", "1.yaml"} <= names
    assert not [name for name in names if name.startswith(".")]
    kept = sum(len(read_cassette(path).interactions) for path in lab.run.folder.glob("*.yaml*"))
    assert len(lab.llm.asked) == kept
    ballast.unlink()
    assert start("0-3", *places).wait() == 0
    assert len(lab.llm.asked) == sum(CALLS)


def test_files_that_cannot_be_written_are_no_traceback(command: Callable[..., Any], lab: Lab) -> None:
    """A file where a folder is wanted."""
    (lab.root / "cassettes").write_text("x", encoding="utf-8")
    code, _, err = command("0")
    assert code in (2, 4)
    assert "cassettes" in err
    (lab.root / "cassettes").unlink()
    (lab.root / "wiki_snapshot").mkdir()
    (lab.root / "wiki_snapshot" / "testwiki").write_text("x", encoding="utf-8")
    code, _, err = command("0")
    assert code == 4
    assert "cannot be written" in err


# --- on a terminal --------------------------------------------------------------------------------------------------


@forking
def test_a_terminal_shows_how_far_it_is(lab: Lab, start: Callable[..., Started]) -> None:
    """A bar with done, failed, tokens and the time left, on standard error; the summary on standard output."""
    import pty

    lab.llm.delay = 0.2
    lab.llm.minds[QUESTIONS[1].text] = [error(400)]
    ours, theirs = pty.openpty()
    began = start("0-3", terminal=os.ttyname(theirs))
    wait_for(lambda: lab.llm.asked)
    os.close(theirs)
    shown = b""
    while select.select([ours], [], [], 30)[0]:
        try:
            piece = os.read(ours, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    assert began.wait() == 4
    text, out = shown.decode(), began.out
    assert "recording  [" in text
    assert "1/4" in text
    assert re.search(r"recording \(1 failed, \d+ tokens\)  \[#+-+\]  3/4  00:00:0\d", text)
    assert "4/4" in text
    assert "3 recorded, 1 failed" in out
    assert "[" not in out


def test_help_says_what_a_person_with_a_bill_wants_to_know() -> None:
    """Keys, modes, examples."""
    from click.testing import CliRunner

    shown = CliRunner().invoke(cli.cli, ["record", "--help"]).output
    for word in ("REACTREPRO_OPENAI_API_KEY", "once", "new_episodes", "full", "costs", "Examples", "docs/recording.md"):
        assert word in shown
