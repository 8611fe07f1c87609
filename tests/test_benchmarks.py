"""The benchmarks run, and judge what they measured; how fast anything is, no test says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.rows import Goal, Row, exit_code, table, verdict

from .lab import environment

ROOT = Path(__file__).parents[1]

AT_MOST, AT_LEAST = Goal(2.5, required=True), Goal(25, at_least=True, required=True)


@pytest.mark.parametrize(
    ("value", "goal", "found"),
    [
        (2.5, AT_MOST, "ok"),
        (2.51, AT_MOST, "missed"),
        (25.0, AT_LEAST, "ok"),
        (24.9, AT_LEAST, "missed"),
        (float("nan"), AT_MOST, "missed"),
        (float("nan"), AT_LEAST, "missed"),
        (None, AT_LEAST, "missed"),
        (0.8, Goal(0.8), "printed (met)"),
        (0.81, Goal(0.8), "printed (not met)"),
        (None, Goal(0.8), "absent"),
        (7.0, None, "printed"),
        (None, None, "absent"),
    ],
)
def test_a_requirement_is_met_or_missed_and_anything_else_is_printed(
    value: float | None, goal: Goal | None, found: str
) -> None:
    """Only a requirement can be missed; one that was not measured is."""
    row = Row("name", value, "times", goal)
    assert verdict(row) == found
    assert exit_code([row]) == (found == "missed")


def test_one_missed_requirement_fails_the_run() -> None:
    """What was met beside it does not help, and a goal that is only printed does not hurt."""
    met, printed, missed = Row("a", 2, "times", AT_MOST), Row("b", 9, "ms", Goal(3)), Row("c", 3, "times", AT_MOST)
    assert exit_code([]) == 0
    assert exit_code([met, printed]) == 0
    assert exit_code([met, missed, printed]) == 1


def test_the_table_has_name_value_goal_and_verdict() -> None:
    """One line per row, aligned, with the note behind it."""
    rows = [
        Row("replay, per LLM call", 0.4567, "ms", Goal(0.8)),
        Row("times less", 26.04, "times", AT_LEAST),
        Row("start-up", None, "times", AT_MOST, "not here"),
        Row("reading", 3.3, "ms"),
    ]
    assert table(rows).split("\n") == [
        "                      measured       goal",
        "replay, per LLM call  0.457 ms  <= 0.8 ms  printed (met)",
        "times less             26.0 x    >= 25 x   ok",
        "start-up                     -  <= 2.5 x   missed  (not here)",
        "reading                3.30 ms             printed",
    ]


SCALED = ("a reply, beyond the bare SDK", "own work on a reply", "own work, of a reply of one second")
GROUPS = {
    "startup": [
        'python -c "import click, yaml"',
        "reactrepro replay hotpotqa 0",
        "start-up: times the imports",
    ],
    "plugin": ["pytest, one empty test", "pytest plugin, unused: added to the start of pytest"],
    "gate": ["reactrepro check", "reactrepro check --only prompts"],
    "replay": [
        "replay, per LLM call",
        "vcr.use_cassette + openai.OpenAI(), per LLM call",
        "replay: times less than vcr.use_cassette",
        "replay --wire, per LLM call",
    ],
    "reader": [
        "reading a cassette of 4 calls",
        "the same through the YAML loader",
        "our reader: times less than the YAML loader",
    ],
    "miss": [
        "miss report, 4 interactions",
        "miss report, 4 interactions, --verbose",
        "miss report, 400 interactions",
    ],
    "matching": [
        "matching among 400 interactions, in recorded order, per LLM call",
        "matching among 400 interactions, in reverse order, per LLM call",
        "matching among 400 interactions, by vcrpy's body matcher",
    ],
    "voting": [
        "21 samples of one question, replayed",
        "both back-offs: times the cost of replaying their parts",
    ],
    "agents": [
        "http_client + openai.OpenAI(), per LLM call",
        "vcr.use_cassette on method, uri, body, per LLM call",
        "http_client: times less than that",
        "vcr.use_cassette that compares no body, per LLM call",
        "http_client: times less than this",
    ],
    "together": [
        "http_client in threads, 16 episodes",
        "http_client in tasks, 8 episodes",
        "use_cassette in tasks, 8 episodes",
        "use_cassette in threads, 16 episodes",
    ],
}
REQUIRED = {
    "start-up: times the imports",
    "replay: times less than vcr.use_cassette",
    "both back-offs: times the cost of replaying their parts",
    "http_client: times less than that",
    "http_client in threads, 16 episodes",
    "http_client in tasks, 8 episodes",
}
COUNTED = ("use_cassette in ", "pytest plugin")
"""Shares of what came out right, which may be none, and a difference; all others are times and their ratios."""
RECORDING = [
    "recording: the bare SDK, per call",
    "recording: own work, per reply",
    "recording: own work, per reply, 90th percentile",
    "recording: saving a reply",
    "recording: of it, serialising",
    "recording: of it, putting the file in its place",
    "recording: of that, fsync of file and folder",
    "recording: this disk's own write, fsync, rename, fsync",
    "recording: whole, beyond the bare SDK, ours",
    "recording: whole, beyond the bare SDK, vcrpy, per episode",
    "recording: whole, beyond the bare SDK, vcrpy, per reply",
    "recording: whole, beyond the bare SDK, ours, CPU",
    "recording: whole, beyond the bare SDK, vcrpy, per episode, CPU",
    "recording: whole, beyond the bare SDK, vcrpy, per reply, CPU",
    "recording: CPU, times that of vcrpy saved per reply",
]
SCALE = [
    *(f"1 connection: {what}" for what in SCALED),
    *(f"4 connections: {what}" for what in SCALED),
    "4 connections: episodes, times those of the bare SDK",
    "4 connections: episodes per second, times those of one",
]
SCORING = [
    "scoring 4 episodes, 2 processes, cold",
    "scoring 4 episodes, 2 processes, CPU of all",
    "scoring 4 episodes, 2 processes, memory at most",
    "scoring: CPU per episode, 2 to 4",
    "scoring: CPU per episode, 4 to 9",
    "scoring: CPU per episode, times from few to many",
    "scoring 9 episodes, memory at most",
]
DIFFERENCES = ("recording: own work", "recording: whole", "recording: CPU")
"""On a busy machine, one round of two such times may come out the wrong way round."""


def _run(offline: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "benchmarks" / "run.py"), *arguments]
    return subprocess.run(command, env=offline, capture_output=True, encoding="utf-8", check=False)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps no account of its child processes")
def test_every_benchmark_of_replays_runs(offline: dict[str, str], tmp_path: Path) -> None:
    """One round of each, without the network: every row is there, and the exit code follows from them."""
    only = [word for name in GROUPS for word in ("--only", name)]
    done = _run(offline, "--quick", *only, "--json", str(tmp_path / "found.json"))
    assert done.stderr == ""
    rows = json.loads(tmp_path.joinpath("found.json").read_text(encoding="ascii"))["rows"]
    assert sorted(row["name"] for row in rows) == sorted(name for group in GROUPS.values() for name in group)
    assert all(row["value"] > 0 for row in rows if not row["name"].startswith(COUNTED))
    assert {row["name"] for row in rows if row["required"]} == REQUIRED
    right = [row["verdict"] for row in rows if row["name"].startswith("http_client in ")]
    assert right == ["ok", "ok"]
    assert done.returncode == any(row["verdict"] == "missed" for row in rows)
    lines = done.stdout.split("\n")[1 : len(rows) + 1]
    assert all(line.startswith(row["name"]) for line, row in zip(lines, rows, strict=True))


@pytest.mark.slow
def test_the_benchmark_of_recordings_runs(tmp_path: Path) -> None:
    """One round, from a server on this machine; vcrpy and our recorder record the same calls."""
    done = _run(environment(), "--quick", "--only", "recording", "--json", str(tmp_path / "found.json"))
    assert done.stderr == ""
    rows = json.loads(tmp_path.joinpath("found.json").read_text(encoding="ascii"))["rows"]
    assert [row["name"] for row in rows] == RECORDING
    assert all(row["value"] > 0 for row in rows if not row["name"].startswith(DIFFERENCES))
    assert [row["name"] for row in rows if row["required"]] == RECORDING[-1:]
    assert done.returncode == any(row["verdict"] == "missed" for row in rows)


@pytest.mark.slow
def test_the_benchmark_of_many_connections_runs(tmp_path: Path) -> None:
    """One round with four connections; what is required is a share of a second, not milliseconds."""
    done = _run(environment(), "--quick", "--only", "scale", "--json", str(tmp_path / "found.json"))
    assert done.stderr == ""
    rows = json.loads(tmp_path.joinpath("found.json").read_text(encoding="ascii"))["rows"]
    assert [row["name"] for row in rows] == SCALE
    assert [row["name"] for row in rows if row["required"]] == [SCALE[2], SCALE[5]]
    assert done.returncode == any(row["verdict"] == "missed" for row in rows)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps no account of its child processes")
def test_the_benchmark_of_scoring_runs(offline: dict[str, str], tmp_path: Path) -> None:
    """A few episodes in two processes: every row is there; how the cost grows, so few cannot tell."""
    done = _run(offline, "--quick", "--only", "score", "--json", str(tmp_path / "found.json"))
    assert (done.stderr, done.returncode) == ("", 0)
    rows = json.loads(tmp_path.joinpath("found.json").read_text(encoding="ascii"))["rows"]
    assert [row["name"] for row in rows] == SCORING
    assert all(row["value"] > 0 for row in rows if "CPU per episode" not in row["name"])
    assert [row["name"] for row in rows if row["required"]] == SCORING[2:3]


def test_a_single_benchmark_can_be_asked_for(offline: dict[str, str]) -> None:
    """`--only` leaves the others out, and refuses a name that it does not know."""
    done = _run(offline, "--quick", "--only", "reader")
    assert done.returncode == 0
    assert [line.partition("  ")[0] for line in done.stdout.split("\n")[1:4]] == GROUPS["reader"]
    assert _run(offline, "--only", "weather").returncode == 2
