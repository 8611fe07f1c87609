"""The closed world: its task, its questions and claims, and the encyclopedia that they are asked about."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
import unicodedata
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import live
from live import pages
from reactrepro.domain import Question, Score, Task
from reactrepro.metrics import exact_match
from reactrepro.tasks import TASKS, pelm
from reactrepro.tasks.hotpotqa import HotpotQA
from reactrepro.wiki.page import MAY_REFER
from reactrepro.wiki.sentences import observation, sentences

QUESTIONS = Path(pelm.QUESTIONS)
CLAIMS = QUESTIONS.with_name("pelm_fever.jsonl")
LABELS = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")

PAGES = {page.title: page for page in pages.read()}
ARTICLES = {title: page for title, page in PAGES.items() if page.redirect is None}


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


ROWS = _rows(QUESTIONS)
CLAIM_ROWS = _rows(CLAIMS)


def _numbered(kind: str) -> list[Any]:
    return [pytest.param(row, id=str(n)) for n, row in enumerate(ROWS) if row["type"] == kind]


# --- the task -------------------------------------------------------------------------------------------------------


@pytest.fixture
def task() -> Task:
    """The task, as the registry gives it."""
    return TASKS.get("pelm")()


def test_it_is_hotpotqa_on_another_wiki(task: Task) -> None:
    """Its own name and version; HotpotQA's prompts, step limit and scoring."""
    assert (task.name, task.version) == ("pelm", 1)
    assert (task.scorer, task.prompt_task, task.max_steps) == ("hotpotqa-official/1", "hotpotqa", 7)
    for answer, gold in [("the salt tax", "salt tax"), ("Yes, both", "yes"), ("ferry", "ferry pilot"), (None, "no")]:
        assert task.score(answer, gold) == HotpotQA().score(answer, gold)
    assert task.score("a ferry", "ferry pilot") == Score(em=False, f1=pytest.approx(2 / 3))


def test_questions_are_the_rows_in_order(task: Task) -> None:
    """Key and index are the row's number; question and gold answer are the row's, character for character."""
    read = pelm.questions()
    assert [(q.key, q.index, q.text, q.gold, q.id) for q in read] == [
        (str(n), n, row["question"], row["answer"], None) for n, row in enumerate(ROWS)
    ]
    assert pelm.Pelm().questions() == read


def test_no_supporting_page_reaches_a_prompt(task: Task) -> None:
    """What a method gets is the question alone: neither the pages needed nor what stands on them."""
    for question, row in zip(pelm.questions(), ROWS, strict=True):
        assert task.opening(question) == f"Question: {row['question']}"
    assert {field.name for field in dataclasses.fields(Question)} == {"key", "text", "gold", "index", "id"}


# --- the questions --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [QUESTIONS, CLAIMS], ids=lambda path: path.stem)
def test_the_files_are_plain_json_lines(path: Path) -> None:
    """UTF-8 without a byte-order mark, LF at every line's end, composed characters, no control characters."""
    raw = path.read_bytes()
    text = raw.decode("utf-8")
    assert raw.endswith(b"}\n")
    assert b"\r" not in raw
    assert text == unicodedata.normalize("NFC", text)
    assert not [c for c in text.replace("\n", "") if unicodedata.category(c).startswith("C")]


def test_the_questions_are_of_hotpotqas_two_kinds() -> None:
    """12 bridge and 8 comparison questions, half of the latter yes or no; all different, two pages each."""
    assert {tuple(row) for row in ROWS} == {("question", "answer", "type", "support", "evidence")}
    assert Counter(row["type"] for row in ROWS) == {"bridge": 12, "comparison": 8}
    assert Counter(row["answer"] for row in ROWS if row["answer"] in ("yes", "no")) == {"yes": 2, "no": 2}
    assert len({row["question"].strip().lower() for row in ROWS}) == len(ROWS)
    assert {len(set(row["support"])) for row in ROWS} == {2}


def test_one_trailing_blank_is_meant() -> None:
    """As in HotpotQA itself, one question ends in a blank, which is part of it (case B42); nothing else does."""
    blanks = [n for n, row in enumerate(ROWS) if row["question"] != row["question"].strip()]
    assert blanks == [11]
    assert ROWS[11]["question"].endswith("? ")
    everything = [row["answer"] for row in ROWS] + [row["claim"] for row in CLAIM_ROWS]
    assert [text for text in everything if text != text.strip() or "  " in text] == []


@pytest.mark.parametrize("row", [pytest.param(row, id=str(n)) for n, row in enumerate(ROWS + CLAIM_ROWS)])
def test_what_an_answer_rests_on_stands_on_the_pages(row: dict[str, Any]) -> None:
    """Every supporting page exists under that very title, no redirect; the evidence stands on it, word for word."""
    for title in row["support"]:
        assert title in ARTICLES
    for title, words in zip(row["support"], row["evidence"], strict=row.get("label") != LABELS[2]):
        assert words in PAGES[title].plain


@pytest.mark.parametrize("row", _numbered("bridge"))
def test_a_bridge_needs_both_pages(row: dict[str, Any]) -> None:
    """The answer stands in the second page's evidence; neither the question nor the first page has it."""
    first = row["support"][0]
    assert row["answer"] in row["evidence"][1]
    assert row["answer"].lower() not in PAGES[first].text.lower()
    assert row["answer"].lower() not in row["question"].lower()


@pytest.mark.parametrize("row", _numbered("comparison"))
def test_a_comparison_has_yes_no_or_one_of_the_two_for_an_answer(row: dict[str, Any]) -> None:
    """Both things compared are named in the question."""
    assert row["answer"] in ("yes", "no") or any(exact_match(row["answer"], title) for title in row["support"])
    for title in row["support"]:
        assert title.lower() in row["question"].lower()


