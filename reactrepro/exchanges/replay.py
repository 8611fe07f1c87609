"""Replay: a request's body is looked up in the cassette. No SDK, no vcrpy, no network."""

from __future__ import annotations

from typing import Literal

from ..cassettes.matching import endpoint, same
from ..cassettes.mismatch import Place
from ..cassettes.model import Cassette, Interaction
from ..domain import Call, Json
from .recorded import Refusals, miss, parsed, refuse_error, refuse_leftover


class Replay:
    """Answers each call with the recorded reply to the same request.

    Equal requests are answered in recorded order, each recorded reply once. Which reply is given depends on nothing
    but the request and the calls before it, never on a queue's position: a changed request is a miss.

    Args:
        cassette: what was recorded.
        place: where this replay stands, for messages.
    """

    def __init__(self, cassette: Cassette, place: Place) -> None:
        self._cassette = cassette
        self._place = place
        self._used = [False] * len(cassette.interactions)
        self._refusals = Refusals(cassette.meta.unanswered)

    def send(self, call: Call) -> Json:
        """Return the recorded response to *call*.

        Raises:
            CassetteMiss: no unused interaction has this request; `CassetteMiss.mismatch` says what differs.
            Corrupt: a recorded body is not JSON, or the recorded answer is an error.
            Unanswered: the provider refused to answer this call.
        """
        self._refusals.check(call)
        for number, interaction in enumerate(self._cassette.interactions):
            if not self._used[number] and self._answers(interaction, call):
                self._used[number] = True
                self._refusals.calls += 1
                refuse_error(interaction, number + 1, self._place)
                return self._json(interaction, "response")
        raise miss(self._cassette, self._used, call, self._place)

    def finish(self) -> None:
        """Assert that every recorded interaction was used.

        Raises:
            CassetteLeftover: some were not.
        """
        refuse_leftover(self._used, self._place)
        self._refusals.finish(self._place)

    def _answers(self, interaction: Interaction, call: Call) -> bool:
        return (
            interaction.method == "POST"
            and endpoint(interaction.uri) == call.endpoint
            and same(self._json(interaction, "request"), call.body)
        )

    def _json(self, interaction: Interaction, side: Literal["request", "response"]) -> Json:
        return parsed(lambda: getattr(interaction, f"{side}_json"), side, self._place)
