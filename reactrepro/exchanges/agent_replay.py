"""What an agent that is not ours exchanged with its models, under replay. No HTTP, no SDK, no vcrpy.

Such an agent has no steps that a program could number, and may ask from many threads at once. So a recorded reply is
found by its request alone: equal requests are answered in recorded order, each reply once; different ones in any order.
"""

from __future__ import annotations

import functools
import threading
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from ..cassettes.matching import endpoint, meaning
from ..cassettes.mismatch import Place
from ..cassettes.model import Interaction
from ..cassettes.read import read_exchanges
from ..domain import Call, Json
from ..errors import CassetteAbsent, CassetteMiss, ReactReproError
from .bodies import Answer, content_type, json_or_text
from .recorded import miss, parsed, refuse_error, refuse_leftover

Key: TypeAlias = tuple[str, str, bytes]
"""Method, logical endpoint, and what the body means."""


@dataclass(frozen=True, eq=False)
class Asked:
    """One request, as it is on the wire; equal to none but itself.

    Attributes:
        method, uri, raw: of the request; its body as bytes.
        key: what it is found by.
    """

    method: str
    uri: str
    raw: bytes
    key: Key

    @cached_property
    def body(self) -> Json:
        """The JSON body, parsed; its text where it is not JSON."""
        return json_or_text(self.raw)

    @property
    def endpoint(self) -> str:
        """The logical endpoint."""
        return self.key[1]

    @classmethod
    def of(cls, method: str, uri: str, body: bytes) -> Asked:
        """Return the request of *method* to *uri* with *body*."""
        try:
            found = meaning(body)
        except (ValueError, RecursionError):
            found = b"no JSON: " + body
        return cls(method, uri, body, (method, endpoint(uri), found))


class Answers:
    """Recorded replies, by what was asked (used by one thread at a time).

    Args:
        interactions: what was recorded.
        place: where, for messages.

    Attributes:
        used: for each interaction, whether it has answered a request.

    Raises:
        Corrupt: a recorded request body is not JSON.
    """

    def __init__(self, interactions: Sequence[Interaction], place: Place) -> None:
        self.used = [False] * len(interactions)
        self._waiting: defaultdict[Key, deque[int]] = defaultdict(deque)
        for number, made in enumerate(interactions):
            found: bytes = parsed(functools.partial(meaning, made.body), "request", place)
            self._waiting[made.method, endpoint(made.uri), found].append(number)

    def take(self, asked: Asked) -> int | None:
        """Return the number (0-based) of the first unused interaction that answers *asked*, used from now on."""
        waiting = self._waiting.get(asked.key)
        if not waiting:
            return None
        number = waiting.popleft()
        self.used[number] = True
        return number


def played(interaction: Interaction) -> Answer:
    """Return what a client gets to see of *interaction*."""
    return Answer(interaction.status, interaction.response.encode("utf-8"), content_type(interaction.response_headers))


class Replaying:
    """One recording under replay; shared by threads and tasks.

    Args:
        path: the file.
        allow_leftover: replies that nobody asks for are no failure.

    Attributes:
        error: the first failure, which somebody above may have swallowed; None while there is none.

    Raises:
        CassetteAbsent: there is no such file.
        Corrupt: it is damaged, unsafe, or no such recording.
    """

    def __init__(self, path: Path, *, allow_leftover: bool = False) -> None:
        try:
            self._recorded = read_exchanges(path)
        except CassetteAbsent as error:
            raise CassetteAbsent(f'{error} Record it: mode="record".') from None
        remedy = 'Restore what changed, or record it again: mode="record".'
        self._place = Place("", "", str(path), remedy=remedy, agent=True)
        self._answers = Answers(self._recorded.interactions, self._place)
        self._allow_leftover = allow_leftover
        self._lock = threading.Lock()
        self._asked = 0
        self.error: ReactReproError | None = None

    def answer(self, asked: Asked) -> Answer:
        """Return the recorded answer to *asked*.

        Raises:
            CassetteMiss: no unused interaction has this request.
            Corrupt: the recorded answer is an error.
        """
        with self._lock:
            self._asked += 1
            step, number = self._asked, self._answers.take(asked)
            used = [] if number is not None else list(self._answers.used)
        try:
            if number is None:
                raise self._miss(asked, used, step)
            interaction = self._recorded.interactions[number]
            refuse_error(interaction, number + 1, self._place)
        except ReactReproError as error:
            self.error = self.error or error
            raise
        return played(interaction)

    def finish(self) -> None:
        """Assert that all went well, whoever swallowed an error, and that every recorded reply was asked for.

        Raises:
            ReactReproError: the first failure.
            CassetteLeftover: some replies were not asked for.
        """
        if self.error is not None:
            raise self.error
        if not self._allow_leftover:
            with self._lock:
                used = list(self._answers.used)
            refuse_leftover(used, self._place)

    def release(self) -> None:
        """Hold nothing, as before."""

    def _miss(self, asked: Asked, used: Sequence[bool], step: int) -> CassetteMiss:
        return miss(self._recorded, used, Call(asked.endpoint, asked.body, step), self._place)
