"""The command, run as a user runs it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Offline = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run_offline(offline: dict[str, str], tmp_path: Path) -> Offline:
    """Run `reactrepro` offline, in the test's own folder; it never ends in a traceback."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "reactrepro", *words],
            cwd=tmp_path,
            env=offline | {"PYTHONUTF8": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert "Traceback" not in done.stderr
        return done

    return run
