"""What one replay tells of an episode under other settings is what a replay under them tells."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reactrepro.cassettes.library import Library
from reactrepro.cassettes.model import RunConfig
from reactrepro.cassettes.runs import RUN_FILE, Run
from reactrepro.cassettes.write import run_bytes
from reactrepro.domain import Settings
from reactrepro.methods import METHODS
from reactrepro.methods.react import React
from reactrepro.report.model import EpisodeReport
from reactrepro.report.money import tokens
from reactrepro.runs.replay import replay_episode
from reactrepro.runs.roots import Sources
from reactrepro.runs.script import scripted_episode, scripted_run
from reactrepro.runs.select import choose
from reactrepro.runs.varied import Varied, applying, settings_of
from reactrepro.runs.what_if import AS_RECORDED, WhatIf

from ..world import FOUNDER, SITE, World, checkout, world, write_pages

__all__ = ["world"]

REPLIES = (
    " I search.\nAction {i}: Search[Vorland]",
    " I look.\nAction {i}: Lookup[founded]",
    " I do not know what to do.",
    " A page with a backslash.\nAction {i}: Search[C:\\new]",
    " Nothing is done.\nAction {i}: ",
    "",
    " Done.\nAction {i}: Finish[Ada Marlow]",
    " Done.\nAction {i}: Finish[]",
    " Two at once.\nAction {i}: Search[Marlow]\nObservation {i}: made up\nThought",
    "Search[Harlow Bay]",
)
SAMPLES = st.lists(st.sampled_from(("Ada Marlow", "ada marlow.", "nobody", None)), min_size=2, max_size=9)


def chat(texts: Sequence[str], finish: str = "stop") -> dict[str, Any]:
    """A reply with as many choices."""
    choices = [
        {"index": n, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
        for n, text in enumerate(texts)
    ]
    return {"choices": choices, "usage": {"prompt_tokens": 9, "completion_tokens": 5 * len(texts)}}


def script(lines: Sequence[int], filtered: int | None) -> list[Any]:
    """Replies to at most 14 calls; the one numbered *filtered* is none to judge."""
    texts = [REPLIES[line].format(i=number) for number, line in enumerate(lines, 1)]
    return [chat([text], "content_filter" if n == filtered else "stop") for n, text in enumerate(texts)]


class Acted:
    """A scripted episode of a method that acts, in a folder that is gone afterwards."""

    def __init__(self, root: Path, pages: Path) -> None:
        self.root, self.pages = root, pages
        self.sources = Sources(Library.of([root / "cassettes"]), (pages,))

    def run(self, method: str, **wanted: Any) -> Run:
        """Make a run."""
        site = SITE if METHODS.get(method)().acts else None
        made = Settings.of("chat", method=METHODS.get(method)().defaults("chat"), **{"max_steps": 5} | wanted)
        return scripted_run(self.root / "cassettes", "hotpotqa", "made", settings=made, method=method, site=site)

    def act(self, method: str, protocol: str, lines: Sequence[int], filtered: int | None) -> Run:
        """Make an episode."""
        run = self.run(method, protocol=protocol)
        scripted_episode(run, FOUNDER, script(lines, filtered), snapshots=[self.pages])
        return run

    def vote(self, answers: Sequence[str | None], size: int = 1) -> Run:
        """Make an episode of as many samples, of which each call brought *size*."""
        said = [f" So.\nAnswer: {answer}" if answer is not None else " I cannot tell." for answer in answers]
        calls = [chat(said[at : at + size]) for at in range(0, len(said), size)]
        run = self.run("cot_sc", samples=len(said))
        scripted_episode(run, FOUNDER, calls)
        return run

    def compose(self, method: str) -> Run:
        """Make a back-off of the two."""
        root, names = self.root / "cassettes", ("react", "cot_sc")
        parts = {name: Run.at(root / "hotpotqa" / name / "made") for name in names}
        config: RunConfig = replace(
            parts["react"].config,
            method=method,
            parts={name: f"{name}/made" for name in names},
            settings=replace(parts["react"].config.settings, samples=parts["cot_sc"].config.settings.samples),
        )
        folder = root / "hotpotqa" / method / "made"
        folder.mkdir(parents=True)
        (folder / RUN_FILE).write_bytes(run_bytes(config))
        return Run.at(folder)


def same(found: EpisodeReport, replayed: EpisodeReport) -> bool:
    """Whether both say the same of what the model did, or refuse the question alike."""
    assert [type(problem) for problem in found.problems] == [type(problem) for problem in replayed.problems]
    return bool(found.problems) or (found.trajectory, found.score) == (replayed.trajectory, replayed.score)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The invented pages."""
    root = tmp_path_factory.mktemp("pages")
    write_pages(root)
    return root


LINES = st.lists(st.integers(0, len(REPLIES) - 1), min_size=12, max_size=12)


@settings(max_examples=25)
@given(
    method=st.sampled_from(["react", "act"]),
    protocol=st.sampled_from(["strict", "tolerant"]),
    lines=LINES,
    filtered=st.none() | st.integers(0, 6),
)
@example(method="react", protocol="tolerant", lines=[2, 0] * 6, filtered=None)
@example(method="react", protocol="strict", lines=[9, 2] * 6, filtered=3)
def test_a_smaller_step_limit_is_a_shorter_trajectory(
    pages: Path, method: str, protocol: str, lines: list[int], filtered: int | None
) -> None:
    """Step for step, count for count, for both methods that act, whatever the model writes."""
    with tempfile.TemporaryDirectory() as folder:
        made = Acted(Path(folder), pages)
        run = made.act(method, protocol, lines, filtered)
        varied = Varied(run, "0", made.sources)
        for limit in range(7):
            what_if = WhatIf(max_steps=limit)
            assert same(varied.under(what_if), replay_episode(run, "0", made.sources, what_if=what_if))


