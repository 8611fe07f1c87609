"""The released prompt files become prompt files, to the byte, or are refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from reactrepro import prompts
from reactrepro.data import paper_prompts
from reactrepro.data.folder import VARIABLE
from reactrepro.data.paper_prompts import FEVER, HOTPOTQA, InstalledPrompt, ReleasedFile
from reactrepro.domain import sha256_text
from reactrepro.errors import Corrupt, InfraError, Usage
from reactrepro.runs.roots import sources

from .mirror import Answer, Mirror, serving

METHODS = ("react", "act", "cot", "standard")
TEXTS = {prompt.name: f"{prompt.method} \u2013 \r\n with trailing blanks \n\n " for prompt in FEVER.prompts}


def released(file: ReleasedFile, texts: dict[str, str]) -> tuple[ReleasedFile, bytes]:
    """*file* as if it had been released with *texts*, and its bytes."""
    data = json.dumps({**texts, "another": "x", "list": []}).encode()
    strings = tuple(replace(prompt, sha256=sha256_text(texts[prompt.name])) for prompt in file.prompts)
    return replace(file, size=len(data), sha256=sha256(data).hexdigest(), prompts=strings), data


OURS, MADE = released(FEVER, TEXTS)
"""A fever.json of our own, in place of the released one."""


def fetch(sources: list[str], folder: Path, file: ReleasedFile = OURS) -> tuple[tuple[InstalledPrompt, ...], Path]:
    """Fetch the prompts of *file*."""
    return paper_prompts.fetch(sources, folder, files=(file, HOTPOTQA))


@pytest.fixture
def mirror(loopback: str) -> Iterator[Mirror]:
    """A server that runs."""
    with serving() as server:
        yield server


def files(folder: Path) -> list[str]:
    """Every file in *folder*."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_the_released_file_gives_the_papers_prompts(
    reactrepro_test_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four prompts for FEVER, each with its published sum; `paper` finds them from then on."""
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    with pytest.raises(Usage, match="The paper's own are installed by `reactrepro fetch prompts`"):
        prompts.load("fever", "react", "paper", roots=sources(here=tmp_path).prompts)
    done, notice = paper_prompts.fetch([str(reactrepro_test_data / "fever_prompts.json")], tmp_path)
    assert [(one.task, one.method, one.state) for one in done] == [("fever", m, "installed") for m in METHODS]
    for prompt in FEVER.prompts:
        found = prompts.load("fever", prompt.method, "paper", roots=sources(here=tmp_path).prompts)
        assert found.sha256 == prompt.sha256
        assert len(found.files) == 1
    assert {line.name for line in prompts.listing(sources(here=tmp_path).prompts) if line.task == "fever"} == {
        "paper",
        "plain",
    }
    assert "Permission is hereby granted" in notice.read_text(encoding="utf-8")
    assert "VERification" in notice.read_text(encoding="utf-8")


def test_a_folder_of_ones_own_comes_first_and_fetched_prompts_last(tmp_path: Path) -> None:
    """./prompts hides a packaged prompt; a fetched one does not."""
    for folder in ("here/prompts", "data/prompts"):
        for name in ("paper", "mine"):
            path = tmp_path / folder / "hotpotqa" / name / "act.txt"
            path.parent.mkdir(parents=True)
            path.write_text(folder, encoding="utf-8")
    variables = {VARIABLE: str(tmp_path / "data")}

    def text(here: str, name: str) -> str:
        roots = sources(here=tmp_path / here, environment=variables).prompts
        return prompts.load("hotpotqa", "act", name, roots=roots).text

    packaged = prompts.load("hotpotqa", "act", "paper").text
    assert (text("here", "paper"), text("nowhere", "paper")) == ("here/prompts", packaged)
    assert (text("here", "mine"), text("nowhere", "mine")) == ("here/prompts", "data/prompts")


def test_every_byte_of_a_prompt_is_kept(tmp_path: Path) -> None:
    """Line ends and trailing blanks, too."""
    (tmp_path / "x.json").write_bytes(MADE)
    fetch([str(tmp_path / "x.json")], tmp_path / "data")
    for prompt in FEVER.prompts:
        path = tmp_path / "data" / "prompts" / "fever" / "paper" / f"{prompt.method}.txt"
        assert path.read_bytes() == TEXTS[prompt.name].encode()


@pytest.mark.parametrize("inside", ["fever.json", "prompts/fever.json"])
def test_a_clone_of_the_released_code_will_do(inside: str, tmp_path: Path) -> None:
    """The files are found in the folder, or in its folder `prompts`."""
    path = tmp_path / "ReAct" / inside
    path.parent.mkdir(parents=True)
    path.write_bytes(MADE)
    done, _ = fetch([str(tmp_path / "ReAct")], tmp_path / "data")
    assert {one.source for one in done} == {"fever.json"}


def test_an_address_will_do(mirror: Mirror, tmp_path: Path) -> None:
    """And what was fetched is not fetched again, if no address is given."""
    done, notice = fetch([mirror.put("/x", MADE)], tmp_path)
    assert {one.source for one in done} == {f"{mirror.address}/x"}
    assert f"Fetched from: {mirror.address}/x" in notice.read_text(encoding="utf-8")
    again, _ = fetch([], tmp_path)
    assert [one.state for one in again] == ["present"] * 4
    assert mirror.paths == ["/x"]


def test_the_known_addresses_are_asked_in_order(mirror: Mirror, tmp_path: Path) -> None:
    """Without an argument."""
    urls = (mirror.put("/a", Answer(b"no", 503)), mirror.put("/b", MADE[:-1]), mirror.put("/c", MADE))
    done, _ = fetch([], tmp_path, replace(OURS, mirrors=urls))
    assert [one.state for one in done] == ["installed"] * 4
    assert mirror.paths == ["/a", "/b", "/c"]


def test_a_changed_file_is_refused_with_both_sums(tmp_path: Path) -> None:
    """The file's, and those of the string that differs; nothing is written."""
    changed = MADE.replace(b"cot ", b"cot  ")
    (tmp_path / "fever.json").write_bytes(changed)
    with pytest.raises(Corrupt) as caught:
        fetch([str(tmp_path / "fever.json")], tmp_path / "data")
    said = str(caught.value)
    assert sha256(changed).hexdigest() in said
    assert sha256(MADE).hexdigest() in said
    now = sha256_text(TEXTS["cotqa_simple3"].replace("cot ", "cot  "))
    assert f"cotqa_simple3: SHA-256 {now}, expected {sha256_text(TEXTS['cotqa_simple3'])}" in said
    assert "webact_simple3" not in said
    assert files(tmp_path) == ["fever.json"]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"{}", b'{"webthink_simple3": 1}', b"[" * 100_000, b"\xff"])
