"""Results in files: written, read, appended to, merged; nothing is counted twice."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import jsonlines
import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from reactrepro.errors import Absent, Corrupt, DiskError, Usage
from reactrepro.results import (
    RESULT_FORMAT,
    Appender,
    Result,
    csv_bytes,
    in_order,
    line,
    merge,
    read,
    write,
)
from reactrepro.spreadsheet import table_bytes

from .lab import environment
from .world import checkout

SHA = "a" * 64


def result(key: str = "0", **changes: object) -> Result:
    """A judged result."""
    plain = {
        "task": "hotpotqa",
        "method": "react",
        "run": "a-model",
        "run_id": SHA,
        "key": key,
        "question_sha256": "b" * 64,
        "answer": "Ada Marlow",
        "em": True,
        "f1": 1.0,
        "ended": "finish",
        "steps": 3,
        "llm_calls": 4,
        "reprompts": 1,
        "strict_reprompts": 1,
        "flags": {"no_action": 1},
        "diagnoses": {"gold_observed": True, "evidence": 2, "answer_observed": None},
        "provider": "openai",
        "api": "chat",
        "model": "a-model",
        "profile": "chat",
        "scorer": "hotpotqa-official/1",
        "version": "0",
    }
    return Result(**plain | changes)  # type: ignore[arg-type]


COUNTS = st.none() | st.integers(0, 10**6)
JUDGED = st.builds(
    result,
    key=st.integers(0, 7404).map(str),
    answer=st.none() | st.text(),
    em=st.booleans(),
    f1=st.floats(0, 1),
    more=st.dictionaries(st.text(max_size=8), st.floats(allow_nan=False, allow_infinity=False), max_size=2),
    ended=st.sampled_from(["finish", "step_limit", "filtered"]),
    flags=st.dictionaries(st.sampled_from(["no_action", "ran_ahead"]), st.integers(0, 7)),
    prompt_tokens=COUNTS,
    completion_tokens=COUNTS,
    diagnoses=st.dictionaries(st.text(max_size=8), st.none() | st.booleans() | st.integers(0, 9), max_size=3),
    overrides=st.dictionaries(st.text(max_size=8), st.text(max_size=8) | st.integers() | st.booleans(), max_size=2),
    model=st.text(max_size=9),
    time=st.none() | st.text(max_size=9),
)
UNJUDGED = st.builds(
    lambda key, kind: Result(
        task="t",
        method="m",
        run="r",
        run_id=SHA,
        key=key,
        kind=kind,
        provider="p",
        api="chat",
        model="x",
        profile="chat",
        scorer="s/1",
        version="0",
    ),
    key=st.integers(0, 99).map(str),
    kind=st.sampled_from(["missing", "infra error", "corrupt"]),
)
RESULTS = st.lists(JUDGED | UNJUDGED, max_size=8, unique_by=lambda one: one.identity)


# --- there and back -------------------------------------------------------------------------------------------------


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(RESULTS)
@example([result(answer="\u2028\x85\r\n\ud800 \U0001f600")])
def test_what_was_written_is_read(tmp_path: Path, results: list[Result]) -> None:
    """Every field comes back, in the order of keys; other JSON Lines readers see the same."""
    path = tmp_path / "results.jsonl"
    write(path, results)
    assert read(path) == tuple(in_order(results))
    data = path.read_bytes()
    assert data.isascii()
    with jsonlines.open(path) as reader:
        assert list(reader) == [msgspec.to_builtins(one) for one in in_order(results)]
    write(path, reversed(results))
    assert path.read_bytes() == data


def test_unknown_tokens_are_null_and_not_zero() -> None:
    """A reader can tell "nobody said" from "none"."""
    unknown, none = (json.loads(line(result(prompt_tokens=count))) for count in (None, 0))
    assert (unknown["prompt_tokens"], none["prompt_tokens"]) == (None, 0)
    assert (unknown["format"], unknown["class"]) == (RESULT_FORMAT, "ok")


def test_the_documented_fields_are_the_fields() -> None:
    """docs/formats.md lists each field of a line, and no other."""
    page = (checkout() / "docs" / "formats.md").read_text(encoding="utf-8")
    table = page.partition(f"`{RESULT_FORMAT}`\n")[2].partition("\n## ")[0]
    rows = [re.findall(r"`(\w+)`", row.split("|")[1]) for row in table.split("\n") if row.startswith("| `")]
    assert [name for row in rows for name in row] == list(json.loads(line(result())))


def test_results_stand_in_the_order_of_their_keys() -> None:
    """Numbers as numbers, hashes behind them; what could not be an index is no number."""
    assert [one.key for one in in_order(map(result, ["10", "a0", "9", "²"]))] == ["9", "10", "a0", "²"]


def test_a_number_that_json_does_not_have_is_not_written(tmp_path: Path) -> None:
    """NaN would make a file that others cannot read."""
    with pytest.raises(ValueError, match="JSON"):
        write(tmp_path / "x.jsonl", [result(more={"x": float("nan")})])
    assert list(tmp_path.iterdir()) == []


# --- what is refused ------------------------------------------------------------------------------------------------

GOOD = line(result("0"))


def altered(**changes: object) -> bytes:
    """A line with other values; None drops nothing."""
    return json.dumps(msgspec.to_builtins(result("1")) | changes).encode() + b"\n"


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (altered(format="reactrepro-result/2"), "newer reactrepro"),
        (altered(format="reactrepro-run/1"), "no such file"),
        (b'{"key": "1"}\n', "no such file"),
        (b"[]\n", "no result"),
        (b"null\n", "no result"),
        (b"\n", "no result"),
        (b"{\n", "no result"),
        (b"\xff\n", "no result"),
        (b"[" * 100_000 + b"\n", "no result"),
        (altered(f1=float("nan")), "NaN"),
        (altered(f1=1.5), "f1"),
        (altered(em=1), "em"),
        (altered(steps=-1), "steps"),
        (altered(steps=True), "steps"),
        (altered(prompt_tokens="many"), "prompt_tokens"),
        (altered(ended="gave up"), "ended"),
        (altered(run_id="short"), "run_id"),
        (altered(em=None), "class 'ok'"),
        (altered(extra=1), "extra"),
        (GOOD, "stands in line 1 already"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_line_that_is_no_result_is_refused_with_its_number(tmp_path: Path, bad: bytes, why: str) -> None:
    """Newer versions, other records, impossible values and repeated episodes: exit code 5, file and line."""
    path = tmp_path / "results.jsonl"
    path.write_bytes(GOOD + bad)
    with pytest.raises(Corrupt, match="line 2") as caught:
        read(path)
    assert why in str(caught.value)
    assert caught.value.exit_code == 5


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_altered_bytes_are_refused_or_read_whole(tmp_path: Path, data: st.DataObject) -> None:
    """Whatever a stranger's file holds, reading ends in results or in one of our errors."""
    whole = GOOD + line(result("1"))
    at = data.draw(st.integers(0, len(whole) - 1))
    path = tmp_path / "results.jsonl"
    path.write_bytes(whole[:at] + data.draw(st.binary(max_size=4)) + whole[at + data.draw(st.integers(0, 9)) :])
    with suppress(Corrupt):
        found = read(path)
        write(path, found)
        assert read(path) == tuple(in_order(found))


