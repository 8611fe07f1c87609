"""From problems, of which every recording has its own, to causes, of which there are few."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import replace

from ..cassettes.matching import Difference
from ..cassettes.mismatch import Mismatch
from ..cassettes.selection import words_of
from ..domain import Outcome
from ..errors import (
    CassetteMiss,
    OutcomeChanged,
    PromptAbsent,
    PromptChanged,
    ReactReproError,
    RecordingOld,
    Usage,
)
from ..report.checked import Estimate, Finding, Touched
from ..report.model import EpisodeReport
from .replay import command
from .roots import nearby

Member = tuple[EpisodeReport, ReactReproError]
"""An episode, and one problem of it."""

_SHORT = 200
"""Characters of a value that is compared as it is; where longer texts differ, each recording is a cause of its own."""


def by_cause(episodes: Iterable[EpisodeReport]) -> dict[Hashable, list[Member]]:
    """Return the problems of *episodes*, those of one cause together, in the order in which they were found."""
    causes: dict[Hashable, list[Member]] = {}
    seen: set[Hashable] = set()  # a part is looked at by itself, and for each episode that is composed of it
    for episode, problem in (member for one in episodes for member in _members(one)):
        cause = _cause(episode, problem)
        if (cause, episode.run.folder, episode.key) not in seen:
            seen.add((cause, episode.run.folder, episode.key))
            causes.setdefault(cause, []).append((episode, problem))
    return causes


def is_prompt(members: Sequence[Member]) -> bool:
    """Tell whether the cause of *members* is a prompt that changed."""
    episode, problem = members[0]
    return episode.prompt_changed and isinstance(problem, CassetteMiss | PromptChanged)


def finding(members: Sequence[Member]) -> Finding:
    """Return what is to be said of a cause that is no changed prompt."""
    episode, problem = min(members, key=lambda member: getattr(member[1], "time", ""))  # the oldest; else the first
    found = Finding(
        kind=problem.kind,
        exit_code=problem.exit_code,
        subject=_subject(episode, problem),
        text=nearby(str(problem)),
        touched=touched(members),
        file=episode.file,
        line=getattr(problem, "line", None),
        problem=problem,
    )
    if not isinstance(problem, CassetteMiss):
        return found
    place = replace(problem.mismatch.place, remedy="")
    return replace(
        found,
        text=_without_remedy(problem),
        problem=CassetteMiss(replace(problem.mismatch, place=place)),
        estimate=estimate(members),
        remedy="Restore what changed, or record again:",
        commands=commands(found.touched),
    )


def of_file(file: str, problem: ReactReproError) -> Finding:
    """Return what is to be said of a *file*, as messages name it, that belongs to no single recording."""
    return Finding(
        kind=problem.kind,
        exit_code=problem.exit_code,
        subject=file,
        text=nearby(str(problem)),
        file=file,
        line=getattr(problem, "line", None),
        problem=problem,
    )


def touched(members: Iterable[Member]) -> tuple[Touched, ...]:
    """Return the episodes, those of a run that diverge alike together."""
    found: dict[tuple[object, ...], Touched] = {}
    for episode, problem in members:
        if not episode.key:
            continue
        step, usable, replies = _divergence(episode, problem)
        alike = (episode.run.folder, step, usable > 0)
        before = found.get(alike, Touched(episode.run, (), step))
        if episode.key not in before.keys:
            keys = (*before.keys, episode.key)
            found[alike] = Touched(episode.run, keys, step, before.usable + usable, before.replies + replies)
    return tuple(found.values())


def estimate(members: Sequence[Member]) -> Estimate:
    """Return how many calls it takes to record *members* again, from where they diverge."""
    rests = []
    for episode, problem in members:
        _, usable, replies = _divergence(episode, problem)
        fewest = max(1, len(episode.meta.samples) if episode.meta else 1)
        # A run of another provenance is not carried on: a run of one's own begins at the first call.
        kept = usable if _is_recorded(episode) else 0
        rests.append((fewest, max(fewest, replies - kept)))
    return Estimate(sum(least for least, _ in rests), sum(rest for _, rest in rests))


def commands(found: Iterable[Touched]) -> tuple[str, ...]:
    """Return the commands that record the episodes again, one per run; a run that cannot be read has none."""
    keys: dict[object, tuple[Touched, list[str]]] = {}
    for one in found:
        keys.setdefault(one.run.folder, (one, []))[1].extend(one.keys)
    made = []
    for one, several in keys.values():
        ordered = sorted(several, key=lambda key: (0, int(key), key) if key.isdecimal() else (1, 0, key))
        try:
            made.append(command(one.run, words_of(ordered)))
        except ReactReproError:
            continue
    return tuple(made)


def other_fields(problem: ReactReproError) -> Iterator[str]:
    """Yield the fields, by JSON path, in which a request differs from the recorded one, long texts aside."""
    if isinstance(problem, CassetteMiss):
        yield from (difference.path for difference in problem.mismatch.differences if _is_short(difference))


def _members(episode: EpisodeReport) -> Iterator[Member]:
    """Yield the problems of *episode* with the episode whose they are: of a composed one, the part's.

    What is said of the composed one itself (a part that it needs is missing) is its own.
    """
    if not episode.parts:
        yield from ((episode, problem) for problem in episode.problems)
        return
    theirs = [(part, problem) for part in episode.parts for problem in part.problems]
    for (part, problem), said in zip(theirs, episode.problems, strict=False):
        yield (part, problem) if problem is said else (episode, said)


def _cause(episode: EpisodeReport, problem: ReactReproError) -> Hashable:
    run = episode.run.folder
    if is_prompt([(episode, problem)]) and episode.prompt and episode.meta:
        now, then = episode.prompt, episode.meta.prompt
        return ("prompt", now.task, now.name, now.method, then.sha256, now.sha256, episode.accepted)
    if isinstance(problem, CassetteMiss):
        short = all(map(_is_short, problem.mismatch.differences))
        what = tuple((d.path, repr(d.recorded), repr(d.sent)) for d in problem.mismatch.differences)
        if what and short:
            return ("request", problem.mismatch.place.causes, what)
        return ("request", run, episode.key)
    if isinstance(problem, OutcomeChanged) and episode.expected and episode.trajectory and episode.score:
        differing = episode.expected.differences(Outcome.computed(episode.trajectory, episode.score))
        return ("outcome", tuple(differing))
    if isinstance(problem, RecordingOld):
        return problem.kind
    if isinstance(problem, PromptAbsent):
        return ("no prompt", problem.name)
    return (problem.kind, str(problem))


def _is_short(difference: Difference) -> bool:
    return all(len(str(value)) <= _SHORT for value in (difference.recorded, difference.sent))


def _divergence(episode: EpisodeReport, problem: ReactReproError) -> tuple[int | None, int, int]:
    """Return the first step that diverges, the recorded replies used before it, and all recorded replies."""
    replies = episode.meta.interactions.count if episode.meta else 0
    if isinstance(problem, CassetteMiss):
        found: Mismatch = problem.mismatch
        return found.step, found.replayed, found.total
    if isinstance(problem, PromptChanged):
        return 1, 0, replies  # it stands before every request
    return None, 0, replies


def _is_recorded(episode: EpisodeReport) -> bool:
    return episode.meta is not None and episode.meta.provenance == "recorded"


def _subject(episode: EpisodeReport, problem: ReactReproError) -> str:
    if isinstance(problem, Usage) or not episode.key:
        return episode.file
    return f"{episode.run.label}, episode {episode.key}"


def _without_remedy(problem: CassetteMiss) -> str:
    place = replace(problem.mismatch.place, remedy="")
    return str(replace(problem.mismatch, place=place)).rstrip()
