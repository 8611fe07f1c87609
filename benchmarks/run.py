"""Measure reactrepro, print a table, and exit with 1 if a ratio that has to hold is missed.

All times are CPU times, of this process or of the processes it starts, but for those of recordings, which wait for the
disk: medians over rounds in which what is compared takes turns. Ratios hold on any machine; milliseconds are printed
beside their goals, and fail nothing.

Run it by `nox -s bench`, or `python benchmarks/run.py` where reactrepro is installed.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import startup
from clock import beyond, in_turns, ratio
from recordings import CALLS, Workload, make
from rows import Goal, Row, exit_code, table


@dataclass(frozen=True)
class Size:
    """How much is measured.

    Attributes:
        episodes: generated recordings.
        stock: how many of them are replayed through vcrpy, too: it takes so much longer.
        wire: how many of them are replayed over the wire.
        rounds: of whole replays.
        parts: rounds of everything smaller.
        starts: of processes.
        times: repetitions of what takes less than a millisecond, in one round.
        gate: generated recordings that are checked.
        gates: rounds of checking them.
        recorded: episodes that are recorded in one round, of six calls each.
        recordings: rounds of recording.
        scored: episodes that are scored at once: the number that has a goal, between two that show how the cost grows.
        scorings: rounds of that.
        agents: episodes of an agent that is not ours.
        threaded, tasks: episodes at once, in threads and under asyncio.
        connections: how many episodes are recorded at a time, to compare with one.
        delay: seconds that the server takes for a reply then.
        scalings: rounds of that.
    """

    episodes: int = 50
    stock: int = 2
    wire: int = 5
    rounds: int = 31
    parts: int = 11
    starts: int = 25
    times: int = 20
    gate: int = 500
    gates: int = 5
    recorded: int = 10
    recordings: int = 7
    scored: tuple[int, int, int] = (100, 500, 7405)
    scorings: int = 3
    agents: int = 10
    threaded: int = 120
    tasks: int = 60
    connections: int = 32
    delay: float = 1.0
    scalings: int = 3


QUICK = Size(
    episodes=2,
    stock=1,
    wire=1,
    rounds=1,
    parts=1,
    starts=1,
    times=1,
    scored=(2, 4, 9),
    scorings=1,
    gate=2,
    gates=1,
    recorded=2,
    recordings=1,
    agents=1,
    threaded=16,
    tasks=8,
    connections=4,
    delay=0.2,
    scalings=1,
)


class Bench:
    """The benchmarks, over one set of generated recordings.

    Args:
        folder: where they are made.
        size: how much is measured.
        dspy: whether DSPy is measured beside the replay.
    """

    def __init__(self, folder: Path, size: Size, *, dspy: bool = False) -> None:
        self._folder = folder
        self._size = size
        self._dspy = dspy

    @cached_property
    def workload(self) -> Workload:
        """The recordings, made when they are first asked for."""
        return make(self._folder / "recordings", self._size.episodes)

    def startup(self) -> Iterator[Row]:
        """The process: from start to last output."""
        if sys.platform == "win32":
            yield Row("start-up: times the imports", None, "times", _STARTUP, "no CPU time of children on Windows")
            return
        sides = {"imports": startup.starting(startup.IMPORTS), "replay": startup.starting(startup.REPLAY)}
        found = in_turns(sides, self._size.starts, startup.children)
        yield Row('python -c "import click, yaml"', median(found["imports"]), "ms")
        yield Row("reactrepro replay hotpotqa 0", median(found["replay"]), "ms")
        yield Row("start-up: times the imports", ratio(found["replay"], found["imports"]), "times", _STARTUP)

    def gate(self) -> Iterator[Row]:
        """The gate over a whole evaluation set, in a process of its own."""
        if sys.platform == "win32":
            yield Row("reactrepro check", None, "ms", note="no CPU time of children on Windows")
            return
        import checking

        workload = make(self._folder / "gate", self._size.gate)
        sides = {
            "check": checking.checking(workload),
            "prompts": checking.checking(workload, "--only", "prompts"),
        }
        found = in_turns(sides, self._size.gates, startup.children)
        note = f"{self._size.gate} recordings"
        yield Row("reactrepro check", median(found["check"]), "ms", Goal(2000), note)
        yield Row("reactrepro check --only prompts", median(found["prompts"]), "ms", Goal(1000), note)

    def plugin(self) -> Iterator[Row]:
        """What the pytest plugin adds to the start of a pytest run that does not use it."""
        name = "pytest plugin, unused: added to the start of pytest"
        if sys.platform == "win32" or find_spec("pytest") is None:
            yield Row(name, None, "ms", Goal(30), "pytest is not installed, or this is Windows")
            return
        folder = self._folder / "plugin"
        folder.mkdir()
        sides = {name: startup.pytest_starting(folder, plugin=name == "with") for name in ("without", "with")}
        found = in_turns(sides, self._size.starts, startup.children)
        yield Row("pytest, one empty test", median(found["without"]), "ms")
        yield Row(name, median(b - a for a, b in zip(found["without"], found["with"], strict=True)), "ms", Goal(30))

    def replay(self) -> Iterator[Row]:
        """Whole episodes from files, per LLM call."""
        import replaying

        workload, size = self.workload, self._size
        stock = replaying.record_stock(workload, self._folder / "stock", size.stock)
        sides = {
            "replay": lambda: replaying.replayed(workload),
            "stock": stock.replay,
            "wire": lambda: replaying.replayed(workload, first=size.wire, wire=True),
        }
        if self._dspy:
            import dspy_hits

            sides["dspy"] = dspy_hits.hits(workload, self._folder / "dspy", size.episodes * CALLS)
        found = in_turns(sides, size.rounds)
        yield Row("replay, per LLM call", median(found["replay"]), "ms", Goal(0.8))
        yield Row("vcr.use_cassette + openai.OpenAI(), per LLM call", median(found["stock"]), "ms")
        times = ratio(found["stock"], found["replay"])
        yield Row("replay: times less than vcr.use_cassette", times, "times", Goal(25, at_least=True, required=True))
        yield Row("replay --wire, per LLM call", median(found["wire"]), "ms")
        if self._dspy:
            yield Row("DSPy disk-cache hit, per LLM call", median(found["dspy"]), "ms")
            yield Row("replay: times a DSPy hit", ratio(found["replay"], found["dspy"]), "times", Goal(1.3))

    def reader(self) -> Iterator[Row]:
        """One file, read by our own reader and by the YAML loader."""
        import lookups

        times = self._size.times
        found = in_turns(
            {
                "ours": lookups.reading(self.workload, yaml=False, times=times * 5),
                "yaml": lookups.reading(self.workload, yaml=True, times=times),
            },
            self._size.parts,
        )
        yield Row("reading a cassette of 4 calls", median(found["ours"]), "ms")
        yield Row("the same through the YAML loader", median(found["yaml"]), "ms")
        yield Row("our reader: times less than the YAML loader", ratio(found["yaml"], found["ours"]), "times")

    def miss(self) -> Iterator[Row]:
        """A prompt with one character changed, found and put into words."""
        import lookups

        few, many, times = lookups.first(self.workload), lookups.large(self.workload), self._size.times
        found = in_turns(
            {
                "few": lookups.missing(few, verbose=False, times=times),
                "verbose": lookups.missing(few, verbose=True, times=times),
                "many": lookups.missing(many, verbose=False, times=1),
            },
            self._size.parts,
        )
        yield Row("miss report, 4 interactions", median(found["few"]), "ms", Goal(3))
        yield Row("miss report, 4 interactions, --verbose", median(found["verbose"]), "ms")
        yield Row(f"miss report, {lookups.MANY} interactions", median(found["many"]), "ms", Goal(3))

    def matching(self) -> Iterator[Row]:
        """Finding the recorded request among many, parsing included."""
        import lookups

        many = lookups.large(self.workload)
        found = in_turns(
            {
                "forwards": lookups.matching(many),
                "backwards": lookups.matching(many, backwards=True),
                "vcrpy": lookups.vcr_matching(many, range(lookups.MANY // 2, lookups.MANY // 2 + self._size.stock)),
            },
            self._size.parts,
        )
        name = f"matching among {lookups.MANY} interactions"
        yield Row(f"{name}, in recorded order, per LLM call", median(found["forwards"]), "ms")
        yield Row(f"{name}, in reverse order, per LLM call", median(found["backwards"]), "ms")
        yield Row(f"{name}, by vcrpy's body matcher", median(found["vcrpy"]), "ms")

    def score(self) -> Iterator[Row]:
        """The whole command, from cold files: time, memory, and how the time grows."""
        if sys.platform == "win32":
            yield Row("scoring: CPU per episode", None, "ms", note="no CPU time of children on Windows")
            return
        import scoring

        sizes = self._size.scored
        few, many, whole = scoring.measure(self._folder / "scored", sizes, self._size.scorings)
        name = f"scoring {sizes[1]} episodes, {scoring.PROCESSES} processes"
        yield Row(f"{name}, cold", many.wall * 1000, "ms", Goal(2000), _WALL)
        yield Row(f"{name}, CPU of all", many.cpu * 1000, "ms")
        # Three processes, of which none is larger than this; what they share is counted thrice.
        yield Row(f"{name}, memory at most", many.peak * (scoring.PROCESSES + 1), "MB", Goal(300, required=True))
        slopes = [
            (more.cpu - less.cpu) * 1000 / (size - before)
            for less, more, before, size in ((few, many, sizes[0], sizes[1]), (many, whole, sizes[1], sizes[2]))
        ]
        yield Row(f"scoring: CPU per episode, {sizes[0]} to {sizes[1]}", slopes[0], "ms")
        yield Row(f"scoring: CPU per episode, {sizes[1]} to {sizes[2]}", slopes[1], "ms")
        grows = slopes[1] / slopes[0] if slopes[0] > 0 else float("nan")
        yield Row("scoring: CPU per episode, times from few to many", grows, "times", Goal(1.3))
        yield Row(f"scoring {sizes[2]} episodes, memory at most", whole.peak * (scoring.PROCESSES + 1), "MB")

    def voting(self) -> Iterator[Row]:
        """The packaged samples and back-offs."""
        import voting

        found = voting.packaged()
        sides = {
            "samples": lambda: voting.voting(found),
            "back-offs": lambda: voting.back_offs(found),
            "parts": lambda: voting.parts(found),
        }
        times = in_turns(sides, self._size.parts)
        yield Row("21 samples of one question, replayed", median(times["samples"]), "ms", Goal(3))
        cost = ratio(times["back-offs"], times["parts"])
        yield Row("both back-offs: times the cost of replaying their parts", cost, "times", Goal(1.05, required=True))

    def agents(self) -> Iterator[Row]:
        """The same calls of an SDK through `http_client` and through `vcr.use_cassette`, files included."""
        import agents

        made = agents.Agents.record(self.workload, self._folder / "agents", self._size.agents)
        sides = {
            "ours": made.ours,
            "like ours": made.theirs(match_on=agents.LIKE_OURS),
            "default": made.theirs(),
        }
        found = in_turns(sides, self._size.parts)
        yield Row("http_client + openai.OpenAI(), per LLM call", median(found["ours"]), "ms")
        yield Row("vcr.use_cassette on method, uri, body, per LLM call", median(found["like ours"]), "ms")
        times = ratio(found["like ours"], found["ours"])
        yield Row("http_client: times less than that", times, "times", Goal(2, at_least=True, required=True))
        yield Row("vcr.use_cassette that compares no body, per LLM call", median(found["default"]), "ms")
        yield Row(
            "http_client: times less than this", ratio(found["default"], found["ours"]), "times", Goal(2, at_least=True)
        )

    def together(self) -> Iterator[Row]:
        """Many episodes at once, each with a recording of its own: how many hear what was recorded."""
        import together

        found = together.measured(self._size.threaded, self._size.tasks)
        for name, became in found.items():
            many = sum(became.values())
            note = ", ".join(f"{count} {what}" for what, count in sorted(became.items()))
            goal = Goal(100, at_least=True, required=True) if name.startswith("http_client") else None
            share = 100 * became.get("right", 0) / many
            yield Row(f"{name}, {many} episodes", share, "right", goal, note)

    def recording(self) -> Iterator[Row]:
        """Episodes recorded from a server that answers at once: what it takes beyond the bare SDK, per call.

        vcrpy saves at the end of an episode and syncs nothing. Saved per reply it still syncs nothing, but a killed
        process loses no reply, which is as near as it comes to ours.
        """
        import loopback
        import recording as made

        with loopback.serving() as base_url:
            folder = self._folder / "recording"
            size = self._size
            found, disk = made.measure(base_url, folder, episodes=size.recorded, rounds=size.recordings)
        bare, ours = found["bare"], found["ours"]
        own, parts = beyond(ours.calls, bare.calls), ours.parts
        yield Row("recording: the bare SDK, per call", median(bare.calls), "ms", note=_WALL)
        yield Row("recording: own work, per reply", median(own), "ms", Goal(5), _WALL)
        yield Row("recording: own work, per reply, 90th percentile", made.tenth(own), "ms", Goal(5), _WALL)
        yield Row("recording: saving a reply", median(parts["save"]), "ms", Goal(5), _WALL)
        yield Row("recording: of it, serialising", median(parts["serialise"]), "ms", note=_WALL)
        yield Row("recording: of it, putting the file in its place", median(parts["replace"]), "ms", note=_WALL)
        yield Row("recording: of that, fsync of file and folder", median(parts["fsync"]), "ms", note=_WALL)
        yield Row("recording: this disk's own write, fsync, rename, fsync", median(disk), "ms", note=_WALL)
        sides = {"ours": ours, "vcrpy, per episode": found["vcrpy"], "vcrpy, per reply": found["vcrpy each"]}
        for name, side in sides.items():
            more = beyond(side.whole, bare.whole)
            yield Row(f"recording: whole, beyond the bare SDK, {name}", median(more), "ms", note=_WALL)
        cpu = {name: beyond(side.cpu, bare.cpu) for name, side in sides.items()}
        for name, more in cpu.items():
            goal = Goal(5) if name == "ours" else None
            yield Row(f"recording: whole, beyond the bare SDK, {name}, CPU", median(more), "ms", goal)
        times = ratio(cpu["ours"], cpu["vcrpy, per reply"])
        yield Row("recording: CPU, times that of vcrpy saved per reply", times, "times", Goal(1, required=True))

    def scale(self) -> Iterator[Row]:
        """Episodes recorded over many connections from a server that takes a second for a reply, as a model does."""
        import loopback
        import scale as made

        size = self._size
        few, many = 1, size.connections
        with loopback.serving(size.delay) as base_url:
            folder = self._folder / "scale"
            found = made.measure(base_url, folder, connections=(few, many), rounds=size.scalings)
        for number, side in found.items():
            name = f"{number} connection{'s' if number > 1 else ''}"
            more, cpu = beyond(side.ours, side.bare), beyond(side.cpu, side.bare_cpu)
            yield Row(f"{name}: a reply, beyond the bare SDK", median(more), "ms", Goal(20 * size.delay), _WALL)
            yield Row(f"{name}: own work on a reply", median(cpu), "ms")
            share = median(cpu) / 1000
            yield Row(f"{name}: own work, of a reply of one second", share, "times", Goal(0.02, required=True))
        one, all_ = found[few], found[many]
        times = ratio(all_.rate, all_.bare_rate)
        yield Row(
            f"{many} connections: episodes, times those of the bare SDK", times, "times", Goal(0.9, at_least=True)
        )
        times = ratio(all_.rate, one.rate)
        goal = Goal(0.8 * many, at_least=True)
        yield Row(f"{many} connections: episodes per second, times those of one", times, "times", goal)


_WALL = "wall time"
_STARTUP = Goal(2.5, required=True)

NAMES = (
    "startup",
    "plugin",
    "gate",
    "replay",
    "reader",
    "miss",
    "matching",
    "voting",
    "agents",
    "together",
    "score",
    "recording",
    "scale",
)
"""What can be measured, in order: processes first, while this one is still small."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what *arguments* ask for, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(prog="benchmarks/run.py", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", metavar="NAME", choices=NAMES, action="append", help=f"one of {', '.join(NAMES)}")
    parser.add_argument("--quick", action="store_true", help="one round of everything: shows that it works, no more")
    parser.add_argument("--dspy", action="store_true", help="measure DSPy beside the replay; it has to be installed")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the results to FILE, too")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="reactrepro-bench-") as folder:
        bench = Bench(Path(folder), QUICK if given.quick else Size(), dspy=given.dspy)
        measures: dict[str, Callable[[], Iterator[Row]]] = {name: getattr(bench, name) for name in NAMES}
        rows = [row for name in NAMES if name in (given.only or NAMES) for row in measures[name]()]
    print(table(rows))
    print(f"\n{_where()}; CPU time where nothing else is said, medians.")
    if given.json is not None:
        data = {"where": _where(), "quick": given.quick, "rows": [row.as_dict() for row in rows]}
        given.json.write_text(json.dumps(data, indent=2) + "\n", encoding="ascii")
    return exit_code(rows)


def _where() -> str:
    packages = ["click", "msgspec", "openai", "PyYAML", "vcrpy", "dspy"]
    found = [f"{name} {number}" for name in packages if (number := _version(name))]
    return f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {', '.join(found)}"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


if __name__ == "__main__":
    sys.exit(main())
