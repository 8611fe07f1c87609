"""`score` and `compare`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from ..report import comparisons, scores
from ..visible import lines
from . import options

_FILE = click.Path(dir_okay=False, path_type=Path)
_LEVEL = click.option("--level", default=0.95, show_default=True, help="Confidence level of the intervals.")


@click.command()
@click.argument("task")
@click.option("--method", multiple=True, metavar="NAME", help="Only this method; may be repeated.")
@click.option("--run", multiple=True, metavar="NAME", help="Only runs of this name; may be repeated.")
@_LEVEL
@click.option("--csv", "csv_", type=_FILE, metavar="FILE", help="Write the table as CSV, one row per run.")
@click.option(
    "--results",
    type=_FILE,
    metavar="FILE",
    help="Write the results, one episode a line: JSON Lines, or CSV where the name ends in .csv.",
)
@options.locations
@options.as_json
@click.option("--quiet", "-q", is_flag=True, help="Print the table and the problems only.")
def score(
    *,
    task: str,
    method: tuple[str, ...],
    run: tuple[str, ...],
    level: float,
    csv_: Path | None,
    results: Path | None,
    cassettes: tuple[Path, ...],
    wiki_snapshot: tuple[Path, ...],
    json_: bool,
    quiet: bool,
) -> int:
    """Score everything that is recorded of TASK: one row per run, from replays, without network and key.

    EM, F1 and the task's further measures are means over the judged episodes: those that finished or ran out of steps.
    What is missing, failed, was filtered or no longer replays as recorded is counted apart, and the exit code says so.
    docs/scoring.md explains each number.

    \b
    Examples:
      reactrepro score hotpotqa
      reactrepro score pelm --run gemma-3-270m --results pelm.jsonl
    """
    from ..results import write, write_table
    from ..runs import score as scoring

    found = options.layered(cassettes, wiki_snapshot)
    runs = scoring.runs_of(found, task, method, run)
    replayed = scoring.replayed(runs, found, partial(options.progress, silent=quiet or json_))
    report = scoring.score(task, replayed, level=level)
    if results is not None:
        write(results, (result for one in replayed for result in one.results))
    if csv_ is not None:
        write_table(csv_, scores.columns(report.scores))
    if json_:
        options.echo_json(scores.as_dict(report))
        return report.exit_code
    for problem in report.problems:
        click.echo(f"{problem.kind}: {lines(str(problem))}", err=True)
    click.echo(scores.grid(report.scores) if quiet else scores.table(report))
    return report.exit_code


@click.command()
@click.argument("first")
@click.argument("second")
@click.option("--task", metavar="NAME", help="The task, where the names of the runs do not tell.")
@click.option("--common", is_flag=True, help="Leave out what only one of the two has judged, instead of refusing.")
@click.option("--resamples", default=10_000, show_default=True, help="Resamples of the bootstrap.")
@click.option("--seed", default=233, show_default=True, help="Seed of the bootstrap.")
@_LEVEL
@options.locations
@options.as_json
@click.option("--quiet", "-q", is_flag=True, help="Do not list the questions that flipped.")
def compare(
    *,
    first: str,
    second: str,
    task: str | None,
    common: bool,
    resamples: int,
    seed: int,
    level: float,
    cassettes: tuple[Path, ...],
    wiki_snapshot: tuple[Path, ...],
    json_: bool,
    quiet: bool,
) -> int:
    """Compare two runs question by question.

    FIRST and SECOND are runs: task/method/run, method/run, or a run's name where that is enough. Both have to have
    judged the same questions, told by key and text; what is in one only is named, and nothing is compared then.

    Reported are McNemar's exact test, the mean differences (second minus first) with their bootstrap intervals, every
    question that flipped, and what differs in the configuration.

    \b
    Example:
      reactrepro compare pelm/react/gemma-3-270m pelm/react/smollm2-135m-instruct
    """
    from ..runs import compare as comparing
    from ..runs.score import replayed

    found = options.layered(cassettes, wiki_snapshot)
    runs = [comparing.run_named(found.library, words, task) for words in (first, second)]
    watch = partial(options.progress, silent=quiet or json_)
    one, other = (replayed([run], found, watch)[0] for run in runs)
    result = comparing.compare(one, other, common=common, resamples=resamples, seed=seed, level=level)
    if json_:
        options.echo_json(comparisons.as_dict(result))
    else:
        click.echo(comparisons.table(result, flips=not quiet))
    return 0
