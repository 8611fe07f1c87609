"""docs/recording.md says what the program does."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest

from reactrepro import cli, errors
from reactrepro.backends.providers import COMPATIBLE, PROVIDERS
from reactrepro.data.prices import prices
from reactrepro.exchanges.retries import Patience
from reactrepro.exchanges.scrub import RESPONSE

PAGE = Path(__file__).parents[2] / "docs" / "recording.md"
TEXT = PAGE.read_text(encoding="utf-8")


def section(title: str) -> str:
    """The text under a heading."""
    return TEXT.partition(f"## {title}\n")[2].partition("\n## ")[0]


def rows(title: str) -> list[list[str]]:
    """The rows of a section's table, without its head."""
    found = re.findall(r"^\| (.*) \|$", section(title), re.MULTILINE)
    return [[cell.strip().strip("`") for cell in row.split(" | ")] for row in found[2:]]


def test_every_command_is_real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The words of each command are understood; nothing is run."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "live").mkdir()
    commands = re.findall(r"^reactrepro ((?:.*\\\n)*.*)$", TEXT, re.MULTILINE)
    assert len(commands) == 5
    for command in commands:
        name, *words = shlex.split(command.replace("\\\n", " "))
        cli.cli.commands[name].make_context(name, words)


def test_every_option_that_is_named_exists() -> None:
    """In prose, too."""
    known = {
        option
        for command in ("record", "replay", "list")
        for p in cli.cli.commands[command].params
        for option in p.opts
    }
    named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", TEXT))
    assert named <= known, named - known


def test_the_providers_are_those_of_the_table() -> None:
    """Address, key variable and APIs."""
    found = {row[0].partition("/")[0]: row[1:] for row in rows("Providers and keys")}
    assert found.pop(COMPATIBLE)[2] == "chat, completions, messages"
    assert found == {
        name: [provider.base_url, provider.key_variable, ", ".join(provider.apis)]
        for name, provider in PROVIDERS.items()
    }


def test_the_modes_are_those_of_the_command() -> None:
    """Each has its row."""
    mode = next(p for p in cli.cli.commands["record"].params if p.name == "mode")
    assert [row[0].split("`")[0] for row in rows("Modes")] == list(mode.type.choices)  # type: ignore[attr-defined]


def test_what_is_kept_of_a_reply_is_listed() -> None:
    """Every member, and no other."""
    names: set[str] = set()

    def walk(form: object) -> None:
        if isinstance(form, Mapping):
            names.update(form)
            for inner in form.values():
                walk(inner)

    walk(RESPONSE)
    listed = section("What is written").partition("no others:")[2].partition("\n\nOf an address")[0]
    assert set(re.findall(r"`([a-z_]+)`", listed)) == names


def test_numbers_are_the_programs() -> None:
    """Attempts, time-outs, waits."""
    patience, told = Patience(), section("When a provider fails")
    for text in (f"({patience.attempts})", f"({patience.timeout:g} s)", f"up to {patience.longest_wait:g} s"):
        assert text in told


def test_the_prices_that_are_shown_can_be_read(tmp_path: Path) -> None:
    """The example is a file that `--prices` takes."""
    (example,) = re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)
    tmp_path.joinpath("prices.json").write_text(example, encoding="utf-8")
    found = prices([tmp_path / "prices.json"])
    assert str(found["openai-api/my-lab/Qwen/Qwen3-8B"].output) == "0.20"


def test_the_exit_codes_exist() -> None:
    """Those that a recording can end with."""
    codes = {int(row[0]) for row in rows("Exit codes")}
    assert codes == {*range(7), errors.Interrupted.exit_code}
