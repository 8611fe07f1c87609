"""`record --changed`: what went stale in a run is recorded again, and only that."""

from __future__ import annotations

import os
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from ..errors import CassetteAbsent, DiskError, Interrupted, Usage, exit_code
from ..report import text
from ..visible import lines
from . import options, spending
from .orders import budget_of, recorded, studio_of
from .progress import Progress, stop_on_interrupt

if TYPE_CHECKING:
    from ..cassettes.runs import Run
    from ..domain import Outcome, Question, Task
    from ..runs.order import Order
    from ..runs.renew import Renewal, Renewed
    from ..runs.roots import Sources

_OWN = (
    *("model", "api", "protocol", "extraction", "max_tokens", "temperature", "max_steps", "samples", "prompt", "site"),
    *("subset", "ids", "seed", "limit"),
)
"""Options that are the run's own, and cannot be given otherwise."""


def changed(
    task: str,
    index: tuple[str, ...],
    given: dict[str, Any],
    found: Sources,
    stopped: threading.Event,
    *,
    json_: bool,
    quiet: bool,
) -> int:
    """Carry out `record --changed`; return the exit code.

    Raises:
        Usage: something is given that is the run's own; or the run cannot be renewed.
        CassetteAbsent: there is no such run.
    """
    from ..runs.renew import plan, renew
    from ..tasks import TASKS

    if index or (own := [name for name in _OWN if given[name] is not None]):
        said = "INDEX" if index else ", ".join(f"--{name.replace('_', '-')}" for name in own)
        raise Usage(f"--changed takes all of that from the run: leave out {said}.")
    known = TASKS.get(task)()
    run = _run(task, given, found)
    renewal = plan(run, found, _questions(known, given, found))
    if not renewal.stale:
        click.echo(f"{run.label}: all {text.counted(len(renewal.valid), 'episode')} replay; nothing is to be recorded.")
        return 0
    if given["dry_run"]:
        _say_plan(renewal, json_=json_)
        return 0
    order = _order(run, known, given)
    budget = budget_of(order, given, options.prices(given["prices"]))
    bar = Progress(len(renewal.stale), stopped, silent=quiet or json_, spent=partial(spending.short, budget))
    studio = partial(studio_of, given=given, found=found, stopped=stopped, budget=budget)
    try:
        with stop_on_interrupt(stopped), bar:
            renewed = renew(renewal, order, lambda o: recorded(o, (), studio, found, bar), found, keep=given["keep"])
    except OSError as error:  # a file; networks have errors of their own
        raise DiskError.of(error) from error
    _say(renewal, renewed, json_=json_, quiet=quiet)
    if not json_ and (spent := spending.sentence(budget)):
        click.echo(spent)
    if isinstance(renewed.report.stopped, Interrupted):
        return renewed.report.stopped.exit_code
    return exit_code(renewed.report.problems)


def _questions(task: Task, given: dict[str, Any], found: Sources) -> dict[str, Question]:
    from ..cassettes.selection import EVERYTHING
    from ..runs.picks import Pick
    from ..runs.questions import questions

    try:
        known = questions(task, Pick((EVERYTHING,)), found.library, given["data"])
    except Usage:
        return {}  # none are at hand; that matters only where one is needed
    return {question.key: question for question in known}


def _run(task: str, given: dict[str, Any], found: Sources) -> Run:
    from ..runs.renew import CHANGED

    runs = [run for run in found.library.runs(task, given["method"], given["run"]) if not run.name.endswith(CHANGED)]
    if not runs:
        named = f" named {given['run']}" if given["run"] else ""
        raise CassetteAbsent(f"no run of {task}/{given['method']}{named} is at hand: see `reactrepro list`.")
    if len(runs) > 1:
        raise Usage(f"say which run by --run: {', '.join(run.name for run in runs)}.")
    return runs[0]


def _order(run: Run, task: Task, given: dict[str, Any]) -> Order:
    from ..backends.providers import target
    from ..runs.order import Order

    config = run.config
    whom = target(
        f"{config.provider}/{config.model}",
        environment=os.environ,
        api=config.settings.api,
        base_url=given["base_url"],
    )
    return Order(
        task=task,
        questions=(),
        selection="",
        method=config.method,
        prompt=config.prompt,
        target=whom,
        settings=config.settings,
        site=config.site,
        root=given["cassettes"],
        snapshot=given["wiki_snapshot"],
        connections=given["max_connections"],
        note=given["note"],
    )


