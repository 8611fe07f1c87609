"""Data files become questions, or are refused."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro.data import catalogue, rows
from reactrepro.domain import Question
from reactrepro.errors import Corrupt

from .mirror import GOOD, ROWS, small

texts = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(st.tuples(texts, texts, st.none() | texts)))
def test_every_character_of_hotpotqa_arrives(made: list[tuple[str, str, str | None]]) -> None:
    """Question and answer as they are; the index is the key; other members do not matter."""
    data = [
        {"question": q, "answer": a, "type": "x", "n": [1]} | ({"_id": i} if i is not None else {}) for q, a, i in made
    ]
    found = rows.hotpotqa(json.dumps(data).encode())
    assert found == tuple(Question(str(n), q, a, n, i) for n, (q, a, i) in enumerate(made))


@given(st.lists(st.tuples(st.integers(0, 10**6), texts, texts)))
def test_every_character_of_fever_arrives(made: list[tuple[int, str, str]]) -> None:
    """Claim, label and FEVER's own number; a line separator inside a claim ends no line."""
    data = "".join(json.dumps({"id": i, "claim": c, "label": v}, ensure_ascii=False) + "\n" for i, c, v in made)
    assert rows.fever(data.encode()) == tuple(Question(str(n), c, v, n, str(i)) for n, (i, c, v) in enumerate(made))


def test_the_published_files_load(reactrepro_test_data: Path) -> None:
    """7,405 questions and 9,999 claims, with golds and, for FEVER, ids."""
    hotpotqa = rows.hotpotqa((reactrepro_test_data / "hotpot_dev_v1_simplified.json").read_bytes())
    assert len(hotpotqa) == 7405
    first = Question("0", "Were Scott Derrickson and Ed Wood of the same nationality?", "yes", 0, None)
    assert hotpotqa[0] == first
    fever = rows.fever((reactrepro_test_data / "paper_dev.jsonl").read_bytes())
    assert len(fever) == len({row.id for row in fever}) == 9999
    assert (fever[0].id, fever[0].gold) == ("91198", "NOT ENOUGH INFO")
    assert {row.gold for row in fever} == {"SUPPORTS", "REFUTES", "NOT ENOUGH INFO"}


def test_the_published_files_are_as_the_catalogue_says(reactrepro_test_data: Path) -> None:
    """Bytes, rows and sums."""
    files = {file.name: file for files in catalogue.FILES.values() for file in files}
    for name in ("hotpot_dev_v1_simplified.json", "paper_dev.jsonl"):
        data = (reactrepro_test_data / name).read_bytes()
        assert rows.fault(files[name], data) is None
        assert files[name].size == len(data)


@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255))
def test_no_changed_byte_passes(place: int, by: int) -> None:
    """Whichever it is, both sums are named."""
    altered = bytes([*GOOD[:place], GOOD[place] ^ by, *GOOD[place + 1 :]])
    wrong = rows.fault(small(), altered)
    assert wrong is not None
    assert f"SHA-256 {sha256(altered).hexdigest()}" in wrong
    assert f"SHA-256 {small().sha256} (made here)" in wrong


def test_where_no_sum_is_known_the_rows_vouch() -> None:
    """And the message says that none is known."""
    file = small(sha256=None, size=None)
    assert rows.fault(file, GOOD) is None
    wrong = rows.fault(file, json.dumps(ROWS[:2]).encode())
    assert wrong is not None
    assert "2 rows" in wrong
    assert wrong.endswith("expected is 3 rows, an unknown SHA-256 (none was published)")


def _installed(folder: Path, name: str, data: bytes) -> Path:
    path = folder / "hotpotqa" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


def test_what_is_not_installed_is_none(tmp_path: Path) -> None:
    """Nor is a data set that nobody has heard of."""
    assert rows.questions("hotpotqa", tmp_path) is None
    assert rows.questions("pelm", tmp_path) is None


def test_an_installed_file_that_was_changed_is_corrupt(tmp_path: Path) -> None:
    """Questions never come from it; the message says how to put it right."""
    path = _installed(tmp_path, "hotpot_dev_v1_simplified.json", GOOD)
    with pytest.raises(Corrupt, match=r"3 rows.*expected is 1,179,017 bytes, 7,405 rows") as caught:
        rows.questions("hotpotqa", tmp_path)
    assert str(path) in str(caught.value)
    assert "`reactrepro fetch hotpotqa --file simplified` puts it right" in str(caught.value)


def test_a_file_with_ids_is_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several installed files of a data set."""
    plain = json.dumps([{k: v for k, v in row.items() if k != "_id"} for row in ROWS]).encode()
    files = (small(plain), small(GOOD, short="distractor", name="d.json"), small(GOOD, short="fullwiki", name="f.json"))
    monkeypatch.setitem(catalogue.FILES, "hotpotqa", files)  # type: ignore[arg-type]
    _installed(tmp_path, files[0].name, plain)
    found = rows.questions("hotpotqa", tmp_path)
    assert found is not None
    assert found[1] == Question("1", "Is Harlow Bay warm? ", "no", 1, None)
    _installed(tmp_path, "d.json", GOOD)
    found = rows.questions("hotpotqa", tmp_path)
    assert found is not None
    assert [row.id for row in found] == ["5a", "5b", "5c"]


def test_a_replay_loads_no_data_set(offline: dict[str, str], reactrepro_test_data: Path, tmp_path: Path) -> None:
    """Not even one that is installed; nor does it look for the platform's data folder."""
    name = "hotpot_dev_v1_simplified.json"
    tmp_path.joinpath("hotpotqa").mkdir()
    _installed(tmp_path, name, (reactrepro_test_data / name).read_bytes())
    code = (
        "import sys, reactrepro.cli as c; code = c.run(['replay', 'hotpotqa', '0', '--quiet'])\n"
        "opened = [m for m in sys.modules if m.startswith(('platformdirs', 'reactrepro.data.'))]\n"
        "print(code, sorted(opened), file=sys.stderr)"
    )
    for folder in (str(tmp_path), ""):
        env = offline | {"REACTREPRO_DATA": folder}
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
        assert done.stderr.strip() == "0 ['reactrepro.data.folder', 'reactrepro.data.subsets']"
