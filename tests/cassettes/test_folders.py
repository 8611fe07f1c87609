"""Runs, their ids and names, and the layers of a library."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro.cassettes import names, read, write
from reactrepro.cassettes.library import Library
from reactrepro.cassettes.model import RUN_FORMAT, Cassette, RunConfig, TaskRef
from reactrepro.cassettes.runs import Run
from reactrepro.domain import Settings
from reactrepro.errors import CassetteAbsent, Corrupt, Usage

from .conftest import chat

Make = Callable[..., Cassette]


def config(**fields: object) -> RunConfig:
    """A run's configuration, with *fields* over plain defaults."""
    plain: dict[str, object] = {
        "format": RUN_FORMAT,
        "task": TaskRef(name="hotpotqa", version=1, scorer="hotpotqa-official/1"),
        "method": "react",
        "provider": "scripted",
        "model": "m",
        "settings": Settings.of("chat", max_steps=7),
        "prompt": "paper",
        "site": "enwiki",
        "provenance": "scripted",
        "selection": "0",
    }
    return RunConfig(**(plain | fields))  # type: ignore[arg-type]


def make_run(root: Path, cassettes: dict[str, Cassette], name: str = "m", **fields: object) -> Run:
    """A run on disk."""
    folder = root / "hotpotqa" / "react" / name
    write.replace_file(folder / "run.json", write.run_bytes(config(**fields)))
    for key, cassette in cassettes.items():
        write.replace_file(folder / f"{key}.yaml", write.cassette_bytes(cassette))
    return Run.at(folder)


def test_a_configuration_survives_the_disk(tmp_path: Path) -> None:
    """What is written is read, types included: temperature 0 stays an integer."""
    for value in (
        config(),
        config(parts={"react": "react/m"}, supersedes="a" * 64, filled_in=("max_tokens",), site=None),
    ):
        path = tmp_path / "run.json"
        path.write_bytes(write.run_bytes(value))
        assert read.read_run(path) == value
        assert type(read.read_run(path).settings.temperature) is int


def test_the_settings_hash_covers_what_was_asked() -> None:
    """Another model, setting, prompt or site is another configuration; a note or the selection is not."""
    same = config().settings_sha256()
    assert config(note="x", selection="0-9", supersedes="y").settings_sha256() == same
    for other in (
        config(model="n"),
        config(provider="openai"),
        config(prompt="mine"),
        config(site="pelm"),
        config(method="act"),
        config(settings=Settings.of("chat", max_steps=7, temperature=0.7)),
        config(settings=Settings.of("paper", max_steps=7)),
        config(parts={"react": "react/m"}),
    ):
        assert other.settings_sha256() != same


