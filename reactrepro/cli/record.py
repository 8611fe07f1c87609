"""`record`: the only command that asks models, and the only one that can cost money."""

from __future__ import annotations

import shlex
import threading
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import DiskError, Interrupted, exit_code
from ..report import money, text
from ..report import sent as sent_words
from ..runs.picks import NOTHING_ASKED
from ..runs.roots import shown
from ..visible import lines
from . import dry_run, options, renewing, spending
from .orders import budget_of, orders, recorded, studio_of
from .progress import Progress, stop_on_interrupt

if TYPE_CHECKING:
    from ..runs.budget import Budget
    from ..runs.order import Order
    from ..runs.record import RecordReport
    from ..runs.roots import Sources

CONTACT_VARIABLE = "REACTREPRO_CONTACT"
MODES = ("once", "new_episodes", "all", "none")

CASSETTES, SNAPSHOT = Path("cassettes"), Path("wiki_snapshot")

LONG = 80
"""Characters of a selection beyond which the command that replays it says `all`, which is all that is recorded."""

_DIR = click.Path(file_okay=False, path_type=Path)
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("task")
@click.argument("index", nargs=-1)
@options.picks
@click.option("--model", metavar="PROVIDER/NAME", help="Whom to ask; see above.")
@click.option("--base-url", metavar="URL", help="Address of the API; default: the provider's, or <SERVICE>_BASE_URL.")
@click.option("--method", default="react", show_default=True, metavar="NAME")
@click.option("--profile", default="chat", show_default=True, metavar="NAME", help="Conditions: chat or paper.")
@click.option("--api", metavar="NAME", help="Wire API: chat, completions or messages; default: profile and provider.")
@click.option("--protocol", metavar="NAME", help="How replies are parsed: strict or tolerant.")
@click.option("--extraction", metavar="NAME", help="How a page becomes text: article or original.")
@click.option("--max-tokens", type=click.IntRange(1), help="Token limit of one reply.")
@click.option("--temperature", type=options.Finite(0), help="Sampling temperature.")
@click.option("--samples", type=click.IntRange(1), help="Samples of one question, for cot_sc; default: 21.")
@click.option("--max-steps", type=click.IntRange(1), help="Step limit.")
@options.prompt("Prompts to use, packaged or your own; default: the task's (paper; for FEVER plain).")
@click.option("--run", metavar="NAME", help="Name of the run; default: after the model.")
@click.option("--mode", type=click.Choice(MODES), default="once", show_default=True, help="What is asked anew.")
@click.option(
    "--data",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Your questions: JSON Lines with question and answer (task qa), or a JSON list.",
)
@click.option("--site", metavar="NAME", help="Logical name of the wiki; default: the task's, or enwiki.")
@click.option("--wiki-base-url", metavar="URL", help="index.php of the wiki; default: the site's.")
@click.option("--wiki-mode", type=click.Choice(MODES), default="once", show_default=True, help="What is fetched.")
@click.option("--contact", envvar=CONTACT_VARIABLE, metavar="TEXT", help="Your mail or page, for the wiki.")
@click.option("--max-connections", type=click.IntRange(1, 64), default=1, show_default=True, help="Episodes at once.")
@click.option("--attempts", type=click.IntRange(1, 20), default=5, show_default=True, help="Tries for one call.")
@click.option("--timeout", type=options.Finite(1), default=300, show_default=True, help="Seconds for one call.")
@click.option("--changed", is_flag=True, help="Record again what went stale in a run, and only that; see above.")
@click.option("--keep", metavar="NAME", help="With --changed: keep the old run under this name.")
@click.option(
    "--cost-limit",
    type=spending.given,
    metavar="AMOUNT",
    help="Stop before this costs more.",
)
@click.option("--call-limit", type=click.IntRange(0), help="Stop before this command sends more calls.")
@click.option("--prices", type=_FILE, help="Your prices, over the packaged ones (also: REACTREPRO_PRICES).")
@click.option("--dry-run", is_flag=True, help="Say what it would come to, and do nothing. Needs no key.")
@click.option("--note", default="", metavar="TEXT", help="Where the run comes from, for its readers.")
@click.option("--cassettes", type=_DIR, default=CASSETTES, show_default=True, help="Folder to write to.")
@click.option("--wiki-snapshot", type=_DIR, default=SNAPSHOT, show_default=True, help="The same, for pages.")
@options.as_json
@options.quiet
def record(*, task: str, index: tuple[str, ...], json_: bool, quiet: bool, **given: Any) -> int:
    """Record fresh episodes from live servers.

    INDEX is an index, a range (0-9), several of them, or `all`; or --subset, --ids, --seed or --limit say which
    questions. What is recorded already stays as it is and costs nothing; an episode that was broken off is carried on
    where it stopped. docs/recording.md tells it all.

    \b
    --model: openai/…, anthropic/…, volcengine/…, deepseek/…, or for any
    OpenAI-compatible server openai-api/<service>/<model>.
    Keys: REACTREPRO_OPENAI_API_KEY (for recording only) or OPENAI_API_KEY,
    likewise ANTHROPIC, ARK (volcengine), DEEPSEEK and <SERVICE>. A server on
    this machine needs none.

    \b
    Modes: once records what is absent; new_episodes also what no longer
    replays, from the first call that differs; all everything anew, at its full
    price each time; none nothing.

    --changed takes a run by --run (and --method) and records what no longer replays under the run's own configuration,
    from the first call that differs; what still replays is copied. The new run takes over the name when it is
    complete. Neither INDEX nor --model is given then.

    \b
    Money: --dry-run says what it would come to; --cost-limit and --call-limit
    stop before they are passed (exit code 6), and the same command with a
    higher limit carries on.

    \b
    Examples:
      reactrepro record pelm 0-9 --model openai-api/local/gemma-3-270m \\
          --base-url http://127.0.0.1:8092/v1 --profile paper
      reactrepro fetch hotpotqa
      reactrepro record hotpotqa --subset paper500 --limit 10 \\
          --model volcengine/deepseek-v3-250324 --contact me@example.org
      reactrepro record pelm --changed --run gemma-3-270m --base-url http://127.0.0.1:8092/v1
    """
    stopped = threading.Event()
    found: Sources = options.layered([given["cassettes"]] if given["cassettes"].is_dir() else [], ())
    if given["changed"]:
        return renewing.changed(task, index, given, found, stopped, json_=json_, quiet=quiet)
    asked = bool(options.pick(index, given))
    if not asked or given["model"] is None or given["keep"]:
        raise click.UsageError(_missing(asked, given))
    order, parts = orders(task, index, given, found)
    prices = options.prices(given["prices"])
    budget = budget_of(order, given, prices)
    if given["dry_run"]:
        return dry_run.show(order, parts, _with_prompt(found, order, parts, given["prompt"]), prices, json_=json_)
    asks = order.mode != "none"
    if asks and not quiet and not _reachable(given["contact"], order.site, given["wiki_base_url"]):
        click.echo(
            f"no contact is set: the wiki's operators cannot reach you. Set --contact or {CONTACT_VARIABLE}.", err=True
        )
    length, said = len(order.questions) * max(1, len(parts)), partial(spending.short, budget)
    bar = Progress(length, stopped, silent=quiet or json_, spent=said)
    studio = partial(studio_of, given=given, found=found, stopped=stopped, budget=budget)
    try:
        with stop_on_interrupt(stopped), bar:
            report = recorded(order, parts, studio, found, bar)
    except OSError as error:  # a file; networks have errors of their own
        raise DiskError.of(error) from error
    if json_:
        options.echo_json(_data(report, budget))
    else:
        _print(report, order, budget, quiet=quiet)
    if isinstance(report.stopped, Interrupted):
        return report.stopped.exit_code
    return exit_code(report.problems)


