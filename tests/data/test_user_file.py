"""A user's own questions."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro.data import user_file
from reactrepro.errors import Corrupt, Usage

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)


def put(path: Path, *rows: object) -> Path:
    """A file of JSON Lines."""
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8", newline="")
    return path


@given(st.dictionaries(texts, texts, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_the_order_of_the_lines_plays_no_part(
    tmp_path_factory: pytest.TempPathFactory, rows: dict[str, str], order: random.Random
) -> None:
    """A question has the same key wherever it stands."""
    lines = [{"question": text, "answer": gold} for text, gold in rows.items()]
    file = tmp_path_factory.mktemp("data") / "my.jsonl"
    before = user_file.read(put(file, *lines))
    order.shuffle(lines)
    after = user_file.read(put(file, *lines))
    assert {q.key: (q.text, q.gold) for q in before} == {q.key: (q.text, q.gold) for q in after}
    assert [q.text for q in after] == [line["question"] for line in lines]


def test_a_key_is_no_index(tmp_path: Path) -> None:
    """It begins with a letter, whatever the digits behind it."""
    (question,) = user_file.read(put(tmp_path / "my.jsonl", {"question": "Who?", "answer": "Ada", "id": 7}))
    assert (question.key, question.index, question.id) == (user_file.key_of("Who?"), None, "7")
    assert question.key.startswith("q")
    assert len(question.key) == 16


def test_claims_and_labels_are_questions_and_answers(tmp_path: Path) -> None:
    """FEVER's own field names do, too."""
    (claim,) = user_file.read(put(tmp_path / "my.jsonl", {"claim": "It is so.", "label": "SUPPORTS"}))
    assert (claim.text, claim.gold) == ("It is so.", "SUPPORTS")


def test_a_list_is_keyed_by_its_places(tmp_path: Path) -> None:
    """The form of HotpotQA's development set."""
    file = tmp_path / "dev.json"
    file.write_text(json.dumps([{"_id": "5a", "question": "Who?", "answer": "Ada"}] * 2), encoding="utf-8")
    assert [(q.key, q.index, q.id) for q in user_file.read(file)] == [("0", 0, "5a"), ("1", 1, "5a")]


@pytest.mark.parametrize(
    ("data", "error", "says"),
    [
        (b"", Usage, "no question"),
        (b'{"question": "a", "answer": "b"}\n{"question": "a", "answer": "c"}', Usage, "lines 1 and 2"),
        (b'{"question": "a"}', Corrupt, "line 1"),
        (b'{"question": "a", "answer": 3}', Corrupt, "line 1"),
        (b'\n{"question": "a", "answer": "b"}\n{"quest', Corrupt, "line 3"),
        (b'{"question": "\\ud800", "answer": "b"}', Corrupt, "line 1"),
        (b"[" * 100_000, Corrupt, "JSON"),
        (b'"text"', Corrupt, "line 1"),
        (b'{"question": "\xff"}', Corrupt, "UTF-8"),
    ],
)
def test_what_is_no_such_file_is_said_so(tmp_path: Path, data: bytes, error: type[Exception], says: str) -> None:
    """With the line."""
    file = tmp_path / "my.jsonl"
    file.write_bytes(data)
    with pytest.raises(error, match=says):
        user_file.read(file)
