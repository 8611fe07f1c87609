"""Scoring at size, as a user runs it: sweeps, shards, processes, files that are carried on."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from reactrepro.results import line, read

from ..world import FOUNDER, FOUNDER_REPLIES, World, checkout, world

__all__ = ["world"]

Run = Callable[..., subprocess.CompletedProcess[str]]
PELM = ("pelm", "--run", "gemma-3-270m")


@pytest.fixture
def run(run_offline: Run) -> Run:
    """Run `reactrepro` offline, in the test's folder."""
    return run_offline


def test_a_sweep_is_a_table_a_file_and_a_chart(run: Run, tmp_path: Path) -> None:
    """A row for each run and value, said to be computed; the recorded value has the score that was recorded."""
    words = ("sweep", *PELM, "--method", "cot_sc", "--n", "1,3,5-21")
    done = run(*words, "--csv", "votes.csv", "--svg", "votes.svg")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Computed from the recordings, not recorded" in done.stdout
    rows = list(csv.DictReader((tmp_path / "votes.csv").read_text("utf-8").splitlines()))
    assert [float(row["value"]) for row in rows] == [1, 3, *range(5, 22)]
    assert [row["value"] for row in rows if row["as_recorded"] == "1"] == ["21.0"]
    (scored,) = json.loads(run("score", *PELM, "--method", "cot_sc", "--json").stdout)["runs"]
    assert (float(rows[-1]["em"]), float(rows[-1]["llm_calls"])) == (scored["em"], scored["llm_calls"])
    assert ElementTree.parse(tmp_path / "votes.svg").getroot().get("role") == "img"  # noqa: S314 - our own
    before = (tmp_path / "votes.svg").read_bytes()
    run(*words, "--svg", "votes.svg", "--jobs", "2")
    assert (tmp_path / "votes.svg").read_bytes() == before
    data = json.loads(run(*words, "--json").stdout)
    assert (data["computed"], data["setting"], len(data["rows"])) == (True, "samples", 19)


def test_one_value_is_a_score_and_says_that_it_is_computed(run: Run) -> None:
    """The same number as in the sweep, marked in its row; runs in which it has no meaning stay as they are."""
    swept = json.loads(run("sweep", *PELM, "--threshold", "3", "--json").stdout)["rows"]
    done = run("score", *PELM, "--threshold", "3")
    assert "gemma-3-270m [threshold 3]" in done.stdout
    assert "[ ]: computed from the recordings" in done.stdout
    runs = {row["method"]: row for row in json.loads(run("score", *PELM, "--threshold", "3", "--json").stdout)["runs"]}
    assert [(row["method"], row["em"]) for row in swept] == [("cot_sc_then_react", runs["cot_sc_then_react"]["em"])]
    assert {name for name, row in runs.items() if row["what_if"]} == {"cot_sc_then_react"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("sweep", "pelm"), "exactly one of --n, --threshold, --max-steps"),
        (("sweep", "pelm", "--n", "1", "--max-steps", "1"), "exactly one of"),
        (("sweep", *PELM, "--n", "22"), "does not follow from it"),
        (("sweep", *PELM, "--max-steps", "8"), "does not follow from it"),
        (("sweep", *PELM, "--n", "1.5"), "whole numbers"),
        (("sweep", *PELM, "--n", "5-1"), "no range"),
        (("sweep", *PELM, "--method", "standard", "--max-steps", "3"), "has no meaning in pelm/standard"),
        (("score", *PELM, "--method", "standard", "--n", "3"), "has no meaning in pelm/standard"),
        (("score", "pelm", "--shard", "0/2"), "no shard"),
        (("score", "pelm", "--from", "a.jsonl", "--n", "3"), "nothing is replayed"),
    ],
)
def test_what_has_no_answer_is_refused(run: Run, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    """Exit code 2, and why."""
    (tmp_path / "a.jsonl").touch()
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


@pytest.mark.slow
def test_shards_are_merged_to_the_whole(run: Run, tmp_path: Path) -> None:
    """Any number of them, more than there are episodes included; scored from the files, the same table."""
    whole = run("score", *PELM, "--results", "whole.jsonl", "--quiet")
    assert whole.returncode == 0
    for count in (1, 3, 200):
        names = []
        for number in range(1, count + 1) if count < 200 else (1, 50, 139, 140, 200):
            names.append(f"{count}-{number}.jsonl")
            done = run("score", *PELM, "--shard", f"{number}/{count}", "--results", names[-1])
            assert (done.returncode, done.stderr) == (0, "")
        assert run("merge", *reversed(names), "-o", "merged.jsonl").returncode == 0
        keys = [(result.method, result.key) for result in read(tmp_path / "merged.jsonl")]
        assert len(keys) == len(set(keys))
        if count < 200:
            assert (tmp_path / "merged.jsonl").read_bytes() == (tmp_path / "whole.jsonl").read_bytes()
            kept = [word for name in names for word in ("--from", name)]
            assert run("score", "pelm", *kept, "--quiet").stdout == whole.stdout
    assert run("merge", "whole.jsonl").stdout.encode() == (tmp_path / "whole.jsonl").read_bytes()
    assert run("score", "hotpotqa", "--from", "whole.jsonl").returncode == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("score", "pelm"),
        ("score", "pelm", "--json", "--max-steps", "2"),
        ("replay", "pelm", "all", "--json"),
        ("replay", "pelm", "all", "--shard", "2/3"),
        ("sweep", "pelm", "--max-steps", "1-5"),
        ("check",),
    ],
)
def test_processes_change_nothing(run: Run, words: tuple[str, ...]) -> None:
    """Every byte of both streams, and the exit code."""
    one, many = (run(*words, "--jobs", jobs) for jobs in ("1", "4"))
    assert (many.returncode, many.stdout, many.stderr) == (one.returncode, one.stdout, one.stderr)


