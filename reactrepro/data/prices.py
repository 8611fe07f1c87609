"""What models cost, and what is assumed of texts where nothing was measured: data files with a date, no code.

The user's own file has the same form as ``prices.json`` and wins, model by model (docs/recording.md, "Prices").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias

import msgspec

from ..errors import Corrupt, Usage
from ..price import Price

FORMAT = "reactrepro-prices/1"
VARIABLE = "REACTREPRO_PRICES"
"""The environment variable that names a file of the user's own."""

PriceTable: TypeAlias = Mapping[str, Price]
"""``provider/model``, as `--model` names it -> what it costs."""

_HERE = Path(__file__).parent
_MAX = 8 * 1024 * 1024


class _Row(msgspec.Struct, forbid_unknown_fields=True):
    input: Decimal
    output: Decimal
    currency: str
    date: str = ""
    source: str = ""


class _File(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    prices: dict[str, _Row]


class _Assumed(msgspec.Struct, forbid_unknown_fields=True):
    format: str
    date: str
    source: str
    characters_per_token: tuple[float, float, float]
    step_characters: tuple[float, float, float]
    reply_characters: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What is taken for granted of a text of which nothing comparable was measured; each (cheap, likely, dear).

    Attributes:
        characters_per_token: of prompts and replies.
        step_characters: by how much a step lets the prompt grow: thought, action, observation.
        reply_characters: of one reply.
        date, source: where the numbers come from.
    """

    characters_per_token: tuple[float, float, float]
    step_characters: tuple[float, float, float]
    reply_characters: tuple[float, float, float]
    date: str
    source: str


def prices(files: Iterable[Path] = ()) -> PriceTable:
    """Return the packaged prices, with those of *files* laid over them, the last one uppermost.

    Raises:
        Usage: a file cannot be read.
        Corrupt: a file is not of the documented form.
    """
    found: dict[str, Price] = {}
    for path in (_HERE / "prices.json", *files):
        found |= _read(path)
    return found


def assumptions() -> Assumptions:
    """Return what is taken for granted where nothing was measured."""
    read = msgspec.json.decode((_HERE / "assumptions.json").read_bytes(), type=_Assumed)
    return Assumptions(read.characters_per_token, read.step_characters, read.reply_characters, read.date, read.source)


def _read(path: Path) -> dict[str, Price]:
    try:
        if path.stat().st_size > _MAX:
            raise Corrupt(f"{path} is larger than any list of prices.")
        content = msgspec.json.decode(path.read_bytes(), type=_File)
    except OSError as error:
        raise Usage(f"the prices in {path} cannot be read: {error.strerror}.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Corrupt(f"{path} is no list of prices: {error}. docs/recording.md shows the form.") from None
    if content.format != FORMAT:
        raise Corrupt(f"{path} has the format {content.format!a}; {FORMAT} is what this version reads.")
    for name, row in content.prices.items():
        _check(path, name, row)
    return {
        name: Price(row.input, row.output, row.currency, row.date, row.source) for name, row in content.prices.items()
    }


def _check(path: Path, name: str, row: _Row) -> None:
    if not all(value.is_finite() and value >= 0 for value in (row.input, row.output)):
        raise Corrupt(f"{path}: the price of {name!a} is no amount.")
    if not (len(row.currency) == 3 and row.currency.isascii() and row.currency.isupper()):
        raise Corrupt(f"{path}: the currency of {name!a} has to be a code such as USD.")
    provider, _, model = name.partition("/")
    if not provider or not model:
        raise Corrupt(f"{path}: {name!a} names no model: write provider/model, as for --model.")
