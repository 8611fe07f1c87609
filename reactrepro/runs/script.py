"""Write recordings of provenance ``scripted``: replies and pages that somebody made up, for tests and examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from .. import prompts
from ..backends import BACKENDS
from ..backends.llm import BackendLlm
from ..cassettes.model import (
    RUN_FORMAT,
    EpisodeMeta,
    RunConfig,
    TapeRef,
    TaskRef,
)
from ..cassettes.runs import RUN_FILE, Run
from ..cassettes.tapes import Tape, tape_bytes, tape_sha256
from ..cassettes.write import cassette_bytes, replace_file, run_bytes, seal
from ..domain import Ask, Environment, Outcome, Question, Settings, Task
from ..exchanges.scripted import Scripted
from ..judged import ClosedBook
from ..methods import METHODS
from ..tape import environment
from ..tasks import TASKS
from ..wiki.env import WikiEnv
from ..wiki.snapshot import SnapshotPages
from .play import judge, numbers, play


def scripted_run(
    root: Path,
    task: str,
    name: str,
    *,
    settings: Settings,
    method: str = "react",
    prompt: str = "paper",
    site: str | None = None,
    selection: str = "",
    note: str = "",
) -> Run:
    """Make the run ``<root>/<task>/<method>/<name>`` and return it; its episodes come from `scripted_episode`.

    Args:
        root: a folder shaped like ``cassettes/``.
        task, method, name, prompt: as in `RunConfig`.
        settings: the conditions.
        site: the wiki that pages are read from; None for tapes.
        selection: the questions that the run is meant to hold; "" for those that it holds.
        note: where it comes from.

    Raises:
        Usage: unknown task.
    """
    known = TASKS.get(task)()
    config = RunConfig(
        format=RUN_FORMAT,
        task=TaskRef(name=task, version=known.version, scorer=known.scorer),
        method=method,
        provider="scripted",
        model="scripted",
        settings=settings,
        prompt=prompt,
        site=site,
        provenance="scripted",
        selection=selection,
        note=note,
        rules=METHODS.get(method).rules,
    )
    folder = root / task / method / name
    replace_file(folder / RUN_FILE, run_bytes(config))
    return Run.at(folder)


def scripted_episode(
    run: Run,
    question: Question,
    replies: Iterable[str | Mapping[str, Any]],
    *,
    snapshots: Iterable[Path] = (),
    tape: Tape | None = None,
    prompt_roots: Iterable[Path] = (),
) -> Path:
    """Play *question* against *replies*, save what happened as an episode of *run*, and return its file.

    Args:
        run: from `scripted_run`.
        question: the question.
        replies: one per LLM call, as `Scripted` takes them.
        snapshots: wiki snapshot roots that answer the searches.
        tape: what answers the actions, instead of pages.
        prompt_roots: folders searched for the prompt before the packaged one.

    Raises:
        ReactReproError: the script is too short, a page is missing, the tape does not fit.
    """
    config = run.config
    task: Task = TASKS.get(config.task.name)()
    method = METHODS.get(config.method)()
    text = prompts.load(task.prompt_task, method.prompt, config.prompt, roots=prompt_roots)
    exchange = Scripted(replies)
    ask = Ask(config.model, config.settings.max_tokens, config.settings.temperature)
    llm = BackendLlm(BACKENDS.get(config.settings.api)(), exchange, ask)
    pages = None
    env: Environment
    if not method.acts:
        env = ClosedBook(task.opening(question), judge(task, question))
    elif tape is not None:
        env = environment(tape, judge(task, question), run.tape_path(question.key).name)
    else:
        pages = SnapshotPages(tuple(snapshots), config.site or "", config.settings.extraction)
        env = WikiEnv(pages, task.opening(question), judge(task, question))
    trajectory, score = play(method, task, question=question, prompt=text, llm=llm, env=env, settings=config.settings)
    meta = EpisodeMeta.of(
        question,
        text,
        "scripted",
        sent=llm.sent,
        samples=numbers(trajectory),
        pages=() if pages is None else pages.read,
        outcome=Outcome.computed(trajectory, score),
    )
    if tape is not None:
        data = tape_bytes(tape)
        replace_file(run.tape_path(question.key), data)
        meta = replace(meta, tape=TapeRef(scope=tape.scope, sha256=tape_sha256(data)))
    path = run.path(question.key)
    replace_file(path, cassette_bytes(seal(meta, tuple(exchange.interactions))))
    return path
