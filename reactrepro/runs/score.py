"""Score: what a run is worth, from its replayed episodes.

The headline is over the *judged*: the episodes whose answer, or lack of one within the step limit, is the model's.
What failed for want of a provider, is missing, was filtered or does not replay as recorded is counted apart, by reason.
Beside the headline stands the mean over everything *requested*, in which all of these earn 0, as the official HotpotQA
script has it. Pure but for `replayed`: the same episodes give the same score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from .. import __version__, published
from ..cassettes.runs import Run
from ..diagnoses import diagnose
from ..domain import Question, Task
from ..errors import CassetteAbsent, ReactReproError, Usage
from ..methods import method_or_back_off
from ..report.episodes import tokens
from ..report.model import CLASSES, EpisodeReport
from ..report.scored import Diagnosed, PaperTable, RunScore, ScoreReport
from ..results import OK, Result
from ..statistics import LEVEL, mean, total, wilson
from ..tasks import TASKS
from . import pool
from .check import report, requested
from .listing import overrides
from .resume import Resumed
from .roots import Sources
from .select import nothing
from .shards import WHOLE, Shard
from .varied import Varied, applying
from .what_if import AS_RECORDED, WhatIf

Watch: TypeAlias = Callable[[Iterator["Evaluated"], int], Iterable["Evaluated"]]
"""Passes on what came of each episode while somebody watches; the number is how many will come."""

Item: TypeAlias = tuple[Run, str, ReactReproError | None]
"""One of `check.requested`."""


@dataclass(frozen=True)
class Evaluated:
    """What came of one episode. The trajectory is gone by then: what is kept is small."""

    run: Run
    key: str
    result: Result | None
    question: Question | None
    problems: tuple[ReactReproError, ...]


@dataclass(frozen=True)
class Replayed:
    """A run, or a shard of it, replayed.

    Attributes:
        run: which.
        results: one per episode that it holds or was asked for; none where its configuration cannot be read.
        questions: by key.
        problems: everything that is wrong with it or its episodes.
        resumed: how many of the results stood in a file already, and were not computed again.
    """

    run: Run
    results: list[Result] = field(default_factory=list)
    questions: dict[str, Question] = field(default_factory=dict)
    problems: list[ReactReproError] = field(default_factory=list)
    resumed: int = 0


def runs_of(sources: Sources, task: str, methods: Sequence[str] = (), names: Sequence[str] = ()) -> list[Run]:
    """Return the recorded runs of *task*, or those of them that bear one of the methods and one of the names given.

    Raises:
        CassetteAbsent: nothing is recorded of the task, or of a method or a name that was given.
    """
    found = [
        run
        for run in sources.library.runs(task)
        if (not methods or run.method in methods) and (not names or run.name in names)
    ]
    wanted: tuple[Sequence[str | None], Sequence[str | None]] = (methods or (None,), names or (None,))
    for method in wanted[0]:
        for name in wanted[1]:
            if not any(method in (None, run.method) and name in (None, run.name) for run in found):
                raise CassetteAbsent(nothing(sources.library, task, method, name))
    return found


def replayed(
    runs: Sequence[Run],
    sources: Sources,
    watch: Watch = lambda found, _: found,
    *,
    what_if: WhatIf = AS_RECORDED,
    shard: Shard = WHOLE,
    jobs: int | None = 1,
    results: Path | None = None,
) -> list[Replayed]:
    """Replay everything that *runs* hold or were asked for; every problem is in what is returned, none is raised.

    Args:
        runs, sources: what, and where it is read from.
        watch: see `Watch`.
        what_if: settings otherwise than recorded, for the runs in which they have a meaning.
        shard: which part of the episodes.
        jobs: among how many processes it is divided; see `pool.each`.
        results: a file of results; what it holds is not computed again, and what is computed is added (`resume`).

    Raises:
        Usage, Corrupt, DiskError: of the file of results.
    """
    items = shard.part([one for run in runs for one in requested(run)])
    asked = {run: _meant(what_if, run) for run in runs}
    for run in runs:
        with suppress(ReactReproError):  # the run's own problem comes with its episodes
            _ = run.id  # here once, not once in every process
    with Resumed(results, [(run, key, asked[run]) for run, key, _ in items]) as resumed:
        todo = [item for item in items if item[:2] not in resumed.found]
        found = {run: Replayed(run, resumed=sum(of is run for of, _ in resumed.found)) for run in runs}
        came, told = dict(resumed.found), set[tuple[str, str]]()
        for one in watch(pool.each(partial(evaluated, sources, what_if), todo, jobs), len(todo)):
            run = one.run
            kept = found[run]
            # What is wrong with the run itself comes with every episode, and is reported once.
            kept.problems.extend(new for new in one.problems if (run.label, str(new)) not in told)
            told |= {(run.label, str(problem)) for problem in one.problems}
            if one.question is not None:
                kept.questions[one.key] = one.question
            if one.result is not None:
                came[one.run, one.key] = one.result
                resumed.add(one.result)
    for run, key, _ in items:
        if (run, key) in came:
            found[run].results.append(came[run, key])
    for kept in found.values():
        if shard == WHOLE and not kept.results and not kept.problems:
            kept.problems.append(CassetteAbsent(f"{kept.run.label}: it holds no episode, and none was asked for."))
    return list(found.values())


def evaluated(sources: Sources, what_if: WhatIf, item: Item) -> Evaluated:
    """Return what came of one of `check.requested`, under *what_if* as far as that has a meaning for it."""
    run, key, problem = item
    asked = _meant(what_if, run)
    varied = problem is None and asked != AS_RECORDED
    found = Varied(run, key, sources).under(asked) if varied else report(run, key, problem, sources)
    problems = found.problems
    try:
        result = result_of(found, asked)
    except ReactReproError as own:
        result = None
        problems = problems if str(own) in map(str, problems) else (*problems, own)
    return Evaluated(run, key, result, found.question, problems)


def _meant(what_if: WhatIf, run: Run) -> WhatIf:
    try:
        return applying(what_if, run.config)
    except ReactReproError:
        return AS_RECORDED  # the run's own problem comes with its episodes


def score(task: str, runs: Iterable[Replayed], *, level: float = LEVEL) -> ScoreReport:
    """Return the score of each of *runs*, beside what the paper reports of *task*. A run without results has no score.

    Raises:
        Usage: *level* is none.
    """
    runs = list(runs)
    scores = tuple(score_results(one.results, level=level) for one in runs if one.results)
    problems = tuple(problem for one in runs for problem in one.problems)
    return ScoreReport(task, published.SAMPLE, scores, _paper(task), problems)


def score_run(reports: Iterable[EpisodeReport], *, level: float = LEVEL) -> RunScore:
    """Return the score of one run's episodes: its replays, and what is missing or failed, each with its problem.

    Raises:
        Usage: none at all, an episode twice, or episodes of several runs.
        ReactReproError: the run's configuration cannot be read.
    """
    return score_results([result_of(found) for found in reports], level=level)


def score_results(results: Sequence[Result], keys: Collection[str] | None = None, *, level: float = LEVEL) -> RunScore:
    """Return the score of one run's results.

    Args:
        results: one per episode, in any order.
        keys: what was requested; a key without a result is missing. None: what there are results of.
        level: of the interval.

    Raises:
        Usage: nothing to score, an episode twice or one that was not requested, or episodes of several runs.
    """
    _check(results, keys)
    judged = [result for result in results if result.judged]
    n, wanted = len(judged), len(results) if keys is None else len(set(keys))
    right = sum(bool(result.em) for result in judged)
    f1 = [result.f1 or 0.0 for result in judged]
    first = results[0]
    times = sorted(result.time for result in results if result.time is not None)
    names = dict.fromkeys(name for result in judged for name in result.more)
    more = {name: mean(result.more.get(name) for result in judged).value for name in names}
    apart = Counter(reason(result) for result in results if not result.judged)
    apart["missing"] += wanted - len(results)
    return RunScore(
        task=first.task,
        method=first.method,
        run=first.run,
        run_id=first.run_id,
        provider=first.provider,
        api=first.api,
        model=first.model,
        models_returned=tuple(sorted({r.model_returned for r in results if r.model_returned is not None})),
        profile=first.profile,
        overrides=first.overrides,
        what_if=first.what_if,
        headline=headline(first.task),
        acts=_acts(first.method),
        recorded=(times[0], times[-1]) if times else None,
        requested=wanted,
        judged=n,
        apart=_in_order(apart),
        right=right,
        em=right / n if n else None,
        f1=mean(f1).value,
        more={name: value for name, value in more.items() if value is not None},
        interval=wilson(right, n, level),
        level=level,
        em_requested=right / wanted,
        f1_requested=(mean(f1).value or 0.0) * n / wanted,
        steps=mean(result.steps for result in judged).value,
        llm_calls=mean(result.llm_calls for result in judged).value,
        prompt_tokens=total(result.prompt_tokens for result in judged),
        completion_tokens=total(result.completion_tokens for result in judged),
        tokens_known=sum(None not in (result.prompt_tokens, result.completion_tokens) for result in judged),
        step_limit=sum(result.ended == "step_limit" for result in judged),
        **_format(judged),
        diagnoses=_diagnosed(judged),
    )


def result_of(found: EpisodeReport, what_if: WhatIf = AS_RECORDED) -> Result:
    """Return what came of one episode as a result; *what_if* says under which other settings it was computed.

    Raises:
        ReactReproError: the run's configuration cannot be read.
    """
    run, config, meta = found.run, found.run.config, found.meta
    return Result(
        task=run.task,
        method=run.method,
        run=run.name,
        run_id=run.id,
        key=found.key,
        question_sha256=found.question.sha256 if found.question is not None else None,
        kind=found.kind,
        **_computed(found),
        provider=config.provider,
        api=config.settings.api,
        model=config.model,
        model_returned=meta.model_returned if meta is not None else None,
        profile=config.settings.profile,
        overrides=overrides(config),  # type: ignore[arg-type]  # settings are texts and numbers
        what_if={name: float(value) for name, value in what_if.as_dict().items()},
        scorer=TASKS.get(run.task)().scorer,
        version=__version__,
        time=meta.time if meta is not None else None,
    )


def _computed(found: EpisodeReport) -> dict[str, Any]:
    trajectory, scored = found.trajectory, found.score
    if trajectory is None or scored is None or found.question is None:
        return {}
    labels = getattr(TASKS.get(found.run.config.task.name)(), "labels", ())
    used = tokens(found)
    return {
        "answer": trajectory.answer,
        "em": scored.em,
        "f1": scored.f1,
        "more": dict(scored.more),
        "ended": trajectory.ended,
        "steps": len(trajectory.steps),
        "llm_calls": trajectory.llm_calls,
        "reprompts": trajectory.reprompts,
        "strict_reprompts": trajectory.strict_reprompts,
        "flags": dict(sorted(Counter(flag for flags in trajectory.flags for flag in flags).items())),
        "prompt_tokens": used.prompt,
        "completion_tokens": used.completion,
        "diagnoses": diagnose(trajectory, found.question.gold, labels=labels).as_dict(),
    }


def _check(results: Sequence[Result], keys: Collection[str] | None) -> None:
    if not results and not keys:
        raise Usage("nothing to score: no episode is recorded, and none was asked for.")
    if not results:
        raise Usage(f"nothing to score: none of the {len(set(keys or ()))} episodes asked for has a result.")
    labels = sorted({result.label for result in results})
    if len(labels) > 1 or len({result.state for result in results}) > 1:
        raise Usage(f"these are results of several runs, and a score is that of one: {', '.join(labels)}.")
    twice = [key for key, count in Counter(result.key for result in results).items() if count > 1]
    if twice:
        raise Usage(f"{labels[0]}: {_listed(twice)} stands among the results more than once.")
    wanted = None if keys is None else set(keys)
    if wanted is not None and (unknown := [result.key for result in results if result.key not in wanted]):
        raise Usage(f"{labels[0]}: {_listed(unknown)} has a result, and nobody asked for it.")


def reason(result: Result) -> str:
    """Return why *result* is not judged: the class of its problem, or how it ended."""
    return result.kind if result.kind != OK or result.ended is None else result.ended.replace("_", " ")


def headline(task: str) -> str:
    """Return what tables call the share of right answers of *task*."""
    try:
        known: type[Task] | None = TASKS.get(task)
    except Usage:
        known = None  # of a package that is not installed here
    return getattr(known, "headline", "EM")


def _acts(method: str) -> bool:
    try:
        made: Any = method_or_back_off(method)
    except Usage:
        return True
    return getattr(made, "acts", True)  # a back-off has a part that does


def _in_order(apart: Counter[str]) -> dict[str, int]:
    return {why: apart[why] for why in dict.fromkeys((*CLASSES, *sorted(apart))) if apart[why]}


def _format(judged: Sequence[Result]) -> dict[str, Any]:
    flags: Counter[str] = Counter()
    for result in judged:
        flags.update(result.flags)
    return {
        "replies": sum((result.llm_calls or 0) - (result.reprompts or 0) for result in judged),
        "reprompts": sum(result.reprompts or 0 for result in judged),
        "strict_reprompts": sum(result.strict_reprompts or 0 for result in judged),
        "flagged": sum(bool(result.flags) for result in judged),
        "flags": dict(sorted(flags.items(), key=lambda item: (-item[1], item[0]))),
    }


def _diagnosed(judged: Sequence[Result]) -> dict[str, Diagnosed]:
    found = {}
    for name in dict.fromkeys(name for result in judged for name in result.diagnoses):
        values = [value for result in judged if (value := result.diagnoses.get(name)) is not None]
        found[name] = Diagnosed(sum(map(bool, values)), len(values), sum(map(int, values)))
    return found


def _paper(task: str) -> PaperTable | None:
    rows = tuple((row.label, row.method, value) for row, value in published.rows(task))
    return PaperTable(published.SOURCE, published.MEASURES[task], published.SAMPLE, rows) if rows else None


def _listed(keys: Sequence[str]) -> str:
    return f"episode {', '.join(keys[:5])}" + (f" and {len(keys) - 5} more" if len(keys) > 5 else "")
