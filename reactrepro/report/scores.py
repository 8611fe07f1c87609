"""Scores, as tables and as data. What stands in a row is decided here, once, for text, JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from decimal import Decimal
from types import MappingProxyType
from typing import Any

from ..domain import Tokens
from ..price import Price
from ..visible import escaped, lines
from . import money, text
from .episodes import profile_line
from .scored import Diagnosed, PaperTable, RunScore, ScoreReport

NOT_JUDGED = ("missing", "infra error")
"""Reasons that every table counts, 0 included; others stand in the lines below it, where they occur."""

NO_PRICES: Mapping[str, Price] = MappingProxyType({})

_LEGEND = """\
n: episodes judged, those that finished or ran out of steps; {headline} and all means are over these,
"{headline} of all" is over all that were requested. {level}: Wilson interval of {headline}.
reprompted: replies that had to be asked for again; -: the method takes no steps.
flagged: episodes with a format flag at least (docs/format-flags.md)."""

_WHAT_IF = """\
[ ]: computed from the recordings as if these settings had been others. No run was recorded with them."""

_DIAGNOSES = 'In how many of the judged episodes, where the question arises (docs/scoring.md, "Diagnoses"):'

_ENDS = {"interval": ("interval_low", "interval_high"), "recorded": ("recorded_first", "recorded_last")}


def table(report: ScoreReport, prices: Mapping[str, Price] = NO_PRICES) -> str:
    """Return the report for people: scores, diagnoses, the conditions of each run, the paper's rows apart.

    Args:
        report: what to show.
        prices: "provider/model" -> price; a run of another model costs nobody knows what.
    """
    parts = []
    if report.scores:
        headline = report.scores[0].headline
        parts += [grid(report.scores), _LEGEND.format(level=_level(report.scores), headline=headline)]
        parts += [_WHAT_IF] if any(score.what_if for score in report.scores) else []
        parts += [_diagnoses(report.scores)] if any(score.acts for score in report.scores) else []
        parts.append("\n".join(line for score in report.scores for line in _conditions(score, prices)))
    parts += [_paper(report.task, report.paper)] if report.paper is not None else []
    parts += [small] if (small := _small(report)) else []
    if report.shard:
        parts.append(
            f"This is shard {report.shard} of the episodes. `reactrepro merge` puts the shards' results together."
        )
    return "\n\n".join(parts) or escaped(f"{report.task}: no run could be scored.")


def grid(scores: Sequence[RunScore]) -> str:
    """Return the table of scores, one row per run; "" for none."""
    if not scores:
        return ""
    more = list(dict.fromkeys(name for score in scores for name in score.more))
    headline = scores[0].headline
    head = ["method", "run", "n", headline, _level(scores), *_f1(headline, "F1"), *map(_spaced, more)]
    head += [f"{headline} of all", "steps", "calls"]
    head += ["step limit %", "reprompted %", "flagged %", *NOT_JUDGED]
    return text.grid(head, [_row(score, more) for score in scores])


def as_dict(report: ScoreReport, prices: Mapping[str, Price] = NO_PRICES) -> dict[str, Any]:
    """Return the report as JSON-ready data, arguments as for `table`; the paper's rows have a key of their own."""
    paper = None
    if report.paper is not None:
        rows = [{"label": label, "method": method, "percent": value} for label, method, value in report.paper.rows]
        paper = {"source": report.paper.source, "measure": report.paper.measure, "rows": rows}
    return {
        "task": report.task,
        "shard": report.shard or None,
        "runs": [_data(score, prices) | {"small": score.judged < report.sample} for score in report.scores],
        "paper": paper,
        "problems": [
            {"kind": problem.kind, "exit_code": problem.exit_code, "message": str(problem)}
            for problem in report.problems
        ],
        "exit_code": report.exit_code,
    }


def columns(scores: Sequence[RunScore]) -> list[list[Any]]:
    """Return the table for programs: a head, then one row per run; nested values have columns of their own, at the end.

    Nothing of the paper's stands in it.
    """
    rows = [dict(_flat("", asdict(score))) for score in scores]
    names = dict.fromkeys(name for row in rows for name in row)
    head = [name for name in names if "." not in name] + sorted(name for name in names if "." in name)
    return [list(head), *([row.get(name) for name in head] for row in rows)]


