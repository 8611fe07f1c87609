"""The example package of docs/plugins.md: found by its entry points, recorded with, replayed, checked."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from .lab import Lab, lab
from .llm_server import Asked, Say

__all__ = ["lab"]

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "plugin"


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder for PYTHONPATH that has what an installer makes of the package: its module, and its entry points."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))["project"]
    folder = tmp_path / "site"
    info = folder / f"reactrepro_example-{project['version']}.dist-info"
    info.mkdir(parents=True)
    module = EXAMPLE / "reactrepro_example.py"
    (folder / module.name).write_bytes(module.read_bytes())
    lines = [f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"]
    (info / "METADATA").write_text("".join(lines), encoding="utf-8")
    groups = [
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in entries.items())
        for group, entries in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("\n".join(groups), encoding="utf-8")
    return folder


def run(lab: Lab, installed: Path | None, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command in the lab's folder, with the package or without it."""
    path = [str(ROOT), *([str(installed)] if installed else [])]
    return subprocess.run(
        [sys.executable, "-m", "reactrepro", *words],
        cwd=lab.root,
        env={"PYTHONPATH": ":".join(path), "PATH": "", "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_package_adds_a_task_a_method_and_a_wire_api(lab: Lab, installed: Path) -> None:
    """Recorded through the command, replayed without a server; where the package is missing, that is said."""
    asked: list[Asked] = []

    def answer(request: Asked) -> Say:
        asked.append(request)
        return Say(" esuohthgil")

    lab.llm.answer = answer  # type: ignore[method-assign]
    words = ["spelling", "all", "--method", "guess", "--api", "chat_brief"]
    model = ["--model", "openai-api/local/a-model", "--base-url", lab.llm.base_url]
    done = run(lab, installed, "record", *words, *model)
    assert (done.returncode, done.stderr) == (0, "")
    assert [request.body["messages"][0] for request in asked] == [{"role": "system", "content": "Be brief."}] * 2
    assert {request.body["max_tokens"] for request in asked} == {16}
    done = run(lab, installed, "replay", "spelling", "0-1", "--method", "guess", "--json")
    assert [(row["em"], row["answer"]) for row in json.loads(done.stdout)["episodes"]] == [
        (True, "esuohthgil"),
        (False, "esuohthgil"),
    ]
    config = json.loads(lab.cassettes.joinpath("spelling", "guess", "a-model", "run.json").read_bytes())
    assert (config["site"], config["rules"]) == (None, ["the reply, stripped, is the answer"])
    without = run(lab, None, "replay", "spelling", "0", "--method", "guess")
    assert without.returncode == 5
    assert "It needs a package that is not installed" in without.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["record", "spellings", "0"],
        ["record", "spelling", "0", "--method", "guesses"],
        ["record", "spelling", "0", "--method", "guess", "--api", "chat_briefly"],
    ],
)
def test_a_name_that_no_package_has_is_unknown(lab: Lab, installed: Path, words: list[str]) -> None:
    """A usage error that names it."""
    done = run(lab, installed, *words, "--model", "openai-api/local/m", "--base-url", lab.llm.base_url)
    assert done.returncode == 2
    assert f"'{words[1] if len(words) == 3 else words[-1]}'" in done.stderr


def test_the_page_shows_the_package() -> None:
    """Every block of it stands in the package's files, word for word."""
    page = (ROOT / "docs" / "plugins.md").read_text("utf-8")
    for file, kind in (("pyproject.toml", "toml"), ("reactrepro_example.py", "py")):
        blocks = re.findall(rf"^```{kind}\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
        assert blocks
        assert all(block in (EXAMPLE / file).read_text("utf-8") for block in blocks)
