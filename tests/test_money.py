"""Tokens and cost in the tables: known where they are, else said to be unknown, never 0."""

from __future__ import annotations

import json
import threading
from decimal import Decimal
from pathlib import Path

import pytest
from click import BadParameter

from reactrepro import cli
from reactrepro.backends.openai_chat import OpenAIChat
from reactrepro.cli import spending
from reactrepro.price import Price
from reactrepro.report.money import added, amount, amounts
from reactrepro.runs.budget import Budget

GEMMA = "openai-api/local/gemma-3-270m"


@pytest.fixture
def priced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, with a price for the packaged recordings of one model."""
    monkeypatch.chdir(tmp_path)
    row = {"input": 1, "output": 2, "currency": "EUR", "date": "2026-11-30"}
    file = tmp_path / "prices.json"
    file.write_text(json.dumps({"format": "reactrepro-prices/1", "prices": {GEMMA: row}}), encoding="utf-8")
    monkeypatch.setenv("REACTREPRO_PRICES", str(file))
    return file


def test_small_amounts_keep_their_digits() -> None:
    """An episode for a hundredth of a cent is not for nothing."""
    shown = [amount(Decimal(value), "USD") for value in ("0", "12.344", "0.0123", "0.000046")]
    assert shown == ["0.00 USD", "12.34 USD", "0.0123 USD", "0.000046 USD"]


def test_currencies_are_never_added_up() -> None:
    """Each has its own sum; one unknown part makes the whole unknown."""
    assert added([{"USD": Decimal(1)}, {"CNY": Decimal(2)}, {"USD": Decimal(3)}]) == {"USD": 4, "CNY": 2}
    assert amounts({"USD": Decimal(4), "CNY": Decimal(2)}) == "2.00 CNY + 4.00 USD"
    assert added([{"USD": Decimal(1)}, None]) is None
    assert added([]) is None


def test_one_episode_says_what_it_cost_and_by_which_prices(priced: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The date stands beside the amount: prices move, recordings do not."""
    assert cli.run(["replay", "pelm", "0", "--run", "gemma-3-270m"]) == 0
    out, _ = capsys.readouterr()
    assert "cost                0.005512 EUR (prices of 2026-11-30)" in out
    assert cli.run(["replay", "pelm", "0", "--run", "gemma-3-270m", "--json"]) == 0
    (episode,) = json.loads(capsys.readouterr().out)["episodes"]
    used = episode["tokens"]
    assert episode["cost"] == {"EUR": (used["prompt"] + 2 * used["completion"]) / 1e6}


def test_a_table_has_tokens_and_cost_per_episode_and_run(priced: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A transcript has no usage, and another model no price: both are question marks, and no sum hides them."""
    assert cli.run(["check"]) == 0
    out, _ = capsys.readouterr()
    lines = {tuple(row.split()[:2]): row for row in out.splitlines() if row.startswith(("hotpotqa/", "pelm/"))}
    assert " 5348  0.005512 EUR " in lines["pelm/react/gemma-3-270m", "0"]
    transcribed = lines["hotpotqa/react/deepseek-v3-250324", "0"].split()
    assert transcribed[7:9] == ["?", "?"]
    assert "tokens: unknown; cost: unknown" in out
    assert "prompt, 4211 completion; cost: 0.1525 EUR" in out


def test_the_list_has_them_where_they_are_asked_for(priced: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every recording is read for that, so it is not done by itself."""
    assert cli.run(["list", "pelm", "--costs"]) == 0
    out, _ = capsys.readouterr()
    (row,) = [row for row in out.splitlines() if " react " in row and " gemma-3-270m  " in row]
    assert row.split()[-3:] == ["148325", "0.1525", "EUR"]
    assert cli.run(["list", "--costs", "--json"]) == 0
    rows = {
        row["run"]: row
        for row in json.loads(capsys.readouterr().out)
        if (row["task"], row["method"]) in (("pelm", "react"), ("hotpotqa", "react"))
    }
    assert rows["gemma-3-270m"]["cost"] == {"EUR": 0.152536}
    assert rows["deepseek-v3-250324"]["tokens"] == {"prompt": None, "completion": None}
    assert rows["deepseek-v3-250324"]["cost"] is None
    assert cli.run(["list"]) == 0
    assert "tokens  cost" not in capsys.readouterr().out


def test_what_was_spent_in_words() -> None:
    """For the bar and below the summary; replies without usage are counted as unknown."""
    price = Price(Decimal(1), Decimal(10), "USD", "2026-11-30")
    budget = Budget(OpenAIChat(), price)
    assert (spending.short(budget), spending.sentence(budget)) == ("", "")
    body = {"messages": [{"content": "abc"}], "max_tokens": 10}
    said = {"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": 1200, "completion_tokens": 30}}
    budget.reserve(body, threading.Event()).paid(said)
    assert spending.short(budget) == "1,230 tokens, 0.001500 USD"
    assert spending.sentence(budget) == (
        "tokens: 1200 prompt, 30 completion; cost: 0.001500 USD (prices of 2026-11-30)."
    )
    budget.reserve(body, threading.Event()).paid({**said, "usage": None})
    assert spending.short(budget) == "1,230+? tokens, 0.001500 USD+?"
    assert spending.sentence(budget).endswith(
        "; the usage of 1 of 2 calls is unknown, which cost up to 0.000167 USD more."
    )
    silent = Budget(OpenAIChat(), price)
    silent.reserve(body, threading.Event()).lost()
    assert spending.sentence(silent).startswith("tokens: unknown; cost: unknown; the usage of 1 of 1 calls")
    assert spending.data(silent)["cost"] is None


@pytest.mark.parametrize("value", ["-1", "nan", "inf", "a lot", ""])
def test_an_amount_is_a_number_that_is_not_negative(value: str) -> None:
    """And exact: no binary fraction stands between the user and the limit."""
    assert spending.given("0.1") == Decimal("0.1")
    with pytest.raises(BadParameter):
        spending.given(value)


def test_a_score_says_what_its_run_cost(priced: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In words and as data; a run of a model without a price costs nobody knows what."""
    words = ["score", "pelm", "--method", "react", "--run", "gemma-3-270m", "--run", "smollm2-135m-instruct"]
    assert cli.run(words) == 0
    out, _ = capsys.readouterr()
    assert "tokens: 144114 prompt, 4211 completion; cost: 0.1525 EUR" in out
    assert out.count("; cost: unknown") == 1
    assert cli.run([*words, "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [run["cost"] for run in runs] == [{"EUR": 0.152536}, None]
