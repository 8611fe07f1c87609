"""Options that several commands share, and how a command ends."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from ..data.subsets import SUBSETS
from ..errors import ReactReproError, Usage
from ..price import Price
from ..runs.picks import Pick
from ..runs.roots import Sources, sources
from ..runs.shards import Shard
from ..visible import lines

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

MANY = 20
"""From so many episodes on, a progress bar is shown where there is a terminal."""

_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


def locations(command: F) -> F:
    """Add --cassettes and --wiki-snapshot."""
    command = click.option(
        "--wiki-snapshot",
        multiple=True,
        type=_FOLDER,
        metavar="DIR",
        help="Wiki snapshot laid over ./wiki_snapshot and the packaged one (also: REACTREPRO_WIKI_SNAPSHOT).",
    )(command)
    return click.option(
        "--cassettes",
        multiple=True,
        type=_FOLDER,
        metavar="DIR",
        help="Recordings laid over ./cassettes and the packaged ones (also: REACTREPRO_CASSETTES).",
    )(command)


def as_json(command: F) -> F:
    """Add --json."""
    return click.option("--json", "json_", is_flag=True, help="Print the result as JSON.")(command)


def quiet(command: F) -> F:
    """Add --quiet."""
    return click.option("--quiet", "-q", is_flag=True, help="Print only the summary line and the problems.")(command)


def verbose(command: F) -> F:
    """Add --verbose."""
    return click.option("--verbose", "-v", is_flag=True, help="Say everything about a problem.")(command)


def filters(command: F) -> F:
    """Add --method and --run."""
    command = click.option("--run", metavar="NAME", help="Only this run.")(command)
    return click.option("--method", metavar="NAME", help="Only this method (react, ...).")(command)


def what_ifs(command: F) -> F:
    """Add --max-steps, --samples and --threshold."""
    for option in (
        click.option("--threshold", type=Finite(0), help="What if so many votes were trusted (back-offs)."),
        click.option(
            "--samples",
            "--n",
            "samples",
            type=click.IntRange(1),
            help="What if the vote were over the first ones only.",
        ),
        click.option("--max-steps", type=click.IntRange(1), help="What if the step limit were smaller."),
    ):
        command = option(command)
    return command


def divided(command: F) -> F:
    """Add --shard and --jobs."""
    return click.option(
        "--shard", type=Sharded(), metavar="I/N", default="1/1", help="Only the I-th of N equal parts of the episodes."
    )(jobs(command))


def jobs(command: F) -> F:
    """Add --jobs."""
    said = "Processes to divide the work among (default: as pays)."
    return click.option("--jobs", type=click.IntRange(1), metavar="N", help=said)(command)


class Sharded(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions only
    """A shard, as ``2/4``."""

    name = "shard"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Shard:
        """Return the shard; what is none is a usage error."""
        try:
            return value if isinstance(value, Shard) else Shard.read(value)
        except Usage as error:
            self.fail(str(error), param, ctx)


def prompt(text: str) -> Callable[[F], F]:
    """Return what adds --prompt, described by *text*: a name, a file or a folder (`prompts.choice`)."""
    return click.option("--prompt", metavar="NAME|FILE|DIR", help=text)


def picks(command: F) -> F:
    """Add --subset, --ids, --seed and --limit: `pick` reads them."""
    for option in (
        click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N of them."),
        click.option("--seed", type=int, metavar="N", help="Shuffle them with this seed."),
        click.option(
            "--ids",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            metavar="FILE",
            help="Those that this file lists: an index or a data set's id on each line.",
        ),
        click.option("--subset", type=click.Choice(list(SUBSETS)), help="A known subset: the paper code's own 500."),
    ):
        command = option(command)
    return command


def pick(words: Iterable[str], given: Mapping[str, Any]) -> Pick:
    """Return which questions the user asks for.

    Args:
        words: indexes and ranges, as typed.
        given: the values of the options that `picks` adds, among others.
    """
    return Pick(tuple(words), given["subset"], given["ids"], given["seed"], given["limit"])


def several(command: F) -> F:
    """Add --method and --run, either of which may be repeated, and --level."""
    command = level(command)
    command = click.option("--run", multiple=True, metavar="NAME", help="Only runs of this name; may be repeated.")(
        command
    )
    return click.option("--method", multiple=True, metavar="NAME", help="Only this method; may be repeated.")(command)


def level(command: F) -> F:
    """Add --level."""
    said = "Confidence level of the intervals."
    return click.option("--level", default=0.95, show_default=True, help=said)(command)


def echo_problems(problems: Iterable[ReactReproError]) -> None:
    """Print each problem with its class, on the error stream."""
    for problem in problems:
        click.echo(f"{problem.kind}: {lines(str(problem))}", err=True)


def layered(cassettes: Iterable[Path], wiki_snapshot: Iterable[Path]) -> Sources:
    """Return the sources that the two options name, over the ones that are found without them."""
    return sources(tuple(cassettes), tuple(wiki_snapshot))


def prices(given: Path | None = None) -> Mapping[str, Price]:
    """Return what models cost: the packaged table, under that of the environment, under the file *given*.

    Raises:
        Usage, Corrupt: a file of the user's cannot be read.
    """
    from ..data import prices as table

    named = os.environ.get(table.VARIABLE, "")
    return table.prices([*([Path(named)] if named else []), *([given] if given else [])])


def echo_json(data: Any) -> None:
    """Print *data* as JSON. ASCII, so that no console can spoil it."""
    click.echo(json.dumps(data, ensure_ascii=True, indent=2))


def watched() -> bool:
    """Tell whether somebody watches the error stream, which may be closed (`2>&-`)."""
    return sys.stderr is not None and sys.stderr.isatty()


class Finite(click.FloatRange):
    """A number that is one: no `nan`, no `inf`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Refuse what is no finite number in the range."""
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value!r} is no finite number.", param, ctx)
        return number


def progress(items: Iterable[T], length: int | None, silent: bool) -> Iterator[T]:
    """Yield *items*, with a progress bar on the error stream where somebody watches and waits."""
    if silent or (length is not None and length < MANY) or not watched():
        yield from items
        return
    with click.progressbar(items, length=length, label="replaying", file=sys.stderr) as bar:
        yield from bar
