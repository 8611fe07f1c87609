"""Reports for other programs stay well-formed, whatever a recording or a prompt holds."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from reactrepro.cassettes.runs import Run
from reactrepro.errors import Corrupt, RecordingDiffers
from reactrepro.report import findings, github
from reactrepro.report.checked import CheckReport, Estimate, Finding, Touched
from reactrepro.report.gitlab import code_quality, fingerprint
from reactrepro.report.junit import junit
from reactrepro.report.model import STALE, EpisodeReport

RUN = Run(Path("/x/cassettes/a/react/b"), "a", "react", "b")
HOSTILE = ["::error::x", "\n::set-output name=a::b", "##[command]", "]]>", "<b>&amp;", "\x1b[31m", "\0", "\r", "\u2028"]
HOSTILE += ["```", "`", "|", "%0A", "\ud83d", "</details>", "\ufffe", '"', ",file=/etc/passwd", "::", "\u202e", "é"]
texts = st.lists(st.sampled_from(HOSTILE) | st.text(st.characters(), max_size=5), max_size=8).map("".join)


def report_of(*found: Finding) -> CheckReport:
    """A report on two recordings, of which the first has the problems."""
    problem = Corrupt("damaged")
    broken = EpisodeReport(RUN, "0", "cassettes/a/react/b/0.yaml", problems=(problem,) if found else ())
    return CheckReport((broken, EpisodeReport(RUN, "1", "cassettes/a/react/b/1.yaml")), found, {"recorded": 2})


def made(text: str, **fields: object) -> Finding:
    """A finding that says *text* wherever something can be said."""
    plain: dict[str, object] = {"kind": "corrupt", "exit_code": 5, "subject": text, "text": text, "diff": text}
    plain |= {"touched": (Touched(RUN, ("0",), 1, 0, 3),), "estimate": Estimate(1, 3), "file": text, "line": 3}
    return Finding(**(plain | {"remedy": text, "commands": (text,)} | fields))  # type: ignore[arg-type]


@given(texts)
def test_junit_is_xml_whatever_it_says(text: str) -> None:
    """Every reader of XML reads it; the two recordings are two test cases, one of them an error."""
    root = ET.fromstring(junit(report_of(made(text))))  # noqa: S314 - made here
    suite = root.find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("errors"), suite.get("failures")) == ("2", "1", "0")
    assert [case.get("name") for case in suite.iter("testcase")] == ["0", "1"]
    assert [len(case) for case in suite.iter("testcase")] == [1, 0]


@given(texts)
def test_a_finding_is_one_workflow_command(text: str) -> None:
    """One line, which begins as meant, whose properties end where they are to end."""
    printed = github.workflow_commands(report_of(made(text), made(text, exit_code=0)))
    rows = printed.split("\n")
    assert len(rows) == 3
    for row, level in zip(rows[:2], ("error", "warning"), strict=True):
        properties = re.match(rf"::{level} ([^:]*)::", row)
        assert properties is not None
        assert re.fullmatch(r"(file=[^,]*,)?title=[^,]*(,line=3)?", properties[1])
    assert printed.isprintable() or "\n" in printed


@given(texts)
def test_what_else_is_printed_gives_no_commands(text: str) -> None:
    """It stands between the runner's own marks, and does not hold the one that ends it."""
    first, *between, last, end = github.quiet(text).split("\n")
    token = first.removeprefix("::stop-commands::")
    assert (last, end) == (f"::{token}::", "")
    assert "\n".join(between) == text
    assert token not in text


@given(texts)
def test_a_summary_is_a_table_and_fences_that_hold(text: str) -> None:
    """No text opens a row, a heading or a tag, nor ends a fence."""
    shown = github.summary(report_of(made(text)))
    rows = shown.split("\n")
    assert rows[0] == "### reactrepro check: not well"
    (row,) = [row for row in rows if row.startswith("| corrupt")]
    assert len(re.findall(r"(?<!\\)\|", row)) == 4
    fence = ""
    outside = []
    for row in rows:
        opening = re.match(r"`{3,}", row)
        if not fence and opening:
            fence = opening[0]
        elif fence and row == fence:
            fence = ""
        elif not fence:
            outside.append(row)
    assert not fence
    tags = [tag for row in outside for tag in re.findall(r"<[^>]*>", row)]
    assert tags == ["<details>", "<summary>", "</summary>", "</details>"]


@given(st.lists(texts, max_size=4))
def test_code_quality_is_json_with_marks_of_its_own(said: list[str]) -> None:
    """Every entry has another fingerprint, even where two say the same, and a path in the repository."""
    entries = json.loads(code_quality(report_of(*map(made, said)), "evals/").encode("ascii"))
    assert len({entry["fingerprint"] for entry in entries}) == len(said)
    assert all(entry["location"]["path"].startswith("evals/") for entry in entries)
    assert {entry["severity"] for entry in entries} <= {"critical"}


def test_a_fingerprint_outlives_hashes_and_counts() -> None:
    """The same prompt, changed once more: the same entry; another prompt: another one."""
    one = made("e52b… then, 1111… now", subject="a/b/c")
    assert fingerprint(one) == fingerprint(made("e52b… then, 2222… now", subject="a/b/c", touched=()))
    assert fingerprint(one) != fingerprint(made("e52b… then, 1111… now", subject="a/b/d"))


def test_accepted_recordings_weigh_nothing_where_that_is_allowed() -> None:
    """Exit code 0, a warning on GitHub, skipped in JUnit; else 1, an error, a failure."""
    problem = RecordingDiffers("stale")
    stale = made("a/b/c changed", kind=STALE, exit_code=1, problem=problem, file="p.txt")
    for allowed, level, tag in ((False, "error", "failures"), (True, "warning", "skipped")):
        report = CheckReport(report_of(stale).episodes, (stale,), allow_stale=allowed)
        assert report.exit_code == int(not allowed)
        assert github.workflow_commands(report).startswith(f"::{level} file=p.txt")
        suite = ET.fromstring(junit(report)).find("testsuite")  # noqa: S314 - made here
        assert suite is not None
        assert suite.get(tag) == "1"


def test_long_lists_are_cut_where_nobody_asked_for_all() -> None:
    """Twenty runs and commands are shown; --verbose shows the rest."""
    runs = tuple(Touched(Run(Path(f"/x/{n}"), "a", "react", str(n)), ("0",), 1, 0, 3) for n in range(30))
    finding = made("text", touched=runs, commands=tuple(f"do {n}" for n in range(30)))
    short, long = findings.block(finding), findings.block(finding, verbose=True)
    assert "and 10 more runs" in short
    assert "and 10 more commands" in short
    assert "more" not in long
    assert "do 29" in long
