"""What an installed reactrepro imports, and when; what its wheel is made of."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# What only recording needs, and what no plain report needs.
SDKS = {"anthropic", "httpcore", "httpx", "httpx2", "openai", "pydantic", "vcr"}
HEAVY = SDKS | {"bs4", "jinja2", "jsonlines", "requests", "rich", "selectolax", "urllib3"}

DISTRIBUTIONS = {"yaml": "pyyaml", "vcr": "vcrpy"}
# pytest is there when its plugin is asked for; the SDKs bring their transport, and take it as an argument.
COME_WITH_OTHERS = {"pytest", "httpx", "httpx2"}

IMPORT = """\
import sys
before = set(sys.modules)
import {module}
import json
print(json.dumps(sorted(set(sys.modules) - before)))
"""
RUN = """\
import json, runpy, sys
sys.argv = ["reactrepro", *sys.argv[1:]]
code = 0
try:
    runpy.run_module("reactrepro", run_name="__main__", alter_sys=True)
except SystemExit as end:
    code = end.code or 0
sys.stdout.flush()
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""


@pytest.mark.parametrize("module", ["reactrepro", "reactrepro.domain", "reactrepro.registry"])
def test_the_foundation_needs_the_standard_library_only(module: str, offline: dict[str, str]) -> None:
    """Importing the domain imports the standard library, `errors`, `sent`, and nothing else."""
    command = [sys.executable, "-c", IMPORT.format(module=module)]
    done = subprocess.run(command, env=offline, capture_output=True, text=True, check=True)
    imported = json.loads(done.stdout)
    assert {name.partition(".")[0] for name in imported} - sys.stdlib_module_names == {"reactrepro"}
    below = {"reactrepro", "reactrepro.errors", "reactrepro.sent"}
    assert {n for n in imported if n.startswith("reactrepro")} <= {*below, module}


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["replay", "hotpotqa", "0"]], ids=lambda arguments: arguments[0]
)
def test_start_up_imports_no_sdk(arguments: list[str], offline: dict[str, str], tmp_path: Path) -> None:
    """Help and replay run from any folder, offline, without importing an SDK, vcrpy or an HTTP library."""
    command = [sys.executable, "-c", RUN, *arguments]
    done = subprocess.run(command, env=offline, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    code, modules = json.loads(done.stderr.splitlines()[-1])
    assert code == 0, done.stderr
    assert HEAVY & {name.partition(".")[0] for name in modules} == set()


def test_recordings_are_part_of_the_wheel_and_unfinished_ones_are_not() -> None:
    """The wheel is configured to hold both folders of recordings, never `*.yaml.part`; `nox -s build` opens one."""
    build = tomllib.loads(ROOT.joinpath("pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    wheel = build["targets"]["wheel"]
    assert wheel["sources"] == {
        "cassettes": "reactrepro/_recordings/cassettes",
        "wiki_snapshot": "reactrepro/_recordings/wiki_snapshot",
    }
    assert set(wheel["only-include"]) == {"reactrepro", *wheel["sources"]}
    assert "*.yaml.part" in build["exclude"]
    # Force-included files pass over `exclude` and are copied into editable installs.
    assert "force-include" not in wheel
    assert build["dev-mode-dirs"] == ["."]


def test_every_imported_package_is_declared() -> None:
    """What the package imports from others stands in pyproject.toml, not merely in somebody's environment."""
    imported: set[str] = set()
    for path in ROOT.joinpath("reactrepro").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                imported.add(node.module.partition(".")[0])
    requirements = tomllib.loads(ROOT.joinpath("pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    declared = {re.split(r"[^\w.-]", requirement)[0].lower() for requirement in requirements}
    wanted = {DISTRIBUTIONS.get(name, name) for name in imported - sys.stdlib_module_names - {"reactrepro"}}
    assert wanted - COME_WITH_OTHERS <= declared


def test_the_sessions_need_pip_only() -> None:
    """Development needs Python, git and pip: nox builds plain environments, and no dependency group asks for uv."""
    groups = tomllib.loads(ROOT.joinpath("pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    assert not [entry for group in groups.values() for entry in group if "uv" in str(entry)]
    noxfile = ROOT.joinpath("noxfile.py").read_text(encoding="utf-8")
    assert 'nox.options.default_venv_backend = "venv"' in noxfile
