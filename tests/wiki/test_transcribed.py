"""The two pages of the published run: text only, just the sentences that it printed."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from reactrepro.wiki.entries import entries
from reactrepro.wiki.env import WikiEnv
from reactrepro.wiki.snapshot import SnapshotPages

from .samples import action

ROOT = Path(__file__).parents[2] / "wiki_snapshot"

PRINTED = {
    "Scott Derrickson": (511, "and a B.A.", "6b007771b6883ca259e67a3023a669c22c69def3fc357ec6b9b257fb468eb7af"),
    "Ed Wood": (
        1074,
        "The Life and Art of Edward D.",
        "d86da08a52231e8faa46ea2ad1d7af55cc45f8399a3de1f62b74e827dc73ad4b",
    ),
}
PINS = {
    "Scott Derrickson": "3aa45e4d5540f7342c8bef8dc7319b9b7ae6bfa379bda5e8eb86f6094d4c04d6",
    "Ed Wood": "51f154a1588748f48182a069f21e1ab141f1bab2c2b984cf32aabf449343c3cf",
}


@pytest.mark.parametrize("query", PRINTED)
def test_the_observations_are_those_of_the_published_run(query: str) -> None:
    """511 and 1,074 characters, to the byte; the excerpt ends inside a sentence, and the rule adds its full stop."""
    length, end, sha256 = PRINTED[query]
    env = WikiEnv(SnapshotPages([ROOT], "enwiki", "original", PINS), "Question: ?", lambda answer: 0)
    seen = env.step(action(f"search[{query}]"))
    assert len(seen.text) == length
    assert seen.text.endswith(end)
    assert hashlib.sha256(seen.text.encode()).hexdigest() == sha256
    assert seen.flags == ()


@pytest.mark.parametrize("query", PRINTED)
def test_nothing_is_made_up_around_them(query: str) -> None:
    """Transcribed: one extraction, no HTML, no revision, no time; what nobody published is listed."""
    (version,) = next(entry for entry in entries([ROOT]) if (entry.site, entry.query) == ("enwiki", query)).versions
    answer = version.metadata.answer
    assert (answer.provenance, list(version.metadata.views), version.metadata.html) == (
        "transcribed",
        ["original"],
        None,
    )
    unknown = (answer.asked, answer.final_url, answer.status, answer.title, answer.revision, answer.time)
    assert unknown == (None,) * 6
    assert set(answer.filled_in) == {
        "base_url", "asked", "redirects", "final_url", "status", "title", "revision", "time",
    }  # fmt: skip
    text = version.view("original").text
    assert text is not None
    assert not text.rstrip("\n").endswith(".")


def test_every_committed_page_agrees_with_its_metadata() -> None:
    """No file of the committed snapshot is broken, edited or misplaced."""
    for entry in entries([ROOT]):
        assert entry.problems == ()
        for version in entry.versions:
            assert [version.disagreement(name) for name in version.metadata.views] == [None] * len(
                version.metadata.views
            )


@pytest.mark.parametrize("query", PRINTED)
def test_the_specification_is_enough_to_check_a_pin(query: str) -> None:
    """Folder name and view hash, computed from the files by the words of docs/formats.md alone."""
    folder = "-".join([query.lower().replace(" ", "-"), hashlib.sha256(query.encode()).hexdigest()[:12]])
    (metadata,) = (ROOT / "enwiki" / folder).glob("*.json")
    form = json.loads(metadata.read_bytes())
    seen = {
        "site": form["site"],
        "query": form["query"],
        "kind": form["kind"],
        "extraction": ["original", form["views"]["original"]["version"]],
        "titles": form["views"]["original"]["titles"],
        "disambiguation": form["views"]["original"]["disambiguation"],
        "text_sha256": hashlib.sha256(metadata.with_name(f"{metadata.stem}.original.txt").read_bytes()).hexdigest(),
    }
    canonical = json.dumps(seen, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    assert hashlib.sha256(canonical.encode()).hexdigest() == PINS[query] == form["views"]["original"]["sha256"]
    assert hashlib.sha256(metadata.read_bytes()).hexdigest()[:12] == metadata.stem
