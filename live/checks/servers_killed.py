"""A server that is killed in the middle of a recording costs a repetition, and nothing that is no reply is kept."""

from __future__ import annotations

import time

from ..relay import Moment, Relay
from . import on_disk
from .stage import MODEL, Done, Recording, Stage, require

KEYS = ("0", "1")


def check_llm(stage: Stage) -> str:
    """Kill the model's server while it works on the second call; start it again and finish."""

    def watch(moment: Moment, number: int) -> None:
        if (moment, number) == ("asked", 2):
            time.sleep(0.2)
            stage.servers.kill(MODEL)

    with Relay(stage.servers.url(MODEL), watch) as relay:
        recording = stage.recording("llm-killed", ",".join(KEYS), "--attempts", "2", llm=relay.base_url)
        broken = recording.record()
        require(broken.code == 4, f"exit code {broken.code} and not 4; {broken.said}")
        require(broken.states() == dict.fromkeys(KEYS, "failed"), f"the episodes: {broken.states()}")
        _require_only_replies(recording, ["0.error.json", "0.yaml.part", "1.error.json"], 1)
        stage.servers.start()
        before = relay.calls
        return _finished(recording, relay, before, broken)


def check_wiki(stage: Stage) -> str:
    """Kill the wiki while the first reply is on its way; start it again and finish."""

    def watch(moment: Moment, number: int) -> None:
        if (moment, number) == ("answered", 1):
            stage.servers.kill("wiki")

    with Relay(stage.servers.url(MODEL), watch) as relay:
        recording = stage.recording("wiki-killed", KEYS[1], llm=relay.base_url)
        broken = recording.record()
        require(broken.code == 4, f"exit code {broken.code} and not 4; {broken.said}")
        require(broken.states() == {KEYS[1]: "failed"}, f"the episode: {broken.states()}")
        _require_only_replies(recording, ["1.error.json", "1.yaml.part"], relay.calls)
        pages = on_disk.size(recording.snapshot)[0]
        require(not pages, f"{pages} files of pages were kept of a wiki that was dead")
        stage.servers.start()
        before = relay.calls
        return _finished(recording, relay, before, broken)


def _require_only_replies(recording: Recording, names: list[str], replies: int) -> None:
    wrong = on_disk.half_written(recording.cassettes) or on_disk.no_replies(recording.cassettes)
    require(not wrong, f"what is kept and is no reply: {wrong}")
    left = {path.name for path in recording.cassettes.iterdir() if not path.name.startswith(".")}
    require(left == {"run.json", *names}, f"after the failure there are {sorted(left)}")
    kept = on_disk.replies(recording.cassettes)
    require(kept == replies, f"{kept} replies are kept of {replies} that came")


def _finished(recording: Recording, relay: Relay, before: int, broken: Done) -> str:
    """Give the command again, and assert that it only does what is left to do."""
    kept = on_disk.replies(recording.cassettes)
    done = recording.record()
    require(done.code == 0, f"once more: exit code {done.code}; {done.said}")
    keys = list(broken.states())
    require(done.states() == dict.fromkeys(keys, "recorded"), f"once more: {done.states()}")
    wrong = on_disk.strays(recording.cassettes, keys)
    require(not wrong, f"in the end there are or lack: {wrong}")
    new, calls = on_disk.replies(recording.cassettes) - kept, relay.calls - before
    require(new == calls, f"once more: {calls} calls for {new} new replies")
    recording.replay(keys=keys)
    return f"infra error, {kept} replies kept; the same command made the {calls} other calls and finished"
