"""House rules about the tree that no linter checks."""

from __future__ import annotations

import ast
import io
import os
import shutil
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "reactrepro"
MODULES = sorted(PACKAGE.rglob("*.py"))

FILE_LIMIT = 250
FUNCTION_LIMIT = 50
SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
WHATEVER = {"common", "helper", "helpers", "misc", "util", "utils"}

# One file of each kind whose bytes are the experiment; they need not exist.
EXACT = [
    "reactrepro/prompts/hotpotqa/paper/react.txt",
    "cassettes/hotpotqa/react/a-model/run.json",
    "cassettes/hotpotqa/react/a-model/0.yaml",
    "cassettes/hotpotqa/react/a-model/0.tape.jsonl",
    "cassettes/hotpotqa/default",
    "reactrepro/tasks/data/pelm.jsonl",
    "live/encyclopedia/sarn.wiki",
    "prompts.lock",
    "wiki_snapshot/enwiki/ed-wood-0123abcd/article.txt",
    "wiki_snapshot/enwiki/ed-wood-0123abcd/page.html.gz",
    "tests/__snapshots__/test_prompts/test_prompt[0].txt",
    "tests/wiki/__snapshots__/test_page.ambr",
    "tests/data/page.html",
]


def _code_lines(path: Path) -> set[int]:
    """Return the numbers of the lines that hold code: neither blank nor comment nor docstring."""
    source = path.read_text(encoding="utf-8")
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        # A string that stands alone is documentation: of a module, a class, a function, an attribute.
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_files_and_functions_are_short(path: Path) -> None:
    """A file of more than 250 lines of code, or a function of more than 50, wants splitting by meaning."""
    code = _code_lines(path)
    assert len(code) <= FILE_LIMIT
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            own = code & set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            assert len(own) <= FUNCTION_LIMIT, f"{node.name} (line {node.lineno})"


def test_no_module_is_named_after_nothing() -> None:
    """No utils, common or helpers: a module is named after what it does."""
    assert [str(path) for path in MODULES if WHATEVER & set(path.relative_to(ROOT).with_suffix("").parts)] == []


@pytest.mark.skipif(not shutil.which("git") or not ROOT.joinpath(".git").exists(), reason="not a git checkout")
def test_git_leaves_exact_bytes_alone() -> None:
    """Prompts, recordings, pages and snapshots pass through git unchanged: no line-ending conversion."""
    kept = [PACKAGE / "prompts", ROOT / "cassettes", ROOT / "wiki_snapshot", *ROOT.glob("tests/**/__snapshots__")]
    files = [path for folder in kept for path in folder.rglob("*") if path.suffix not in {".py", ".pyc"}]
    paths = EXACT + [path.relative_to(ROOT).as_posix() for path in files if path.is_file()]
    listing = subprocess.run(
        ["git", "check-attr", "-z", "--stdin", "text"],
        cwd=ROOT,
        input="\0".join(paths),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    ).stdout.split("\0")
    assert [path for path, value in zip(listing[0::3], listing[2::3], strict=False) if value != "unset"] == []


def _lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    # As an installed command would run: with the contracts and the package of *folder*, and colours off.
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"]
    env = {**os.environ, "PYTHONPATH": str(folder), "PYTHONIOENCODING": "utf-8", "NO_COLOR": "1"}
    return subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, encoding="utf-8", check=False, timeout=120
    )


def test_rooms_import_downwards_only() -> None:
    """Every import keeps the contracts: down only, siblings blind, one door per dependency."""
    done = _lint_imports(ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("file", "line", "contract"),
    [
        ("metrics.py", "import reactrepro.cassettes", "Rooms import downwards only"),
        ("tape.py", "import reactrepro.wiki.page", "Rooms import downwards only"),
        ("whatever.py", "", "Rooms import downwards only"),
        ("methods/intruder.py", "from openai import OpenAI", "SDKs, their transports and vcrpy"),
        ("runs/intruder.py", "def f():\n    import vcr", "SDKs, their transports and vcrpy"),
        ("runs/intruder.py", "import click", "click is imported in the command line"),
        ("wiki/intruder.py", "import requests", "requests is imported in wiki/live"),
        ("data/intruder.py", "import requests", "requests is imported in wiki/live"),
        ("tasks/intruder.py", "import selectolax.parser", "HTML is parsed in wiki/page"),
    ],
)
def test_the_contracts_bite(tmp_path: Path, file: str, line: str, contract: str) -> None:
    """An import that the house forbids breaks the contract that forbids it, inside functions too."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for module in ("domain.py", "errors.py", "registry.py", "cassettes/__init__.py", "wiki/page.py", file):
        path = tmp_path / "reactrepro" / module
        path.parent.mkdir(parents=True, exist_ok=True)
        for made in (tmp_path / "reactrepro" / "__init__.py", path.parent / "__init__.py", path):
            made.touch()
    tmp_path.joinpath("reactrepro", file).write_text(f"{line}\n", encoding="utf-8")
    done = _lint_imports(tmp_path)
    broken = [row for row in done.stdout.splitlines() if row.endswith("BROKEN")]
    assert done.returncode == 1
    assert [row.startswith(contract) for row in broken] == [True], done.stdout + done.stderr
