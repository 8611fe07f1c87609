"""`record --dry-run`: what a recording would come to."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click

from ..domain import Tokens
from ..price import Price
from ..report import text
from ..report.money import amount
from . import options

if TYPE_CHECKING:
    from ..runs.forecast import Forecast, Range
    from ..runs.order import Order
    from ..runs.roots import Sources


def show(order: Order, parts: tuple[Order, ...], found: Sources, prices: Mapping[str, Price], *, json_: bool) -> int:
    """Print what *order* would come to, and return the exit code 0. Nothing is asked, nothing is written."""
    from ..data.prices import assumptions
    from ..runs.forecast import forecast

    assumed = assumptions()
    made = forecast(order, parts, found, assumed)
    name = f"{order.target.provider}/{order.target.model}"
    price = prices.get(name)
    if json_:
        options.echo_json({"model": name, "price": _price_data(price), "runs": [_data(one, price) for one in made]})
        return 0
    for one in made:
        click.echo(text.table(_rows(one, price, name)) + "\n")
    if len(made) > 1 and price is not None:
        click.echo(f"price in all: {_money(_sum(made, 'prompt'), _sum(made, 'completion'), price)}")
    click.echo("A dry run: nothing was asked, nothing was written. What is tried again comes on top.")
    return 0


def _rows(made: Forecast, price: Price | None, name: str) -> list[tuple[str, object]]:
    states = [f"{_number(made.asked)} to record"]
    states += [f"{made.begun} of them carried on"] * bool(made.begun)
    states += [f"{made.kept} kept"] * bool(made.kept) + [f"{made.absent} absent, and mode none asks nothing"] * bool(
        made.absent
    )
    return [
        ("run", made.run.label),
        ("episodes", ", ".join(states)),
        ("calls", _number(made.calls) + (f", at most {made.most_calls}" if made.most_calls else "")),
        ("prompt tokens", _number(made.prompt)),
        ("completion tokens", _number(made.completion)),
        ("price", _price(made, price, name)),
        *(("how" if not n else "", sentence) for n, sentence in enumerate(made.how)),
    ]


def _price(made: Forecast, price: Price | None, name: str) -> str:
    if not made.calls.high:
        return "nothing"
    if price is None:
        return f"unknown: no price of {name} is known; --prices FILE gives one"
    of = f"{price.input} {price.currency} in, {price.output} out per million tokens"
    dated = f", {price.date}" if price.date else ""
    return f"{_money(made.prompt, made.completion, price)} ({of}{dated})"


def _costs(prompt: Range, completion: Range, price: Price) -> list[Decimal]:
    pairs = [Tokens(round(prompt[way]), round(completion[way])) for way in range(3)]
    return [price.cost(pair) or Decimal(0) for pair in pairs]


def _money(prompt: Range, completion: Range, price: Price) -> str:
    low, likely, high = (amount(value, price.currency) for value in _costs(prompt, completion, price))
    return f"{likely}, from {low} to {high}"


def _number(found: Range) -> str:
    low, likely, high = (f"{round(found[way])}" for way in range(3))
    return likely if low == likely == high else f"{likely}, from {low} to {high}"


def _sum(made: list[Forecast], what: str) -> Range:
    total: Range = getattr(made[0], what)
    for one in made[1:]:
        total += getattr(one, what)
    return total


def _data(made: Forecast, price: Price | None) -> dict[str, Any]:
    costs = None if price is None else _costs(made.prompt, made.completion, price)
    return {
        "run": made.run.label,
        "kept": made.kept,
        "absent": made.absent,
        "carried_on": made.begun,
        "episodes": _range(made.asked),
        "calls": {**_range(made.calls), "most": made.most_calls},
        "prompt_tokens": _range(made.prompt),
        "completion_tokens": _range(made.completion),
        "cost": None if costs is None else dict(zip(("low", "likely", "high"), map(float, costs), strict=True)),
        "how": made.how,
    }


def _range(found: Range) -> dict[str, int]:
    return {"low": round(found.low), "likely": round(found.likely), "high": round(found.high)}


def _price_data(price: Price | None) -> dict[str, Any] | None:
    if price is None:
        return None
    per_million = {"input": float(price.input), "output": float(price.output)}
    return {**per_million, "currency": price.currency, "date": price.date, "source": price.source}
