"""A recorder that is killed at any moment loses at most the reply in flight."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from random import Random

from ..relay import Moment, Relay
from . import on_disk
from .stage import MODEL, Recording, Stage, Under, require

KEYS = tuple(map(str, range(6)))
KILLS = 10


@dataclass(frozen=True)
class Kill:
    """When to kill.

    Attributes:
        answers: count from this many answers on, 0 from the command's start.
        seconds: and then so long.
    """

    answers: int
    seconds: float


def kills(seed: int) -> list[Kill]:
    """Return `KILLS` random moments: at any time, while a reply is written, while a page is fetched and written."""
    chance = Random(seed)  # noqa: S311 - not for secrets
    kinds = [(4, 0, (0.2, 4.0)), (3, 1, (0.0, 0.02)), (3, 1, (0.02, 0.4))]
    found = [Kill(answers, chance.uniform(*span)) for number, answers, span in kinds for _ in range(number)]
    chance.shuffle(found)
    return found


def check(stage: Stage) -> str:
    """Kill the recorder ten times, looking at what it leaves each time, and have it finish."""
    passed = threading.Semaphore(0)

    def watch(moment: Moment, _: int) -> None:
        if moment == "passed":
            passed.release()

    with Relay(stage.servers.url(MODEL), watch) as relay:
        recording = stage.recording("recorder-killed", ",".join(KEYS), llm=relay.base_url)
        killed, before = 0, 0
        for kill in kills(stage.seed):
            while passed.acquire(blocking=False):
                pass
            killed += _killed(recording.start(), kill, passed)
            before = _require_nothing_lost(recording, before, killed)
        require(killed == KILLS, f"all was recorded after {killed} kills; more episodes are needed here")
        done = recording.record()
        require(done.code == 0, f"the last time: exit code {done.code}; {done.said}")
        replies = on_disk.replies(recording.cassettes)
        require(
            replies <= relay.calls <= replies + killed,
            f"{relay.calls} calls for {replies} replies: more than one per kill was paid for twice",
        )
    wrong = on_disk.strays(recording.cassettes, KEYS)
    require(not wrong, f"in the end there are or lack: {wrong}")
    _require_no_litter(recording)
    recording.replay(keys=KEYS)
    return f"{killed} kills (seed {stage.seed}); {replies} replies in {len(KEYS)} episodes took {relay.calls} calls"


def _killed(under: Under, kill: Kill, passed: threading.Semaphore) -> bool:
    """Kill the process at the moment *kill*; tell whether it was still running."""
    for _ in range(kill.answers):
        while under.process.poll() is None and not passed.acquire(timeout=0.02):
            pass
    time.sleep(kill.seconds)
    alive = under.process.poll() is None
    under.process.kill()
    done = under.wait()
    require(alive or done.code == 0, f"it ended by itself, with exit code {done.code}; {done.said}")
    return alive


def _require_nothing_lost(recording: Recording, before: int, killed: int) -> int:
    """Return how many replies are there, after a look at each file."""
    if not recording.cassettes.exists():
        return 0
    wrong = on_disk.half_written(recording.cassettes)
    require(not wrong, f"after kill {killed}, half written: {wrong}")
    now = on_disk.replies(recording.cassettes)
    require(now >= before, f"after kill {killed} there are {now} replies, before it were {before}")
    return now


def _require_no_litter(recording: Recording) -> None:
    """Assert that nothing hidden is left; no lock guards a page's temporary file, so that one goes when it is old."""
    for path in recording.snapshot.rglob(".*"):
        os.utime(path, (0, 0))
    done = recording.record()
    require(done.states() == dict.fromkeys(KEYS, "kept"), f"once more: {done.states()}; {done.said}")
    hidden = [path.relative_to(recording.folder).as_posix() for path in recording.folder.rglob(".*")]
    require(not hidden, f"left behind: {hidden}")
