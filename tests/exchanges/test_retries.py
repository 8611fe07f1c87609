"""How often, and how long apart, a call is tried again."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from reactrepro.exchanges.retries import Gate, Patience, is_retryable, is_shared

NOW = 1796066525.0  # Mon, 30 Nov 2026 19:22:05 GMT


def patience(**changes: float) -> Patience:
    """A patience at a known time, whose waits are the longest possible."""
    return Patience(chance=lambda: 1.0, now=lambda: NOW, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("status", "again"),
    [(408, True), (409, True), (429, True), (500, True), (503, True), (529, True), (599, True), (200, False),
     (308, False), (400, False), (401, False), (402, False), (403, False), (404, False), (413, False), (422, False)],
)  # fmt: skip
def test_which_statuses_mean_later(status: int, again: bool) -> None:
    """408, 409, 429 and 5xx; nothing that the next attempt would meet just the same."""
    assert is_retryable(status) is again


def test_a_providers_word_counts() -> None:
    """Providers say `x-should-retry: false` where waiting does not help."""
    assert not is_retryable(500, {"X-Should-Retry": "false"})
    assert is_retryable(500, {"x-should-retry": "true"})
    assert not is_retryable(400, {"x-should-retry": "true"})


def test_waits_double_up_to_a_limit_and_end() -> None:
    """Without a word of the server: 1, 2, 4, … seconds, 60 at most; as many attempts as there are, and no more."""
    many = patience(attempts=9)
    assert [many.wait(failures) for failures in range(1, 10)] == [1, 2, 4, 8, 16, 32, 60, 60, None]
    assert patience(attempts=1).wait(1) is None
    assert patience(attempts=2000).wait(1500) == 60


def test_a_random_half_is_left_off() -> None:
    """Many workers that fail at once do not come back at once."""
    shortest = Patience(chance=lambda: 0.0)
    assert [shortest.wait(failures) for failures in (1, 2)] == [0.5, 1.0]


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7),
        ({"retry-after": "0.25"}, 1),
        ({"retry-after-ms": "2500", "retry-after": "9"}, 2.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9),
        ({"Retry-After": "Mon, 30 Nov 2026 19:22:35 GMT"}, 30),
        ({"Retry-After": "Mon, 30 Nov 2026 19:22:35 -0000"}, 30),
        ({"Retry-After": "Mon, 30 Nov 2026 18:00:00 GMT"}, 1),
        ({"Retry-After": "-5"}, 1),
        ({"Retry-After": "nan"}, 1),
        ({"Retry-After": "a while"}, 1),
        ({"Retry-After": ""}, 1),
        ({"Retry-After": "300"}, 300),
        ({"Retry-After": "301"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "Mon, 30 Nov 2026 20:22:05 GMT"}, None),
    ],
)
def test_retry_after_is_honoured(headers: Mapping[str, str], seconds: float | None) -> None:
    """Where it is longer than our own wait, in seconds or as a date; whoever asks for more than 300 s is left alone."""
    assert patience().wait(1, headers) == seconds


class Waits:
    """A clock that moves when somebody waits."""

    def __init__(self) -> None:
        self.time, self.waited = 100.0, []

    def stop(self, seconds: float) -> bool:
        self.waited.append(seconds)
        self.time += seconds
        return False


def gate(clock: Waits, longest: float = 300.0, chance: float = 0.0) -> Gate:
    """A gate by that clock."""
    return Gate(longest, chance=lambda: chance, now=lambda: clock.time)


def test_an_open_gate_makes_nobody_wait() -> None:
    """Nobody was told to wait, or it is over."""
    clock = Waits()
    made = gate(clock)
    assert made.passes(clock.stop)
    made.close(5)
    clock.time += 5
    assert made.passes(clock.stop)
    assert clock.waited == []


def test_all_wait_as_long_as_the_one_that_has_to_wait_longest() -> None:
    """A shorter wait does not open the gate for a call that was told to wait longer."""
    clock = Waits()
    made = gate(clock)
    made.close(7)
    made.close(2)
    assert made.passes(clock.stop)
    assert clock.waited == [7]


def test_they_do_not_all_come_back_at_once() -> None:
    """Each by chance a little later, up to a second, and never sooner."""
    clock = Waits()
    made = gate(clock, chance=0.5)
    made.close(60)
    assert made.passes(clock.stop)
    assert clock.waited == [60.5]


def test_a_gate_that_is_closed_again_and_again_is_passed_in_the_end() -> None:
    """The wait is bounded, whatever the others are told."""
    clock = Waits()
    made = gate(clock, longest=100)

    def stop(seconds: float) -> bool:
        clock.stop(seconds)
        made.close(60)
        return False

    made.close(60)
    assert made.passes(stop)
    assert sum(clock.waited) == 100


def test_who_waits_at_the_gate_is_let_go_by_an_interrupt() -> None:
    """And does not go through it."""
    clock = Waits()
    made = gate(clock)
    made.close(60)
    assert not made.passes(lambda _: True)


@pytest.mark.parametrize(("status", "shared"), [(429, True), (500, True), (529, True), (408, False), (None, False)])
def test_what_speaks_of_the_provider_as_a_whole(status: int | None, shared: bool) -> None:
    """Too many requests, and errors of the server; a request that timed out is its own matter."""
    assert is_shared(status) is shared
