"""A prompt of the user's own: which one a method uses, and where it is kept so that recordings replay with it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from .. import prompts
from ..cassettes.write import replace_file
from ..domain import Task
from ..errors import DiskError, Usage
from ..methods import METHODS, method_or_back_off
from ..prompts.choice import Choice, choose


def prompt_for(task: Task, method: str, given: str | None, roots: Iterable[Path]) -> Choice:
    """Return the prompt that *method* uses for *task*: the one that *given* means, or the task's own.

    Args:
        task, method: for what. A back-off has the prompts of its two parts, which bear one name.
        given: as `prompts.choice.choose` understands it; None for the task's own.
        roots: folders with a user's prompts.

    Raises:
        Usage: no such prompt, or a single file for a back-off.
        Corrupt: a file is not UTF-8, or cannot be read.
    """
    if given is None:
        return Choice(task.prompt, tuple(roots))
    parts = getattr(method_or_back_off(method), "parts", None)
    if parts is None:
        return choose(given, task.prompt_task, METHODS.get(method)().prompt, roots)
    chosen = {part: prompt_for(task, part, given, roots) for part in parts}
    one, *others = chosen.values()
    if others != [one] or (one.roots and one.roots[0].is_file()):
        raise Usage(
            f"--prompt {given}: {method} has two methods, each with a prompt: give a name, or a folder of both."
        )
    return one


def keep(choice: Choice, task: Task, method: str, folder: Path, at_hand: Iterable[Path] = ()) -> Choice:
    """Return *choice* as it is found in *folder*, the project's ``prompts``; put it there if it is from elsewhere.

    What is packaged, or in one of the roots *at_hand*, is found by every replay and stays where it is.

    Raises:
        Usage: no such prompt, or another text stands in *folder* under that name.
        DiskError: it cannot be written.
    """
    address = (task.prompt_task, METHODS.get(method)().prompt)
    there = next((root for root in choice.roots if choice.name in prompts.names_in(root, *address)), prompts.PACKAGED)
    if there.absolute() in {prompts.PACKAGED, *(root.absolute() for root in at_hand)}:
        return choice
    here = Choice(choice.name, (folder,))
    wanted = prompts.load(*address, choice.name, choice.roots)
    home = folder / address[0] / choice.name
    if choice.name in prompts.names_in(folder, *address):
        if prompts.load(*address, choice.name, here.roots).sha256 != wanted.sha256:
            raise Usage(
                f"{home.as_posix()}/{address[1]}.txt is another prompt of the same name, and recordings are made with "
                "what stands there. Give one of the two another name."
            )
        return here
    files = prompts.files(*address, choice.name, choice.roots)
    try:
        for ending, file in zip((".txt", ".instruction.txt"), reversed(files), strict=False):
            replace_file(home / f"{address[1]}{ending}", file.read_bytes())
    except OSError as error:
        raise DiskError.of(error) from error
    return here
