"""Only what went stale is recorded again, into a run that takes over the name when it is complete."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reactrepro import prompts
from reactrepro.cassettes.read import read_cassette
from reactrepro.cassettes.runs import Run
from reactrepro.cassettes.write import cassette_bytes, seal
from reactrepro.errors import Usage
from reactrepro.runs.check import check
from reactrepro.runs.record import RecordReport, record
from reactrepro.runs.renew import Renewal, Renewed, plan, renew
from reactrepro.runs.replay import follow_episode
from reactrepro.runs.roots import Sources, sources

from ..lab import CALLS, QUESTIONS, Lab, lab
from ..llm_server import Say

__all__ = ["lab"]


class Changed:
    """A lab whose prompt, or model, changed after it had recorded its four questions."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.run = lab.record().run
        self.prompts = lab.root / "prompts"
        self.asked = len(lab.llm.asked)

    def change_prompt(self) -> None:
        """One word of the instruction."""
        for file in prompts.load("hotpotqa", "react", "paper").files:
            path = self.prompts / Path(file.name).relative_to("prompts")
            path.parent.mkdir(parents=True, exist_ok=True)
            text = (prompts.PACKAGED / Path(file.name).relative_to("prompts")).read_bytes()
            path.write_bytes(text.replace(b"interleaving", b"alternating"))

    @property
    def sources(self) -> Sources:
        return replace(self.lab.sources, prompts=(self.prompts,))

    def plan(self) -> Renewal:
        return plan(Run.at(self.run.folder), self.sources, {question.key: question for question in QUESTIONS})

    def renew(self, *, keep: str | None = None, **order: Any) -> Renewed:
        def carry_out(order: Any) -> RecordReport:
            with self.lab.studio(order, prompt_roots=(self.prompts,)) as made:
                return record(order, made)

        return renew(self.plan(), self.lab.order("", **order), carry_out, self.sources, keep=keep)


@pytest.fixture
def changed(lab: Lab) -> Changed:
    """Four questions recorded."""
    return Changed(lab)


def test_a_prompt_that_changed_makes_all_stale(changed: Changed) -> None:
    """From the first call: none of the old replies is usable, and as many calls are to be made as there were."""
    changed.change_prompt()
    renewal = changed.plan()
    assert [(e.key, e.why, e.calls, e.usable) for e in renewal.stale] == [
        (str(n), "prompt changed", calls, 0) for n, calls in enumerate(CALLS)
    ]
    assert (renewal.valid, renewal.at_least) == ((), sum(CALLS))


def test_the_new_run_takes_over_the_name(changed: Changed) -> None:
    """It supersedes the old one, which is gone; nothing else stands in the folder; everything replays."""
    changed.change_prompt()
    before = changed.run.id
    renewed = changed.renew()
    assert (renewed.report.problems, renewed.report.calls, renewed.kept) == ([], sum(CALLS), None)
    assert renewed.run is not None
    assert (renewed.run.name, renewed.run.config.supersedes) == (changed.run.name, before)
    assert sorted(path.name for path in changed.run.folder.parent.iterdir()) == [changed.run.name]
    assert [found.ok for found in check(changed.lab.cassettes, changed.sources)] == [True] * 4
    assert changed.plan().stale == ()
    assert [change.diff for change in renewed.changes] == [""] * 4


def test_only_what_went_stale_is_asked(changed: Changed) -> None:
    """What still replays is copied, byte for byte; what is missing is recorded."""
    copied = {key: changed.run.path(key).read_bytes() for key in "123"}
    changed.run.path("0").unlink()
    renewal = changed.plan()
    assert [(episode.key, episode.why, episode.calls) for episode in renewal.stale] == [("0", "missing", 0)]
    renewed = changed.renew()
    assert renewed.report.calls == len(changed.lab.llm.asked) - changed.asked == CALLS[0]
    assert renewed.run is not None
    assert {key: renewed.run.path(key).read_bytes() for key in "123"} == copied
    assert [(change.before, change.diff[:10]) for change in renewed.changes] == [(None, "--- before")]


