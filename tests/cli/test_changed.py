"""`record --changed` and `replay --follow`: a changed prompt is seen, then what went stale is recorded again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reactrepro import cli, prompts
from reactrepro.cassettes.runs import Run

from ..lab import CALLS, SITE, Lab, lab
from ..llm_server import error

__all__ = ["lab"]


class Project:
    """A folder with four recordings and a copy of the paper's prompt, in which one word is another."""

    def __init__(self, lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
        self.lab, self._capsys = lab, capsys
        assert self("record", *self.words, "0-3", *self.model)[0] == 0
        for file in prompts.load("hotpotqa", "react", "paper").files:
            place = Path(file.name).relative_to("prompts")
            path = lab.root / "prompts" / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes((prompts.PACKAGED / place).read_bytes().replace(b"interleaving", b"alternating"))

    @property
    def words(self) -> list[str]:
        return ["hotpotqa", "--base-url", self.lab.llm.base_url, "--wiki-base-url", self.lab.wiki.base_url]

    @property
    def model(self) -> list[str]:
        return ["--model", "openai-api/local/a-model", "--data", str(self.lab.data), "--site", SITE]

    def changed(self, *more: str) -> tuple[int, str, str]:
        named = () if "--run" in more else ("--run", "a-model")
        return self("record", *self.words, "--changed", *named, *more)

    def __call__(self, *words: str) -> tuple[int, str, str]:
        code = cli.run(words)
        out, err = self._capsys.readouterr()
        return code, out, err


@pytest.fixture
def project(lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Project:
    """The folder, as the current one."""
    monkeypatch.chdir(lab.root)
    return Project(lab, capsys)


def test_what_went_stale_is_recorded_again(project: Project) -> None:
    """What is to be paid is said before; afterwards nothing is stale, and the old run is gone."""
    before, asked = project.lab.run.id, len(project.lab.llm.asked)
    code, out, err = project.changed("--dry-run")
    assert (code, err) == (0, "")
    assert "hotpotqa/react/a-model: 0 to copy, 4 to record, with some 11 calls" in out
    assert len(project.lab.llm.asked) == asked
    code, out, err = project.changed()
    assert (code, err) == (0, "")
    assert f"hotpotqa/react/a-model: 0 copied, 4 recorded again, {sum(CALLS)} calls made; of these, 4 of 4" in out
    assert "It has taken over the name: the old run is gone." in out
    assert project.lab.run.config.supersedes == before
    assert project("check", "cassettes")[0] == 0
    assert project.changed()[1] == "hotpotqa/react/a-model: all 4 episodes replay; nothing is to be recorded.\n"


def test_an_old_run_is_kept_by_name(project: Project) -> None:
    """And still stale."""
    code, out, _ = project.changed("--keep", "before")
    assert code == 0
    assert "the old run is hotpotqa/react/before" in out
    assert project("replay", "hotpotqa", "0", "--run", "before")[0] == 1
    assert project("replay", "hotpotqa", "0", "--run", "a-model")[0] == 0


def test_what_cannot_be_finished_carries_on(project: Project) -> None:
    """The old run stays until the new one is complete."""
    project.lab.llm.script = [error(400)]
    code, out, err = project.changed("--json")
    said = json.loads(out)
    assert (code, said["complete"], [e["state"] for e in said["episodes"]].count("failed")) == (4, False, 1)
    assert Run.at(project.lab.cassettes / "hotpotqa" / "react" / "a-model").keys() == ["0", "1", "2", "3"]
    code, out, err = project.changed()
    assert (code, err) == (0, "")
    assert [run.name for run in project.lab.cassettes.glob("*/*/*")] == ["a-model"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["0"], 2, "leave out INDEX"),
        (["--max-tokens", "7", "--prompt", "paper"], 2, "leave out --max-tokens, --prompt"),
        (["--run", "nothing"], 3, "no run of hotpotqa/react named nothing"),
        (["--run", "deepseek-v3-250324"], 2, "transcribed"),
        (["--keep", "a-model"], 2, "keep the old one under another name"),
        (["--keep", "../a"], 2, "cannot name a run"),
    ],
)
def test_what_cannot_be_renewed_is_said(project: Project, words: list[str], code: int, says: str) -> None:
    """Before anything is asked."""
    asked = len(project.lab.llm.asked)
    found, out, err = project.changed(*words)
    assert (found, out) == (code, "")
    assert says in err
    assert len(project.lab.llm.asked) == asked


def test_a_changed_prompt_can_be_seen_before_it_is_paid_for(project: Project) -> None:
    """Every round's prompt with the recorded replies, where it differs from the recorded one, marked as no result."""
    asked = len(project.lab.llm.asked)
    code, out, err = project("replay", "hotpotqa", "0", "--run", "a-model", "--follow")
    assert (code, err) == (0, "")
    assert out.count("differs from character ") == CALLS[0]
    assert "+Solve a question answering task with alternating Thought" in out
    assert "This is no result" in out
    assert len(project.lab.llm.asked) == asked
    found = json.loads(project("replay", "hotpotqa", "0", "--run", "a-model", "--follow", "--json")[1])
    rounds: list[dict[str, Any]] = found["rounds"]
    assert [one["step"] for one in rounds] == [1, 2, 3]
    assert all("alternating" in one["prompt"] for one in rounds)
    assert found["result"] is None


def test_a_prompt_file_is_followed(project: Project) -> None:
    """A file that no recording was made with; where it is the recorded prompt, nothing differs."""
    text = prompts.load("hotpotqa", "react", "paper").text
    project.lab.root.joinpath("mine.txt").write_bytes(f"{text}One more line.\n".encode())
    project.lab.root.joinpath("same.txt").write_bytes(text.encode())
    words = ("replay", "hotpotqa", "0", "--run", "a-model", "--follow", "--prompt")
    code, out, _ = project(*words, "mine.txt")
    assert code == 0
    assert out.count("+One more line.") == CALLS[0]
    assert project(*words, "same.txt")[1].count("the same as recorded") == CALLS[0]
