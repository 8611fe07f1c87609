"""Recordings through each of the three wire APIs replay when nothing is left to ask."""

from __future__ import annotations

import subprocess
import sys

from reactrepro.cassettes.runs import Run
from reactrepro.wiki.snapshot import SnapshotPages

from ..process import answers
from . import on_disk
from .stage import MODEL, Recording, Stage, require

APIS = ("completions", "chat", "messages")
KEYS = ("0", "1")


def check(stage: Stage) -> str:
    """Record with each API, stop the servers, replay without a network, directly and through the SDKs, and compare."""
    made = [_recorded(stage, api) for api in APIS]
    llm, wiki = stage.servers.url(MODEL), stage.servers.url("wiki")
    stage.servers.stop()
    require(not stage.servers.running(), "a server still runs after it was stopped")
    require(not answers(f"{llm}/models", "") and not answers(wiki, ""), "a server still answers after it was stopped")
    _require_that_the_network_is_blocked(stage)
    episodes = 0
    for recording in made:
        directly, wired = recording.replay(keys=KEYS), recording.replay("--wire", keys=KEYS)
        require(directly == wired, f"{recording.run}: a replay through the SDK is not the direct one")
        _require_that_all_pages_are_its_own(recording)
        episodes += len(directly)
    calls = sum(on_disk.replies(recording.cassettes) for recording in made)
    return f"{len(made)} APIs, {episodes} episodes, {calls} calls; replayed directly and through the SDKs"


def _recorded(stage: Stage, api: str) -> Recording:
    # Anthropic's SDK appends /v1 by itself.
    address = stage.servers.url(MODEL).removesuffix("/v1" if api == "messages" else "")
    recording = stage.recording(f"live-{api}", ",".join(KEYS), "--api", api, "--max-tokens", "40", llm=address)
    done = recording.record()
    require(done.code == 0, f"{api}: exit code {done.code}; {done.said}")
    require(done.states() == dict.fromkeys(KEYS, "recorded"), f"{api}: {done.states()}")
    made = on_disk.replies(recording.cassettes)
    require(done.report["calls"] == made, f"{api}: {done.report['calls']} calls made, {made} recorded")
    wrong = on_disk.no_replies(recording.cassettes) + on_disk.strays(recording.cassettes, KEYS)
    require(not wrong, f"{api}: recorded: {wrong}")
    return recording


def _require_that_the_network_is_blocked(stage: Stage) -> None:
    """Try the guard out: a replay proves nothing where it does not bite."""
    ask = "import urllib.request as r; r.build_opener(r.ProxyHandler({})).open('http://127.0.0.1:9/')"
    done = subprocess.run(  # noqa: S603 - a program of ours
        [sys.executable, "-c", ask],
        env=stage.environment(offline=True),
        capture_output=True,
        text=True,
        check=False,
    )
    require(done.returncode and "the network was used" in done.stderr, "the guard against the network does not bite")


def _require_that_all_pages_are_its_own(recording: Recording) -> None:
    """Read every page from the recording's own snapshot: a replay in a checkout also reads the committed one."""
    run = Run.at(recording.cassettes)
    for key in KEYS:
        pins = {pin.query: pin.sha256 for pin in run.read(key).meta.pages}
        pages = SnapshotPages((recording.snapshot,), "pelm", run.config.settings.extraction, pins)
        for query in pins:
            pages.page(query)
