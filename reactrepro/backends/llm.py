"""An `Llm` out of a backend and an exchange."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..domain import Ask, Backend, Call, Completion, Exchange, Turn
from ..parsing.stops import cut


class BackendLlm:
    """Completes prompts through one backend and one exchange, and remembers every turn.

    Args:
        backend: the wire API.
        exchange: who has the requests answered.
        ask: model, limits and temperature.

    Attributes:
        turns: the calls so far, in order. A call that failed stands last, without a completion.
    """

    def __init__(self, backend: Backend, exchange: Exchange, ask: Ask) -> None:
        self._backend = backend
        self._exchange = exchange
        self._ask = ask
        self.turns: list[Turn] = []

    def complete(self, prompt: str, stop: Sequence[str], *, step: int) -> Completion:
        """Return the reply to *prompt*, cut at the first stop string whatever the server did.

        Raises:
            ReactReproError: whatever the exchange raises; `Corrupt` or `InfraError` for a response that is none.
        """
        self.turns.append(Turn(step, prompt, tuple(stop), None))
        body = self._backend.request(prompt, stop, self._ask)
        response = self._exchange.send(Call(self._backend.endpoint, body, step))
        completion = self._backend.completion(response)
        text = _cut(completion.text, stop, self._backend.unsent(stop, self._ask))
        if text is not completion.text:
            completion = replace(completion, text=text, cut=len(completion.text) - len(text))
        self.turns[-1] = Turn(step, prompt, tuple(stop), completion)
        return completion


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
