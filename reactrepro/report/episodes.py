"""Episodes, as tables and as data. What stands in a row is decided here, once, for text and JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ..cassettes.runs import Run
from ..domain import Trajectory
from ..metrics import majority_vote
from ..price import Price
from . import money, text
from . import sent as sent_words
from .model import EpisodeReport

JUDGED = frozenset({"finish", "step_limit", "no_answer"})
"""How judged episodes end (`domain.Ended`)."""


def conditions(run: Run, overrides: Mapping[str, object]) -> str:
    """Return profile and overrides: "chat; overridden: protocol strict, extraction original"."""
    return profile_line(run.config.settings.profile, overrides)


def profile_line(profile: str, overrides: Mapping[str, object]) -> str:
    """Return the same for a profile by its name."""
    if not overrides:
        return profile
    return f"{profile}; overridden: " + ", ".join(f"{name} {value}" for name, value in overrides.items())


def format_flags(episodes: Iterable[EpisodeReport]) -> str:
    """Return how often each format flag stands on a step: "cut_at_stop 3, quoted_argument 1"; "" for none."""
    found = Counter(
        flag for episode in episodes if episode.trajectory for flags in episode.trajectory.flags for flag in flags
    )
    return ", ".join(f"{flag} {count}" for flag, count in sorted(found.items(), key=lambda item: (-item[1], item[0])))


def run_line(
    run: Run, episodes: Sequence[EpisodeReport], overrides: Mapping[str, object], prices: Mapping[str, Price]
) -> str:
    """Return what holds for a whole run: conditions, id, repairs, how often strict would have asked again, the cost."""
    replies = sum(e.trajectory.llm_calls - e.trajectory.reprompts for e in episodes if e.trajectory)
    strict = sum(e.trajectory.strict_reprompts for e in episodes if e.trajectory)
    line = (
        f"{run.label}: profile {conditions(run, overrides)}; id {run.id[:12]}\n"
        f"  format flags: {format_flags(episodes) or 'none'}; "
        f"strict would have reprompted {strict} of {text.counted(replies, 'reply', 'replies')}\n"
        f"  {money.run_text(episodes, prices)}"
    )
    temperature = run.config.settings.temperature
    found = Counter(sent_words.in_words(episode.sent, temperature) for episode in episodes)
    line += "".join(
        f"\n  {words} ({text.counted(count, 'episode')})" for words, count in sorted(found.items()) if words
    )
    cut = sum(sent_words.cut(episode.turns) for episode in episodes if sent_words.is_cut_here(episode.sent))
    return line + (f"; {text.counted(cut, 'character')} cut here" if cut else "")


def result_table(episode: EpisodeReport, overrides: Mapping[str, object], prices: Mapping[str, Price]) -> str:
    """Return the table that stands under one trajectory, with the fields of the published page first."""
    config, score, trajectory = episode.run.config, episode.score, episode.trajectory
    rows: list[tuple[str, object]] = [
        ("backend", f"{config.provider} ({config.settings.api} API)"),
        ("model", config.model),
        ("question", episode.question.text if episode.question else ""),
        ("gold answer", episode.question.gold if episode.question else ""),
    ]
    if trajectory is not None and score is not None:
        rows += [
            ("model answer", _answer(episode)),
            ("EM", int(score.em)),
            ("F1", text.number(score.f1)),
            *((name.replace("_", " "), text.number(value)) for name, value in score.more.items()),
            *_votes(trajectory),
            ("steps", len(trajectory.steps)),
            ("LLM calls", trajectory.llm_calls),
            ("parse-fail retries", trajectory.reprompts),
            ("strict would retry", trajectory.strict_reprompts),
            ("format flags", format_flags([episode]) or "none"),
            ("ended", trajectory.ended.replace("_", " ")),
        ]
    for part in episode.parts or (episode,):
        if put := sent_words.episode(part.sent, part.turns, part.run.config.settings.temperature):
            rows.append(("sent" if part is episode else f"sent ({part.run.method})", put))
    if episode.prompt is not None:
        name = f"{episode.prompt.name}, {len(episode.prompt.text)} characters, sha256 {episode.prompt.sha256[:12]}"
        rows.append(("prompt", name))
    if episode.parts:
        rows.append(("parts", ", ".join(part.run.label for part in episode.parts)))
    rows += [
        ("profile", conditions(episode.run, overrides)),
        ("tokens", money.tokens_text(money.tokens(episode))),
        ("cost", money.cost_text(episode, prices)),
        ("provenance", provenance(episode)),
        ("recording", episode.file),
        ("run id", episode.run.id[:12]),
    ]
    return text.table(rows)


def _votes(trajectory: Trajectory) -> list[tuple[str, object]]:
    if len(trajectory.samples) < 2:
        return []
    vote = majority_vote([sample.answer for sample in trajectory.samples])
    return [("votes", f"{vote.votes} of {vote.of} for {vote.answer}" if vote.answer else f"0 of {vote.of}")]


def provenance(episode: EpisodeReport) -> str:
    """Return how the recording came to be, and what of it nobody published."""
    config = episode.run.config
    if not config.filled_in:
        return config.provenance
    return f"{config.provenance}; not published and filled in: {', '.join(config.filled_in)}"


def rows(episodes: Sequence[EpisodeReport], prices: Mapping[str, Price]) -> str:
    """Return one line per episode."""
    head = ("run", "key", "EM", "F1", "steps", "calls", "retries", "tokens", "cost", "ended", "answer", "result")
    return text.grid(head, [_row(episode, prices) for episode in episodes])


def summary(episodes: Sequence[EpisodeReport], what_if: str = "") -> str:
    """Return the one line that sums up a replay; *what_if* says under which other settings it was computed."""
    judged = [e for e in episodes if e.score is not None and e.trajectory and e.trajectory.ended in JUDGED]
    agreed = sum(episode.ok for episode in episodes)
    absent = sum(episode.kind == "missing" and episode.question is None for episode in episodes)
    done = f"{agreed} as recorded" if not what_if else f"{agreed} computed with {what_if} instead of what was recorded"
    line = f"{text.counted(len(episodes) - absent, 'episode')} replayed, {done}"
    if absent:
        line += f"; {absent} not recorded"
    ends = Counter(e.trajectory.ended for e in episodes if e.trajectory and e.trajectory.ended not in JUDGED)
    if ends:
        counts = (f"{count} {ended.replace('_', ' ')}" for ended, count in sorted(ends.items()))
        line += f"; not judged: {', '.join(counts)}"
    if len(judged) > 1:
        em = sum(e.score.em for e in judged if e.score) / len(judged)
        f1 = sum(e.score.f1 for e in judged if e.score) / len(judged)
        line += f"; EM {text.number(em)}, F1 {text.number(f1)} over the {len(judged)} that were judged"
    return line + "."


def as_dict(
    episode: EpisodeReport, overrides: Mapping[str, object] | None, prices: Mapping[str, Price]
) -> dict[str, Any]:
    """Return everything about one episode as JSON-ready data."""
    data: dict[str, Any] = {
        "run": episode.run.label,
        "key": episode.key,
        "file": episode.file,
        "result": episode.kind,
        "problems": [{"kind": p.kind, "exit_code": p.exit_code, "message": str(p)} for p in episode.problems],
    }
    for row, problem in zip(data["problems"], episode.problems, strict=True):
        if hasattr(problem, "mismatch"):
            row["mismatch"] = problem.mismatch.as_dict()
    if overrides is not None:
        config = episode.run.config
        data |= {
            "provider": config.provider,
            "model": config.model,
            "settings": config.settings.as_dict(),
            "overrides": dict(overrides),
            "provenance": config.provenance,
            "filled_in": list(config.filled_in),
        }
    if episode.question is not None:
        data |= {"question": episode.question.text, "gold": episode.question.gold}
    if episode.prompt is not None:
        data["prompt"] = {"name": episode.prompt.name, "sha256": episode.prompt.sha256}
    if episode.trajectory is not None and episode.score is not None:
        data |= _computed(episode, prices)
    return data


def _computed(episode: EpisodeReport, prices: Mapping[str, Price]) -> dict[str, Any]:
    trajectory, score = episode.trajectory, episode.score
    assert trajectory is not None and score is not None  # noqa: S101, PT018 - the caller's condition
    return {
        "answer": trajectory.answer,
        "em": score.em,
        "f1": score.f1,
        **score.more,
        "ended": trajectory.ended,
        "samples": [sample.answer for sample in trajectory.samples],
        "llm_calls": trajectory.llm_calls,
        "reprompts": trajectory.reprompts,
        "strict_reprompts": trajectory.strict_reprompts,
        "tokens": money.tokens_data(money.tokens(episode)),
        "cost": money.cost_data(money.cost(episode, prices)),
        **_put(episode),
        "steps": [
            {
                "i": step.i,
                "thought": step.thought,
                "action": step.action.raw,
                "observation": step.observation,
                "flags": list(step.flags),
                "remarks": list(step.remarks),
            }
            for step in trajectory.steps
        ],
    }


def _put(episode: EpisodeReport) -> dict[str, Any]:
    """Return how the calls were put; nothing where that is as asked."""
    words = sent_words.in_words(episode.sent, episode.run.config.settings.temperature)
    if not words:
        return {}
    return {"sent": {**asdict(episode.sent), "cut": sent_words.cut(episode.turns), "words": words}}


def _row(episode: EpisodeReport, prices: Mapping[str, Price]) -> list[object]:
    trajectory, score = episode.trajectory, episode.score
    if trajectory is None or score is None:
        return [episode.run.label, episode.key, "-", "-", "-", "-", "-", "-", "-", "-", "", episode.kind]
    total, paid = money.total_tokens(episode), money.cost(episode, prices)
    return [
        episode.run.label,
        episode.key,
        int(score.em),
        text.number(score.f1),
        len(trajectory.steps),
        trajectory.llm_calls,
        trajectory.reprompts,
        "?" if total is None else total,
        "?" if paid is None else money.amounts(paid),
        trajectory.ended.replace("_", " "),
        _answer(episode),
        episode.kind,
    ]


def _answer(episode: EpisodeReport) -> str:
    trajectory = episode.trajectory
    if trajectory is None or trajectory.ended != "finish" or trajectory.answer is None:
        return "(none)"
    return trajectory.answer
