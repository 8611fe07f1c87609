"""Commands of reactrepro in processes of their own, without a second of imports for each: one that has it all forks.

Run as a program it reads one JSON object per line: `words`, `cwd`, `out`, `err` start a command, and its process id is
printed; `wait` prints the exit code of that process, negative for a signal. Only where there is `fork`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import NoReturn


class Zygote:
    """The program, as a test sees it.

    Args:
        environment: of the program; its PYTHONPATH says which reactrepro it has.
        offline: it has what reads recordings, and nothing that records.
    """

    def __init__(self, environment: dict[str, str], *, offline: bool = False) -> None:
        command = [sys.executable, "-W", "ignore", str(Path(__file__)), *(["offline"] if offline else [])]
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
        )

    def start(self, words: list[str], folder: Path, name: str = "command", terminal: str | None = None) -> Started:
        """Start `reactrepro WORDS` in *folder*; what it prints goes to NAME.out and NAME.err there, or a terminal."""
        out, err = folder / f"{name}.out", Path(terminal or folder / f"{name}.err")
        pid = self._ask(words=words, cwd=str(folder), out=str(out), err=str(err))
        return Started(self, pid, out, err)

    def wait(self, pid: int) -> int:
        """Wait for a process, and return its exit code."""
        return self._ask(wait=pid)

    def _ask(self, **asked: object) -> int:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        """End the program."""
        self._process.communicate(timeout=30)


class Started:
    """A command under way."""

    def __init__(self, zygote: Zygote, pid: int, out: Path, err: Path) -> None:
        self._zygote, self.pid, self._out, self._err = zygote, pid, out, err
        self.code: int | None = None

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send a signal."""
        os.kill(self.pid, number)

    def wait(self) -> int:
        """Wait for its end; return the exit code."""
        if self.code is None:
            self.code = self._zygote.wait(self.pid)
            assert not self._err.is_file() or "Traceback" not in self.err, self.err
        return self.code

    @property
    def out(self) -> str:
        """What it printed so far."""
        return self._out.read_text(encoding="utf-8")

    @property
    def err(self) -> str:
        """What it complained of so far."""
        return self._err.read_text(encoding="utf-8")


def _become(words: list[str], cwd: str, out: str, err: str) -> NoReturn:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(cwd)
    for number, path in ((1, out), (2, err)):
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOCTTY, 0o644)
        os.dup2(handle, number)
        os.close(handle)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdout, sys.stderr = (os.fdopen(number, "w", buffering=1, encoding="utf-8", closefd=False) for number in (1, 2))
    sys.argv = ["reactrepro", *words]
    from reactrepro.__main__ import main

    main()
    raise AssertionError


def _import_offline() -> None:
    import reactrepro.cli
    import reactrepro.methods.react
    import reactrepro.runs.accept
    import reactrepro.runs.check
    import reactrepro.tasks.pelm
    import reactrepro.wiki.snapshot  # noqa: F401


def _import_all() -> None:
    import reactrepro.cli
    import reactrepro.runs.record
    import reactrepro.runs.studio
    import reactrepro.wiki.page  # noqa: F401
    from reactrepro.exchanges.live import self_check

    self_check("chat/completions", {"model": "m", "messages": [{"role": "user", "content": "x"}]})  # loads what is lazy


def _serve(words: list[str]) -> None:
    (_import_offline if "offline" in words else _import_all)()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for line in sys.stdin:
        asked = json.loads(line)
        if "wait" in asked:
            status = os.waitpid(asked["wait"], 0)[1]
            answer = os.waitstatus_to_exitcode(status)
        else:
            answer = os.fork()
            if not answer:
                _become(**asked)
        os.write(1, b"%d\n" % answer)


if __name__ == "__main__":
    _serve(sys.argv[1:])
