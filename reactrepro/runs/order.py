"""What to record, and the run's folder that it goes to: its name, its configuration, what a killed recorder left in it.

A run has one configuration. Whoever asks for another gets another run; an old one is never mixed with.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from ..backends.providers import Target
from ..cassettes.locks import clear_old, clear_run, locked
from ..cassettes.model import RUN_FORMAT, RunConfig, TaskRef
from ..cassettes.names import checked_name, run_name
from ..cassettes.read import read_run
from ..cassettes.runs import RUN_FILE, Run
from ..cassettes.selection import keys_of
from ..cassettes.write import replace_file, run_bytes
from ..domain import Question, Settings, Task
from ..errors import CassetteAbsent, DiskError, ReactReproError, Usage
from ..methods import method_or_back_off

Mode = Literal["once", "new_episodes", "all", "none"]

FOLDER_LOCK = ".recording.lock"
"""In a method's folder: held for the moment in which a run is named and configured."""

PATIENCE = 60.0
"""Seconds to wait for that moment."""


@dataclass(frozen=True, kw_only=True)
class Order:
    """What to record.

    Attributes:
        task: the task.
        questions: in order.
        selection: the questions, as typed.
        method, prompt: names.
        target: whom to ask.
        settings: the conditions.
        site: logical name of the wiki; None for a method that does not act.
        root: the ``cassettes`` folder that is written to.
        snapshot: the ``wiki_snapshot`` folder that is written to, to be cleared of litter; None to leave it alone.
        run: name of the run; None for the model's slug.
        mode: ``once``: what is recorded stays, what is absent is recorded. ``new_episodes``: what no longer replays is
            recorded anew from the first call that differs, too. ``all``: everything anew. ``none``: nothing.
        connections: how many episodes are recorded at a time.
        note: where the run comes from.
        parts: of a back-off, method -> "method/run".
        supersedes: id of the run that this one is to replace.
    """

    task: Task
    questions: tuple[Question, ...]
    selection: str
    method: str
    prompt: str
    target: Target
    settings: Settings
    site: str | None
    root: Path
    snapshot: Path | None = None
    run: str | None = None
    mode: Mode = "once"
    connections: int = 1
    note: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)
    supersedes: str | None = None

    @property
    def config(self) -> RunConfig:
        """The configuration of the run."""
        return RunConfig(
            format=RUN_FORMAT,
            task=TaskRef(name=self.task.name, version=self.task.version, scorer=self.task.scorer),
            method=self.method,
            provider=self.target.provider,
            model=self.target.model,
            settings=self.settings,
            prompt=self.prompt,
            site=self.site,
            provenance="recorded",
            selection=self.selection,
            note=self.note,
            parts=dict(self.parts),
            supersedes=self.supersedes,
            rules=rules_of(self.method),
        )

    @property
    def folder(self) -> Path:
        """The folder of the method's runs."""
        return self.root / checked_name(self.task.name, "task") / checked_name(self.method, "method")


def rules_of(method: str) -> tuple[str, ...]:
    """Return the decisions that *method* takes where the released code has none.

    Raises:
        Usage: unknown method.
    """
    return method_or_back_off(method).rules


def prepare(order: Order) -> Run:
    """Make the run's folder and configuration, or find it; clear away what a killed recorder left there.

    Raises:
        Usage: the run named explicitly has another configuration; nothing was touched.
        Corrupt: a ``run.json`` that is to be recorded into cannot be read.
        DiskError: the folder cannot be written.
    """
    folder = order.folder
    if order.run is not None:
        _chosen(order)  # an order that cannot be carried out touches nothing
    try:
        with locked(folder / FOLDER_LOCK, wait=PATIENCE) as held:
            if not held:
                raise DiskError(f"{folder / FOLDER_LOCK} is held by another recorder for {PATIENCE:g} s. Try again.")
            run, there = _chosen(order)
            config = order.config if there is None else _widened(there, order.selection)
            if config != there:
                replace_file(run.folder / RUN_FILE, run_bytes(config))
            clear_run(run.folder)
            _ = run.config  # read now, when it certainly stands there; see `withdraw`
        if order.snapshot is not None and order.site is not None:
            clear_old(order.snapshot / order.site)
    except OSError as error:
        raise DiskError.of(error) from error
    return run


