"""Evaluate: from recordings to results, one per episode, divided among processes and machines, and carried on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeAlias

from ..cassettes.runs import Run
from ..domain import Question
from ..errors import CassetteAbsent, ReactReproError, Usage
from ..results import Result
from . import pool
from .check import report
from .recordings import requested
from .resume import Resumed
from .roots import Sources
from .score import result_of
from .select import nothing
from .shards import WHOLE, Shard
from .varied import Varied, applying
from .what_if import AS_RECORDED, WhatIf

Watch: TypeAlias = Callable[[Iterator["Evaluated"], int], Iterable["Evaluated"]]
"""Passes on what came of each episode while somebody watches; the number is how many will come."""

Item: TypeAlias = tuple[Run, str, ReactReproError | None]
"""One of `recordings.requested`."""


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


def runs_of(
    sources: Sources,
    task: str,
    methods: Sequence[str] = (),
    names: Sequence[str] = (),
    what_if: WhatIf = AS_RECORDED,
) -> list[Run]:
    """Return the recorded runs of *task*, or those of them that bear one of the methods and one of the names given.

    Raises:
        CassetteAbsent: nothing is recorded of the task, or of a method or a name that was given.
        Usage: *what_if* has no meaning in any of them.
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
    if what_if != AS_RECORDED and all(_meant(what_if, run) == AS_RECORDED for run in found):
        named = ", ".join(run.label for run in found)
        raise Usage(f'{what_if} has no meaning in {named}: see docs/scoring.md, "What if".')
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
    """Return what came of one of `recordings.requested`, under *what_if* as far as that has a meaning for it."""
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