def test_what_is_no_prompt_file_is_refused(data: bytes, tmp_path: Path) -> None:
    """Whatever it is, with the sums of both released files where it could be either."""
    (tmp_path / "x").write_bytes(data)
    with pytest.raises(Corrupt, match=FEVER.sha256):
        paper_prompts.fetch([str(tmp_path / "x")], tmp_path / "data")
    assert files(tmp_path) == ["x"]


def test_of_several_sources_all_are_checked_before_any_is_used(tmp_path: Path) -> None:
    """The second one is wrong: nothing is written."""
    (tmp_path / "good").write_bytes(MADE)
    (tmp_path / "bad").write_bytes(MADE[:-1])
    with pytest.raises(Corrupt, match=r"bad: it is not fever\.json as it was released"):
        fetch([str(tmp_path / "good"), str(tmp_path / "bad")], tmp_path / "data")
    assert files(tmp_path) == ["bad", "good"]


@pytest.mark.parametrize(
    ("source", "message"), [("nowhere.json", "no file, no folder, and no address"), (".", "holds neither fever.json")]
)
def test_a_source_that_is_none_is_a_usage_error(
    source: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says what would be one."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Usage, match=message):
        fetch([source], tmp_path / "data")


def test_an_address_that_fails_is_an_infra_error(mirror: Mirror, tmp_path: Path) -> None:
    """The message has the sums, and how to give a file."""
    with pytest.raises(InfraError, match=rf"(?s)status 404.*{OURS.sha256}.*reactrepro fetch prompts FILE"):
        fetch([f"{mirror.address}/gone"], tmp_path)


def test_the_packaged_prompts_are_compared_and_not_installed_twice(tmp_path: Path) -> None:
    """A copy of HotpotQA's react.txt in the data folder would come without its instruction."""
    texts = {}
    for prompt in HOTPOTQA.prompts:
        text = (prompts.PACKAGED / "hotpotqa" / "paper" / f"{prompt.method}.txt").read_bytes().decode("utf-8")
        assert sha256_text(text) == prompt.sha256
        texts[prompt.name] = text
    file, data = released(HOTPOTQA, texts)
    assert file.prompts == HOTPOTQA.prompts
    (tmp_path / "x").write_bytes(data)
    done, _ = paper_prompts.fetch([str(tmp_path / "x")], tmp_path / "data", files=(FEVER, file))
    assert [(one.method, one.state, one.path) for one in done] == [(method, "packaged", None) for method in METHODS]
    assert files(tmp_path) == ["x"]


def test_a_prompt_that_was_changed_is_put_right(tmp_path: Path) -> None:
    """All four are written anew, and those that stood there are called replaced."""
    (tmp_path / "x").write_bytes(MADE)
    fetch([str(tmp_path / "x")], tmp_path / "data")
    path = tmp_path / "data" / "prompts" / "fever" / "paper" / "cot.txt"
    path.write_bytes(b"mine")
    done, _ = fetch([str(tmp_path / "x")], tmp_path / "data")
    assert {one.state for one in done} == {"replaced"}
    assert path.read_bytes() == TEXTS["cotqa_simple3"].encode()


def test_an_instruction_beside_an_installed_prompt_is_reported(tmp_path: Path) -> None:
    """It would be put before the paper's prompt, which has its own inside."""
    extra = tmp_path / "data" / "prompts" / "fever" / "paper" / "react.instruction.txt"
    extra.parent.mkdir(parents=True)
    extra.write_bytes(b"Do it.")
    (tmp_path / "x").write_bytes(MADE)
    for _ in range(2):
        with pytest.raises(Corrupt, match=r"react\.instruction\.txt stands beside the paper's prompt.*Remove it"):
            fetch([str(tmp_path / "x")], tmp_path / "data")
