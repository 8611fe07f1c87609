"""Observation tapes: on disk, and as environments."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro.cassettes.tapes import Tape, TapeEntry, read_tape, tape_bytes, tape_sha256
from reactrepro.domain import Action
from reactrepro.errors import CassetteAbsent, Corrupt, TapeLeftover, TapeMiss
from reactrepro.parsing.actions import parse_action
from reactrepro.tape import environment

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
tapes = st.builds(
    Tape,
    scope=st.sampled_from(["wiki", "environment"]),
    initial_observation=texts,
    entries=st.lists(st.builds(TapeEntry, texts, texts, st.booleans(), st.sampled_from([0, 1, 0.5])), max_size=4).map(
        tuple
    ),
)

WIKI = Tape(
    "wiki",
    "Question: Where is Vorland?",
    (TapeEntry("Search[Vorland]", "Vorland is a town."), TapeEntry("Lookup[town]", "No more results.\n")),
)


def act(text: str) -> Action:
    """The action of a text."""
    return parse_action(text)


@given(tapes)
def test_a_tape_survives_the_disk(tmp_path_factory: pytest.TempPathFactory, tape: Tape) -> None:
    """Every character of every observation is read back, from ASCII lines."""
    data = tape_bytes(tape)
    path = tmp_path_factory.mktemp("tape") / "0.tape.jsonl"
    path.write_bytes(data)
    assert data.isascii()
    assert len(data.splitlines()) == 1 + len(tape.entries)
    assert read_tape(path, tape_sha256(data)) == tape


def test_a_tape_cut_or_changed_is_corrupt(tmp_path: Path) -> None:
    """The episode pins the tape's bytes; without a pin, a cut line is still noticed."""
    data = tape_bytes(WIKI)
    path = tmp_path / "0.tape.jsonl"
    for cut in range(len(data)):
        path.write_bytes(data[:cut])
        with pytest.raises(Corrupt, match="not the tape"):
            read_tape(path, tape_sha256(data))
        if not data[:cut].endswith(b"\n"):
            with pytest.raises(Corrupt, match="truncated"):
                read_tape(path)
    with pytest.raises(CassetteAbsent, match="was recorded with it"):
        read_tape(tmp_path / "1.tape.jsonl", "0")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b'{"format": "reactrepro-tape/2"}\n', "newer reactrepro"),
        (b"[]\n", "no JSON object"),
        (b'{"format": "reactrepro-tape/1", "scope": "all", "initial_observation": ""}\n', "scope"),
        (b'{"format": "reactrepro-tape/1", "scope": "wiki", "initial_observation": ""}\n{"action": 1}\n', "action"),
        (b"\xff\n", "not readable JSON"),
        (b"[" * 100000 + b"\n", "not readable JSON"),
    ],
)
def test_what_is_no_tape_is_corrupt(tmp_path: Path, line: bytes, says: str) -> None:
    """The reason is said."""
    path = tmp_path / "0.tape.jsonl"
    path.write_bytes(line)
    with pytest.raises(Corrupt, match=says):
        read_tape(path)


def test_scope_wiki_answers_search_and_lookup_and_computes_the_rest() -> None:
    """Invalid actions, thoughts, Finish and the reward are not on the tape; they are computed."""
    env = environment(WIKI, lambda answer: float(answer == "Quill"), "0.tape.jsonl")
    assert env.reset() == "Question: Where is Vorland?"
    assert env.step(act("Search[Vorland]")).text == "Vorland is a town."
    assert env.step(act("Dance")).text == "Invalid action: dance"
    assert env.step(act("think[so]")).text == "Nice thought."
    assert env.step(act("Lookup[town]")).text == "No more results.\n"
    env.finish()
    last = env.step(act("Finish[Quill]"))
    assert (last.text, last.done, last.reward) == ("Episode finished, reward = 1\n", True, 1)
    assert env.step(act("Search[more]")) == last


def test_scope_environment_answers_everything() -> None:
    """Every action comes from the tape, done and reward with it."""
    tape = Tape(
        "environment", "You are in a room.", (TapeEntry("go north", "A desk."), TapeEntry("take pen", "Done.", True, 1))
    )
    env = environment(tape, lambda answer: 0.0, "0.tape.jsonl")
    assert env.reset() == "You are in a room."
    assert env.step(act("go north")).text == "A desk."
    last = env.step(act("take pen"))
    assert (last.text, last.done, last.reward) == ("Done.", True, 1)
    assert env.step(act("anything")) == last
    env.finish()


@pytest.mark.parametrize("scope", ["wiki", "environment"])
def test_another_action_is_a_miss_and_an_unused_entry_a_leftover(scope: str) -> None:
    """The tape is compared, not played from like a queue; and it has to be used up."""
    tape = Tape(scope, WIKI.initial_observation, WIKI.entries)  # type: ignore[arg-type]
    env = environment(tape, lambda answer: 0.0, "0.tape.jsonl")
    env.reset()
    with pytest.raises(
        TapeMiss, match=r"entry 1: recorded is the action 'Search\[Vorland\]', taken was 'Search\[Mars\]'"
    ):
        env.step(act("Search[Mars]"))
    env.step(act("Search[Vorland]"))
    with pytest.raises(TapeLeftover, match="1 of 2 entries"):
        env.finish()
    env.step(act("Lookup[town]"))
    with pytest.raises(TapeMiss, match="ends after 2 entries"):
        env.step(act("Lookup[town]"))
    env.finish()
    env.reset()
    assert env.step(act("Search[Vorland]")).text == "Vorland is a town."