def _with_prompt(found: Sources, order: Order, parts: tuple[Order, ...], prompt: str | None) -> Sources:
    """Return *found* with the folder that *prompt* stands in: a dry run copies no file."""
    from ..runs.keep import prompt_for

    if prompt is None:
        return found
    method = parts[0].method if parts else order.method
    return replace(found, prompts=prompt_for(order.task, method, prompt, found.prompts).roots)


def _missing(asked: bool, given: dict[str, Any]) -> str:
    if given["keep"]:
        return "--keep is for --changed."
    return "say whom to ask by --model." if asked else f"{NOTHING_ASKED}."


def _reachable(contact: str | None, site: str | None, base_url: str | None) -> bool:
    from ..wiki.sites import base_of, is_loopback

    return site is None or bool(contact) or is_loopback(base_url or base_of(site))


def _print(report: RecordReport, order: Order, budget: Budget, *, quiet: bool) -> None:
    for episode in report.episodes:
        if episode.problem is not None:
            click.echo(lines(f"{episode.state}: episode {episode.key}: {episode.problem}"), err=True)
    if report.stopped is not None:
        click.echo(lines(f"stopped: {report.stopped}"), err=True)
    states = ("recorded", "kept", "failed", "busy", "absent")
    counts = {state: sum(episode.state == state for episode in report.episodes) for state in states}
    parts = [f"{count} {state}" for state, count in counts.items() if count]
    if ends := Counter(episode.ended for episode in report.episodes if episode.ended in _UNJUDGED):
        parts.append("not judged: " + ", ".join(f"{n} {str(end).replace('_', ' ')}" for end, n in sorted(ends.items())))
    if report.remaining:
        some = ", ".join(report.remaining[:8]) + (" …" if len(report.remaining) > 8 else "")
        parts.append(f"{len(report.remaining)} remain ({some})")
    click.echo(f"{report.run.label}: {', '.join(parts) or 'nothing'}; {text.counted(report.calls, 'call')} made.")
    if quiet:
        return
    if words := sent_words.in_words(report.sent, order.settings.temperature):
        click.echo(f"The server does not take all that was asked: {words}.")
    if spent := spending.sentence(budget):
        click.echo(spent)
    _print_unfinished(report)
    if counts["busy"]:
        click.echo("Busy means that another recorder is at it, which is no failure.")
    if report.remaining or counts["failed"] or counts["busy"]:
        click.echo("The same command carries on; what is recorded is not asked again.")
    if counts["recorded"] or counts["kept"]:
        click.echo(f"Replay it with: {_replay(report, order)}")


