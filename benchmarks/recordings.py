"""Made-up recordings of the size of real ones: four calls an episode, prompts of 6,500 to 8,500 characters.

An episode searches two pages that no other episode reads, looks a word up, and finishes. It is written by
`runs.script`, that is in the form in which live recordings are written, and asks the `paper` prompt of HotpotQA in
profile `chat`, the default.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reactrepro.cassettes.library import Library
from reactrepro.cassettes.model import Cassette, Interaction
from reactrepro.cassettes.runs import Run
from reactrepro.cassettes.text import body_json
from reactrepro.domain import PageView, Question, Settings
from reactrepro.runs.roots import Sources
from reactrepro.runs.script import scripted_episode, scripted_run
from reactrepro.wiki.entry import Answer
from reactrepro.wiki.store import write_page

SITE = "benchwiki"
CALLS = 4
LENGTHS = range(6_400, 8_600)
"""Characters of a prompt."""
PAGE = 4_200
"""Characters of a page, at least: 700 words, an average article of the English Wikipedia. An observation is five
sentences of it."""

_PLACES = ("Vorland", "Harlow Bay", "Quill", "Östermark", "Saint-Élan", "Kestrel Ford", "Nunn’s Landing")
_SENTENCES = (
    "{0} is a town of about {2},000 people in the north of {1}, on the road that has led to the sea since 18{2:02}.",
    "It was founded by settlers from {1} – the records name Ada Marlow and her two brothers – and grew with the mill.",
    "In 19{2:02} the council of {0} voted, 11 to 9, for a bridge that was opened after nine years of building.",
    "The museum holds papers of the composer Ivo Brandt, who lived near {1} until he moved to the capital.",
    "Its football club has played in the second division since the league was made smaller, with one short break.",
    "The river rises in the hills behind {1}, passes three locks and an old tannery, and reaches the bay at {0}.",
)


@dataclass(frozen=True)
class Workload:
    """Recordings in a folder of their own.

    Attributes:
        root: the folder; ``cassettes`` and ``wiki_snapshot`` stand in it.
        run: the run that holds the episodes.
    """

    root: Path
    run: Run

    @property
    def sources(self) -> Sources:
        """Where they are read from; the packaged recordings are not among them."""
        return Sources(Library((self.root / "cassettes",)), (self.root / "wiki_snapshot",))

    def cassettes(self) -> Iterator[Cassette]:
        """Read the episodes, in order."""
        return map(self.run.read, self.run.keys())


def make(root: Path, episodes: int) -> Workload:
    """Write *episodes* episodes and their pages below *root*."""
    settings = Settings.of("chat", max_steps=7)
    run = scripted_run(root / "cassettes", "hotpotqa", "generated", settings=settings, site=SITE)
    for number in range(episodes):
        _episode(run, root / "wiki_snapshot", number)
    made = Workload(root, run)
    lengths = [len(prompt_of(interaction)) for interaction in run.read("0").interactions]
    if len(lengths) != CALLS or not all(length in LENGTHS for length in lengths):
        raise AssertionError(f"the prompts have {lengths} characters")
    return made


def prompt_of(interaction: Interaction) -> str:
    """Return the prompt of a recorded chat request."""
    prompt: str = interaction.request_json["messages"][0]["content"]
    return prompt


def enlarged(cassette: Cassette, interactions: int) -> Cassette:
    """Return *cassette* with as many *interactions*, all of them different, as self-consistency makes them."""
    made = []
    for number in range(interactions):
        model = cassette.interactions[number % len(cassette.interactions)]
        body = {**model.request_json, "messages": [{"role": "user", "content": f"{prompt_of(model)} {number}"}]}
        made.append(replace(model, body=body_json(body)))
    return Cassette(cassette.meta, tuple(made), cassette.path)


def forget(cassette: Cassette) -> Cassette:
    """Return *cassette*, which is from now on as it is after reading: no body is parsed yet."""
    for interaction in cassette.interactions:
        for parsed in ("request_json", "response_json"):
            vars(interaction).pop(parsed, None)
    return cassette


def _episode(run: Run, snapshot: Path, number: int) -> None:
    first, second = (f"{_PLACES[(number + step) % len(_PLACES)]} {number}" for step in (0, 1))
    for query, other in ((first, second), (second, first)):
        view = PageView(SITE, query, "article", "article", 1, text=page_text(query, other, number))
        write_page(snapshot, Answer(site=SITE, query=query, kind="article", provenance="scripted"), [view])
    question = Question(str(number), f"Were {first} and {second} founded by settlers of one country?", "yes", number)
    replies = [
        f" I need to search {first} and {second}, find who founded them, then compare.\nAction 1: Search[{first}]",
        f" {first} was founded by settlers. I need to search {second} next.\nAction 2: Search[{second}]",
        f" I see who founded {second}, but not when. I look up the council.\nAction 3: Lookup[council]",
        f" Both were founded by the same settlers, so the answer is yes.\nAction 4: Finish[{_answer(number)}]",
    ]
    scripted_episode(run, question, [response(text, number) for text in replies], snapshots=[snapshot])


def _answer(number: int) -> str:
    return "yes" if number % 3 else "no"


def page_text(query: str, other: str, number: int) -> str:
    """Return the text of a page about *query*, which mentions *other*; other *number*s make other pages."""
    paragraphs, length = [], 0
    while length < PAGE:
        paragraphs.append(
            " ".join(text.format(query, other, (number + length) % 90 + 10) for text in _SENTENCES) + "\n"
        )
        length += len(paragraphs[-1])
    return "".join(paragraphs)


def response(text: str, number: int) -> dict[str, Any]:
    """Return a chat completion with all that servers send around the text."""
    return {
        "id": f"chatcmpl-{number:024d}",
        "object": "chat.completion",
        "created": 1_764_500_000 + number,
        "model": "scripted",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 1700 + number, "completion_tokens": 40, "total_tokens": 1740 + number},
        "system_fingerprint": "fp_0123456789",
    }
