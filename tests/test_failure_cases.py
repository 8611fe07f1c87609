"""docs/failure-cases.md says which failure cases a test covers, and it is right."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "failure-cases.md"
ROW = re.compile(r"^\| (B\d\d) \| (\S.*\S) \| (yes|no) \|$", re.MULTILINE)

NUMBERS = {
    *(
        f"B{number:02}"
        for number in (*range(1, 11), *range(12, 16), *range(17, 26), 29, *range(31, 34), *range(35, 39))
    ),
    *(f"B{number:02}" for number in (*range(42, 50), 52, 53)),
}
"""The numbers of the cases; they have gaps."""


def listed() -> dict[str, bool]:
    """Number -> whether the page says that a test covers it."""
    return {number: covered == "yes" for number, _, covered in ROW.findall(PAGE.read_text(encoding="utf-8"))}


def covered() -> dict[str, list[str]]:
    """Number -> the tests that carry it, found in the source."""
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                for number in _numbers(node):
                    found.setdefault(number, []).append(f"{path.relative_to(TESTS)}::{node.name}")
    return found


def _numbers(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    return [
        argument.value
        for mark in function.decorator_list
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.case"
        for argument in mark.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]


def test_the_page_lists_every_case_once() -> None:
    """No case is forgotten, and none is invented."""
    rows = ROW.findall(PAGE.read_text(encoding="utf-8"))
    assert sorted(number for number, _, _ in rows) == sorted(NUMBERS)


def test_the_page_says_which_cases_no_test_covers_yet() -> None:
    """A case counts as covered when a test carries its number, and not before."""
    found = covered()
    assert found.keys() <= NUMBERS, found.keys() - NUMBERS
    assert {number for number, yes in listed().items() if yes} == set(found)
