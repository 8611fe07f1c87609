"""`score`, `compare` and `merge`."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path

import click

from ..errors import Usage
from ..report import comparisons, scores
from ..report.text import counted
from ..runs.shards import WHOLE, Shard
from ..visible import lines
from . import options

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command()
@click.argument("task")
@options.several
@click.option("--csv", "csv_", type=_FILE, metavar="FILE", help="Write the table as CSV, one row per run.")
@click.option(
    "--results",
    type=_FILE,
    metavar="FILE",
    help="Write the results, one episode a line: JSON Lines, which are carried on where they stand, or CSV where the "
    "name ends in .csv.",
)
@click.option(
    "--from",
    "from_",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    multiple=True,
    metavar="FILE",
    help="Score the results in FILE instead of replaying; may be repeated, for shards.",
)
@options.what_ifs
@options.divided
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
    from_: tuple[Path, ...],
    max_steps: int | None,
    samples: int | None,
    threshold: float | None,
    shard: Shard,
    jobs: int | None,
    cassettes: tuple[Path, ...],
    wiki_snapshot: tuple[Path, ...],
    json_: bool,
    quiet: bool,
) -> int:
    """Score everything that is recorded of TASK: one row per run, from replays, without network and key.

    EM, F1 and the task's further measures are means over the judged episodes: those that finished or ran out of steps.
    What is missing, failed, was filtered or no longer replays as recorded is counted apart, and the exit code says so.
    docs/scoring.md explains each number.

    --n, --threshold and --max-steps compute what other settings would have come to; `reactrepro sweep` does that for
    many values. A file of results is carried on: what it holds of these recordings is not computed again.

    \b
    Examples:
      reactrepro score hotpotqa
      reactrepro score pelm --run gemma-3-270m --results pelm.jsonl
      reactrepro score pelm --shard 1/4 --results pelm-1.jsonl
      reactrepro score pelm --from pelm-1.jsonl --from pelm-2.jsonl
    """
    from ..results import merge, write, write_table
    from ..runs import evaluate
    from ..runs import score as scoring
    from ..runs.what_if import AS_RECORDED, WhatIf

    what_if = WhatIf(max_steps, samples, threshold)
    if from_:
        if what_if != AS_RECORDED or shard != WHOLE or results is not None or cassettes or wiki_snapshot:
            raise Usage("--from scores what a file says: nothing is replayed, varied, divided or written to --results.")
        report = scoring.score_kept(task, merge(from_), methods=method, names=run, level=level)
    else:
        found = options.layered(cassettes, wiki_snapshot)
        runs = evaluate.runs_of(found, task, method, run, what_if)
        kept = results if results is not None and results.suffix.lower() != ".csv" else None
        watch = partial(options.progress, silent=quiet or json_)
        replayed = evaluate.replayed(runs, found, watch, what_if=what_if, shard=shard, jobs=jobs, results=kept)
        report = scoring.score(task, replayed, level=level, shard=shard)
        if results is not None and kept is None:
            write(results, (result for one in replayed for result in one.results))
        if not (quiet or json_) and (resumed := sum(one.resumed for one in replayed)):
            click.echo(f"{counted(resumed, 'episode')} of {results} not computed again.", err=True)
    if csv_ is not None:
        write_table(csv_, scores.columns(report.scores))
    if json_:
        options.echo_json(scores.as_dict(report, options.prices()))
        return report.exit_code
    options.echo_problems(report.problems)
    click.echo(scores.grid(report.scores) if quiet else scores.table(report, options.prices()))
    return report.exit_code


@click.command()
@click.argument("first")
@click.argument("second")
@click.option("--task", metavar="NAME", help="The task, where the names of the runs do not tell.")
@click.option("--common", is_flag=True, help="Leave out what only one of the two has judged, instead of refusing.")
@click.option("--resamples", default=10_000, show_default=True, help="Resamples of the bootstrap.")
@click.option("--seed", default=233, show_default=True, help="Seed of the bootstrap.")
@options.level
@options.jobs
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
    jobs: int | None,
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
    from ..runs.evaluate import replayed

    found = options.layered(cassettes, wiki_snapshot)
    runs = [comparing.run_named(found.library, words, task) for words in (first, second)]
    watch = partial(options.progress, silent=quiet or json_)
    one, other = (replayed([run], found, watch, jobs=jobs)[0] for run in runs)
    result = comparing.compare(one, other, common=common, resamples=resamples, seed=seed, level=level)
    if json_:
        options.echo_json(comparisons.as_dict(result))
    else:
        click.echo(comparisons.table(result, flips=not quiet))
    return 0


@click.command()
@click.argument("file", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--output", "-o", type=_FILE, metavar="FILE", help="Write here; CSV where the name ends in .csv.")
def merge(*, file: tuple[Path, ...], output: Path | None) -> int:
    """Put files of results together, such as shards, in one order. Without -o they are printed.

    An episode that stands in several FILEs counts once. Refused are files that say different things of one episode,
    and files from different recordings, scoring rules or versions of reactrepro.

    \b
    Example:
      reactrepro merge pelm-1.jsonl pelm-2.jsonl -o pelm.jsonl
    """
    from ..results import line, write
    from ..results import merge as merged

    results = merged(file)
    if output is None:
        for result in results:
            click.echo(line(result).decode("ascii"), nl=False)
        return 0
    write(output, results)
    counts = Counter(result.label for result in results)
    for label, count in counts.items():
        click.echo(f"{lines(label)}: {counted(count, 'episode')}")
    click.echo(f"{counted(len(results), 'result')} of {counted(len(file), 'file')} in {output}.")
    return 0
