"""Two recorders at once on one run share the work."""

from __future__ import annotations

from collections import Counter

from ..relay import Relay
from . import on_disk
from .stage import MODEL, Stage, require

KEYS = tuple(map(str, range(4)))


def check(stage: Stage) -> str:
    """Give the same command twice at once, and once more afterwards."""
    with Relay(stage.servers.url(MODEL)) as relay:
        recording = stage.recording("two-recorders", ",".join(KEYS), llm=relay.base_url)
        both = [under.wait() for under in (recording.start(), recording.start())]
        for done in both:
            require(done.code == 0, f"exit code {done.code}; {done.said}")
        recorded = Counter(key for done in both for key, state in done.states().items() if state == "recorded")
        require(recorded == Counter(KEYS), f"recorded, and how often: {dict(recorded)}")
        replies, calls = on_disk.replies(recording.cassettes), relay.calls
        require(calls == replies, f"{calls} calls for {replies} replies: something was paid for twice")
        wrong = on_disk.strays(recording.cassettes, KEYS)
        require(not wrong, f"in the end there are or lack: {wrong}")
        once_more = recording.record()
        require(once_more.states() == dict.fromkeys(KEYS, "kept"), f"once more: {once_more.states()}")
        require(relay.calls == calls, "once more: a call was made for what is recorded")
    recording.replay(keys=KEYS)
    shares = [sum(state == "recorded" for state in done.states().values()) for done in both]
    return f"{shares[0]} and {shares[1]} of {len(KEYS)} episodes, {replies} replies in {calls} calls"
