"""Prompts found by path: names, roots, errors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from reactrepro import prompts
from reactrepro.domain import Prompt, PromptFile, sha256_text
from reactrepro.errors import Corrupt, Usage


def _put(root: Path, address: str, data: bytes) -> Path:
    path = root / address
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_a_prompt_names_its_files() -> None:
    """The packaged ReAct prompt is put together from instruction and exemplars, in this order."""
    prompt = prompts.load("hotpotqa", "react", "paper")
    assert [file.name for file in prompt.files] == [
        "prompts/hotpotqa/paper/react.instruction.txt",
        "prompts/hotpotqa/paper/react.txt",
    ]
    assert [file.sha256[:8] for file in prompt.files] == ["e876b72e", "eaaf8cea"]
    assert (prompt.task, prompt.method, prompt.name) == ("hotpotqa", "react", "paper")


def test_a_users_root_is_searched_first(tmp_path: Path) -> None:
    """The first root that holds the method's file gives the whole prompt, without another root's instruction."""
    _put(tmp_path, "hotpotqa/paper/react.txt", b"mine\n")
    found = prompts.load("hotpotqa", "react", "paper", roots=[tmp_path])
    file = PromptFile(f"{tmp_path.name}/hotpotqa/paper/react.txt", sha256_text("mine\n"))
    assert found == Prompt("hotpotqa", "react", "paper", "mine\n", (file,))
    assert prompts.load("hotpotqa", "act", "paper", roots=[tmp_path]) == prompts.load("hotpotqa", "act", "paper")


def test_no_character_is_touched(tmp_path: Path) -> None:
    """Byte order mark, carriage returns, trailing blanks and a missing final newline are part of the prompt."""
    data = "\ufeffa \r\n\tb\x85\u2028\r".encode()
    _put(tmp_path, "x/y/z.txt", data)
    assert prompts.load("x", "z", "y", roots=[tmp_path]).text.encode() == data


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (("nowhere", "react", "paper"), "there are some for: fever, hotpotqa"),
        (("hotpotqa", "react", "mine"), "there are: paper"),
        (("hotpotqa", "dance", "paper"), "it has: act, cot, react, standard"),
    ],
)
def test_an_unknown_prompt_is_a_usage_error_that_lists_what_is_there(
    address: tuple[str, str, str], message: str
) -> None:
    """The message lists the tasks, the names or the methods at hand, whichever is the unknown part."""
    with pytest.raises(Usage, match=message):
        prompts.load(*address)


@pytest.mark.parametrize(
    "name", ["..", "", ".", "a/b", "a\\b", "/etc", "react.instruction", "A", "a\n", "é", "C:", "a" * 65]
)
def test_a_name_cannot_leave_its_folder(name: str, tmp_path: Path) -> None:
    """Names are plain: no separator, no dot, no upper case, which some disks do not tell apart."""
    _put(tmp_path, "secret.txt", b"")
    for address in ((name, "react", "paper"), ("hotpotqa", name, "paper"), ("hotpotqa", "react", name)):
        with pytest.raises(Usage, match="no name of a prompt"):
            prompts.load(*address, roots=[tmp_path])


def test_a_file_that_is_not_utf8_is_corrupt(tmp_path: Path) -> None:
    """The message names the file and the byte; nothing is guessed."""
    _put(tmp_path, "x/y/z.txt", b"caf\xe9")
    with pytest.raises(Corrupt, match=r"z\.txt is not UTF-8: byte 3 is 0xe9"):
        prompts.load("x", "z", "y", roots=[tmp_path])
    with pytest.raises(Corrupt):
        prompts.listing([tmp_path])


def test_the_listing_holds_files_and_compositions() -> None:
    """Each data file is listed with its length and sum, and each composed prompt after its parts."""
    lines = {line.stem: line for line in prompts.listing() if (line.task, line.name) == ("hotpotqa", "paper")}
    assert list(lines) == ["act", "cot", "react.instruction", "react", "react.instruction + react", "standard"]
    whole = lines["react.instruction + react"]
    assert (whole.characters, whole.bytes, whole.composed) == (6414, 6421, True)
    assert whole.sha256 == prompts.load("hotpotqa", "react", "paper").sha256
    assert whole.files == lines["react.instruction"].files + lines["react"].files


def test_the_listing_shows_what_load_would_return(tmp_path: Path) -> None:
    """An earlier root hides the prompts of a later one; stray files and absent roots are passed over."""
    _put(tmp_path, "hotpotqa/paper/react.txt", b"mine\n")
    _put(tmp_path, "hotpotqa/paper/notes.md", b"")
    _put(tmp_path, "hotpotqa/paper/alone.instruction.txt", b"")
    _put(tmp_path, "README.txt", b"")
    found = prompts.listing([tmp_path / "absent", tmp_path])
    lines = {line.stem: line for line in found if line.task == "hotpotqa"}
    assert lines["react"].characters == 5
    assert "react.instruction" not in lines
    assert "alone.instruction" not in lines
    assert lines["act"].files == ("prompts/hotpotqa/paper/act.txt",)


@pytest.mark.case("B44")
def test_the_locale_does_not_matter() -> None:
    """Under a C locale without UTF-8 mode the prompt is the same, to the byte."""
    code = "from reactrepro import prompts; print(prompts.load('hotpotqa', 'react', 'paper').sha256)"
    env = {**os.environ, "PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONPATH": str(Path(prompts.__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == prompts.load("hotpotqa", "react", "paper").sha256


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links here")
@pytest.mark.parametrize("place", ["hotpotqa/mine/react.txt", "hotpotqa/mine", "hotpotqa"])
def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path, place: str) -> None:
    """Neither of a file nor of a folder: a stranger's project cannot have a file of one's own sent, or shown."""
    outside, root = tmp_path / "outside", tmp_path / "prompts"
    _put(outside, "hotpotqa/mine/react.txt", b"secret\n")
    link = root / place
    link.parent.mkdir(parents=True)
    link.symlink_to(outside / place)
    with pytest.raises(Corrupt, match="leads out"):
        prompts.load("hotpotqa", "react", "mine", roots=[root])


def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    """One text under two names; and the folder itself may be a link."""
    _put(tmp_path / "real", "hotpotqa/mine/react.txt", b"mine\n")
    (tmp_path / "real" / "hotpotqa" / "yours").symlink_to(tmp_path / "real" / "hotpotqa" / "mine")
    (tmp_path / "prompts").symlink_to(tmp_path / "real")
    assert prompts.load("hotpotqa", "react", "yours", roots=[tmp_path / "prompts"]).text == "mine\n"
