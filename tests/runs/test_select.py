"""Which recordings a command means."""

from __future__ import annotations

from pathlib import Path

import pytest

from reactrepro.cassettes.library import Library
from reactrepro.errors import CassetteAbsent, Usage
from reactrepro.runs.roots import packaged, shown, sources
from reactrepro.runs.select import choose, keys_of

from ..world import BAY, BAY_REPLIES, World, checkout, world

__all__ = ["world"]


def test_keys_are_indexes_ranges_and_hashes() -> None:
    """In order, each once."""
    assert keys_of(["0"]) == ["0"]
    assert keys_of(["3,5-7", "6", "1"]) == ["3", "5", "6", "7", "1"]
    assert keys_of(["007"]) == ["7"]
    assert keys_of(["ab12cd", "0"]) == ["ab12cd", "0"]
    assert keys_of([]) == []


@pytest.mark.parametrize("word", ["5-3", "0-99999999", "0-999999999999", "9" * 40, "a/b", "../x", "1-", "-1", "A"])
def test_what_is_no_key_is_a_usage_error(word: str) -> None:
    """Exit code 2, with the word in the message."""
    with pytest.raises(Usage, match="is no"):
        keys_of([word])


def test_an_empty_word_is_a_usage_error() -> None:
    """An unset shell variable does not stand for the first episode."""
    with pytest.raises(Usage, match="is a variable unset"):
        keys_of([""])


def test_all_means_every_recording(world: World) -> None:
    """The word `all` does what --all does."""
    assert len(choose(Library.of([world.cassettes]), "hotpotqa", ["all"]).episodes) == 2


def test_one_run_is_preferred_and_the_others_are_counted(world: World) -> None:
    """The run marked as default, else the first of method react; the rest is counted, and --all takes it."""
    other = world.new_run("another")
    world.record(BAY, BAY_REPLIES, other)
    library = Library.of([world.cassettes])
    chosen = choose(library, "hotpotqa", [])
    assert ([(run.name, key) for run, key in chosen.episodes], chosen.others) == ([("another", "1")], 2)
    (world.cassettes / "hotpotqa" / "default").write_text("react/scripted\n", "ascii")
    chosen = choose(library, None, [])
    assert ([(run.name, key) for run, key in chosen.episodes], chosen.others) == ([("scripted", "0")], 2)
    chosen = choose(library, "hotpotqa", ["1"])
    assert ([(run.name, key) for run, key in chosen.episodes], chosen.others) == ([("scripted", "1")], 1)
    chosen = choose(library, "hotpotqa", ["0-1"])
    assert ([key for _, key in chosen.episodes], chosen.others) == (["0", "1"], 1)
    chosen = choose(library, "hotpotqa", [], everything=True)
    assert ([(run.name, key) for run, key in chosen.episodes], chosen.others) == (
        [("another", "1"), ("scripted", "0"), ("scripted", "1")],
        0,
    )
    chosen = choose(library, None, [], run="another")
    assert [(run.name, key) for run, key in chosen.episodes] == [("another", "1")]


def test_the_run_that_has_the_episode_wins_over_the_default(world: World) -> None:
    """An index that only another run holds is found there."""
    other = world.new_run("another")
    from dataclasses import replace

    world.record(replace(BAY, key="9", index=9), BAY_REPLIES, other)
    (world.cassettes / "hotpotqa" / "default").write_text("react/scripted\n", "ascii")
    library = Library.of([world.cassettes])
    assert choose(library, "hotpotqa", ["9"]).episodes[0][0].name == "another"
    assert choose(library, "hotpotqa", ["77"]).episodes[0][0].name == "scripted"


def test_nothing_that_fits_is_absent_and_says_what_is_there(world: World) -> None:
    """Exit code 3: where was looked, and what stands there."""
    with pytest.raises(CassetteAbsent, match="recorded there: hotpotqa/react/scripted"):
        choose(Library.of([world.cassettes]), "fever", [])
    with pytest.raises(CassetteAbsent, match="no cassettes folder was found"):
        choose(Library(()), None, [])
    empty = world.new_run("empty")
    with pytest.raises(CassetteAbsent, match="holds no finished episode"):
        choose(Library.of([world.cassettes]), None, [], run=empty.name)


def test_layers_are_option_environment_here_packaged(tmp_path: Path) -> None:
    """In that order, each laid over the next; the packaged recordings stay visible."""
    folders = [tmp_path / name for name in ("option", "variable", "here")]
    for folder in folders:
        (folder / "cassettes").mkdir(parents=True)
    found = sources(
        [folders[0] / "cassettes"],
        here=folders[2],
        environment={"REACTREPRO_CASSETTES": str(folders[1] / "cassettes")},
    )
    assert found.library.roots == (*(folder / "cassettes" for folder in folders), packaged() / "cassettes")
    assert found.snapshots == (packaged() / "wiki_snapshot",)
    with pytest.raises(Usage, match="REACTREPRO_CASSETTES names"):
        sources(here=tmp_path, environment={"REACTREPRO_CASSETTES": str(tmp_path / "nowhere")})


def test_a_checkout_reads_its_own_folders() -> None:
    """Not copies: from a checkout, editable installs included, the recordings are the checkout's."""
    if (checkout() / "reactrepro" / "_recordings").exists():
        pytest.skip("this is an installed wheel, not a checkout")
    assert packaged() == checkout()
    found = sources(here=checkout(), environment={})
    assert found.library.roots == (checkout() / "cassettes",)


def test_paths_below_the_current_folder_are_shown_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages name files as one would type them."""
    monkeypatch.chdir(tmp_path)
    assert shown(tmp_path / "a" / "b.yaml") == "a/b.yaml"
    assert shown(tmp_path.parent / "b.yaml") == str(tmp_path.parent / "b.yaml")