def confirm(order: Order, run: Run) -> None:
    """Assert that *run* still stands as `prepare` returned it; a lock in its folder is held.

    Another recorder may have withdrawn it in between. Then it is made again.

    Raises:
        Usage: its name went to another configuration in between.
        ReactReproError: as `prepare`.
    """
    with suppress(CassetteAbsent):
        if read_run(run.folder / RUN_FILE).settings_sha256() == run.config.settings_sha256():
            return
    prepare(replace(order, run=run.name))


def withdraw(order: Order, run: Run) -> None:
    """Remove *run* again where nothing came of it: it would hide the run of its name in a lower layer.

    Only a ``run.json`` goes that stands alone and is what this very order would write: so nothing is lost, whoever
    made it. A recorder that has begun there in between holds a lock file there, so that the folder stays; one that
    is about to begin looks by `confirm`.
    """
    folder = order.folder / run.name
    with suppress(OSError), locked(order.folder / FOLDER_LOCK) as held:
        if held and [path.name for path in folder.iterdir()] == [RUN_FILE]:
            _remove(folder, run_bytes(order.config))
    with suppress(OSError):
        order.folder.rmdir()
        order.folder.parent.rmdir()


def _remove(folder: Path, content: bytes) -> None:
    file = folder / RUN_FILE
    if file.read_bytes() != content:
        return
    file.unlink()
    try:
        folder.rmdir()
    except OSError:
        replace_file(file, content)


def named(order: Order) -> Run:
    """Return the run that `prepare` would make, or find, and touch nothing.

    Raises:
        Usage: the run named explicitly has another configuration.
    """
    return _chosen(order)[0]


def find(order: Order) -> Run:
    """Return the run that `prepare` would record into, and touch nothing.

    Raises:
        CassetteAbsent: it does not exist.
        Usage: the run named explicitly has another configuration.
    """
    run, there = _chosen(order)
    if there is None:
        raise CassetteAbsent(f"nothing of {run.label} is recorded, and mode 'none' records nothing.")
    return run


def _chosen(order: Order) -> tuple[Run, RunConfig | None]:
    """Return the run, and its configuration where it exists."""
    config, folder = order.config, order.folder
    wanted = config.settings_sha256()
    if order.run is not None:
        name = checked_name(order.run, "run")
    else:
        name = checked_name(run_name(config.model, wanted, _taken(folder, config)), "run")
    path = folder / name
    run = Run(path.resolve(), order.task.name, order.method, name)
    if not (path / RUN_FILE).exists():
        return run, None
    there = read_run(path / RUN_FILE)
    if other := _other(there, config):
        raise Usage(
            f"the run {run.label} {other}; recordings of two configurations never mix. "
            + ("Give another --run, or leave it out." if order.run else "Give a --run.")
        )
    return run, there


def _other(there: RunConfig, wanted: RunConfig) -> str:
    """Return why the run *there* is not the one that is *wanted*; "" where it is."""
    if there.provenance != "recorded":
        return f"is {there.provenance}"
    if there.settings_sha256() != wanted.settings_sha256():
        return "has another configuration"
    if there.task != wanted.task:
        return f"was recorded under version {there.task.version} of the task and {there.task.scorer}"
    return ""


def _taken(folder: Path, wanted: RunConfig) -> dict[str, str]:
    """Return the names of the runs in *folder*, with the settings hash of those that can be recorded into, else ""."""
    found = {}
    for path in sorted(folder.glob(f"*/{RUN_FILE}")):
        try:
            there = read_run(path)
            found[path.parent.name] = "" if _other(there, wanted) else there.settings_sha256()
        except ReactReproError:
            found[path.parent.name] = ""  # `check` reports it
    return found


def _widened(there: RunConfig, selection: str) -> RunConfig:
    """Return *there* with a selection that asks for what either asks for."""
    old, new = there.selection, selection
    if "all" in old.split(","):
        return there
    try:
        before, now = keys_of([old]), keys_of([new])
    except ReactReproError:
        return there
    if set(now) <= set(before):
        return there
    if not set(before) <= set(now):
        parts = (part for text in (old, new) for part in text.split(",") if part)
        new = ",".join(dict.fromkeys(parts))
    return replace(there, selection=new)
