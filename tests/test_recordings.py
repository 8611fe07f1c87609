"""Every committed recording, locked: the exact prompt of every call, and the trajectory, to the byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from reactrepro.cassettes.library import Library
from reactrepro.cassettes.runs import Run
from reactrepro.methods.react import step_text
from reactrepro.report.model import EpisodeReport
from reactrepro.runs.replay import replay_episode
from reactrepro.runs.roots import Sources

from .snapshot_gate import assert_snapshots_complete
from .world import checkout

ROOT = checkout()
SOURCES = Sources(Library.of([ROOT / "cassettes"]), (ROOT / "wiki_snapshot",))


def _calls(run: Run, key: str) -> int:
    """How many of an episode's prompts are locked: samples share theirs, and a back-off's are those of its parts."""
    if run.config.parts:
        return 0
    meta = run.read(key).meta
    return 1 if meta.samples else meta.interactions.count


RECORDINGS = [(run, key) for run in SOURCES.library.runs() for key in run.keys()]  # noqa: SIM118 - a run is no mapping
NAMES = [f"{run.label}/{key}".replace("/", "--") for run, key in RECORDINGS]
CALLS = [
    pytest.param(run, key, call, id=f"{name}--call-{call + 1}")
    for (run, key), name in zip(RECORDINGS, NAMES, strict=True)
    for call in range(_calls(run, key))
]

_REPORTS: dict[tuple[Path, str], EpisodeReport] = {}


def report(run: Run, key: str) -> EpisodeReport:
    """The report on a committed recording, made once."""
    place = (run.folder, key)
    if place not in _REPORTS:
        _REPORTS[place] = replay_episode(run, key, SOURCES)
    return _REPORTS[place]


@pytest.mark.parametrize(("run", "key", "call"), CALLS)
def test_prompt(run: Run, key: str, call: int, exact: object) -> None:
    """The exact text of each call, as today's code sends it; all samples of a question are asked for alike."""
    turns = report(run, key).turns
    assert turns[call].prompt == exact
    if run.read(key).meta.samples:
        assert {turn.prompt for turn in turns} == {turns[call].prompt}


@pytest.mark.parametrize(("run", "key"), RECORDINGS, ids=NAMES)
def test_trajectory(run: Run, key: str, exact: object) -> None:
    """Samples, thoughts, actions and observations, how it ended, and the answer."""
    found = report(run, key)
    assert found.ok, found.problems
    assert found.trajectory is not None
    samples = "".join(f"{sample.number}:{sample.text}\n-> {sample.answer}\n" for sample in found.trajectory.samples)
    steps = samples + "".join(step_text(step) for step in found.trajectory.steps)
    end = f"ended: {found.trajectory.ended}\nanswer: {found.trajectory.answer}\nflags: {found.trajectory.flags}\n"
    assert f"{found.trajectory.opening}\n{steps}{end}" == exact


def test_every_committed_recording_is_locked() -> None:
    """The snapshots are those of the committed recordings: none forgotten, none left from a recording that is gone."""
    expected = [f"test_trajectory[{name}]" for name in NAMES] + [f"test_prompt[{param.id}]" for param in CALLS]
    assert_snapshots_complete(Path(__file__).parent / "__snapshots__" / "test_recordings", expected)


def test_the_recordings_are_plain_ascii() -> None:
    """Cassettes and run files hold ASCII and LF line ends only, whoever opens them in whatever locale."""
    for path in [*(ROOT / "cassettes").rglob("*.yaml"), *(ROOT / "cassettes").rglob("run.json")]:
        data = path.read_bytes()
        assert data.isascii(), path
        assert b"\r" not in data, path
