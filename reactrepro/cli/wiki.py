"""`wiki list` and `wiki show`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import Usage, WikiSnapshotMiss, exit_code
from ..report import text
from ..visible import escaped, lines
from . import options

if TYPE_CHECKING:
    from ..wiki.entries import Entry


@click.group()
def wiki() -> None:
    """Look into the wiki snapshot: what a wiki answered, and what the agent reads of it."""


@wiki.command("list")
@click.option("--site", metavar="NAME", help="Only this wiki (enwiki, ...).")
@options.locations
@options.as_json
def list_(*, site: str | None, cassettes: tuple[Path, ...], wiki_snapshot: tuple[Path, ...], json_: bool) -> int:
    """List every query that the snapshot answers."""
    from ..wiki.entries import entries

    roots = options.layered(cassettes, wiki_snapshot).snapshots
    found = [entry for entry in entries(roots) if site is None or entry.site == site]
    if json_:
        options.echo_json([_data(entry) for entry in found])
    else:
        head = ("site", "query", "kind", "extractions", "versions", "provenance", "time")
        click.echo(text.grid(head, [_cells(entry) for entry in found if entry.versions]))
        for entry in found:
            for problem in entry.problems:
                click.echo(f"corrupt: {lines(str(problem))}", err=True)
        click.echo(f"\n{text.counted(len(found), 'query', 'queries')}.")
    return exit_code(problem for entry in found for problem in entry.problems)


@wiki.command()
@click.argument("query")
@click.option("--site", metavar="NAME", help="Which wiki (enwiki, ...); needed when several answer the query.")
@click.option("--extraction", metavar="NAME", help="Which text: article or original; default: the one that is there.")
@options.locations
@options.as_json
def show(
    *,
    query: str,
    site: str | None,
    extraction: str | None,
    cassettes: tuple[Path, ...],
    wiki_snapshot: tuple[Path, ...],
    json_: bool,
) -> int:
    """Show what the wiki answered to QUERY (the exact query, not a title) and the text that the agent reads."""
    from ..wiki.entries import find

    roots = options.layered(cassettes, wiki_snapshot).snapshots
    found = find(roots, query, site)
    if not found:
        raise WikiSnapshotMiss(_nothing(roots, query, site))
    sites = sorted({entry.site for entry in found})
    if len(sites) > 1:
        raise Usage(f"{query!r} is answered by {', '.join(sites)}: say which with --site.")
    version = found[0].versions[0]
    names = list(version.metadata.views)
    name = extraction or ("article" if "article" in names else names[0])
    if name not in names:
        raise Usage(f"the answer to {query!r} has no extraction {name!r}; it has: {', '.join(names)}.")
    view = version.view(name)
    if json_:
        shown = {"extraction": name, "titles": list(view.titles), "text": view.text, "view_sha256": view.sha256}
        options.echo_json(_data(found[0]) | shown)
        return exit_code(found[0].problems)
    answer = version.metadata.answer
    rows = [
        ("site", answer.site),
        ("query", answer.query),
        ("kind", answer.kind + (", disambiguation" if view.disambiguation else "")),
        ("title", answer.title or "unknown"),
        ("revision", answer.revision or "unknown"),
        ("time", answer.time or "unknown"),
        ("provenance", answer.provenance),
        ("asked", answer.asked or "unknown"),
        ("final URL", answer.final_url or "unknown"),
        ("extraction", f"{name}, version {view.version}"),
        ("view sha256", view.sha256),
        ("file", str(version.path)),
    ]
    click.echo(text.table(rows))
    if view.titles:
        click.echo("\n" + "\n".join(escaped(title) for title in view.titles))
    if view.text is not None:
        click.echo("\n" + lines(view.text.rstrip("\n")))
    return exit_code(found[0].problems)


def _cells(entry: Entry) -> tuple[object, ...]:
    extractions = ", ".join(entry.extractions)
    count = len(entry.versions)
    return (entry.site, entry.query, entry.kind, extractions, count, entry.provenance, entry.time or "unknown")


def _data(entry: Entry) -> dict[str, Any]:
    return {
        "site": entry.site,
        "query": entry.query,
        "kind": entry.kind,
        "extractions": list(entry.extractions),
        "versions": [version.path.stem for version in entry.versions],
        "provenance": entry.provenance,
        "time": entry.time,
        "folder": str(entry.folder),
        "problems": [str(problem) for problem in entry.problems],
    }


def _nothing(roots: tuple[Path, ...], query: str, site: str | None) -> str:
    from ..wiki.entries import entries, nearest

    sites = [site] if site else sorted({entry.site for entry in entries(roots)})
    near = [f"{name}: {found}" for name in sites for found in nearest(roots, name, query)]
    known = f" Nearest: {'; '.join(near)}." if near else ""
    return f"the wiki snapshot has no answer to {query!r}.{known} `reactrepro wiki list` shows what it has."
