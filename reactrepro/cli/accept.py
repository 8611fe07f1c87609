"""`accept`: agree to prompts as they are now."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import DiskError, Usage
from ..report import text
from ..visible import escaped, lines
from . import options

if TYPE_CHECKING:
    from ..runs.accept import Acceptance, Change


@click.command()
@click.argument("name", nargs=-1)
@click.option("--dry-run", is_flag=True, help="Show what would be accepted, and write nothing.")
@options.locations
@options.as_json
def accept(
    *,
    name: tuple[str, ...],
    dry_run: bool,
    cassettes: tuple[Path, ...],
    wiki_snapshot: tuple[Path, ...],
    json_: bool,
) -> int:
    """Agree to prompts as they are now: write their hashes into ./prompts.lock.

    NAME is a prompt (hotpotqa/paper/react) or the beginning of its name (hotpotqa); without it, all prompts of the
    project are accepted: those in its own folders, and the packaged ones that its recordings were made with.

    From the first `accept` on, a prompt that changed fails `reactrepro check` until somebody accepts it. Accepting
    needs no key: recordings made with the old prompt are then "accepted, not yet recorded", until somebody who has a
    key records them again. Where CI is set nothing is accepted: a change is agreed to by people, and committed.

    \b
    Examples:
      reactrepro accept --dry-run
      reactrepro accept hotpotqa/paper/react
    """
    from ..runs.accept import accept as run_accept

    if os.environ.get("CI") and not dry_run:
        raise Usage(
            "CI is set: prompts are compared here, never accepted. Run `reactrepro accept` on your own machine, read "
            "the diff, commit prompts.lock."
        )
    found = options.layered(cassettes, wiki_snapshot)
    try:
        done = run_accept(name, found, Path.cwd().resolve(), dry_run=dry_run)
    except OSError as error:
        raise DiskError.of(error) from error
    if json_:
        options.echo_json(_data(done))
    else:
        _print(done)
    return 0


def _print(done: Acceptance) -> None:
    for change in done.changes:
        click.echo(f"{change.what}: {escaped(change.name)}")
        click.echo(text.indented(text.table(_hashes(change))))
        if change.diff:
            click.echo(text.indented(lines(change.diff.rstrip("\n")), 4))
        if change.stale and change.now is not None:
            many = text.counted(change.stale, "recording")
            click.echo(f"  {many} made with another prompt: from now on accepted, not yet recorded.")
        click.echo()
    if not done.changes and not done.prompts:
        click.echo("nothing to accept: this project has no prompts and no recordings of its own.")
        return
    if not done.changes:
        click.echo(f"{done.file} holds these prompts as they are: nothing to accept.")
        return
    count = text.counted(len(done.changes), "change")
    if done.written:
        click.echo(f"{done.file}: {count} accepted; it holds {text.counted(done.prompts, 'prompt')}.")
    else:
        click.echo(f"{done.file} was not written: {count} would be accepted.")


def _hashes(change: Change) -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = [("locked", change.locked or "-")]
    rows += [("recorded", f"{sha256} ({text.counted(n, 'recording')})") for sha256, n in change.recorded.items()]
    return [*rows, ("now", change.now or "-")]


def _data(done: Acceptance) -> dict[str, Any]:
    return {
        "file": done.file,
        "written": done.written,
        "prompts": done.prompts,
        "changes": [
            {
                "name": change.name,
                "what": change.what,
                "locked": change.locked,
                "recorded": dict(change.recorded),
                "now": change.now,
                "stale_recordings": change.stale,
                "diff": change.diff or None,
            }
            for change in done.changes
        ],
    }
