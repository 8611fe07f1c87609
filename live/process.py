"""A server as a process of its own: started, found again by a later command, waited for, stopped."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

LOOPBACK = "127.0.0.1"
LAST_LINES = 8


class Failed(Exception):
    """A server could not be started; the message says why and where to look."""

    exit_code = 1


class Unsupported(Exception):
    """This machine cannot run the server at all; a caller may well skip what needs it (77: automake's "skipped")."""

    exit_code = 77


@dataclass(frozen=True)
class Process:
    """A process that outlives the command that started it.

    Attributes:
        name: what it is called in messages and file names.
        folder: where its log and its state file stand.
        mark: stands in its command line and in no other program's, since a pid may by now belong to somebody else.
    """

    name: str
    folder: Path
    mark: str

    @property
    def log(self) -> Path:
        """All it prints, and all that its installation printed."""
        return self.folder / f"{self.name}.log"

    @property
    def _file(self) -> Path:
        return self.folder / f"{self.name}.json"

    def state(self) -> dict[str, str | int] | None:
        """Return what was noted when it was started, or None where it does not run."""
        noted = self._noted()
        return noted if noted and self._marked(Path("/proc", str(noted["pid"]))) else None

    def _noted(self) -> dict[str, str | int] | None:
        try:
            noted: dict[str, str | int] = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return noted

    def _marked(self, process: Path) -> bool:
        try:
            return os.fsencode(self.mark) in process.joinpath("cmdline").read_bytes()
        except OSError:
            return False

    def _claim(self, port: int) -> None:
        """Assert that *port* is free. A server that was just stopped lets go of its own a moment later.

        Raises:
            Failed: another program keeps it.
        """
        tries = 100
        for attempt in range(1, tries + 1):
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind((LOOPBACK, port))
                except OSError as error:
                    if attempt == tries:
                        raise Failed(
                            f"{self.name}: port {port} is taken by another program ({error}); choose another"
                        ) from error
                    time.sleep(0.1)
                else:
                    return

    def start(
        self, command: Sequence[str], env: Mapping[str, str], *, port: int, base_url: str, fingerprint: str
    ) -> None:
        """Run *command* as a process group of its own, on a port that nobody else listens on.

        *fingerprint* tells a later command whether the server is the one that it wants.
        """
        self._claim(port)
        with self.log.open("ab") as log:
            child = subprocess.Popen(  # noqa: S603 - a program of ours
                command,
                env={**os.environ, **env},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        noted = {"pid": child.pid, "base_url": base_url, "log": str(self.log), "fingerprint": fingerprint}
        self._file.write_text(json.dumps(noted), encoding="utf-8")
        while child.poll() is None and not self.state():  # its command line is empty for a moment
            time.sleep(0.01)

    def wait(self, ready: Callable[[], bool], seconds: float) -> None:
        """Return once *ready* says so; fail when the process ends or the time is up."""
        end = time.monotonic() + seconds
        while self.state():
            if ready():
                return
            if time.monotonic() > end:
                self.stop()
                raise self.failed(f"not ready after {seconds:.0f} s, stopped")
            time.sleep(0.2)
        raise self.failed("the server ended by itself")

    def stop(self) -> bool:
        """End it, and whatever of it is left when it was killed; return whether it ran."""
        ran = self.state() is not None
        for signal_number, seconds in ((signal.SIGTERM, 10.0), (signal.SIGKILL, 5.0)):
            end = time.monotonic() + seconds
            for pid in self._group():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal_number)
            while self._group() and time.monotonic() < end:
                time.sleep(0.05)
        self._file.unlink(missing_ok=True)
        return ran

    def _group(self) -> list[int]:
        """Return the processes of its group that bear its mark: Apache's workers outlive a killed master."""
        noted = self._noted()
        if noted is None:
            return []
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if os.getpgid(int(path.name)) == noted["pid"] and self._marked(path):
                    found.append(int(path.name))
        return found

    def run(self, command: Sequence[str], env: Mapping[str, str] | None = None, text: str = "") -> None:
        """Run a step of the installation, with *text* on its standard input and its output in the log."""
        with self.log.open("ab") as log:
            log.write(f"$ {' '.join(command)}\n".encode())
            log.flush()
            try:
                done = subprocess.run(  # noqa: S603 - a program of ours
                    command,
                    env={**os.environ, **(env or {})},
                    input=text.encode(),
                    stdout=log,
                    stderr=subprocess.STDOUT,
                    check=False,
                )
            except OSError as error:
                raise Failed(f"{self.name}: cannot run {command[0]}: {error}") from None
        if done.returncode:
            raise self.failed(f"`{command[0]}` failed with status {done.returncode}")

    def failed(self, what: str) -> Failed:
        """Return the error that says *what*, with the log's last lines."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines() if self.log.exists() else []
        return Failed("\n  ".join([f"{self.name}: {what}; the end of {self.log}:", *lines[-LAST_LINES:]]))


def ask(url: str, body: object = None, *, seconds: float = 30) -> bytes:
    """Return the answer to a GET of *url*, or to a POST of *body* as JSON; no proxy is ever asked.

    Raises:
        OSError, http.client.HTTPException: there was no answer, or none with status 200.
    """
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=seconds)
    with contextlib.closing(connection):
        path = parts._replace(scheme="", netloc="").geturl()
        if body is None:
            connection.request("GET", path)
        else:
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        if response.status != HTTPStatus.OK:
            raise http.client.HTTPException(f"{url} answered {response.status}")
        return response.read()


def answers(url: str, expected: str) -> bool:
    """Tell whether *url* is answered by something that contains *expected*."""
    try:
        return expected.encode() in ask(url)
    except (OSError, http.client.HTTPException):
        return False


def state_folder(given: str | None) -> Path:
    """Return the folder for weights, pages, logs and pids; without *given* one under the system's temporary folder.

    That one has a name that anybody could take first, so it has to be a folder of this very user that nobody else may
    write to.
    """
    folder = Path(given) if given else Path(tempfile.gettempdir(), f"reactrepro-live-{os.getuid()}")
    folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    status = folder.lstat()
    if not given and (status.st_uid != os.getuid() or folder.is_symlink() or status.st_mode & 0o022):
        raise Failed(f"{folder} is not yours alone; name another folder with --state")
    return folder.resolve()
