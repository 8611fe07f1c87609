"""Start-up: the whole life of a process, from its start to its last output."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from clock import Side

ROOT = Path(__file__).resolve().parents[1]

REPLAY = ("-m", "reactrepro", "replay", "hotpotqa", "0")
IMPORTS = ("-c", "import click, yaml")
EMPTY = ("-c", "")


def children() -> float:
    """Return the seconds of CPU that finished child processes took; the clock for this benchmark."""
    import resource  # not on Windows

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def starting(arguments: Sequence[str]) -> Side:
    """Return what starts this Python with *arguments*, in the checkout, and waits for its end."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def start() -> int:
        subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, stdout=subprocess.PIPE, check=True)
        return 1

    return start
