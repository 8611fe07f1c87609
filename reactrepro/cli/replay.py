"""`replay` and `list`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from ..cassettes.runs import Run
from ..errors import ReactReproError
from ..report import episodes as shown_episodes
from ..report import text
from ..report.explained import words
from ..report.model import EpisodeReport, RunReport
from ..runs.shards import Shard
from ..visible import lines
from . import following, options


@click.command()
@click.argument("task", required=False)
@click.argument("index", nargs=-1)
@options.filters
@click.option("--all", "everything", is_flag=True, help="Replay every recording that fits, not only the preferred run.")
@click.option("--wire", is_flag=True, help="Send each request through the provider's SDK, answered at its transport.")
@options.what_ifs
@options.divided
@click.option("--follow", is_flag=True, help="Show each round's prompt as it would be sent now; see above.")
@options.prompt("With --follow: a prompt in place of the recorded one.")
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
    follow: bool,
    prompt: str | None,
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

    --follow shows what a changed prompt would look like before it is paid for: every round's prompt as it would be
    sent, and where it differs, with the recorded replies in recorded order. That is no result.

    \b
    Examples:
      reactrepro replay hotpotqa 0
      reactrepro replay hotpotqa 0 --follow --prompt mine.txt
      reactrepro replay pelm 0-9 --run gemma-3-270m
      reactrepro replay --all --quiet
    """
    from ..runs.replay import replay_all
    from ..runs.select import choose
    from ..runs.what_if import AS_RECORDED, WhatIf

    what_if = WhatIf(max_steps, samples, threshold)
    found = options.layered(cassettes, wiki_snapshot)
    chosen = choose(found.library, task, index, method=method, run=run, everything=everything)
    if follow:
        if len(chosen.episodes) != 1 or what_if != AS_RECORDED or wire:
            raise click.UsageError("--follow shows one episode as it was recorded: name it, and nothing else.")
        ((of, key),) = chosen.episodes
        return following.follow(of, key, found, prompt, json_=json_, verbose=verbose)
    if prompt is not None:
        raise click.UsageError("--prompt is for --follow: a recording is replayed with the prompt it was made with.")
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


@click.command("list")
@click.argument("task", required=False)
@click.option("--costs", is_flag=True, help="Tokens and cost, too: reads every recording.")
@options.locations
@options.as_json
def listing(
    *, task: str | None, costs: bool, cassettes: tuple[Path, ...], wiki_snapshot: tuple[Path, ...], json_: bool
) -> int:
    """Show the runs at hand: what was asked, how many episodes, how they came to be."""
    from ..runs.listing import runs, with_costs

    found = options.layered(cassettes, wiki_snapshot)
    rows = runs(found, task)
    if costs:
        rows = [with_costs(row, options.prices()) for row in rows]
    if json_:
        options.echo_json([row.as_dict() for row in rows])
        return max((row.problem.exit_code for row in rows if row.problem), default=0)
    if not rows:
        looked = ", ".join(map(str, found.library.roots)) or "no folder"
        click.echo(f"no recordings{f' of {task}' if task else ''}; looked in {looked}.")
        return 0
    head = ("", "task", "method", "run", "episodes", "provenance", "profile", "id", *(("tokens", "cost") * costs))
    click.echo(text.grid(head, [(*row.cells(), *(row.costs() * costs)) for row in rows]))
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
        click.echo("\n" + shown_episodes.result_table(one, overrides_of(one.run) or {}, options.prices()) + "\n")
    elif not quiet and one is None:
        print_rows(report.episodes)
    for episode in report.episodes:
        for problem in episode.problems:
            click.echo(f"{episode.kind}: {lines(words(problem, verbose=verbose))}", err=True)
    click.echo(shown_episodes.summary(report.episodes, what_if))
    if report.others:
        fit = "recording fits" if report.others == 1 else "recordings fit"
        click.echo(f"{report.others} other {fit}; --all replays them.")


def print_rows(episodes: Sequence[EpisodeReport]) -> None:
    """Print one line per episode, and per run its conditions."""
    prices = options.prices()
    click.echo(shown_episodes.rows(episodes, prices) + "\n")
    for run in dict.fromkeys(episode.run for episode in episodes):
        if (overrides := overrides_of(run)) is not None:
            of_run = [episode for episode in episodes if episode.run == run]
            click.echo(lines(shown_episodes.run_line(run, of_run, overrides, prices)))
    click.echo()


def _data(report: RunReport) -> dict[str, object]:
    prices = options.prices()
    return {
        "episodes": [shown_episodes.as_dict(episode, overrides_of(episode.run), prices) for episode in report.episodes],
        "others": report.others,
        "exit_code": report.exit_code,
    }


def overrides_of(run: Run) -> dict[str, object] | None:
    """Return the settings of *run* that differ from its profile; None where it cannot be read."""
    from ..runs.listing import overrides

    try:
        return overrides(run.config)
    except ReactReproError:
        return None  # the run's own problem is reported with its episodes
