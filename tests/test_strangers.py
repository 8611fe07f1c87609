"""Recordings come from strangers and from accidents: whatever is in a file, there is a clear error and an exit code."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reactrepro.cassettes.runs import Run
from reactrepro.cassettes.tapes import Tape, TapeEntry
from reactrepro.domain import Settings
from reactrepro.report.model import RunReport
from reactrepro.runs.check import check
from reactrepro.runs.listing import runs
from reactrepro.wiki.entries import entries

from .world import BAY, BAY_REPLIES, FOUNDER, FOUNDER_REPLIES, World, world

__all__ = ["world"]

BYTES = [b"", b"\0", b"\n", b"\r\n", b'"', b"\\", b"{", b"}", b"[", b"&a ", b"*a ", b"!!python/object:os.system "]
BYTES += [b"\xff", b"\xc2\x80", b"9" * 5000, b"-", b"1e999", b"NaN", b"null", b"true", b"\\ud83d", b"\\u0000"]
BYTES += [b"../", b": ", b"# "]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Two runs, one over pages and one over a tape; tests put back what they damage."""
    made = World(tmp_path_factory.mktemp("whole"))
    made.record(FOUNDER, FOUNDER_REPLIES)
    taped = made.new_run("taped", site=None)
    entries = (TapeEntry("Search[Vorland]", "Vorland is a town."), TapeEntry("Lookup[founded]", "It was founded."))
    made.record(FOUNDER, FOUNDER_REPLIES, taped, tape=Tape("wiki", f"Question: {FOUNDER.text}", entries))
    return made


def files(world: World) -> list[Path]:
    """Every file of a world, in a fixed order."""
    return sorted(path for path in world.root.rglob("*") if path.is_file())


def judged(world: World) -> RunReport:
    """Check everything; every error is a problem in the report, with an exit code of 0 to 5."""
    report = RunReport(tuple(check(world.cassettes, world.sources)))
    runs(world.sources)
    list(entries([world.snapshot]))
    for episode in report.episodes:
        assert all(problem.exit_code in {1, 2, 3, 4, 5} and str(problem) for problem in episode.problems)
    return report


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_bytes_altered_anywhere_are_an_error_or_change_nothing(whole: World, data: st.DataObject) -> None:
    """Any file, any bytes: no traceback, no code run; and what still passes gives the recorded outcome."""
    path = data.draw(st.sampled_from(files(whole)))
    before = path.read_bytes()
    changed = bytearray(before)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(changed)))
        changed[at : at + data.draw(st.integers(0, 3))] = data.draw(st.sampled_from(BYTES) | st.binary(max_size=3))
    try:
        path.write_bytes(bytes(changed))
        for episode in judged(whole).episodes:
            if episode.ok and episode.trajectory is not None:
                assert episode.trajectory.answer == "Ada Marlow"
    finally:
        path.write_bytes(before)


def test_every_file_cut_at_many_places_is_an_error(whole: World) -> None:
    """Truncation never passes, but for a final newline; 12 places in each file."""
    picks = random.Random(7)  # noqa: S311 - places to cut at, not secrets
    for path in files(whole):
        before = path.read_bytes()
        used = ".original." not in path.name and "harlow" not in str(path) and "marlow" not in str(path)
        for cut in {0, 1, *(picks.randrange(len(before)) for _ in range(10))}:
            path.write_bytes(before[:cut])
            report = judged(whole)
            if used and "new" not in path.parent.name and len(before) - cut > 1:
                assert report.exit_code in {1, 3, 5}, (path.name, cut)
        path.write_bytes(before)
    assert judged(whole).exit_code == 0


