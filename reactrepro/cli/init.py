"""`init`."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path

import click

from ..visible import escaped
from . import options


@click.command()
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(path_type=Path))
@click.option("--ci", type=click.Choice(["github", "gitlab"]), help="Add a workflow: the gate, and a recording job.")
@click.option("--name", default="mine", show_default=True, metavar="NAME", help="Name of your own prompt.")
@click.option("--install", metavar="TEXT", help="What CI hands to pip; default: this version of reactrepro.")
@click.option("--dry-run", is_flag=True, help="Say what would be written, and write nothing.")
@options.as_json
@options.quiet
def init(
    *, folder: Path, ci: str | None, name: str, install: str | None, dry_run: bool, json_: bool, quiet: bool
) -> int:
    """Make a project: a prompt of your own, a recording that locks it, a test, and a gate for CI.

    DIR is made if it does not exist; without it, the current folder is used. A file that is there already is never
    written to. What comes of it is green at once, offline: `reactrepro check cassettes`, and pytest.

    \b
    Written: prompts/hotpotqa/NAME/ (the paper's prompt, to be edited),
    cassettes/ and wiki_snapshot/ (the published episode, copied),
    tests/test_recordings.py, pytest.ini, .gitattributes, NOTICE.md, and with
    --ci .github/workflows/reactrepro.yml or .gitlab-ci.yml.

    \b
    Examples:
      reactrepro init my-agent --ci github
      reactrepro init --dry-run
    """
    from ..runs.init import init as run_init

    made = run_init(folder, name=name, ci=ci, install=install, dry_run=dry_run)
    if json_:
        options.echo_json({"folder": str(folder), "dry_run": dry_run, "files": [asdict(one) for one in made]})
        return 0
    for one in made:
        if one.state == "left":
            click.echo(escaped(f"left {one.path}: {one.hint}."))
        elif not quiet:
            click.echo(f"{'would write' if dry_run else 'wrote'} {one.path}")
    if not dry_run and not quiet:
        where = "" if folder == Path() else f"cd {shlex.quote(str(folder))} && "
        click.echo(f"\nCheck it: {where}reactrepro check cassettes")
    return 0
