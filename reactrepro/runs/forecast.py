"""Forecast: what a recording would come to, in episodes, calls and tokens, as a range. Nothing is asked or written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import mean, quantiles

from .. import prompts
from ..backends import BACKENDS
from ..cassettes.read import read_cassette
from ..cassettes.runs import Run
from ..data.prices import Assumptions
from ..domain import Question
from ..errors import CassetteMiss, ReactReproError
from ..methods import METHODS
from .evidence import Evidence, evidence
from .order import Order, named
from .record_back_off import BackOffOrder, triggered
from .replay import replay_episode
from .roots import Sources

WAYS = range(3)
"""Cheap, likely, dear."""


@dataclass(frozen=True, slots=True)
class Range:
    """A number that nobody knows yet: the least, the likely one, the most that is expected."""

    low: float = 0
    likely: float = 0
    high: float = 0

    def __add__(self, other: Range) -> Range:
        return Range(self.low + other.low, self.likely + other.likely, self.high + other.high)

    def __getitem__(self, way: int) -> float:
        return (self.low, self.likely, self.high)[way]


@dataclass
class Forecast:
    """What one run would come to.

    Attributes:
        run: which.
        kept: how many episodes stay as they are.
        absent: how many stay absent, since mode ``none`` asks nothing.
        begun: of those that are asked, how many carry on where an earlier attempt stopped.
        asked: how many episodes are asked.
        calls, prompt, completion: calls; tokens of prompts and of replies.
        most_calls: no more calls than that, retries aside.
        how: how it was estimated, in sentences.
    """

    run: Run
    kept: int = 0
    absent: int = 0
    begun: int = 0
    asked: Range = Range()
    calls: Range = Range()
    prompt: Range = Range()
    completion: Range = Range()
    most_calls: int = 0
    how: list[str] = field(default_factory=list)


def forecast(order: Order, parts: tuple[Order, ...], sources: Sources, assumed: Assumptions) -> list[Forecast]:
    """Return what *order* would come to; for a back-off one forecast per part.

    Raises:
        Usage: as `order.prepare`, and unknown prompts.
    """
    if not parts:
        return [_Estimate(order, sources, assumed).of([(question, _CERTAIN) for question in order.questions])]
    first, second = parts
    run = named(first)
    settled = {q.key for q in order.questions if first.mode != "all" and run.path(q.key).exists()}
    wanted = BackOffOrder(order=order, parts=(first, second), sources=sources)
    fired = {question.key for question in triggered(wanted, run, settled)}
    asked = [question for question in order.questions if question.key in fired or question.key not in settled]
    weights = [(question, _CERTAIN if question.key in fired else _UNSURE) for question in asked]
    rest = len(order.questions) - len(settled)
    made = [
        _Estimate(first, sources, assumed).of([(question, _CERTAIN) for question in order.questions]),
        _Estimate(second, sources, assumed).of(weights),
    ]
    if rest:
        made[1].how.append(
            f"{second.method} is asked where {first.method} triggers it: {len(fired)} certain; of the other {rest} "
            "questions nobody knows, so from none to all of them, and likely half."
        )
    return made


_CERTAIN, _UNSURE = Range(1, 1, 1), Range(0, 0.5, 1)


class _Estimate:
    def __init__(self, order: Order, sources: Sources, assumed: Assumptions) -> None:
        self._order, self._sources, self._assumed = order, sources, assumed
        self._method = METHODS.get(order.method)()
        self._prompt = prompts.load(order.task.prompt_task, self._method.prompt, order.prompt, roots=sources.prompts)
        self._found: Evidence = evidence(order, sources.library)
        settings = order.settings
        self._most = 2 * settings.max_steps if self._method.acts else settings.samples
        self._calls = self._calls_range()
        self._growth = _spread(self._found.growth, assumed.step_characters)
        self._ratio = _spread([-ratio for ratio in self._found.ratios], tuple(-r for r in assumed.characters_per_token))
        self._reply = self._reply_range()

    def of(self, questions: Sequence[tuple[Question, Range]]) -> Forecast:
        """Return the forecast of *questions*, each with the share of them that is asked."""
        made = Forecast(named(self._order))
        for question, weight in questions:
            there = self._there(made.run, question.key)
            if there is None:
                made.kept += 1
            elif self._order.mode == "none":
                made.absent += 1
            else:
                made.begun += there > 0
                made.asked += weight
                self._add(made, question, there, weight)
        if made.asked.high:
            made.how = self._how()
        return made

    def _there(self, run: Run, key: str) -> int | None:
        """Return how many replies of the episode are there already; None where it stays as it is."""
        mode, path = self._order.mode, run.path(key)
        if mode == "all":
            return 0
        if path.exists() and mode != "new_episodes":
            return None
        if run.part_path(key).exists():
            try:
                return len(read_cassette(run.part_path(key)).interactions)
            except ReactReproError:
                return 0  # `record` says what is wrong with it
        if not path.exists():
            return 0
        replayed = replay_episode(run, key, self._sources)
        if not any(isinstance(problem, CassetteMiss) for problem in replayed.problems):
            return None
        return sum(turn.completion is not None for turn in replayed.turns)

    def _add(self, made: Forecast, question: Question, there: int, weight: Range) -> None:
        base = len(self._prompt.text) + len(self._order.task.opening(question)) + 12
        calls, prompt, completion = [], [], []
        for way in WAYS:
            number = max(self._calls[way], min(there, self._most))
            sent = self._characters(base, number, way) - self._characters(base, min(there, number), way)
            share = 1 - (min(there, number) / number if number else 0)
            replies = (number if self._method.acts else self._order.settings.samples) * share
            calls.append(weight[way] * (number - min(there, number)))
            prompt.append(weight[way] * sent / -self._ratio[way])
            completion.append(weight[way] * replies * self._reply[way])
        made.calls += Range(*calls)
        made.prompt += Range(*prompt)
        made.completion += Range(*completion)
        made.most_calls += max(0, self._most - there)

    def _characters(self, base: int, calls: float, way: int) -> float:
        """Return the characters of the first *calls* prompts of an episode; each step lets the next one grow."""
        steps = min(calls, self._order.settings.max_steps) if self._method.acts else 1
        return calls * (base + self._growth[way] * max(0.0, steps - 1) / 2)

    def _calls_range(self) -> Range:
        if self._method.acts:
            most = self._most
            return _spread(
                [min(n, most) for n in self._found.calls], (1, (1 + self._order.settings.max_steps) / 2, most)
            )
        together = 1 if BACKENDS.get(self._order.settings.api)().samples else self._most
        return Range(together, together, self._most)

    def _reply_range(self) -> Range:
        limit = self._order.settings.max_tokens
        if self._found.reply_tokens:
            found = _spread(self._found.reply_tokens, (0, 0, 0))
        else:
            characters = _spread(self._found.reply_characters, self._assumed.reply_characters)
            found = Range(*(characters[way] / -self._ratio[way] for way in WAYS))
        return Range(*(min(found[way], limit) for way in WAYS))

    def _how(self) -> list[str]:
        """Return how all of it was estimated, in sentences."""
        found, assumed = self._found, self._assumed
        runs = ", ".join(found.runs[:2]) + (f" and {len(found.runs) - 2} other runs" if len(found.runs) > 2 else "")
        of = f"{len(found.calls)} recorded episodes of {runs}"
        rows = []
        if not self._method.acts:
            rows.append(f"calls: from one for all {self._most} samples to one for each." * (self._most > 1))
        elif found.calls:
            rows.append(f"calls: as in {of}; in the middle eight of ten of them.")
        else:
            rows.append(
                "calls: nothing comparable is recorded, so from one to two per step, and likely half the steps."
            )
        growing = ""
        if self._method.acts:
            taken = "" if found.growth else f", which is assumed ({assumed.date})"
            growing = f", growing by {_words(self._growth)} with each call{taken}"
        rows.append(f"prompts: {len(self._prompt.text)} characters{growing}.")
        ratio = _words(Range(*(-self._ratio[way] for way in WAYS)), digits=1)
        rows.append(
            f"tokens: {ratio} characters per token"
            + (", as this model's usage was recorded." if found.ratios else f", which is assumed ({assumed.date}).")
        )
        rows.append(f"replies: {_words(self._reply)} tokens, at most {self._order.settings.max_tokens}.")
        return [row for row in rows if row]


def _spread(values: Sequence[float], otherwise: Sequence[float]) -> Range:
    """Return the tenth and ninetieth percentile of *values*, and between them their mean; *otherwise* where none is."""
    if not values:
        return Range(*otherwise)
    if len(values) == 1:
        return Range(values[0], values[0], values[0])
    tenths = quantiles(values, n=10, method="inclusive")
    return Range(tenths[0], mean(values), tenths[-1])


def _words(found: Range, digits: int = 0) -> str:
    low, likely, high = (f"{found[way]:.{digits}f}" for way in WAYS)
    return likely if low == likely == high else f"{likely} ({low} to {high})"
