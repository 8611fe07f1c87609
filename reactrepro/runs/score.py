"""Score: what a run is worth, from its replayed episodes.

The headline is over the *judged*: the episodes whose answer, or lack of one within the step limit, is the model's.
What failed for want of a provider, is missing, was filtered or does not replay as recorded is counted apart, by reason.
Beside the headline stands the mean over everything *requested*, in which all of these earn 0, as the official HotpotQA
script has it. Pure: the same episodes give the same score. Where they come from: `evaluate`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .. import __version__, published
from ..diagnoses import diagnose
from ..domain import Task
from ..errors import (
    Absent,
    BudgetExceeded,
    Corrupt,
    InfraError,
    ReactReproError,
    RecordingDiffers,
    Usage,
)
from ..methods import method_or_back_off
from ..report.model import CLASSES, EpisodeReport
from ..report.money import tokens
from ..report.scored import Diagnosed, PaperTable, RunScore, ScoreReport
from ..results import OK, Result
from ..statistics import LEVEL, mean, total, wilson
from ..tasks import TASKS
from .listing import overrides
from .shards import WHOLE, Shard
from .what_if import AS_RECORDED, WhatIf

if TYPE_CHECKING:
    from .evaluate import Replayed


def score(task: str, runs: Iterable[Replayed], *, level: float = LEVEL, shard: Shard = WHOLE) -> ScoreReport:
    """Return the score of each of *runs*, beside what the paper reports of *task*. A run without results has no score.

    Args:
        task, runs, level: what.
        shard: the part of the episodes that *runs* are.

    Raises:
        Usage: *level* is none.
    """
    runs = list(runs)
    scores = tuple(score_results(one.results, level=level) for one in runs if one.results)
    problems = tuple(problem for one in runs for problem in one.problems)
    return ScoreReport(task, published.SAMPLE, scores, _paper(task), problems, "" if shard == WHOLE else str(shard))


def score_kept(
    task: str,
    results: Iterable[Result],
    *,
    methods: Sequence[str] = (),
    names: Sequence[str] = (),
    level: float = LEVEL,
) -> ScoreReport:
    """Return the same for *results* that were kept (`results.merge`): of *task*, and of those methods and runs.

    Raises:
        Absent: there are none.
        Usage: *level* is none.
    """
    found: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        if (
            result.task == task
            and result.method in (methods or [result.method])
            and result.run in (names or [result.run])
        ):
            found.setdefault((result.label, str(sorted(result.what_if.items()))), []).append(result)
    if not found:
        asked = " ".join((task, *methods, *names))
        raise Absent(f"the files hold no result of {asked}. `reactrepro score {task} --results FILE` writes some.")
    scores = tuple(score_results(of_run, level=level) for of_run in found.values())
    wrong = [result for of_run in found.values() for result in of_run if result.kind != OK]
    problems = tuple(_kept_problem(result) for result in wrong)
    return ScoreReport(task, published.SAMPLE, scores, _paper(task), problems)


def _kept_problem(result: Result) -> ReactReproError:
    codes = {kind.kind: kind.exit_code for kind in _kinds(ReactReproError)}
    kinds = {kind.exit_code: kind for kind in (Usage, Absent, InfraError, Corrupt, BudgetExceeded)}
    text = f"{result.label}, episode {result.key}: {result.kind}, when it was scored."
    return kinds.get(codes.get(result.kind, 1), RecordingDiffers)(text)


def _kinds(base: type[ReactReproError]) -> Iterator[type[ReactReproError]]:
    for kind in base.__subclasses__():
        yield kind
        yield from _kinds(kind)


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
