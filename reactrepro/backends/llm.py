"""An `Llm` out of a backend and an exchange."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..domain import Ask, Backend, Call, Completion, Exchange, Json, Sent, Turn
from ..errors import ParameterRefused, Unanswered
from ..parsing.stops import cut
from .terms import Approach, Terms


class BackendLlm:
    """Completes prompts through one backend and one exchange, and remembers every turn.

    Args:
        backend: the wire API.
        exchange: who has the requests answered.
        ask: model, limits and temperature; `Ask.sent` says how a recording asked, whose requests are to be made again.
        terms: what the server is known to take; learned here where the exchange asks one.

    Attributes:
        turns: the calls so far, in order. A call that failed stands last, without a completion.
    """

    def __init__(self, backend: Backend, exchange: Exchange, ask: Ask, terms: Terms | None = None) -> None:
        self._backend = backend
        self._exchange = exchange
        self._ask = ask
        self._terms = Terms(ask.sent) if terms is None else terms
        self._sizes: list[int] = []
        self._forms: list[Sent] = []  # how each call was put, the one under way included
        self._adapted: Sent | None = None
        self._unanswered = False
        self.turns: list[Turn] = []

    @property
    def calls(self) -> int:
        """How many calls were answered, refusals to answer at all included."""
        return sum(turn.completion is not None for turn in self.turns)

    @property
    def sent(self) -> Sent:
        """How the calls were made, where that is not as asked: what a replay needs to make the same requests."""
        return Sent.of(self._forms or [self._ask.sent], self._sizes)

    def complete(self, prompt: str, stop: Sequence[str], *, step: int) -> Completion:
        """Return the reply to *prompt*, cut at the first stop string whatever the server did.

        Raises:
            ReactReproError: whatever the exchange raises; `Corrupt` or `InfraError` for a response that is none. Not
                `Unanswered`: that is an empty reply with the finish reason that says why.
        """
        return self._call(prompt, stop, step, 1, self._approach())[0]

    def sample(self, prompt: str, stop: Sequence[str], count: int, *, step: int) -> tuple[Completion, ...]:
        """Return *count* replies to *prompt*, in the order in which they came; see `complete`.

        As many are asked for at a time as the API and the server give; further calls ask for the rest. A recording is
        asked as it was recorded. After a call that the provider does not answer no other one is made: the prompt is the
        same, so the samples that are missing are what that call came to.
        """
        if count == 1:
            return (self.complete(prompt, stop, step=step),)
        found: list[Completion] = []
        planned = iter(self._ask.sent.samples_per_call)
        while len(found) < count:
            wanted = count - len(found)
            size = next(planned, None) or (self._terms.size(wanted) if self._backend.samples else 1)
            replies = self._samples(prompt, stop, step, size)
            found.extend(replies[:wanted])
            if self._unanswered:
                found.extend(replies[-1:] * (count - len(found)))
        return tuple(found)

    def _samples(self, prompt: str, stop: Sequence[str], step: int, size: int) -> tuple[Completion, ...]:
        """Return the replies to one call that asks for *size* of them, or for fewer where the server refuses that."""
        approach = self._approach()
        while True:
            self._sizes.append(size)  # before the call: what is saved with a reply has to say how it was asked for
            try:
                replies = self._call(prompt, stop, step, size, approach)
            except ParameterRefused as error:
                if error.parameter != "n" or not self._terms.refused_samples(size, error.limit):
                    raise
                for made in (self.turns, self._forms, self._sizes):
                    made.pop()
                size = self._terms.size(size)
                continue
            self._terms.came(size, len(replies))
            return replies

    def _approach(self) -> Approach:
        """Return how the next call is put at first: as the one before, or as the recording that is asked again."""
        return Approach(self._adapted or self._ask.sent.at(len(self.turns) + 1))

    def _call(
        self, prompt: str, stop: Sequence[str], step: int, samples: int, approach: Approach
    ) -> tuple[Completion, ...]:
        """Return the replies to one call, however it has to be put."""
        self.turns.append(Turn(step, prompt, tuple(stop), None))
        self._forms.append(approach.sent)
        try:
            ask, read = self._put(prompt, stop, step, samples, approach)
            if approach.sent != approach.planned:
                self._adapted = approach.sent
                self._terms.learn(approach)
        except Unanswered as error:
            self._unanswered = True
            ask, read = replace(self._ask, sent=approach.sent), (Completion("", "", error.finish),) * samples
        unsent = self._backend.unsent(stop, ask)
        replies = tuple(_stopped(completion, stop, unsent) for completion in read)
        self.turns[-1] = Turn(step, prompt, tuple(stop), replies[0], replies[1:])
        return replies

    def _put(
        self, prompt: str, stop: Sequence[str], step: int, samples: int, approach: Approach
    ) -> tuple[Ask, tuple[Completion, ...]]:
        """Put a call otherwise after each refusal of a parameter, as long as there is another way."""
        refused: tuple[Json, ParameterRefused] | None = None
        while True:
            ask = replace(self._ask, sent=approach.sent, samples=samples)
            body = self._backend.request(prompt, stop, ask)
            if refused is not None and body == refused[0]:
                raise refused[1]  # the API has no other way
            self._forms[-1] = approach.sent  # before the call, as the sizes
            try:
                response = self._exchange.send(Call(self._backend.endpoint, body, step))
            except ParameterRefused as error:
                if not approach.without(error.parameter, body.get(error.parameter)):
                    raise
                refused = body, error
            else:
                return ask, self._backend.completions(response) if samples > 1 else (
                    self._backend.completion(response),
                )


def _stopped(completion: Completion, stop: Sequence[str], unsent: Sequence[str]) -> Completion:
    text = _cut(completion.text, stop, unsent)
    if text is completion.text:
        return completion
    return replace(completion, text=text, cut=len(completion.text) - len(text))


def _cut(text: str, stop: Sequence[str], unsent: Sequence[str]) -> str:
    """Cut *text* at the first stop string.

    A stop string of nothing but white space that the server never got would empty every reply that begins with it;
    it counts from the first visible character on.
    """
    blank = [entry for entry in unsent if entry and not entry.strip()]
    text, _ = cut(text, [entry for entry in stop if entry not in blank])
    if blank:
        lead = len(text) - len(text.lstrip())
        text = text[:lead] + cut(text[lead:], blank)[0]
    return text
