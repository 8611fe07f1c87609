"""Which questions a command is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from reactrepro.cassettes.library import Library
from reactrepro.data.folder import VARIABLE
from reactrepro.data.subsets import paper500
from reactrepro.errors import Corrupt, Usage
from reactrepro.runs.picks import Pick
from reactrepro.runs.questions import questions
from reactrepro.tasks import TASKS

KNOWN: dict[str, str | None] = {str(n): f"id-{n}" for n in range(10)}


@pytest.mark.parametrize(
    ("pick", "keys"),
    [
        (Pick(("3", "5-7")), "3567"),
        (Pick(("all",)), "0123456789"),
        (Pick(("all",), limit=3), "012"),
        (Pick(limit=3), "012"),
        (Pick(("7-9", "1"), limit=2), "78"),
        (Pick(seed=1), "6897530412"),
        (Pick(("all",), seed=1, limit=4), "6897"),
        (Pick(("0-3",), seed=0), "2013"),
    ],
)
def test_words_seed_and_limit(pick: Pick, keys: str) -> None:
    """The words choose, the seed shuffles, the limit cuts, in this order; a seed or a limit alone is about all."""
    assert pick.keys(KNOWN) == list(keys)


def test_a_subset_is_in_its_own_order_whatever_is_known() -> None:
    """What of it is at hand is for the command to say."""
    assert tuple(Pick(subset="paper500").keys(KNOWN)) == paper500()
    assert Pick(subset="paper500", limit=3).keys({}) == ["3687", "6238", "5388"]


def test_a_list_in_a_file(tmp_path: Path) -> None:
    """With a byte order mark, and Windows' line ends, as editors write it."""
    path = tmp_path / "ids.txt"
    path.write_bytes("\ufeffid-7\r\nid-2\r\n".encode())
    assert Pick(ids=path).keys(KNOWN) == ["7", "2"]
    assert Pick(ids=path, seed=0, limit=1).keys(KNOWN) == ["7"]


@pytest.mark.parametrize(
    ("pick", "message"),
    [
        (Pick(), "say which questions"),
        (Pick(("1",), subset="paper500"), "indexes and --subset each say which questions"),
        (Pick(("1",), subset="paper500", ids=Path("x")), "indexes and --subset and --ids"),
        (Pick(subset="paper9"), "there are: paper500"),
        (Pick(("9-1",)), "runs backwards"),
    ],
)
def test_what_makes_no_sense_is_a_usage_error(pick: Pick, message: str) -> None:
    """Nothing asked, several things asked, unknown things asked."""
    with pytest.raises(Usage, match=message):
        pick.keys(KNOWN)


def test_a_list_that_cannot_be_read_is_corrupt(tmp_path: Path) -> None:
    """Absent, or no text."""
    path = tmp_path / "ids.txt"
    with pytest.raises(Corrupt, match="cannot be read"):
        Pick(ids=path).keys(KNOWN)
    path.write_bytes(b"\xff\xfe1\x00")
    with pytest.raises(Corrupt, match="no text in UTF-8"):
        Pick(ids=path).keys(KNOWN)


@pytest.mark.parametrize(
    ("pick", "plain"),
    [
        (Pick(("3", "5")), True),
        (Pick(("all",)), False),
        (Pick(("3",), limit=1), False),
        (Pick(subset="paper500"), False),
    ],
)
def test_only_indexes_are_kept_as_typed(pick: Pick, plain: bool) -> None:
    """A run's selection holds every other choice as the indexes that came of it."""
    assert pick.plain is plain


# --- where the questions come from ----------------------------------------------------------------------------------


@pytest.fixture
def fetched(tmp_path: Path, reactrepro_test_data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with both data sets."""
    for data_set, name in (("hotpotqa", "hotpot_dev_v1_simplified.json"), ("fever", "paper_dev.jsonl")):
        path = tmp_path / data_set / name
        path.parent.mkdir()
        path.write_bytes((reactrepro_test_data / name).read_bytes())
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path


def test_a_fetched_data_set_needs_no_option(fetched: Path) -> None:
    """Every row of it is at hand, by its index."""
    task = TASKS.get("hotpotqa")()
    rows = questions(task, Pick(subset="paper500", limit=2), Library(()))
    assert [(row.key, row.index) for row in rows] == [("3687", 3687), ("6238", 6238)]
    assert len(questions(task, Pick(("all",)), Library(()))) == 7405


def test_a_data_set_is_found_by_the_tasks_name(fetched: Path) -> None:
    """FEVER's rows have ids of their own, by which a list can name them."""
    fetched.joinpath("ids").write_text("194462\n91198\n", encoding="ascii")
    rows = questions(TASKS.get("fever")(), Pick(ids=fetched / "ids"), Library(()))
    assert [(row.key, row.id, row.gold) for row in rows] == [
        ("1", "194462", "NOT ENOUGH INFO"),
        ("0", "91198", "NOT ENOUGH INFO"),
    ]


def test_without_it_the_message_says_how_to_get_it() -> None:
    """For a task that has a data set; not where another file was named."""
    with pytest.raises(Usage, match=r"no question 7 of hotpotqa is at hand.*`reactrepro fetch hotpotqa` installs"):
        questions(TASKS.get("hotpotqa")(), Pick(("7",)), Library(()))
    with pytest.raises(Usage, match=r"no question 99 of pelm is at hand; known: 0, 1, 2, 3, 4 …\. --data names a file"):
        questions(TASKS.get("pelm")(), Pick(("99",)), Library(()))


def test_a_fetched_data_set_that_was_changed_is_not_used(fetched: Path) -> None:
    """Not one question of it."""
    path = fetched / "hotpotqa" / "hotpot_dev_v1_simplified.json"
    path.write_bytes(path.read_bytes().replace(b"Ed Wood", b"Ed Food", 1))
    with pytest.raises(Corrupt, match=r"is not hotpot_dev_v1_simplified\.json as it was published"):
        questions(TASKS.get("hotpotqa")(), Pick(("0",)), Library(()))
