"""Prices are data with a date, and a user's own file wins."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from reactrepro.data.prices import assumptions, prices
from reactrepro.domain import Tokens
from reactrepro.errors import Corrupt, Usage
from reactrepro.price import Price


def written(folder: Path, name: str = "mine.json", **rows: Any) -> Path:
    """A file of prices."""
    path = folder / name
    made = {model.replace("__", "/"): row for model, row in rows.items()}
    path.write_text(json.dumps({"format": "reactrepro-prices/1", "prices": made}), encoding="utf-8")
    return path


def test_every_packaged_price_has_a_date_and_a_source() -> None:
    """A price that nobody can look up is not in the table."""
    for name, price in prices().items():
        assert "/" in name
        assert price.date[:2] == "20", name
        assert price.source.startswith("https://"), name
        assert 0 < price.input <= price.output, name


def test_a_users_file_wins_model_by_model(tmp_path: Path) -> None:
    """The last file wins; models that it does not name keep their packaged prices."""
    one = written(tmp_path, openai__gpt_4o={"input": 1, "output": 2, "currency": "EUR"})
    packaged = prices()
    found = prices([one, written(tmp_path, "two.json", openai__gpt_4o={"input": 0.1, "output": 7, "currency": "CNY"})])
    assert found["openai/gpt_4o"] == Price(Decimal("0.1"), Decimal(7), "CNY")
    assert {name: found[name] for name in packaged} == packaged


@pytest.mark.parametrize(
    "row",
    [
        {"input": -1, "output": 1, "currency": "USD"},
        {"input": 1, "currency": "USD"},
        {"input": 1, "output": 1, "currency": "dollars"},
        {"input": "NaN", "output": 1, "currency": "USD"},
        {"input": 1, "output": 1, "currency": "USD", "cached": 1},
    ],
)
def test_a_price_that_is_none_is_refused(tmp_path: Path, row: dict[str, Any]) -> None:
    """Negative, half, unknown members: the file is named, and nothing is guessed."""
    with pytest.raises(Corrupt, match=r"mine\.json"):
        prices([written(tmp_path, a__b=row)])


def test_a_file_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    """A misspelt path is not an empty table."""
    with pytest.raises(Usage, match="cannot be read"):
        prices([tmp_path / "absent.json"])


def test_an_unknown_count_has_no_cost() -> None:
    """Unknown usage costs an unknown amount, which is not 0."""
    price = Price(Decimal("0.10"), Decimal("0.50"), "USD")
    assert price.cost(Tokens(1_000_000, 10)) == Decimal("0.100005")
    assert price.cost(Tokens(0, 0)) == 0
    assert price.cost(Tokens(5, None)) is None
    assert price.cost(Tokens()) is None


def test_a_sum_is_unknown_as_soon_as_one_part_is() -> None:
    """And nothing at all adds up to nothing known."""
    assert Tokens.total([Tokens(1, 2), Tokens(3, 4)]) == Tokens(4, 6)
    assert Tokens.total([Tokens(1, 2), Tokens(3, None)]) == Tokens(4, None)
    assert Tokens.total([]) == Tokens()


def test_what_is_assumed_goes_from_cheap_to_dear() -> None:
    """More characters per token are cheaper; longer steps and replies are dearer."""
    found = assumptions()
    assert list(found.characters_per_token) == sorted(found.characters_per_token, reverse=True)
    assert list(found.step_characters) == sorted(found.step_characters)
    assert list(found.reply_characters) == sorted(found.reply_characters)
