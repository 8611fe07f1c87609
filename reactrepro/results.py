"""Results: what came of each episode, one line each, in JSON Lines (``reactrepro-result/1``, docs/formats.md) and CSV.

A result is computed, never recorded: a replay makes it again. It is kept in a file so that long work can be
interrupted, divided among machines and put together again, and so that other programs can read it. Nothing is counted
twice: an episode under one set of overrides stands in a file once.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeAlias

import msgspec

from .cassettes.locks import LOCK, locked
from .cassettes.model import check_format
from .cassettes.read import read_bytes
from .cassettes.write import replace_file
from .domain import Ended
from .errors import Absent, CassetteAbsent, Corrupt, DiskError, Usage
from .spreadsheet import Value, table_bytes

RESULT_FORMAT = "reactrepro-result/1"
MAX_RESULTS = 1024 * 1024 * 1024
"""Bytes; the whole HotpotQA dev set is about 8 MB per method."""

JUDGED: tuple[Ended, ...] = ("finish", "step_limit", "no_answer")
"""How an episode ended whose answer, or lack of one, is the model's: only these are judged."""

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
Share: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1)]
Sha256: TypeAlias = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]

OK = "ok"


class Result(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"kind": "class"}):
    """What came of one episode. None is unknown, or does not exist; it is never zero.

    Attributes:
        format: ``reactrepro-result/1``.
        task, method, run, run_id, key: which episode of which recording.
        question_sha256: hash of the question's UTF-8; None where the recording is missing.
        kind: ``class`` in the file: ``ok`` where it replays as recorded, else what is wrong, as `check` says it.
        answer, em, f1, more: the answer and its score; `more` holds the task's further measures by name.
        ended: how it ended.
        steps, llm_calls, reprompts, strict_reprompts: counts of the trajectory; see `domain.Trajectory`.
        flags: format flag -> how many steps carry it.
        prompt_tokens, completion_tokens: usage as reported.
        diagnoses: see `diagnoses.Diagnoses`.
        provider, api, model, profile, overrides: the conditions, as recorded.
        what_if: settings otherwise than recorded, under which this was computed from the recording; none for a replay.
        scorer, version: the scoring rules, by name and version, and the version of reactrepro.
        model_returned: the model's name as it came back.
        time: when the episode was recorded.
    """

    format: str = RESULT_FORMAT
    task: str
    method: str
    run: str
    run_id: Sha256
    key: str
    question_sha256: Sha256 | None = None
    kind: str = OK
    answer: str | None = None
    em: bool | None = None
    f1: Share | None = None
    more: dict[str, float] = {}
    ended: Ended | None = None
    steps: Count | None = None
    llm_calls: Count | None = None
    reprompts: Count | None = None
    strict_reprompts: Count | None = None
    flags: dict[str, Count] = {}
    prompt_tokens: Count | None = None
    completion_tokens: Count | None = None
    diagnoses: dict[str, bool | Count | None] = {}
    provider: str
    api: str
    model: str
    model_returned: str | None = None
    profile: str
    overrides: dict[str, Value] = {}
    what_if: dict[str, float] = {}
    scorer: str
    version: str
    time: str | None = None

    def __post_init__(self) -> None:
        computed = (self.em, self.f1, self.ended, self.steps, self.llm_calls, self.reprompts, self.strict_reprompts)
        if self.kind == OK and (None in computed or self.question_sha256 is None):
            raise ValueError("class 'ok', but a score, an ending, a count or the question's hash is null")

    @property
    def label(self) -> str:
        """The run, as messages call it."""
        return f"{self.task}/{self.method}/{self.run}"

    @property
    def judged(self) -> bool:
        """The episode replays as recorded, and its answer, or lack of one, is the model's."""
        return self.kind == OK and self.ended in JUDGED

    @property
    def identity(self) -> tuple[str, str, str, str, str]:
        """What stands once in a file: task, method, run, key, and the conditions, as recorded and as varied."""
        varied = json.dumps([self.overrides, self.what_if], sort_keys=True)
        return self.task, self.method, self.run, self.key, varied

    @property
    def state(self) -> tuple[str, str, str]:
        """What has to be the same in all results of one run: the recording's id, the scoring rules, the program."""
        return self.run_id, self.scorer, self.version


def line(result: Result) -> bytes:
    """Return the line of *result*: one ASCII JSON object, every field present, and a newline.

    Raises:
        ValueError: a number that JSON does not have (NaN, infinity).
    """
    # `format` comes first: by it a cut line is told from another program's file (`_line_begins`).
    return (json.dumps(msgspec.to_builtins(result), ensure_ascii=True, allow_nan=False) + "\n").encode("ascii")


