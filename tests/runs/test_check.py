"""Check: everything is replayed, and counted by class."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reactrepro.cassettes.read import read_cassette, read_meta
from reactrepro.cassettes.runs import Run
from reactrepro.cassettes.write import cassette_bytes, seal
from reactrepro.domain import sha256_text
from reactrepro.errors import CassetteAbsent, Usage
from reactrepro.report.checked import CheckReport
from reactrepro.report.findings import closing
from reactrepro.report.model import RunReport
from reactrepro.runs.accept import accept
from reactrepro.runs.check import Asked, check, examine
from reactrepro.runs.locked import recorded_text
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


# --- causes, the lock, age ------------------------------------------------------------------------------------------


def prompted(world: World, text: str = "Be brief.\n") -> Sources:
    """The sources of *world* with a prompt of its own, `hotpotqa/own/react`, that its run `own` was recorded with."""
    file = world.root / "prompts" / "hotpotqa" / "own" / "react.txt"
    file.parent.mkdir(parents=True)
    file.write_bytes(text.encode())
    run = world.new_run("own", prompt="own")
    world.record(FOUNDER, FOUNDER_REPLIES, run, prompt_roots=[file.parents[2]])
    return replace(world.sources, prompts=(file.parents[2],))


def kinds(report: CheckReport) -> list[str]:
    """The classes of the findings, warnings aside."""
    return [finding.kind for finding in report.findings if not finding.is_warning]


COMMITTED = sorted((checkout() / "cassettes").rglob("*.yaml"))


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: "-".join(path.parts[-2:]))
def test_the_prompt_of_a_recording_can_be_read_back(path: Path) -> None:
    """It stands before the question in the first request, and has the hash that the recording names."""
    cassette = read_cassette(path)
    text = recorded_text(cassette)
    assert text is not None
    assert sha256_text(text) == cassette.meta.prompt.sha256
    assert read_meta(path) == cassette.meta


def test_a_prompt_that_names_another_hash_is_not_read_back(world: World) -> None:
    """What is shown as recorded is what was recorded, or nothing."""
    cassette = read_cassette(world.run.path("0"))
    other = replace(cassette.meta, prompt=replace(cassette.meta.prompt, sha256="0" * 64))
    assert recorded_text(replace(cassette, meta=other)) is None
    assert recorded_text(replace(cassette, interactions=())) is None


def test_a_users_prompt_is_locked_with_what_the_recordings_use(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock of a project holds its own prompts and the packaged ones that its recordings use, and no others."""
    monkeypatch.chdir(world.root)
    sources = prompted(world)
    done = accept((), sources, world.root)
    assert [change.name for change in done.changes] == ["hotpotqa/own/react", "hotpotqa/paper/react"]
    assert kinds(examine(None, sources)) == []
    own = world.root / "prompts/hotpotqa/own"
    (own / "react.txt").write_bytes(b"Be very brief.\n")
    report = examine(None, sources)
    (finding,) = (one for one in report.findings if not one.is_warning)
    assert (finding.kind, finding.subject, finding.count) == ("prompt changed", "hotpotqa/own/react", 1)
    assert (finding.file, finding.line) == ("prompts/hotpotqa/own/react.txt", 1)
    (own / "act.txt").write_bytes(b"Be.\n")
    assert kinds(examine(None, sources)) == ["prompt changed", "prompt not locked"]
    (change,) = accept(["hotpotqa/own/react"], sources, world.root).changes
    assert (change.what, change.stale, "Be\u0020very" in change.diff or "very" in change.diff) == ("changed", 1, True)
    assert kinds(examine(None, sources)) == ["accepted, not yet recorded", "prompt not locked"]
    assert examine(None, sources, Asked(allow_stale=True)).exit_code == 1
    accept((), sources, world.root)
    assert examine(None, sources, Asked(allow_stale=True)).exit_code == 0
    shutil.rmtree(own)
    assert "lock without prompt" in kinds(examine(None, sources))


