"""Follow: recorded replies in recorded order, whatever is asked. What comes of it is no result.

It shows what a changed prompt would look like, round by round, as if the model had said what it said then.
"""

from __future__ import annotations

from ..cassettes.mismatch import Place
from ..cassettes.model import Cassette
from ..domain import Call, Json
from ..errors import CassetteAbsent
from .recorded import parsed, refuse_error


class Follow:
    """Answers the n-th call with the n-th recorded reply (`domain.Exchange`).

    Args:
        cassette: what was recorded.
        place: where this stands, for messages.

    Attributes:
        recorded: for each call so far, the request that was recorded at its place.
    """

    def __init__(self, cassette: Cassette, place: Place) -> None:
        self._cassette, self._place = cassette, place
        self.recorded: list[Json] = []

    def send(self, call: Call) -> Json:
        """Return the next recorded response.

        Raises:
            CassetteAbsent: there is none; the method goes on where the recording ended.
            Corrupt: a recorded body is not JSON, or the recorded answer is an error.
        """
        number = len(self.recorded)
        if number >= len(self._cassette.interactions):
            raise CassetteAbsent(
                f"{self._place.run}, episode {self._place.key}: all {number} recorded replies are used, and step "
                f"{call.step} asks for one more."
            )
        interaction = self._cassette.interactions[number]
        refuse_error(interaction, number + 1, self._place)
        self.recorded.append(parsed(lambda: interaction.request_json, "request", self._place))
        return parsed(lambda: interaction.response_json, "response", self._place)

    def finish(self) -> None:
        """Assert nothing: what is left over was not asked for."""
