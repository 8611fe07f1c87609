"""docs/data.md says what the program does."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from reactrepro import cli
from reactrepro.data import fetch, install
from reactrepro.data.catalogue import FILES, RELEASED
from reactrepro.data.paper_prompts import FEVER
from reactrepro.data.subsets import paper500

TEXT = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")


def rows(title: str) -> list[list[str]]:
    """The rows of a section's first table, without its head."""
    section = TEXT.partition(f"## {title}\n")[2].partition("\n## ")[0]
    found = re.findall(r"^\| (.*) \|$", section, re.MULTILINE)[2:]
    return [[cell.strip() for cell in row.split(" | ")] for row in found]


def test_the_files_are_those_of_the_catalogue() -> None:
    """Command, name, rows, bytes and sum; which is the default."""
    listed = [
        [
            f"`{file.command}`" + (" (default)" if file is files[0] and len(files) > 1 else ""),
            f"`{file.name}`",
            f"{file.rows:,}",
            f"{file.size:,}",
            file.sha256,
        ]
        for files in FILES.values()
        for file in files
    ]
    assert rows("What there is") == listed


def test_the_prompts_are_those_that_are_installed() -> None:
    """String, prompt and sum."""
    assert rows("The paper's prompts") == [
        [f"`{prompt.name}`", f"`{FEVER.task}/paper/{prompt.method}`", prompt.sha256] for prompt in FEVER.prompts
    ]


def test_numbers_are_the_programs() -> None:
    """Limits, the commit, the subset's first rows."""
    for told in (
        f"{install.LIMIT >> 20} MiB",
        f"{fetch.TIMEOUT[1]:g} s without a byte",
        f"{fetch.LONGEST / 60:g} minutes",
        f"\n  {RELEASED[:7]};",
        f"{', '.join(paper500()[:10])}, …",
    ):
        assert told in TEXT


def test_every_command_and_option_is_real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words of each command are understood; every option that is named exists."""
    monkeypatch.chdir(tmp_path)
    commands = re.findall(r"^reactrepro (.*)$", TEXT, re.MULTILINE) + re.findall(r"`reactrepro (fetch [^`…]*)`", TEXT)
    assert len(commands) >= 10
    for command in commands:
        name, *words = shlex.split(command)
        group = cli.cli.commands[name]
        if hasattr(group, "commands") and words:
            name, *words = words
            group = group.commands[name]
        group.make_context(name, words)
    groups = [cli.cli.commands["record"], *cli.cli.commands["fetch"].commands.values()]  # type: ignore[attr-defined]
    known = {option for group in groups for param in group.params for option in param.opts} | {"--prompt"}
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", TEXT))
    assert named <= known, named - known
