"""Every decision record ends in the test that guards it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "decisions"
RECORDS = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")
GUARDED = re.compile(r"Guarded by: (`[^`\s]+`(?:, `[^`\s]+`)*)")


def _tests(file: Path) -> set[str]:
    """Return the tests of *file*, as pytest names them behind `::`, parameters aside."""
    found: set[str] = set()
    pending: list[tuple[str, ast.stmt]] = [("", node) for node in ast.parse(file.read_text(encoding="utf-8")).body]
    while pending:
        prefix, node = pending.pop()
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            pending += [(f"{prefix}{node.name}::", child) for child in node.body]
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            found.add(prefix + node.name)
    return found


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_decision_ends_in_the_test_that_guards_it(path: Path) -> None:
    """The last line of a record names tests that exist."""
    assert re.fullmatch(r"\d{4}-[a-z0-9-]+\.md", path.name)
    last = path.read_text(encoding="utf-8").rstrip().splitlines()[-1]
    match = GUARDED.fullmatch(last)
    assert match, f"the last line is not «Guarded by: `tests/….py::test_…`» but: {last}"
    for guard in re.findall(r"`([^`]+)`", match[1]):
        file, _, test = guard.partition("::")
        assert ROOT.joinpath(file).is_file(), guard
        assert test in _tests(ROOT / file), guard


def test_decisions_are_numbered_and_listed() -> None:
    """No two records share a number, and the folder's README lists each."""
    assert len({path.name[:4] for path in RECORDS}) == len(RECORDS)
    listed = re.findall(r"\((\d{4}[^)]*\.md)\)", FOLDER.joinpath("README.md").read_text(encoding="utf-8"))
    assert listed == [path.name for path in RECORDS]
