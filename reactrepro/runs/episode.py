"""One episode under recording: what is asked, what is saved after each reply, and how it is finished."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

from ..backends import BACKENDS
from ..backends.llm import BackendLlm
from ..cassettes.mismatch import Place
from ..cassettes.model import EPISODE_FORMAT, Cassette, EpisodeMeta, Interaction, InteractionsRef, PromptRef
from ..cassettes.read import read_cassette
from ..cassettes.runs import Run
from ..cassettes.write import cassette_bytes, replace_file, seal
from ..domain import Ask, Outcome, Pages, Pin, Prompt, Question, Settings, Task
from ..errors import CassetteAbsent
from ..exchanges.live import Live, LiveModel
from ..exchanges.recorder import Recorder
from ..methods import METHODS
from ..wiki.env import WikiEnv
from .play import judge, play
from .roots import shown


@dataclass(frozen=True)
class Studio:
    """What all episodes of a recording share.

    Attributes:
        model: whom to ask.
        pages: makes the pages of one episode: given what an earlier attempt has read, query -> hash.
        prompt: what stands before the question.
        versions, git_commit, host: what the recording says of how it came to be.
        now: the clock.
    """

    model: LiveModel
    pages: Callable[[Mapping[str, str]], RecordingPages]
    prompt: Prompt
    versions: Mapping[str, str]
    git_commit: str | None
    host: str
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


class RecordingPages(Pages, Protocol):
    """Pages that remember what was read."""

    @property
    def read(self) -> tuple[Pin, ...]:
        """A pin for every page read, in order of first reading."""
        ...


class EpisodeRecording:
    """Records one question (in one thread).

    Args:
        run: where to.
        question, settings, task: what, and under which conditions.
        studio: what all episodes share.
        stopped: set when the user wants an end.

    Attributes:
        calls: calls made now; replies taken over from an earlier attempt are not among them.
    """

    def __init__(
        self, run: Run, question: Question, studio: Studio, *, settings: Settings, task: Task, stopped: threading.Event
    ) -> None:
        self._run, self._question, self._studio = run, question, studio
        self._settings, self._task, self._stopped = settings, task, stopped
        self._path = run.path(question.key)
        self._part = run.part_path(question.key)
        self.calls = 0

    def make(self, *, fresh: bool, extend: bool) -> None:
        """Record the episode, from where an earlier attempt stopped, and put it in its place.

        Args:
            fresh: begin anew, whatever was recorded.
            extend: take over the replies of the recording, or of an earlier attempt, as far as they fit, and ask for
                the rest.

        Raises:
            ReactReproError: it could not be finished; what was recorded is in the ``.part`` file.
            CassetteMiss: an earlier attempt was made with another prompt or another page.
            OSError: a reply could not be saved.
        """
        earlier = None if fresh else self._earlier(extend)
        pins = {} if earlier is None else {pin.query: pin.sha256 for pin in earlier.meta.pages}
        pages = self._studio.pages(pins)
        recorder = Recorder(
            () if earlier is None else earlier.interactions,
            lambda interactions: self._save(interactions, pages.read),
            self._studio.model.scrubber,
        )
        place = Place(
            self._run.label,
            self._question.key,
            shown(self._part),
            remedy="An earlier attempt does not fit what is asked now: remove the file, or record with --mode all.",
        )
        live = Live(self._studio.model, recorder, place, extend=extend, stopped=self._stopped)
        model = self._run.config.model
        backend = BACKENDS.get(self._settings.api)()
        llm = BackendLlm(backend, live, Ask(model, self._settings.max_tokens, self._settings.temperature))
        env = WikiEnv(pages, self._task.opening(self._question), judge(self._task, self._question))
        method = METHODS.get(self._run.config.method)()
        try:
            trajectory, score = play(
                method,
                self._task,
                question=self._question,
                prompt=self._studio.prompt,
                llm=llm,
                env=env,
                settings=self._settings,
            )
        finally:
            self.calls = recorder.added
        live.finish()
        replies = [turn.completion for turn in llm.turns if turn.completion is not None]
        meta = replace(
            self._meta(pages.read),
            outcome=Outcome.computed(trajectory, score),
            model_returned=next((reply.model for reply in replies if reply.model), None),
            system_fingerprint=next((reply.fingerprint for reply in replies if reply.fingerprint), None),
        )
        self._write(seal(meta, tuple(recorder.interactions)))
        os.replace(self._part, self._path)

    def _earlier(self, extend: bool) -> Cassette | None:
        for path in (self._part, *([self._path] if extend else [])):
            try:
                return read_cassette(path)
            except CassetteAbsent:
                continue
        return None

    def _save(self, interactions: tuple[Interaction, ...], read: tuple[Pin, ...]) -> None:
        self._write(seal(self._meta(read), interactions))

    def _write(self, cassette: Cassette) -> None:
        data = cassette_bytes(cassette)
        self._studio.model.scrubber.refuse(data, shown(self._path))
        replace_file(self._part, data)

    def _meta(self, read: tuple[Pin, ...]) -> EpisodeMeta:
        question, studio = self._question, self._studio
        return EpisodeMeta(
            format=EPISODE_FORMAT,
            key=question.key,
            index=question.index,
            id=question.id,
            question=question.text,
            question_sha256=question.sha256,
            gold=question.gold,
            prompt=PromptRef.of(studio.prompt),
            provenance="recorded",
            time=studio.now().strftime("%Y-%m-%dT%H:%M:%SZ"),
            versions=dict(studio.versions),
            git_commit=studio.git_commit,
            host=studio.host,
            pages=read,
            interactions=InteractionsRef(count=0, sha256=""),
        )
