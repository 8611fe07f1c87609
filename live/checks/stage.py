"""What every check stands on: the servers, a folder, and commands as a user gives them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from secrets import token_hex
from typing import Any

from .running import Servers

MODEL = "gemma3"
"""The server that most checks ask: its template joins texts, so that one prompt, read once, serves all three APIs."""

MARK = "c4nary"
"""Stands in every secret that the commands are given, and in nothing else."""

SECRETS = (
    *("LOCAL_API_KEY", "OPENAI_API_KEY", "REACTREPRO_OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"),
    *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ARK_API_KEY", "DEEPSEEK_API_KEY"),
)
_PRIVATE = re.compile(r".*_(API_KEY|AUTH_TOKEN|BASE_URL)|(OPENAI|ANTHROPIC|REACTREPRO)_.*|(HTTPS?|ALL|NO)_PROXY", re.I)

NO_NETWORK = """\
import sys

def refuse(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.bind"):
        raise RuntimeError(f"the network was used: {event} {args[1:]}")

sys.addaudithook(refuse)
"""


class CheckFailed(Exception):
    """What was to be shown is not so."""


class Skipped(Exception):
    """This system cannot run the check; the message says why."""


def require(fact: object, otherwise: str) -> None:
    """Fail the check with the words *otherwise* unless *fact* holds."""
    if not fact:
        raise CheckFailed(otherwise)


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @cached_property
    def report(self) -> dict[str, Any]:
        """What `--json` printed."""
        try:
            found: dict[str, Any] = json.loads(self.out)
        except ValueError:
            raise CheckFailed(f"exit code {self.code} and no report; {self.said}") from None
        return found

    @property
    def said(self) -> str:
        """The end of what it said, in one line."""
        return "it said: " + " / ".join(self.err.split("\n"))[-400:] if self.err.strip() else "it said nothing"

    def states(self) -> dict[str, str]:
        """Return what became of each episode."""
        return {episode["key"]: episode["state"] for episode in self.report["episodes"]}


@dataclass(frozen=True)
class Under:
    """A command under way.

    Attributes:
        process: it.
        log: its output, in two files of this name.
    """

    process: subprocess.Popen[bytes]
    log: Path

    def wait(self, seconds: float = 600) -> Done:
        """Wait for its end."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise CheckFailed(f"a command did not end within {seconds:.0f} s; see {self.log}") from None
        read = [self.log.with_suffix(end).read_text(encoding="utf-8", errors="replace") for end in (".out", ".err")]
        return Done(code, *read)


@dataclass(frozen=True)
class Recording:
    """`reactrepro record`, as one command line that is given again and again.

    Attributes:
        stage: where.
        folder: holds ``cassettes`` and ``wiki_snapshot``.
        run: name of the run.
        words: the command's own words.
        task, method: what it records.
    """

    stage: Stage
    folder: Path
    run: str
    words: tuple[str, ...]
    task: str = "pelm"
    method: str = "react"

    @property
    def cassettes(self) -> Path:
        """The folder that the run is recorded into."""
        return self.folder / "cassettes" / self.task / self.method / self.run

    @property
    def snapshot(self) -> Path:
        """The folder that pages are recorded into."""
        return self.folder / "wiki_snapshot"

    def start(self, *more: str) -> Under:
        """Begin it."""
        folders = ("--cassettes", str(self.folder / "cassettes"), "--wiki-snapshot", str(self.snapshot))
        words = (self.task, *self.words, "--method", self.method, "--run", self.run)
        return self.stage.start("record", *words, *folders, "--json", *more)

    def record(self, *more: str) -> Done:
        """Carry it out."""
        return self.start(*more).wait()

    def replay(self, *more: str, keys: Sequence[str] = ()) -> Any:
        """Replay the run without a network, and return the report on it.

        Raises:
            CheckFailed: it is not as recorded, or not of the episodes *keys*.
        """
        folders = ("--cassettes", str(self.folder / "cassettes"), "--wiki-snapshot", str(self.snapshot))
        words = ("replay", self.task, "--all", "--run", self.run, *folders, "--json", *more)
        done = self.stage.start(*words, offline=True).wait()
        found = done.report["episodes"]
        require(done.code == 0, f"a replay {' '.join(more)} ended with {done.code}: {[e['problems'] for e in found]}")
        replayed = [episode["key"] for episode in found]
        require(replayed == list(keys), f"a replay found the episodes {replayed}, not {list(keys)}")
        return found


@dataclass
class Stage:
    """Where the checks run.

    Attributes:
        folder: a folder of their own; everything that they and their commands write is in it.
        servers: the servers.
        seed: of chance.
        canaries: the secrets that the commands are given: name of the variable -> value.
    """

    folder: Path
    servers: Servers
    seed: int = 0
    canaries: Mapping[str, str] = field(default_factory=lambda: {n: f"{MARK}-{token_hex(12)}" for n in SECRETS})
    _commands: int = 0

    def recording(
        self, run: str, keys: str, *more: str, llm: str | None = None, steps: int = 2, folder: Path | None = None
    ) -> Recording:
        """Return the command that records *keys* with short replies, from the address *llm* or from the server itself.

        The wiki is asked for every page, whatever the checkout's own snapshot has.
        """
        words = (
            *(keys, "--model", "openai-api/local/gemma-3-270m", "--base-url", llm or self.servers.url(MODEL)),
            *("--wiki-base-url", self.servers.url("wiki"), "--wiki-mode", "all", "--api", "completions"),
            *("--max-tokens", "30", "--max-steps", str(steps), "--contact", "tests@reactrepro.invalid"),
        )
        return Recording(self, folder or self.folder / run, run, (*words, *more))

    def start(self, *words: str, offline: bool = False) -> Under:
        """Begin `reactrepro` with *words*, in a folder that holds no recordings."""
        self._commands += 1
        logs, here = self.folder / "logs", self.folder / "here"
        for path in (logs, here):
            path.mkdir(exist_ok=True)
        log = logs / f"{self._commands:03}-{words[0]}"
        with log.with_suffix(".out").open("wb") as out, log.with_suffix(".err").open("wb") as err:
            process = subprocess.Popen(  # noqa: S603 - a program of ours
                [sys.executable, "-m", "reactrepro", *words],
                cwd=here,
                env=self.environment(offline=offline),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
            )
        return Under(process, log)

    def environment(self, *, offline: bool) -> dict[str, str]:
        """Return the environment of a command: no settings of the user's, and secrets; or no network and no secrets."""
        found = {name: value for name, value in os.environ.items() if not _PRIVATE.fullmatch(name)}
        if offline:
            folder = self.folder / "offline"
            folder.mkdir(exist_ok=True)
            folder.joinpath("sitecustomize.py").write_text(NO_NETWORK, encoding="utf-8")
            path = [str(folder), *filter(None, [found.get("PYTHONPATH")])]
            return {**found, "PYTHONPATH": os.pathsep.join(path)}
        home = self.folder / f"home-{MARK}"
        home.mkdir(exist_ok=True)
        return {**found, **self.canaries, "HOME": str(home)}
