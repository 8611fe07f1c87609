"""`check` as JUnit XML: a test case per recording, and one per finding that belongs to no recording.

The form is the one that test reporters agree on (`testsuites`, `testsuite`, `testcase`; `failure` for what differs,
`error` for what is absent or damaged, `skipped` for warnings). What many recordings share is told in full once.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable

from ..cassettes.runs import Run
from ..visible import lines
from . import findings
from .checked import CheckReport, Finding
from .model import EpisodeReport


def junit(report: CheckReport) -> str:
    """Return the XML document, with its declaration."""
    root = ET.Element("testsuites", name="reactrepro check")
    causes = _causes(report)
    told: set[int] = set()
    for run in dict.fromkeys(episode.run for episode in report.episodes):
        suite = ET.SubElement(root, "testsuite", name=lines(run.label))
        for episode in (one for one in report.episodes if one.run == run):
            _case(suite, episode, causes.get((run, episode.key), ()), report, told)
    others = [finding for finding in report.findings if not finding.touched or finding.is_warning]
    if others:
        suite = ET.SubElement(root, "testsuite", name="reactrepro check")
        for finding in others:
            case = ET.SubElement(suite, "testcase", classname=lines(finding.kind), name=lines(finding.subject))
            _outcome(case, finding, report, findings.block(finding))
    for element in (root, *root):
        cases = list(element.iter("testcase"))
        element.set("tests", str(len(cases)))
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            element.set(name, str(sum(case.find(tag) is not None for case in cases)))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _causes(report: CheckReport) -> dict[tuple[Run, str], list[Finding]]:
    found: dict[tuple[Run, str], list[Finding]] = {}
    for finding in report.findings:
        for touched in finding.touched:
            for key in touched.keys:
                found.setdefault((touched.run, key), []).append(finding)
    for episode in report.episodes:
        for part in episode.parts:
            found.setdefault((episode.run, episode.key), []).extend(found.get((part.run, part.key), ()))
    return found


def _case(
    suite: ET.Element, episode: EpisodeReport, causes: Iterable[Finding], report: CheckReport, told: set[int]
) -> None:
    case = ET.SubElement(
        suite,
        "testcase",
        classname=lines(episode.run.label),
        name=lines(episode.key or "run"),
        file=lines(episode.file),
    )
    problems = [finding for finding in causes if not finding.is_warning]
    if not problems and episode.problems:  # of a run as a whole
        problems = [finding for finding in report.findings if finding.problem in episode.problems]
    if problems:
        worst = max(problems, key=report.weight)
        whole = [finding for finding in problems if id(finding) not in told]
        told.update(map(id, whole))
        text = "\n\n".join(
            findings.block(finding) if finding in whole else f"{finding.title}\n  Told in full with the first of them."
            for finding in problems
        )
        _outcome(case, worst, report, text)


def _outcome(case: ET.Element, finding: Finding, report: CheckReport, text: str) -> None:
    weight = report.weight(finding)
    tag = "skipped" if not weight else "failure" if weight == 1 else "error"
    outcome = ET.SubElement(case, tag, type=lines(finding.kind), message=lines(finding.title))
    outcome.text = lines(text)
