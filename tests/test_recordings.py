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

RECORDINGS = [(run, key) for run in SOURCES.library.runs() for key in run.keys()]  # noqa: SIM118 - a run is no mapping
NAMES = [f"{run.label}/{key}".replace("/", "--") for run, key in RECORDINGS]
CALLS = [
    pytest.param(run, key, call, id=f"{name}--call-{call + 1}")
    for (run, key), name in zip(RECORDINGS, NAMES, strict=True)
    for call in range(len(run.read(key).interactions))
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
    """The exact text of each call, as today's code sends it."""
    assert report(run, key).turns[call].prompt == exact


@pytest.mark.parametrize(("run", "key"), RECORDINGS, ids=NAMES)
def test_trajectory(run: Run, key: str, exact: object) -> None:
    """Thoughts, actions and observations, how it ended, and the answer."""
    found = report(run, key)
    assert found.ok, found.problems
    assert found.trajectory is not None
    steps = "".join(step_text(step) for step in found.trajectory.steps)
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
