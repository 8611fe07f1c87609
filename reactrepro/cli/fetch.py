"""`fetch`: data sets and the paper's prompts, once, into the user's data folder."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..errors import DiskError
from ..report import text
from ..visible import lines
from . import options

if TYPE_CHECKING:
    from ..data.install import Installed
    from ..data.paper_prompts import InstalledPrompt

F = TypeVar("F", bound=Callable[..., Any])


@click.group()
def fetch() -> None:
    """Fetch data sets and the paper's prompts, check them, and keep them.

    They are kept in the folder that REACTREPRO_DATA names, else where the system keeps a user's data (`fetch list`
    says where). What is there already is checked and not fetched again. No replay needs any of it. docs/data.md tells
    it all.
    """


@fetch.command("list")
@options.as_json
def list_(json_: bool) -> int:
    """Show what can be fetched, and what is there."""
    from ..data import paper_prompts
    from ..data.catalogue import FILES
    from ..data.folder import PROMPTS, data_folder
    from ..data.rows import place

    folder = data_folder()
    rows = [
        (file.command, file.name, f"{file.rows:,} rows", place(file, folder).is_file())
        for files in FILES.values()
        for file in files
    ]
    there = paper_prompts.present(paper_prompts.FEVER, folder / PROMPTS) is not None
    rows.append(("reactrepro fetch prompts", "the paper's prompts for FEVER", "4 prompts", there))
    if json_:
        names = ("command", "name", "holds", "there")
        options.echo_json({"folder": str(folder), "files": [dict(zip(names, row, strict=True)) for row in rows]})
        return 0
    shown = [(*row[:3], "yes" if row[3] else "no") for row in rows]
    click.echo(f"{text.grid(('command', 'what', 'holds', 'there'), shown)}\n\nfolder: {lines(str(folder))}")
    return 0


def _data_set(command: F) -> F:
    """Add the options that both data sets have."""
    for option in (
        options.quiet,
        options.as_json,
        click.option(
            "--mirror", multiple=True, metavar="URL", help="Ask here, not at the known addresses; repeatable."
        ),
        click.option(
            "--from",
            "local",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            metavar="FILE",
            help="Take it from this file; no network is used.",
        ),
    ):
        command = option(command)
    return command


@fetch.command()
@click.option(
    "--file",
    "files",
    multiple=True,
    type=click.Choice(["simplified", "distractor", "fullwiki"]),
    help="Which file, repeatable; default: simplified, or what --from is.",
)
@_data_set
def hotpotqa(**given: Any) -> int:
    """Fetch HotpotQA's development set: 7,405 questions.

    `simplified` is the file of the ReAct paper's code, 1.2 MB: all that an agent needs. `distractor` and `fullwiki`
    are the official ones, some 46 MB each: the same questions with the data set's own ids, which recordings then name.

    \b
    Examples:
      reactrepro fetch hotpotqa
      reactrepro fetch hotpotqa --from ~/Downloads/hotpot_dev_distractor_v1.json
    """
    return _fetch("hotpotqa", **given)


@fetch.command()
@_data_set
def fever(**given: Any) -> int:
    """Fetch FEVER's paper_dev.jsonl: 9,999 claims, as the ReAct paper's code reads them."""
    return _fetch("fever", files=(), **given)


@fetch.command()
@click.argument("source", nargs=-1, metavar="[PATH_OR_URL]...")
@options.as_json
@options.quiet
def prompts(*, source: tuple[str, ...], json_: bool, quiet: bool) -> int:
    """Install the paper's own FEVER prompts; then `--prompt paper` finds them.

    PATH_OR_URL is fever.json or prompts_naive.json of the released code, or a folder that holds them, such as a clone
    of it; without one, fever.json is fetched. The file and each prompt in it have to have the known SHA-256. The
    prompts for HotpotQA come with the package; those of prompts_naive.json are compared with them.
    """
    from ..data.folder import data_folder
    from ..data.paper_prompts import fetch as run

    with _Progress(silent=quiet or json_) as progress:
        try:
            done, notice = run(source, data_folder(), progress=progress)
        except OSError as error:
            raise DiskError.of(error) from error
    if json_:
        options.echo_json(
            {"prompts": [_prompt(one) for one in done], "notice": str(notice) if notice.exists() else None}
        )
        return 0
    head = ("prompt", "", "sha256")
    click.echo(text.grid(head, [(f"{one.task}/paper/{one.method}", _SAID[one.state], one.sha256) for one in done]))
    if not quiet and any(one.path for one in done):
        from ..data.notice import terms

        click.echo(f"\nIn {lines(str(notice.parent))}\n\n{terms(('react', 'fever'))}\n  kept in {lines(str(notice))}")
    return 0


_SAID = {
    "packaged": "comes with the package",
    "present": "there already, as released",
    "installed": "installed",
    "replaced": "installed in place of another",
}


def _fetch(
    data_set: str, *, files: tuple[str, ...], local: Path | None, mirror: tuple[str, ...], json_: bool, quiet: bool
) -> int:
    from ..data.catalogue import FILES
    from ..data.folder import data_folder
    from ..data.install import called, install, recognized

    if local is not None and (mirror or len(files) > 1):
        raise click.UsageError("--from takes one file, and no --mirror.")
    if mirror and len(files) > 1:
        raise click.UsageError("--mirror is an address of one file; name one --file.")
    chosen = [called(data_set, short) for short in dict.fromkeys(files)]
    if not chosen:
        chosen = [recognized(data_set, local) if local is not None else FILES[data_set][0]]
    done = []
    with _Progress(silent=quiet or json_) as progress:
        for file in chosen:
            try:
                made = install(file, data_folder(), local=local, mirrors=mirror, progress=progress)
            except OSError as error:
                raise DiskError.of(error) from error
            progress.end()
            done.append(made)
            if not json_:
                _print(made, quiet=quiet)
    if json_:
        options.echo_json([_data(made) for made in done])
    return 0


def _print(made: Installed, *, quiet: bool) -> None:
    from ..data.notice import terms

    said = {"present": "there already, and right; nothing was fetched", "installed": "installed"}
    what = said.get(made.state, "installed in place of another file")
    click.echo(f"{made.file.data_set}/{made.file.name}: {what}; {made.file.rows:,} rows.")
    if quiet:
        return
    rows = [("path", made.path), ("bytes", f"{made.size:,}"), ("sha256", made.sha256), ("", f"({_vouched(made)})")]
    if made.source is not None:
        rows.append(("from", made.source))
    click.echo(lines(f"{text.table(rows)}\n\n{terms(made.file.terms)}\n  kept in {made.notice}"))


def _vouched(made: Installed) -> str:
    if made.file.sha256 is None:
        return "nobody published a sum to compare it with; the rows were counted"
    return f"as expected: the sum {made.file.sum_source}"


def _data(made: Installed) -> dict[str, Any]:
    return {
        "data_set": made.file.data_set,
        "file": made.file.short,
        "path": str(made.path),
        "state": made.state,
        "source": made.source,
        "rows": made.file.rows,
        "bytes": made.size,
        "sha256": made.sha256,
        "sha256_expected": made.file.sha256,
        "sha256_source": made.file.sum_source,
        "notice": str(made.notice),
        "terms": list(made.file.terms),
    }


def _prompt(one: InstalledPrompt) -> dict[str, Any]:
    return {
        "name": f"{one.task}/paper/{one.method}",
        "state": one.state,
        "path": str(one.path) if one.path else None,
        "sha256": one.sha256,
        "source": one.source,
    }


class _Progress:
    """Which address is asked, and how it goes, on stderr: a bar on a terminal, lines elsewhere."""

    def __init__(self, *, silent: bool) -> None:
        self._silent, self._come = silent, 0
        self._bar: Any = None

    def asking(self, url: str) -> None:
        """Say which address is asked."""
        self.end()
        if not self._silent:
            click.echo(f"asking {url}", err=True)

    def come(self, size: int, whole: int | None) -> None:
        """Move the bar."""
        if self._silent or whole is None or not options.watched():
            return
        if self._bar is None:
            self._bar = click.progressbar(length=whole, label="fetching", file=sys.stderr, show_eta=True, width=24)
            self._bar.__enter__()
            self._come = 0
        self._bar.update(size - self._come)
        self._come = size

    def failed(self, url: str, why: str) -> None:
        """Say why an address did not bring the file."""
        self.end()
        if not self._silent:
            click.echo(lines(f"  not from there: {why}"), err=True)

    def end(self) -> None:
        """Leave the bar's line, if there is one."""
        if self._bar is not None:
            self._bar.__exit__(None, None, None)
            self._bar = None

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()
