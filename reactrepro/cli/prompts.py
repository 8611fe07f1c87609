"""`prompts list` and `prompts show`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from .. import prompts as prompt_files
from ..domain import sha256_text
from ..report import text
from ..visible import lines
from . import options


@click.group()
def prompts() -> None:
    """List the prompts, and show the exact text that is sent."""


@prompts.command("list")
@options.prompt("Only the prompts of this name, or those of this file or folder.")
@options.as_json
def list_(*, prompt: str | None, json_: bool) -> int:
    """List every prompt file: name, characters, bytes, SHA-256 of its bytes.

    A folder ./prompts is laid over the packaged prompts: what it holds hides the packaged prompt of that name.
    """
    from ..prompts.choice import listed

    found = options.layered((), ()).prompts
    rows = prompt_files.listing(found) if prompt is None else listed(prompt, found)
    if json_:
        options.echo_json(
            [
                {"name": r.label, "characters": r.characters, "bytes": r.bytes}
                | {"sha256": r.sha256, "composed": r.composed, "files": list(r.files)}
                for r in rows
            ]
        )
        return 0
    head = ("name", "characters", "bytes", "sha256")
    click.echo(text.grid(head, [(r.label, r.characters, r.bytes, r.sha256) for r in rows]))
    return 0


@prompts.command()
@click.argument("task")
@click.argument("index", default="0")
@click.option("--round", "round_", type=click.IntRange(1), default=1, show_default=True, help="Which step's prompt.")
@click.option("--reprompt", is_flag=True, help="The second call of that step, made when the first gave no action.")
@click.option("--raw", is_flag=True, help="Write exactly the bytes that are sent, and nothing else.")
@options.prompt("Another prompt than the recorded one; its first round is shown, and whether it is the recorded one.")
@options.filters
@options.locations
@options.as_json
def show(
    *,
    task: str,
    index: str,
    round_: int,
    reprompt: bool,
    raw: bool,
    prompt: str | None,
    method: str | None,
    run: str | None,
    cassettes: tuple[Path, ...],
    wiki_snapshot: tuple[Path, ...],
    json_: bool,
) -> int:
    """Show the exact text that is sent to the model at one step of a recorded episode.

    The text is assembled by today's loop from today's prompt files and the recording's own replies and pages; it is
    the recorded text exactly when `reactrepro replay` says so. Control characters are shown as escapes unless --raw
    is given.

    \b
    Examples:
      reactrepro prompts show hotpotqa 0
      reactrepro prompts show hotpotqa 0 --round 3 --raw | sha256sum
      reactrepro prompts show hotpotqa 0 --prompt mine.txt
    """
    from ..runs.rounds import rounds

    found = options.layered(cassettes, wiki_snapshot)
    shown = rounds(found, task, index, method=method, run=run, prompt=prompt)
    turn = shown.turn(round_, reprompt=reprompt)
    if raw and sys.stdout is None:
        return shown.exit_code  # `>&-`: nobody wants it
    if raw:
        sys.stdout.flush()
        sys.stdout.buffer.write(turn.prompt.encode("utf-8"))
        sys.stdout.buffer.flush()
        return shown.exit_code
    digest = sha256_text(turn.prompt)
    if json_:
        data = {"run": shown.run, "key": shown.key, "round": round_, "reprompt": reprompt, "stop": list(turn.stop)}
        options.echo_json(data | {"characters": len(turn.prompt), "sha256": digest, "prompt": turn.prompt})
        return shown.exit_code
    rows = [
        ("run", f"{shown.run}, episode {shown.key}"),
        ("round", f"{round_} of {shown.last}{', reprompt' if reprompt else ''}"),
        ("characters", len(turn.prompt)),
        ("bytes", len(turn.prompt.encode("utf-8"))),
        ("sha256", digest),
        ("stop", ", ".join(repr(stop) for stop in turn.stop)),
    ]
    click.echo(text.table(rows) + "\n")
    click.echo(lines(turn.prompt))
    for problem in shown.problems:
        click.echo(f"\nnot as recorded: {lines(str(problem))}", err=True)
    return shown.exit_code