def test_replies_before_the_first_difference_are_used(changed: Changed) -> None:
    """A recording that is stale at its third call keeps the first two, and pays for one; the answers are compared."""
    lab, path = changed.lab, changed.run.path("0")
    cassette = read_cassette(path)
    first, second, third = cassette.interactions
    altered = replace(third, body=third.body.replace("interleaving", "alternating"))
    path.write_bytes(cassette_bytes(seal(cassette.meta, (first, second, altered))))
    lab.llm.minds["Who founded the town on Harlow Bay?"] = ("", "", " So it was.\nAction 3: Finish[Bo]")
    renewal = changed.plan()
    assert [(e.key, e.why, e.calls, e.usable) for e in renewal.stale] == [("0", "request changed", 3, 2)]
    assert renewal.at_least == 1
    renewed = changed.renew()
    assert renewed.report.calls == len(lab.llm.asked) - changed.asked == 1
    (change,) = renewed.changes
    assert change.before is not None
    assert change.after is not None
    assert [(o.answer, o.em) for o in (change.before, change.after)] == [("Ada Marlow", True), ("Bo", False)]
    assert "-Action 3: Finish[Ada Marlow]\n" in change.diff
    assert "+Action 3: Finish[Bo]\n" in change.diff


def test_an_incomplete_run_stands_beside_the_old_one(changed: Changed) -> None:
    """The old run stays what it is; the same command carries on without asking twice."""
    changed.change_prompt()
    changed.lab.llm.script = [Say(), Say(), *[Say({"error": {"message": "no"}}, 400)] * 2]
    first = changed.renew()
    assert first.run is None
    assert first.report.problems
    assert Run.at(changed.run.folder).id == changed.run.id
    changed.lab.llm.script = []
    second = changed.renew()
    assert second.run is not None
    assert len(changed.lab.llm.asked) - changed.asked <= sum(CALLS) + 4 + 10
    assert second.run.config.supersedes == changed.run.id


def test_an_old_run_can_be_kept(changed: Changed) -> None:
    """Under the name given, byte for byte; a name that is taken is refused before anything is asked."""
    changed.change_prompt()
    old = {path.name: path.read_bytes() for path in changed.run.folder.iterdir()}
    changed.lab.record("0", run="taken")
    asked = len(changed.lab.llm.asked)
    with pytest.raises(Usage, match="taken"):
        changed.renew(keep="taken")
    assert len(changed.lab.llm.asked) == asked
    renewed = changed.renew(keep="before")
    assert renewed.kept is not None
    assert {path.name: path.read_bytes() for path in renewed.kept.folder.iterdir()} == old


def test_another_configuration_is_no_renewal(changed: Changed) -> None:
    """Nothing is asked, and nothing changes."""
    changed.change_prompt()
    with pytest.raises(Usage, match="another configuration"):
        changed.renew(max_tokens=7)
    assert sorted(path.name for path in changed.run.folder.parent.iterdir()) == [changed.run.name]


def test_what_was_never_recorded_live_cannot_be_asked_again(changed: Changed) -> None:
    """A transcript has no server."""
    published = sources()
    (run,) = published.library.runs("hotpotqa", "react", "deepseek-v3-250324")
    with pytest.raises(Usage, match="transcribed"):
        plan(run, published, {})


def test_following_shows_each_round_with_the_recorded_replies(changed: Changed) -> None:
    """Every prompt as it would be sent, beside the one that was; the same trajectory; not a call."""
    changed.change_prompt()
    followed = follow_episode(changed.run, "0", changed.sources)
    assert len(followed.rounds) == len(followed.report.turns) == CALLS[0]
    bodies = [interaction.request_json for interaction in changed.run.read("0").interactions]
    for turn, one, body in zip(followed.report.turns, followed.rounds, bodies, strict=True):
        assert turn.prompt.replace("alternating", "interleaving", 1) == body["messages"][0]["content"]
        assert (one.prompt, one.recorded) == (turn.prompt, body["messages"][0]["content"])
    assert followed.report.trajectory == changed.lab.replay(changed.run, "0").trajectory
    assert len(changed.lab.llm.asked) == changed.asked
