"""`replay --follow`: what a changed prompt would look like, round by round, before it is paid for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ..cassettes.matching import common_prefix, texts
from ..domain import Json, Turn, sha256_text
from ..prompts.lockdiff import visible_diff
from ..report import text
from ..visible import lines
from . import options

if TYPE_CHECKING:
    from ..cassettes.runs import Run
    from ..runs.replay import Followed
    from ..runs.roots import Sources

_NO_RESULT = (
    "This is no result: the recorded replies were given to other prompts. `reactrepro record` asks a model again."
)


def follow(run: Run, key: str, sources: Sources, prompt: str | None, *, json_: bool, verbose: bool) -> int:
    """Print every round of the episode *key* of *run* as today's code and *prompt* would send it; return the exit code.

    Args:
        run, key, sources: which.
        prompt: a prompt in place of the recorded one, as `prompts.choice.choose` understands it.
        json_: as JSON, whole prompts included.
        verbose: whole prompts for people, too.

    Raises:
        ReactReproError: the recording cannot be read; no such prompt.
    """
    from ..runs.keep import prompt_for
    from ..runs.replay import follow_episode
    from ..tasks import TASKS

    if prompt is not None:
        choice = prompt_for(TASKS.get(run.task)(), run.method, prompt, sources.prompts)
        sources = replace(sources, prompts=choice.roots, prompt=choice.name)
    followed = follow_episode(run, key, sources)
    turns = [turn for turn in followed.report.turns if turn.completion is not None]
    rounds = [_round(turn, body) for turn, body in zip(turns, followed.recorded, strict=True)]
    if json_:
        end = [str(problem) for problem in followed.report.problems]
        options.echo_json({"run": run.label, "key": key, "rounds": rounds, "ends": end, "result": None})
        return 0
    for number, (turn, found) in enumerate(zip(turns, rounds, strict=True), start=1):
        _print(number, turn, found, verbose=verbose)
    for problem in _ends(followed):
        click.echo(lines(problem) + "\n")
    click.echo(f"{run.label}, episode {key}: {text.counted(len(rounds), 'round')} followed. {_NO_RESULT}")
    return 0


def _round(turn: Turn, body: Json) -> dict[str, Any]:
    then = max(texts(body), key=len, default="")  # whatever the API: nothing else in a body is as long as the prompt
    at = None if then == turn.prompt else common_prefix(then, turn.prompt)
    return {
        "step": turn.step,
        "characters": len(turn.prompt),
        "sha256": sha256_text(turn.prompt),
        "recorded_characters": len(then),
        "differs_from_character": None if at is None else at + 1,
        "prompt": turn.prompt,
        "recorded_prompt": then,
    }


def _print(number: int, turn: Turn, found: dict[str, Any], *, verbose: bool) -> None:
    at = found["differs_from_character"]
    how = "the same as recorded" if at is None else f"differs from character {at} of what was recorded"
    size = f"{found['characters']} characters, sha256 {found['sha256'][:12]}"
    click.echo(f"round {number}, step {turn.step}: {size}; {how}")
    if at is not None:
        click.echo(visible_diff(found["recorded_prompt"], turn.prompt, names=("recorded", "now")).rstrip("\n"))
    if verbose:
        click.echo(text.indented(lines(turn.prompt)))
    click.echo()


def _ends(followed: Followed) -> list[str]:
    return [f"it ends here: {problem}" for problem in followed.report.problems]
