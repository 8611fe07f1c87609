"""Budget: what the calls of one command cost, over all threads, and the limits that no call may pass.

Before a call is made, the most that it can cost is set aside; when its reply is there, what it did cost takes the
place of that. So a limit holds however many calls are under way. Where a call could pass it, those under way are waited
for first: they mostly cost less than was set aside for them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from ..domain import Backend, Json, Tokens
from ..errors import BudgetExceeded, Interrupted, ReactReproError
from ..price import Price
from ..report.money import amount

OVERHEAD = 64
"""Tokens that a chat template, or a wire API, may add to a request's text."""

LIMITS = ("max_completion_tokens", "max_tokens")
"""Under which of these names a request says how long a reply may be."""

TICK = 0.2
"""Seconds after which a waiting call looks whether the user wants an end."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent so far.

    Attributes:
        calls: sent, whatever came of them.
        replies: that came.
        tokens: of the replies whose usage is known; zero where there is none.
        unknown: how many calls have no known usage: replies without, and calls whose end nobody saw.
        cost: of the replies whose usage is known; None where no price is known.
        uncertain: the most that the others can have cost; None where no price is known.
    """

    calls: int
    replies: int
    tokens: Tokens
    unknown: int
    cost: Decimal | None
    uncertain: Decimal | None


class Budget:
    """Counts the calls of a command (`exchanges.meter.Meter`); used by many threads.

    Args:
        backend: reads the usage in replies.
        price: of the model; None where nobody knows.
        cost_limit: in the price's currency; None for no limit.
        call_limit: calls that may be sent, those that are tried again included; None for no limit.
    """

    def __init__(
        self,
        backend: Backend,
        price: Price | None = None,
        *,
        cost_limit: Decimal | None = None,
        call_limit: int | None = None,
    ) -> None:
        self.price = price
        self._backend, self._cost_limit, self._call_limit = backend, cost_limit, call_limit
        self._changed = threading.Condition()
        self._calls = self._replies = self._unknown = self._under_way = 0
        self._prompt = self._completion = 0
        self._reserved = self._cost = self._uncertain = Decimal(0)

    def reserve(self, body: Json, stopped: threading.Event) -> _Bill:
        """Set aside what the call *body* can cost at most; see `exchanges.meter.Meter`.

        Raises:
            BudgetExceeded: it could pass a limit, and no call is under way whose end could change that.
            Interrupted: the user wants an end.
        """
        bound = most(body, self.price)
        with self._changed:
            while True:
                if self._call_limit is not None and self._calls >= self._call_limit:
                    raise BudgetExceeded(self._no_call_left())
                if self._fits(bound):
                    break
                if not self._under_way:
                    raise BudgetExceeded(self._no_money_left(bound))
                if stopped.is_set():
                    raise Interrupted
                self._changed.wait(TICK)
            self._calls += 1
            self._under_way += 1
            self._reserved += bound
        return _Bill(self, bound)

    def spent(self) -> Spent:
        """Return what was spent so far."""
        with self._changed:
            known = self.price is not None
            return Spent(
                calls=self._calls,
                replies=self._replies,
                tokens=Tokens(self._prompt, self._completion),
                unknown=self._unknown,
                cost=self._cost if known else None,
                uncertain=self._uncertain if known else None,
            )

    def settle(self, bound: Decimal, *, response: Json | None = None, charged: bool) -> None:
        """Put what a call did cost in the place of *bound*: by its *response*, or nothing, or still the most."""
        tokens = Tokens() if response is None else self._usage(response)
        cost = None if self.price is None else self.price.cost(tokens)
        with self._changed:
            self._under_way -= 1
            self._reserved -= bound
            self._replies += response is not None
            if charged and (tokens.prompt is None or tokens.completion is None):
                self._unknown += 1
                self._uncertain += bound
            elif charged:
                self._prompt += tokens.prompt or 0
                self._completion += tokens.completion or 0
                self._cost += cost or 0
            self._changed.notify_all()

    def _usage(self, response: Json) -> Tokens:
        try:
            return Tokens.total(reply.tokens for reply in self._backend.completions(response)[:1])
        except ReactReproError:
            return Tokens()

    def _fits(self, bound: Decimal) -> bool:
        limit = self._cost_limit
        return limit is None or self._cost + self._uncertain + self._reserved + bound <= limit

    def _no_call_left(self) -> str:
        return (
            f"the call limit of {self._call_limit} is reached: {self._calls} calls were sent, and no further one is. "
            f"{_CARRY_ON.format('--call-limit')}"
        )

    def _no_money_left(self, bound: Decimal) -> str:
        assert self.price is not None and self._cost_limit is not None  # noqa: S101, PT018 - else everything fits
        currency = self.price.currency
        left = self._cost_limit - self._cost - self._uncertain
        unsure = ""
        if self._uncertain:
            unsure = f" and up to {amount(self._uncertain, currency)} more for calls whose usage is unknown"
        return (
            f"the cost limit of {amount(self._cost_limit, currency)} could be passed: "
            f"{amount(self._cost, currency)} spent for {self._replies} replies{unsure}, "
            f"{amount(left, currency)} left, and the next call can cost up to {amount(bound, currency)}. "
            f"{_CARRY_ON.format('--cost-limit')}"
        )


@dataclass(frozen=True, slots=True)
class _Bill:
    budget: Budget
    bound: Decimal

    def paid(self, response: Json) -> None:
        """A reply came: its usage counts."""
        self.budget.settle(self.bound, response=response, charged=True)

    def refused(self) -> None:
        """The server answered with an error: it costs nothing."""
        self.budget.settle(self.bound, charged=False)

    def lost(self) -> None:
        """Nobody knows what it cost: the most that it can have cost."""
        self.budget.settle(self.bound, charged=True)


def most(body: Json, price: Price | None) -> Decimal:
    """Return the most that the request *body* can cost; 0 where no price is known.

    No tokenizer in use makes more tokens of a text than it has bytes in UTF-8, so that is what a prompt is taken to
    have. Each sample can be as long as the limit allows.
    """
    if price is None or not isinstance(body, dict):
        return Decimal(0)
    asked = OVERHEAD + sum(len(text.encode("utf-8", "surrogatepass")) for text in _texts(body))
    limit = max((body[name] for name in LIMITS if isinstance(body.get(name), int)), default=0)
    samples = body["n"] if isinstance(body.get("n"), int) else 1
    return price.cost(Tokens(asked, limit * samples)) or Decimal(0)


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


_CARRY_ON = "What is recorded stays; the same command with a higher {} carries on."
