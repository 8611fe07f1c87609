"""`check` as a GitLab Code Quality report: one entry per finding, known again from run to run by its fingerprint."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ..visible import lines
from . import findings
from .checked import CheckReport, Finding

_LOCK = "prompts.lock"
"""Where an entry points that has no place in the repository: GitLab wants one."""


def code_quality(report: CheckReport, base: str = "") -> str:
    """Return the report as JSON.

    Args:
        report: what was found.
        base: the folder that file names are relative to, as seen from the repository's root ("" or "evals/").
    """
    entries: dict[str, dict[str, Any]] = {}
    for finding in report.findings:
        mark, number = fingerprint(finding), 2
        while mark in entries:  # two findings of one class and subject; GitLab drops what it has seen
            mark, number = fingerprint(finding, number), number + 1
        file = finding.file if finding.file is not None and not finding.file.startswith("/") else _LOCK
        entries[mark] = {
            "description": lines(f"{finding.kind}: {finding.title}"),
            "content": {"body": lines(findings.block(finding))},
            "check_name": f"reactrepro/{finding.kind.replace(' ', '-').replace(',', '')}",
            "fingerprint": mark,
            "severity": _severity(finding, report.weight(finding)),
            "location": {"path": lines(base + file), "lines": {"begin": finding.line or 1}},
        }
    return json.dumps(list(entries.values()), ensure_ascii=True, indent=2)


def fingerprint(finding: Finding, number: int = 1) -> str:
    """Return what tells *finding* from others: made of class and subject, so that it outlives hashes and counts."""
    words = [finding.kind, finding.subject] + [str(number)] * (number > 1)
    return hashlib.sha256("\0".join(words).encode("utf-8", "surrogatepass")).hexdigest()


def _severity(finding: Finding, weight: int) -> str:
    if finding.kind == "secret":
        return "blocker"
    return {0: "minor", 1: "major", 5: "critical"}.get(weight, "major")
