"""Names to classes, loaded on use.

A registry holds no object and imports nothing until a name is asked for; that is what keeps `--help` and `replay`
free of SDKs. A name that is not in the table is looked up among the installed packages' entry points, which costs
some 50 ms and is therefore done only then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Generic, TypeVar

from .errors import Usage

T = TypeVar("T")


class Registry(Generic[T]):
    """A table of names, each with the place (`"module:attribute"`) where its object stands.

    Args:
        kind: what the names name, in the singular ("task"); used in messages and, as `reactrepro.<kind>s`, as the
            entry-point group under which other packages add names.
        places: name to `"module:attribute"`.
    """

    def __init__(self, kind: str, places: Mapping[str, str]) -> None:
        self.kind = kind
        self._places = dict(places)
        self._loaded: dict[str, T] = {}

    def __iter__(self) -> Iterator[str]:
        """The built-in names, in the table's order."""
        return iter(self._places)

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def get(self, name: str) -> T:
        """Return the object that bears *name*.

        Raises:
            Usage: neither the table nor an installed package knows the name.
        """
        if name in self._loaded:
            return self._loaded[name]
        place = self._places.get(name)
        if place is None:
            loaded: T = self._plugin(name)
        else:
            module, _, attribute = place.partition(":")
            loaded = getattr(import_module(module), attribute)
        self._loaded[name] = loaded
        return loaded

    def _plugin(self, name: str) -> Any:
        from importlib.metadata import entry_points  # 50 ms: only for a name that is not ours

        for entry in entry_points(group=f"reactrepro.{self.kind}s", name=name):
            return entry.load()
        raise Usage(f"unknown {self.kind} {name!r}; known here: {', '.join(self._places)}")
