"""What the files hold. docs/formats.md says what each field means to a reader; the types here are what is checked.

Values that the domain already has (settings, outcome, pins) stand in the files under the domain's own field names.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec

from .. import domain
from ..domain import Json
from ..errors import Corrupt, FormatNewer

RUN_FORMAT = "reactrepro-run/1"
EPISODE_FORMAT = "reactrepro-episode/1"
EXCHANGE_FORMAT = "reactrepro-exchange/1"

Provenance: TypeAlias = Literal["recorded", "transcribed", "scripted"]
"""How a recording came to be: a live exchange; rebuilt from a published transcript; written by hand or by a script."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRef:
    """Which task a run belongs to: its name, its version, and the scorer (name and version) that judged it."""

    name: str
    version: int
    scorer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConfig:
    """A run's one configuration: ``run.json``.

    Attributes:
        task, method, provider, model, settings, prompt, site: what was asked; see docs/formats.md.
        provenance: how the whole run came to be.
        selection: the questions asked for, as typed ("0-9,12").
        filled_in: dotted names of values that a transcript did not publish and that were filled in.
        note: where the run comes from, in a sentence for readers.
        parts: for a method composed of others: role -> "method/run". Such a run holds no exchanges of its own.
        supersedes: run id of the recording that this one replaced.
        rules: decisions that its method takes because the paper's released code has none.
    """

    format: str
    task: TaskRef
    method: str
    provider: str
    model: str
    settings: domain.Settings
    prompt: str
    site: str | None
    provenance: Provenance
    selection: str
    filled_in: tuple[str, ...] = ()
    note: str = ""
    parts: dict[str, str] = field(default_factory=dict)
    supersedes: str | None = None
    rules: tuple[str, ...] = ()

    def settings_sha256(self) -> str:
        """SHA-256 (hex) of what was asked: everything that makes two runs two configurations."""
        asked = msgspec.to_builtins(
            {
                "task": self.task.name,
                "method": self.method,
                "provider": self.provider,
                "model": self.model,
                "settings": plain(self.settings),
                "prompt": self.prompt,
                "site": self.site,
                "parts": self.parts,
            }
        )
        return domain.sha256_text(json.dumps(asked, sort_keys=True, separators=(",", ":"), ensure_ascii=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRef:
    """Which prompt an episode was recorded with: its name, its hash, and the hash of each file it was read from."""

    name: str
    sha256: str
    files: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, prompt: domain.Prompt) -> PromptRef:
        """Return the reference to *prompt*."""
        return cls(name=prompt.name, sha256=prompt.sha256, files={file.name: file.sha256 for file in prompt.files})


@dataclass(frozen=True, slots=True, kw_only=True)
class TapeRef:
    """The observation tape beside an episode: its scope and the SHA-256 of its bytes."""

    scope: Literal["wiki", "environment"]
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InteractionsRef:
    """How many interactions the file holds, and the SHA-256 of what is in them (`interactions_sha256`)."""

    count: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeMeta:
    """The top-level key ``reactrepro`` of an episode's file.

    Attributes:
        key: names the file: the index in decimal, or a question hash.
        index, id, question, question_sha256, gold: the question; see `domain.Question`.
        prompt: name and hash of the prompt that was sent.
        provenance, filled_in: as in the run, for this episode.
        time: when it was recorded, ISO 8601 in UTC; None where nobody said.
        versions: package name -> version, of what recorded it.
        git_commit: commit of the recording checkout, or None.
        model_returned, system_fingerprint: as the provider answered, or None.
        host: host that answered, or None.
        sent: what the wire got where it differs from what was asked.
        samples: numbers of the self-consistency samples in this file, in order; empty for one greedy episode.
        pages: every page read, pinned.
        tape: the observation tape beside it, if there is one.
        interactions: count and hash of the interactions below it.
        outcome: what a replay has to arrive at; None while nothing is expected yet.
    """

    format: str
    key: str
    index: int | None
    id: str | None
    question: str
    question_sha256: str
    gold: str
    prompt: PromptRef
    provenance: Provenance
    filled_in: tuple[str, ...] = ()
    time: str | None = None
    versions: dict[str, str] = field(default_factory=dict)
    git_commit: str | None = None
    model_returned: str | None = None
    system_fingerprint: str | None = None
    host: str | None = None
    sent: domain.Sent = field(default_factory=domain.Sent)
    samples: tuple[int, ...] = ()
    pages: tuple[domain.Pin, ...] = ()
    tape: TapeRef | None = None
    interactions: InteractionsRef
    outcome: domain.Outcome | None = None

    @classmethod
    def of(cls, question: domain.Question, prompt: domain.Prompt, provenance: Provenance, **more: Any) -> EpisodeMeta:
        """Return the block for *question* asked with *prompt*; `write.seal` counts and hashes the interactions."""
        return cls(
            format=EPISODE_FORMAT,
            key=question.key,
            index=question.index,
            id=question.id,
            question=question.text,
            question_sha256=question.sha256,
            gold=question.gold,
            prompt=PromptRef.of(prompt),
            provenance=provenance,
            interactions=InteractionsRef(count=0, sha256=""),
            **more,
        )

    def as_question(self) -> domain.Question:
        """Return the question, which is all that a replay needs of the data set."""
        return domain.Question(key=self.key, text=self.question, gold=self.gold, index=self.index, id=self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeMeta:
    """The top-level key ``reactrepro`` of what somebody else's agent exchanged with its models: no task, no outcome.

    Attributes:
        provenance, time, versions, interactions: as in `EpisodeMeta`.
    """

    format: str = EXCHANGE_FORMAT
    provenance: Provenance
    time: str | None = None
    versions: dict[str, str] = field(default_factory=dict)
    interactions: InteractionsRef


@dataclass(frozen=True)
class Interaction:
    """One request and its response, as vcrpy stores them.

    Attributes:
        method, uri: of the request.
        body: the request body's text; JSON for every LLM call.
        status: HTTP status code.
        response: the response body's text, character for character as it came.
        request_headers, response_headers: what the allow-list let through; no effect on a replay.
        reason: the HTTP reason phrase.
    """

    method: str
    uri: str
    body: str
    status: int
    response: str
    request_headers: dict[str, list[str]] = field(default_factory=lambda: {"Content-Type": ["application/json"]})
    response_headers: dict[str, list[str]] = field(default_factory=lambda: {"Content-Type": ["application/json"]})
    reason: str = "OK"

    @cached_property
    def request_json(self) -> Json:
        """The request body, parsed. Raises ValueError where it is not JSON."""
        return _parsed(self.body)

    @cached_property
    def response_json(self) -> Json:
        """The response body, parsed. Raises ValueError where it is not JSON."""
        return _parsed(self.response)


@dataclass(frozen=True)
class Cassette:
    """One episode's file: our block, and the interactions in recorded order.

    Attributes:
        meta: our block.
        interactions: in the order in which they were recorded.
        path: where it was read from, for messages; None for one that was never on disk.
    """

    meta: EpisodeMeta
    interactions: tuple[Interaction, ...]
    path: Path | None = None


@dataclass(frozen=True)
class Exchanges:
    """The file of an agent that is not ours; as `Cassette`, but for its block."""

    meta: ExchangeMeta
    interactions: tuple[Interaction, ...]
    path: Path | None = None


def _parsed(text: str) -> Json:
    try:
        return msgspec.json.decode(text)
    except (ValueError, RecursionError):  # a lone surrogate, NaN; and json's own words for what is no JSON
        return json.loads(text)


def interactions_sha256(interactions: tuple[Interaction, ...]) -> str:
    """SHA-256 (hex) of the canonical JSON of ``[[method, uri, body, status, response], ...]``.

    It covers everything that a replay reads of the interactions, and nothing that a re-wrapping of the YAML changes.
    """
    rows = [[i.method, i.uri, i.body, i.status, i.response] for i in interactions]
    return hashlib.sha256(_canonical(rows)).hexdigest()


def _canonical(value: Json) -> bytes:
    """Return what `json.dumps` makes of *value*, in ASCII; msgspec makes the same of plain ASCII, ten times faster."""
    try:
        data = msgspec.json.encode(value)
        if data.isascii() and b"\x7f" not in data:
            return data
    except UnicodeEncodeError:
        pass
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def plain(form: Any) -> Any:
    """Return a dataclass of this module, or settings, as JSON-ready data.

    Fields that came later than the first recordings stand in a file only where they say something, so that older files
    stay as they are, hashes included.
    """
    data = msgspec.to_builtins(form)
    settings = data if isinstance(form, domain.Settings) else data.get("settings")
    _drop(settings, {"samples": 1})
    _drop(data.get("outcome"), {"more": {}, "samples": []})
    _drop(data if isinstance(form, RunConfig) else None, {"rules": []})
    return data


def _drop(part: Any, silent: dict[str, Any]) -> None:
    if isinstance(part, dict):
        for name, value in silent.items():
            if part.get(name) in (value, ()):
                del part[name]


def check_format(found: Any, expected: str, path: Path | None) -> None:
    """Refuse *found* unless it is the format and version *expected* ("reactrepro-run/1").

    Raises:
        FormatNewer: a version that this program does not know.
        Corrupt: another format.
    """
    if found == expected:
        return
    name, _, version = expected.partition("/")
    if isinstance(found, str) and found.startswith(name + "/") and found[len(name) + 1 :].isdecimal():
        raise FormatNewer(
            f"{path}: format {found!r}, and this program reads up to version {version}. "
            "It was written by a newer reactrepro: update reactrepro."
        )
    raise Corrupt(f"{path}: the format field is {found!r}, not {expected!r}; this is no such file.")