@pytest.mark.slow
def test_problems_come_out_of_processes_alike(run: Run, world: World) -> None:
    """A changed request, a missing page, a missing episode, a broken file: each in its words, in order."""
    other = world.new_run("other", selection="0-9")
    for number in range(9):
        world.record(type(FOUNDER)(str(number), FOUNDER.text, FOUNDER.gold, number), FOUNDER_REPLIES, other)
    path = other.path("3")
    path.write_bytes(path.read_bytes()[:-40])
    shutil.copyfile(other.path("0"), other.path("5"))
    path = other.path("6")
    path.write_bytes(path.read_bytes().replace(b'"llm_calls": 3', b'"llm_calls": 2'))
    commands = (
        ("score", "hotpotqa", "--run", "other"),
        ("replay", "hotpotqa", "all", "--run", "other"),
        ("check", str(other.folder)),
    )
    for words in commands:
        one, many = (run(*words, "--jobs", jobs) for jobs in ("1", "3"))
        assert one.returncode == 5
        assert (many.returncode, many.stdout, many.stderr) == (one.returncode, one.stdout, one.stderr)


def test_a_file_of_results_is_carried_on(run: Run, tmp_path: Path) -> None:
    """What it holds is not computed again, what is cut off or missing is; in the end it is as if nothing had been."""
    words = ("score", *PELM, "--results", "a.jsonl")
    first = run(*words)
    whole = (tmp_path / "a.jsonl").read_bytes()
    kept = whole.splitlines(keepends=True)
    # Out of order, with a line that a killed process left half written.
    (tmp_path / "a.jsonl").write_bytes(b"".join(kept[50:] + kept[:40]) + kept[40][:100])
    again = run(*words)
    assert again.stderr == f"{len(kept) - 10} episodes of a.jsonl not computed again.\n"
    assert (again.returncode, again.stdout) == (first.returncode, first.stdout)
    assert (tmp_path / "a.jsonl").read_bytes() == whole


