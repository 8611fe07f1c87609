"""Proves on real servers that recording works: `nox -s live`, or `python -m live.check` where everything is installed.

It starts the servers, runs each check, prints its result and time, and stops the servers. Exit codes: 0 (all passed or
were skipped by name), 1 (a check failed, or a server), 2 (usage), 77 (this system cannot run the servers).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from reactrepro import prompts

from .checks import ALL
from .checks.running import Servers
from .checks.stage import CheckFailed, Skipped, Stage
from .process import Failed, Unsupported
from .servers import LLM_PORT, WIKI_PORT


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the checks and return the exit code."""
    options = parser().parse_args(arguments)
    folder = Path(tempfile.mkdtemp(prefix="reactrepro-live-check-")).resolve()
    warm = folder / "warm.txt"
    warm.write_text(prompts.load("hotpotqa", "react", "paper").text, encoding="utf-8")
    servers = Servers(server_options(options), warm)
    began = time.monotonic()
    code = 1
    try:
        servers.start()
        print(f"{'servers':16} ready   {time.monotonic() - began:6.1f} s", flush=True)
        code = run(Stage(folder, servers, options.seed), options.only or list(ALL))
        print(f"{time.monotonic() - began:.0f} s in all.", flush=True)
    except (Failed, Unsupported) as error:
        print(f"live: {error}", file=sys.stderr)
        code = error.exit_code
    finally:
        if not options.keep:
            with contextlib.suppress(Unsupported):  # said already, where it could not even be started
                servers.stop()
        if code == 1:
            print(f"What the checks wrote is in {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder)
    return code


def run(stage: Stage, names: Sequence[str]) -> int:
    """Run the checks *names* and return the exit code."""
    results: Counter[str] = Counter()
    for name in names:
        began = time.monotonic()
        try:
            stage.servers.start()  # the check before may have stopped or killed one
            said, result = ALL[name](stage), "ok"
        except Skipped as error:
            said, result = str(error), "skipped"
        except (CheckFailed, Failed) as error:
            said, result = str(error), "FAILED"
        except Exception as error:
            traceback.print_exc()
            said, result = f"{type(error).__name__}: {error}", "FAILED"
        results[result] += 1
        print(f"{name:16} {result:7} {time.monotonic() - began:6.1f} s  {said}", flush=True)
    print(f"\n{len(names)} checks: {', '.join(f'{number} {result}' for result, number in results.items())};", end=" ")
    return 1 if results["FAILED"] else 0


def server_options(options: argparse.Namespace) -> list[str]:
    """Return the options of `python -m live.servers`."""
    state = ["--state", options.state] if options.state else []
    return [*state, "--llm-port", str(options.llm_port), "--wiki-port", str(options.wiki_port)]


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    made = argparse.ArgumentParser(prog="python -m live.check", description=__doc__)
    made.add_argument("--only", action="append", choices=list(ALL), help="run this check; may be given several times")
    made.add_argument("--keep", action="store_true", help="leave the servers running")
    made.add_argument("--seed", type=int, default=0, help="of the moments at which the recorder is killed")
    made.add_argument("--state", help="as for live.servers: folder for weights, pages, logs and pids")
    made.add_argument("--llm-port", type=int, default=LLM_PORT, help="of the first model; the second has the next one")
    made.add_argument("--wiki-port", type=int, default=WIKI_PORT)
    return made


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
