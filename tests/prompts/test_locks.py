"""The paper's prompts, locked: the sums stand in this file, so that a prompt and a stored sum cannot move together."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from reactrepro import prompts
from reactrepro.prompts import derive
from reactrepro.prompts.lockdiff import visible_diff

# (characters, bytes, SHA-256) of the released ReAct code's own strings.
FILES = {
    "react.instruction": (521, 521, "e876b72e2e1682222edbc4277ce1a0c32317363a0067c33f43b4dd6bdb756d85"),
    "react": (5893, 5900, "eaaf8cea09f27f1080eba6df63bb8a744bb84be09acee6c7f81a9d2f9619fb12"),
    "act": (3435, 3442, "2ac1b5442327bdc8e9c53ba006667756a359d207feb0699dc98d80fc70f70bca"),
    "cot": (1945, 1945, "fcfd47dfa7e780a3eb4cfc1bdbd3435d96f916110951e5507c94f3807e7072ff"),
    "standard": (738, 738, "8fb1a1cf54cecb381212249d4c402a306127d6e7e3e2623b4f93bf77fd18152d"),
}
WHOLE = {
    "react": (6414, 6421, "e52ba17b32d98144c4ee3f95f3cd5a2fec2016629219427f8aa9ddcfbdcc3fdf"),
    "act": FILES["act"],
    "cot": FILES["cot"],
    "standard": FILES["standard"],
}
ROUND_1 = (6493, 6500, "6b37f42c0161f39777fef0900bfab1bc825c88a248288259c69661cca540e0c8")
FEVER_FILE = "bfd7793d8766e020a817c8a56b2228f230298fb161f9fa87fa543b4b38d46c03"
FEVER = {
    "webthink_simple3": (3277, 3277, "d8c5b7f533fe1824a7c65ff1f3655277e97fc2525cb9f6d9d6b5e40428cec14d"),
    "webact_simple3": (2317, 2317, "5bf0e60993167b20db06baea14f1319b79a742e7d57a8730bc54439ebe5bd3f1"),
    "cotqa_simple3": (725, 725, "ecb9076faa000adb32bef1fa00113339154fd88ef2af5dc4ce4005c19f0418d4"),
    "webqa_simple3": (363, 363, "6b4651425763cddf5f4bd773c3dce6d4f6bef13ae783923114ff01b21c4aa3a2"),
}
PAPER = Path(prompts.__file__).parent / "hotpotqa" / "paper"


def _measure(text: str) -> tuple[int, int, str]:
    data = text.encode("utf-8")
    return len(text), len(data), hashlib.sha256(data).hexdigest()


def _read(stem: str) -> str:
    return (PAPER / f"{stem}.txt").read_bytes().decode("utf-8")


@pytest.mark.parametrize("stem", FILES)
def test_each_file_is_the_papers_to_the_byte(stem: str) -> None:
    """The data file equals the released code's string."""
    assert _measure(_read(stem)) == FILES[stem]


@pytest.mark.parametrize("method", WHOLE)
def test_each_prompt_is_the_papers_to_the_byte(method: str) -> None:
    """What `load` returns is exactly the files' characters, the instruction first."""
    prompt = prompts.load("hotpotqa", method, "paper")
    assert _measure(prompt.text) == WHOLE[method]
    assert prompt.sha256 == WHOLE[method][2]


def test_no_file_is_unlocked() -> None:
    """A packaged prompt of the paper without a sum here fails."""
    assert {path.name for path in PAPER.iterdir()} == {f"{stem}.txt" for stem in FILES}


def test_round_1_of_hotpotqa_0() -> None:
    """Prompt, question and label of the first round have the published length and the known sum."""
    text = prompts.load("hotpotqa", "react", "paper").text
    text += "Question: Were Scott Derrickson and Ed Wood of the same nationality?\nThought 1:"
    assert _measure(text) == ROUND_1


def test_act_is_react_without_its_thoughts() -> None:
    """The stored Act prompt equals the one derived from the stored ReAct prompt."""
    assert derive.act_from_react(_read("react")) == _read("act")


def test_standard_is_cot_without_its_thoughts() -> None:
    """The stored Standard prompt equals the one derived from the stored CoT prompt."""
    assert derive.standard_from_cot(_read("cot")) == _read("standard")


def test_every_cot_thought_is_made_of_react_sentences() -> None:
    """Each CoT thought is, sentence by sentence, verbatim in the ReAct thoughts."""
    opening = "Thought: Let's think step by step. "
    thoughts = [line for line in _read("cot").split("\n") if line.startswith("Thought: ")]
    assert len(thoughts) == 6
    for thought in thoughts:
        assert thought.startswith(opening)
        for sentence in thought.removeprefix(opening).removesuffix(".").split(". "):
            assert sentence in _read("react")


@pytest.fixture
def fever(reactrepro_test_data: Path) -> dict[str, str]:
    """The paper's FEVER prompts, by name."""
    data = (reactrepro_test_data / "fever_prompts.json").read_bytes()
    assert hashlib.sha256(data).hexdigest() == FEVER_FILE
    prompts: dict[str, str] = json.loads(data)
    return prompts


def test_the_fever_ablations_obey_the_same_rules(fever: dict[str, str]) -> None:
    """For FEVER, too, Act derives from ReAct and Standard from CoT, to the byte."""
    assert {name: _measure(text) for name, text in fever.items()} == FEVER
    assert derive.act_from_react(fever["webthink_simple3"]) == fever["webact_simple3"]
    assert derive.standard_from_cot(fever["cotqa_simple3"]) == fever["webqa_simple3"]


EDITS = {
    "a trailing blank stripped": (
        "whose middle name was Milhous. \n",
        "whose middle name was Milhous.\n",
        r"Milhous.\x20",
    ),
    "the instruction's blank stripped": ("three types: \n", "three types:\n", r"three types:\x20"),
    "mojibake repaired": ("\xe2\x80\x93", "\u2013", r"1898 â\x80\x93 August"),
    "control characters removed": ("1844-\x80\x931846", "1844-1846", r"(1844-\x80\x931846)"),
    "an en dash made a hyphen": ("1911 \u2013 June", "1911 - June", "U+002D HYPHEN-MINUS in place of U+2013 EN DASH"),
    "a newline made a blank": ("Kilberg.\nThe", "Kilberg. The", "-The film is about"),
    "line endings converted": ("\n", "\r\n", r"\x0d"),
}


@pytest.mark.case("B42")
@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_breaks_the_lock_and_can_be_seen(edit: str) -> None:
    """Each silent repair of an editor changes the sum, and the difference shows what was repaired."""
    old, new, seen = EDITS[edit]
    locked = prompts.load("hotpotqa", "react", "paper").text
    edited = locked.replace(old, new)
    assert _measure(edited)[2] != WHOLE["react"][2]
    diff = visible_diff(locked, edited)
    assert seen in diff
    assert all(line == line.rstrip() for line in diff.split("\n") if line.startswith(("-", "+")))
