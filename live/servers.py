"""Starts and stops the real servers to record from: `python -m live.servers start`, `stop`, `status`.

Both are safe to call twice. A server that runs as wanted is only reported; where pages, settings or port have changed
it is started anew. Exit codes: 0, 1 (it failed, and why), 2 (usage), 77 (this system cannot run it, and why).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from . import pages
from .llama import MODELS, Llama
from .mediawiki import MediaWiki
from .process import Failed, Unsupported, state_folder

STATE = "REACTREPRO_LIVE_STATE"
LLM_PORT = 8091
WIKI_PORT = 8081
GROUPS = {"llm": tuple(MODELS), "wiki": ("wiki",), **{name: (name,) for name in MODELS}}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    parser = _parser()
    options = parser.parse_intermixed_args(arguments)
    if unknown := [name for name in options.servers if name not in GROUPS]:
        parser.error(f"no such server: {', '.join(unknown)}; known: {', '.join(GROUPS)}")
    os.umask(0o022)  # the wiki's files are read by another user
    try:
        if options.warm and not options.warm.is_file():
            raise Failed(f"there is no file {options.warm} to warm the models with")
        if not Path("/proc/self/cmdline").exists():
            raise Unsupported("this system has no /proc, by which running servers are found again: Linux only")
        state = state_folder(options.state or os.environ.get(STATE))
        with _alone(state):
            return _run(options, state)
    except (Failed, Unsupported) as error:
        print(f"live.servers: {error}", file=sys.stderr)
        return error.exit_code


def _run(options: argparse.Namespace, state: Path) -> int:
    wanted = {name for group in options.servers or GROUPS for name in GROUPS[group]}
    warm = options.warm.read_text(encoding="utf-8") if options.warm else ""
    servers: dict[str, Llama | MediaWiki] = {}
    if "wiki" in wanted:  # first: where it cannot run, nothing is started in vain
        servers["wiki"] = MediaWiki(state, options.wiki_port, options.pages)
    servers |= {name: Llama(name, state, options.llm_port, warm) for name in MODELS if name in wanted}
    if options.command == "stop":
        for name, server in servers.items():
            print(f"{name}: {'stopped' if server.process.stop() else 'not running'}")
        return 0
    if options.command == "start":
        for server in servers.values():
            server.start()
        for server in servers.values():
            server.wait()
    _report(servers, as_json=options.json)
    return 0


def _report(servers: dict[str, Llama | MediaWiki], *, as_json: bool) -> None:
    report: dict[str, dict[str, str | int] | None] = {}
    for name, server in servers.items():
        noted = server.process.state()
        report[name] = noted and {key: noted[key] for key in ("base_url", "pid", "log")}
        if noted and isinstance(server, Llama):
            report[name] = {"model": server.model.alias, **(report[name] or {})}
    if as_json:
        print(json.dumps(report))
        return
    for name, facts in report.items():
        print(f"{name}:", " ".join(f"{key}={value}" for key, value in facts.items()) if facts else "not running")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m live.servers", description=__doc__)
    parser.add_argument("command", choices=("start", "stop", "status"))
    parser.add_argument("servers", nargs="*", metavar="SERVER", help=f"{', '.join(GROUPS)}; default: all")
    parser.add_argument(
        "--state", help=f"folder for weights, pages, logs and pids; default: ${STATE}, or a temporary one"
    )
    parser.add_argument(
        "--llm-port", type=int, default=LLM_PORT, help="of the first model; the second has the next one"
    )
    parser.add_argument("--wiki-port", type=int, default=WIKI_PORT)
    parser.add_argument("--pages", type=Path, default=pages.FOLDER, help="another folder of pages for the wiki")
    parser.add_argument(
        "--warm", type=Path, help="a text file that the models read in once, so that first calls are fast"
    )
    parser.add_argument("--json", action="store_true", help="report as one JSON object: server -> facts, or null")
    return parser


@contextlib.contextmanager
def _alone(state: Path) -> Iterator[None]:
    """Let one command at a time work on the state folder; another one waits."""
    import fcntl  # not on every system, and those that lack it are turned away before

    with state.joinpath("lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    sys.exit(main())
