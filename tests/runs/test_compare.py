"""Two runs, question by question."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from reactrepro.domain import Question
from reactrepro.errors import CassetteAbsent, Corrupt, Usage
from reactrepro.report import comparisons
from reactrepro.report.scored import Comparison
from reactrepro.runs.compare import compare, run_named
from reactrepro.runs.evaluate import replayed

from ..world import BAY, BAY_REPLIES, FOUNDER, FOUNDER_REPLIES, World, world

__all__ = ["world"]

WRONG = [" I guess.\nAction 1: Finish[Quill]"]


@pytest.fixture
def two(world: World) -> World:
    """The world's run and a second one, `warm`, that gets the first question wrong."""
    warm = world.new_run("warm", settings=replace(world.settings, max_tokens=99))
    world.record(FOUNDER, WRONG, warm)
    world.record(BAY, BAY_REPLIES, warm)
    return world


def compared(world: World, *names: str, **more: object) -> Comparison:
    """The comparison of two runs by name."""
    runs = [run_named(world.sources.library, name) for name in names]
    return compare(*(replayed([run], world.sources)[0] for run in runs), **more)  # type: ignore[arg-type]


def test_two_runs_are_compared_pair_by_pair(two: World) -> None:
    """Who is right where, what flipped and how, the test, the intervals and how to get them again."""
    found = compared(two, "scripted", "warm", resamples=200, seed=7)
    assert (found.n, found.both, found.only_first, found.only_second, found.neither) == (2, 1, 1, 0, 0)
    assert (found.p, found.em.first, found.em.second, found.em.difference) == (1.0, 1.0, 0.5, -0.5)
    assert (found.em.interval, found.resamples, found.seed, found.level) == ((-1.0, 0.0), 200, 7, 0.95)
    (flip,) = found.flips
    assert (flip.key, flip.right, flip.answers, flip.gold) == ("0", 1, ("Ada Marlow", "Quill"), "Ada Marlow")
    assert {name: pair[1] for name, pair in found.configuration.items()} == {"settings.max_tokens": 99}
    shown = comparisons.table(found)
    assert "200 resamples, seed 7" in shown
    assert "Ada Marlow" in shown
    assert "Ada Marlow" not in comparisons.table(found, flips=False)
    data = json.loads(json.dumps(comparisons.as_dict(found)))
    assert (data["p"], data["em"]["interval"]) == (1.0, [-1.0, 0.0])
    assert data["configuration"] == {"settings.max_tokens": [512, 99]}


def test_turned_around_the_comparison_says_the_same(two: World) -> None:
    """Only the sides change."""
    found, turned = compared(two, "scripted", "warm"), compared(two, "warm", "scripted")
    assert (turned.p, turned.only_first, turned.only_second) == (found.p, found.only_second, found.only_first)
    assert turned.em.difference == -found.em.difference
    assert [flip.right for flip in turned.flips] == [2]


def test_a_run_equals_itself(two: World) -> None:
    """Nothing flips, nothing differs, p is 1 and the interval has no width."""
    found = compared(two, "scripted", "scripted")
    assert (found.p, found.em.interval, found.flips, found.configuration) == (1.0, (0.0, 0.0), (), {})
    assert "The two have the same configuration." in comparisons.table(found)


def test_what_is_not_paired_is_refused_and_named(two: World) -> None:
    """One episode less: which, in which run, and why; exit code 2. `--common` leaves it out, and says so."""
    less = two.new_run("less", selection="0-1")
    two.record(FOUNDER, WRONG, less)
    with pytest.raises(Usage) as caught:
        compared(two, "scripted", "less")
    assert caught.value.exit_code == 2
    assert "judged in hotpotqa/react/scripted only: episode 1 (in the other: missing)" in str(caught.value)
    found = compared(two, "scripted", "less", common=True)
    assert (found.n, found.left_out) == (1, 1)
    assert "1 episode that only one has judged left out" in comparisons.table(found)


def test_the_same_key_with_another_question_is_no_pair(two: World) -> None:
    """The question's hash tells; there is no way around it."""
    other = two.new_run("other")
    two.record(FOUNDER, FOUNDER_REPLIES, other)
    two.record(Question("1", "Which bay does Vorland lie on? ", "Harlow Bay", 1), BAY_REPLIES, other)
    for common in (False, True):
        with pytest.raises(Usage, match="episode 1 is another one in each"):
            compared(two, "scripted", "other", common=common)


def test_runs_without_a_question_in_common_are_refused(two: World) -> None:
    """Also with `common`: there is nothing to compare."""
    other = two.new_run("other")
    two.record(Question("5", "Another?", "Harlow Bay", 5), BAY_REPLIES, other)
    with pytest.raises(Usage, match="no question in common"):
        compared(two, "scripted", "other", common=True)


def test_a_run_that_cannot_be_read_is_its_own_error(two: World) -> None:
    """Not "not paired": the file is what is wrong."""
    (two.cassettes / "hotpotqa/react/warm/run.json").write_text("{", "ascii")
    with pytest.raises(Corrupt, match="warm"):
        compared(two, "scripted", "warm")


def test_a_run_is_named_as_far_as_it_takes(two: World) -> None:
    """Its name alone, with method, with task; several or none are an error that lists what there is."""
    library = two.sources.library
    assert {run_named(library, words).name for words in ("warm", "react/warm", "hotpotqa/react/warm")} == {"warm"}
    with pytest.raises(CassetteAbsent, match="no recording fits"):
        run_named(library, "act/warm")
    other = two.cassettes / "pelm" / "react" / "warm"
    other.mkdir(parents=True)
    (other / "run.json").write_text("{}", "ascii")
    with pytest.raises(Usage, match="hotpotqa/react/warm, pelm/react/warm"):
        run_named(library, "warm")
    assert run_named(library, "warm", "hotpotqa").task == "hotpotqa"
