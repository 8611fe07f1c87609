"""Tokens and what they cost, in words. What is unknown is said to be, and never 0."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from ..cassettes.model import RunConfig
from ..domain import Tokens
from ..price import Price
from .model import EpisodeReport

UNKNOWN = "unknown"


def amount(value: Decimal, currency: str) -> str:
    """Return "12.35 USD", "0.0123 USD", "0.000046 USD": the smaller, the more digits."""
    digits = 2 if value >= 1 or not value else 4 if value >= Decimal("0.01") else 6
    return f"{value:.{digits}f} {currency}"


def amounts(sums: Mapping[str, Decimal]) -> str:
    """Return the amounts of several currencies: "1.20 USD + 3.00 CNY"."""
    return " + ".join(amount(value, currency) for currency, value in sorted(sums.items()))


def price_of(config: RunConfig, prices: Mapping[str, Price]) -> Price | None:
    """Return the price of the model that a run asked; None where nobody knows."""
    return prices.get(f"{config.provider}/{config.model}")


def tokens(episode: EpisodeReport) -> Tokens:
    """Return the episode's token usage; unknown as soon as one reply's is."""
    return Tokens.total(turn.completion.tokens for turn in episode.turns if turn.completion is not None)


def cost(episode: EpisodeReport, prices: Mapping[str, Price]) -> dict[str, Decimal] | None:
    """Return what the episode's calls cost, by currency; None where a price or a count is unknown.

    One that is composed of others costs what those parts cost that it needed.
    """
    if episode.parts:
        return added([cost(part, prices) for part in episode.parts])
    if not episode.turns:
        return None
    return priced(tokens(episode), price_of(episode.run.config, prices))


def priced(used: Tokens, price: Price | None) -> dict[str, Decimal] | None:
    """Return what *used* costs, by currency; None where the price or a count is unknown."""
    value = None if price is None else price.cost(used)
    return None if price is None or value is None else {price.currency: value}


def added(costs: Iterable[Mapping[str, Decimal] | None]) -> dict[str, Decimal] | None:
    """Return the sum by currency; None as soon as one is."""
    sums: dict[str, Decimal] = {}
    for one in costs:
        if one is None:
            return None
        for currency, value in one.items():
            sums[currency] = sums.get(currency, Decimal(0)) + value
    return sums or None


def tokens_text(used: Tokens) -> str:
    """Return "812 prompt, 40 completion", with what is unknown said."""
    if used.prompt is None and used.completion is None:
        return UNKNOWN
    parts = [("prompt", used.prompt), ("completion", used.completion)]
    return ", ".join(f"{UNKNOWN if count is None else count} {name}" for name, count in parts)


def cost_text(episode: EpisodeReport, prices: Mapping[str, Price]) -> str:
    """Return what the episode cost, by the prices of which date; or that this is unknown, and why."""
    found = cost(episode, prices)
    if found is not None:
        runs = [part.run for part in episode.parts] or [episode.run]
        dates = {price.date for run in runs if (price := price_of(run.config, prices)) and price.date}
        return amounts(found) + (f" (prices of {', '.join(sorted(dates))})" if dates else "")
    known = episode.parts or price_of(episode.run.config, prices) is not None
    return UNKNOWN if known else f"{UNKNOWN} (no price of this model is known)"


def total_tokens(episode: EpisodeReport) -> int | None:
    """Return the tokens of prompts and replies together; None where a count is unknown."""
    used = tokens(episode)
    return None if used.prompt is None or used.completion is None else used.prompt + used.completion


def run_text(episodes: Sequence[EpisodeReport], prices: Mapping[str, Price]) -> str:
    """Return the tokens and the cost of a run's episodes: of all, or of those of which they are known."""
    played = [episode for episode in episodes if episode.trajectory is not None]
    counted = [episode for episode in played if total_tokens(episode) is not None]
    priced = [episode for episode in played if cost(episode, prices) is not None]
    of_tokens = tokens_text(Tokens.total(tokens(episode) for episode in counted)) if counted else UNKNOWN
    sums = added([cost(episode, prices) for episode in priced])
    of_cost = amounts(sums) if sums else UNKNOWN
    return f"tokens: {of_tokens}{_known(counted, played)}; cost: {of_cost}{_known(priced, played)}"


def cost_data(found: Mapping[str, Decimal] | None) -> dict[str, float] | None:
    """Return a cost as JSON-ready data: currency -> amount; None where it is unknown."""
    return None if found is None else {currency: float(value) for currency, value in found.items()}


def tokens_data(used: Tokens) -> dict[str, Any]:
    """Return token usage as JSON-ready data."""
    return {"prompt": used.prompt, "completion": used.completion}


def _known(some: Sequence[EpisodeReport], every: Sequence[EpisodeReport]) -> str:
    return "" if not some or len(some) == len(every) else f" (known of {len(some)} of {len(every)} episodes)"
