"""READ FIRST: the whole design, as values and protocols.

One sentence: a run is ``method.run(question, prompt, llm, env, settings) -> Trajectory``; everything else supplies one
of those values or reports on the result.

* A `Task` turns a data row into a `Question` and an answer into a `Score`.
* A `Prompt` is exact text from a data file.
* An `Llm` is a `Backend` (two pure functions for one wire API) and an `Exchange` (which sends, or looks up).
* An `Environment` answers actions with observations.
* A `Method` is a loop over the other four, without I/O.

Values are frozen once made. Only the standard library is imported here, and nothing of reactrepro but `errors` and
`sent` (how requests are put where that is not as asked).
Names are the field's own words (Yao et al. 2022, "ReAct: Synergizing Reasoning and Acting in Language Models").
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, Protocol, TypeAlias

from .errors import Usage
from .sent import Sent as Sent  # noqa: PLC0414 - a value of the design like the others

Json: TypeAlias = Any
"""A parsed JSON value: None, bool, int, float, str, list or dict with str keys."""

Ended: TypeAlias = Literal[
    "finish", "step_limit", "no_answer", "infra_error", "filtered", "refused", "context_exceeded"
]
"""How an episode came to its end.

`finish`: the model gave an answer. `step_limit`: it gave none, and the hidden ``finish[]`` closed the episode.
`no_answer`: a method without steps found no answer in what the model wrote. `filtered`, `refused`, `context_exceeded`:
the provider answered, but with no reply to judge. `infra_error`: it did not answer. Only the first three are judged.
"""

Kind: TypeAlias = Literal["article", "results", "nothing"]
"""What a wiki answered to a query: an article, a list of search results, or a genuine "there were no results"."""


# --- question, prompt -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Question:
    """One item of a data set.

    Attributes:
        key: what names its recording: the index, in decimal, for a fixed data set; a question hash for a user's file.
        text: the question (or claim), character for character as in the data.
        gold: the gold answer, as in the data.
        index: 0-based row number, or None where the data set has no fixed order.
        id: the data set's own id of the row, or None where it has none or nobody published it.
    """

    key: str
    text: str
    gold: str
    index: int | None = None
    id: str | None = None

    @property
    def sha256(self) -> str:
        """SHA-256 (hex) of the question's UTF-8 bytes."""
        return sha256_text(self.text)


@dataclass(frozen=True, slots=True)
class PromptFile:
    """A file that a prompt was read from: its name to print ("prompts/hotpotqa/paper/react.txt"), and its hash."""

    name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """Everything that stands before the question: instruction (where the method has one) and few-shot exemplars.

    Attributes:
        task, method, name: where it belongs: ``hotpotqa``, ``react``, ``paper``.
        text: exact characters; no newline is ever added, dropped or translated.
        files: the data files it was read from, in order.
    """

    task: str
    method: str
    name: str
    text: str
    files: tuple[PromptFile, ...] = ()

    @property
    def sha256(self) -> str:
        """SHA-256 (hex) of the prompt's UTF-8 bytes."""
        return sha256_text(self.text)


