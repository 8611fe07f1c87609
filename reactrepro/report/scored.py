"""What `score` and `compare` report: values without behaviour, computed in runs/, rendered in `scores`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..errors import ReactReproError, exit_code


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """How often a diagnosis holds in a run's judged episodes.

    Attributes:
        episodes: in how many it holds, or occurs at least once.
        of: in how many the question arises.
        times: how often it occurs in all of them together.
    """

    episodes: int
    of: int
    times: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RunScore:
    """What one run is worth, and under which conditions. All shares are 0 to 1; None is unknown, which is not zero.

    Attributes:
        task, method, run, run_id: which.
        provider, api, model, models_returned, profile, overrides: the conditions; as returned, by every name that came.
        what_if: settings otherwise than recorded, under which all of this was computed; none for replays.
        headline: what tables call `em`: "EM", or "accuracy" where there is no partial credit.
        acts: the method takes steps; where it does not, what is counted of them has no meaning.
        recorded: the first and the last time of recording that is known, or None.
        requested: episodes asked for or recorded.
        judged: those whose answer, or lack of one, is the model's: finished, or out of steps.
        apart: why the others are not judged -> how many.
        right: exact matches.
        em, f1, more: means over the judged, None where there is none; `more` by the measure's name.
        interval, level: Wilson interval of `em`, and its level.
        em_requested, f1_requested: means over all that were requested; what is not judged earns 0.
        steps, llm_calls: means over the judged.
        prompt_tokens, completion_tokens: sums over the judged; None as soon as one is unknown.
        tokens_known: in how many of the judged both are known.
        step_limit: judged episodes that the step limit ended.
        replies, reprompts, strict_reprompts: first replies, how many were asked for again, and how many would have been
            under strict.
        flagged, flags: judged episodes with a format flag at least, and flag -> steps that carry it.
        diagnoses: by name.
    """

    task: str
    method: str
    run: str
    run_id: str
    provider: str
    api: str
    model: str
    models_returned: tuple[str, ...]
    profile: str
    overrides: Mapping[str, object]
    what_if: Mapping[str, float]
    headline: str
    acts: bool
    recorded: tuple[str, str] | None
    requested: int
    judged: int
    apart: Mapping[str, int]
    right: int
    em: float | None
    f1: float | None
    more: Mapping[str, float]
    interval: tuple[float, float]
    level: float
    em_requested: float
    f1_requested: float
    steps: float | None
    llm_calls: float | None
    prompt_tokens: int | None
    completion_tokens: int | None
    tokens_known: int
    step_limit: int
    replies: int
    reprompts: int
    strict_reprompts: int
    flagged: int
    flags: Mapping[str, int]
    diagnoses: Mapping[str, Diagnosed]

    @property
    def label(self) -> str:
        """The run, as messages call it."""
        return f"{self.task}/{self.method}/{self.run}"


@dataclass(frozen=True, slots=True)
class PaperTable:
    """The paper's own numbers for one task.

    Attributes:
        source: where they stand.
        measure: what they are ("EM"), in percent.
        sample: the size of sample that they can be compared with at all.
        rows: (label, method or None, number).
    """

    source: str
    measure: str
    sample: int
    rows: tuple[tuple[str, str | None, float], ...]


@dataclass(frozen=True)
class ScoreReport:
    """What `score` reports.

    Attributes:
        task: which.
        sample: below so many judged episodes, a run is called too small to compare with published numbers.
        scores: one per run, in order.
        paper: the paper's numbers; None for a task that the paper has not.
        problems: everything that kept an episode from being judged, and runs that could not be read.
        shard: which part of the episodes this is ("2/4"); "" for the whole.
    """

    task: str
    sample: int
    scores: tuple[RunScore, ...]
    paper: PaperTable | None = None
    problems: tuple[ReactReproError, ...] = ()
    shard: str = ""

    @property
    def exit_code(self) -> int:
        """The highest exit code of all problems; 0 only if every episode was judged."""
        return exit_code(self.problems)


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean difference of two runs, second minus first.

    Attributes:
        first, second: the means.
        difference: of the two.
        interval: its bootstrap percentile interval.
    """

    first: float
    second: float
    difference: float
    interval: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Flip:
    """A question that one of two runs gets right and the other does not.

    Attributes:
        key, question, gold: which.
        answers: what the two answered; None for no answer.
        right: whether the first (1) or the second (2) is right.
    """

    key: str
    question: str
    gold: str
    answers: tuple[str | None, str | None]
    right: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two runs over the same questions.

    Attributes:
        headline: what tables call `em`; see `RunScore`.
        runs, run_ids: labels and ids of the two.
        n: pairs.
        left_out: episodes that only one of them has judged, and that were left out on demand.
        both, only_first, only_second, neither: how many questions are answered right by whom.
        p: McNemar's exact test, two-sided.
        em, f1: differences of the means.
        level, resamples, seed: of the intervals.
        flips: in order of keys.
        configuration: what differs: dotted name -> (first's, second's).
    """

    headline: str
    runs: tuple[str, str]
    run_ids: tuple[str, str]
    n: int
    left_out: int
    both: int
    only_first: int
    only_second: int
    neither: int
    p: float
    em: Difference
    f1: Difference
    level: float
    resamples: int
    seed: int
    flips: tuple[Flip, ...] = ()
    configuration: Mapping[str, tuple[object, object]] = field(default_factory=dict)
