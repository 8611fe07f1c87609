"""From the words of a `record` command to an order, and from an order to the servers that carry it out."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import Interrupted, Usage
from . import options

if TYPE_CHECKING:
    from ..domain import Settings
    from ..price import Price
    from ..runs.budget import Budget
    from ..runs.episode import Studio
    from ..runs.order import Order
    from ..runs.record import RecordReport
    from ..runs.roots import Sources
    from .progress import Progress

PROMPTS = Path("prompts")
"""Where a prompt from elsewhere is kept."""

SETTINGS = ("protocol", "extraction", "max_tokens", "temperature", "max_steps", "samples")
"""Options that are settings of the run."""


def recorded(
    order: Order, parts: tuple[Order, ...], studio: Callable[[Order], Studio | None], found: Sources, bar: Progress
) -> RecordReport:
    """Record *order*, where it has *parts* as a back-off; see `runs.record.record`."""
    from ..runs.record import record
    from ..runs.record_back_off import BackOffOrder, record_back_off

    if parts:
        wanted = BackOffOrder(order=order, parts=(parts[0], parts[1]), sources=found)
        return record_back_off(wanted, studio, stopped=bar.stopped, tell=bar.tell)
    made = studio(order)
    try:
        return record(order, made, stopped=bar.stopped, tell=bar.tell)
    finally:
        if made is not None:
            made.close()


def orders(task: str, index: tuple[str, ...], given: dict[str, Any], found: Sources) -> tuple[Order, tuple[Order, ...]]:
    """Return the order, and for a back-off those of its parts."""
    from ..backends.providers import target
    from ..cassettes.selection import words_of
    from ..domain import PROFILES
    from ..methods import is_back_off, method_or_back_off
    from ..runs.keep import prompt_for
    from ..runs.order import Order
    from ..runs.questions import questions
    from ..runs.settings import part_settings, settings_of
    from ..tasks import TASKS

    known, method = TASKS.get(task)(), given["method"]
    whom = target(
        given["model"],
        environment=os.environ,
        api=given["api"],
        preferred=PROFILES.get(given["profile"], {}).get("api"),
        base_url=given["base_url"],
        keyless=given["mode"] == "none" or given["dry_run"],
    )
    asked = {name: given[name] for name in SETTINGS} | {"api": whom.api}
    pick = options.pick(index, given)
    rows = questions(known, pick, found.library, given["data"])
    typed = pick.plain and all(row.index is not None for row in rows)

    def order(of: str, settings: Settings, acts: bool) -> Order:
        return Order(
            task=known,
            questions=rows,
            selection=",".join(index) if typed else words_of([row.key for row in rows]),
            method=of,
            prompt=prompt_for(known, of, given["prompt"], found.prompts).name,
            target=whom,
            settings=settings,
            site=(given["site"] or known.site) if acts else None,
            root=given["cassettes"],
            snapshot=given["wiki_snapshot"],
            run=given["run"],
            mode=given["mode"],
            connections=given["max_connections"],
            note=given["note"],
        )

    if is_back_off(method_or_back_off(method)):
        whole, parts = part_settings(method, given["profile"], known, asked)
        return order(method, whole, True), tuple(order(*part) for part in parts)
    return order(method, *settings_of(method, given["profile"], known, asked)), ()


def budget_of(order: Order, given: dict[str, Any], prices: Mapping[str, Price]) -> Budget:
    """Return the budget of the whole command.

    Raises:
        Usage: a limit of the cost, and nobody knows the price.
    """
    from ..backends import BACKENDS
    from ..data.prices import VARIABLE
    from ..runs.budget import Budget

    name = f"{order.target.provider}/{order.target.model}"
    price, limit = prices.get(name), given["cost_limit"]
    if limit is not None and price is None and order.mode != "none":
        raise Usage(
            f"no price of {name} is known, so that --cost-limit cannot be kept. Give its price by --prices FILE or "
            f'{VARIABLE} (docs/recording.md, "Prices"), or set --call-limit. Nothing was asked.'
        )
    return Budget(BACKENDS.get(order.settings.api)(), price, cost_limit=limit, call_limit=given["call_limit"])


def studio_of(
    order: Order, *, given: dict[str, Any], found: Sources, stopped: threading.Event, budget: Budget
) -> Studio | None:
    """Return the studio that carries out *order*, or None where nothing is to be asked."""
    from ..exchanges.retries import Patience
    from ..exchanges.scrub import secrets_in
    from ..runs.keep import keep, prompt_for
    from ..runs.studio import Wiki, studio
    from ..wiki.live import WikiClient
    from ..wiki.patience import Clock
    from ..wiki.sites import base_of

    def sleep(seconds: float) -> None:
        if stopped.wait(seconds):
            raise Interrupted

    if order.mode == "none":
        return None
    wiki = None
    if order.site is not None:
        wiki = Wiki(
            client=WikiClient(
                given["wiki_base_url"] or base_of(order.site), contact=given["contact"], clock=Clock(sleep=sleep)
            ),
            site=order.site,
            mode=given["wiki_mode"],
            snapshot=given["wiki_snapshot"],
            snapshots=found.snapshots,
        )
    prompt = prompt_for(order.task, order.method, given["prompt"] or order.prompt, found.prompts)
    prompt = keep(prompt, order.task, order.method, PROMPTS, found.prompts)
    return studio(
        task=order.task,
        target=order.target,
        settings=order.settings,
        method=order.method,
        prompt=prompt.name,
        wiki=wiki,
        patience=Patience(attempts=given["attempts"], timeout=given["timeout"]),
        secrets=secrets_in(os.environ),
        prompt_roots=prompt.roots,
        meter=budget,
    )