# --- settings -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The conditions of a run, as asked for. Named bundles of them are *profiles*.

    No ``top_p`` is ever sent: 1 is neutral, and newer models refuse it beside a temperature.

    Attributes:
        profile: the profile that the other values started from.
        api: wire API: ``chat``, ``completions`` or ``messages``.
        protocol: how replies are parsed: ``strict`` (the original's rules) or ``tolerant``.
        extraction: how a page becomes text: ``article`` or ``original``.
        max_tokens: token limit of one reply.
        temperature: sampling temperature; 0 is greedy.
        max_steps: step limit (7 for HotpotQA in the paper, section 3.2); no matter to methods without steps.
        samples: how many samples of one question a voting method takes; 1 for all others.
    """

    profile: str
    api: str
    protocol: str
    extraction: str
    max_tokens: int
    temperature: int | float
    max_steps: int
    samples: int = 1

    @classmethod
    def of(cls, profile: str, *, max_steps: int, method: Mapping[str, Any] | None = None, **overrides: Any) -> Settings:
        """Return *profile*'s settings with single values overridden.

        Args:
            profile: a name in `PROFILES`.
            max_steps: the task's step limit, used unless overridden.
            method: what the method has otherwise than the profile (`Method.defaults`).
            overrides: field names to values; a value of None means "as in the profile".

        Raises:
            Usage: unknown profile or unknown setting.
        """
        if profile not in PROFILES:
            raise Usage(f"unknown profile {profile!r}; known: {', '.join(PROFILES)}")
        base = cls(profile=profile, max_steps=max_steps, **{**PROFILES[profile], **(method or {})})
        given = {name: value for name, value in overrides.items() if value is not None}
        if unknown := given.keys() - {f.name for f in fields(cls)} | (given.keys() & {"profile"}):
            raise Usage(f"unknown setting: {', '.join(sorted(unknown))}")
        return replace(base, **given)

    def overrides(self, *, max_steps: int, method: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the settings that differ from those of the profile, by name; arguments as in `of`."""
        base = Settings.of(self.profile, max_steps=max_steps, method=method)
        return {name: mine for name, (mine, _) in _differing(self, base).items()}

    def as_dict(self) -> dict[str, Any]:
        """Return name to value, in field order."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


PROFILES: Mapping[str, Mapping[str, Any]] = {
    # The paper's own conditions: completions endpoint, 100 tokens, greedy (released notebook, `llm()`).
    "paper": {"api": "completions", "protocol": "strict", "extraction": "original"}
    | {"max_tokens": 100, "temperature": 0},
    # What chat models need: room for prose, and a parser that recovers what they really write.
    "chat": {"api": "chat", "protocol": "tolerant", "extraction": "article"} | {"max_tokens": 512, "temperature": 0},
}


# --- one LLM call ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ask:
    """What one call asks of a model, apart from the prompt and the stop strings.

    Attributes:
        model, max_tokens, temperature: as in the settings.
        sent: in which way the server takes it.
        samples: how many replies are wanted of this call; more than 1 only where the API has a parameter for it.
    """

    model: str
    max_tokens: int
    temperature: int | float
    sent: Sent = field(default_factory=Sent)
    samples: int = 1


@dataclass(frozen=True, slots=True)
class Call:
    """One request, ready to be sent or looked up.

    Attributes:
        endpoint: the logical endpoint ("chat/completions"): no host, no version prefix.
        body: the JSON body.
        step: the 1-based step of the episode that makes it, for messages.
    """

    endpoint: str
    body: Json
    step: int


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token usage of one reply; None is unknown, which is not zero."""

    prompt: int | None = None
    completion: int | None = None

    @classmethod
    def total(cls, used: Iterable[Tokens]) -> Tokens:
        """Return the sum; each count is unknown as soon as one is, or where there is none to add up."""
        counts = zip(*((one.prompt, one.completion) for one in used), strict=True)
        return cls(*(None if None in column else sum(filter(None, column)) for column in counts))


@dataclass(frozen=True, slots=True)
class Completion:
    """One reply of a model.

    Attributes:
        text: what the loop reads: the reply up to the first stop string.
        raw: the reply as it came, before the local cut.
        finish: the provider's reason in its own word ("stop", "length", "content_filter", "refusal", ...), or None.
        cut: how many characters the local cut removed; 0 where the server had stopped by itself.
        tokens: usage as reported.
        model: the model name that came back, or None.
        fingerprint: OpenAI's ``system_fingerprint``, or None.
        reasoning: thinking text that came beside the reply; logged, never parsed.
        notes: what was odd about the reply's shape, in short words.
    """

    text: str
    raw: str
    finish: str | None = None
    cut: int = 0
    tokens: Tokens = Tokens()
    model: str | None = None
    fingerprint: str | None = None
    reasoning: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """One call as it was made.

    Attributes:
        step: 1-based step of the episode.
        prompt: the exact text that was sent.
        stop: the stop strings asked for.
        completion: the reply, the first one where several were asked for; None where the call failed.
        further: the other replies to this call. Their token usage stands in the first.
    """

    step: int
    prompt: str
    stop: tuple[str, ...]
    completion: Completion | None
    further: tuple[Completion, ...] = ()


# --- steps ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Action:
    """A parsed action.

    Attributes:
        name: ``search``, ``lookup``, ``finish``, ``think``; "" where the text is no valid action.
        argument: the text between the brackets, nothing stripped; "" where there is none.
        raw: the action as it is printed and as it stands in the prompt ("Search[Scott Derrickson]").
        command: the text that the original hands to its environment (first letter lower-cased, stripped).
    """

    name: str
    argument: str
    raw: str
    command: str


@dataclass(frozen=True, slots=True)
class Observation:
    """An environment's answer.

    Attributes:
        text: as the environment gives it; a trailing newline is part of it.
        done: the episode is over.
        reward: 1 or 0, for the finishing action of a task that has a gold answer; else 0.
        flags: what the environment did that the reader should know ("backslash_kept", "redirected", ...).
    """

    text: str
    done: bool = False
    reward: float = 0
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One turn of the loop: thought, action, observation.

    Attributes:
        i: 1-based number.
        thought: as it stands in the prompt.
        action: as it was executed.
        observation: as it stands in the prompt (`Observation.text`, cleaned by the loop's own rule).
        flags: format flags: what was repaired, emulated or missing in this step's replies.
        remarks: what the environment remarked (`Observation.flags`); no fault of the model's.
    """

    i: int
    thought: str
    action: Action
    observation: str
    flags: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sample:
    """One reply of a method that answers in one go: a thought, where the method has one, and an answer.

    Attributes:
        number: 1-based, in the order in which the samples were taken.
        text: the reply as it stands after the prompt, cut at the stop string.
        answer: what it answers; None where no answer is found in it.
        flags: format flags.
    """

    number: int
    text: str
    answer: str | None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trajectory:
    """What a method made of one question.

    Attributes:
        opening: the first line, as the environment gave it ("Question: ...").
        steps: in order; the hidden ``finish[]`` after the last step is not among them. Empty for methods without.
        answer: the submitted answer; "" after the hidden ``finish[]``; None where there is nothing to judge, or no
            answer was found.
        ended: how it ended.
        llm_calls: calls made, reprompts included (the original's ``n_calls``).
        reprompts: second calls after a reply without an action (the original's ``n_badcalls``; "parse-fail retries").
        strict_reprompts: how many replies the strict protocol would have reprompted; equals `reprompts` under strict.
        samples: the replies of a method that answers in one go; several where it takes a vote.
    """

    opening: str
    steps: tuple[Step, ...]
    answer: str | None
    ended: Ended
    llm_calls: int
    reprompts: int
    strict_reprompts: int
    samples: tuple[Sample, ...] = ()

    @property
    def flags(self) -> tuple[tuple[str, ...], ...]:
        """The format flags of each step, in order, then of each sample."""
        return (*(step.flags for step in self.steps), *(sample.flags for sample in self.samples))


@dataclass(frozen=True, slots=True)
class Score:
    """What an answer is worth.

    Attributes:
        em: exact match.
        f1: token F1, 0.0 to 1.0.
        more: further measures of the task, by name (FEVER: ``official_accuracy``).
    """

    em: bool
    f1: float
    more: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a recording expects its replay to arrive at. Compared with what is computed, never read in its place.

    Attributes:
        answer, ended, steps, llm_calls, reprompts, flags: of the trajectory; `steps` is their number.
        em, f1, more: of the score.
        samples: the answer of each sample, in order.
    """

    answer: str | None
    em: bool
    f1: float
    steps: int
    llm_calls: int
    reprompts: int
    flags: tuple[tuple[str, ...], ...]
    ended: Ended
    more: Mapping[str, float] = field(default_factory=dict)
    samples: tuple[str | None, ...] = ()

    @classmethod
    def computed(cls, trajectory: Trajectory, score: Score) -> Outcome:
        """Return the outcome of *trajectory* scored as *score*."""
        same = {name: getattr(trajectory, name) for name in ("answer", "llm_calls", "reprompts", "flags", "ended")}
        answers = tuple(sample.answer for sample in trajectory.samples)
        more = dict(score.more)
        return cls(**same, em=score.em, f1=score.f1, steps=len(trajectory.steps), more=more, samples=answers)

    def differences(self, other: Outcome) -> dict[str, tuple[Any, Any]]:
        """Return field name to (self's value, other's value) for every field that differs."""
        return _differing(self, other)


# --- a page, as an agent sees it ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PageView:
    """What an agent could see of a wiki's answer to one query, under one extraction.

    Attributes:
        site: logical name of the wiki (``enwiki``, ``pelm``); never a host or a port.
        query: the exact query, not a title.
        kind: what the wiki answered.
        extraction: name of the extraction that made the text.
        version: that extraction's version; it moves when a text can change.
        titles: the titles of the search results, in order, cleaned and stripped.
        text: paragraphs, each ended by a newline; "" where nothing was kept; None where there is no text to read.
        disambiguation: some paragraph, before any was left out, contains ``may refer to:``.
        flags: remarks of the extraction ("backslash_kept").
    """

    site: str
    query: str
    kind: Kind
    extraction: str
    version: int
    titles: tuple[str, ...] = ()
    text: str | None = None
    disambiguation: bool = False
    flags: tuple[str, ...] = ()

    @property
    def sha256(self) -> str:
        """SHA-256 (hex) of the canonical JSON of all of the above but `flags`; the text stands in it by its own hash.

        Recordings pin pages by it.
        """
        visible = {
            "disambiguation": self.disambiguation,
            "extraction": [self.extraction, self.version],
            "kind": self.kind,
            "query": self.query,
            "site": self.site,
            "text_sha256": None if self.text is None else sha256_text(self.text),
            "titles": list(self.titles),
        }
        return sha256_text(json.dumps(visible, sort_keys=True, separators=(",", ":"), ensure_ascii=True))


@dataclass(frozen=True, slots=True)
class Pin:
    """One page that an episode read: which query, and exactly what it showed (`PageView.sha256`)."""

    site: str
    query: str
    sha256: str


# --- protocols ------------------------------------------------------------------------------------------------------


class Task(Protocol):
    """Row -> `Question`, answer -> `Score`. Knows no backend and no environment."""

    name: str
    version: int  #: moves when a score can
    scorer: str  #: name and version of the scoring rules ("hotpotqa-official/1")
    prompt_task: str  #: the task whose prompts it uses
    prompt: str  #: the name of the prompts that it uses unless others are asked for
    site: str  #: the wiki whose pages it reads, by its logical name
    max_steps: int  #: the paper's step limit

    def opening(self, question: Question) -> str:
        """Return the line that follows the prompt, without its newline ("Question: ...")."""

    def score(self, answer: str | None, gold: str) -> Score:
        """Score *answer*; None (an unfinished or unjudged episode) is always worth 0."""


class Llm(Protocol):
    """Completes a prompt."""

    @property
    def calls(self) -> int:
        """How many calls were answered so far."""

    def complete(self, prompt: str, stop: Sequence[str], *, step: int) -> Completion:
        """Return the model's reply to *prompt*, cut at the first of the *stop* strings.

        Raises:
            ReactReproError: the exchange has no answer (absent, different, network).
        """

    def sample(self, prompt: str, stop: Sequence[str], count: int, *, step: int) -> tuple[Completion, ...]:
        """Return *count* replies to *prompt*, in the order in which they were taken, each cut as by `complete`.

        Raises:
            ReactReproError: as `complete`.
        """


class Environment(Protocol):
    """Answers actions with observations."""

    def reset(self) -> str:
        """Begin the episode; return the initial observation ("Question: ...")."""

    def step(self, action: Action) -> Observation:
        """Execute *action*.

        Raises:
            ReactReproError: no page or tape entry answers it.
        """


class Method(Protocol):
    """A prompting method: a loop without I/O."""

    name: str
    prompt: str  #: the method whose prompt it uses: its own name, or another's (`cot_sc` samples the prompt of `cot`)
    acts: bool  #: it executes actions; one that does not needs no wiki
    rules: tuple[str, ...]  #: decisions taken here because the released code has none, stated in each run

    def defaults(self, profile: str) -> Mapping[str, Any]:
        """Return the settings that the method has otherwise than *profile*, by name."""

    def run(self, question: Question, prompt: Prompt, llm: Llm, env: Environment, settings: Settings) -> Trajectory:
        """Answer *question*; every error of *llm* and *env* passes through."""


class BackOff(Protocol):
    """A method composed of two others: the second is asked where the first is not sure enough.

    It makes no call of its own, so that all it says can be computed from recordings of its parts.
    """

    name: str
    parts: tuple[str, str]  #: the methods that it is composed of, the one that is always asked first
    rules: tuple[str, ...]  #: as in `Method`

    def compose(self, part: Callable[[str], Trajectory], threshold: float | None = None) -> Trajectory:
        """Return what becomes of one question.

        Args:
            part: returns the trajectory of the part of that name; called for the second only where it is triggered.
            threshold: how many votes an answer needs so that it is trusted; None for the method's own rule.
        """


class Backend(Protocol):
    """Two pure functions for one wire API."""

    api: str  #: "chat", "completions" or "messages"
    endpoint: str  #: logical endpoint, the tail of the URL's path ("chat/completions")
    samples: bool  #: the API has a parameter for several replies to one request

    def request(self, prompt: str, stop: Sequence[str], ask: Ask) -> Json:
        """Return the JSON body that asks for a completion of *prompt*."""

    def unsent(self, stop: Sequence[str], ask: Ask) -> tuple[str, ...]:
        """Return those of the *stop* strings that `request` leaves out, because the API refuses them."""

    def completion(self, response: Json) -> Completion:
        """Read a JSON response; `Completion.text` equals `Completion.raw` here, the cut comes later.

        Raises:
            Corrupt: the response has no shape of this API.
        """

    def completions(self, response: Json) -> tuple[Completion, ...]:
        """Read a JSON response to a request for several replies: as many as came, at least one.

        Raises:
            Corrupt: as `completion`.
        """


class Exchange(Protocol):
    """Has a request answered: from a cassette, or by a server."""

    def send(self, call: Call) -> Json:
        """Return the JSON response to *call*."""


class Pages(Protocol):
    """Has a query answered: from the snapshot, or by a wiki."""

    def page(self, query: str) -> PageView:
        """Return what the agent sees for *query*.

        Raises:
            WikiSnapshotMiss: it is not in the snapshot.
            PageChanged: it is, but not as the recording read it.
        """


def _differing(one: Any, other: Any) -> dict[str, tuple[Any, Any]]:
    """Return field name to both values, for every field in which two values of one class differ."""
    pairs = ((f.name, (getattr(one, f.name), getattr(other, f.name))) for f in fields(one))
    return {name: pair for name, pair in pairs if pair[0] != pair[1]}


def sha256_text(text: str) -> str:
    """Return the SHA-256 (hex) of *text*'s UTF-8 bytes; a lone surrogate counts as its three-byte form."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
