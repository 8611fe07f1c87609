"""What the model and the agent saw in one episode: the prompt of every round, the pages, the observations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ..domain import PageView, Turn
from ..errors import Usage
from ..report.model import EpisodeReport
from ..wiki.snapshot import SnapshotPages
from .roots import Sources


class SentPrompts(Mapping[int, str]):
    """The exact prompt text of each round of an episode, by the round's number from 1 on.

    Args:
        turns: the calls of the episode, in order.

    Attributes:
        reprompts: round -> the prompt of its second call, for the rounds that needed one.
    """

    def __init__(self, turns: tuple[Turn, ...]) -> None:
        self._texts: dict[int, str] = {}
        self.reprompts: dict[int, str] = {}
        for turn in turns:
            which = self.reprompts if turn.step in self._texts else self._texts
            which[turn.step] = turn.prompt

    def __getitem__(self, number: int) -> str:
        if number not in self._texts:
            raise KeyError(f"there is no round {number}; the episode has {len(self._texts)}, counted from 1")
        return self._texts[number]

    def __iter__(self) -> Iterator[int]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def __repr__(self) -> str:
        return f"<prompts of {len(self)} rounds, {len(self.reprompts)} reprompts>"


@dataclass(frozen=True)
class SeenWiki:
    """What an episode read.

    Attributes:
        site: the wiki's logical name; None where an observation tape answered.
        pages: query -> the page as the recording pins it, in the order of first reading.
        observations: step -> what the agent read there.
    """

    site: str | None
    pages: Mapping[str, PageView]
    observations: Mapping[int, str]
    _newest: SnapshotPages | None = field(default=None, repr=False)

    @classmethod
    def of(cls, report: EpisodeReport, sources: Sources) -> SeenWiki:
        """Return what the replayed episode *report* read.

        Raises:
            ReactReproError: a file cannot be read, or a page is not there as it was read.
        """
        steps = report.trajectory.steps if report.trajectory is not None else ()
        observations = {step.i: step.observation for step in steps}
        meta, config = report.run.read(report.key).meta, report.run.config
        if config.site is None or meta.tape is not None:
            return cls(None, {}, observations)
        extraction = config.settings.extraction
        pins = {pin.query: pin.sha256 for pin in meta.pages if pin.site == config.site}
        pinned = SnapshotPages(sources.snapshots, config.site, extraction, pins)
        newest = SnapshotPages(sources.snapshots, config.site, extraction)
        return cls(config.site, {query: pinned.page(query) for query in pins}, observations, newest)

    def page(self, query: str) -> PageView:
        """Return the page that the episode read for *query*, or the newest one of the snapshot if it read none.

        Raises:
            Usage: an observation tape answered; there are no pages.
            WikiSnapshotMiss: the snapshot has no answer to *query*.
        """
        if query in self.pages:
            return self.pages[query]
        if self._newest is None:
            raise Usage("the episode read an observation tape, and no pages.")
        return self._newest.page(query)
