"""Where fetched files are kept: the folder that `REACTREPRO_DATA` names, else the system's place for a user's data."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

VARIABLE = "REACTREPRO_DATA"

PROMPTS = "prompts"
"""The folder of fetched prompts in it, shaped like that of the packaged ones."""


def data_folder(environment: Mapping[str, str] | None = None) -> Path:
    """Return the folder, which need not exist.

    Args:
        environment: default: the process's.
    """
    named = (os.environ if environment is None else environment).get(VARIABLE)
    if named:
        return Path(named).absolute()
    from platformdirs import user_data_path  # 20 ms, which a replay of packaged prompts does not pay

    return user_data_path("reactrepro", appauthor=False)


class FetchedPrompts:
    """The folder of fetched prompts, if there is one; looked for each time somebody iterates, and not before."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = environment

    def __iter__(self) -> Iterator[Path]:
        folder = data_folder(self._environment) / PROMPTS
        try:
            found = folder.is_dir() and os.access(folder, os.R_OK | os.X_OK)
        except OSError:  # somebody else's home folder, in a container: nothing was fetched that could be read
            found = False
        if found:
            yield folder