def _flat(prefix: str, data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in data.items():
        if not prefix and name in _ENDS:
            yield from zip(_ENDS[name], value or (None, None), strict=True)
        elif not prefix and name in {"overrides", "what_if"}:
            yield name, ", ".join(f"{key} {item}" for key, item in value.items())
        elif isinstance(value, Mapping):
            yield from _flat(f"{prefix}{name}.", value)
        elif isinstance(value, list | tuple):
            yield f"{prefix}{name}", ", ".join(map(str, value))
        else:
            yield f"{prefix}{name}", value


# --- text -----------------------------------------------------------------------------------------------------------


def _row(score: RunScore, more: Sequence[str]) -> list[object]:
    low, high = score.interval
    return [
        score.method,
        _run(score),
        str(score.judged) if score.judged == score.requested else f"{score.judged} of {score.requested}",
        _share(score.em),
        f"{low:.3f} to {high:.3f}",
        *_f1(score.headline, _share(score.f1)),
        *(_share(score.more.get(name)) for name in more),
        _share(score.em_requested),
        _mean(score.steps if score.acts else None),
        _mean(score.llm_calls),
        _percent(score.step_limit, score.judged if score.acts else 0),
        _percent(score.reprompts, score.replies if score.acts else 0),
        _percent(score.flagged, score.judged),
        *(score.apart.get(reason, 0) for reason in NOT_JUDGED),
    ]


def _diagnoses(scores: Sequence[RunScore]) -> str:
    # The step limit has a column in the table of scores.
    names = list(dict.fromkeys(name for score in scores for name in score.diagnoses if name != "step_limit"))
    acting = [score for score in scores if score.acts]
    rows = [[score.method, _run(score), *(_diagnosed(score.diagnoses.get(name)) for name in names)] for score in acting]
    return f"{_DIAGNOSES}\n{text.grid(('method', 'run', *map(_spaced, names)), rows)}"


def _diagnosed(found: Diagnosed | None) -> str:
    return "-" if found is None or not found.of else f"{found.episodes}/{found.of}"


def _run(score: RunScore) -> str:
    """The run's name, and what was computed otherwise than it was recorded."""
    if not score.what_if:
        return score.run
    return f"{score.run} [{', '.join(f'{_spaced(name)} {value:g}' for name, value in score.what_if.items())}]"


def _f1(headline: str, cell: str) -> list[str]:
    """The cell, where F1 tells more than the headline does."""
    return [cell] if headline == "EM" else []


def _data(score: RunScore, prices: Mapping[str, Price]) -> dict[str, Any]:
    return asdict(score) | {"cost": money.cost_data(_cost(score, prices))}


def _cost(score: RunScore, prices: Mapping[str, Price]) -> dict[str, Decimal] | None:
    used = Tokens(score.prompt_tokens, score.completion_tokens)
    return money.priced(used, prices.get(f"{score.provider}/{score.model}"))


def _conditions(score: RunScore, prices: Mapping[str, Price]) -> Iterator[str]:
    returned = ", ".join(score.models_returned) or "unknown"
    cost = _cost(score, prices)
    recorded = "unknown" if score.recorded is None else " to ".join(dict.fromkeys(time[:10] for time in score.recorded))
    flags = ", ".join(f"{flag} {count}" for flag, count in score.flags.items()) or "none"
    yield escaped(f"{score.label}: profile {profile_line(score.profile, score.overrides)}; id {score.run_id[:12]}")
    yield escaped(
        f"  {score.provider}/{score.model}, {score.api} API; model returned: {returned}; recorded: {recorded}; "
        f"tokens: {_tokens(score)}; cost: {money.UNKNOWN if cost is None else money.amounts(cost)}"
    )
    yield escaped(
        f"  format flags: {flags}; strict would have reprompted {score.strict_reprompts} of "
        f"{text.counted(score.replies, 'reply', 'replies')}"
    )
    if others := {reason: count for reason, count in score.apart.items() if reason not in NOT_JUDGED}:
        yield escaped(f"  not judged: {', '.join(f'{count} {reason}' for reason, count in others.items())}")


def _paper(task: str, paper: PaperTable) -> str:
    head = ("the paper's row", "method", f"{task} {paper.measure}, %")
    rows = [(label, method or "-", f"{value:.1f}") for label, method, value in paper.rows]
    return (
        f"The paper's own numbers, none of them computed here: {paper.source}.\n"
        "Another model read another day's Wikipedia: whatever stands beside them, they are not reproduced by it.\n"
        f"{text.grid(head, rows)}"
    )


def _small(report: ScoreReport) -> str:
    small = [score for score in report.scores if score.judged < report.sample]
    if not small:
        return ""
    which = "every run" if len(small) == len(report.scores) else ", ".join(score.label for score in small)
    said = f"n is below {report.sample} in {which}: too few to tell small differences from chance; see the intervals."
    return lines(said + (" So few are no reproduction." if report.paper is not None else ""))


def _tokens(score: RunScore) -> str:
    parts = (("prompt", score.prompt_tokens), ("completion", score.completion_tokens))
    said = ", ".join(f"{'unknown' if count is None else count} {name}" for name, count in parts)
    return said if score.tokens_known == score.judged else f"{said} (known in {score.tokens_known} of {score.judged})"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _mean(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _percent(count: int, of: int) -> str:
    return f"{100 * count / of:.0f}" if of else "-"


def _level(scores: Sequence[RunScore]) -> str:
    return f"{scores[0].level * 100:g} %"


def _spaced(name: str) -> str:
    return name.replace("_", " ")