def in_order(results: Iterable[Result]) -> list[Result]:
    """Return *results* by task, method, run and key: numbers in numeric order, then hashes."""

    def place(result: Result) -> tuple[Any, ...]:
        key = result.key
        number = (0, int(key), key) if key.isdecimal() and key.isascii() else (1, 0, key)
        return result.task, result.method, result.run, number, result.identity

    return sorted(results, key=place)


# --- files ----------------------------------------------------------------------------------------------------------


def read(path: Path) -> tuple[Result, ...]:
    """Return the results in *path*, in the file's order.

    Raises:
        Absent: there is no such file.
        Corrupt: a line is no result, is cut off, is of a newer format, or repeats an episode; its number is given.
    """
    data = _bytes(path)
    if data and not data.endswith(b"\n"):
        number = data.count(b"\n") + 1
        raise Corrupt(
            f"{path}, line {number}: it is cut off; whoever wrote it was stopped. Carry that work on, which writes the "
            "line anew, or remove the line."
        )
    return tuple(_parsed(data, path))


def merge(paths: Sequence[Path]) -> tuple[Result, ...]:
    """Return the results of several files, such as shards, in one order that does not depend on that of *paths*.

    An episode that stands in several files, in the same words, counts once.

    Raises:
        Absent, Corrupt: see `read`.
        Usage: two files say different things of one episode, or come from different states of one run.
    """
    found: dict[tuple[str, ...], tuple[Result, Path]] = {}
    states: dict[str, tuple[Result, Path]] = {}
    for path in paths:
        for result in read(path):
            one, other = states.setdefault(result.label, (result, path))
            if one.state != result.state:
                differs = _difference(one, result, ("run_id", "scorer", "version"))
                raise Usage(
                    f"{other} and {path} are of different states of {result.label} ({differs}): the recordings, the "
                    "scoring rules or the program changed in between. Score one of them again."
                )
            before, where = found.setdefault(result.identity, (result, path))
            if before != result:
                raise Usage(
                    f"{where} and {path} differ in {result.label}, episode {result.key} "
                    f"({_difference(before, result)}): they come from different recordings or versions. "
                    "Score one of them again."
                )
    return tuple(in_order(result for result, _ in found.values()))


def write(path: Path, results: Iterable[Result]) -> None:
    """Put *results* at *path* in `in_order`, whole or not at all: as CSV where the name ends in ``.csv``, else as JSON
    Lines.

    Raises:
        Usage: an episode stands among them twice.
        DiskError: it cannot be written; what stood there is untouched.
    """
    ordered = in_order(results)
    seen: set[tuple[str, ...]] = set()
    for result in ordered:
        if result.identity in seen:
            raise Usage(f"{result.label}, episode {result.key}: it stands among the results twice.")
        seen.add(result.identity)
    as_csv = path.suffix.lower() == ".csv"
    _replace(path, csv_bytes(ordered) if as_csv else b"".join(map(line, ordered)))


def write_table(path: Path, rows: Iterable[Sequence[Value]]) -> None:
    """Put *rows* at *path* as CSV (`table_bytes`), whole or not at all.

    Raises:
        DiskError: it cannot be written; what stood there is untouched.
    """
    _replace(path, table_bytes(rows))


