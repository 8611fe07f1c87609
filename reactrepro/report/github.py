"""`check` for GitHub Actions: annotations in the log, and a summary of the step in Markdown.

The forms are those of GitHub's "Workflow commands": in a message `%`, CR and LF are escaped, in a property `:` and `,`
too. What else is printed stands between `::stop-commands::` and its token, so that no recording can give commands.
"""

from __future__ import annotations

import hashlib
import html
import re

from ..visible import lines
from . import findings
from .checked import CheckReport

MOST = 100
"""Findings that a summary shows: GitHub takes one of 1 MiB at most."""

_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|~>@-])")


def workflow_commands(report: CheckReport, base: str = "") -> str:
    """Return one workflow command per finding, each on a line of its own.

    Args:
        report: what was found.
        base: the folder that file names are relative to, as seen from the repository's root ("" or "evals/").
    """
    rows = []
    for finding in report.findings:
        level = "error" if report.weight(finding) else "warning"
        properties = {"title": f"reactrepro: {finding.kind}"}
        if finding.file is not None and not finding.file.startswith("/"):
            properties = {"file": base + finding.file, **properties}
            if finding.line is not None:
                properties["line"] = str(finding.line)
        given = ",".join(f"{name}={_property(lines(value))}" for name, value in properties.items())
        rows.append(f"::{level} {given}::{_data(lines(findings.block(finding)))}\n")
    return "".join(rows)


def quiet(text: str) -> str:
    """Return *text* so that the runner takes nothing in it for a command."""
    token = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()  # nobody writes a text that holds it
    return f"::stop-commands::{token}\n{text}\n::{token}::\n"


def summary(report: CheckReport) -> str:
    """Return the step's summary, in GitHub's Markdown."""
    rows = [f"### reactrepro check: {'all is well' if not report.exit_code else 'not well'}", ""]
    rows += [_escaped(findings.closing(report)), ""]
    if report.findings:
        rows += ["| class | what | recordings |", "| --- | --- | ---: |"]
        rows += [f"| {_escaped(f.kind)} | {_escaped(f.title)} | {f.count or ''} |" for f in report.findings[:MOST]]
        rows.append("")
    if len(report.findings) > MOST:
        rows += [f"And {len(report.findings) - MOST} more, which the log has.", ""]
    for finding in report.findings[:MOST]:
        rows += [
            f"<details><summary>{html.escape(lines(finding.kind))}: {html.escape(lines(finding.subject))}</summary>",
            "",
            *_fenced(lines(findings.body(finding)), "text"),
            *(_fenced(lines(finding.diff.rstrip("\n")), "diff") if finding.diff else ()),
            *_fenced(lines(findings.advice(finding)).strip("\n"), "text"),
            "</details>",
            "",
        ]
    return "\n".join([*rows, _escaped(findings.provenance(report)), ""]) + "\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _escaped(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", html.escape(" ".join(lines(text).split()), quote=False))


def _fenced(text: str, language: str) -> list[str]:
    if not text:
        return []
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", text, fence, ""]