@pytest.mark.parametrize("name", ["run.json", "0.yaml", "0.tape.jsonl"])
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0" * 100,
        b"\xff\xfe{\0}\0",
        b"[" * 200_000,
        b'{"a":' * 50_000,
        b"a: &x [1]\n" + b"b: [*x, *x]\n" * 5,
        b"- " * 50_000,
        b'{"format": "reactrepro-run/99"}\n',
        b'reactrepro: {"format": "reactrepro-episode/99"}\ninteractions: []\nversion: 1\n',
        b'{"format": ["reactrepro-run/1"]}\n',
        b"!!python/object/apply:os.system [exit]\n",
        b"%YAML 9.9\n---\n{}\n",
        b'"\\ud83d"\n',
        b"null",
    ],
    ids=range(14),
)
def test_hostile_contents_are_refused(world: World, name: str, content: bytes) -> None:
    """Nested, aliased, tagged, newer, foreign or empty: corrupt, and quickly."""
    tape = Tape("wiki", f"Question: {BAY.text}", ())
    run = world.new_run("taped", site=None)
    world.record(BAY, BAY_REPLIES, run, tape=tape)
    path = run.folder / name.replace("0", "1")
    path.write_bytes(content)
    assert judged(world).exit_code == 5


def test_a_billion_laughs_stay_quiet(world: World) -> None:
    """Anchors that would grow to gigabytes are refused before a value is built."""
    lines = ["a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    world.run.path("0").write_text("\n".join(lines), "ascii")
    report = judged(world)
    assert report.counts == {"ok": 1, "corrupt": 1}
    assert "anchors" in str(report.episodes[0].problems[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        lambda data: data | {"site": "../../../etc"},
        lambda data: data | {"site": "x" * 5000},
        lambda data: data | {"prompt": "../../secret"},
        lambda data: data | {"method": "../react"},
        lambda data: data | {"selection": "0-999999999"},
        lambda data: data | {"selection": "9" * 4000},
        lambda data: data | {"note": "\ud83d"},
        lambda data: data | {"model": 10**30},
        lambda data: data | {"settings": data["settings"] | {"max_steps": 10**30}},
        lambda data: data | {"settings": data["settings"] | {"temperature": 10**400}},
        lambda data: data | {"settings": data["settings"] | {"profile": "\x1b[2J"}},
        lambda data: data | {"parts": {"react": "../../x"}},
        lambda data: [data],
    ],
    ids=range(13),
)
def test_a_run_file_cannot_lead_outside_or_astray(
    world: World, change: Callable[[dict[str, object]], object], capsys: pytest.CaptureFixture[str]
) -> None:
    """Path tricks and absurd values in run.json are an error, or mean nothing."""
    from reactrepro import cli

    path = world.run.folder / "run.json"
    path.write_text(json.dumps(change(json.loads(path.read_bytes()))), "ascii")
    judged(world)
    places = ["--cassettes", str(world.cassettes), "--wiki-snapshot", str(world.snapshot)]
    for words in (["list"], ["list", "--json"], ["check"], ["replay", "hotpotqa", "0"], ["replay", "--all", "--json"]):
        assert cli.run([*words, *places]) in {0, 1, 2, 3, 5}
    shown = capsys.readouterr()
    assert "\x1b" not in shown.out + shown.err


def test_a_link_out_of_the_snapshot_is_not_followed(world: World, tmp_path: Path) -> None:
    """A page that is a link to a file elsewhere is refused, and nothing of that file is shown."""
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret\n", "ascii")
    page = next(world.snapshot.rglob("vorland-*/*.article.txt"))
    page.unlink()
    try:
        os.symlink(secret, page)
    except OSError:
        pytest.skip("no links here")
    report = judged(world)
    assert report.exit_code == 5
    assert not any("the secret" in str(problem) for episode in report.episodes for problem in episode.problems)


def test_settings_of_a_run_are_values_not_paths() -> None:
    """What a run names is looked up in tables, never opened."""
    strange = Settings.of("chat", max_steps=7, protocol="../../x", extraction="/etc/passwd")
    assert strange.overrides(max_steps=7) == {"protocol": "../../x", "extraction": "/etc/passwd"}


def test_an_unreadable_run_does_not_stop_the_list(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """`reactrepro list` shows what it can read and says what it cannot."""
    from reactrepro import cli

    other = world.new_run("other")
    (other.folder / "run.json").write_bytes(b"{")
    places = ["--cassettes", str(world.cassettes)]
    assert cli.run(["list", *places]) == 5
    assert "scripted" in capsys.readouterr().out
    assert Run.at(other.folder).keys() == []
