"""What a run is worth: what counts, what is counted apart, what is refused."""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro import published
from reactrepro.cassettes.library import Library
from reactrepro.domain import Action, Completion, Ended, Outcome, Question, Score, Step, Tokens, Trajectory, Turn
from reactrepro.errors import CassetteAbsent, Corrupt, InfraError, OutcomeChanged, ReactReproError, Usage
from reactrepro.report import scores
from reactrepro.report.model import EpisodeReport
from reactrepro.report.scored import RunScore, ScoreReport
from reactrepro.results import Result, read, write
from reactrepro.runs.check import requested
from reactrepro.runs.evaluate import Replayed, replayed, runs_of
from reactrepro.runs.replay import replay_episode
from reactrepro.runs.roots import Sources
from reactrepro.runs.score import result_of, score, score_results, score_run

from ..world import BAY, BAY_REPLIES, FOUNDER, FOUNDER_REPLIES, World, checkout, world

__all__ = ["world"]

STEP = Step(1, "", Action("search", "x", "Search[x]", "search[x]"), "x is y.")


def episode(
    world: World,
    key: str,
    *,
    right: bool = False,
    ended: Ended = "finish",
    problem: ReactReproError | None = None,
    flags: tuple[str, ...] = (),
    tokens: Sequence[Tokens] = (Tokens(10, 2),),
) -> EpisodeReport:
    """A report on an episode of the world's run."""
    if isinstance(problem, CassetteAbsent | InfraError):
        return EpisodeReport(world.run, key, f"{key}.yaml", problems=(problem,))
    step = Step(STEP.i, STEP.thought, STEP.action, STEP.observation, flags)
    made = Trajectory("", (step,), "y" if ended == "finish" else "", ended, 2, 1, 1)
    found = Score(right, float(right), {"official_accuracy": float(right)})
    return EpisodeReport(
        run=world.run,
        key=key,
        file=f"{key}.yaml",
        question=Question(key, f"Question {key}?", "y"),
        trajectory=made,
        score=found,
        expected=Outcome.computed(made, found),
        turns=tuple(Turn(1, "", (), Completion("", "", tokens=used)) for used in tokens),
        problems=() if problem is None else (problem,),
    )


def ten(world: World) -> list[EpisodeReport]:
    """10 requested: 7 answered, 5 of them right; 2 infra errors; 1 out of steps."""
    answered = [episode(world, str(n), right=n < 5) for n in range(7)]
    failed = [episode(world, str(n), problem=InfraError("no answer")) for n in (7, 8)]
    return [*answered, *failed, episode(world, "9", ended="step_limit")]


