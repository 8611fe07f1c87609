"""32 connections, a storm of refusals, a kill and a resume: every episode once, nothing paid for twice."""

from __future__ import annotations

import json
import threading
import time

from reactrepro.tasks.pelm import Pelm

from ..relay import Moment, Relay
from . import on_disk
from .stage import MODEL, Recording, Stage, require

CONNECTIONS = 32
EPISODES = 36
STORM = range(38, 58)
"""Calls that are refused, counted as they come."""

KILL = 44
"""Answers after which the recorder is killed."""


def check(stage: Stage) -> str:
    """Record through the storm, kill the recorder, and have it finish."""
    keys = [str(number) for number in range(EPISODES)]
    enough = threading.Semaphore(0)

    def watch(moment: Moment, _: int) -> None:
        if moment == "passed":
            enough.release()

    began = time.monotonic()
    with Relay(stage.servers.url(MODEL), watch, refused=STORM) as relay:
        recording = _recording(stage, keys, relay.base_url)
        under = recording.start()
        for _ in range(KILL):
            while under.process.poll() is None and not enough.acquire(timeout=0.05):
                pass
        require(under.process.poll() is None, f"it ended before {KILL} answers had come; {under.wait().said}")
        under.process.kill()
        under.wait()
        wrong = on_disk.half_written(recording.cassettes)
        require(not wrong, f"after the kill, half written: {wrong}")
        before = _requests(recording)
        done = recording.record()
        require(done.code == 0, f"the second time: exit code {done.code}; {done.said}")
        replies = on_disk.replies(recording.cassettes)
        answered = relay.calls - len(STORM)
    after = _requests(recording)
    require(before <= after, f"{len(before - after)} replies that were on the disk are gone")
    require(len(after) == replies, f"{replies} replies for {len(after)} different requests")
    lost = answered - replies
    require(0 <= lost <= CONNECTIONS, f"{answered} answers for {replies} replies: more than were under way were lost")
    wrong = on_disk.strays(recording.cassettes, keys)
    require(not wrong, f"in the end there are or lack: {wrong}")
    recording.replay(keys=keys)
    rest = f"{len(STORM)} refused, {lost} on their way at the kill; {time.monotonic() - began:.0f} s"
    return f"{replies} replies in {EPISODES} episodes, {rest}"


def _recording(stage: Stage, keys: list[str], base_url: str) -> Recording:
    """Return the command; it asks the task's questions in several wordings, since there are not so many of them."""
    asked = Pelm().questions()
    rows = [
        {"question": f"{asked[n % len(asked)].text}{' (Again.)' * (n // len(asked))}", "answer": "x"}
        for n in range(len(keys))
    ]
    data = stage.folder / "storm.json"
    data.write_text(json.dumps(rows), encoding="utf-8")
    more = ("--data", str(data), "--max-connections", str(CONNECTIONS))
    return stage.recording("storm", f"0-{len(keys) - 1}", *more, llm=base_url)


def _requests(recording: Recording) -> set[str]:
    """Return the bodies of all requests that are recorded."""
    found = on_disk.cassettes(recording.cassettes).values()
    return {str(interaction.body) for cassette in found for interaction in cassette.interactions}