@settings(max_examples=8)
@given(SAMPLES, st.integers(1, 4), LINES)
def test_samples_thresholds_and_limits_of_back_offs(
    pages: Path, answers: list[str | None], size: int, lines: list[int]
) -> None:
    """Votes over the first samples; compositions of both parts under the same settings."""
    with tempfile.TemporaryDirectory() as folder:
        made = Acted(Path(folder), pages)
        cot_sc, _ = made.vote(answers, size), made.act("react", "tolerant", lines, None)
        runs = [cot_sc, made.compose("react_then_cot_sc"), made.compose("cot_sc_then_react")]
        asked = [WhatIf(samples=n) for n in range(1, len(answers) + 1)]
        asked += [WhatIf(threshold=votes / 2) for votes in range(2 * len(answers) + 3)]
        asked += [WhatIf(limit, len(answers) - 1, 2) for limit in range(1, 6)]
        more = Varied(cot_sc, "0", made.sources).under(WhatIf(samples=len(answers) + 1))
        assert [problem.exit_code for problem in more.problems] == [2]
        for run in runs:
            varied = Varied(run, "0", made.sources)
            for what_if in asked:
                assert same(varied.under(what_if), replay_episode(run, "0", made.sources, what_if=what_if))


@pytest.mark.slow
def test_what_is_recorded_here_is_varied_alike() -> None:
    """Every committed recording, under every smaller step limit and number of samples."""
    sources = Sources(Library.of([checkout() / "cassettes"]), (checkout() / "wiki_snapshot",))
    for run, key in choose(sources.library, None, ["all"]).episodes:
        varied = Varied(run, key, sources)
        assert varied.under(AS_RECORDED).ok
        values = settings_of(run.config)
        asked = [WhatIf(max_steps=limit) for limit in range(1, int(values.get("max_steps", 0)) + 1)]
        asked += [WhatIf(samples=n) for n in {1, 2, int(values.get("samples", 1))} if "samples" in values]
        for what_if in asked:
            assert same(varied.under(what_if), replay_episode(run, key, sources, what_if=what_if))


def test_an_episode_is_replayed_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much is asked; and a loop of somebody else's, of which nothing is known, is replayed under the limit."""
    import reactrepro.runs.varied as module

    count = []

    def counted(*words: Any, **more: Any) -> EpisodeReport:
        count.append(more)
        return replay_episode(*words, **more)

    monkeypatch.setattr(module, "replay_episode", counted)
    varied = Varied(world.run, "0", world.sources)
    before = [varied.under(WhatIf(max_steps=limit)).trajectory for limit in range(1, 8)]
    assert len(count) == 1
    monkeypatch.delattr(React, "shortened")
    assert [varied.under(WhatIf(max_steps=limit)).trajectory for limit in range(1, 8)] == before
    assert len(count) == 8


def test_an_episode_that_does_not_replay_is_never_judged(world: World) -> None:
    """A recorded outcome that is not the computed one is a problem under every setting, not as recorded only."""
    path = world.run.path("0")
    path.write_bytes(path.read_bytes().replace(b'"llm_calls": 3', b'"llm_calls": 2'))
    varied = Varied(world.run, "0", world.sources)
    for what_if in (AS_RECORDED, WhatIf(max_steps=1)):
        assert [problem.kind for problem in varied.under(what_if).problems] == ["outcome changed"]


def test_tokens_of_a_call_that_brought_more_are_unknown(tmp_path: Path, pages: Path) -> None:
    """The calls that brought the first samples count, and no others; nothing is guessed."""
    made = Acted(tmp_path, pages)
    run = made.vote(["x"] * 5, 2)
    varied = Varied(run, "0", made.sources)
    used = [tokens(varied.under(WhatIf(samples=count))) for count in range(1, 6)]
    assert [(one.prompt, one.completion) for one in used] == [(9, None), (9, 10), (18, None), (18, 20), (27, 25)]


def test_what_has_no_meaning_for_a_run_is_left_out(world: World, tmp_path: Path, pages: Path) -> None:
    """Samples are for votes, a threshold is for the back-off that trusts one, a step limit for what acts."""
    everything = WhatIf(max_steps=3, samples=2, threshold=1)
    assert settings_of(world.run.config) == {"max_steps": 7}
    assert applying(everything, world.run.config) == WhatIf(max_steps=3)
    made = Acted(tmp_path / "made", pages)
    cot_sc, _ = made.vote(["x"] * 5), made.act("react", "tolerant", [0] * 12, None)
    assert settings_of(cot_sc.config) == {"samples": 5}
    assert settings_of(made.compose("react_then_cot_sc").config) == {"samples": 5, "max_steps": 5}
    assert settings_of(made.compose("cot_sc_then_react").config) == {"samples": 5, "max_steps": 5, "threshold": 2.5}
    assert applying(WhatIf(threshold=1), cot_sc.config) is AS_RECORDED
