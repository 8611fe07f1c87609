"""What tokens cost: a value that the tables of prices give, and that reports and budgets compute with."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from .domain import Tokens


@dataclass(frozen=True, slots=True)
class Price:
    """What a model costs by its provider's list, without discounts: caches, batches, quiet hours.

    Attributes:
        input, output: for a million tokens of prompts, and of replies.
        currency: ISO 4217 code.
        date: when somebody looked, ISO 8601; "" where nobody said.
        source: where that was.
    """

    input: Decimal
    output: Decimal
    currency: str
    date: str = ""
    source: str = ""

    def cost(self, tokens: Tokens) -> Decimal | None:
        """Return what *tokens* cost; None where a count is unknown."""
        if tokens.prompt is None or tokens.completion is None:
            return None
        return (self.input * tokens.prompt + self.output * tokens.completion) / 1_000_000
