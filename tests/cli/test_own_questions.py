"""A user's own questions, as a user asks them: a file, the task `qa`, any order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reactrepro import cli

from ..lab import GOLD, MINDS, SITE, Lab, lab

__all__ = ["lab"]


def put(path: Path, order: list[int]) -> None:
    """The lab's questions, as JSON Lines."""
    rows = [{"question": list(MINDS)[n], "answer": GOLD[n]} for n in order]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_a_reordered_file_finds_what_is_recorded(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A place in the file names a question, its text is what it is known by; extending the file asks the new ones."""
    monkeypatch.chdir(lab.root)
    model = ["--model", "openai-api/local/a-model", "--base-url", lab.llm.base_url]
    words = ["record", "qa", *model, "--wiki-base-url", lab.wiki.base_url, "--site", SITE, "--data", "my.jsonl"]
    put(lab.root / "my.jsonl", [0, 1, 2])
    assert cli.run([*words, "0-1"]) == 0
    assert "2 recorded" in capsys.readouterr().out
    put(lab.root / "my.jsonl", [3, 2, 1, 0])
    asked = len(lab.llm.asked)
    assert cli.run([*words, "2-3"]) == 0
    assert "2 kept; 0 calls made." in capsys.readouterr().out
    assert len(lab.llm.asked) == asked
    assert cli.run([*words, "all"]) == 0
    assert "2 recorded, 2 kept" in capsys.readouterr().out
    assert cli.run(["replay", "qa", "all", "--json"]) == 0
    episodes = json.loads(capsys.readouterr().out)["episodes"]
    assert {row["question"]: row["em"] for row in episodes} == dict.fromkeys(MINDS, True)
    assert all(row["key"].startswith("q") for row in episodes)
    assert cli.run(["check", "cassettes", "--quiet"]) == 0
    assert capsys.readouterr().out == "4 recordings checked: 4 ok.\n"