def test_a_cut_line_and_an_absent_file_are_told_apart(tmp_path: Path) -> None:
    """Cut off: exit code 5, with the line; absent: 3; empty: no results."""
    path = tmp_path / "results.jsonl"
    with pytest.raises(Absent, match="does not exist"):
        read(path)
    path.write_bytes(b"")
    assert read(path) == ()
    path.write_bytes(GOOD + GOOD[:-1])
    with pytest.raises(Corrupt, match="line 2: it is cut off"):
        read(path)


def test_the_same_episode_twice_is_not_written(tmp_path: Path) -> None:
    """Not even in the same words; under other conditions it is another result."""
    path = tmp_path / "results.jsonl"
    with pytest.raises(Usage, match="twice"):
        write(path, [result(), result()])
    write(path, [result(), result(overrides={"max_steps": 5})])
    assert len(read(path)) == 2


# --- appending ------------------------------------------------------------------------------------------------------


def test_appending_carries_on_and_counts_nothing_twice(tmp_path: Path) -> None:
    """What stands there is done; the same again is not written; something else of the same episode is refused."""
    path = tmp_path / "results.jsonl"
    with Appender(path) as first:
        assert [first.add(result(key)) for key in ("0", "1", "0")] == [True, True, False]
    with Appender(path) as second:
        assert {one.key for one in second.done.values()} == {"0", "1"}
        assert [second.add(result(key)) for key in ("1", "2")] == [False, True]
        with pytest.raises(Usage, match="answer: 'Ada Marlow' and 'Quill'"):
            second.add(result("2", answer="Quill"))
    assert [one.key for one in read(path)] == ["0", "1", "2"]
    assert [file.name for file in tmp_path.iterdir()] == ["results.jsonl"]


