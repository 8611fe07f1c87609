"""The Python examples in docs/ run as they stand."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
EXAMPLES = [
    pytest.param(path, code, id=f"{path.name}-{number}")
    for path in sorted(DOCS.glob("*.md"))
    for number, code in enumerate(re.findall(r"^```python\n(.*?)^```", path.read_text("utf-8"), re.DOTALL | re.M), 1)
]


@pytest.mark.parametrize(("page", "code"), EXAMPLES)
def test_example(page: Path, code: str, tmp_path: Path, offline: dict[str, str]) -> None:
    """In an empty folder, offline, without an error; what it prints is what the page shows."""
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=offline, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert not done.stdout or f"```text\n{done.stdout}```\n" in page.read_text(encoding="utf-8")


def test_there_are_examples() -> None:
    """The page on scripted episodes has some."""
    assert len(EXAMPLES) >= 2
