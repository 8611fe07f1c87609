"""A small scripted world: invented pages, invented questions, replies that a model could have written."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

import reactrepro
from reactrepro.cassettes.library import Library
from reactrepro.cassettes.runs import Run
from reactrepro.domain import PageView, Question, Settings
from reactrepro.runs.roots import Sources
from reactrepro.runs.script import scripted_episode, scripted_run
from reactrepro.wiki.entry import Answer
from reactrepro.wiki.store import write_page

SITE = "testwiki"
PAGES = {
    "Vorland": "Vorland is a town in Quill. It lies on Harlow Bay.\nThe town was founded in 1902 by Ada Marlow.\n",
    "Harlow Bay": "Harlow Bay is a bay in the north of Quill. It is cold.\n",
    "C:\\new": "The path C:\\new is a folder. It is empty.\n",
}
RESULTS = {"Marlow": ("Ada Marlow", "Marlow's Cove")}

FOUNDER = Question("0", "Who founded the town on Harlow Bay?", "Ada Marlow", 0)
FOUNDER_REPLIES = [
    " I need to search Vorland.\nAction 1: Search[Vorland]",
    " I look up the founder.\nAction 2: Lookup[founded]",
    " Ada Marlow founded it.\nAction 3: Finish[Ada Marlow]",
]
BAY = Question("1", "Which bay does Vorland lie on?", "Harlow Bay", 1)
BAY_REPLIES = [" I know it.\nAction 1: Finish[the Harlow Bay]"]


def write_pages(root: Path) -> None:
    """Write the invented pages, under both extractions, as scripted entries."""
    for query, text in PAGES.items():
        views = [PageView(SITE, query, "article", name, 1, text=text) for name in ("article", "original")]
        write_page(root, Answer(site=SITE, query=query, kind="article", provenance="scripted"), views)
    for query, titles in RESULTS.items():
        views = [PageView(SITE, query, "results", name, 1, titles=titles) for name in ("article", "original")]
        write_page(root, Answer(site=SITE, query=query, kind="results", provenance="scripted"), views)


class World:
    """Recordings and a snapshot in a folder of their own.

    Attributes:
        root: the folder; `cassettes` and `wiki_snapshot` stand in it.
        run: the run that `record` adds episodes to.
    """

    def __init__(self, root: Path, **overrides: object) -> None:
        self.root = root
        self.cassettes, self.snapshot = root / "cassettes", root / "wiki_snapshot"
        self.settings = Settings.of("chat", max_steps=7, **({"protocol": "strict"} | overrides))
        write_pages(self.snapshot)
        self.run = self.new_run("scripted")

    @property
    def sources(self) -> Sources:
        """Where its recordings are read from; the packaged ones are not among them."""
        return Sources(Library.of([self.cassettes]), (self.snapshot,))

    def new_run(self, name: str, **fields: object) -> Run:
        """Make another run."""
        made: Run = scripted_run(
            self.cassettes, "hotpotqa", name, **({"settings": self.settings, "site": SITE} | fields)
        )  # type: ignore[arg-type]
        return made

    def record(self, question: Question, replies: Iterable[object], run: Run | None = None, **more: object) -> Path:
        """Play and save an episode."""
        snapshots = () if "tape" in more else (self.snapshot,)
        return scripted_episode(run or self.run, question, replies, snapshots=snapshots, **more)  # type: ignore[arg-type]


def checkout() -> Path:
    """The folder that holds the committed recordings."""
    return Path(reactrepro.__file__).resolve().parents[1]


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A world with two recorded episodes."""
    made = World(tmp_path)
    made.record(FOUNDER, FOUNDER_REPLIES)
    made.record(BAY, BAY_REPLIES)
    return made


@pytest.fixture
def published(tmp_path: Path) -> World:
    """A copy of the published run and its pages, to be altered."""
    for name in ("cassettes", "wiki_snapshot"):
        (tmp_path / name).mkdir()
    run = Path("hotpotqa", "react", "deepseek-v3-250324")
    shutil.copytree(checkout() / "cassettes" / run, tmp_path / "cassettes" / run)
    shutil.copytree(checkout() / "wiki_snapshot" / "enwiki", tmp_path / "wiki_snapshot" / "enwiki")
    made = World.__new__(World)
    made.root, made.cassettes, made.snapshot = tmp_path, tmp_path / "cassettes", tmp_path / "wiki_snapshot"
    made.run = Run.at(made.cassettes / run)
    return made
