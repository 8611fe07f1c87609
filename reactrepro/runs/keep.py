"""Keep a prompt from elsewhere beside the recordings that are made with it, so that they replay where it is not."""

from __future__ import annotations

from pathlib import Path

from .. import prompts
from ..cassettes.write import replace_file
from ..errors import DiskError, Usage
from ..prompts.choice import Choice


def keep(choice: Choice, task: str, method: str, folder: Path) -> Choice:
    """Return *choice* as it is found in *folder*, the project's ``prompts``; put it there if it is from elsewhere.

    A packaged prompt is at hand everywhere, and stays where it is.

    Raises:
        Usage: no such prompt, or another text stands in *folder* under that name.
        DiskError: it cannot be written.
    """
    if not any(choice.name in prompts.names_in(root, task, method) for root in choice.roots):
        return choice
    here = Choice(choice.name, (folder,))
    wanted = prompts.load(task, method, choice.name, choice.roots)
    if choice.name in prompts.names_in(folder, task, method):
        if prompts.load(task, method, choice.name, here.roots).sha256 != wanted.sha256:
            raise Usage(
                f"{folder}/{task}/{choice.name}/{method}.txt is another prompt of the same name, and recordings are "
                "made with what stands there. Give one of the two another name."
            )
        return here
    home = folder / task / choice.name
    files = prompts.files(task, method, choice.name, choice.roots)
    try:
        for ending, file in zip((".txt", ".instruction.txt"), reversed(files), strict=False):
            replace_file(home / f"{method}{ending}", file.read_bytes())
    except OSError as error:
        raise DiskError.of(error) from error
    return here
