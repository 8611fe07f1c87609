"""One episode under recording: what is asked, what is saved after each reply, and how it is finished."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Protocol

from ..backends import BACKENDS
from ..backends.llm import BackendLlm
from ..backends.terms import Terms
from ..cassettes.mismatch import Place
from ..cassettes.model import Cassette, EpisodeMeta, Interaction
from ..cassettes.read import read_cassette
from ..cassettes.runs import Run
from ..cassettes.write import cassette_bytes, move, replace_file, seal
from ..domain import Ask, Ended, Outcome, Pages, Pin, Prompt, Question, Score, Sent, Settings, Task, Tokens, Trajectory
from ..errors import CassetteAbsent, Corrupt, RecordingDiffers
from ..exchanges.live import Live, LiveModel
from ..exchanges.recorder import Recorder
from ..judged import ClosedBook
from ..methods import METHODS
from ..wiki.env import WikiEnv
from .early import is_starved
from .play import judge, numbers, play
from .roots import shown

SPARE = 128 * 1024
"""Bytes that have to be free, beside twice what is saved, before a call is paid for."""


@dataclass(frozen=True)
class Studio:
    """What all episodes of a recording share.

    Attributes:
        model: whom to ask.
        pages: makes the pages of one episode: given what an earlier attempt has read, query -> hash, and whether a
            page that is not there as it was may be another one now. None for methods that do not act.
        terms: what the server is known to take.
        prompt: what stands before the question.
        versions, git_commit, host: what the recording says of how it came to be.
        now: the clock.
        close: closes all connections.
    """

    model: LiveModel
    pages: Callable[[Mapping[str, str], bool], RecordingPages] | None
    prompt: Prompt
    versions: Mapping[str, str]
    git_commit: str | None
    host: str
    terms: Terms = field(default_factory=Terms)
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    close: Callable[[], None] = lambda: None

    def time(self) -> str:
        """Return the time as files have it."""
        return self.now().strftime("%Y-%m-%dT%H:%M:%SZ")


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
        calls: replies that came now; those taken over from an earlier attempt are not among them.
        tokens: their usage.
        ended: how it ended; None before.
        starved: all its replies were cut by the token limit (`early.is_starved`).
    """

    def __init__(
        self, run: Run, question: Question, studio: Studio, *, settings: Settings, task: Task, stopped: threading.Event
    ) -> None:
        self._run, self._question, self._studio = run, question, studio
        self._settings, self._task, self._stopped = settings, task, stopped
        self._path = run.path(question.key)
        self._part = run.part_path(question.key)
        self._saved = 0
        self.calls, self.tokens = 0, Tokens()
        self.ended: Ended | None = None
        self.starved = False

    def make(self, *, fresh: bool, extend: bool) -> bool:
        """Record the episode, from where an earlier attempt stopped, and put it in its place.

        Args:
            fresh: begin anew, whatever was recorded.
            extend: take over the replies of the recording, or of an earlier attempt, as far as they fit, and ask for
                the rest.

        Returns:
            Whether it was put there; False where the recording that stands there is just what it would be.

        Raises:
            ReactReproError: it could not be finished; what was recorded is in the ``.part`` file.
            CassetteMiss: an earlier attempt was made with another prompt or another page.
            OSError: a reply could not be saved.
        """
        earlier = None if fresh else self._earlier(extend)
        pins = {} if earlier is None else {pin.query: pin.sha256 for pin in earlier.meta.pages}
        pages = None if self._studio.pages is None else self._studio.pages(pins, extend)
        backend = BACKENDS.get(self._settings.api)()
        recorder = Recorder(
            () if earlier is None else earlier.interactions,
            lambda interactions: self._save(interactions, _read(pages), llm.sent),
            self._studio.model.scrubber,
            backend.completion,
        )
        live = Live(
            self._studio.model,
            recorder,
            self._place(earlier),
            refused=() if earlier is None else earlier.meta.unanswered,
            extend=extend,
            stopped=self._stopped,
            before=self._check_room,
        )
        sent = self._studio.terms.sent if earlier is None else earlier.meta.sent
        ask = Ask(self._run.config.model, self._settings.max_tokens, self._settings.temperature, sent)
        llm = BackendLlm(backend, live, ask, self._studio.terms)
        try:
            trajectory, score = self._played(llm, pages)
        finally:
            self.calls, self.tokens = recorder.added, _usage(llm, recorder.added)
        live.finish()
        self.ended, self.starved = trajectory.ended, is_starved(trajectory, llm.turns)
        meta = replace(
            self._finished(earlier, recorder, _read(pages), llm),
            outcome=Outcome.computed(trajectory, score),
            samples=numbers(trajectory),
            unanswered=live.unanswered,
        )
        made = seal(meta, tuple(recorder.interactions))
        if earlier is not None and earlier.path == self._path and made == replace(earlier, path=None):
            return False
        self._write(made)
        move(self._part, self._path)
        return True

    def _played(self, llm: BackendLlm, pages: RecordingPages | None) -> tuple[Trajectory, Score]:
        opening, judged = self._task.opening(self._question), judge(self._task, self._question)
        return play(
            METHODS.get(self._run.config.method)(),
            self._task,
            question=self._question,
            prompt=self._studio.prompt,
            llm=llm,
            env=ClosedBook(opening, judged) if pages is None else WikiEnv(pages, opening, judged),
            settings=self._settings,
        )

    # --- what an earlier attempt left -------------------------------------------------------------------------------

    def _earlier(self, extend: bool) -> Cassette | None:
        for path in (self._part, *([self._path] if extend else [])):
            try:
                earlier = read_cassette(path)
            except CassetteAbsent:
                continue
            except Corrupt as error:
                raise Corrupt(f"{error}\n  {_BEGIN_ANEW}") from None
            if (earlier.meta.key, earlier.meta.question_sha256) != (self._question.key, self._question.sha256):
                raise RecordingDiffers(
                    f"{self._run.label}, episode {self._question.key}: {shown(path)} was begun with another question "
                    f"({earlier.meta.question!a:.80}).\n  {_BEGIN_ANEW}"
                )
            return earlier
        return None

    def _place(self, earlier: Cassette | None) -> Place:
        prompt, causes = self._studio.prompt, []
        if earlier is not None and earlier.meta.prompt.sha256 != prompt.sha256:
            then = earlier.meta.prompt
            changed = [file.name for file in prompt.files if then.files.get(file.name) != file.sha256]
            causes.append(
                f"The attempt was begun with another prompt ({then.name}, {then.sha256[:12]}… then, "
                f"{prompt.sha256[:12]}… now{': ' if changed else ''}{' and '.join(changed)})."
            )
        return Place(self._run.label, self._question.key, shown(self._part), tuple(causes), _BEGIN_ANEW)

    # --- what is written --------------------------------------------------------------------------------------------

    def _check_room(self) -> None:
        """Assert that the next reply can be saved, as far as can be told.

        Raises:
            OSError: the disk is full.
        """
        disk = shutil.disk_usage(self._run.folder)
        if disk.total and disk.free < 2 * self._saved + SPARE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._part))

    def _save(self, interactions: tuple[Interaction, ...], read: tuple[Pin, ...], sent: Sent) -> None:
        self._write(seal(self._meta(read, sent), interactions))

    def _write(self, cassette: Cassette) -> None:
        data = cassette_bytes(cassette)
        self._studio.model.scrubber.refuse(data, shown(self._path))
        replace_file(self._part, data)
        self._saved = len(data)

    def _finished(
        self, earlier: Cassette | None, recorder: Recorder, read: tuple[Pin, ...], llm: BackendLlm
    ) -> EpisodeMeta:
        """Return the block of the finished episode. Where no reply came now, it is as old as the earlier attempt."""
        replies = [turn.completion for turn in llm.turns if turn.completion is not None]
        meta = self._meta(read, llm.sent)
        if earlier is not None and not recorder.added:
            then = earlier.meta
            meta = replace(meta, time=then.time, versions=then.versions, git_commit=then.git_commit, host=then.host)
        return replace(
            meta,
            model_returned=next((reply.model for reply in replies if reply.model), None),
            system_fingerprint=next((reply.fingerprint for reply in replies if reply.fingerprint), None),
        )

    def _meta(self, read: tuple[Pin, ...], sent: Sent) -> EpisodeMeta:
        studio = self._studio
        return EpisodeMeta.of(
            self._question,
            studio.prompt,
            "recorded",
            time=studio.time(),
            versions=dict(studio.versions),
            git_commit=studio.git_commit,
            host=studio.host,
            sent=sent,
            pages=read,
        )


def _usage(llm: BackendLlm, added: int) -> Tokens:
    """Return the usage of the last *added* replies."""
    replies = [turn.completion.tokens for turn in llm.turns if turn.completion is not None]
    return Tokens.total(replies[len(replies) - min(added, len(replies)) :])


def _read(pages: RecordingPages | None) -> tuple[Pin, ...]:
    return () if pages is None else pages.read


_BEGIN_ANEW = (
    "An earlier attempt cannot be carried on under these conditions. To begin anew and pay for all of it again: "
    "--mode all, or remove the file. Or restore what changed."
)
