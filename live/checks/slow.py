"""A server that answers too late is asked again, and given up after the last attempt."""

from __future__ import annotations

import json
import time

from ..relay import Moment, Relay
from . import on_disk
from .stage import MODEL, Recording, Stage, require

PATIENT, IMPATIENT = 15, 2
"""Seconds for one call: where an answer in time is wanted, and where none is."""


def check(stage: Stage) -> str:
    """Hold the first answer back for too long, and then every one."""
    calls = _late_once(stage)
    recording = _always_late(stage)
    done = recording.record("--timeout", str(PATIENT))
    require(done.code == 0 and done.states() == {"0": "recorded"}, f"in time again: {done.code}; {done.said}")
    require(not on_disk.strays(recording.cassettes, ["0"]), "in time again: something is left or missing")
    recording.replay(keys=["0"])
    return f"late once: {calls} calls, recorded; late always: infra error after 2 calls, nothing kept; then recorded"


def _late_once(stage: Stage) -> int:
    def watch(moment: Moment, number: int) -> None:
        if (moment, number) == ("answered", 1):
            time.sleep(PATIENT + 1)

    with Relay(stage.servers.url(MODEL), watch) as relay:
        words = ("--timeout", str(PATIENT), "--attempts", "3")
        recording = stage.recording("late-once", "0", *words, llm=relay.base_url, steps=1)
        done = recording.record()
        require(done.code == 0, f"late once: exit code {done.code}; {done.said}")
        replies = on_disk.replies(recording.cassettes)
        require(relay.calls == replies + 1, f"late once: {relay.calls} calls for {replies} replies")
        recording.replay(keys=["0"])
        return relay.calls


def _always_late(stage: Stage) -> Recording:
    def watch(moment: Moment, _: int) -> None:
        if moment == "answered":
            time.sleep(IMPATIENT + 1)

    with Relay(stage.servers.url(MODEL), watch) as relay:
        words = ("--timeout", str(IMPATIENT), "--attempts", "2")
        recording = stage.recording("always-late", "0", *words, llm=relay.base_url, steps=1)
        done = recording.record()
        require(done.code == 4, f"always late: exit code {done.code} and not 4; {done.said}")
        require(relay.calls == 2, f"always late: {relay.calls} calls where 2 attempts were allowed")
    left = sorted(path.name for path in recording.cassettes.iterdir() if not path.name.startswith("."))
    require(left == ["0.error.json", "run.json"], f"always late: there are {left}")
    kind = json.loads(recording.cassettes.joinpath("0.error.json").read_bytes())["kind"]
    require(kind == "infra error", f"always late: the failure is called {kind!r}")
    # The same command, but for the relay: where a server stands is no part of a run's configuration.
    return stage.recording("always-late", "0", steps=1)
