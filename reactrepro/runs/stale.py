"""A prompt that changed: what of it, which recordings it touches, and what it takes to have them again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..cassettes.matching import common_prefix
from ..domain import Prompt
from ..errors import Absent, CassetteMiss, Corrupt, PromptChanged
from ..prompts.lock import address
from ..prompts.lockdiff import visible_diff
from ..report.checked import Finding
from ..report.model import STALE, EpisodeReport
from ..report.text import counted
from .causes import Member, commands, estimate, other_fields, touched
from .locked import Project, first_recorded_text, path_of, place_shown
from .roots import Sources, shown

_READ = 3
"""Recordings that are read, at most, to find the recorded text."""


def marked(episode: EpisodeReport, project: Project) -> EpisodeReport:
    """Return *episode*, which knows whether the change of its prompt is accepted."""
    if episode.parts:
        parts = tuple(marked(part, project) for part in episode.parts)
        changed = [part.accepted for part in parts if part.prompt_changed]
        return replace(episode, parts=parts, accepted=bool(changed) and all(changed))
    prompt = episode.prompt
    if not episode.prompt_changed or prompt is None or not project.governs(episode.run) or project.lock is None:
        return episode
    line = project.lock.get(address(prompt.task, prompt.name, prompt.method))
    return replace(episode, accepted=line is not None and line.sha256 == prompt.sha256)


def compared(episode: EpisodeReport) -> EpisodeReport:
    """Return *episode* as it stands by the hash of its prompt alone, with nothing replayed."""
    if episode.prompt is None or episode.meta is None or not episode.prompt_changed:
        return episode
    then, now = episode.meta.prompt.sha256, episode.prompt.sha256
    text = f"{episode.run.label}, episode {episode.key}: the prompt was {then[:12]}… and is {now[:12]}… now."
    return replace(episode, problems=(*episode.problems, PromptChanged(text)))


def contradicted(episode: EpisodeReport) -> EpisodeReport:
    """Return *episode* with what its file says of prompt and question and what its own contents deny."""
    meta = episode.meta
    if meta is None or episode.question is None:
        return episode
    problems = list(episode.problems)
    if meta.question_sha256 != episode.question.sha256:
        problems.append(
            Corrupt(f"{episode.file}: its question does not have the hash that stands beside it. {_RESTORE}")
        )
    asked_alike = episode.trajectory is not None and meta.interactions.count > 0
    if episode.prompt_changed and asked_alike and not any(isinstance(p, CassetteMiss | Absent) for p in problems):
        problems.append(
            Corrupt(
                f"{episode.file} says that it was recorded with the prompt {meta.prompt.sha256[:12]}…, and its "
                f"requests hold the one that stands here now. {_RESTORE}"
            )
        )
    return episode if len(problems) == len(episode.problems) else replace(episode, problems=tuple(problems))


def prompt_finding(members: Sequence[Member], project: Project) -> Finding:
    """Return what is to be said of a prompt that changed since *members* were recorded with it."""
    episode = members[0][0]
    now, recorded = episode.prompt, episode.meta
    if now is None or recorded is None:
        raise AssertionError("a prompt that changed is known, then and now")
    name, then = address(now.task, now.name, now.method), recorded.prompt
    changed = [n for n, file in enumerate(now.files) if then.files.get(file.name) != file.sha256]
    files = [place_shown(now, project.sources, n) for n in changed or range(len(now.files))]
    text = [
        f"{name} is not the prompt that was recorded with ({then.sha256[:12]}… then, {now.sha256[:12]}… now).",
        f"  Changed: {' and '.join(files)}.",
    ]
    text += [f"  {words}" for words in (_lock_sentence(episode, name, project), _besides(members)) if words]
    old = first_recorded_text(episode for episode, _ in members[:_READ])
    if old is None:
        text.append(f"  What was recorded cannot be read back from {episode.file}; only its hash is known.")
    found = touched(members)
    file, line = (files[0], None) if old is None else _place(old, now, project.sources)
    return Finding(
        kind=STALE if episode.accepted else "prompt changed",
        exit_code=1,
        subject=name,
        text="\n".join(text),
        diff="" if old is None else visible_diff(old, now.text, names=("recorded", "now")),
        touched=found,
        estimate=estimate(members),
        remedy=_remedy(episode, project),
        commands=(*_accept(episode, name, project), *commands(found)),
        file=file,
        line=line,
        problem=members[0][1],
        data={"recorded": then.sha256, "now": now.sha256, "files": files},
    )


def _besides(members: Sequence[Member]) -> str:
    """Say which fields of the requests differ, too, in how many recordings."""
    paths = [set(other_fields(problem)) for _, problem in members]
    several = sum(map(bool, paths))
    if not several:
        return ""
    fields = ", ".join(sorted(set[str]().union(*paths)))
    return f"In {counted(several, 'recording')} the request differs elsewhere, too: {fields}."


def _lock_sentence(episode: EpisodeReport, name: str, project: Project) -> str:
    if project.lock is None or not project.governs(episode.run):
        return ""
    where, line = shown(project.file), project.lock.get(name)
    if episode.accepted:
        return f"{where} holds it as it is now: the change is accepted, and nobody has recorded with it yet."
    if line is None:
        return f"{where} has no line for it."
    return f"{where} has {line.sha256[:12]}…: nobody has accepted the change."


def _remedy(episode: EpisodeReport, project: Project) -> str:
    if episode.accepted:
        return "With a key, record again:"
    if _accept(episode, "", project):
        return "Restore the prompt; or agree to it, and have it recorded again (which takes a key):"
    return "Restore the prompt, or record again:"


def _accept(episode: EpisodeReport, name: str, project: Project) -> tuple[str, ...]:
    if episode.accepted or project.lock is None or not project.governs(episode.run):
        return ()
    return (f"reactrepro accept {name}",)


def _place(old: str, now: Prompt, sources: Sources) -> tuple[str, int | None]:
    """Return the file, and the line in it, at which *now* differs from *old* for the first time."""
    at = common_prefix(old, now.text)
    for number, file in enumerate(now.files):
        path = path_of(file.name, sources.prompts)
        if path is None:
            break
        text = path.read_bytes().decode("utf-8", "replace")
        if at <= len(text) and (at < len(text) or number == len(now.files) - 1):
            return place_shown(now, sources, number), text.count("\n", 0, at) + 1
        at -= len(text)
    return place_shown(now, sources), None


_RESTORE = "Restore the file, or record the episode again."