@pytest.fixture
def empty(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A world whose run holds nothing; its reports are made by hand."""
    return World(tmp_path_factory.mktemp("world"))


# --- the denominator ------------------------------------------------------------------------------------------------


@pytest.mark.case("B35")
def test_what_failed_does_not_change_the_denominator(empty: World) -> None:
    """10 requested, 7 answered (5 right), 2 infra errors, 1 step limit: 5/8, and 0.5 of all, counted by reason."""
    made = score_run(ten(empty))
    assert (made.requested, made.judged, made.right, made.em, made.em_requested) == (10, 8, 5, 0.625, 0.5)
    assert (made.f1, made.f1_requested, made.more) == (0.625, 0.5, {"official_accuracy": 0.625})
    assert (made.apart, made.step_limit) == ({"infra error": 2}, 1)
    assert made.interval == pytest.approx((0.3057, 0.8632), abs=1e-4)


@pytest.mark.case("B35")
def test_scoring_twice_gives_the_same(empty: World) -> None:
    """The scorer changes nothing that it is given, and the order of episodes does not matter."""
    results = [result_of(report) for report in ten(empty)]
    before = copy.deepcopy(results)
    first = score_results(results)
    assert (score_results(results), results) == (first, before)
    assert score_results(list(reversed(results))) == first


@pytest.mark.case("B35")
def test_unknown_and_duplicate_episodes_are_an_error(empty: World) -> None:
    """An episode that nobody asked for, and one that stands there twice, are named."""
    results = [result_of(report) for report in ten(empty)]
    keys = [str(n) for n in range(9)]
    with pytest.raises(Usage, match="episode 9 has a result, and nobody asked for it"):
        score_results(results, keys)
    with pytest.raises(Usage, match="episode 3 stands among the results more than once"):
        score_results([*results, results[3]])


@pytest.mark.case("B35")
def test_nothing_to_score_is_said_and_not_divided_by(empty: World) -> None:
    """No episode, or results of none that was asked for: a message, no division by zero."""
    with pytest.raises(Usage, match="nothing to score: no episode is recorded"):
        score_run([])
    with pytest.raises(Usage, match="nothing to score: none of the 2 episodes asked for"):
        score_results([], ["0", "1"])
    made = score_run([episode(empty, "0", problem=InfraError("x"))])
    assert (made.judged, made.em, made.f1, made.em_requested, made.interval) == (0, None, None, 0.0, (0.0, 1.0))
    assert "-" in scores.table(ScoreReport("hotpotqa", 500, (made,)))


@pytest.mark.case("B35")
def test_what_was_asked_for_and_has_no_result_is_missing(empty: World) -> None:
    """Requested keys without a result count in "of all", and nowhere else."""
    results = [result_of(report) for report in ten(empty)]
    made = score_results(results, [str(n) for n in range(12)])
    assert (made.requested, made.judged, made.em, made.em_requested) == (12, 8, 0.625, 5 / 12)
    assert made.apart == {"missing": 2, "infra error": 2}


def test_results_of_two_runs_have_no_common_score(empty: World) -> None:
    """Neither of two runs nor of two states of one run."""
    first = result_of(episode(empty, "0"))
    for change in ({"run": "other"}, {"run_id": "0" * 64}):
        other = Result(**{name: getattr(first, name) for name in first.__struct_fields__} | change | {"key": "1"})
        with pytest.raises(Usage, match="several runs"):
            score_results([first, other])


def test_what_has_no_reply_to_judge_is_apart(empty: World) -> None:
    """Filtered, refused, over the context, not as recorded: each under its own name, none of them wrong answers."""
    reports = [
        episode(empty, "0", right=True),
        episode(empty, "1", ended="filtered"),
        episode(empty, "2", ended="refused"),
    ]
    reports.append(episode(empty, "3", right=True, problem=OutcomeChanged("another answer")))
    made = score_run(reports)
    assert (made.judged, made.em, made.em_requested) == (1, 1.0, 0.25)
    assert made.apart == {"outcome changed": 1, "filtered": 1, "refused": 1}
    shown = scores.table(ScoreReport("hotpotqa", 500, (made,)))
    assert "not judged: 1 outcome changed, 1 filtered, 1 refused" in shown


def test_unknown_tokens_stay_unknown(empty: World) -> None:
    """One reply without usage makes the sum unknown, and the report says how many episodes are known."""
    known = [episode(empty, "0"), episode(empty, "1", tokens=(Tokens(5, 1), Tokens(5, 0)))]
    assert (score_run(known).prompt_tokens, score_run(known).completion_tokens) == (20, 3)
    made = score_run([*known, episode(empty, "2", tokens=(Tokens(5, 1), Tokens()))])
    assert (made.prompt_tokens, made.completion_tokens, made.tokens_known) == (None, None, 2)
    shown = scores.table(ScoreReport("hotpotqa", 500, (made,)))
    assert "tokens: unknown prompt, unknown completion (known in 2 of 3)" in shown


@given(st.lists(st.sampled_from(["right", "wrong", "limit", "failed", "missing"]), min_size=1, max_size=12))
def test_every_episode_is_counted_once(kinds: list[str]) -> None:
    """Judged and apart make up the requested; right ones never exceed the judged; all shares lie between 0 and 1."""
    judged = {"right": {"em": True, "f1": 1.0}, "wrong": {"em": False, "f1": 0.5}, "limit": {"ended": "step_limit"}}
    counts = dict.fromkeys(("steps", "llm_calls", "reprompts", "strict_reprompts"), 1)
    plain = {"task": "t", "method": "m", "run": "r", "run_id": "a" * 64, "provider": "p", "api": "chat", "model": "x"}
    plain |= {"scorer": "s/1", "version": "0"}
    results = []
    for key, kind in enumerate(kinds):
        more: dict[str, object] = {"kind": "missing" if kind == "missing" else "infra error"}
        if kind in judged:
            more = {"em": False, "f1": 0.0, "ended": "finish", "question_sha256": "b" * 64} | counts | judged[kind]
        results.append(Result(**plain | {"key": str(key), "profile": "chat"} | more))
    made = score_results(results)
    assert made.judged + sum(made.apart.values()) == made.requested == len(kinds)
    assert made.right == kinds.count("right")
    assert made.step_limit == kinds.count("limit")
    assert 0 <= made.em_requested <= (made.em if made.em is not None else 1) <= 1


# --- what a report has to say ---------------------------------------------------------------------------------------


def small(world: World) -> ScoreReport:
    """10 examples, 1 right, 7 of them with a format flag, 2 out of steps."""
    reports = [episode(world, str(n), right=n == 0, flags=("no_action",) if n < 7 else ()) for n in range(8)]
    reports += [episode(world, str(n), ended="step_limit") for n in (8, 9)]
    return score("hotpotqa", [Replayed(world.run, [result_of(report) for report in reports])])


@pytest.mark.case("B08")
def test_a_low_score_comes_with_what_explains_it(empty: World) -> None:
    """n, interval, format failures, step limit, endpoint kind and models stand beside an EM of 0.1."""
    report = small(empty)
    (made,) = report.scores
    assert (made.judged, made.em, made.flagged, made.step_limit, made.api) == (10, 0.1, 7, 2, "chat")
    shown = scores.table(report)
    row = next(line for line in shown.split("\n") if line.startswith("react "))
    assert " ".join(row.split()) == "react scripted 10 0.100 0.018 to 0.404 0.100 0.100 0.100 1.0 2.0 20 100 70 0 0"
    assert "chat API; model returned: unknown; recorded: unknown" in shown
    assert "profile chat; overridden: protocol strict" in shown


@pytest.mark.case("B08")
def test_no_small_sample_is_called_a_reproduction(empty: World) -> None:
    """Below 500 the report says that n is small; at no n does it say that anything was reproduced."""
    report = small(empty)
    shown = scores.table(report)
    assert "n is below 500 in every run" in shown
    assert "So few are no reproduction." in shown
    big = score_run([episode(empty, str(n), right=n % 3 == 0) for n in range(500)])
    large = scores.table(ScoreReport("hotpotqa", report.sample, (big,), report.paper))
    assert "below" not in large
    for text in (shown, large):
        assert "they are not reproduced by it" in text
        assert "reproduces" not in text


@pytest.mark.case("B08")
def test_the_papers_rows_are_labelled_and_stand_apart(empty: World) -> None:
    """Table 1 stands below the scores, under its own source, and never among the runs, in JSON and CSV neither."""
    report = small(empty)
    shown = scores.table(report)
    own, _, theirs = shown.partition("The paper's own numbers, none of them computed here: Yao et al. 2022")
    assert "27.4" in theirs
    assert "27.4" not in own
    data = scores.as_dict(report)
    assert [run["run"] for run in data["runs"]] == ["scripted"]
    assert data["paper"]["rows"][4] == {"label": "ReAct", "method": "react", "percent": 27.4}
    assert "27.4" not in str(scores.columns(report.scores))


def test_the_papers_table_is_the_papers() -> None:
    """PaLM-540B, table 1: HotpotQA EM / FEVER accuracy, row by row."""
    told = (
        "Standard 28.7/57.1, CoT 29.4/56.3, CoT-SC 33.4/60.4, Act 25.7/58.9, ReAct 27.4/60.9, "
        "CoT-SC -> ReAct 34.2/64.6, ReAct -> CoT-SC 35.1/62.0, Supervised SoTA 67.5/89.5"
    )
    assert ", ".join(f"{row.label} {row.hotpotqa}/{row.fever}" for row in published.TABLE_1) == told
    assert [value for _, value in published.rows("fever")][:2] == [57.1, 56.3]


@pytest.mark.parametrize("task", ["pelm", "pelm_fever", "hotpotqa2"])
def test_another_task_never_stands_beside_the_papers_rows(empty: World, task: str) -> None:
    """Only the two tasks that the paper has."""
    assert published.rows(task) == ()
    report = score(task, [Replayed(empty.run, [result_of(episode(empty, "0"))])])
    assert report.paper is None
    assert "paper's own" not in scores.table(report)
    assert scores.as_dict(report)["paper"] is None


# --- from recordings ------------------------------------------------------------------------------------------------


def test_a_run_is_replayed_and_scored_with_what_is_missing(world: World) -> None:
    """Recorded, missing and failed episodes of a selection, and the exit code that says so."""
    other = world.new_run("other", selection="0-3")
    world.record(FOUNDER, FOUNDER_REPLIES, other)
    world.record(BAY, BAY_REPLIES, other)
    (other.folder / "3.error.json").write_text("{}", "ascii")
    found = replayed([other], world.sources)
    report = score("hotpotqa", found)
    (made,) = report.scores
    assert (made.requested, made.judged, made.em, made.em_requested) == (4, 2, 1.0, 0.5)
    assert made.apart == {"missing": 1, "infra error": 1}
    assert (report.exit_code, len(report.problems)) == (4, 2)
    assert made.diagnoses["gold_observed"].episodes == 1
    reports = [replay_episode(other, key, world.sources) for key in ("0", "1")]
    assert score_run(reports).em == made.em
    assert len(list(requested(other))) == 4


def test_a_run_that_cannot_be_read_is_a_problem_among_others(world: World) -> None:
    """Its neighbours are scored; an empty run has no score either, and both are said once."""
    broken, hollow = world.new_run("broken"), world.new_run("hollow", selection="")
    world.record(FOUNDER, FOUNDER_REPLIES, broken)
    (broken.folder / "run.json").write_text("{", "ascii")
    report = score("hotpotqa", replayed(runs_of(world.sources, "hotpotqa"), world.sources))
    assert [made.run for made in report.scores] == ["scripted"]
    assert [type(problem) for problem in report.problems] == [Corrupt, CassetteAbsent]
    assert "hollow: it holds no episode" in str(report.problems[1])
    assert hollow.keys() == []


def test_filters_that_find_nothing_say_so(world: World) -> None:
    """Each method and each name that was given has to have a recording."""
    assert [run.name for run in runs_of(world.sources, "hotpotqa", ["react"], ["scripted"])] == ["scripted"]
    for words in (("fever",), ("hotpotqa", ["react", "act"]), ("hotpotqa", [], ["scripted", "nope"])):
        with pytest.raises(CassetteAbsent, match="no recording fits"):
            runs_of(world.sources, *words)  # type: ignore[arg-type]


def test_committed_recordings_score_as_they_did(tmp_path: Path) -> None:
    """Numbers of the runs that the project ships; their results, written and read, score the same."""
    root = checkout()
    sources = Sources(Library.of([root / "cassettes"]), (root / "wiki_snapshot",))
    found = replayed(runs_of(sources, "pelm", ["react"]), sources)
    report = score("pelm", found)
    rows = {made.run: (made.judged, made.right, made.step_limit, made.reprompts) for made in report.scores}
    assert rows["gemma-3-270m"] == (20, 2, 4, 2)
    assert rows["smollm2-135m-instruct"] == (20, 0, 20, 140)
    assert report.exit_code == 0
    file = tmp_path / "pelm.jsonl"
    write(file, [result for one in found for result in one.results])
    kept = read(file)
    again = [score_results([result for result in kept if result.run == made.run]) for made in report.scores]
    assert again == list(report.scores)


def test_the_data_is_json_and_says_what_the_table_says(empty: World) -> None:
    """Every number of a row is a field; CSV has the same, flat."""
    report = small(empty)
    data = json.loads(json.dumps(scores.as_dict(report)))
    (run,) = data["runs"]
    assert (run["em"], run["judged"], run["small"], run["apart"]) == (0.1, 10, True, {})
    assert run["interval"] == pytest.approx([0.0179, 0.4042], abs=1e-4)
    head, row = scores.columns(report.scores)
    cells = dict(zip(head, row, strict=True))
    assert (cells["em"], cells["flags.no_action"], cells["diagnoses.evidence.episodes"]) == (0.1, 7, 10)
    assert cells["interval_low"] == run["interval"][0]
    assert isinstance(report.scores[0], RunScore)
