"""The gate over a whole evaluation set: from the process's start to its last output."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from clock import Side
from recordings import Workload

ROOT = Path(__file__).resolve().parents[1]


def checking(workload: Workload, *words: str, code: int = 0) -> Side:
    """Return what starts ``reactrepro check`` on *workload*, with *words*, and waits until it ends with *code*."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [environment.get("PYTHONPATH")])])
    command = [sys.executable, "-m", "reactrepro", "check", "cassettes", *words]

    def check() -> int:
        done = subprocess.run(command, cwd=workload.root, env=environment, stdout=subprocess.PIPE, check=False)
        if done.returncode != code:
            raise AssertionError(f"{' '.join(command)} ended with {done.returncode}: {done.stdout[-500:]!r}")
        return 1

    return check
