"""Check: everything is replayed, and counted by class."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from reactrepro.cassettes.runs import Run
from reactrepro.errors import CassetteAbsent, Usage
from reactrepro.report.model import RunReport
from reactrepro.runs.check import check
from reactrepro.runs.roots import Sources

from ..world import FOUNDER, FOUNDER_REPLIES, World, checkout, world

__all__ = ["world"]


def checked(path: Path | None, sources: Sources) -> RunReport:
    """The report on *path*."""
    return RunReport(tuple(check(path, sources)))


def test_a_sound_world_is_ok(world: World) -> None:
    """Everything replayed, everything ok, exit code 0."""
    report = checked(None, world.sources)
    assert (report.counts, report.exit_code) == ({"ok": 2}, 0)


def test_a_file_a_run_and_a_folder_can_be_checked(world: World) -> None:
    """PATH is one recording, a run, or any folder above."""
    none = Sources(world.sources.library.__class__(()), ())
    assert checked(world.run.path("1"), none).counts == {"ok": 1}
    assert checked(world.run.folder, none).counts == {"ok": 2}
    assert checked(world.cassettes / "hotpotqa", none).counts == {"ok": 2}
    assert checked(world.root, world.sources).counts == {"ok": 2}
    with pytest.raises(Usage):
        checked(world.run.folder / "run.json", none)
    (world.root / "empty").mkdir()
    with pytest.raises(CassetteAbsent):
        checked(world.root / "empty", none)


def test_each_damage_has_its_class_and_the_worst_its_exit_code(world: World) -> None:
    """Missing, corrupt, changed pages and infra errors stand apart; with several, the highest code counts."""
    other = world.new_run("other", selection="0-2")
    world.record(FOUNDER, FOUNDER_REPLIES, other)
    report = checked(None, world.sources)
    assert (report.counts, report.exit_code) == ({"ok": 3, "missing": 2}, 3)
    (other.folder / "1.error.json").write_text("{}", "ascii")
    report = checked(None, world.sources)
    assert (report.counts, report.exit_code) == ({"ok": 3, "missing": 1, "infra error": 1}, 4)
    world.run.path("1").write_bytes(world.run.path("1").read_bytes()[:-100])
    report = checked(None, world.sources)
    assert (report.counts, report.exit_code) == ({"ok": 2, "missing": 1, "infra error": 1, "corrupt": 1}, 5)
    for page in world.snapshot.rglob("*harlow*/*.txt"):
        page.write_bytes(b"")
    for page in world.snapshot.rglob("*vorland*/*.txt"):
        page.write_bytes(page.read_bytes() + b"More.\n")
    counts = checked(None, world.sources).counts
    assert counts == {"page changed": 2, "missing": 1, "infra error": 1, "corrupt": 1}


def test_a_run_that_cannot_be_read_is_one_problem_among_others(world: World) -> None:
    """A broken run.json stops nothing else."""
    other = world.new_run("other")
    world.record(FOUNDER, FOUNDER_REPLIES, other)
    (other.folder / "run.json").write_text("{", "ascii")
    report = checked(None, world.sources)
    assert report.counts == {"ok": 2, "corrupt": 1}
    assert "other/run.json" in report.episodes[0].file


def test_recordings_without_a_run_are_noticed(world: World) -> None:
    """A folder of episodes whose run.json is gone is not passed over in silence."""
    (world.run.folder / "run.json").unlink()
    report = checked(world.cassettes, world.sources)
    assert report.counts == {"corrupt": 1}
    assert report.exit_code == 5


def test_what_check_would_overlook_without_a_path_is_found_too(world: World) -> None:
    """A run without its run.json, a file of a strange name, a default that names nothing: each is one problem."""
    (world.run.folder / "Foo_BAR.yaml").write_bytes(b"")
    assert checked(None, world.sources).counts == {"ok": 2, "corrupt": 1}
    (world.run.folder / "Foo_BAR.yaml").unlink()
    default = world.cassettes / "hotpotqa" / "default"
    default.write_text("react/nope\n", "ascii")
    assert checked(None, world.sources).counts == {"ok": 2, "missing": 1}
    default.write_text("../../etc/passwd\n", "ascii")
    assert checked(None, world.sources).counts == {"ok": 2, "corrupt": 1}
    default.unlink()
    other = world.new_run("other")
    world.record(FOUNDER, FOUNDER_REPLIES, other)
    (other.folder / "run.json").unlink()
    assert checked(None, world.sources).counts == {"ok": 2, "corrupt": 1}


def test_a_selection_of_everything_misses_what_is_not_there(tmp_path: Path) -> None:
    """`all` of a task whose questions come with the package asks for each of them."""
    world = World(tmp_path)
    shutil.copytree(checkout() / "cassettes/pelm/react/gemma-3-270m", world.cassettes / "pelm/react/gemma-3-270m")
    (world.cassettes / "pelm/react/gemma-3-270m/7.yaml").unlink()
    sources = Sources(world.sources.library, (checkout() / "wiki_snapshot",))
    report = checked(world.cassettes / "pelm", sources)
    assert (report.counts, report.exit_code) == ({"ok": 19, "missing": 1}, 3)


def test_an_unfinished_recording_is_passed_over(world: World) -> None:
    """`.yaml.part` is nobody's result."""
    (world.run.folder / "9.yaml.part").write_bytes(b"half")
    assert checked(None, world.sources).counts == {"ok": 2}


def test_every_committed_recording_is_ok() -> None:
    """What the project ships replays, all of it."""
    root = checkout()
    report = checked(root / "cassettes", Sources(world_library(root), (root / "wiki_snapshot",)))
    assert set(report.counts) == {"ok"}, report.counts
    assert len(report.episodes) >= 1


def world_library(root: Path) -> object:
    """The library of the committed recordings."""
    from reactrepro.cassettes.library import Library

    return Library.of([root / "cassettes"])


def test_the_runs_of_the_project_say_how_they_came_to_be() -> None:
    """No shipped run is scripted; the published one is transcribed and says what was filled in."""
    configs = [Run.at(path.parent).config for path in (checkout() / "cassettes").rglob("run.json")]
    assert {config.provenance for config in configs} <= {"recorded", "transcribed"}
    (published,) = [config for config in configs if config.provenance == "transcribed"]
    assert published.filled_in == ("max_tokens", "temperature", "envelope")
    assert published.settings.overrides(max_steps=7) == {"protocol": "strict", "extraction": "original"}
    assert published.selection == "0"