def _say_plan(renewal: Renewal, *, json_: bool) -> None:
    if json_:
        options.echo_json(_plan(renewal))
        return
    rows = [(e.key, e.why, e.calls, e.usable) for e in renewal.stale]
    click.echo(text.grid(("key", "result", "recorded calls", "usable"), rows))
    click.echo(
        f"\n{renewal.run.label}: {len(renewal.valid)} to copy, {len(renewal.stale)} to record, with some "
        f"{text.counted(renewal.at_least, 'call')} if the model takes as many as it did. Nothing was asked."
    )


def _say(renewal: Renewal, renewed: Renewed, *, json_: bool, quiet: bool) -> None:
    report = renewed.report
    if json_:
        options.echo_json(_data(renewal, renewed))
        return
    for episode in report.episodes:
        if episode.problem is not None:
            click.echo(lines(f"{episode.state}: episode {episode.key}: {episode.problem}"), err=True)
    if report.stopped is not None:
        click.echo(lines(f"stopped: {report.stopped}"), err=True)
    if not quiet:
        for change in renewed.changes:
            said = lines(change.diff) if change.diff else "the same trajectory"
            click.echo(f"episode {change.key}: {_outcomes(change.before, change.after)}\n{text.indented(said)}\n")
    done = sum(episode.state in ("recorded", "kept") for episode in report.episodes)
    click.echo(
        f"{renewal.run.label}: {len(renewed.copied)} copied, {done} recorded again, "
        f"{text.counted(report.calls, 'call')} made; {_scores(renewed)}."
    )
    if renewed.run is None:
        beside = f"it stands beside the old one as {report.run.label}"
        click.echo(f"The new run is not complete: {beside}. The same command carries on.")
    else:
        old = f"the old run is {renewed.kept.label}" if renewed.kept is not None else "the old run is gone"
        click.echo(f"It has taken over the name: {old}.")


def _outcomes(before: Outcome | None, after: Outcome | None) -> str:
    said = [_outcome(outcome) for outcome in (before, after)]
    return said[0] if said[0] == said[1] else f"{said[0]} -> {said[1]}"


def _outcome(outcome: Outcome | None) -> str:
    if outcome is None:
        return "(nothing)"
    return lines(f"{outcome.answer or '(none)'}, EM {int(outcome.em)}, F1 {text.number(outcome.f1)}")


def _scores(renewed: Renewed) -> str:
    pairs = renewed.compared
    if not pairs:
        return "nothing to compare with"
    before, after = (sum(pair[side].em for pair in pairs) for side in (0, 1))
    flipped = sum(one.em != other.em for one, other in pairs)
    return f"of these, {before} of {len(pairs)} were right and {after} are; {flipped} flipped"


def _plan(renewal: Renewal) -> dict[str, Any]:
    return {
        "run": renewal.run.label,
        "id": renewal.run.id,
        "valid": list(renewal.valid),
        "stale": [
            {"key": e.key, "result": e.why, "recorded_calls": e.calls, "usable_calls": e.usable} for e in renewal.stale
        ],
        "calls_at_least": renewal.at_least,
    }


def _data(renewal: Renewal, renewed: Renewed) -> dict[str, Any]:
    return {
        **_plan(renewal),
        "calls": renewed.report.calls,
        "complete": renewed.run is not None,
        "kept": renewed.kept.label if renewed.kept is not None else None,
        "episodes": [
            {"key": e.key, "state": e.state, "calls": e.calls, "problem": str(e.problem) if e.problem else None}
            for e in renewed.report.episodes
        ],
        "remaining": renewed.report.remaining,
        "stopped": str(renewed.report.stopped) if renewed.report.stopped else None,
        "changes": [
            {
                "key": change.key,
                "answer": [None if o is None else o.answer for o in (change.before, change.after)],
                "em": [None if o is None else o.em for o in (change.before, change.after)],
                "f1": [None if o is None else o.f1 for o in (change.before, change.after)],
                "diff": change.diff,
            }
            for change in renewed.changes
        ],
    }
