"""`score` and `compare`, as a user runs them."""

from __future__ import annotations

import csv
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from reactrepro.results import read

from ..world import FOUNDER, FOUNDER_REPLIES, World, world

__all__ = ["world"]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(run_offline: Run) -> Run:
    """Run `reactrepro` offline, in the test's folder."""
    return run_offline


def test_a_score_needs_no_key_and_no_network(run: Run) -> None:
    """The packaged run, scored: its row, the paper's rows apart, and that one episode is no reproduction."""
    done = run("score", "hotpotqa")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.index("deepseek-v3-250324") < done.stdout.index("The paper's own numbers")
    assert "ReAct            react                        27.4" in done.stdout
    assert "n is below 500 in every run" in done.stdout
    assert "no reproduction" in done.stdout


@pytest.mark.case("B08")
def test_pelm_never_stands_beside_the_paper(run: Run) -> None:
    """No number of the paper's under the scores of another world."""
    done = run("score", "pelm", "--run", "gemma-3-270m", "--run", "smollm2-135m-instruct")
    assert done.returncode == 0
    assert "paper's" not in done.stdout
    assert re.search(r"react +smollm2-135m-instruct +20 +0\.000 +0\.000 to 0\.161", done.stdout)
    assert "gemma-3-270m-t1" not in done.stdout


@pytest.mark.case("B35")
def test_what_is_missing_or_failed_stands_apart_and_in_the_exit_code(run: Run, world: World) -> None:
    """Both are listed on the error stream, counted in the table; the highest code is the exit code."""
    other = world.new_run("other", selection="0-2")
    world.record(FOUNDER, FOUNDER_REPLIES, other)
    assert run("score", "hotpotqa", "--run", "other").returncode == 3
    (other.folder / "2.error.json").write_text("{}", "ascii")
    done = run("score", "hotpotqa", "--run", "other", "--quiet")
    assert done.returncode == 4
    assert "missing: hotpotqa/react/other, episode 1" in done.stderr
    assert "infra error: hotpotqa/react/other, episode 2" in done.stderr
    head, row = done.stdout.rstrip().split("\n")
    assert head.startswith("method  run    n ")
    assert " ".join(row.split()) == "react other 1 of 3 1.000 0.207 to 1.000 1.000 0.333 3.0 3.0 0 0 0 1 1"


def test_results_and_tables_are_files_on_demand(run: Run, world: World, tmp_path: Path) -> None:
    """JSON Lines, CSV of episodes, CSV of runs; written again, the same bytes; the JSON says what the table says."""
    words = ("score", "hotpotqa", "--run", "scripted", "--json")
    done = run(*words, "--results", "a.jsonl", "--csv", "runs.csv")
    assert done.returncode == 0
    assert run(*words, "--results", "a.csv").returncode == 0
    assert [(result.key, result.em) for result in read(tmp_path / "a.jsonl")] == [("0", True), ("1", True)]
    (row,) = csv.DictReader((tmp_path / "runs.csv").read_text("utf-8").splitlines())
    assert (row["run"], row["em"], row["judged"], row["diagnoses.evidence.episodes"]) == ("scripted", "1.0", "2", "1")
    assert len(list(csv.DictReader((tmp_path / "a.csv").read_text("utf-8").splitlines()))) == 2
    (of_run,) = json.loads(done.stdout)["runs"]
    assert (of_run["em"], of_run["requested"], of_run["run_id"]) == (1.0, 2, world.run.id)
    before = (tmp_path / "a.jsonl").read_bytes()
    run(*words, "--results", "a.jsonl")
    assert (tmp_path / "a.jsonl").read_bytes() == before
    assert run(*words, "--results", "a.jsonl/x").returncode == 4
    assert run(*words, "--results", "cassettes").returncode == 2


def test_scoring_the_unrecorded_is_absent(run: Run) -> None:
    """A task without recordings, a method without one: exit code 3, and what there is; a strange level: 2."""
    for words in (("score", "nope"), ("score", "pelm", "--method", "react", "--method", "nope")):
        done = run(*words)
        assert (done.returncode, done.stdout) == (3, "")
        assert "no recording fits" in done.stderr
    assert run("score", "pelm", "--level", "95").returncode == 2
    assert run("score").returncode == 2


def test_two_packaged_runs_are_compared(run: Run) -> None:
    """Counts, test, intervals with resamples and seed, flips and differing settings; the same every time."""
    words = ("compare", "pelm/react/gemma-3-270m", "pelm/react/gemma-3-270m-t1")
    done = run(*words)
    assert (done.returncode, done.stderr) == (0, "")
    for text in (
        "20 questions judged in both.",
        "settings.temperature      0     1.0",
        "EM  0.100   0.100  +0.000          -0.150 to +0.150",
        "10000 resamples, seed 233",
        "p = 1.0000 (1 against 1)",
        "Lake Ambor",
    ):
        assert text in done.stdout
    assert run(*words).stdout == done.stdout
    data = json.loads(run(*words, "--json", "--resamples", "50", "--seed", "1").stdout)
    assert (data["n"], data["resamples"], data["seed"], len(data["flips"])) == (20, 50, 1, 2)


def test_what_is_not_paired_is_refused(run: Run) -> None:
    """Exit code 2, what is in one only, and what to do; `--common` compares the rest."""
    words = ("compare", "pelm/react/gemma-3-270m", "gemma-3-270m-chat")
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert "judged in pelm/react/gemma-3-270m only: episode 1, 2, 3" in done.stderr
    assert "--common" in done.stderr
    done = run(*words, "--common")
    assert done.returncode == 0
    assert "1 question judged in both; 19 episodes that only one has judged left out." in done.stdout
    done = run("compare", "pelm/react/gemma-3-270m", "deepseek-v3-250324")
    assert (done.returncode, "different tasks" in done.stderr) == (2, True)
    assert run("compare", "pelm/react/gemma-3-270m", "nope").returncode == 3
