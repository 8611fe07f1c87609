"""What an agent that is not ours exchanges with its models, under recording. No HTTP.

The file is a cassette after each reply, ``<name>.part`` until all is finished; then it takes the place of what stood
there. What an attempt that was broken off has recorded is not asked again.
"""

from __future__ import annotations

import errno
import glob
import json
import os
import platform
import shutil
import sys
import threading
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .. import __version__
from ..cassettes.locks import LOCK, locked
from ..cassettes.mismatch import Place
from ..cassettes.model import Exchanges, Interaction
from ..cassettes.read import MAX_CASSETTE, read_exchanges
from ..cassettes.text import body_json
from ..cassettes.write import TEMPORARY, cassette_bytes, move, replace_file, seal_exchanges
from ..errors import CassetteAbsent, Corrupt, DiskError, InfraError, ReactReproError, Usage
from .agent_replay import Answers, Asked, Key, played
from .bodies import Answer
from .events import Events
from .kept import KEPT
from .scrub import Scrubber, secrets_in, secrets_sent

PART = ".part"
SPARE = 1024 * 1024
"""Bytes that have to be free before a call is made, beside room for the file itself."""


class Recording:
    """One recording under way; shared by threads and tasks.

    Args:
        path: where it will stand.
        secrets: what must not be written, beside the keys of requests and of the environment.

    Attributes:
        error: the first failure that makes it worthless, which somebody above may have swallowed.

    Raises:
        Usage: somebody else is recording it.
        Corrupt: what an earlier attempt left is damaged.
        DiskError: nothing can be written there.
    """

    def __init__(self, path: Path, *, secrets: Iterable[str] = ()) -> None:
        self._path, self._part = path, path.with_name(path.name + PART)
        self._place = Place("", "", str(self._part), agent=True)
        self._secrets = {*secrets, *secrets_in(os.environ)}
        self._scrubbers = self._made_scrubbers()
        self._lock, self._disk = threading.Lock(), threading.Lock()
        self._time = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._under_way: set[Asked] = set()
        self._added = self._saved = self._size = 0
        self._failed: dict[Key, str] = {}
        self._finished = self._tried = False
        self.error: ReactReproError | None = None
        self._held = ExitStack()
        try:
            self._begin()
        except BaseException as problem:
            self.release()
            if isinstance(problem, OSError):
                raise DiskError.of(problem) from None
            raise

    def _begin(self) -> None:
        if self._path.is_dir():
            raise Usage(f"{self._path} is a folder. Name a file, such as {self._path / 'agent.yaml'}.")
        if not self._held.enter_context(locked(self._path.with_name(f".{self._path.name}{LOCK}"))):
            raise Usage(f"{self._path} is being recorded by another client or process. Give each a file of its own.")
        for left in self._path.parent.glob(f".{glob.escape(self._path.name)}.*{TEMPORARY}"):
            left.unlink(missing_ok=True)
        try:
            earlier = read_exchanges(self._part).interactions
        except CassetteAbsent:
            earlier = ()
        except Corrupt as error:
            raise Corrupt(f"{error}\n  An earlier attempt left it. Remove it to begin anew.") from None
        self._kept, self._earlier = list(earlier), Answers(earlier, self._place)
        self._saved = len(earlier)

    # --- one request ------------------------------------------------------------------------------------------------

    def begin(self, asked: Asked, headers: Mapping[str, str]) -> Answer | None:
        """Note that *asked* is about to be sent; return its answer where an earlier attempt has got one.

        Where None is returned, one of `take`, `settle` and `fail` has to follow.

        Raises:
            Usage: the recording is finished; or nobody knows what of the reply may be written.
            Corrupt: the request holds a key.
            DiskError: there is no room for its reply.
        """
        if self._finished:
            raise Usage(f"{self._path} is finished: nothing more can be recorded into it. Make a new client.")
        try:
            self._check(asked, headers)
        except ReactReproError as error:
            self.error = self.error or error
            raise
        with self._lock:
            number = self._earlier.take(asked)
            if number is not None:
                return played(self._kept[number])
            self._under_way.add(asked)
        return None

    def take(self, asked: Asked, status: int, headers: Mapping[str, str], body: bytes) -> bytes:
        """Record a whole answer if it is a reply; return what is handed on.

        Raises:
            DiskError: it could not be saved.
        """
        if status != 200:
            return self._lost(asked, body, f"status {status}")
        kept = KEPT[asked.endpoint]
        try:
            text = body.decode("utf-8-sig")
            written = self._scrubber(asked).response(text, kept.form)
            if not kept.is_reply(json.loads(text)):
                return self._lost(asked, body, "an answer with status 200 that is no reply")
        except (ValueError, RecursionError):
            return self._lost(asked, body, "an answer with status 200 that is not readable JSON")
        self._keep(asked, headers, written)
        return written.encode("utf-8")

    def events(self, asked: Asked) -> Events:
        """Return what takes the events of a streamed answer; `settle` has to follow."""
        kept, scrubber = KEPT[asked.endpoint], self._scrubber(asked)
        return Events(lambda text: scrubber.response(text, kept.form), kept.is_last, scrubber.holds)

    def settle(self, asked: Asked, headers: Mapping[str, str], events: Events) -> bytes:
        """Record a streamed answer, of which nothing more comes, if it is a reply; return what was held back of it.

        Raises:
            DiskError: it could not be saved.
        """
        if events.problem is not None:
            return self._lost(asked, events.held(), events.problem)
        self._keep(asked, headers, events.text)
        return events.held()

    def fail(self, asked: Asked, why: str) -> None:
        """Note that *asked* got no reply, unless it did or that is known."""
        self._lost(asked, b"", why)

    # --- the end ----------------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """Put the recording in its place, if a replay can answer all that was asked.

        Raises:
            ReactReproError: the first failure.
            InfraError: a request got no reply.
            Usage: nothing was asked, or something is under way.
            DiskError: it could not be written.
        """
        self._tried = True
        with self._lock:
            if self._finished:
                return
            self._refuse_incomplete()
            used = [*self._earlier.used, *[True] * (len(self._kept) - len(self._earlier.used))]
            left = tuple(made for made, was in zip(self._kept, used, strict=True) if was)
            self._finished = True
        try:
            with self._disk:
                if len(left) != len(used):
                    self._write(left)
                move(self._part, self._path)
        except (OSError, ReactReproError) as problem:
            self._finished = False
            raise (DiskError.of(problem) if isinstance(problem, OSError) else problem) from None
        self.release()

    def closed(self) -> None:
        """Note that the connections are closed: the end, if `finish` was tried. Else some SDK closed them too early."""
        if self._tried:
            self.release()

    def release(self) -> None:
        """Let others record the file."""
        self._held.close()

    def _refuse_incomplete(self) -> None:
        stands = f"{self._path} is as it was; what was recorded is in {self._part}"
        if self.error is not None:
            raise self.error
        if self._under_way:
            raise Usage(f"{len(self._under_way)} requests are still under way: wait for them before the end. {stands}.")
        if self._failed:
            why = ", ".join(sorted(set(self._failed.values())))
            raise InfraError(
                f"{len(self._failed)} requests got no reply ({why}), and a replay could not answer them. {stands}. Run "
                "it again: what is recorded is not asked again."
            )
        if not any(self._earlier.used) and not self._added:
            raise Usage(
                f"no request came through this client, so nothing was recorded. {self._path} is as it was. Give the "
                "client to the SDK: OpenAI(http_client=client)."
            )

    # --- what is written --------------------------------------------------------------------------------------------

    def _check(self, asked: Asked, headers: Mapping[str, str]) -> None:
        if asked.method != "POST" or asked.endpoint not in KEPT or not isinstance(asked.body, dict):
            raise Usage(
                f"{asked.method} {asked.endpoint} cannot be recorded: only JSON that is posted to {', '.join(KEPT)}. "
                "It was not sent. Send it through another client."
            )
        sent = secrets_sent(headers)
        with self._lock:
            if not sent <= self._secrets:
                self._secrets |= sent
                self._scrubbers = self._made_scrubbers()
        if self._scrubbers[True].holds(asked.body):
            raise Corrupt("the request would hold a key, or another secret of the environment. It was not sent.")
        try:
            disk = shutil.disk_usage(self._path.parent)
            if disk.total and disk.free < 2 * self._size + SPARE:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._part))
        except OSError as error:
            raise DiskError.of(error) from None

    def _made_scrubbers(self) -> dict[bool, Scrubber]:
        return {home: Scrubber(self._secrets, home=home) for home in (True, False)}

    def _scrubber(self, asked: Asked) -> Scrubber:
        """Return what scrubs the reply to *asked*: a home folder that the agent itself names is nothing to hide."""
        hiding, text = self._scrubbers[True], body_json(asked.body)
        return hiding if hiding.text(text) == text else self._scrubbers[False]

    def _keep(self, asked: Asked, headers: Mapping[str, str], text: str) -> None:
        """Record one reply; return when it is on the disk. Threads that wait for the disk are written together."""
        scrubber = self._scrubbers[True]
        interaction = Interaction(
            method=asked.method,
            uri=scrubber.uri(asked.uri),
            body=body_json(asked.body),
            status=200,
            response=text,
            request_headers={"Content-Type": ["application/json"]},
            response_headers=scrubber.headers(headers),
        )
        with self._lock:
            self._kept.append(interaction)
            number = len(self._kept)
        try:
            with self._disk:
                if self._saved < number:
                    with self._lock:
                        everything = tuple(self._kept)
                    self._write(everything)
                    self._saved = len(everything)
        except (OSError, ReactReproError) as problem:
            error = DiskError.of(problem) if isinstance(problem, OSError) else problem
            self.error = self.error or error
            self.fail(asked, "an answer that could not be saved")
            raise error from None
        with self._lock:
            self._failed.pop(asked.key, None)
            self._under_way.discard(asked)
            self._added += 1

    def _write(self, interactions: tuple[Interaction, ...]) -> None:
        made: Exchanges = seal_exchanges(interactions, time=self._time, versions=_versions(), provenance="recorded")
        data = cassette_bytes(made)
        if len(data) > MAX_CASSETTE:
            raise Usage(f"{self._part} would be larger than {MAX_CASSETTE} bytes. Record into several files.")
        self._scrubbers[True].refuse(data, str(self._path))
        replace_file(self._part, data)
        self._size = len(data)

    def _lost(self, asked: Asked, handed_on: bytes, why: str) -> bytes:
        with self._lock:
            if asked in self._under_way:
                self._under_way.discard(asked)
                self._failed[asked.key] = why
        return handed_on


def _versions() -> dict[str, str]:
    """Return the versions of what records, and of the SDKs that are in use."""
    found = {"reactrepro": __version__, "python": platform.python_version()}
    for package in ("openai", "anthropic", "httpx2", "httpx"):
        if package in sys.modules:
            try:
                found[package] = version(package)
            except PackageNotFoundError:
                continue
    return found
