"""Replay: a request's body is looked up in the cassette. No SDK, no vcrpy, no network."""

from __future__ import annotations

from ..cassettes import mismatch
from ..cassettes.matching import endpoint, same
from ..cassettes.model import Cassette, Interaction
from ..domain import Call, Json
from ..errors import CassetteLeftover, CassetteMiss, Corrupt


class Replay:
    """Answers each call with the recorded reply to the same request.

    Equal requests are answered in recorded order, each recorded reply once. Which reply is given depends on nothing
    but the request and the calls before it, never on a queue's position: a changed request is a miss.

    Args:
        cassette: what was recorded.
        place: where this replay stands, for messages.
    """

    def __init__(self, cassette: Cassette, place: mismatch.Place) -> None:
        self._cassette = cassette
        self._place = place
        self._used = [False] * len(cassette.interactions)

    def send(self, call: Call) -> Json:
        """Return the recorded response to *call*.

        Raises:
            CassetteMiss: no unused interaction has this request; `CassetteMiss.mismatch` says what differs.
            Corrupt: a recorded body is not JSON.
        """
        for number, interaction in enumerate(self._cassette.interactions):
            if not self._used[number] and self._answers(interaction, call):
                self._used[number] = True
                if interaction.status != 200:
                    raise Corrupt(
                        f"{self._place.file}: interaction {number + 1} has the status {interaction.status}; "
                        "an error is no reply, and recordings hold replies only."
                    )
                return self._json(interaction, "response")
        raise CassetteMiss(mismatch.find(self._cassette, self._used, call, self._place))

    def finish(self) -> None:
        """Assert that every recorded interaction was used.

        Raises:
            CassetteLeftover: some were not.
        """
        left = [str(number + 1) for number, used in enumerate(self._used) if not used]
        if left:
            raise CassetteLeftover(
                f"{self._place.run}, episode {self._place.key}: the replay ended, and {len(left)} of {len(self._used)} "
                f"recorded interactions were never asked for (number {', '.join(left)}).\n"
                f"  {self._place.file}\n"
                "  The method makes fewer calls than it did. Restore what changed, or record the episode again."
            )

    def _answers(self, interaction: Interaction, call: Call) -> bool:
        return (
            interaction.method == "POST"
            and endpoint(interaction.uri) == call.endpoint
            and same(self._json(interaction, "request"), call.body)
        )

    def _json(self, interaction: Interaction, side: str) -> Json:
        try:
            return interaction.request_json if side == "request" else interaction.response_json
        except (ValueError, RecursionError) as error:
            raise Corrupt(f"{self._place.file}: a recorded {side} body is not readable JSON ({error}).") from None
