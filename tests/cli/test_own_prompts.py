"""A prompt of the user's own: recorded with, replayed, shown, and locked like a packaged one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from reactrepro import cli, prompts
from reactrepro.cassettes.read import read_cassette

from ..lab import Lab, lab

__all__ = ["lab"]

Command = Callable[..., tuple[int, str, str]]
PACKAGED = prompts.files("hotpotqa", "react", "paper")


@pytest.fixture
def command(lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run any command in the lab's folder; `record` asks the lab's model. Return (exit code, output, errors)."""
    monkeypatch.chdir(lab.root)

    def run(*words: str) -> tuple[int, str, str]:
        if words[0] == "record":
            given = lab.words(*words[1:])
            words = tuple(given[given.index("record") :])
        code = cli.run(words)
        out, err = capsys.readouterr()
        return code, out, err

    return run


def own(folder: Path, name: str = "mine.txt") -> Path:
    """Write a prompt of one's own: the packaged exemplars with another instruction."""
    file = folder / name
    file.write_bytes(b"Think, then act.\n" + PACKAGED[-1].read_bytes())
    return file


def test_a_recording_made_with_a_file_replays_without_that_file(command: Command, lab: Lab) -> None:
    """The text is kept under prompts/, named after itself; no path of this machine is in the recording."""
    file = own(lab.root)
    assert command("record", "1", "--prompt", str(file))[0] == 0
    name = lab.run.config.prompt
    assert name.startswith("mine-")
    meta = read_cassette(lab.run.path("1")).meta
    assert list(meta.prompt.files) == [f"prompts/hotpotqa/{name}/react.txt"]
    assert str(lab.root) not in lab.run.path("1").read_text("ascii")
    file.unlink()
    assert command("check", "cassettes")[0] == 0
    assert command("record", "1", "--prompt", name)[1].startswith("hotpotqa/react/a-model: 1 kept; 0 calls made.")


def test_an_edit_of_ones_own_prompt_is_reported_with_the_command_that_records_anew(command: Command, lab: Lab) -> None:
    """File, character, and `--prompt` in the command; so a user's prompt is locked like a packaged one."""
    home = lab.root / "prompts" / "hotpotqa" / "mine"
    home.mkdir(parents=True)
    for file in PACKAGED:
        shutil.copy(file, home)
    assert command("record", "1", "--prompt", "prompts")[0] == 0
    assert lab.run.config.prompt == "mine"
    text = (home / "react.instruction.txt").read_bytes()
    (home / "react.instruction.txt").write_bytes(text.replace(b"three types: \n", b"three types:\n"))
    code, out, _ = command("check", "cassettes", "--quiet")
    assert code == 1
    assert "prompts/hotpotqa/mine/react.instruction.txt changed since it was recorded" in out
    assert "--prompt mine" in out


def test_without_the_prompt_nothing_is_asked(command: Command, lab: Lab) -> None:
    """Usage errors come before the first call and before the first file."""
    for words, said in (
        (("--prompt", "absent.txt"), "no such file"),
        (("--prompt", "absent"), "no prompt named 'absent'"),
    ):
        code, _, err = command("record", "1", *words)
        assert (code, said in err) == (2, True), err
    assert (lab.llm.asked, (lab.root / "prompts").exists(), (lab.root / "cassettes").exists()) == ([], False, False)


def test_the_first_round_can_be_seen_with_another_prompt(command: Command, lab: Lab) -> None:
    """`prompts show --prompt FILE` shows what would be sent, says that it was not recorded, and stops there."""
    assert command("record", "0")[0] == 0
    file = own(lab.root)
    code, out, err = command("prompts", "show", "hotpotqa", "0", "--run", "a-model", "--prompt", str(file))
    assert code == 1
    assert "Think, then act." in out
    assert "not as recorded: hotpotqa/react/a-model, episode 0, step 1: the request was not recorded." in err
    code, out, err = command(
        "prompts", "show", "hotpotqa", "0", "--run", "a-model", "--prompt", str(file), "--round", "2"
    )
    assert (code, out) == (1, "")
    assert command("prompts", "show", "hotpotqa", "0", "--run", "a-model", "--prompt", "paper")[0] == 0


def test_a_prompts_folder_is_found_by_itself(command: Command, lab: Lab) -> None:
    """`prompts list` shows it beside the packaged ones; `--prompt` narrows it down to a name, a file or a folder."""
    home = lab.root / "prompts" / "hotpotqa" / "mine"
    home.mkdir(parents=True)
    own(home, "react.txt")
    loose = own(lab.root)
    names = [row["name"] for row in json.loads(command("prompts", "list", "--json")[1])]
    assert "hotpotqa/mine/react" in names
    assert "hotpotqa/paper/react" in names
    for given in ("mine", "prompts", "prompts/hotpotqa/mine"):
        rows = json.loads(command("prompts", "list", "--json", "--prompt", given)[1])
        assert [row["name"] for row in rows] == ["hotpotqa/mine/react"]
    (row,) = json.loads(command("prompts", "list", "--json", "--prompt", str(loose))[1])
    assert (row["name"].partition("-")[0], row["files"]) == ("mine", ["mine.txt"])
    assert command("prompts", "list", "--prompt", "absent")[0] == 2