def test_the_packaged_recordings_of_an_installed_reactrepro_are_not_the_projects_to_lock(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An upgrade that brings new recordings and prompts turns nobody's gate red."""
    monkeypatch.chdir(world.root)
    accept((), world.sources, world.root)
    other = world.root / "elsewhere"
    other.mkdir()
    monkeypatch.setattr("reactrepro.runs.locked.packaged", lambda: world.root)
    (other / "prompts.lock").write_text("reactrepro-prompts/1\n", "ascii")
    monkeypatch.chdir(other)
    assert kinds(examine(None, world.sources)) == []
    assert accept((), world.sources, other).changes == ()
    (world.root / "prompts.lock").write_text("reactrepro-prompts/1\n", "ascii")
    assert "prompt not locked" in kinds(examine(world.cassettes, world.sources))


def test_a_lock_that_cannot_be_read_hides_nothing_else(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is one finding among others; the recordings are compared as if there were none."""
    monkeypatch.chdir(world.root)
    sources = prompted(world)
    (world.root / "prompts.lock").write_bytes(b"\xff")
    (world.root / "prompts/hotpotqa/own/react.txt").write_bytes(b"Be very brief.\n")
    assert kinds(examine(None, sources)) == ["prompt changed", "corrupt"]
    (world.root / "prompts.lock").unlink()
    accept((), sources, world.root)
    (world.root / "prompts/hotpotqa/own/react.txt").write_bytes(b"\xff\n")
    assert kinds(examine(None, sources)) == ["corrupt", "corrupt"]


def test_a_run_that_cannot_be_read_counts_once(world: World) -> None:
    """It is no recording, and no second problem either."""
    world.new_run("other")
    (world.cassettes / "hotpotqa/react/other/run.json").write_text("{", "ascii")
    report = examine(world.cassettes, world.sources, Asked(only="prompts"))
    assert closing(report) == "3 recordings checked (prompts only): 2 ok, 1 corrupt."


def test_without_a_lock_the_recordings_are_the_lock(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A prompt that changed fails by its recordings; one that nobody recorded with is nobody's concern."""
    monkeypatch.chdir(world.root)
    sources = prompted(world)
    (world.root / "prompts/hotpotqa/own/act.txt").write_bytes(b"Be.\n")
    assert kinds(examine(None, sources)) == []
    (world.root / "prompts/hotpotqa/own/react.txt").write_bytes(b"Be very brief.\n")
    (finding,) = (one for one in examine(None, sources).findings if not one.is_warning)
    assert finding.kind == "prompt changed"
    assert not any("accept" in command for command in finding.commands)


def test_recordings_made_with_two_prompts_are_two_causes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """One finding for each of the texts that were recorded with, each with its own difference."""
    monkeypatch.chdir(world.root)
    sources = prompted(world, "First.\n")
    file = world.root / "prompts/hotpotqa/own/react.txt"
    file.write_bytes(b"Second.\n")
    world.record(FOUNDER, FOUNDER_REPLIES, world.new_run("later", prompt="own"), prompt_roots=sources.prompts)
    file.write_bytes(b"Third.\n")
    found = [finding for finding in examine(None, sources).findings if finding.kind == "prompt changed"]
    assert [finding.diff.split("\n")[3] for finding in found] == ["-Second.", "-First."]
    assert [finding.count for finding in found] == [1, 1]


def test_what_diverges_later_keeps_its_first_replies(world: World) -> None:
    """An observation that changes at step 2 leaves the first two replies usable; the rest has to be asked for."""
    cassette = read_cassette(world.run.path("0"))
    first, second, third = cassette.interactions
    body = third.body.replace("Lookup[founded]", "Lookup[built]")
    assert body != third.body
    made = seal(cassette.meta, (first, second, replace(third, body=body)))
    world.run.path("0").write_bytes(cassette_bytes(made))
    (finding,) = (one for one in examine(world.cassettes, world.sources).findings if not one.is_warning)
    (touched,) = finding.touched
    assert (finding.kind, touched.step, touched.usable, touched.replies) == ("request changed", 3, 2, 3)
    assert finding.estimate is not None
    assert (finding.estimate.at_least, finding.estimate.expected) == (1, 3)  # scripted: a run of one's own begins anew


@pytest.mark.parametrize(
    ("time", "kind"),
    [
        ("2026-01-01T00:00:00Z", ["too old"]),
        ("2026-06-01T00:00:00Z", []),
        ("2026-06-30T23:00:00-02:00", []),
        ("2030-01-01T00:00:00Z", []),
        (None, []),
        ("yesterday", []),
    ],
)
def test_age_is_counted_from_the_recording(world: World, time: str | None, kind: list[str]) -> None:
    """Older than asked for is a problem; of unknown age is said, and no problem."""
    for key in ("0", "1"):
        cassette = read_cassette(world.run.path(key))
        world.run.path(key).write_bytes(cassette_bytes(replace(cassette, meta=replace(cassette.meta, time=time))))
    asked = Asked(max_age=90, now=datetime(2026, 7, 1, tzinfo=UTC))
    report = examine(world.cassettes, world.sources, asked)
    assert kinds(report) == kind
    assert report.exit_code == len(kind)
    ageless = [finding.count for finding in report.findings if finding.kind == "age unknown"]
    assert ageless == ([2] if time in (None, "yesterday") else [])


def test_a_question_that_was_edited_is_noticed(world: World) -> None:
    """Its hash stands beside it."""
    cassette = read_cassette(world.run.path("1"))
    wrong = replace(cassette, meta=replace(cassette.meta, question_sha256="0" * 64))
    world.run.path("1").write_bytes(cassette_bytes(wrong))
    (finding,) = (one for one in examine(world.cassettes, world.sources).findings if not one.is_warning)
    assert (finding.kind, "does not have the hash" in finding.text) == ("corrupt", True)


def test_pages_that_nobody_reads_are_a_warning_where_everything_is_looked_at(world: World) -> None:
    """Not for a single run, and not while a recording cannot be read; an unfinished one reads pages, too."""

    def unused(path: Path | None) -> int:
        found = [one for one in examine(path, world.sources).findings if one.kind == "unused page"]
        assert all(one.exit_code == 0 for one in found)
        return len(found[0].data["files"]) if found else 0

    assert unused(world.cassettes) == 3
    assert unused(world.run.folder) == 0
    whole = world.run.path("0").read_bytes()
    world.run.part_path("7").write_bytes(whole.replace(b'"query": "Vorland"', b'"query": "Other"'))
    assert unused(world.cassettes) == 3
    world.run.path("0").write_bytes(whole[:100])
    assert unused(world.cassettes) == 0


def test_an_altered_page_that_no_recording_reads_is_a_problem_all_the_same(world: World) -> None:
    """Its text is not what its metadata says."""
    (text,) = world.snapshot.rglob("*harlow*/*.article.txt")
    text.write_bytes(b"Harlow Bay is a lake.\n")
    report = examine(world.cassettes, world.sources)
    assert (kinds(report), report.exit_code) == (["page changed"], 1)
    assert examine(world.cassettes, world.sources, Asked(only="prompts")).exit_code == 0
    assert kinds(examine(world.cassettes, world.sources, Asked(only="wiki"))) == ["page changed"]


def test_parts_agree_with_the_whole_on_the_committed_recordings() -> None:
    """Nothing is wrong with what the project ships, whichever part is looked at; no page is unused."""
    root = checkout()
    for only in (None, "prompts", "wiki", "secrets"):
        report = examine(root / "cassettes", Sources(world_library(root), (root / "wiki_snapshot",)), Asked(only=only))  # type: ignore[arg-type]
        assert report.findings == ()
        assert report.provenance == {"recorded": 63, "transcribed": 1}