def test_the_run_id_is_what_sha256sum_makes_of_the_files(tmp_path: Path, make: Make) -> None:
    """The id can be checked without this program."""
    run = make_run(tmp_path, {"0": make(chat("p", "r")), "10": make(chat("q", "s"), key="10"), "2": make(key="2")})
    (run.folder / "2.tape.jsonl").write_bytes(b"{}\n")
    (run.folder / "5.error.json").write_bytes(b"{}\n")
    shell = "LC_ALL=C; export LC_ALL; sha256sum $(ls *.yaml *.json *.jsonl | sort) | sha256sum"
    done = subprocess.run(["sh", "-c", shell], cwd=run.folder, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no sha256sum here: {done.stderr}")
    assert run.id == done.stdout.split()[0]


def test_the_run_id_ignores_an_unfinished_recording_and_nothing_else(tmp_path: Path, make: Make) -> None:
    """`.yaml.part` is nobody's result; an episode, a tape, an error and the configuration each count."""
    run = make_run(tmp_path, {"0": make(chat("p", "r"))})
    before = run.id
    (run.folder / "1.yaml.part").write_bytes(b"half")
    (run.folder / ".0.yaml.x.tmp").write_bytes(b"half")
    (run.folder / "README").write_bytes(b"words")
    assert Run.at(run.folder).id == before
    assert Run.at(run.folder).keys() == ["0"]
    for name in ("1.yaml", "0.tape.jsonl", "3.error.json"):
        (run.folder / name).write_bytes(b"x")
        assert Run.at(run.folder).id != before
        (run.folder / name).unlink()
    assert Run.at(run.folder).id == before


def test_keys_come_in_numeric_order(tmp_path: Path, make: Make) -> None:
    """2 before 10, numbers before hashes; what is no key is passed over."""
    run = make_run(tmp_path, {key: make(key=key) for key in ("10", "2", "ab12", "0")})
    (run.folder / "Not A Key.yaml").write_bytes(b"")
    assert run.keys() == ["0", "2", "10", "ab12"]


def test_a_file_under_another_key_or_provenance_is_corrupt(tmp_path: Path, make: Make) -> None:
    """A renamed episode, and one of another provenance, never pass for the run's own."""
    run = make_run(tmp_path, {"0": make(key="1"), "2": make(key="2", provenance="recorded")})
    with pytest.raises(Corrupt, match="renamed or copied"):
        run.read("0")
    with pytest.raises(Corrupt, match="different provenance never stand in one run"):
        run.read("2")
    with pytest.raises(CassetteAbsent):
        run.read("9")


def test_a_run_in_a_foreign_place_is_corrupt(tmp_path: Path) -> None:
    """A run is found by its folder, so its configuration has to agree with it."""
    run = make_run(tmp_path, {}, method="act")
    with pytest.raises(Corrupt, match="belongs to hotpotqa/act"):
        _ = run.config


def test_layers_hide_whole_runs_and_show_the_rest(tmp_path: Path, make: Make) -> None:
    """Local first, packaged still visible; episodes of two layers never mix."""
    upper, lower = tmp_path / "upper", tmp_path / "lower"
    make_run(upper, {"0": make()})
    make_run(lower, {"0": make(), "1": make(key="1")})
    make_run(lower, {"0": make()}, name="other")
    library = Library.of([upper, lower, upper])
    assert [(run.name, run.folder.parents[2].name) for run in library.runs()] == [("m", "upper"), ("other", "lower")]
    assert library.runs("hotpotqa", "react", "m")[0].keys() == ["0"]
    assert library.runs("fever") == []
    assert Library.of([tmp_path / "nowhere"]).runs() == []


def test_the_default_is_named_outside_the_run(tmp_path: Path) -> None:
    """`<task>/default` names method and run; the uppermost one counts; anything else in it is corrupt."""
    upper, lower = tmp_path / "upper", tmp_path / "lower"
    for root, line in ((upper, "react/mine\n"), (lower, "react/theirs\n")):
        write.replace_file(root / "hotpotqa" / "default", line.encode())
    assert Library.of([upper, lower]).default("hotpotqa") == ("react", "mine")
    assert Library.of([lower]).default("hotpotqa") == ("react", "theirs")
    assert Library.of([upper]).default("fever") is None
    write.replace_file(upper / "hotpotqa" / "default", b"../../etc/passwd\n")
    with pytest.raises(Corrupt, match="holds no line 'method/run'"):
        Library.of([upper]).default("hotpotqa")


@pytest.mark.parametrize(
    ("model", "slug"),
    [
        ("deepseek-v3-250324", "deepseek-v3-250324"),
        ("meta-llama/Llama 3.1 8B", "meta-llama-llama-3.1-8b"),
        ("../../etc/passwd", "etc-passwd"),
        ("CON", "run-con"),
        ("aux.v1", "run-aux.v1"),
        ("模型", "run"),
        ("", "run"),
        ("..", "run"),
    ],
)
def test_a_run_is_called_after_its_model(model: str, slug: str) -> None:
    """The slug of the model is a safe file name everywhere."""
    assert names.slug(model) == slug


@given(st.text(max_size=300))
def test_every_slug_is_a_safe_name(model: str) -> None:
    """Whatever a model is called, its run has a name that fits every file system and stays in its folder."""
    name = names.run_name(model, "ab" * 32, {names.slug(model): "cd" * 32})
    assert names.is_name(names.slug(model))
    assert names.is_name(name)
    assert name.endswith("-abababab")
    assert names.run_name(model, "ab" * 32, {}) == names.slug(model)
    assert names.run_name(model, "ab" * 32, {names.slug(model): "ab" * 32}) == names.slug(model)


@pytest.mark.parametrize(
    "name", ["", ".", "..", "a/b", "a\\b", "A", "con", "nul.txt", "a..b", "a.", "-a", "a\n", "x" * 81]
)
def test_unsafe_names_are_refused(name: str) -> None:
    """A run's name is a safe file name or none."""
    with pytest.raises(Usage):
        names.checked_name(name, "run")


@pytest.mark.parametrize("key", ["", "..", "0.yaml", "A", "0/1", "-1", "con", "a" * 65, "0\n"])
def test_unsafe_keys_are_refused(key: str) -> None:
    """So is an episode's key."""
    assert not names.is_key(key)
