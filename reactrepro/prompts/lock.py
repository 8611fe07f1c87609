"""``prompts.lock``: which prompts a project has agreed to. Pure, but for reading the file.

One line per prompt, sorted, in the form that ``sha256sum`` prints: the hash of all that is sent before the question,
two blanks, ``task/name/method``. Indented below it the same for each file that it is made of. So a changed prompt
is a changed line in a diff, and two branches that change two prompts merge. The specification is docs/formats.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..domain import Prompt
from ..errors import Corrupt, FormatNewer

LOCK_FILE = "prompts.lock"
FORMAT = "reactrepro-prompts/1"
LIMIT = 4 * 1024 * 1024
"""Bytes of the largest file that is read."""

_PROMPT = re.compile(r"([0-9a-f]{64})  ([a-z0-9][a-z0-9_-]*/[a-z0-9][a-z0-9_-]*/[a-z0-9][a-z0-9_-]*)\Z")
_FILE = re.compile(r"  ([0-9a-f]{64})  ([^\s/\\]+)\Z")
_CONFLICT = ("<<<<<<<", "=======", ">>>>>>>", "|||||||")


@dataclass(frozen=True, slots=True)
class Locked:
    """One prompt as it was agreed to.

    Attributes:
        name: ``task/name/method``.
        sha256: of all that stands before the question.
        files: (name without folders, sha256) of each file, in the order in which they are sent.
    """

    name: str
    sha256: str
    files: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, prompt: Prompt) -> Locked:
        """Return the line for *prompt*."""
        files = tuple((file.name.replace("\\", "/").rpartition("/")[2], file.sha256) for file in prompt.files)
        return cls(address(prompt.task, prompt.name, prompt.method), prompt.sha256, files)


def address(task: str, name: str, method: str) -> str:
    """Return how the lock calls a prompt: ``hotpotqa/paper/react``."""
    return f"{task}/{name}/{method}"


def to_text(lines: Iterable[Locked]) -> str:
    """Return the file's text."""
    rows = [FORMAT]
    for line in sorted(lines, key=lambda line: line.name):
        rows.append(f"{line.sha256}  {line.name}")
        rows += [f"  {sha256}  {name}" for name, sha256 in line.files]
    return "\n".join(rows) + "\n"


def parse(text: str, path: Path | None = None) -> dict[str, Locked]:
    """Return the prompts in *text* by name; *path* is for messages.

    Raises:
        FormatNewer: a version that this program does not know.
        Corrupt: not what the format says.
    """
    rows = text.replace("\r\n", "\n").split("\n")
    _check_format(rows[0], path)
    if rows[-1]:
        raise Corrupt(f"{path} ends in the middle of a line: it is truncated. Restore it.")
    found: dict[str, Locked] = {}
    last = ""
    for number, row in enumerate(rows[1:-1], 2):
        if (match := _FILE.match(row)) and last:
            line = found[last]
            found[last] = Locked(line.name, line.sha256, (*line.files, (match[2], match[1])))
        elif (match := _PROMPT.match(row)) and match[2] not in found:
            last = match[2]
            found[last] = Locked(last, match[1])
        elif row.startswith(_CONFLICT):
            raise Corrupt(
                f"{path} has a merge conflict on line {number}. Keep either side; then `reactrepro accept` what the "
                "prompts are now."
            )
        else:
            why = "names a prompt for the second time" if match else "is neither a prompt nor one of its files"
            raise Corrupt(f"{path}: line {number} {why}. Restore the file, or remove it and `reactrepro accept` anew.")
    return found


def read(path: Path) -> Mapping[str, Locked] | None:
    """Return the prompts that the lock file *path* holds, by name; None where there is no such file.

    Raises:
        Corrupt: not what the format says, or of a newer version.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(LIMIT + 1)
        if len(data) > LIMIT:
            raise Corrupt(f"{path} is larger than {LIMIT} bytes, which no such file is.")
        return parse(data.decode("ascii"), path)
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise Corrupt(f"{path} is not ASCII (byte {error.start}): it was altered. Restore it.") from None
    except OSError as error:
        raise Corrupt(f"{path} cannot be read: {error.strerror}.") from None


def _check_format(found: str, path: Path | None) -> None:
    if found == FORMAT:
        return
    name, _, version = FORMAT.partition("/")
    if found.startswith(f"{name}/") and found[len(name) + 1 :].isdecimal():
        raise FormatNewer(
            f"{path}: format {found!r}, and this program reads up to version {version}. "
            "It was written by a newer reactrepro: update reactrepro."
        )
    raise Corrupt(f"{path}: its first line is not {FORMAT!r}; this is no lock of prompts.")
