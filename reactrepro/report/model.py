"""What the verbs report: values without behaviour, for `text` and `episodes` to render."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ..cassettes.model import EpisodeMeta
from ..cassettes.runs import Run
from ..domain import Outcome, Prompt, Question, Score, Trajectory, Turn
from ..errors import ReactReproError, exit_code

STALE = "accepted, not yet recorded"
"""The class of a recording whose prompt has changed since, where the lock holds the prompt as it is now."""

CLASSES = (
    "ok",
    STALE,
    "prompt changed",
    "request changed",
    "outcome changed",
    "page changed",
    "tape differs",
    "left over",
    "too old",
    "missing",
    "infra error",
    "corrupt",
    "newer format",
    "secret",
)
"""Every class, in the order of reports; `check` prints those that occur."""


@dataclass(frozen=True)
class EpisodeReport:
    """What came of one episode.

    Attributes:
        run, key, file: which; *file* as messages name it.
        question: None where the file could not be read.
        prompt: the prompt as it is now; None where it could not be read.
        trajectory, score: None where the replay did not get that far.
        expected: the recorded outcome.
        turns: the calls made, the failed one last.
        problems: everything that is wrong, in the order in which it was found.
        prompt_changed: the prompt is not the one that was recorded with.
        accepted: the lock holds the prompt as it is now: only the recording is to be made anew.
        parts: the reports of the parts that a composed episode needed.
        meta: what the recording says of itself; None where the file could not be read.
    """

    run: Run
    key: str
    file: str
    question: Question | None = None
    prompt: Prompt | None = None
    trajectory: Trajectory | None = None
    score: Score | None = None
    expected: Outcome | None = None
    turns: tuple[Turn, ...] = ()
    problems: tuple[ReactReproError, ...] = ()
    prompt_changed: bool = False
    accepted: bool = False
    parts: tuple[EpisodeReport, ...] = ()
    meta: EpisodeMeta | None = None

    @property
    def ok(self) -> bool:
        """Nothing is wrong."""
        return not self.problems

    @property
    def kind(self) -> str:
        """The class under which `check` counts it: "ok", "prompt changed", "outcome changed", ..."""
        if self.ok:
            return "ok"
        worst = max(self.problems, key=lambda problem: problem.exit_code)
        if self.prompt_changed and worst.exit_code == 1:
            return STALE if self.accepted else "prompt changed"
        return worst.kind


@dataclass(frozen=True)
class RunReport:
    """What a command reports.

    Attributes:
        episodes: in order.
        others: how many further recordings fit the same words.
    """

    episodes: tuple[EpisodeReport, ...]
    others: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """Class -> number of episodes, for the classes that occur, in the order of `CLASSES`."""
        found = Counter(episode.kind for episode in self.episodes)
        return {kind: found[kind] for kind in (*CLASSES, *sorted(found.keys() - set(CLASSES))) if found[kind]}

    @property
    def exit_code(self) -> int:
        """The highest exit code of all problems; 0 only if all is well."""
        return exit_code(problem for episode in self.episodes for problem in episode.problems)
