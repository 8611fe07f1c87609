"""Terms: what was learned of a server, by however many threads; and how one call is put after each refusal."""

from __future__ import annotations

from itertools import pairwise, permutations

from hypothesis import given
from hypothesis import strategies as st

from reactrepro.backends.terms import Approach, Terms
from reactrepro.domain import Sent
from reactrepro.sent import Later

PARAMETERS = ("stop", "stop_sequences", "max_tokens", "max_completion_tokens", "temperature", "n", "top_p", "model")
forms = st.builds(
    Sent,
    stop=st.sampled_from(["native", "visible", "emulated"]),
    token_limit=st.sampled_from(["max_tokens", "max_completion_tokens"]),
    omitted=st.sampled_from([(), ("temperature",)]),
)


def approach(sent: Sent, *refused: tuple[str, object]) -> Approach:
    """One call, put otherwise after each of these refusals."""
    made = Approach(sent)
    assert [made.without(name, value) for name, value in refused] == [True] * len(refused)
    return made


def test_each_thread_adds_what_it_learned() -> None:
    """Three calls that were under way at once, in any order: nothing that one of them learned is lost."""
    learned = [
        approach(Sent(), ("stop", ["x"])),
        approach(Sent(), ("max_tokens", 1)),
        approach(Sent(), ("temperature", 0)),
    ]
    for order in permutations(learned):
        terms = Terms()
        for made in order:
            terms.learn(made)
        assert terms.sent == Sent("emulated", "max_completion_tokens", ("temperature",))


def test_a_call_that_knows_less_unlearns_nothing() -> None:
    """White space alone was refused to one thread, every stop string to another."""
    terms = Terms()
    terms.learn(approach(Sent(), ("stop", ["x"])))
    terms.learn(approach(Sent(), ("stop", ["\n"])))
    assert terms.sent == Sent(stop="emulated")


@given(forms, st.lists(st.sampled_from(PARAMETERS), max_size=12), st.booleans())
def test_a_call_is_put_in_a_handful_of_ways(sent: Sent, refused: list[str], blank: bool) -> None:
    """Whatever a server refuses in whatever order: five times at most, and each time otherwise."""
    made, seen = Approach(sent), [sent]
    for name in refused:
        if made.without(name, ["\n" if blank else "x"]):
            seen.append(made.sent)
    assert len(seen) <= 6
    assert all(now != before for before, now in pairwise(seen))


@given(st.lists(forms, min_size=1, max_size=8))
def test_what_is_recorded_says_how_each_call_was_put(calls: list[Sent]) -> None:
    """However often that changed; and nothing stands in it twice."""
    made = Sent.of(calls, (2, 1))
    assert [made.at(number) for number in range(1, len(calls) + 1)] == calls
    assert made.samples_per_call == (2, 1)
    assert len(made.later) == sum(now != before for before, now in pairwise(calls))
    assert all(isinstance(change, Later) and change.call > 1 for change in made.later)
