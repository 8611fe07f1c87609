"""Exact match and F1 against worked examples and an independent statement of the rules."""

from __future__ import annotations

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro.metrics import exact_match, f1, majority_vote, normalize_answer, token_scores

# prediction, gold, EM, (F1, precision, recall), by the official evaluation
WORKED = [
    ("The Beatles", "Beatles", True, (1, 1, 1)),
    ("U.S.A.", "USA", True, (1, 1, 1)),
    ("yes, they are", "yes", False, (0, 0, 0)),
    ("", "The The", True, (0, 0, 0)),
    ("twenty-one", "twenty one", False, (0, 0, 0)),
    ("1,000", "1000", True, (1, 1, 1)),
    ("Chief of Protocol of the United States", "Chief of Protocol", False, (2 / 3, 1 / 2, 1)),
    ("A\u2013Z", "A-Z", False, (0, 0, 0)),
    ("New York New York", "New York City", False, (4 / 7, 1 / 2, 2 / 3)),
    ("\u201cyes\u201d", "yes", False, (0, 0, 0)),
    ("from 1986 to 2013", "1986 to 2013", False, (6 / 7, 3 / 4, 1)),
    ("Beyonc\u00e9", "Beyonce", False, (0, 0, 0)),
]


@pytest.mark.parametrize(("prediction", "gold", "em", "scores"), WORKED)
def test_worked_scores(prediction: str, gold: str, em: bool, scores: tuple[float, float, float]) -> None:
    """The official evaluation's results on a dozen telling pairs."""
    assert exact_match(prediction, gold) is em
    assert f1(prediction, gold) == pytest.approx(scores[0], abs=1e-12)
    assert token_scores(prediction, gold) == pytest.approx(scores, abs=1e-12)


@pytest.mark.case("B24")
@pytest.mark.parametrize(
    ("prediction", "gold", "em", "score"),
    [
        ("Yes, both are rivers", "yes", False, 0),
        ("the Marlow river", "Marlow", False, 2 / 3),
        ("13-3", "13\u20133", False, 0),
        ("Beyonce\u0301", "Beyonc\u00e9", False, 0),
        ("New\u00a0York", "New York", True, 1),
    ],
)
def test_the_official_rules_are_not_bent(prediction: str, gold: str, em: bool, score: float) -> None:
    """No credit for a verbose yes, no folding of dashes or accents; a no-break space is white space."""
    assert exact_match(prediction, gold) is em
    assert f1(prediction, gold) == pytest.approx(score)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("a.n", ""),
        ("The  The", ""),
        ("theatre", "theatre"),
        ("!!!", ""),
        ("\u2018an\u2019", "\u2018 \u2019"),
        ("\tX\nY\u2003Z ", "x y z"),
        ("\u00bd", "\u00bd"),
        ("\u0130", "i\u0307"),
        ("an_apple", "anapple"),
    ],
)
def test_normalization(text: str, normal: str) -> None:
    """Punctuation goes before the articles are looked for; only ASCII punctuation goes."""
    assert normalize_answer(text) == normal


def test_scores_are_floats() -> None:
    """A score without overlap is 0.0, a float like every other."""
    assert isinstance(f1("a b", "c"), float)
    assert isinstance(f1("", ""), float)


def _reference_normal(text: str) -> str:
    """The rules once more, character by character and without a regular expression."""
    kept = [c for c in text.lower() if c not in string.punctuation]
    words, word = [], ""
    for c in [*kept, " "]:  # a word, as \b sees it: letters, digits, underscores of any script
        if c.isalnum() or c == "_":
            word += c
            continue
        words.append(" " if word in {"a", "an", "the"} else word)
        words.append(c)
        word = ""
    return " ".join("".join(words).split())


def _reference_f1(prediction: str, gold: str) -> float:
    one, other = _reference_normal(prediction), _reference_normal(gold)
    if one != other and {one, other} & {"yes", "no", "noanswer"}:
        return 0.0
    predicted, wanted = one.split(), other.split()
    left = list(wanted)
    same = 0
    for token in predicted:
        if token in left:
            left.remove(token)
            same += 1
    return 2 * same / (len(predicted) + len(wanted)) if same else 0.0


ANSWERS = st.one_of(
    st.lists(
        st.sampled_from(
            ["yes", "no", "noanswer", "a", "an", "the", "The", "x", "Y", "3", ".", "-", "\u2013", " ", "\u00a0"]
        )
    ).map("".join),
    st.text(),
)


@given(ANSWERS)
def test_normalization_equals_the__reference_and_is_idempotent(text: str) -> None:
    """Two independent statements of the rule agree, and a normal form is its own."""
    assert normalize_answer(text) == _reference_normal(text)
    assert normalize_answer(normalize_answer(text)) == normalize_answer(text)


@given(ANSWERS, ANSWERS)
def test_scores_equal_the_reference(prediction: str, gold: str) -> None:
    """EM and F1 agree with the reference; both are symmetric; only a full overlap makes them 1."""
    assert exact_match(prediction, gold) == (_reference_normal(prediction) == _reference_normal(gold))
    score = f1(prediction, gold)
    assert score == pytest.approx(_reference_f1(prediction, gold), abs=1e-12)
    assert score == pytest.approx(f1(gold, prediction), abs=1e-12)
    assert 0.0 <= score <= 1.0
    if exact_match(prediction, gold) and normalize_answer(gold):
        assert score == 1.0


VOTES = st.lists(st.one_of(st.none(), st.sampled_from(["Quill", "the quill", "QUILL.", "no", "No", "", "!", "bay"])))


@given(VOTES)
def test_the_winner_of_a_vote_is_the_first_of_the_most_frequent(answers: list[str | None]) -> None:
    """Counted once normalized: no later answer has more votes, and no earlier one as many."""
    vote = majority_vote(answers)
    assert vote.of == len(answers)
    counts = [sum(o is not None and exact_match(o, a) for o in answers) if a is not None else 0 for a in answers]
    if vote.answer is None:
        assert (vote.votes, set(answers) - {None}) == (0, set())
        return
    first = answers.index(vote.answer)
    assert vote.votes == counts[first] == max(counts)
    assert all(count < vote.votes for count in counts[:first])


@given(VOTES, st.randoms(use_true_random=False))
def test_samples_without_an_answer_only_dilute_a_vote(answers: list[str | None], order: random.Random) -> None:
    """Wherever they stand, they change neither the winner nor its votes."""
    diluted = list(answers)
    for _ in range(3):
        diluted.insert(order.randrange(len(diluted) + 1), None)
    assert (majority_vote(diluted).answer, majority_vote(diluted).votes) == (
        majority_vote(answers).answer,
        majority_vote(answers).votes,
    )
