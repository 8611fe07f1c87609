"""What `check` reports: one finding per cause, whatever the number of recordings that it touches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..cassettes.runs import Run
from ..errors import ReactReproError
from .model import CLASSES, STALE, EpisodeReport


@dataclass(frozen=True)
class Touched:
    """Episodes of one run that one cause touches alike.

    Attributes:
        run: which run.
        keys: the episodes, in order.
        step: the first step that diverges; None where no step does.
        usable: recorded replies before it, of all these episodes, that still answer.
        replies: all their recorded replies.
    """

    run: Run
    keys: tuple[str, ...]
    step: int | None = None
    usable: int = 0
    replies: int = 0


@dataclass(frozen=True)
class Estimate:
    """What recording again takes; an estimate, since new replies take their own course.

    Attributes:
        at_least: LLM calls that cannot be avoided.
        expected: LLM calls if every episode takes as many as it did.
    """

    at_least: int
    expected: int


@dataclass(frozen=True)
class Finding:
    """One cause for not being well, or a warning.

    Attributes:
        kind: the class.
        exit_code: 1 to 6; 0 for a warning.
        subject: what it is about, in words that stay the same from run to run: a prompt, a run, a file.
        text: what is wrong and why, in lines.
        diff: a difference that shows every character; "" where there is none.
        touched: the episodes that it touches.
        estimate: LLM calls to record them again; None where that is no remedy.
        remedy: what to do now.
        commands: the commands that do it.
        file, line: where to point at, as messages name it; None where there is no place.
        problem: the first error of this cause.
        data: what programs want to know besides.
    """

    kind: str
    exit_code: int
    subject: str
    text: str
    diff: str = ""
    touched: tuple[Touched, ...] = ()
    estimate: Estimate | None = None
    remedy: str = ""
    commands: tuple[str, ...] = ()
    file: str | None = None
    line: int | None = None
    problem: ReactReproError | None = None
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The first line of the text."""
        return self.text.split("\n", 1)[0]

    @property
    def is_warning(self) -> bool:
        """It changes no exit code."""
        return not self.exit_code

    @property
    def count(self) -> int:
        """How many episodes it touches."""
        return sum(len(touched.keys) for touched in self.touched)


@dataclass(frozen=True)
class CheckReport:
    """What `check` reports.

    Attributes:
        episodes: every recording that was looked at, in order.
        findings: problems first, warnings last.
        provenance: how many recordings came to be in which way, as the recorder declared it; not a proof.
        only: the part that was looked at; None for all of it.
        allow_stale: recordings whose prompt's change is accepted do not count as a problem.
    """

    episodes: tuple[EpisodeReport, ...]
    findings: tuple[Finding, ...] = ()
    provenance: Mapping[str, int] = field(default_factory=dict)
    only: str | None = None
    allow_stale: bool = False

    @property
    def counts(self) -> dict[str, int]:
        """Class -> number of recordings, for the classes that occur, in the order of `CLASSES`."""
        found = Counter(episode.kind for episode in self.episodes)
        return {kind: found[kind] for kind in (*CLASSES, *sorted(found.keys() - set(CLASSES))) if found[kind]}

    @property
    def besides(self) -> int:
        """How many problems there are that belong to no recording."""
        told = {id(problem) for episode in self.episodes for problem in episode.problems}
        others = [finding for finding in self.findings if not finding.touched and id(finding.problem) not in told]
        return sum(self.weight(finding) > 0 for finding in others)

    @property
    def warnings(self) -> int:
        """How many warnings there are."""
        return sum(finding.is_warning for finding in self.findings)

    @property
    def exit_code(self) -> int:
        """The highest exit code of all findings; 0 only if all is well."""
        return max(map(self.weight, self.findings), default=0)

    def weight(self, finding: Finding) -> int:
        """The exit code that *finding* asks for here."""
        return 0 if self.allow_stale and finding.kind == STALE else finding.exit_code
