"""What `record --dry-run` says, and that it does nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reactrepro import cli
from reactrepro.cassettes.write import replace_file

from ..lab import CALLS, SITE, Lab, lab
from ..llm_server import error

__all__ = ["lab"]

Dry = Callable[..., dict[str, Any]]


@pytest.fixture
def dry(lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Dry:
    """Make a dry run, without a key and without a server, and see to it that not a byte was written."""
    monkeypatch.chdir(lab.root)
    monkeypatch.setenv("REACTREPRO_PRICES", "")

    def run(*more: str, model: str = "openai/gpt-4.1") -> dict[str, Any]:
        before = {path: path.read_bytes() for path in lab.root.rglob("*") if path.is_file()}
        asked = len(lab.llm.asked), len(lab.wiki.asked)
        words = ["record", "hotpotqa", *more, "--model", model, "--data", str(lab.data), "--site", SITE]
        assert cli.run([*words, "--dry-run", "--json"]) == 0
        out, err = capsys.readouterr()
        assert err == ""
        assert before == {path: path.read_bytes() for path in lab.root.rglob("*") if path.is_file()}
        assert asked == (len(lab.llm.asked), len(lab.wiki.asked))
        found: dict[str, Any] = json.loads(out)
        return found

    return run


def local(lab: Lab) -> tuple[str, ...]:
    """The words that name the lab's own model."""
    return ("--base-url", lab.llm.base_url)


def test_nothing_recorded_is_a_wide_range_and_a_key_is_not_asked_for(dry: Dry, lab: Lab) -> None:
    """From one call per episode to two per step; tokens from the prompt's characters; the price in its currency."""
    (run,) = dry("0-3", "--prompt", "paper", "--method", "act")["runs"]
    assert run["episodes"] == {"low": 4, "likely": 4, "high": 4}
    assert run["calls"] == {"low": 4, "likely": 16, "high": 56, "most": 56}
    assert run["prompt_tokens"]["low"] > 4 * 3435 / 5
    assert run["prompt_tokens"]["low"] < run["prompt_tokens"]["likely"] < run["prompt_tokens"]["high"]
    expected = (run["prompt_tokens"]["low"] * 2 + run["completion_tokens"]["low"] * 8) / 1e6
    assert run["cost"]["low"] == pytest.approx(expected)
    assert any("nothing comparable is recorded" in sentence for sentence in run["how"])
    assert not lab.cassettes.exists()


def test_what_is_recorded_costs_nothing_and_what_was_begun_only_its_rest(dry: Dry, lab: Lab) -> None:
    """Mode once keeps the recorded, carries on the begun, and asks the rest; mode all asks for everything."""
    lab.record("01", model="openai-api/local/a-model")
    lab.llm.minds["Is Harlow Bay warm?"] = [lab.llm.minds["Is Harlow Bay warm?"][0], error(400)]
    lab.record("3")
    assert lab.run.part_path("3").exists()
    (run,) = dry("0-3", *local(lab), model="openai-api/local/a-model")["runs"]
    assert (run["kept"], run["carried_on"], run["episodes"]["likely"]) == (2, 1, 2)
    assert run["cost"] is None
    (anew,) = dry("0-3", *local(lab), "--mode", "all", model="openai-api/local/a-model")["runs"]
    assert (anew["kept"], anew["carried_on"], anew["episodes"]["likely"]) == (0, 0, 4)
    assert anew["calls"]["likely"] > run["calls"]["likely"]
    (none,) = dry("0-3", *local(lab), "--mode", "none", model="openai-api/local/a-model")["runs"]
    assert (none["kept"], none["absent"], none["calls"]["high"]) == (2, 2, 0)


def test_new_episodes_asks_only_from_the_first_call_that_differs(dry: Dry, lab: Lab) -> None:
    """An episode that still replays is kept, one that does not is asked from there on."""
    lab.record("03")
    path = lab.run.path("0")
    data = path.read_bytes()
    (kept,) = dry("0", "3", *local(lab), "--mode", "new_episodes", model="openai-api/local/a-model")["runs"]
    assert (kept["kept"], kept["episodes"]["likely"]) == (2, 0)
    assert data == path.read_bytes()
    other = ("--prompt", "paper", "--max-tokens", "99")
    (changed,) = dry("0", "3", *local(lab), *other, model="openai-api/local/a-model")["runs"]
    assert changed["episodes"]["likely"] == 2


