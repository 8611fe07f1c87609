"""A file of results that work is carried on in: what it holds is not computed again, and nothing is counted twice.

What stands in it counts as long as the recordings, the scoring rules and the program are the same. What has become
stale goes, and so does an episode that could not be judged: it is looked at again. Results of other runs stay.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path

from .. import __version__
from ..cassettes.runs import Run
from ..errors import ReactReproError
from ..results import OK, Appender, Result
from ..tasks import TASKS
from .what_if import WhatIf


class Resumed:
    """The file, while it is worked on. A context manager; without a path it does nothing.

    On leaving without an error the file is put in order, so that its bytes do not tell how often the work was
    interrupted, or how it was divided.

    Args:
        path: the file, JSON Lines; made where it is absent.
        wanted: every episode that is to be worked on, and under which settings.

    Attributes:
        found: what it holds of *wanted*.

    Raises:
        Corrupt, Usage, DiskError: see `results.Appender`.
    """

    def __init__(self, path: Path | None, wanted: Iterable[tuple[Run, str, WhatIf]]) -> None:
        self._path = path
        self._wanted = list(wanted)
        self._appender: Appender | None = None
        self._stack = ExitStack()
        self.found: dict[tuple[Run, str], Result] = {}

    def __enter__(self) -> Resumed:
        if self._path is not None:
            with ExitStack() as stack:
                self._appender = stack.enter_context(Appender(self._path))
                self._look(self._appender)
                self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if self._appender is not None and kind is None:
                self._appender.keep(self._appender.done.values())
        finally:
            self._stack.close()

    def add(self, result: Result) -> None:
        """Write *result*.

        Raises:
            Usage, DiskError: see `results.Appender.add`.
        """
        if self._appender is not None:
            self._appender.add(result)

    def _look(self, appender: Appender) -> None:
        runs = {run for run, _, _ in self._wanted}
        states = {run.label: _state(run) for run in runs}
        wanted = {(run.label, key, _text(what_if.as_dict())): (run, key) for run, key, what_if in self._wanted}
        kept = []
        for result in appender.done.values():
            if states.get(result.label, result.state) != result.state:
                continue
            place = wanted.get((result.label, result.key, _text(result.what_if)))
            if place is None or result.kind == OK:
                kept.append(result)
            if place is not None and result.kind == OK:
                self.found[place] = result
        if len(kept) < len(appender.done):
            appender.keep(kept)


def _state(run: Run) -> tuple[str, str, str] | None:
    try:
        return run.id, TASKS.get(run.config.task.name)().scorer, __version__
    except ReactReproError:
        return None  # nothing of it can be computed again, and nothing of it counts


def _text(what_if: Mapping[str, float]) -> str:
    return json.dumps({name: float(value) for name, value in what_if.items()}, sort_keys=True)
