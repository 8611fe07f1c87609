"""What all episodes of a recording share, made from what the user asked for."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .. import __version__, prompts
from ..backends import BACKENDS
from ..backends.providers import Target
from ..domain import Ask, PageView, Pin, Prompt, Settings, Task
from ..errors import PageChanged, Usage, WikiSnapshotMiss
from ..exchanges.live import LiveModel, self_check
from ..exchanges.meter import Meter
from ..exchanges.retries import Patience
from ..methods import METHODS
from ..parsing import PROTOCOLS
from ..wiki.live import WikiClient
from ..wiki.recording import LivePages, Mode
from ..wiki.snapshot import SnapshotPages
from .episode import Studio

PACKAGES = {"messages": "anthropic"}
"""The SDKs that send to an endpoint; for all others it is OpenAI's."""


class ResumedPages:
    """Pages of an episode that is carried on: what an earlier attempt read, as it read it; then a live wiki.

    Args:
        pins: query -> `PageView.sha256` of what was read.
        roots: snapshot folders.
        site, extraction: as for `SnapshotPages`.
        live: answers every other query.
        lenient: it answers also where a page is not there anymore as it was read; else that is an error.
    """

    def __init__(
        self,
        pins: Mapping[str, str],
        roots: Iterable[Path],
        site: str,
        extraction: str,
        live: LivePages,
        *,
        lenient: bool = False,
    ) -> None:
        self._pins, self._lenient = pins, lenient
        self._kept = SnapshotPages(tuple(roots), site, extraction, pins)
        self._live = live
        self._read: dict[Pin, None] = {}

    @property
    def read(self) -> tuple[Pin, ...]:
        """A pin for every page read, in order of first reading."""
        return tuple(self._read)

    def page(self, query: str) -> PageView:
        """Return what the agent sees for *query*; see `SnapshotPages.page` and `LivePages.page`."""
        view = self._earlier(query) or self._live.page(query)
        self._read[Pin(view.site, query, view.sha256)] = None
        return view

    def _earlier(self, query: str) -> PageView | None:
        if query not in self._pins:
            return None
        try:
            return self._kept.page(query)
        except (PageChanged, WikiSnapshotMiss):
            if not self._lenient:
                raise
            return None


@dataclass(frozen=True, slots=True)
class Wiki:
    """The wiki of a recording.

    Attributes:
        client: asks it.
        site: its logical name.
        mode: when it is asked.
        snapshot, snapshots: the snapshot folder that is written to, and those that are read.
    """

    client: WikiClient
    site: str
    mode: Mode
    snapshot: Path
    snapshots: tuple[Path, ...]

    def pages(self, extraction: str) -> Callable[[Mapping[str, str], bool], ResumedPages]:
        """Return what makes the pages of one episode; see `Studio.pages`.

        Raises:
            Usage: an unsafe or contradictory site.
        """

        def make(pins: Mapping[str, str], lenient: bool) -> ResumedPages:
            live = LivePages(
                self.client,
                site=self.site,
                extraction=extraction,
                root=self.snapshot,
                roots=self.snapshots,
                mode=self.mode,
            )
            roots = tuple(dict.fromkeys((self.snapshot, *self.snapshots)))
            anew = lenient and self.mode == "all"
            return ResumedPages({} if anew else pins, roots, self.site, extraction, live, lenient=lenient)

        make({}, False)  # what is wrong with the site is an error before anything is asked
        return make


def studio(
    *,
    task: Task,
    target: Target,
    settings: Settings,
    method: str,
    prompt: str,
    wiki: Wiki | None,
    patience: Patience,
    secrets: Iterable[str] = (),
    prompt_roots: tuple[Path, ...] = (),
    meter: Meter | None = None,
) -> Studio:
    """Return the studio of a recording, after a self-check of the installed SDK.

    Args:
        task, method, prompt: whose prompt.
        target: whom to ask.
        settings: the conditions.
        wiki: where pages come from; None for a method that does not act.
        patience: how failed calls are tried again.
        secrets: what must not be written, beside the key.
        prompt_roots: folders searched for the prompt before the packaged one.
        meter: counts the calls and what they cost; it may serve several studios.

    Raises:
        Usage: unknown method, protocol, prompt, API or site; a name that must not be written.
        InfraError: the installed SDK cannot be recorded.
    """
    PROTOCOLS.get(settings.protocol)
    text: Prompt = prompts.load(task.prompt_task, METHODS.get(method)().prompt, prompt, roots=prompt_roots)
    backend = BACKENDS.get(settings.api)()
    asked = Ask("self-check", settings.max_tokens, settings.temperature)
    self_check(backend.endpoint, backend.request("self-check", ("\nObservation 1:",), asked))
    model = _model(backend.endpoint, target, patience, secrets, meter)

    def close() -> None:
        model.close()
        if wiki is not None:
            wiki.client.close()

    return Studio(
        model=model,
        pages=None if wiki is None else wiki.pages(settings.extraction),
        prompt=text,
        versions=_versions(backend.endpoint),
        git_commit=_commit(),
        host=target.host,
        close=close,
    )


def _model(endpoint: str, target: Target, patience: Patience, secrets: Iterable[str], meter: Meter | None) -> LiveModel:
    model = LiveModel(
        endpoint,
        base_url=target.base_url,
        key=target.key,
        patience=patience,
        key_hint=target.key_hint,
        secrets=secrets,
        plain=target.provider not in {"openai", "anthropic"},
        direct=target.loopback,
        meter=meter,
    )
    if model.scrubber.text(target.model) != target.model:
        raise Usage(
            "the model's name holds your home folder, or what a key variable holds, and would be written as it is. "
            "Have the server give the model another name (--served-model-name, --alias), or use another key."
        )
    return model


def _versions(endpoint: str) -> dict[str, str]:
    found = {"reactrepro": __version__, "python": platform.python_version()}
    for package in (PACKAGES.get(endpoint, "openai"), "httpx2", "vcrpy", "requests", "selectolax"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _commit() -> str | None:
    """Return the commit of the checkout that records; None for an installed package or without git."""
    folder = Path(__file__).resolve().parents[2]
    if not (folder / ".git").exists():
        return None
    command = ["git", "rev-parse", "HEAD"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=10, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
