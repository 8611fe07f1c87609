"""The committed recordings of the closed world are what these servers are asked today: none can be made by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from reactrepro.cassettes.library import Library
from reactrepro.cassettes.matching import differences, endpoint
from reactrepro.cassettes.model import Interaction
from reactrepro.cassettes.runs import Run

from .running import ROOT
from .stage import Stage, require

WIKI = "pelm"
"""The closed world's wiki; methods that do not act have none."""

KEYS = 2
"""So many episodes of each run are recorded anew, at most."""


def check(stage: Stage) -> str:
    """Record the first round of each run's first episodes anew, and compare what was asked; never what a model said."""
    runs = [r for r in Library.of([ROOT / "cassettes"]).runs() if r.config.site in (WIKI, None) and _by_itself(r)]
    require(runs, f"no recorded run of {WIKI} is committed")
    compared = 0
    for run in runs:
        keys = run.keys()[:KEYS]
        require(keys, f"{run.label} holds no episode")
        made = _first_rounds(stage, run, keys)
        for key in keys:
            found = list(unlike(run.read(key).interactions[0], made.read(key).interactions[0]))
            require(not found, f"{run.label}, episode {key}, is not what is asked today: {', '.join(found)}")
            compared += 1
    return f"{compared} first rounds of {len(runs)} runs asked as committed"


def unlike(committed: Interaction, made: Interaction) -> Iterator[str]:
    """Yield what differs between two interactions, the words of the models apart."""
    if (committed.method, endpoint(committed.uri)) != (made.method, endpoint(made.uri)):
        yield f"{committed.method} {endpoint(committed.uri)} for {made.method} {endpoint(made.uri)}"
    for found in differences(committed.request_json, made.request_json):
        yield f"the request at {found.path}"
    if committed.status != made.status:
        yield f"the status: {committed.status} for {made.status}"
    if committed.response_json.keys() != made.response_json.keys():
        yield f"the fields of the response: {sorted(committed.response_json)} for {sorted(made.response_json)}"


def _by_itself(run: Run) -> bool:
    """Tell whether *run* was recorded, and has calls of its own; those of a back-off are its parts'."""
    return run.config.provenance == "recorded" and not run.config.parts


def _first_rounds(stage: Stage, run: Run, keys: list[str]) -> Run:
    config, settings = run.config, run.config.settings
    server = stage.servers.of_model(config.model)
    require(server, f"{run.label}: no server here has the model {config.model}")
    address = stage.servers.url(str(server)).removesuffix("/v1" if settings.api == "messages" else "")
    words = (
        *("--model", f"{config.provider}/{config.model}", "--prompt", config.prompt),
        *("--profile", settings.profile, "--api", settings.api, "--protocol", settings.protocol),
        *("--extraction", settings.extraction, "--max-tokens", str(settings.max_tokens)),
        *("--temperature", str(settings.temperature), *(("--site", config.site) if config.site else ())),
        *_samples(run, keys[0]),
    )
    folder = stage.folder / "fixtures"
    made = stage.recording(run.name, ",".join(keys), *words, llm=address, steps=1, folder=folder)
    recording = replace(made, task=run.task, method=run.method)
    done = recording.record()
    require(done.code == 0, f"{run.label}: recording it anew ended with {done.code}; {done.said}")
    return Run.at(recording.cassettes)


def _samples(run: Run, key: str) -> tuple[str, ...]:
    """Return the option with which the first call asks for as many samples as the committed one did."""
    sizes = run.read(key).meta.sent.samples_per_call
    return ("--samples", str(sizes[0])) if sizes else ()