def test_recordings_of_the_same_model_narrow_the_range(dry: Dry, lab: Lab) -> None:
    """Calls as its episodes took them, tokens as its usage was; the mean of 3, 1, 4 and 3 calls."""
    lab.llm.extra = {"usage": {"prompt_tokens": 1700, "completion_tokens": 20}}
    lab.record("0123")
    (run,) = dry("0-3", *local(lab), "--run", "another", model="openai-api/local/a-model")["runs"]
    assert run["calls"]["likely"] == sum(CALLS)
    assert run["calls"]["low"] < run["calls"]["likely"] < run["calls"]["high"] <= 4 * 4
    assert run["completion_tokens"]["likely"] == 20 * sum(CALLS)
    assert any("as this model's usage was recorded" in sentence for sentence in run["how"])
    assert 1700 * sum(CALLS) * 0.9 < run["prompt_tokens"]["likely"] < 1700 * sum(CALLS) * 1.3


def test_samples_are_one_call_or_as_many(dry: Dry) -> None:
    """A server may give all samples at once or one by one; replies are paid for either way."""
    (run,) = dry("0", "--method", "cot_sc", "--samples", "5", "--max-tokens", "50")["runs"]
    assert run["calls"] == {"low": 1, "likely": 1, "high": 5, "most": 5}
    assert run["completion_tokens"]["high"] <= 5 * 50


def test_a_back_off_has_a_forecast_per_part(dry: Dry) -> None:
    """The second part from none to all of the questions, as long as nobody knows."""
    first, second = dry("0-3", "--method", "react_then_cot_sc")["runs"]
    assert (first["run"], second["run"]) == ("hotpotqa/react/gpt-4.1", "hotpotqa/cot_sc/gpt-4.1")
    assert second["episodes"] == {"low": 0, "likely": 2, "high": 4}


def test_in_words(dry: Dry, lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A table for people; an unknown price is said to be unknown, and one of the user's own is used."""
    words = ["record", "hotpotqa", "0", "--model", "openai-api/local/x", "--data", str(lab.data), "--dry-run"]
    words += local(lab)
    assert cli.run(words) == 0
    out, _ = capsys.readouterr()
    assert "price              unknown: no price of openai-api/local/x is known" in out
    assert out.endswith("A dry run: nothing was asked, nothing was written. What is tried again comes on top.\n")
    prices = {"openai-api/local/x": {"input": 0.5, "output": 1, "currency": "EUR", "date": "2026-11-30"}}
    replace_file(tmp_path / "p.json", json.dumps({"format": "reactrepro-prices/1", "prices": prices}).encode())
    assert cli.run([*words, "--prices", str(tmp_path / "p.json")]) == 0
    out, _ = capsys.readouterr()
    assert "EUR (0.5 EUR in, 1 out per million tokens, 2026-11-30)" in out


def test_a_limit_without_a_price_is_refused_before_anything_is_asked(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A cost limit that nobody could keep is no limit: exit code 2, and no call."""
    monkeypatch.chdir(lab.root)
    words = lab.words("0", "--cost-limit", "1.50")
    assert cli.run(words[words.index("record") :]) == 2
    _, err = capsys.readouterr()
    assert "no price of openai-api/local/a-model is known" in err
    assert lab.llm.asked == []
    assert not lab.cassettes.exists()


def test_the_command_stops_at_its_limit_and_carries_on_with_a_higher_one(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 6, what was spent, what remains; then 0, and nothing was paid for twice."""
    monkeypatch.chdir(lab.root)
    prices = {"openai-api/local/a-model": {"input": 1, "output": 1, "currency": "USD"}}
    path = lab.root / "prices.json"
    path.write_text(json.dumps({"format": "reactrepro-prices/1", "prices": prices}), encoding="utf-8")
    monkeypatch.setenv("REACTREPRO_PRICES", str(path))
    lab.llm.extra = {"usage": {"prompt_tokens": 2000, "completion_tokens": 50}}
    words = lab.words("0-3", "--max-tokens", "100")
    words = words[words.index("record") :]
    assert cli.run([*words, "--cost-limit", "0.012"]) == 6
    out, err = capsys.readouterr()
    assert "stopped: the cost limit of 0.0120 USD could be passed" in err
    assert "remain" in out
    assert "cost: 0.00" in out
    asked = len(lab.llm.asked)
    assert 0 < asked < sum(CALLS)
    assert cli.run([*words, "--cost-limit", "1"]) == 0
    assert len(lab.llm.asked) == sum(CALLS)
    capsys.readouterr()
    assert cli.run(["replay", "hotpotqa", "0-3", "--run", "a-model", "--cassettes", "cassettes"]) == 0
    out, _ = capsys.readouterr()
    assert "tokens: 22000 prompt, 550 completion; cost: 0.0226 USD" in out
