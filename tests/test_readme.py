"""What README.md prints is what the program prints.

Every fenced block marked `console` is run, in order, in one empty folder, offline:

* a line `$ reactrepro …` is a command (an ending `\\` continues it), the lines up to the next `$` are its output,
  trailing blanks aside;
* a line `...` stands for any number of lines left out;
* a last line `[exit code: N]` states an exit code other than 0;
* `<!-- not-run: reason -->` on the line before the fence exempts a block. Commands of other programs need it too.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

README = Path(__file__).parents[1] / "README.md"
EXEMPT = re.compile(r"<!-- not-run: \S.* -->")


class Example(NamedTuple):
    """A command as README.md shows it."""

    line: int
    command: str
    output: tuple[str, ...]
    code: int


def examples(markdown: str) -> list[Example]:
    """Return the commands of all `console` blocks of *markdown*, in order."""
    found: list[Example] = []
    lines = markdown.split("\n")
    starts = [i for i, line in enumerate(lines) if line.strip() == "```console"]
    for start in starts:
        end = lines.index("```", start + 1)
        before = [line for line in lines[:start] if line.strip()]
        if not (before and EXEMPT.fullmatch(before[-1])):
            found += _commands(lines[start + 1 : end], start + 2)
    return found


def _commands(block: list[str], first: int) -> list[Example]:
    starts = [i for i, line in enumerate(block) if line.startswith("$ ")]
    assert starts[:1] == [0], f"README.md:{first}: a console block begins with a command"
    found = []
    for start, end in zip(starts, [*starts[1:], len(block)], strict=True):
        command, output = block[start][2:], block[start + 1 : end]
        while command.endswith("\\"):
            command, output = command[:-1] + output[0].removeprefix(">").lstrip(), output[1:]
        while output and not output[-1]:
            output.pop()
        code = re.fullmatch(r"\[exit code: (\d+)\]", output[-1]) if output else None
        found.append(
            Example(first + start, command, tuple(output[:-1] if code else output), int(code[1]) if code else 0)
        )
    return found


def agrees(shown: tuple[str, ...], printed: list[str]) -> bool:
    """Return whether *printed* is what *shown* says, `...` standing for any lines."""
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line) + "\n" for line in shown)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in printed)) is not None


def test_the_commands_in_the_readme_print_what_it_shows(tmp_path: Path, offline: dict[str, str]) -> None:
    """Every command shown in README.md, run in an empty folder, prints exactly what README.md shows."""
    env = {**offline, "PYTHONUTF8": "1", "COLUMNS": "80"}
    for example in examples(README.read_text(encoding="utf-8")):
        where = f"README.md:{example.line}: {example.command}"
        program, *arguments = shlex.split(example.command)
        assert program == "reactrepro", f"{where}: mark the block <!-- not-run: reason -->"
        done = subprocess.run(
            [sys.executable, "-m", "reactrepro", *arguments],
            env=env,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        printed = [line.rstrip() for line in done.stdout.rstrip().split("\n")]
        if not agrees(tuple(line.rstrip() for line in example.output), printed):
            assert printed == list(example.output), where
        assert done.returncode == example.code, where


@pytest.mark.parametrize("marker", ["replay-command", "test-command"])
def test_the_set_up_commands_are_marked(marker: str) -> None:
    """Each set-up command is one line in the fenced block behind its marker; .ci/run takes them from there."""
    blocks = re.findall(rf"<!-- {marker} -->\n+```\w*\n(.*?)\n```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 1
    assert "\n" not in blocks[0]


SAMPLE = """\
Text.

```console
$ reactrepro one \\
>   --flag
first
...
last

$ reactrepro two
[exit code: 3]
```

<!-- not-run: needs a key -->

```console
$ pip install x
```
"""


def test_console_blocks_are_read_as_described() -> None:
    """Continued commands, exit codes and exempt blocks are understood."""
    assert examples(SAMPLE) == [
        Example(4, "reactrepro one --flag", ("first", "...", "last"), 0),
        Example(10, "reactrepro two", (), 3),
    ]


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        (("a", "b"), ["a", "b"], True),
        (("a", "..."), ["a"], True),
        (("a", "...", "d"), ["a", "b", "c", "d"], True),
        (("a", "...", "d"), ["a", "b", "c"], False),
        (("a.c",), ["abc"], False),
        ((), ["a"], False),
    ],
)
def test_dots_stand_for_lines_left_out(shown: tuple[str, ...], printed: list[str], same: bool) -> None:
    """`...` matches any number of lines, everything else matches itself only."""
    assert agrees(shown, printed) is same
