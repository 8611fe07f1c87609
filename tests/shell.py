"""Shell commands of documents, workflows and the action, run here: on this very code, offline, nothing installed."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

from benchmarks.installed import installed
from reactrepro import cli

ROOT = Path(__file__).parents[1]

KNOWS_FORMATS = any("--format" in option.opts for option in cli.cli.commands["check"].params)
"""Whether `check` has --format; without it the words are dropped from what is run."""

PYTHON = """\
#!/bin/sh
case " $* " in *" -m pip "*) exit 0 ;; esac
exec {python} "$@"
"""
REACTREPRO = """\
#!{python}
import sys
sys.path.insert(0, {root!r})
words = sys.argv[1:]
if not {known} and "--format" in words:
    del words[words.index("--format") : words.index("--format") + 2]
from reactrepro.cli import run
sys.exit(run(words))
"""


class Shell:
    """Runs commands in a folder; `reactrepro`, `pytest` and `python` are this very code, and `pip` does nothing.

    Args:
        folder: where the programs are put.
        offline: environment in which sockets are errors.
        here: the current folder, to begin with.
    """

    def __init__(self, folder: Path, offline: dict[str, str], here: Path) -> None:
        site, programs = folder / "site", folder / "bin"
        installed(site)
        programs.mkdir()
        python = shlex.quote(sys.executable)
        program(programs / "python", PYTHON.format(python=python))
        program(programs / "pytest", f'#!/bin/sh\nexec {python} -m pytest "$@"\n')
        program(
            programs / "reactrepro",
            REACTREPRO.format(python=sys.executable, root=str(ROOT), known=KNOWS_FORMATS),
        )
        self.programs, self.here = programs, here
        paths = os.pathsep.join([str(site), offline["PYTHONPATH"]])
        self.env = {
            **{name: value for name, value in offline.items() if name != "CI" and not name.startswith("PYTEST_")},
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": paths,
            "PYTHONUTF8": "1",
            "COLUMNS": "80",
        }

    def run(self, command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run *command*; `cd` holds for what follows. Output and errors come in one."""
        words = shlex.split(command)
        if words[0] == "cd":
            self.here = self.here / words[1]
            return subprocess.CompletedProcess(command, 0, "", "")
        return subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=self.here,
            env=self.env | variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )


def program(path: Path, text: str) -> None:
    """Write a program."""
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