def test_some_answers_need_a_lookup() -> None:
    """What these rows ask for stands behind the five sentences that Search shows."""
    deep = []
    for n, row in enumerate(ROWS):
        title, words = row["support"][1], row["evidence"][1]
        text = PAGES[title].plain
        assert any(words in sentence for sentence in sentences(text))
        if words not in observation(text):
            deep.append(n)
    assert deep == [3, 5, 10, 11, 13]


def test_there_are_four_claims_of_each_label() -> None:
    """FEVER's three labels, in its own words; only NOT ENOUGH INFO comes without evidence."""
    assert {tuple(row) for row in CLAIM_ROWS} == {("claim", "label", "support", "evidence")}
    assert Counter(row["label"] for row in CLAIM_ROWS) == dict.fromkeys(LABELS, 4)
    assert len({row["claim"].lower() for row in CLAIM_ROWS}) == len(CLAIM_ROWS)
    assert {row["label"] for row in CLAIM_ROWS if not row["evidence"]} == {"NOT ENOUGH INFO"}
    assert not [row for row in CLAIM_ROWS if row["label"] == "NOT ENOUGH INFO" and row["evidence"]]


# --- the encyclopedia -----------------------------------------------------------------------------------------------


def test_titles_are_unique_and_name_their_files() -> None:
    """One title per page, one that MediaWiki allows; the file is called after it."""
    files = sorted(pages.FOLDER.glob("*.wiki"))
    assert len(PAGES) == len(files) >= 40
    folded = [title.replace("_", " ").lower() for title in PAGES]
    assert len(set(folded)) == len(folded)
    for path in files:
        title = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("TITLE: ")
        assert not re.search(r"[#<>\[\]{}|_]|^\s|\s$|^[a-z]", title)
        assert path.stem == _slug(title)


def _slug(title: str) -> str:
    spelt = title.replace("&", "and").replace("+", " plus").replace("Ż", "Z").replace("ł", "l").replace("'", "")
    plain = unicodedata.normalize("NFKD", spelt).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")


def test_every_link_resolves() -> None:
    """Every internal link leads to a page, every redirect to an article."""
    assert [(page.title, link) for page in PAGES.values() for link in page.links if link not in PAGES] == []
    redirects = {page.title: page.redirect for page in PAGES.values() if page.redirect}
    assert len(redirects) >= 3
    assert set(redirects.values()) <= set(ARTICLES)


def test_every_article_is_reached() -> None:
    """No article is an orphan but the ones that test the environment and belong to nobody's question."""
    linked = {link for page in ARTICLES.values() for link in page.links}
    assert set(ARTICLES) - linked == {"Corvane", "Bridges of the Corvane", "Glossary of Pelm railways", "Lantern+"}


@pytest.mark.parametrize(
    ("title", "has"),
    [
        ("Corvane", f"\\A'''Corvane''' {MAY_REFER}\n\\* "),
        ("Glossary of Pelm railways", rf"(\n\*.*){{8}}{MAY_REFER}"),
        ("Merit Oss", r'\A<div role="note" class="hatnote'),
        ("Meret Oss", r'\A<div role="note" class="hatnote'),
        ("Orrin Island", r'\A\{\| class="infobox"'),
        ("Sarn", r'id="coordinates".*class="geo-dms"'),
        ("Tamsin Quillfeather", r"<ref>.*<references />"),
        ("Bridges of the Corvane", r'style="display:none"'),
        ("Pelm Cup", r"\A\{\|[^}]*\|\}\Z"),
        ("Slant notation", r"\\frac\{1\}\{2\}.*\\north.*\\up.*\\\Z"),
        ("The Tidewright's Daughter", ""),
        ("Salt & Ember", "5 < 6 and 7 > 6"),
        ("Lantern+", ""),
        ("Where Is Odo?", "A\\+\\+.*100%.*#7"),
        ("Zoë Żuławska", "Зоя.*Ζωή.*ゾーイ.*𝕏"),
    ],
)
def test_every_shape_that_an_agent_meets_has_its_page(title: str, has: str) -> None:
    """Disambiguation, its false alarm, hatnotes, an infobox, coordinates, notes, hidden text, no prose, odd signs."""
    assert re.search(has, PAGES[title].text, re.DOTALL)


def test_the_dump_holds_every_page_as_written() -> None:
    """What MediaWiki imports is what stands in the files, signs of XML included."""
    space = "{http://www.mediawiki.org/xml/export-0.10/}"
    root = ET.fromstring(pages.dump(PAGES.values()))  # noqa: S314 - written here
    dumped = {
        page.findtext(f"{space}title"): page.findtext(f"{space}revision/{space}text")
        for page in root.iter(f"{space}page")
    }
    assert dumped == {page.title: page.text for page in PAGES.values()}


def test_a_page_without_a_title_is_refused(tmp_path: Path) -> None:
    """A file that does not begin with its title is named; so is a folder without pages."""
    with pytest.raises(ValueError, match="no file"):
        pages.read(tmp_path)
    tmp_path.joinpath("x.wiki").write_text("no title\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"x\.wiki"):
        pages.read(tmp_path)


# --- the servers ----------------------------------------------------------------------------------------------------


def test_a_system_that_cannot_run_the_wiki_says_so(tmp_path: Path) -> None:
    """Without apt, or without /proc, the command ends with 77, by which a caller knows that it may skip."""
    done = subprocess.run(
        [sys.executable, "-m", "live.servers", "start", "wiki", "--state", str(tmp_path)],
        cwd=Path(live.__file__).parents[1],
        env={**os.environ, "PATH": "", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (77, "")
    assert done.stderr.startswith("live.servers: ")
