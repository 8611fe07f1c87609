"""The snapshot gate has no holes: nothing unused, nothing missing, with workers and without."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import snapshot_gate

ROOT = Path(__file__).parents[1]
SUITE = """
import pytest

PROMPTS = {"one": b"first\\r\\nline \\n", "two": b"second", "three": b"third"}

@pytest.mark.parametrize("name", %r)
def test_prompt(name, exact):
    assert PROMPTS[name] == exact
"""
GATE = """
from tests import snapshot_gate

def test_gate(request):
    snapshot_gate.assert_every_snapshot_has_its_test(request.config)
"""


def test_every_snapshot_belongs_to_a_test(request: pytest.FixtureRequest) -> None:
    """Every test that uses `exact` has its snapshot, and every snapshot has its test."""
    snapshot_gate.assert_every_snapshot_has_its_test(request.config)


class Suite:
    """A suite of its own in a folder of its own, run by a pytest of its own."""

    def __init__(self, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pytester = pytester
        monkeypatch.setenv("PYTHONPATH", str(ROOT))
        monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        # What the run around it sets: the suite is nobody's worker.
        for name in ("CI", "PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT"):
            monkeypatch.delenv(name, raising=False)
        pytester.makeconftest("pytest_plugins = ['syrupy', 'tests.snapshot_gate']")
        pytester.makepyfile(test_gate=GATE)

    def run(self, names: list[str], *options: str) -> tuple[int, str]:
        """Run the suite with *names* as its prompts; return exit code and output."""
        self.pytester.makepyfile(test_prompts=SUITE % names)
        result = self.pytester.runpytest_subprocess("-p", "xdist", "-p", "no:cacheprovider", *options)
        return int(result.ret), result.stdout.str() + result.stderr.str()

    def files(self) -> dict[str, bytes]:
        """Return the snapshot files' names and bytes."""
        folder = self.pytester.path / "__snapshots__" / "test_prompts"
        return {path.name: path.read_bytes() for path in folder.glob("*")}


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Suite:
    """A suite that has snapshots of the prompts one and two."""
    suite = Suite(pytester, monkeypatch)
    folder = pytester.mkdir("__snapshots__") / "test_prompts"
    folder.mkdir()
    folder.joinpath("test_prompt[one].txt").write_bytes(b"first\r\nline \n")
    folder.joinpath("test_prompt[two].txt").write_bytes(b"second")
    return suite


WORKERS = pytest.mark.parametrize("workers", ["-n0", "-n4"])


@pytest.mark.case("B43")
@WORKERS
def test_a_prompt_taken_out_of_the_tests_fails_by_name(suite: Suite, workers: str) -> None:
    """A snapshot whose test was removed is a failure that names it, with workers and without."""
    code, output = suite.run(["one"], workers)
    assert code == 1
    assert "test_prompts: snapshot of no test: test_prompt[two]" in output
    assert "1 failed, 1 passed" in output


@pytest.mark.case("B43")
@WORKERS
def test_a_prompt_without_a_snapshot_fails_by_name(suite: Suite, workers: str) -> None:
    """A test without its snapshot fails by name, twice: itself and in the gate; no file is written."""
    code, output = suite.run(["one", "two", "three"], workers)
    assert code == 1
    assert "Snapshot 'test_prompt[three]' does not exist!" in output
    assert "test_prompts: no snapshot of test_prompt[three]" in output
    assert "2 failed, 2 passed" in output
    assert "test_prompt[three].txt" not in suite.files()


@pytest.mark.case("B43")
@WORKERS
def test_a_chosen_part_stays_green(suite: Suite, workers: str) -> None:
    """With `-k one` the other snapshots are not called unused."""
    code, output = suite.run(["one", "two"], workers, "-k", "one")
    assert (code, "1 passed" in output, "unused" in output) == (0, True, False)


@pytest.mark.case("B43")
@pytest.mark.parametrize("flag", ["--snapshot-update", "--snapshot-update-new-only"])
def test_updating_is_refused_in_ci(suite: Suite, flag: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where CI is set, a run that would write snapshots does not start."""
    monkeypatch.setenv("CI", "true")
    before = suite.files()
    code, output = suite.run(["one", "three"], flag)
    assert code == pytest.ExitCode.USAGE_ERROR
    assert "never written" in output
    assert suite.files() == before


@pytest.mark.case("B43")
def test_an_update_writes_exact_bytes_and_deletes_what_is_unused(suite: Suite) -> None:
    """An update leaves one file per prompt, byte for byte, and the next run is green."""
    assert suite.run(["one", "three"], "--snapshot-update")[0] == 0
    assert suite.files() == {"test_prompt[one].txt": b"first\r\nline \n", "test_prompt[three].txt": b"third"}
    assert suite.run(["one", "three"])[0] == 0


@pytest.mark.case("B43")
def test_the_syrupy_range_is_pinned() -> None:
    """A new major version of syrupy cannot turn the gate red, or green, over night."""
    assert '"syrupy>=7,<8"' in ROOT.joinpath("pyproject.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("altered", "at"), [(b"first\nline \n", 5), (b"first\r\nline\n", 11), (b"first\r\nline \n\n", 13)]
)
def test_line_endings_and_trailing_blanks_count(suite: Suite, altered: bytes, at: int) -> None:
    """A snapshot that differs in a line ending or a trailing blank fails, and the message says at which byte."""
    folder = suite.pytester.path / "__snapshots__" / "test_prompts"
    folder.joinpath("test_prompt[one].txt").write_bytes(altered)
    code, output = suite.run(["one", "two"], "-n0")
    assert (code, f"first difference at byte {at}" in output) == (1, True)


def test_a_folder_must_hold_the_expected_snapshots_and_no_others(tmp_path: Path) -> None:
    """`assert_snapshots_complete` names what is missing and what is left over."""
    for name in ("test_prompt[a].txt", "test_prompt[c].txt"):
        tmp_path.joinpath(name).write_bytes(b"")
    snapshot_gate.assert_snapshots_complete(tmp_path, ["test_prompt[a]", "test_prompt[c]"])
    with pytest.raises(pytest.fail.Exception) as caught:
        snapshot_gate.assert_snapshots_complete(tmp_path, ["test_prompt[a]", "test_prompt[b]"])
    assert "no snapshot: test_prompt[b].txt\nsnapshot of nothing: test_prompt[c].txt" in str(caught.value)


def test_snapshots_of_a_deleted_test_module_fail(suite: Suite) -> None:
    """A folder of snapshots whose test module is gone is a failure that names it."""
    suite.pytester.path.joinpath("__snapshots__", "test_gone").mkdir()
    code, output = suite.run(["one", "two"], "-n0")
    assert (code, "test_gone: snapshots of no test module" in output) == (1, True)
