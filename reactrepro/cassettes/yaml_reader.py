"""The one place where YAML is loaded: safely, without aliases, with bounded depth and size.

A cassette needs none of YAML's machinery: anchors make small files large ("billion laughs"), tags name types to build,
and deep nesting exhausts a recursive loader's stack. All three are refused on the stream of events, before a single
value is built.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import yaml

from ..errors import Corrupt

MAX_DEPTH = 40
MAX_EVENTS = 2_000_000

try:
    from yaml import CSafeLoader as _Loader
except ImportError:  # pragma: no cover - PyYAML's wheels carry libyaml
    from yaml import SafeLoader as _Loader  # type: ignore[assignment]

    warnings.warn(
        "PyYAML was built without libyaml: files that something else wrote load about 30 times slower.", stacklevel=2
    )


def load(data: bytes, path: Path | None) -> Any:
    """Return the one YAML document in *data*.

    Raises:
        Corrupt: not UTF-8, not YAML, more than one document, with anchors, aliases, tags or a nesting that no
            cassette has.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Corrupt(f"{path} is not UTF-8 (byte {error.start}): it is damaged, or no cassette.") from None
    try:
        _refuse_machinery(text, path)
        return yaml.load(text, Loader=_Loader)  # CSafeLoader or SafeLoader, nothing else
    except yaml.YAMLError as error:
        raise Corrupt(f"{path} is not readable YAML: {_first_line(error)}. It is truncated or was altered.") from None
    except (ValueError, RecursionError, OverflowError) as error:
        raise Corrupt(f"{path} holds a value that cannot be read: {_first_line(error)}.") from None


def _refuse_machinery(text: str, path: Path | None) -> None:
    depth = 0
    for number, event in enumerate(yaml.parse(text, Loader=_Loader)):
        if number > MAX_EVENTS:
            raise Corrupt(f"{path} holds more than {MAX_EVENTS} values, which no cassette does.")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise Corrupt(f"{path} uses YAML anchors, which no cassette needs; refused unread.")
        if getattr(event, "tag", None) not in (None, "!"):
            raise Corrupt(
                f"{path} names a YAML type ({getattr(event, 'tag', None)!r}), which no cassette needs; refused unread."
            )
        if isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise Corrupt(f"{path} is nested more than {MAX_DEPTH} deep, which no cassette is; refused unread.")
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            depth -= 1


def _first_line(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    what = getattr(error, "problem", None) or str(error).split("\n", 1)[0]
    return f"{what} (line {mark.line + 1})" if mark is not None else str(what)
