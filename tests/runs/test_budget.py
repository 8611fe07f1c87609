"""Limits hold: whatever is under way, however many threads ask, no call is made that could pass one."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro.backends.openai_chat import OpenAIChat
from reactrepro.domain import Json
from reactrepro.errors import BudgetExceeded, Interrupted
from reactrepro.price import Price
from reactrepro.runs.budget import OVERHEAD, Budget, most
from reactrepro.runs.record import RecordReport

from ..lab import CALLS, Lab, lab
from ..llm_server import error

__all__ = ["lab"]

PRICE = Price(Decimal(1), Decimal(10), "USD", "2026-11-30")
EVENT = threading.Event


def body(text: str = "x" * 36, tokens: int = 100, **more: Json) -> Json:
    """A request; its upper bound is (100 + 64 - 64 ...) easy to compute: see `most`."""
    return {"messages": [{"content": text}], "max_tokens": tokens, **more}


def reply(prompt: int | None, completion: int | None) -> Json:
    """A response with usage."""
    usage = {"prompt_tokens": prompt, "completion_tokens": completion}
    return {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}], "usage": usage}


def test_the_most_that_a_call_costs_counts_bytes_and_every_sample() -> None:
    """A byte is no more than a token, in any script; each of n samples may be as long as the limit."""
    assert most(body("é", 100), PRICE) == Decimal(2 + OVERHEAD + 1000) / 1_000_000
    assert most(body("", 100, n=21), PRICE) == Decimal(OVERHEAD + 21_000) / 1_000_000
    assert most({"prompt": "ab", "max_completion_tokens": 7}, PRICE) == Decimal(2 + OVERHEAD + 70) / 1_000_000
    assert most(body(), None) == 0


def test_what_a_call_did_cost_takes_the_place_of_what_was_set_aside() -> None:
    """Usage counts where it is known; else the most counts against the limit, and the cost stays unknown."""
    bound = most(body(), PRICE)
    budget = Budget(OpenAIChat(), PRICE, cost_limit=bound * 2)
    budget.reserve(body(), EVENT()).paid(reply(10, 1))
    assert budget.spent().cost == Decimal(20) / 1_000_000
    budget.reserve(body(), EVENT()).refused()
    assert budget.spent().cost == Decimal(20) / 1_000_000
    budget.reserve(body(), EVENT()).lost()
    spent = budget.spent()
    assert (spent.calls, spent.replies, spent.unknown, spent.uncertain) == (3, 1, 1, bound)
    with pytest.raises(BudgetExceeded, match=r"0\.000020 USD spent for 1 replies and up to .* more .* unknown"):
        budget.reserve(body(), EVENT())


def test_a_reply_without_usage_counts_as_the_most_and_stays_unknown() -> None:
    """Zero is not what a silent server costs."""
    budget = Budget(OpenAIChat(), PRICE)
    budget.reserve(body(), EVENT()).paid(reply(None, None))
    spent = budget.spent()
    assert (spent.cost, spent.unknown, spent.uncertain) == (0, 1, most(body(), PRICE))


def test_who_does_not_fit_waits_for_those_under_way() -> None:
    """Most calls cost less than was set aside: the limit is used, not feared."""
    budget = Budget(OpenAIChat(), PRICE, cost_limit=most(body(), PRICE) + Decimal(40) / 1_000_000)
    first = budget.reserve(body(), EVENT())
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(budget.reserve, body(), EVENT())
        assert not second.done()
        first.paid(reply(10, 1))
        second.result(10).paid(reply(10, 1))
    assert budget.spent().replies == 2


def test_who_waits_is_let_go_by_an_interrupt() -> None:
    """Nobody waits for money when the user wants an end."""
    budget, stopped = Budget(OpenAIChat(), PRICE, cost_limit=most(body(), PRICE)), EVENT()
    budget.reserve(body(), EVENT())
    stopped.set()
    with pytest.raises(Interrupted):
        budget.reserve(body(), stopped)


@given(
    limit=st.integers(0, 4000),
    threads=st.integers(1, 8),
    used=st.lists(st.sampled_from(["paid", "refused", "lost", "silent"]), min_size=1, max_size=24),
)
def test_no_order_of_events_passes_a_limit(limit: int, threads: int, used: list[str]) -> None:
    """Whatever becomes of the calls, in as many threads: what they cost, at the most, stays within both limits."""
    cost_limit = Decimal(limit) / 1_000_000
    budget = Budget(OpenAIChat(), PRICE, cost_limit=cost_limit, call_limit=10)

    def call(what: str) -> None:
        try:
            bill = budget.reserve(body(), EVENT())
        except BudgetExceeded:
            return
        if what in ("paid", "silent"):
            bill.paid(reply(100, 100) if what == "paid" else reply(None, None))
        else:
            getattr(bill, what)()

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(call, used))
    spent = budget.spent()
    assert spent.cost is not None
    assert spent.uncertain is not None
    assert spent.cost + spent.uncertain <= cost_limit
    assert spent.calls <= 10


# --- recording ------------------------------------------------------------------------------------------------------


def recorded(lab: Lab, budget: Budget, **changes: object) -> RecordReport:
    """Record the four questions under *budget*."""
    return lab.record(studio={"meter": budget}, **changes)


@pytest.mark.parametrize("connections", [1, 4])
@pytest.mark.parametrize("limit", range(sum(CALLS)))
def test_no_call_more_than_the_limit_reaches_the_server(lab: Lab, limit: int, connections: int) -> None:
    """It stops with exit code 6 before the limit is passed; the same command, let go on, pays for nothing twice."""
    report = recorded(lab, Budget(OpenAIChat(), call_limit=limit), connections=connections)
    assert isinstance(report.stopped, BudgetExceeded)
    assert f"{limit} calls were sent" in str(report.stopped)
    assert len(lab.llm.asked) == limit == report.calls
    assert report.remaining
    again = lab.record(connections=connections)
    assert not again.problems
    assert len(lab.llm.asked) == sum(CALLS)


def test_a_limit_that_is_just_enough_stops_nothing(lab: Lab) -> None:
    """Eleven calls with a limit of eleven."""
    report = recorded(lab, Budget(OpenAIChat(), call_limit=sum(CALLS)))
    assert report.problems == []
    assert report.calls == sum(CALLS)


def test_calls_that_are_tried_again_count(lab: Lab) -> None:
    """A limit of calls is one of calls sent, not of replies."""
    lab.llm.script = [error(429), error(500)]
    report = recorded(lab, Budget(OpenAIChat(), call_limit=3), keys="0")
    assert isinstance(report.stopped, BudgetExceeded)
    assert (len(lab.llm.asked), report.calls) == (3, 1)


def test_the_cost_limit_stops_before_it_is_passed(lab: Lab) -> None:
    """The reply that could have passed it is never asked for, and the message says what is left."""
    limit = Decimal("0.012")
    budget = Budget(OpenAIChat(), PRICE, cost_limit=limit)
    lab.llm.extra = {"usage": {"prompt_tokens": 2000, "completion_tokens": 50, "total_tokens": 2050}}
    report = recorded(lab, budget)
    spent = budget.spent()
    assert isinstance(report.stopped, BudgetExceeded)
    assert report.stopped.exit_code == 6
    assert spent.cost is not None
    assert spent.cost == Decimal("0.0025") * len(lab.llm.asked) <= limit
    assert "0.000" not in str(report.stopped).partition("spent")[0]
    assert "the next call can cost up to" in str(report.stopped)
    assert [episode.tokens.prompt for episode in report.episodes] == [2000 * e.calls for e in report.episodes]
