"""Snapshots that count every byte, and the gate that lets none be forgotten. A pytest plugin, loaded by conftest.py.

syrupy compares, and fails on snapshots that are absent or unused. What it leaves open (failure case B43) is here:

* `exact` is the fixture to use: one file per snapshot, as bytes, so that line endings and trailing blanks count.
* A run that would write snapshots is refused where `CI` is set.
* `assert_every_snapshot_has_its_test` compares the files with the tests that were *collected*, whichever of them run
  and in whichever worker. One test of tests/test_snapshot_gate.py asks it for the whole suite.
* `assert_snapshots_complete` compares a folder with any other list of names: the recordings at hand, say.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.location import PyTestLocation

COLLECTED = pytest.StashKey[list[pytest.Item]]()
"""Every test that was collected, before `-k`, `-m` or `--deselect` took any away."""


class ExactBytes(SingleFileSnapshotExtension):
    """`__snapshots__/<test module>/<test name>.txt`, to the byte; text is stored as UTF-8."""

    _write_mode = WriteMode.BINARY
    file_extension = "txt"

    def serialize(self, data: Any, **_options: Any) -> bytes:
        """Return the bytes of *data*, which is text or bytes."""
        if isinstance(data, str):
            return data.encode("utf-8", "surrogatepass")
        return bytes(memoryview(data))

    def diff_lines(self, serialized_data: Any, snapshot_data: Any) -> Iterator[str]:
        """Yield the first differing byte, then the lines that differ."""
        received, stored = (self.serialize(data) for data in (serialized_data, snapshot_data))
        pairs = enumerate(zip(received, stored, strict=False))
        at = next((i for i, (a, b) in pairs if a != b), min(len(received), len(stored)))
        yield f"first difference at byte {at}: stored {stored[at : at + 40]!r}, received {received[at : at + 40]!r}"
        yield from super().diff_lines(*(data.decode("utf-8", "backslashreplace") for data in (received, stored)))

    @classmethod
    def file_name(cls, name: str) -> str:
        """Return the name of the file that holds the snapshot of the test *name*."""
        return f"{cls._sanitize_filename(name)[: cls._max_stem_length()]}.{cls.file_extension}"


@pytest.fixture
def exact(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """A snapshot that counts every byte: `assert text == exact`, where *text* is str or bytes."""
    return snapshot.use_extension(ExactBytes)


def pytest_configure(config: pytest.Config) -> None:
    """Refuse to write snapshots where nobody reads them before they count."""
    options = config.option
    if os.environ.get("CI") and (options.update_snapshots or options.update_new_snapshots_only):
        raise pytest.UsageError(
            "CI is set: snapshots are compared here, never written. Run `nox -s snapshots` on your own machine, "
            "read the diff, commit it."
        )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the whole list of tests, before any is deselected."""
    config.stash[COLLECTED] = list(items)


def assert_every_snapshot_has_its_test(config: pytest.Config) -> None:
    """Fail unless each collected test that uses `exact` has a snapshot file, and each file such a test.

    What follows a test's name, `.1` or `[name]` for further snapshots of one test, is syrupy's to judge. A folder
    whose test module is gone is unused as a whole.
    """
    if any("::" in arg for arg in config.args) or getattr(config.option, "lf", False):
        pytest.skip("only a part of the suite was collected")
    if config.option.update_snapshots:
        pytest.skip("snapshots are being written; what is unused goes when the run ends")
    tests: dict[Path, set[str]] = {}
    for item in config.stash[COLLECTED]:
        location = PyTestLocation(item)
        names = tests.setdefault(Path(ExactBytes.dirname(test_location=location)), set())
        if "exact" in getattr(item, "fixturenames", ()):
            names.add(ExactBytes.get_snapshot_name(test_location=location))
    found: list[str] = []
    for folder, names in sorted(tests.items()):
        stems = {path.stem for path in folder.glob("*")}
        used = {stem: n for stem in stems for n in names if stem == n or stem.startswith((f"{n}.", f"{n}["))}
        found += [f"{folder.name}: no snapshot of {name}" for name in sorted(names - set(used.values()))]
        found += [f"{folder.name}: snapshot of no test: {stem}" for stem in sorted(stems - used.keys())]
    for shelf in sorted({folder.parent for folder in tests}):
        orphans = {path.name for path in shelf.glob("*/") if not shelf.parent.joinpath(f"{path.name}.py").is_file()}
        found += [f"{orphan}: snapshots of no test module" for orphan in sorted(orphans)]
    _fail_with(found)


def assert_snapshots_complete(directory: Path, expected_names: Collection[str]) -> None:
    """Fail unless *directory* holds a snapshot for each of *expected_names*, and none besides.

    Args:
        directory: a test module's folder, `__snapshots__/<test module>`.
        expected_names: test names as pytest prints them ("test_prompt[hotpotqa-0]").
    """
    expected = {ExactBytes.file_name(name) for name in expected_names}
    present = {path.name for path in directory.iterdir()} if directory.is_dir() else set()
    _fail_with(
        [f"no snapshot: {name}" for name in sorted(expected - present)]
        + [f"snapshot of nothing: {name}" for name in sorted(present - expected)]
    )


def _fail_with(found: list[str]) -> None:
    if found:
        advice = "`nox -s snapshots` writes what is missing and deletes what is unused; read the diff."
        pytest.fail("\n".join([*found, advice]), pytrace=False)
