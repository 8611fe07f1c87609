"""`reactrepro fetch`, and `record` with what it brought: run as a user runs them, in processes of their own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reactrepro.cli import record
from reactrepro.data.subsets import paper500
from reactrepro.domain import sha256_text
from reactrepro.runs.record import RecordReport
from reactrepro.runs.roots import sources

from ..data.mirror import Answer, Mirror, serving
from ..lab import MINDS, Lab, environment, lab

__all__ = ["lab"]

SIMPLIFIED = "hotpot_dev_v1_simplified.json"
SUM = "05001dcdeb2b2b2243a88f23daaf8de9237494cd387e13bc25854d3e031101d3"
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def mirror(loopback: str) -> Iterator[Mirror]:
    """A server that runs."""
    with serving() as made:
        yield made


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run `reactrepro` with a data folder of its own, `data`; the network is there unless *offline* is given."""

    def run(*words: str, offline: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        env = (offline or environment()) | {"REACTREPRO_DATA": str(tmp_path / "data"), "PYTHONUTF8": "1"}
        command = [sys.executable, "-W", "error", "-m", "reactrepro", *words]
        return subprocess.run(
            command, cwd=tmp_path, env=env, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False
        )

    return run


def files(folder: Path) -> list[str]:
    """Every file in *folder*."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


@pytest.mark.case("B52")
def test_a_data_set_is_fetched_once(
    run: Run, mirror: Mirror, reactrepro_test_data: Path, tmp_path: Path, offline: dict[str, str]
) -> None:
    """From the second of two mirrors; from then on no network is used, and that is said."""
    good = (reactrepro_test_data / SIMPLIFIED).read_bytes()
    words = ("--mirror", mirror.put("/gone", Answer(b"", 404)), "--mirror", mirror.put("/good", good))
    done = run("fetch", "hotpotqa", *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"hotpotqa/{SIMPLIFIED}: installed; 7,405 rows.\n")
    for said in (SUM, "CC BY-SA 4.0", "Shunyu Yao", "EMNLP 2018", f"{mirror.address}/good"):
        assert said in done.stdout
    assert "it answered with status 404" in done.stderr
    assert files(tmp_path / "data") == [f"hotpotqa/{SIMPLIFIED}", f"hotpotqa/{SIMPLIFIED}.notice.txt"]
    again = run("fetch", "hotpotqa", offline=offline)
    assert again.returncode == 0, again.stderr
    assert "there already, and right; nothing was fetched" in again.stdout
    assert mirror.paths == ["/gone", "/good"]


@pytest.mark.case("B52")
def test_what_is_no_data_set_leaves_nothing(
    run: Run, mirror: Mirror, reactrepro_test_data: Path, tmp_path: Path
) -> None:
    """0 bytes: exit code 4; a row fewer: 5. File, expected sum and the command for a local copy are named."""
    rows = json.loads((reactrepro_test_data / SIMPLIFIED).read_bytes())
    fewer = json.dumps(rows[:-1]).encode()
    for body, code, said in ((b"", 4, "0 bytes"), (fewer, 5, "7,404 rows")):
        done = run("fetch", "hotpotqa", "--mirror", mirror.put("/a", body), "--quiet")
        assert (done.returncode, done.stdout) == (code, "")
        for words in (said, SIMPLIFIED, SUM, "reactrepro fetch hotpotqa --file simplified --from FILE"):
            assert words in done.stderr
        assert files(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals there")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_fetch_that_is_ended_leaves_nothing(number: int, code: int, mirror: Mirror, tmp_path: Path) -> None:
    """By Ctrl-C or by `kill -9`, in the middle of a transfer."""
    url = mirror.put("/a", Answer(b"[" * 100_000, length=1_000_000, hang=True))
    # A shell's background job ignores Ctrl-C, and so do its children, unless they are told otherwise.
    program = "import signal, reactrepro.__main__ as r; signal.signal(2, signal.default_int_handler); r.main()"
    with subprocess.Popen(
        [sys.executable, "-c", program, "fetch", "hotpotqa", "--mirror", url],
        cwd=tmp_path,
        env=environment() | {"REACTREPRO_DATA": str(tmp_path / "data")},
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        try:
            assert mirror.sent.wait(30)
            process.send_signal(number)
            _, err = process.communicate(timeout=15)
        finally:
            process.kill()
    assert process.returncode == code, err
    assert "Traceback" not in err
    assert files(tmp_path) == []


def test_a_local_copy_needs_no_network(
    run: Run, reactrepro_test_data: Path, offline: dict[str, str], tmp_path: Path
) -> None:
    """Of either data set; the result as data."""
    for data_set, name in (("hotpotqa", SIMPLIFIED), ("fever", "paper_dev.jsonl")):
        done = run("fetch", data_set, "--from", str(reactrepro_test_data / name), "--json", offline=offline)
        assert (done.returncode, done.stderr) == (0, "")
        (found,) = json.loads(done.stdout)
        assert (found["state"], found["source"]) == ("installed", name)
        assert found["sha256"] == found["sha256_expected"]
        assert Path(found["path"]) == tmp_path / "data" / data_set / name
        assert Path(found["notice"]).is_file()


def test_the_papers_prompts(run: Run, reactrepro_test_data: Path, offline: dict[str, str], tmp_path: Path) -> None:
    """Installed from a file, listed from then on, and refused where the file was changed."""
    local = reactrepro_test_data / "fever_prompts.json"
    done = run("fetch", "prompts", str(local), offline=offline)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("installed") == 4
    rows = {row["name"]: row for row in json.loads(run("prompts", "list", "--json").stdout)}
    assert rows["fever/paper/react"]["sha256"] == "d8c5b7f533fe1824a7c65ff1f3655277e97fc2525cb9f6d9d6b5e40428cec14d"
    tmp_path.joinpath("changed.json").write_bytes(local.read_bytes().replace(b"Thought 1:", b"Thought 1 :", 1))
    done = run("fetch", "prompts", "changed.json", offline=offline)
    assert done.returncode == 5
    assert "bfd7793d8766e020a817c8a56b2228f230298fb161f9fa87fa543b4b38d46c03" in done.stderr
    assert "webthink_simple3: SHA-256" in done.stderr
    found = json.loads(run("fetch", "prompts", "--json", offline=offline).stdout)
    assert {prompt["state"] for prompt in found["prompts"]} == {"present"}


def test_the_list_says_what_is_there(
    run: Run, offline: dict[str, str], tmp_path: Path, reactrepro_test_data: Path
) -> None:
    """And where."""
    run("fetch", "fever", "--from", str(reactrepro_test_data / "paper_dev.jsonl"), offline=offline)
    listed = json.loads(run("fetch", "list", "--json", offline=offline).stdout)
    assert listed["folder"] == str(tmp_path / "data")
    assert {row["command"] for row in listed["files"] if row["there"]} == {"reactrepro fetch fever"}
    shown = run("fetch", "list", offline=offline).stdout
    assert "hotpot_dev_fullwiki_v1.json    7,405 rows  no" in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("hotpotqa", "--from", "f", "--mirror", "http://h/a"), "--from takes one file"),
        (("hotpotqa", "--from", "f", "--file", "simplified", "--file", "fullwiki"), "--from takes one file"),
        (("hotpotqa", "--mirror", "http://h/a", "--file", "simplified", "--file", "fullwiki"), "name one --file"),
        (("hotpotqa", "--mirror", "ftp://h/a"), "no address to fetch from"),
        (("hotpotqa", "--from", "nowhere"), "does not exist"),
        (("hotpotqa", "--file", "train"), "is not one of"),
        (("prompts", "nowhere"), "no file, no folder, and no address"),
    ],
)
def test_a_command_that_makes_no_sense_is_refused(
    words: tuple[str, ...], message: str, run: Run, tmp_path: Path, offline: dict[str, str]
) -> None:
    """Exit code 2, and nothing is asked or written."""
    tmp_path.joinpath("f").touch()
    done = run("fetch", *words, offline=offline)
    assert done.returncode == 2
    assert message in done.stderr
    assert files(tmp_path) == ["f"]


def test_a_data_folder_that_cannot_be_written_is_a_disk_error(
    run: Run, tmp_path: Path, reactrepro_test_data: Path, offline: dict[str, str]
) -> None:
    """Exit code 4, without a traceback."""
    tmp_path.joinpath("data").touch()
    done = run("fetch", "fever", "--from", str(reactrepro_test_data / "paper_dev.jsonl"), offline=offline)
    assert done.returncode == 4
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr


# --- recording from what was fetched --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "keys"), [(("0-1",), ["0", "1"]), (("--subset", "paper500", "--limit", "2"), ["3687", "6238"])]
)
def test_a_recording_finds_the_fetched_data_set(
    words: tuple[str, ...], keys: list[str], lab: Lab, reactrepro_test_data: Path, run: Run
) -> None:
    """`record hotpotqa` without --data; what was recorded replays without it."""
    rows = json.loads((reactrepro_test_data / SIMPLIFIED).read_bytes())
    lab.llm.minds = {rows[int(key)]["question"]: mind for key, mind in zip(keys, MINDS.values(), strict=False)}
    run("fetch", "hotpotqa", "--from", str(reactrepro_test_data / SIMPLIFIED))
    command = lab.words(*words)
    place = command.index("--data")
    done = run(*command[command.index("record") : place], *command[place + 2 :])
    assert done.returncode == 0, done.stderr
    metas = [lab.run.read(key).meta for key in keys]
    golds = [(rows[int(key)]["question"], rows[int(key)]["answer"], int(key)) for key in keys]
    assert [(meta.question, meta.gold, meta.index) for meta in metas] == golds
    assert lab.run.config.selection == ("0-1" if words == ("0-1",) else "3687,6238")
    assert lab.replay(lab.run, keys[0]).ok


def test_a_list_names_questions_of_a_file_by_their_ids(lab: Lab) -> None:
    """Of a --data file, too; the run's selection holds the indexes, and the hint replays them."""
    ids = lab.root / "ids.txt"
    ids.write_text("id-3\nid-1\n", encoding="ascii")
    done = lab.command("--ids", str(ids), "--quiet")
    assert done.returncode == 0, done.stderr
    assert lab.run.config.selection == "3,1"
    assert list(lab.run.keys()) == ["1", "3"]
    kept = lab.command("1-3", "--seed", "1", "--limit", "1", "--mode", "none", "--json")
    assert [episode["key"] for episode in json.loads(kept.stdout)["episodes"]] == ["2"]


def test_a_recording_with_a_fetched_prompt_replays_only_where_it_is(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the prompt and its sum; without the prompt the replay says what is missing (exit code 3)."""
    text = "Answer it.\n"
    path = lab.root / "data" / "prompts" / "hotpotqa" / "fetched" / "react.txt"
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    data = str(lab.root / "data")
    done = lab.command("0", "--prompt", "fetched", REACTREPRO_DATA=data)
    assert done.returncode == 0, done.stderr
    assert lab.run.read("0").meta.prompt.sha256 == sha256_text(text)
    monkeypatch.chdir(lab.root)
    codes = []
    for folder in (data, str(lab.root / "elsewhere")):
        replay = [sys.executable, "-m", "reactrepro", "replay", "hotpotqa", "0", "--run", lab.run.name]
        env = environment() | {"REACTREPRO_DATA": folder}
        codes.append(subprocess.run(replay, cwd=lab.root, env=env, capture_output=True, check=False).returncode)
    assert codes == [0, 3]
    assert sources().library.runs(name=lab.run.name)


def test_a_long_selection_replays_as_all(lab: Lab) -> None:
    """The command that replays five hundred scattered rows does not list them; a short selection stays as it is."""
    lab.record("1")
    report = RecordReport(lab.run)
    words = [record._replay(report, lab.order("1", selection=",".join(keys))).split() for keys in ("13", paper500())]
    assert [line[2:4] for line in words] == [["hotpotqa", "1,3"], ["hotpotqa", "all"]]
