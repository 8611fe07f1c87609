"""A model and a wiki on this machine, four questions that they can answer, and whole episodes recorded from them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import reactrepro
from reactrepro.backends.providers import target
from reactrepro.cassettes.library import Library
from reactrepro.cassettes.runs import Run
from reactrepro.domain import Question, Settings
from reactrepro.exchanges.retries import Patience
from reactrepro.report.model import EpisodeReport
from reactrepro.runs.episode import Studio
from reactrepro.runs.order import Order
from reactrepro.runs.record import Recorded, RecordReport, record
from reactrepro.runs.replay import replay_episode
from reactrepro.runs.roots import Sources
from reactrepro.runs.studio import Wiki, studio
from reactrepro.tasks import TASKS
from reactrepro.wiki.live import WikiClient

from .llm_server import FakeLlm
from .llm_server import serving as serving_llm
from .wiki import mediawiki as mw
from .wiki.fake_wiki import FakeWiki, Reply, page
from .wiki.fake_wiki import serving as serving_wiki

SITE = "testwiki"

VORLAND = "<p>Vorland is a town in Quill. It lies on Harlow Bay.</p><p>The town was founded in 1902 by Ada Marlow.</p>"
PAGES = {
    "Vorland": (page(VORLAND),),
    "Harlow Bay": (page("<p>Harlow Bay is a bay in the north of Quill. It is cold.</p>"),),
    "Marl": (page("<p><b>Marl</b> may refer to:</p><ul><li>Marl (rock), a rock</li></ul>"),),
    "[Marl]": (Reply(mw.results("Marl (rock)", "Marlow & Sons")),),
    "Marlow & Sons+ 100% Żół?": (page("<p>Marlow &amp; Sons is a shop. It has twelve clerks.</p>"),),
}

MINDS = {
    "Who founded the town on Harlow Bay?": (
        " I need to search Vorland.\nAction 1: Search[Vorland]",
        " I look up the founder.\nAction 2: Lookup[founded]",
        " Ada Marlow founded it.\nAction 3: Finish[Ada Marlow]",
    ),
    "Which bay does Vorland lie on?": (" I know it.\nAction 1: Finish[the Harlow Bay]",),
    "How many clerks has the shop? ": (
        " Marl, maybe.\nAction 1: Search[Marl]",
        " It is the shop with the odd name.|| Search[Marlow & Sons+ 100% Żół?]",
        " Twelve.\nAction 3: Finish[twelve]",
    ),
    "Is Harlow Bay warm?": (
        " Let me see.\nAction 1: Search[Vorland]",
        " Now the bay.\nAction 2: Search[Harlow Bay]",
        " It is cold.\nAction 3: Finish[no]",
    ),
}
GOLD = ("Ada Marlow", "Harlow Bay", "twelve", "no")
CALLS = (3, 1, 4, 3)
"""Calls that each episode takes."""

QUESTIONS = tuple(Question(str(n), text, GOLD[n], n, f"id-{n}") for n, text in enumerate(MINDS))


class Lab:
    """Everything that a recording needs, in a folder of its own.

    Attributes:
        root: the folder.
        llm, wiki: the servers.
        data: the questions as a file.
    """

    def __init__(self, root: Path, llm: FakeLlm, wiki: FakeWiki) -> None:
        self.root, self.llm, self.wiki = root, llm, wiki
        self.cassettes, self.snapshot, self.data = root / "cassettes", root / "wiki_snapshot", root / "data.json"
        llm.minds = dict(MINDS)
        wiki.replies = dict(PAGES)
        rows = [{"question": q.text, "answer": q.gold, "_id": q.id} for q in QUESTIONS]
        self.data.write_text(json.dumps(rows), encoding="utf-8")

    # --- in this process --------------------------------------------------------------------------------------------

    def order(self, keys: str = "0123", *, environment: dict[str, str] | None = None, **changes: Any) -> Order:
        """What to record; fields of `Order`, `Settings` and `target` by name."""
        asked = {name: changes.pop(name) for name in ("api", "base_url") if name in changes}
        names = ("profile", "protocol", "extraction", "max_tokens", "temperature", "max_steps")
        wanted = {name: changes.pop(name) for name in names if name in changes}
        whom = target(
            changes.pop("model", "openai-api/local/a-model"),
            environment=environment or {},
            **{"base_url": self.llm.base_url} | asked,
        )
        settings = Settings.of(**{"profile": "chat", "max_steps": 7, "api": whom.api} | wanted)
        plain = {
            "task": TASKS.get("hotpotqa")(),
            "questions": tuple(question for question in QUESTIONS if question.key in keys),
            "selection": ",".join(keys),
            "method": "react",
            "prompt": "paper",
            "target": whom,
            "settings": settings,
            "site": SITE,
            "root": self.cassettes,
            "snapshot": self.snapshot,
        }
        return Order(**plain | changes)

    @contextmanager
    def studio(self, order: Order, **changes: Any) -> Iterator[Studio]:
        """The studio for *order*, closed at the end."""
        made = self.made(order, **changes)
        try:
            yield made
        finally:
            made.close()

    def made(self, order: Order, **changes: Any) -> Studio:
        """The studio for *order*; waits between attempts are short."""
        fields = ("wiki_mode", "patience", "secrets", "snapshots", "prompt_roots", "meter")
        given = {name: changes.pop(name) for name in fields if name in changes}
        wiki = {"contact": "tests@example.org", "retries": 1, **changes}
        return studio(
            task=order.task,
            target=order.target,
            settings=order.settings,
            method=order.method,
            prompt=order.prompt,
            wiki=None
            if order.site is None
            else Wiki(
                client=WikiClient(self.wiki.base_url, **wiki),
                site=order.site,
                mode=given.pop("wiki_mode", "once"),
                snapshot=self.snapshot,
                snapshots=given.pop("snapshots", ()),
            ),
            **{"patience": Patience(attempts=3, first_wait=0.01, last_wait=0.01, timeout=10)} | given,
        )

    def record(
        self,
        keys: str = "0123",
        *,
        studio: dict[str, Any] | None = None,
        stopped: threading.Event | None = None,
        tell: Callable[[Recorded], None] = lambda _: None,
        **changes: Any,
    ) -> RecordReport:
        """Record through the public functions."""
        order = self.order(keys, **changes)
        with self.studio(order, **(studio or {})) as made:
            return record(order, made, stopped=stopped, tell=tell)

    def replay(self, run: Run, key: str, *, wire: bool = False) -> EpisodeReport:
        """Replay an episode."""
        return replay_episode(run, key, self.sources, wire=wire)

    @property
    def sources(self) -> Sources:
        """What was recorded, and nothing else."""
        return Sources(Library.of([self.cassettes]), (self.snapshot,))

    # --- in a process of its own ------------------------------------------------------------------------------------

    def words(self, *more: str) -> list[str]:
        """The command line that records from these servers; questions and options are to be added."""
        return [
            *(sys.executable, "-W", "ignore", "-m", "reactrepro", "record", "hotpotqa"),
            *("--model", "openai-api/local/a-model", "--base-url", self.llm.base_url, "--data", str(self.data)),
            *("--site", SITE, "--wiki-base-url", self.wiki.base_url, *more),
        ]

    def start(self, *more: str, **variables: str) -> subprocess.Popen[str]:
        """Start the command in this folder."""
        return self._start(self.words(*more), variables)

    def _start(self, words: list[str], variables: dict[str, str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            words,
            cwd=self.root,
            env=environment() | variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def command(self, *more: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the command in this folder."""
        return self.run_words(self.words(*more), **variables)

    def run_words(self, words: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
        """Run another command in this folder."""
        process = self._start(words, variables)
        out, err = process.communicate(timeout=60)
        assert "Traceback" not in err, err
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    # --- what is there ----------------------------------------------------------------------------------------------

    @property
    def run(self) -> Run:
        """The one run that was recorded."""
        (found,) = Library.of([self.cassettes]).runs()
        return found

    def files(self) -> dict[str, bytes]:
        """Every file that was written, by name."""
        folders = (self.cassettes, self.snapshot)
        paths = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in paths}

    def names(self) -> set[str]:
        """The names of the files in the run's folder."""
        return {path.name for path in self.run.folder.iterdir()}

    def content(self) -> dict[str, Any]:
        """The episodes as they are, but for the time."""
        run = self.run
        cassettes = {key: run.read(key) for key in run.keys()}  # noqa: SIM118 - a run is no dict
        return {key: (replace(made.meta, time=None), made.interactions) for key, made in cassettes.items()}


def environment() -> dict[str, str]:
    """The environment of a recording: this very reactrepro, no proxy, no key."""
    path = str(Path(reactrepro.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}


@pytest.fixture
def lab(loopback: str, tmp_path: Path) -> Iterator[Lab]:
    """A lab whose servers run."""
    with ExitStack() as stack:
        yield Lab(tmp_path, stack.enter_context(serving_llm()), stack.enter_context(serving_wiki()))
