"""`replay`, `check` and `list`."""

from __future__ import annotations

from pathlib import Path

import click

from ..cassettes.mismatch import describe
from ..cassettes.runs import Run
from ..errors import CassetteMiss, ReactReproError
from ..report import episodes as shown_episodes
from ..report import text
from ..report.model import EpisodeReport, RunReport
from ..runs.shards import Shard
from ..visible import lines
from . import options


@click.command()
@click.argument("task", required=False)
@click.argument("index", nargs=-1)
@options.filters
@click.option("--all", "everything", is_flag=True, help="Replay every recording that fits, not only the preferred run.")
@click.option("--wire", is_flag=True, help="Send each request through the provider's SDK, answered at its transport.")
@options.what_ifs
@options.divided
@options.locations
@options.as_json
@options.quiet
@options.verbose
def replay(
    *,
    task: str | None,
    index: tuple[str, ...],
    method: str | None,
    run: str | None,
    everything: bool,
    wire: bool,
    max_steps: int | None,
    samples: int | None,
    threshold: float | None,
    shard: Shard,
    jobs: int | None,
    cassettes: tuple[Path, ...],
    wiki_snapshot: tuple[Path, ...],
    json_: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Replay recorded episodes: no network, no key, no data set.

    TASK is a task's name (hotpotqa); INDEX an index, a range (0-9), several of them, or a question hash. Without
    TASK and INDEX the first recording of the preferred run is replayed.

    Recorded replies and pages go once more through today's loop, parser and scoring. Every request has to be the
    recorded one, every recorded reply has to be used, and the outcome has to be the recorded one.

    What if a smaller step limit, fewer samples or another threshold had been set? --max-steps, --samples and
    --threshold compute it from the recording, without a further call; nothing is compared then.

    \b
    Examples:
      reactrepro replay hotpotqa 0
      reactrepro replay pelm 0-9 --run gemma-3-270m
      reactrepro replay --all --quiet
    """
    from ..runs.replay import replay_all
    from ..runs.select import choose
    from ..runs.what_if import WhatIf

    what_if = WhatIf(max_steps, samples, threshold)
    found = options.layered(cassettes, wiki_snapshot)
    chosen = choose(found.library, task, index, method=method, run=run, everything=everything)
    episodes = shard.part(chosen.episodes)
    replayed = options.progress(
        replay_all(episodes, found, wire=wire, what_if=what_if, jobs=jobs), len(episodes), quiet or json_
    )
    report = RunReport(tuple(replayed), chosen.others)
    if json_:
        options.echo_json(_data(report))
    else:
        _print(report, quiet=quiet, verbose=verbose, what_if=str(what_if))
    return report.exit_code


@click.command()
@click.argument("path", required=False, type=click.Path(exists=True, path_type=Path))
@options.locations
@options.as_json
@options.quiet
@options.verbose
def check(
    *,
    path: Path | None,
    cassettes: tuple[Path, ...],
    wiki_snapshot: tuple[Path, ...],
    json_: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Replay everything and report by class; exit 0 only if all is well.

    PATH is one recording (0.yaml), a run's folder, or any folder above; without it, every recording at hand is
    checked.

    \b
    Classes: ok, prompt changed, request changed, outcome changed, page changed,
    tape differs, left over, missing, infra error, corrupt.
    """
    from ..runs.check import check as run_check

    found = options.layered(cassettes, wiki_snapshot)
    report = RunReport(tuple(options.progress(run_check(path, found), None, quiet or json_)))
    if json_:
        options.echo_json({**_data(report), "counts": report.counts})
        return report.exit_code
    for episode in report.episodes:
        if not episode.ok:
            click.echo(f"{episode.kind}: {lines(_message(episode, verbose))}\n")
    if not quiet:
        _print_rows(report)
    counts = ", ".join(f"{count} {kind}" for kind, count in report.counts.items())
    click.echo(f"{text.counted(len(report.episodes), 'recording')} checked: {counts}.")
    return report.exit_code


@click.command("list")
@click.argument("task", required=False)
@options.locations
@options.as_json
def listing(*, task: str | None, cassettes: tuple[Path, ...], wiki_snapshot: tuple[Path, ...], json_: bool) -> int:
    """Show the runs at hand: what was asked, how many episodes, how they came to be."""
    from ..runs.listing import runs

    found = options.layered(cassettes, wiki_snapshot)
    rows = runs(found, task)
    if json_:
        options.echo_json([row.as_dict() for row in rows])
        return max((row.problem.exit_code for row in rows if row.problem), default=0)
    if not rows:
        looked = ", ".join(map(str, found.library.roots)) or "no folder"
        click.echo(f"no recordings{f' of {task}' if task else ''}; looked in {looked}.")
        return 0
    head = ("", "task", "method", "run", "episodes", "provenance", "profile", "id")
    click.echo(text.grid(head, [row.cells() for row in rows]))
    for row in rows:
        if row.problem is not None:
            click.echo(f"\n{lines(str(row.problem))}")
    if any(row.default for row in rows):
        click.echo("\n* replayed when no run is named.")
    return max((row.problem.exit_code for row in rows if row.problem), default=0)


def _print(report: RunReport, *, quiet: bool, verbose: bool, what_if: str) -> None:
    one = report.episodes[0] if len(report.episodes) == 1 else None
    if not quiet and one is not None and one.trajectory is not None:
        click.echo(text.trajectory(one.trajectory))
        click.echo("\n" + shown_episodes.result_table(one, _overrides(one.run) or {}) + "\n")
    elif not quiet and one is None:
        _print_rows(report)
    for episode in report.episodes:
        for problem in episode.problems:
            click.echo(f"{episode.kind}: {lines(_words(problem, verbose))}", err=True)
    click.echo(shown_episodes.summary(report.episodes, what_if))
    if report.others:
        fit = "recording fits" if report.others == 1 else "recordings fit"
        click.echo(f"{report.others} other {fit}; --all replays them.")


def _print_rows(report: RunReport) -> None:
    """Print one line per episode, and per run its conditions."""
    click.echo(shown_episodes.rows(report.episodes) + "\n")
    for run in dict.fromkeys(episode.run for episode in report.episodes):
        if (overrides := _overrides(run)) is not None:
            of_run = [episode for episode in report.episodes if episode.run == run]
            click.echo(lines(shown_episodes.run_line(run, of_run, overrides)))
    click.echo()


def _message(episode: EpisodeReport, verbose: bool) -> str:
    return "\n".join(_words(problem, verbose) for problem in episode.problems)


def _words(problem: ReactReproError, verbose: bool) -> str:
    return describe(problem.mismatch, verbose=verbose) if isinstance(problem, CassetteMiss) else str(problem)


def _data(report: RunReport) -> dict[str, object]:
    return {
        "episodes": [shown_episodes.as_dict(episode, _overrides(episode.run)) for episode in report.episodes],
        "others": report.others,
        "exit_code": report.exit_code,
    }


def _overrides(run: Run) -> dict[str, object] | None:
    from ..runs.listing import overrides

    try:
        return overrides(run.config)
    except ReactReproError:
        return None  # the run's own problem is reported with its episodes
