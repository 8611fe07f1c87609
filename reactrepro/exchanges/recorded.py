"""What every road from a recording has in common: how a body is read, what is no reply, what a miss and a leftover say.

`replay` and `wire` have to agree to the letter, messages included; so the letters stand here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..cassettes import mismatch
from ..cassettes.mismatch import Place
from ..cassettes.model import Cassette, Exchanges, Interaction
from ..domain import Call, Json
from ..errors import CassetteLeftover, CassetteMiss, Corrupt


def parsed(read: Callable[[], Json], side: str, place: Place) -> Json:
    """Return the body that *read* parses.

    Args:
        read: returns the value of a recorded body.
        side: "request" or "response", for the message.
        place: where the replay stands.

    Raises:
        Corrupt: the body is not JSON.
    """
    try:
        return read()
    except (ValueError, RecursionError) as error:
        raise Corrupt(f"{place.file}: a recorded {side} body is not readable JSON ({error}).") from None


def refuse_error(interaction: Interaction, number: int, place: Place) -> None:
    """Refuse *interaction*, which is the *number*-th (1-based), where its status says that it is no reply.

    Raises:
        Corrupt: the status is not 200.
    """
    if interaction.status != 200:
        raise Corrupt(
            f"{place.file}: interaction {number} has the status {interaction.status}; "
            "an error is no reply, and recordings hold replies only."
        )


def miss(cassette: Cassette | Exchanges, used: Sequence[bool], call: Call, place: Place) -> CassetteMiss:
    """Return the error that says what differs between *call* and the nearest recorded request.

    Raises:
        Corrupt: a recorded request body, of whatever endpoint, is not JSON.
    """
    found = parsed(lambda: mismatch.find(cassette, used, call, place), "request", place)
    return CassetteMiss(found)


def refuse_leftover(used: Sequence[bool], place: Place) -> None:
    """Assert that every recorded interaction was used.

    Raises:
        CassetteLeftover: some were not.
    """
    left = [str(number + 1) for number, was in enumerate(used) if not was]
    if left:
        raise CassetteLeftover(
            f"{place.name}: the replay ended, and {len(left)} of {len(used)} "
            f"recorded interactions were never asked for (number {', '.join(left)}).\n"
            + ("" if place.agent else f"  {place.file}\n")
            + f"  {place.asker.capitalize()} makes fewer calls than it did. "
            + (place.remedy if place.agent else "Restore what changed, or record the episode again.")
        )
