"""The real servers, as the checks start, find, stop and kill them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..process import LOOPBACK, Failed, Unsupported

ROOT = Path(__file__).parents[2]
"""The checkout."""


class Servers:
    """The real servers, by way of `python -m live.servers`.

    Args:
        options: of that command (--state, ports).
        warm: a text that the models read in at each start.
    """

    def __init__(self, options: Sequence[str], warm: Path) -> None:
        self._options = (*options, "--warm", str(warm))
        self._facts: dict[str, Any] = {}

    def start(self) -> None:
        """Start what does not run.

        Raises:
            Unsupported, Failed: it cannot be started, and why.
        """
        self._facts = json.loads(self._run("start", "--json"))

    def stop(self) -> None:
        """Stop all of them."""
        self._run("stop")

    def running(self) -> list[str]:
        """Return the names of those that run."""
        return [name for name, facts in json.loads(self._run("status", "--json")).items() if facts]

    def url(self, name: str) -> str:
        """Return the base URL of the server *name*."""
        return str(self._facts[name]["base_url"])

    def of_model(self, model: str) -> str | None:
        """Return the name of the server that has *model*, or None."""
        return next((name for name, facts in self._facts.items() if facts.get("model") == model), None)

    def kill(self, name: str) -> None:
        """Kill a server, and the workers that it has, without a warning; return when its port is free."""
        os.killpg(self._facts[name]["pid"], signal.SIGKILL)
        port = urlsplit(self.url(name)).port or 0
        end = time.monotonic() + 30
        while not _free(port) and time.monotonic() < end:
            time.sleep(0.02)

    def _run(self, *words: str) -> str:
        command = [sys.executable, "-m", "live.servers", *words, *self._options]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            kind = Unsupported if done.returncode == Unsupported.exit_code else Failed
            raise kind(done.stderr.strip())
        return done.stdout


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True
