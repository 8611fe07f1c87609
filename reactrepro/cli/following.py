"""`replay --follow`: what a changed prompt would look like, round by round, before it is paid for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ..report import followed as shown
from ..report import text
from ..visible import lines
from . import options

if TYPE_CHECKING:
    from ..cassettes.runs import Run
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
    problems = [str(problem) for problem in followed.report.problems]
    if json_:
        rounds = [one.as_dict() for one in followed.rounds]
        options.echo_json({"run": run.label, "key": key, "rounds": rounds, "ends": problems, "result": None})
        return 0
    for number, one in enumerate(followed.rounds, start=1):
        click.echo("\n".join(shown.block(number, one, verbose=verbose)) + "\n")
    for problem in problems:
        click.echo(lines(f"it ends here: {problem}") + "\n")
    rounds_said = text.counted(len(followed.rounds), "round")
    click.echo(f"{run.label}, episode {key}: {rounds_said} followed. {_NO_RESULT}")
    return 0
