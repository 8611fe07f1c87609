"""`sweep`."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from ..errors import DiskError, Usage
from ..runs.shards import Shard
from . import options

_FILE = click.Path(dir_okay=False, path_type=Path)
_SETTINGS = {"samples": "--n", "threshold": "--threshold", "max_steps": "--max-steps"}


@click.command()
@click.argument("task")
@options.several
@click.option("--n", "--samples", "samples", metavar="VALUES", help="The vote over so many samples: 1,3,5-21, or all.")
@click.option("--threshold", metavar="VALUES", help="So many votes trusted, before ReAct is asked: 1-11, or all.")
@click.option("--max-steps", metavar="VALUES", help="The step limit: 1-7, or all.")
@click.option("--csv", "csv_", type=_FILE, metavar="FILE", help="Write the table as CSV.")
@click.option("--svg", type=_FILE, metavar="FILE", help="Write a chart as SVG.")
@options.divided
@options.locations
@options.as_json
@click.option("--quiet", "-q", is_flag=True, help="Print the table and the problems only.")
def sweep(
    *,
    task: str,
    method: tuple[str, ...],
    run: tuple[str, ...],
    samples: str | None,
    threshold: str | None,
    max_steps: str | None,
    level: float,
    csv_: Path | None,
    svg: Path | None,
    shard: Shard,
    jobs: int | None,
    cassettes: tuple[Path, ...],
    wiki_snapshot: tuple[Path, ...],
    json_: bool,
    quiet: bool,
) -> int:
    """Compute from the recordings of TASK what other settings would have come to: one setting, many values.

    One of --n, --threshold and --max-steps says which; all values is every whole one up to the recorded one. Each
    episode is replayed once, and no call is made. A row is computed, not recorded: no run was made with its value.

    \b
    Examples:
      reactrepro sweep pelm --method cot_sc --n 1,3,5-21 --csv votes.csv --svg votes.svg
      reactrepro sweep pelm --max-steps all
    """
    from ..cassettes.write import replace_file
    from ..report import sweeps
    from ..results import write_table
    from ..runs import sweep as sweeping
    from ..runs.evaluate import runs_of

    asked = {"samples": samples, "threshold": threshold, "max_steps": max_steps}
    given = {name: words for name, words in asked.items() if words is not None}
    if len(given) != 1:
        raise Usage(f"say which setting is swept: exactly one of {', '.join(_SETTINGS.values())}.")
    ((setting, words),) = given.items()
    values = sweeping.values_of(words, whole=setting != "threshold")
    found = options.layered(cassettes, wiki_snapshot)
    runs = runs_of(found, task, method, run)
    watch = partial(options.progress, silent=quiet or json_)
    report = sweeping.sweep(runs, found, setting, values, watch, level=level, shard=shard, jobs=jobs)
    if csv_ is not None:
        write_table(csv_, sweeps.columns(report))
    if svg is not None:
        try:
            replace_file(svg, sweeps.chart(report))
        except OSError as error:
            raise DiskError.of(error) from error
    if json_:
        options.echo_json(sweeps.as_dict(report))
        return report.exit_code
    options.echo_problems(report.problems)
    click.echo(sweeps.table(report, quiet=quiet))
    return report.exit_code