def _print_unfinished(report: RecordReport) -> None:
    for key in [episode.key for episode in report.episodes if episode.state == "kept"]:
        if (part := report.run.part_path(key)).exists():
            click.echo(
                f"{shown(part)} is an unfinished recording beside the finished one: --mode new_episodes carries it on; "
                "or remove it."
            )


_UNJUDGED = ("filtered", "refused", "context_exceeded")


def _replay(report: RecordReport, order: Order) -> str:
    """Return the command that replays what was recorded."""
    short = order.selection if len(order.selection) <= LONG else "all"
    words = ["reactrepro", "replay", report.run.task, short]
    if report.run.method != "react":
        words += ["--method", report.run.method]
    words += ["--run", report.run.name]
    if order.root != CASSETTES:
        words += ["--cassettes", str(order.root)]
    if order.snapshot not in (None, SNAPSHOT):
        words += ["--wiki-snapshot", str(order.snapshot)]
    return shlex.join(words)


def _data(report: RecordReport, budget: Budget) -> dict[str, Any]:
    return {
        "run": report.run.label,
        "folder": str(report.run.folder),
        "calls": report.calls,
        "spent": spending.data(budget),
        "episodes": [
            {
                "key": episode.key,
                "state": episode.state,
                "calls": episode.calls,
                "ended": episode.ended,
                "tokens": money.tokens_data(episode.tokens),
                "cost": money.cost_data(money.priced(episode.tokens, budget.price)),
                "problem": str(episode.problem) if episode.problem else None,
            }
            for episode in report.episodes
        ],
        "remaining": report.remaining,
        "stopped": str(report.stopped) if report.stopped else None,
    }