@given(st.integers(0, len(GOOD) - 1))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
def test_a_half_written_last_line_is_dropped(tmp_path: Path, length: int) -> None:
    """Wherever it is cut, even before the newline alone; the lines before it stay."""
    path = tmp_path / "results.jsonl"
    half = line(result("1"))[:length]
    path.write_bytes(GOOD + half)
    with Appender(path) as appender:
        assert appender.dropped is bool(half)
        assert [one.key for one in appender.done.values()] == ["0"]
        assert appender.add(result("1"))
    assert read(path) == (result("0"), result("1"))


def test_a_killed_writer_costs_nothing_that_was_written(tmp_path: Path) -> None:
    """SIGKILL in the middle of many lines: what is there can be read, and the work goes on behind it."""
    path = tmp_path / "results.jsonl"
    script = (
        "import sys; from tests.test_results import *\n"
        "with Appender(Path(sys.argv[1])) as appender:\n"
        "    for n in range(10**6):\n"
        "        appender.add(result(str(n)))\n"
        "        if n == 50: print('go', flush=True)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, env=environment(), cwd=checkout()
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"go\n"
    process.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
    process.wait()
    process.stdout.close()
    with Appender(path) as appender:
        done = len(appender.done)
        assert done > 50
        assert appender.add(result("1000000"))
    assert len(read(path)) == done + 1


def test_one_process_at_a_time_has_the_file(tmp_path: Path) -> None:
    """A second one is told so, and damages nothing."""
    path = tmp_path / "results.jsonl"
    with Appender(path) as appender:
        appender.add(result())
        with pytest.raises(Usage, match="another process"), Appender(path):
            pass
        appender.add(result("1"))
    assert len(read(path)) == 2


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    """Nothing is appended to, or cut from, what holds no results."""
    path = tmp_path / "notes.txt"
    path.write_bytes(b"my notes\nhalf a li")
    with pytest.raises(Corrupt, match="line 1"), Appender(path):
        pass
    assert path.read_bytes() == b"my notes\nhalf a li"
    path.write_bytes(b"one line without end")
    with pytest.raises(Corrupt, match="no line"), Appender(path):
        pass
    assert path.read_bytes() == b"one line without end"


def test_a_full_disk_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that could not be written to its end is taken back."""
    path = tmp_path / "results.jsonl"
    real = os.write
    with Appender(path) as appender:
        appender.add(result("0"))

        def full(handle: int, data: bytes) -> int:
            if len(data) > 100:
                return real(handle, data[:100])
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "write", lambda handle, data: full(handle, data[:101]))
        with pytest.raises(DiskError, match="No space left"):
            appender.add(result("1"))
        monkeypatch.setattr(os, "write", real)
        assert appender.add(result("1"))
    assert [one.key for one in read(path)] == ["0", "1"]


# --- merging --------------------------------------------------------------------------------------------------------


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(RESULTS, st.integers(1, 4), st.randoms(use_true_random=False))
def test_shards_make_the_whole(tmp_path: Path, results: list[Result], n: int, source: object) -> None:
    """Divided in any way, read in any order, with some in two shards: the same results, each once."""
    shards: list[list[Result]] = [[] for _ in range(n)]
    for one in results:
        for shard in source.sample(shards, source.randint(1, n)):  # type: ignore[attr-defined]
            shard.append(one)
    paths = [tmp_path / f"{number}.jsonl" for number in range(n)]
    for path, shard in zip(paths, shards, strict=True):
        write(path, shard)
    source.shuffle(paths)  # type: ignore[attr-defined]
    assert merge(paths) == tuple(in_order(results))


def test_shards_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    """The message names both files, the episode and what differs."""
    one, other = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    write(one, [result("0"), result("1")])
    write(other, [result("1", f1=0.5)])
    with pytest.raises(
        Usage, match=r"1\.jsonl and .*2\.jsonl differ in hotpotqa/react/a-model, episode 1 .*f1: 1\.0 and 0\.5"
    ):
        merge([one, other])


@pytest.mark.parametrize("change", [{"run_id": "c" * 64}, {"scorer": "hotpotqa-official/2"}, {"version": "1"}])
def test_shards_of_different_states_are_refused(tmp_path: Path, change: dict[str, str]) -> None:
    """Other recordings, other rules or another program: the message names the files and what differs."""
    one, other = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    write(one, [result("0")])
    write(other, [result("1", **change)])
    with pytest.raises(Usage, match=rf"1\.jsonl and .*2\.jsonl are of different states .*\({next(iter(change))}: "):
        merge([one, other])


def test_what_a_file_keeps_is_chosen(tmp_path: Path) -> None:
    """It is replaced whole, in order, and appended to from there on."""
    path = tmp_path / "results.jsonl"
    with Appender(path) as appender:
        for key in ("10", "9", "8"):
            appender.add(result(key))
        appender.keep(result(key) for key in ("10", "9"))
        assert appender.add(result("8", f1=0.5))
        assert not appender.add(result("9"))
    assert [(one.key, one.f1) for one in read(path)] == [("9", 1.0), ("10", 1.0), ("8", 0.5)]


# --- CSV ------------------------------------------------------------------------------------------------------------


@settings(max_examples=50)
@given(RESULTS)
def test_csv_has_a_row_per_result_and_every_value(results: list[Result]) -> None:
    """Any csv reader gets the same cells: unknown empty, true 1, nested values in columns of their own."""
    rows = list(csv.DictReader(io.StringIO(csv_bytes(results).decode("utf-8"), newline="")))
    assert len(rows) == len(results)
    for row, one in zip(rows, results, strict=True):
        assert row["em"] == ("" if one.em is None else str(int(one.em)))
        assert row["prompt_tokens"] == ("" if one.prompt_tokens is None else str(one.prompt_tokens))
        assert json.loads(row["overrides"] or "{}") == one.overrides
        assert row["answer"].removeprefix("'") == (one.answer or "").removeprefix("'")
        for name, value in one.flags.items():
            assert row[f"flags.{name}"] == str(value)


def test_a_cell_runs_nothing_in_a_spreadsheet() -> None:
    """A formula that a model answered is text; a negative number stays one."""
    assert (
        table_bytes([["=1+1", "@x", "-5", "+1.5", "-x", "a=b", -5, None, True]])
        == b"'=1+1,'@x,-5,+1.5,'-x,a=b,-5,,1\r\n"
    )


def test_the_name_of_the_file_chooses_the_form(tmp_path: Path) -> None:
    """`.csv` is CSV; everything else JSON Lines."""
    write(tmp_path / "x.CSV", [result()])
    write(tmp_path / "x.txt", [result()])
    assert (tmp_path / "x.CSV").read_bytes().startswith(b"task,method,run,run_id,key,question_sha256,class,")
    assert read(tmp_path / "x.txt") == (result(),)
