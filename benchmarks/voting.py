"""Samples of one question, and back-offs beside their parts: the packaged recordings, files read anew each time."""

from __future__ import annotations

from reactrepro.cassettes.runs import Run
from reactrepro.runs.replay import replay_episode
from reactrepro.runs.roots import Sources, sources

TASK = "pelm"
BACK_OFFS = ("react_then_cot_sc", "cot_sc_then_react")


def packaged() -> Sources:
    """Return the recordings that come with the package, whatever lies in the current folder."""
    from reactrepro.runs.roots import packaged as root

    return sources(here=root(), environment={})


def replayed(found: Sources, runs: list[Run]) -> int:
    """Replay all episodes of *runs*; return their number."""
    done = 0
    for run in runs:
        for key in run.keys():  # noqa: SIM118 - a run is no mapping
            report = replay_episode(run, key, found)
            if report.problems:
                raise AssertionError(f"the replay failed: {report.problems[0]}")
            done += 1
    return done


def voting(found: Sources) -> int:
    """Replay the questions of which samples are recorded; return their number."""
    return replayed(found, found.library.runs(TASK, "cot_sc"))


def back_offs(found: Sources) -> int:
    """Replay both back-offs of one run; return 1."""
    replayed(found, [run for name in BACK_OFFS for run in found.library.runs(TASK, name)])
    return 1


def parts(found: Sources) -> int:
    """Replay the parts that the back-offs name, each as often as it is named; return 1."""
    composed = [run for name in BACK_OFFS for run in found.library.runs(TASK, name)]
    replayed(found, [part for run in composed for part in run.parts()])
    return 1
