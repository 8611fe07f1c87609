"""What can go wrong, and the exit code that says so.

One base class; every child carries the exit code that a command ends with. The table is part of the
command line's contract (README.md, "Exit codes"):

| code | meaning |
| --- | --- |
| 0 | all is well |
| 1 | a recording exists but differs from what is computed now, leftovers included |
| 2 | usage: the command itself is wrong |
| 3 | a recording or a page is absent |
| 4 | provider, network or disk |
| 5 | a file is corrupt, unsafe, of a newer format or holds a secret |
| 6 | stopped by a budget |
| 130 | interrupted |

With several problems a command ends with the highest of 1 to 6 and lists them all.

The model's mistakes are observations; only *our* mistakes, and those of files and networks, are exceptions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar


class ReactReproError(Exception):
    """Base of every error that reactrepro raises on purpose.

    The message says what is wrong, why, and what to do now. A bug is never wrapped in this class, so that it keeps
    its traceback.
    """

    exit_code: ClassVar[int] = 1
    #: The class under which `reactrepro check` counts the problem.
    kind: ClassVar[str] = "failed"


class RecordingDiffers(ReactReproError):
    """A recording exists, and what is computed now is not what it holds (exit code 1)."""

    exit_code = 1
    kind = "differs"


class CassetteMiss(RecordingDiffers):
    """A request that the method makes now was not recorded.

    Attributes:
        mismatch: what differs from the nearest recorded request (`cassettes.mismatch.Mismatch`).
    """

    kind = "request changed"

    def __init__(self, mismatch: Any) -> None:
        super().__init__(mismatch)
        self.mismatch = mismatch

    def __str__(self) -> str:
        return str(self.mismatch)


class CassetteLeftover(RecordingDiffers):
    """The replay ended before every recorded interaction was used."""

    kind = "left over"


class TapeMiss(RecordingDiffers):
    """An action that the method takes now is not the one on the observation tape."""

    kind = "tape differs"


class TapeLeftover(CassetteLeftover):
    """The replay ended before every entry of the observation tape was used."""


class OutcomeChanged(RecordingDiffers):
    """The computed outcome differs from the one that the recording expects."""

    kind = "outcome changed"


class PageChanged(RecordingDiffers):
    """A page stands in the snapshot, but not as the recording read it."""

    kind = "page changed"


class PromptChanged(RecordingDiffers):
    """A prompt is not the one that was recorded with, or not the one that the lock holds."""

    kind = "prompt changed"


class RecordingOld(RecordingDiffers):
    """A recording is older than it may be.

    Attributes:
        time: when it was made, ISO 8601.
    """

    kind = "too old"

    def __init__(self, message: str, time: str = "") -> None:
        super().__init__(message)
        self.time = time


class Usage(ReactReproError):
    """The command or the call is wrong (exit code 2): an unknown name, a range that is none."""

    exit_code = 2
    kind = "usage"


class Absent(ReactReproError):
    """A recording or a page is not there (exit code 3)."""

    exit_code = 3
    kind = "missing"


class PromptAbsent(Absent):
    """The prompt that a recording was made with is not there.

    Attributes:
        name: which prompt: task, name and method.
    """

    def __init__(self, message: str, name: tuple[str, str, str]) -> None:
        super().__init__(message)
        self.name = name


class CassetteAbsent(Absent):
    """No recording of that task, method, run and key exists."""


class WikiSnapshotMiss(Absent):
    """The snapshot holds no answer to that query. Never an observation, never a reason to ask the network."""


class InfraError(ReactReproError):
    """The provider or the network failed (exit code 4): the episode could not be judged."""

    exit_code = 4
    kind = "infra error"


class ParameterRefused(InfraError):
    """A server does not take a parameter, or not that value of it; without it, it may answer.

    Attributes:
        parameter: its name in the body.
        limit: the largest value that the server says it takes; None where it says none.
        status, code: what it answered.
    """

    def __init__(
        self, message: str, parameter: str, *, limit: int | None = None, status: int, code: str | None = None
    ) -> None:
        super().__init__(message)
        self.parameter, self.limit, self.status, self.code = parameter, limit, status, code


class DiskError(ReactReproError):
    """A file could not be written (exit code 4): the disk is full or not writable. What was recorded is intact."""

    exit_code = 4
    kind = "disk"

    @classmethod
    def of(cls, error: OSError) -> DiskError:
        """Return what *error*, which came of writing or locking a file, says to the user."""
        where = f"{error.filename} cannot be written" if error.filename else "a file cannot be written"
        return cls(
            f"{where}: {error.strerror or type(error).__name__}. What was recorded is intact. Make room, or make the "
            "folder writable, and run the same command again: it carries on where it stopped."
        )


class Corrupt(ReactReproError):
    """A file is not what its format says: truncated, altered, unsafe or of a newer version (exit code 5)."""

    exit_code = 5
    kind = "corrupt"


class FormatNewer(Corrupt):
    """A file has a newer format than this program knows."""

    kind = "newer format"


class SecretFound(Corrupt):
    """A file holds what no recording may: a key, or what only keys look like.

    Attributes:
        line: on which line of it, where that is known.
    """

    kind = "secret"

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class BudgetExceeded(ReactReproError):
    """Stopped before a budget was passed (exit code 6)."""

    exit_code = 6
    kind = "budget"


class Interrupted(ReactReproError):
    """The user wants an end (exit code 130); what is recorded is safe."""

    exit_code = 130
    kind = "interrupted"


def exit_code(problems: Iterable[ReactReproError]) -> int:
    """Return the exit code of several problems: the highest; 0 for none."""
    return max((problem.exit_code for problem in problems), default=0)
