"""docs/gate-in-five-minutes.md and docs/pytest.md are followed word for word, in a project made on the spot."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
import yaml

from reactrepro.runs.init import init

from .shell import Shell
from .test_readme import Example, agrees, examples

pytestmark = pytest.mark.skipif(
    sys.platform == "win32" or shutil.which("bash") is None, reason="the commands are for a POSIX shell"
)

ROOT = Path(__file__).parents[1]
GATE = ROOT.joinpath("docs", "gate-in-five-minutes.md").read_text("utf-8")
PLUGIN = ROOT.joinpath("docs", "pytest.md").read_text("utf-8")


@pytest.fixture
def shell(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, offline: dict[str, str]) -> Shell:
    """A shell in an empty folder."""
    return Shell(tmp_path_factory.mktemp("shell"), offline, tmp_path)


def follow(shell: Shell, page: list[Example]) -> None:
    """Run the commands; what is printed has to be what the page shows, the ends of cut lines (`...`) aside."""
    for example in page:
        done = shell.run(example.command)
        printed = [line.rstrip() for line in done.stdout.rstrip().split("\n")] if done.stdout.strip() else []
        shown = [line.rstrip() for line in example.output]
        heads = [line[:-3] for line in shown if line.endswith("...") and line != "..."]
        cut = [next((head + "..." for head in heads if line.startswith(head)), line) for line in printed]
        if not agrees(tuple(shown), cut):
            assert printed == shown, example.command
        assert done.returncode == example.code, f"{example.command}\n{done.stdout}"


@pytest.mark.slow
def test_the_gate_page_is_true_word_for_word(shell: Shell) -> None:
    """Every command that needs neither a key nor a network, in order."""
    page = examples(GATE)
    assert [example.code for example in page].count(1) == 2
    assert {example.command.split()[0] for example in page} == {"reactrepro", "cd", "pytest", "sed", "rm"}
    follow(shell, page)


@pytest.mark.slow
def test_the_plugin_page_is_true_word_for_word(shell: Shell) -> None:
    """Its console, in a fresh project."""
    init(shell.here)
    page = examples(PLUGIN)
    assert len(page) == 3
    follow(shell, page)


@pytest.mark.parametrize("code", re.findall(r"<!-- test -->\n```py\n(.*?)```", PLUGIN, re.DOTALL))
def test_the_plugins_examples_pass(shell: Shell, code: str) -> None:
    """As they stand, from an empty folder, on the packaged recordings."""
    shell.here.joinpath("test_example.py").write_text(code, "utf-8")
    done = shell.run("pytest -q -W error test_example.py")
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


def test_the_actions_inputs_are_those_of_the_page() -> None:
    """Names and defaults, in order."""
    inputs = yaml.safe_load(ROOT.joinpath("action.yml").read_text("utf-8"))["inputs"]
    table = re.findall(r"^\| `([a-z-]+)` \| (?:`([^`]*)`)? ?\|", GATE, re.MULTILINE)
    assert table == [(name, given["default"]) for name, given in inputs.items()]


def test_the_yaml_of_the_page_is_yaml() -> None:
    """And the hook it names is there."""
    blocks = [yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", GATE, re.DOTALL)]
    (hook,) = yaml.safe_load(ROOT.joinpath(".pre-commit-hooks.yaml").read_text("utf-8"))
    assert blocks[1]["repos"][0]["hooks"] == [{"id": hook["id"]}]
    assert set(blocks[0]["steps"][1]["with"]) <= set(
        yaml.safe_load(ROOT.joinpath("action.yml").read_text("utf-8"))["inputs"]
    )


def test_every_fixture_of_the_plugin_is_in_its_page() -> None:
    """And no other."""
    source = ROOT.joinpath("reactrepro", "pytest_plugin.py").read_text("utf-8")
    assert re.findall(r"^\| `(reactrepro_\w+)` \|", PLUGIN, re.MULTILINE) == re.findall(
        r"^@pytest.fixture\ndef (\w+)", source, re.MULTILINE
    )
