"""The GitHub Action and the pre-commit hook: what they say, and their shell logic, run as a script."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from reactrepro.runs.init import init

from .shell import Shell, program

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or shutil.which("bash") is None, reason="the programs that stand in are for a POSIX shell"
)

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "action" / "check.sh"
ACTION: dict[str, Any] = yaml.safe_load(ROOT.joinpath("action.yml").read_text("utf-8"))

# Stands in for Python: logs what it is asked, and makes environments whose programs log, too.
STAND_IN = """\
#!/bin/bash
printf '%s\\n' "$*" >> {log}
if [ "$2 $3" = "-m venv" ]; then
  mkdir -p "$4/bin"
  cp "$0" "$4/bin/python"
  cp {command} "$4/bin/reactrepro"
fi
"""


@pytest.fixture
def shell(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, offline: dict[str, str]) -> Shell:
    """A shell in a fresh project."""
    init(tmp_path / "project")
    return Shell(tmp_path_factory.mktemp("shell"), offline, tmp_path)


def act(shell: Shell, *, real: bool = False, **variables: str) -> tuple[int, str, list[str]]:
    """Run the script as the action does; return exit code, output, and every word that reached `reactrepro`."""
    folder = shell.programs.parent
    command, log, words = folder / "command", folder / "log", folder / "words"
    for old in (log, words):
        old.unlink(missing_ok=True)
    if real:
        shutil.copy(shell.programs / "reactrepro", command)
    else:
        program(command, f'#!/bin/bash\npwd > {folder}/pwd\nfor word; do echo "<$word>"; done > {words}\nexit 7\n')
    program(folder / "stand-in", STAND_IN.format(log=shlex.quote(str(log)), command=shlex.quote(str(command))))
    given = {"REACTREPRO_PYTHON": str(folder / "stand-in"), "REACTREPRO_PATH": "cassettes", "RUNNER_TEMP": str(folder)}
    done = shell.run(f"bash {shlex.quote(str(SCRIPT))}", **given | {"REACTREPRO_FOLDER": "project"} | variables)
    found = words.read_text("utf-8").splitlines() if words.exists() else []
    return done.returncode, done.stdout, found


def test_it_installs_its_own_checkout_and_checks(shell: Shell) -> None:
    """In an environment of its own, and never with modules of the project's folder; the exit code is that of check."""
    code, out, words = act(shell)
    assert (code, out) == (7, "")
    assert words == ["<check>", "<--format>", "<github>", "<-->", "<cassettes>"]
    folder = shell.programs.parent
    assert folder.joinpath("pwd").read_text("utf-8").strip() == str(shell.here / "project")
    made, installed = folder.joinpath("log").read_text("utf-8").splitlines()
    assert made.startswith(f"-I -m venv {folder}/reactrepro.")
    assert installed == f"-I -m pip install --quiet --disable-pip-version-check {ROOT}"


def test_every_input_arrives(shell: Shell) -> None:
    """allow-stale, further arguments in several lines, no path."""
    _, _, words = act(
        shell, REACTREPRO_ALLOW_STALE="true", REACTREPRO_ARGS="--max-age 90d\n  --quiet\n", REACTREPRO_PATH=""
    )
    assert words == [
        "<check>",
        "<--format>",
        "<github>",
        "<--allow-stale>",
        "<--max-age>",
        "<90d>",
        "<--quiet>",
        "<-->",
    ]


@pytest.mark.parametrize("text", ["; touch pwned", "$(touch pwned)", "`touch pwned`", "* ~ $HOME", "-x 'a b' \\"])
def test_no_input_is_evaluated(shell: Shell, text: str) -> None:
    """Whatever stands in an input is words: no command, no variable, no file name is made of it."""
    _, _, words = act(shell, REACTREPRO_ARGS=text, REACTREPRO_PATH=text)
    assert words == [f"<{word}>" for word in ("check", "--format", "github", *text.split(), "--", text)]
    code, out, words = act(shell, REACTREPRO_ALLOW_STALE=text)
    assert (code, words) == (2, [])
    assert out == "::error title=reactrepro::allow-stale is neither true nor false\n"
    assert not list(shell.here.rglob("pwned"))


def test_a_folder_that_does_not_exist_is_an_error(shell: Shell) -> None:
    """Nothing is checked elsewhere in its place."""
    code, _, words = act(shell, REACTREPRO_FOLDER="absent")
    assert code != 0
    assert words == []


def test_the_gate_opens_and_closes(shell: Shell) -> None:
    """With the real command: exit code 0 on a fresh project, 1 once its prompt was edited."""
    code, out, _ = act(shell, real=True)
    assert code == 0, out
    prompt = shell.here / "project" / "prompts" / "hotpotqa" / "mine" / "react.txt"
    prompt.write_bytes(prompt.read_bytes().replace(b"was Milhous. \n", b"was Milhous.\n"))
    code, out, _ = act(shell, real=True)
    assert code == 1, out
    assert "prompts/hotpotqa/mine/react.txt" in out


def test_a_module_of_the_project_is_never_imported(shell: Shell) -> None:
    """A pull request cannot put its own `click` or `pip` in the place of the real one."""
    for name in ("click", "pip", "venv", "reactrepro"):
        for folder in (shell.here, shell.here / "project"):
            folder.joinpath(f"{name}.py").write_text("raise SystemExit('imported')\n", "utf-8")
    code, out, _ = act(shell, real=True)
    assert (code, "imported" in out) == (0, False), out


def test_what_the_action_says_holds() -> None:
    """A composite action without secrets; expressions stand in `env` and `with` alone, and name inputs that exist."""
    text = ROOT.joinpath("action.yml").read_text("utf-8")
    assert ACTION["runs"]["using"] == "composite"
    assert "secrets." not in text
    assert "github.event" not in text
    known = {f"${{{{ inputs.{name} }}}}" for name in ACTION["inputs"]} | {"${{ steps.python.outputs.python-path }}"}
    used: set[str] = set()
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        used |= {*step.get("env", {}).values(), *map(str, step.get("with", {}).values())}
    assert {value for value in used if "${{" in value} == known
    (script,) = [step for step in ACTION["runs"]["steps"] if "run" in step]
    assert script["run"] == 'bash "$GITHUB_ACTION_PATH/action/check.sh"'
    assert all(f"{{{name}:-" in SCRIPT.read_text("utf-8") for name in script["env"])


def test_the_script_is_sound_shell() -> None:
    """bash can parse it, and it stops at the first failure."""
    assert subprocess.run(["bash", "-n", str(SCRIPT)], check=False).returncode == 0
    assert "set -euo pipefail" in SCRIPT.read_text("utf-8")


def test_the_hook_is_a_command_that_needs_no_file_names() -> None:
    """pre-commit installs the package and runs `check --only prompts` where a prompt or a recording was touched."""
    (hook,) = yaml.safe_load(ROOT.joinpath(".pre-commit-hooks.yaml").read_text("utf-8"))
    assert (hook["language"], hook["pass_filenames"]) == ("python", False)
    assert hook["entry"] == "reactrepro check --only prompts"
    for path, touched in (
        ("prompts/hotpotqa/mine/react.txt", True),
        ("a/cassettes/x.yaml", True),
        ("README.md", False),
    ):
        assert (re.search(hook["files"], path) is not None) is touched
