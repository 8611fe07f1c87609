"""Write docs/results.md and its charts from what is recorded: `nox -s docs`, or `python docs/write_results.py`.

The page is computed, whole: tests/test_results_page.py fails where it is not what the recordings say today.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]  # the checkout, installed or not

from reactrepro.cassettes.library import Library  # noqa: E402
from reactrepro.cassettes.runs import Run  # noqa: E402
from reactrepro.methods import BACK_OFFS  # noqa: E402
from reactrepro.report import scores, sweeps  # noqa: E402
from reactrepro.runs import evaluate, score, sweep  # noqa: E402
from reactrepro.runs.roots import Sources  # noqa: E402
from reactrepro.runs.varied import settings_of  # noqa: E402

PAGE = "results.md"
TASKS = {
    "pelm": "Pelm: questions about an invented country",
    "pelm_fever": "Pelm's claims",
}
SETTINGS = {
    "samples": ("Fewer samples", "What the vote would have come to over the first samples only."),
    "threshold": (
        "How much agreement is trusted",
        "From how many votes on the answer of CoT-SC would have been taken; below, ReAct answers. The recorded run "
        "takes half of the samples.",
    ),
    "max_steps": ("A smaller step limit", "What would have come of it if the loop had stopped earlier."),
}

_HEAD = """\
# Results on the closed worlds

Everything on this page is computed from the recordings in `cassettes/`, by replay, without a call: tables by
`reactrepro score`, sweeps by `reactrepro sweep` ([scoring.md](scoring.md) explains the columns). It is written by
`nox -s docs`, and a test compares it with what the recordings say today.

The worlds are invented ([pelm.md](pelm.md)), the models small, the questions few: the intervals are wide, and what
these tables show is that every number can be had again, and what the methods do, not which of them is better. No number
of the paper stands here: it knows no Pelm.
"""


def files(sources: Sources) -> dict[str, bytes]:
    """Return the page and its charts: name below docs/ -> contents."""
    made: dict[str, bytes] = {}
    parts = [_HEAD, *(part for task in TASKS for part in _task(task, sources, made))]
    return {PAGE: ("\n".join(parts).rstrip() + "\n").encode("utf-8"), **made}


def recorded() -> Sources:
    """Return the recordings of the checkout."""
    return Sources(Library.of([ROOT / "cassettes"]), (ROOT / "wiki_snapshot",))


def _task(task: str, sources: Sources, charts: dict[str, bytes]) -> Iterator[str]:
    runs = _in_order(sources.library.runs(task))
    if not runs:
        return
    report = score.score(task, evaluate.replayed(runs, sources))
    yield f"## {TASKS[task]}\n\n`reactrepro score {task}`\n"
    yield f"```text\n{scores.table(report)}\n```\n"
    name, _ = Counter(run.name for run in runs).most_common(1)[0]
    for setting, (title, text) in SETTINGS.items():
        meant = [run for run in runs if run.name == name and setting in settings_of(run.config)]
        if not meant:
            continue
        found = sweep.sweep(meant, sources, setting, ())
        chart = f"charts/{task}-{setting.replace('_', '-')}.svg"
        charts[chart] = sweeps.chart(found)
        option = {"samples": "--n", "threshold": "--threshold", "max_steps": "--max-steps"}[setting]
        yield f"### {title}\n\n{text}\n\n`reactrepro sweep {task} --run {name} {option} all`\n"
        yield f"![{found.name} on {task}: the table below as a chart]({chart})\n"
        yield f"```text\n{sweeps.table(found)}\n```\n"


def _in_order(runs: list[Run]) -> list[Run]:
    """By method, in the order in which the paper has them, then by name."""
    order = {name: place for place, name in enumerate(("standard", "cot", "cot_sc", "act", "react", *BACK_OFFS))}
    return sorted(runs, key=lambda run: (order.get(run.method, len(order)), run.method, run.name))


def main(folder: Path = ROOT / "docs") -> None:
    """Write what has changed, and remove charts that are no more."""
    made: Mapping[str, bytes] = files(recorded())
    for name, data in made.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        if not path.is_file() or path.read_bytes() != data:
            path.write_bytes(data)
            print(f"wrote {path}")
    for path in sorted(folder.glob("charts/*.svg")):
        if f"charts/{path.name}" not in made:
            path.unlink()
            print(f"removed {path}")


if __name__ == "__main__":
    main()
