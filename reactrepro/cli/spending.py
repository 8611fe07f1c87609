"""What a recording spent, in words and as data."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click

from ..report.money import amount

if TYPE_CHECKING:
    from ..runs.budget import Budget


def given(value: str) -> Decimal:
    """Return the amount of money that an option gives, exact; it is not negative.

    Raises:
        BadParameter: it is none.
    """
    try:
        found = Decimal(value)
    except ArithmeticError:
        found = Decimal("NaN")
    if not found.is_finite() or found < 0:
        raise click.BadParameter(f"{value!r} is no amount; write it as 2.50.")
    return found


def short(budget: Budget) -> str:
    """Return the tokens and the cost so far, for the progress bar."""
    spent = budget.spent()
    if not spent.calls:
        return ""
    tokens = (spent.tokens.prompt or 0) + (spent.tokens.completion or 0)
    said = f"{tokens:,}{'+?' if spent.unknown else ''} tokens"
    if budget.price is None or spent.cost is None:
        return said
    return f"{said}, {amount(spent.cost, budget.price.currency)}{'+?' if spent.unknown else ''}"


def sentence(budget: Budget) -> str:
    """Return what was spent, as a line below the summary; "" where nothing was asked."""
    spent = budget.spent()
    if not spent.calls:
        return ""
    if not spent.tokens.prompt and not spent.tokens.completion:
        tokens, cost = "unknown", "unknown"
    else:
        tokens = f"{spent.tokens.prompt} prompt, {spent.tokens.completion} completion"
        cost = "unknown (no price of this model is known)"
        if budget.price is not None and spent.cost is not None:
            dated = f" (prices of {budget.price.date})" if budget.price.date else ""
            cost = amount(spent.cost, budget.price.currency) + dated
    unknown = ""
    if spent.unknown:
        unknown = f"; the usage of {spent.unknown} of {spent.calls} calls is unknown"
        if budget.price is not None and spent.uncertain:
            unknown += f", which cost up to {amount(spent.uncertain, budget.price.currency)} more"
    return f"tokens: {tokens}; cost: {cost}{unknown}."


def data(budget: Budget) -> dict[str, Any]:
    """Return what was spent, as JSON-ready data. What is unknown is null."""
    spent, price = budget.spent(), budget.price
    counted = bool(spent.tokens.prompt or spent.tokens.completion)
    return {
        "calls_sent": spent.calls,
        "replies": spent.replies,
        "unknown": spent.unknown,
        "tokens": {
            "prompt": spent.tokens.prompt if counted else None,
            "completion": spent.tokens.completion if counted else None,
        },
        "currency": None if price is None else price.currency,
        "cost": None if spent.cost is None or not counted else float(spent.cost),
        "uncertain": None if spent.uncertain is None else float(spent.uncertain),
        "prices_of": None if price is None else price.date or None,
    }
