"""Start-up: the whole life of a process, from its start to its last output."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from clock import Side
from installed import installed

ROOT = Path(__file__).resolve().parents[1]

REPLAY = ("-m", "reactrepro", "replay", "hotpotqa", "0")
IMPORTS = ("-c", "import click, yaml")
EMPTY = ("-c", "")


def children() -> float:
    """Return the seconds of CPU that finished child processes took; the clock for this benchmark."""
    import resource  # not on Windows

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def starting(arguments: Sequence[str], folder: Path = ROOT, **variables: str) -> Side:
    """Return what starts this Python with *arguments* in *folder*, by default the checkout, and waits for its end."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | variables

    def start() -> int:
        subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, stdout=subprocess.PIPE, check=True)
        return 1

    return start


def pytest_starting(folder: Path, *, plugin: bool) -> Side:
    """Return what starts pytest on one empty test in *folder*, with the plugin as installed, or without it.

    Other plugins are left out: they take longer, and vary by more, than what is measured.
    """
    from importlib.metadata import entry_points

    site, test = folder / "site", folder / "test_nothing.py"
    if not site.exists():
        installed(site)
        test.write_text("def test_nothing():\n    pass\n", encoding="ascii")
    others = {entry.name for entry in entry_points(group="pytest11")} - {"reactrepro"}
    blocked = [word for name in sorted(others if plugin else {*others, "reactrepro"}) for word in ("-p", f"no:{name}")]
    path = os.pathsep.join([str(site), str(ROOT)]) if plugin else str(ROOT)
    return starting(["-m", "pytest", "-q", "-p", "no:cacheprovider", *blocked, str(test)], folder, PYTHONPATH=path)
