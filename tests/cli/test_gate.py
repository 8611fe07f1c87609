"""What a prompt change looks like: the README's example, made for real."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ..world import checkout


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of the project, to be edited."""
    for name in ("reactrepro", "cassettes", "wiki_snapshot"):
        shutil.copytree(checkout() / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def check(clone: Path, offline: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    """Run `reactrepro check` in *clone*, on its own code."""
    return subprocess.run(
        [sys.executable, "-m", "reactrepro", "check", *words, "cassettes/hotpotqa"],
        cwd=clone,
        env=offline | {"PYTHONPATH": f"{clone}:{offline['PYTHONPATH']}", "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


@pytest.mark.case("B42")
def test_a_lost_trailing_blank_is_reported_as_the_readme_shows(clone: Path, offline: dict[str, str]) -> None:
    """Exit code 1, and the place of the blank: the example in README.md is what the program prints."""
    prompt = clone / "reactrepro" / "prompts" / "hotpotqa" / "paper" / "react.txt"
    prompt.write_bytes(prompt.read_bytes().replace(b"was Milhous. \n", b"was Milhous.\n"))
    done = check(clone, offline, "--quiet")
    assert done.returncode == 1
    printed = done.stdout.split("\n\n")[0]
    shown = re.search(
        r"\$ reactrepro check\n(prompt changed: .*?)\n```", (checkout() / "README.md").read_text("utf-8"), re.DOTALL
    )
    assert shown is not None
    assert printed == shown[1]
    assert done.stdout.endswith("1 recording checked: 1 prompt changed.\n")


@pytest.mark.case("B42")
@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"1844-\xc2\x80\xc2\x931846", "1844–1846".encode()),
        (b"three types: \n", b"three types:\n"),
        (b"\n", b"\r\n"),
        (b"Question: Which magazine", b"Question:  Which magazine"),
    ],
    ids=["repaired mojibake", "blank of the instruction", "CRLF", "one more blank"],
)
def test_every_edit_of_a_prompt_is_a_changed_prompt(
    clone: Path, offline: dict[str, str], old: bytes, new: bytes
) -> None:
    """Whatever an editor does to the bytes, the gate closes; the verbose report has a diff."""
    folder = clone / "reactrepro" / "prompts" / "hotpotqa" / "paper"
    for path in (folder / "react.txt", folder / "react.instruction.txt"):
        path.write_bytes(path.read_bytes().replace(old, new))
    done = check(clone, offline, "--verbose")
    assert done.returncode == 1
    assert "1 recording checked: 1 prompt changed." in done.stdout
    assert "changed since it was recorded" in done.stdout
    assert "--- recorded" in done.stdout


def test_an_untouched_copy_is_ok(clone: Path, offline: dict[str, str]) -> None:
    """The copy itself changes nothing."""
    done = check(clone, offline)
    assert (done.returncode, done.stderr) == (0, "")