class Appender:
    """Adds results to a file as they come, and carries on where a killed one stopped. A context manager.

    One process at a time has the file. A last line that is cut off is dropped on entering; every line before it counts
    as done. A line is written in one piece and then flushed, so a process that is killed costs one episode at most.

    Args:
        path: the file; made where it is absent.

    Attributes:
        done: what stands in the file, by identity.
        dropped: whether a line that was cut off was dropped.

    Raises:
        Corrupt: the file holds something else than results; it is left as it is.
        Usage: another process has it.
        DiskError: it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done: dict[tuple[str, ...], Result] = {}
        self.dropped = False
        self._stack = ExitStack()
        self._handle = -1

    def __enter__(self) -> Appender:
        with ExitStack() as stack:
            try:
                if not stack.enter_context(locked(self.path.with_name(f".{self.path.name}{LOCK}"))):
                    raise Usage(f"{self.path} is being written by another process. Wait for it, or name another file.")
                self._take_over(stack)
            except OSError as error:
                raise DiskError.of(error) from error
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def add(self, result: Result) -> bool:
        """Write *result*; return False where it stands there already.

        Raises:
            Usage: the file says something else of the same episode.
            DiskError: it could not be written; the file ends with the line before it.
        """
        before = self.done.get(result.identity)
        if before is not None and before != result:
            raise Usage(
                f"{self.path} has another result of {result.label}, episode {result.key} "
                f"({_difference(before, result)}). Name another file, or remove that one."
            )
        if before is not None:
            return False
        size = os.lseek(self._handle, 0, os.SEEK_END)
        try:
            _write_all(self._handle, line(result))
        except OSError as error:
            os.ftruncate(self._handle, size)
            error.filename = str(self.path)
            raise DiskError.of(error) from error
        self.done[result.identity] = result
        return True

    def keep(self, results: Iterable[Result]) -> None:
        """Let the file hold *results* and nothing else, `in_order`; it is replaced whole or not at all.

        Raises:
            DiskError: it cannot be written; what stood there is untouched.
        """
        kept = in_order(results)
        data = b"".join(map(line, kept))
        os.close(self._handle)  # Windows replaces no open file
        try:
            replace_file(self.path, data)
        except OSError as error:
            raise DiskError.of(error) from error
        finally:
            self._open()
        self.done = {result.identity: result for result in kept}

    def _open(self) -> None:
        self._handle = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o644)

    def _take_over(self, stack: ExitStack) -> None:
        data = _bytes(self.path) if self.path.exists() else b""
        whole = data[: data.rfind(b"\n") + 1]
        if data and not whole and not _line_begins(data):
            raise Corrupt(f"{self.path} holds no line of results; it was left as it is. Name another file.")
        self.done = {result.identity: result for result in _parsed(whole, self.path)}
        self._open()
        stack.callback(lambda: os.close(self._handle))
        self.dropped = len(whole) < len(data)
        os.ftruncate(self._handle, len(whole))


def _replace(path: Path, data: bytes) -> None:
    try:
        replace_file(path, data)
    except OSError as error:
        raise DiskError.of(error) from error


def _line_begins(data: bytes) -> bool:
    """Tell whether *data* can be the beginning of a first line, cut off."""
    begin = f'{{"format": "{RESULT_FORMAT}"'.encode("ascii")
    return data.startswith(begin[: len(data)])


def _write_all(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


def _bytes(path: Path) -> bytes:
    try:
        return read_bytes(path, MAX_RESULTS)
    except CassetteAbsent:
        raise Absent(f"{path} does not exist. `reactrepro score TASK --results {path}` writes one.") from None


def _parsed(data: bytes, path: Path) -> Iterator[Result]:
    import jsonlines

    loads: Callable[[str | bytes], Any] = _strict
    number = 0
    seen: dict[tuple[str, ...], int] = {}
    reader = jsonlines.Reader(io.BytesIO(data), loads=loads)
    try:
        for number, row in enumerate(reader.iter(type=dict), 1):
            where = f"{path}, line {number}"
            result = _result(row, where)
            if result.identity in seen:
                first = seen[result.identity]
                raise Corrupt(f"{where}: {result.label}, episode {result.key} stands in line {first} already.")
            seen[result.identity] = number
            yield result
    except jsonlines.InvalidLineError as error:
        said = str(error).partition(" (line ")[0]
        raise Corrupt(f"{path}, line {error.lineno}: it holds no result ({said}).") from None
    except RecursionError:
        raise Corrupt(f"{path}, line {number + 1}: it holds no result (nested too deeply).") from None


def _result(row: Mapping[str, Any], where: str) -> Result:
    check_format(row.get("format"), RESULT_FORMAT, where)  # type: ignore[arg-type]
    try:
        return msgspec.convert(row, Result)
    except (msgspec.ValidationError, OverflowError) as error:
        raise Corrupt(f"{where}: {error}. The file was altered, or something else wrote it.") from None


def _strict(text: str | bytes) -> Any:
    return json.loads(text, parse_constant=_no_number)


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON number")


def _difference(one: Result, other: Result, names: Sequence[str] = ()) -> str:
    first, second = msgspec.to_builtins(one), msgspec.to_builtins(other)
    differ = (name for name in names or first if first[name] != second[name])
    return ", ".join(f"{name}: {first[name]!r} and {second[name]!r}" for name in differ)


# --- CSV ------------------------------------------------------------------------------------------------------------


def csv_bytes(results: Sequence[Result]) -> bytes:
    """Return *results* as CSV in UTF-8: a head, then a row each; an empty cell is unknown, 1 and 0 are true and false.

    Measures, flags and diagnoses have columns of their own (``more.official_accuracy``); overrides are JSON.
    """
    rows = [_flat(msgspec.to_builtins(result)) for result in results]
    names = [field.encode_name for field in msgspec.structs.fields(Result) if field.name != "format"]
    head = [name for field in names for name in _columns(field, rows)]
    return table_bytes([head, *([row.get(name) for name in head] for row in rows)])


def _flat(data: dict[str, Any]) -> dict[str, Value]:
    row: dict[str, Value] = {}
    for name, value in data.items():
        if name in {"overrides", "what_if"}:
            row[name] = json.dumps(value, sort_keys=True) if value else ""
        elif isinstance(value, dict):
            row |= {f"{name}.{inner}": item for inner, item in value.items()}
        else:
            row[name] = value
    return row


def _columns(field: str, rows: Sequence[Mapping[str, Value]]) -> list[str]:
    if field not in {"more", "flags", "diagnoses"}:
        return [field]
    return sorted({name for row in rows for name in row if name.startswith(f"{field}.")})
