"""Where fetched files are kept."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from reactrepro.data.folder import VARIABLE, FetchedPrompts, data_folder


def test_the_environment_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Absolute, or below the current folder; it need not exist."""
    monkeypatch.chdir(tmp_path)
    assert data_folder({VARIABLE: "/srv/data"}) == Path("/srv/data").absolute()
    assert data_folder({VARIABLE: "x"}) == tmp_path / "x"
    assert list(FetchedPrompts({VARIABLE: "x"})) == []


@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep data elsewhere")
def test_without_it_the_systems_place_for_data_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the XDG specification has it; an empty variable names nothing."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert data_folder({}) == data_folder({VARIABLE: ""}) == tmp_path / "reactrepro"


def test_prompts_that_are_fetched_later_are_found(tmp_path: Path) -> None:
    """The folder is looked for each time."""
    found = FetchedPrompts({VARIABLE: str(tmp_path)})
    assert list(found) == []
    tmp_path.joinpath("prompts").mkdir()
    assert list(found) == [tmp_path / "prompts"]
