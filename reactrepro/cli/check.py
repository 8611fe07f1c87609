"""`check`: the gate."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import DiskError, Usage
from ..report import episodes as shown_episodes
from ..report import findings
from ..visible import lines
from . import options
from .replay import overrides_of, print_rows

if TYPE_CHECKING:
    from ..report.checked import CheckReport

FORMATS = ("text", "json", "junit", "github", "gitlab")
PARTS = ("prompts", "wiki", "secrets")

SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"


@click.command()
@click.argument("path", required=False, type=click.Path(exists=True, path_type=Path))
@click.option("--only", type=click.Choice(PARTS), help="One part, without a replay: fast.")
@click.option("--max-age", type=click.IntRange(0, 36_500), metavar="DAYS", help="Older recordings are a problem.")
@click.option("--allow-stale", is_flag=True, help="Accepted, not yet recorded: no problem.")
@click.option("--no-secret", multiple=True, metavar="HASH", help="What looks like a secret and is none; repeatable.")
@options.jobs
@click.option("--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True)
@options.locations
@options.as_json
@options.quiet
@options.verbose
def check(
    *,
    path: Path | None,
    only: Any,
    max_age: int | None,
    allow_stale: bool,
    no_secret: tuple[str, ...],
    jobs: int | None,
    format_: str,
    cassettes: tuple[Path, ...],
    wiki_snapshot: tuple[Path, ...],
    json_: bool,
    quiet: bool,
    verbose: bool,
) -> int:
    """Check everything and report by class; exit 0 only if all is well.

    PATH is one recording (0.yaml), a run's folder, or any folder above; without it, every recording at hand is
    checked. All are replayed; prompts are compared with prompts.lock, if the project has one; pages with what the
    recordings read; and nothing may look like a secret. What many recordings share is told once.

    \b
    Classes: ok; accepted, not yet recorded; prompt changed, request changed,
    outcome changed, page changed, tape differs, left over, too old, prompt not
    locked, lock without prompt (1); missing (3); infra error (4); corrupt,
    newer format, secret (5). Warnings: unused page, age unknown.

    \b
    --format junit: JUnit XML. github: annotations, and a summary where
    GITHUB_STEP_SUMMARY is set. gitlab: Code Quality. docs/gate.md has the rest.
    """
    from ..runs.check import Asked, examine

    found = options.layered(cassettes, wiki_snapshot)
    asked = Asked(only=only, max_age=max_age, allow_stale=allow_stale, no_secrets=frozenset(no_secret), jobs=jobs)
    if json_ and format_ not in {"text", "json"}:
        raise Usage(f"--json and --format {format_} exclude each other.")
    format_ = "json" if json_ else format_
    silent = quiet or format_ != "text"
    report = examine(path, found, asked, lambda items: options.progress(items, None, silent))
    _WRITERS[format_](report, quiet, verbose)
    return report.exit_code


def _text(report: CheckReport, quiet: bool, verbose: bool) -> None:
    for row in _rows(report, quiet, verbose):
        click.echo(row)
    if not quiet and not report.only:
        print_rows(report.episodes)
    if not quiet:
        click.echo(lines(findings.provenance(report)))
    click.echo(findings.closing(report))


def _rows(report: CheckReport, quiet: bool, verbose: bool) -> list[str]:
    shown = [finding for finding in report.findings if not (quiet and finding.is_warning)]
    prefix = {True: "warning: ", False: ""}
    return [
        f"{prefix[finding.is_warning]}{finding.kind}: {lines(findings.block(finding, verbose=verbose))}\n"
        for finding in shown
    ]


def _json(report: CheckReport, _quiet: bool, _verbose: bool) -> None:
    prices = options.prices()
    rows = [shown_episodes.as_dict(episode, overrides_of(episode.run), prices) for episode in report.episodes]
    options.echo_json({"episodes": rows, "others": 0, **findings.as_dict(report)})


def _junit(report: CheckReport, _quiet: bool, _verbose: bool) -> None:
    from ..report.junit import junit

    click.echo(junit(report), nl=False)


def _github(report: CheckReport, quiet: bool, verbose: bool) -> None:
    from ..report import github

    words = [*_rows(report, quiet, verbose), lines(findings.provenance(report)), findings.closing(report)]
    click.echo(github.quiet("\n".join(words)), nl=False)
    click.echo(github.workflow_commands(report, _base("GITHUB_WORKSPACE")), nl=False)
    if file := os.environ.get(SUMMARY_VARIABLE):
        try:
            with open(file, "a", encoding="utf-8", newline="\n") as summary:
                summary.write(github.summary(report))
        except OSError as error:
            raise DiskError.of(error) from error


def _gitlab(report: CheckReport, _quiet: bool, _verbose: bool) -> None:
    from ..report.gitlab import code_quality

    click.echo(code_quality(report, _base("CI_PROJECT_DIR")))
    if report.exit_code:  # the report goes to a file; the log is for people
        click.echo(findings.closing(report), err=True)


def _base(variable: str) -> str:
    """Return the current folder as seen from the repository's root, which *variable* names; "" where it is the root."""
    root, here = os.environ.get(variable), Path.cwd()
    if not root or not here.is_relative_to(Path(root).resolve()):
        return ""
    below = here.relative_to(Path(root).resolve()).as_posix()
    return "" if below == "." else f"{below}/"


_WRITERS = {"text": _text, "json": _json, "junit": _junit, "github": _github, "gitlab": _gitlab}
