"""Cassettes to test with."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reactrepro.cassettes.model import EPISODE_FORMAT, Cassette, EpisodeMeta, Interaction, InteractionsRef, PromptRef
from reactrepro.cassettes.text import body_json
from reactrepro.cassettes.write import seal
from reactrepro.domain import Outcome, Pin

ODD = "C1 \u0080\u0093, dash \u2013, beyond \U0001f600, nul \0, del \x7f, tab \t, quote \" ' back \\ \\n, end \n next"


def chat(prompt: str, reply: str) -> Interaction:
    """One chat call, as it is stored."""
    body = {"model": "m", "messages": [{"role": "user", "content": prompt}], "stop": ["\nObservation 1:"]}
    answer = {"choices": [{"index": 0, "message": {"role": "assistant", "content": reply}}]}
    return Interaction("POST", "https://host.invalid/v1/chat/completions", body_json(body), 200, body_json(answer))


def meta(**fields: object) -> EpisodeMeta:
    """An episode's block, with *fields* over plain defaults."""
    plain: dict[str, object] = {
        "format": EPISODE_FORMAT,
        "key": "0",
        "index": 0,
        "id": None,
        "question": "Where is Vorland?",
        "question_sha256": "0" * 64,
        "gold": "Quill",
        "prompt": PromptRef(name="paper", sha256="1" * 64),
        "provenance": "scripted",
        "pages": (Pin("pelm", "Vorland", "2" * 64),),
        "interactions": InteractionsRef(count=0, sha256=""),
        "outcome": Outcome("Quill", True, 1.0, 1, 1, 0, (("cut_at_stop",),), "finish"),
    }
    return EpisodeMeta(**(plain | fields))  # type: ignore[arg-type]


@pytest.fixture
def make() -> Callable[..., Cassette]:
    """A sealed cassette of the given interactions."""

    def make(*interactions: Interaction, **fields: object) -> Cassette:
        return seal(meta(**fields), interactions)

    return make
