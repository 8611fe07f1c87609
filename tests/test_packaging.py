"""What an installed reactrepro imports, and when; what its wheel is made of."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
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
    """Importing the domain imports the standard library, `errors`, and nothing else."""
    command = [sys.executable, "-c", IMPORT.format(module=module)]
    done = subprocess.run(command, env=offline, capture_output=True, text=True, check=True)
    imported = json.loads(done.stdout)
    assert {name.partition(".")[0] for name in imported} - sys.stdlib_module_names == {"reactrepro"}
    assert {n for n in imported if n.startswith("reactrepro")} <= {"reactrepro", "reactrepro.errors", module}


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


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the wheel, built from this checkout, was unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist")]
    subprocess.run(build, cwd=ROOT, capture_output=True, check=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_the_gate_works_from_a_wheel_in_an_empty_folder(
    installed: Path, offline: dict[str, str], tmp_path: Path
) -> None:
    """Nothing has to be there: the packaged recordings are checked, no lock is missed, and a project can begin one."""
    hook = offline["PYTHONPATH"].split(os.pathsep)[0]
    environment = offline | {"PYTHONPATH": os.pathsep.join([hook, str(installed)]), "PYTHONUTF8": "1"}
    environment.pop("CI", None)

    def run(*words: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "reactrepro", *words]
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, encoding="utf-8", check=False
        )
        return done.returncode, (done.stdout + done.stderr).replace(str(installed), "<site>")

    assert not (installed / "prompts.lock").exists()
    assert run("check", "--quiet") == (0, "268 recordings checked: 268 ok.\n")
    assert list(tmp_path.iterdir()) == []
    assert run("accept") == (0, "nothing to accept: this project has no prompts and no recordings of its own.\n")
    run_folder = Path("cassettes/hotpotqa/react/deepseek-v3-250324")
    shutil.copytree(installed / "reactrepro/_recordings" / run_folder, tmp_path / run_folder)
    assert run("accept")[1].endswith("prompts.lock: 1 change accepted; it holds 1 prompt.\n")
    prompt = installed / "reactrepro/prompts/hotpotqa/paper/react.txt"
    whole = prompt.read_bytes()
    try:
        prompt.write_bytes(whole.replace(b"Milhous. \n", b"Milhous.\n"))
        code, printed = run("check", "--quiet", "cassettes")
        assert code == 1
        assert printed.startswith("prompt changed: hotpotqa/paper/react is not the prompt that was recorded with")
        assert r"whose middle name was Milhous.\x20" in printed
        assert printed.endswith("1 recording checked: 1 prompt changed.\n")
        assert run("accept", "hotpotqa/paper/react")[0] == 0
        assert run("check", "--quiet", "--allow-stale", "cassettes")[0] == 0
        assert run("check", "--quiet", "--only", "prompts", "cassettes")[0] == 1
    finally:
        prompt.write_bytes(whole)


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
