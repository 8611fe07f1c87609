"""Which rows: the paper code's five hundred, shuffles, lists."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro.data.subsets import PAPER_ROWS, SUBSETS, listed, paper500, shuffled
from reactrepro.errors import Usage

FIRST = ["3687", "6238", "5388", "3522", "3824", "2866", "1551", "2544", "1557", "5762"]


def test_the_papers_subset_has_the_published_order() -> None:
    """The first rows of the released runs, in their order; five hundred, none twice."""
    keys = paper500()
    assert list(keys[:10]) == FIRST
    assert len(keys) == len(set(keys)) == 500
    assert SUBSETS["paper500"]() == keys


def test_the_papers_subset_never_draws_the_last_rows_of_fever() -> None:
    """Both released notebooks shuffle 7,405 rows, though FEVER has 9,999."""
    assert max(map(int, paper500())) < PAPER_ROWS


def test_a_seed_of_233_over_all_of_hotpotqa_is_the_papers_subset() -> None:
    """And over all of FEVER it is another one."""
    assert shuffled([str(row) for row in range(7405)], 233)[:500] == list(paper500())
    assert shuffled([str(row) for row in range(9999)], 233)[:10] != FIRST


@given(st.lists(st.text(max_size=5)), st.integers())
def test_a_shuffle_is_that_of_python_and_leaves_its_input_alone(keys: list[str], seed: int) -> None:
    """Whatever the keys and the seed."""
    mine, before = list(keys), list(keys)
    random.Random(seed).shuffle(mine)  # noqa: S311 - the one that is meant
    assert shuffled(keys, seed) == mine
    assert keys == before


KNOWN = {"0": "5a", "1": "5b", "2": "0", "3": None}


@pytest.mark.parametrize(
    ("lines", "keys"),
    [
        (["3", "1", "3"], ["3", "1"]),
        (["5b", "5a"], ["1", "0"]),
        (["# mine", "", "  1 ", "5a"], ["1", "0"]),
        (["5a", "0"], ["0", "2"]),  # all are ids, not all are keys
        (["1", "0"], ["1", "0"]),  # all are keys, not all are ids
        (["id:0", "key:3"], ["2", "3"]),
        (["id:0", "5a", "1"], ["2", "0", "1"]),
    ],
)
def test_a_list_holds_keys_or_ids(lines: list[str], keys: list[str]) -> None:
    """In the order of the file, each once; comments and blank lines count for nothing."""
    assert listed(lines, KNOWN, "ids.txt") == keys


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "names no row"),
        (["# nothing"], "names no row"),
        (["3", "nine", "ten"], r"2 of 3 lines name no row that is at hand: 'nine', 'ten'"),
        (["key:9"], "1 of 1 lines"),
        (["id:9"], "1 of 1 lines"),
        (["id:"], "1 of 1 lines"),
        (["\x1b[2J"], r"'\\x1b\[2J'"),
        (["0"], "0 is the index of one row and the id of another \\(row 2\\). Write key:0 or id:0"),
        (["5a", "0", "1"], "0 is the index of one row and the id of another"),
    ],
)
def test_a_line_that_names_no_row_or_two_is_refused(lines: list[str], message: str) -> None:
    """FEVER's ids are numbers, as indexes are: which is meant is not guessed."""
    with pytest.raises(Usage, match=message):
        listed(lines, KNOWN, "ids.txt")


@given(st.data())
def test_keys_alone_are_read_as_keys_unless_they_could_all_be_ids(data: st.DataObject) -> None:
    """With ids that never look like indexes any list of keys, or of ids, comes back in order."""
    known = {str(n): f"x{n}" for n in range(20)}
    numbers = data.draw(st.lists(st.integers(0, 19), min_size=1, unique=True))
    name: Callable[[int], str] = data.draw(st.sampled_from([str, lambda n: f"x{n}", lambda n: f"id:x{n}"]))
    assert listed([name(n) for n in numbers], known, "f") == [str(n) for n in numbers]
