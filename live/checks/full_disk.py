"""A full disk is a clear error, leaves what was recorded intact, and is no reason to begin anew."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reactrepro.cassettes.runs import Run

from ..relay import Moment, Relay
from . import on_disk
from .stage import MODEL, Done, Recording, Skipped, Stage, require

KEYS = tuple(map(str, range(4)))
SIZE = 2 << 20
"""Bytes of the disk."""


def check(stage: Stage) -> str:
    """Fill the disk while the third reply is on its way, give the command again, make room, and give it once more."""
    with _small_disk(stage.folder / "disk") as disk:
        ballast = disk / "ballast"

        def watch(moment: Moment, number: int) -> None:
            if (moment, number) == ("answered", 3):
                _fill(ballast)

        with Relay(stage.servers.url(MODEL), watch) as relay:
            recording = stage.recording("full-disk", ",".join(KEYS), llm=relay.base_url, folder=disk)
            require_clear(recording.record())
            kept = _require_intact(recording)
            require(kept >= relay.calls - 1, f"on the full disk: {kept} replies kept of {relay.calls} calls")
            calls = relay.calls
            require_clear(recording.record())
            require(relay.calls == calls, "a call was paid for that could not be saved")
            require(_require_intact(recording) == kept, "a second try on the full disk did harm")
            ballast.unlink()
            done = recording.record()
            require(done.code == 0, f"with room again: exit code {done.code}; {done.said}")
            replies = on_disk.replies(recording.cassettes)
            require(relay.calls - calls == replies - kept, "with room again: something was paid for twice")
        wrong = on_disk.strays(recording.cassettes, KEYS)
        require(not wrong, f"in the end there are or lack: {wrong}")
        recording.replay(keys=KEYS)
        for name in ("cassettes", "wiki_snapshot"):  # to be looked through for secrets
            shutil.copytree(disk / name, stage.folder / "full-disk" / name)
    return f"full at reply {calls}, {kept} kept and intact, none paid for in vain; {replies} replies in the end"


def _require_intact(recording: Recording) -> int:
    """Return how many replies are there, after a look at each file and a replay of what is finished."""
    wrong = on_disk.half_written(recording.cassettes) + on_disk.no_replies(recording.cassettes)
    require(not wrong, f"on the full disk: {wrong}")
    if finished := Run.at(recording.cassettes).keys():
        recording.replay(keys=finished)
    return on_disk.replies(recording.cassettes)


def _fill(ballast: Path) -> None:
    """Write until there is no room for another byte."""
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(4096))


def require_clear(full: Done) -> None:
    """Fail the check unless the command *full* says what the matter is, in words."""
    require(full.code not in (0, 130), f"a full disk ended with exit code {full.code}; {full.said}")
    require("Traceback" not in full.err, f"a full disk is a traceback to the user, exit code {full.code}; {full.said}")
    require("space" in full.err + full.out, f"nothing says that the disk is full; {full.said}")


@contextmanager
def _small_disk(folder: Path) -> Iterator[Path]:
    if os.geteuid():
        raise Skipped("only root can mount a small disk")
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=755", "tmpfs", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise Skipped(f"no small disk can be mounted here: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=False)  # noqa: S603, S607