def test_what_has_become_stale_is_computed_again(run: Run, tmp_path: Path) -> None:
    """Results of other recordings, rules or versions do not count and go; those of other runs stay."""
    run("score", *PELM, "--results", "a.jsonl")
    whole = (tmp_path / "a.jsonl").read_bytes()
    lines = whole.splitlines(keepends=True)
    old = [row.replace(b'"version": "', b'"version": "0.0.') if b'"react"' in row else row for row in lines]
    wrong = [row.replace(b'"em": false', b'"em": true') if b'"react"' in row else row for row in old]
    (tmp_path / "a.jsonl").write_bytes(b"".join(wrong))
    done = run("score", *PELM, "--method", "react", "--results", "a.jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "a.jsonl").read_bytes() == whole
    assert line(read(tmp_path / "a.jsonl")[0]) == lines[0]


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="a terminal's Ctrl-C is a signal to a group of processes")
def test_interrupted_work_ends_and_is_carried_on(offline: dict[str, str], tmp_path: Path) -> None:
    """Ctrl-C: exit code 130, no traceback of any process, no process left; the next run completes the file."""
    folder = tmp_path / "cassettes" / "pelm" / "react"
    shutil.copytree(checkout() / "cassettes" / "pelm" / "react" / "gemma-3-270m", folder / "gemma-3-270m")
    for number in range(60):
        shutil.copytree(folder / "gemma-3-270m", folder / f"copy-{number}")
    words = [sys.executable, "-m", "reactrepro", "score", "pelm", "--jobs", "2", "--results", "a.jsonl", "-q"]
    # What a shell starts in the background ignores Ctrl-C, and hands that on.
    heard = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
    process = subprocess.Popen(
        [sys.executable, "-c", heard, *words],
        cwd=tmp_path,
        env=offline,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    file = tmp_path / "a.jsonl"
    for _ in range(3000):
        if file.exists() and file.stat().st_size > 10_000:
            break
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert (process.returncode, stderr.strip()) == (130, b"interrupted.")
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
    kept = file.read_bytes()
    assert kept.endswith(b"\n")
    done = subprocess.run(words[:-1], cwd=tmp_path, env=offline, capture_output=True, check=False)
    assert b"not computed again" in done.stderr
    assert done.returncode == 0
    whole = file.read_bytes()
    assert set(kept.splitlines()) < set(whole.splitlines())
    file.unlink()
    subprocess.run(words, cwd=tmp_path, env=offline, capture_output=True, check=False)
    assert file.read_bytes() == whole


def test_replaying_imports_no_data_set_and_no_processes(offline: dict[str, str], tmp_path: Path) -> None:
    """Loading a data set does not slow a replay: it is not loaded; a single one imports nothing for many."""
    script = (
        "import sys\nfrom reactrepro.cli import run\n"
        "codes = [run(words.split()) for words in ('replay hotpotqa 0 -q', 'score pelm -q --jobs 1')]\n"
        "heavy = ('multiprocessing', 'reactrepro.data.rows', 'reactrepro.data.fetch', 'requests', 'vcr', 'openai')\n"
        "print(codes, [name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=offline, capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "[0, 0] []"


def test_the_headline_of_claims_is_accuracy(run: Run) -> None:
    """FEVER has no partial credit: its EM is called accuracy, and an F1 that says the same is left out."""
    head = run("score", "pelm_fever", "--quiet").stdout.partition("\n")[0]
    assert "accuracy" in head
    assert not {"EM", "F1"} & set(head.split())
    one = run("sweep", "pelm_fever", "--n", "3", "--quiet").stdout.partition("\n")[0]
    assert ("accuracy" in one, "F1" in one) == (True, False)
    done = run("compare", "standard/gemma-3-270m", "cot/gemma-3-270m", "--task", "pelm_fever")
    assert "accuracy  0." in done.stdout
    assert "F1" not in done.stdout


def test_methods_without_steps_have_none(run: Run) -> None:
    """Steps, step limit and reprompts of CoT are no zeros, and it has no diagnoses of actions."""
    done = run("score", *PELM, "--method", "cot", "--method", "act")
    cot = next(row.split() for row in done.stdout.splitlines() if row.startswith("cot "))
    assert cot[-7:] == ["-", "1.0", "-", "-", "0", "0", "0"]
    assert "\ncot  " not in done.stdout.partition("question arises")[2].partition("\n\n")[0]
