"""The gate: changes made to a copy of the project, each with its report, to the byte, and its exit code.

Most commands run in forks of one process that has imported the copy; those after a change of code in one of their own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest

from reactrepro.cassettes.model import Cassette
from reactrepro.cassettes.read import parse_cassette, read_meta
from reactrepro.cassettes.write import cassette_bytes, seal
from reactrepro.cli.check import check
from reactrepro.report.model import CLASSES, STALE
from reactrepro.wiki.names import folder

from ..world import checkout
from ..zygote import Zygote

PROMPT = "reactrepro/prompts/hotpotqa/paper/react.txt"
INSTRUCTION = "reactrepro/prompts/hotpotqa/paper/react.instruction.txt"
PUBLISHED = "cassettes/hotpotqa/react/deepseek-v3-250324"
GEMMA = "cassettes/pelm/react/gemma-3-270m"
RUNS = [PUBLISHED, GEMMA, f"{GEMMA}-chat", f"{GEMMA}-messages", f"{GEMMA}-paper"]
"""The runs that are copied, with the pages that they read: the others show nothing new."""

KEY = "sk-proj-" + "A1b2C3d4E5f6" * 4


class Copy:
    """A copy of the project that knows how it was.

    Attributes:
        root: its folder.
    """

    def __init__(self, root: Path, environment: dict[str, str]) -> None:
        self.root = root
        shutil.copytree(checkout() / "reactrepro", root / "reactrepro", ignore=shutil.ignore_patterns("__pycache__"))
        for name in RUNS:
            shutil.copytree(checkout() / name, root / name)
        shutil.copy(checkout() / "cassettes/hotpotqa/default", root / "cassettes/hotpotqa")
        for pin in {pin for path in root.rglob("*.yaml") for pin in read_meta(path).pages}:
            place = Path("wiki_snapshot", pin.site, folder(pin.query))
            shutil.copytree(checkout() / place, root / place, dirs_exist_ok=True)
        shutil.copy(checkout() / "prompts.lock", root)
        self._environment = environment | {"PYTHONPATH": f"{root}:{environment['PYTHONPATH']}", "PYTHONUTF8": "1"}
        self._zygote = Zygote(self._environment, offline=True) if hasattr(os, "fork") else None
        self._before: dict[Path, bytes | None] = {}

    def write(self, name: str, data: bytes | str) -> None:
        """Write a file."""
        path = self.root / name
        self._before.setdefault(path, path.read_bytes() if path.exists() else None)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)

    def remove(self, name: str) -> None:
        """Remove a file."""
        path = self.root / name
        self._before.setdefault(path, path.read_bytes())
        path.unlink()

    def edit(self, name: str, old: str, new: str) -> None:
        """Replace *old*, which has to be there."""
        text = (self.root / name).read_bytes().decode("utf-8")
        assert old in text
        self.write(name, text.replace(old, new))

    def cassette(self, name: str, change: Callable[[Cassette], Cassette], *, sealed: bool = False) -> None:
        """Change what stands in a cassette; unless *sealed*, its count and hash stay as they were."""
        path = self.root / name
        made = change(parse_cassette(path.read_bytes(), path))
        self.write(name, cassette_bytes(seal(made.meta, made.interactions) if sealed else made))

    def restore(self) -> None:
        """Undo everything."""
        for path, data in self._before.items():
            if data is not None:
                path.write_bytes(data)
            else:
                path.unlink(missing_ok=True)
        self._before = {}

    def run(self, *words: str, own: bool = False, **variables: str) -> tuple[int, str]:
        """Run reactrepro on the copy's own code; return its exit code and what it printed, errors included.

        Args:
            words: the command line.
            own: in a process of its own: code has changed.
            variables: of the environment, for a process of its own.
        """
        if own or variables or self._zygote is None:
            done = subprocess.run(
                [sys.executable, "-W", "ignore", "-m", "reactrepro", *words],
                cwd=self.root,
                env=self._environment | variables,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                check=False,
            )
            code, printed = done.returncode, done.stdout
        else:
            started = self._zygote.start(list(words), self.root)
            code, printed = started.wait(), started.out + started.err
            for path in (self.root / "command.out", self.root / "command.err"):
                path.unlink()
        return code, printed.replace(str(self.root), "<project>")

    def close(self) -> None:
        """End its process."""
        if self._zygote is not None:
            self._zygote.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copy]:
    """The one copy."""
    folder = tmp_path_factory.mktemp("project")
    hook = tmp_path_factory.mktemp("offline")
    from ..conftest import NO_NETWORK, PRIVATE

    hook.joinpath("sitecustomize.py").write_text(NO_NETWORK, encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not PRIVATE.fullmatch(name) and name != "CI"}
    copy = Copy(folder.resolve(), environment | {"PYTHONPATH": str(hook), "PYTHONDONTWRITEBYTECODE": "1"})
    yield copy
    copy.close()


@pytest.fixture
def project(made: Copy) -> Iterator[Copy]:
    """The copy, as it was."""
    yield made
    made.restore()


# --- what is changed ------------------------------------------------------------------------------------------------


def trailing_blank(project: Copy) -> None:
    """One trailing blank is added to an exemplar."""
    project.edit(PROMPT, "Finish[Richard Nixon]\n", "Finish[Richard Nixon] \n")


def crlf(project: Copy) -> None:
    """CRLF for LF."""
    project.edit(PROMPT, "\n", "\r\n")


def reordered(project: Copy) -> None:
    """The first two exemplars change places."""
    text = (project.root / PROMPT).read_bytes().decode("utf-8")
    head, *exemplars = re.split(r"(?m)^(?=Question: )", text)
    project.write(PROMPT, "".join([head, exemplars[1], exemplars[0], *exemplars[2:]]))


def reworded(project: Copy) -> None:
    """The instruction is reworded."""
    project.edit(INSTRUCTION, "Solve a question answering task", "Answer a question")


def stop_string(project: Copy) -> None:
    """Code: the stop string loses its number."""
    project.edit("reactrepro/methods/react.py", 'f"\\nObservation {i}:"', 'f"\\nObservation"')


def temperature(project: Copy) -> None:
    """Another temperature is asked for."""
    project.edit(f"{GEMMA}/run.json", '"temperature": 0', '"temperature": 0.5')


def model(project: Copy) -> None:
    """Another model is asked for."""
    project.edit(f"{GEMMA}/run.json", '"model": "gemma-3-270m"', '"model": "gemma-3-1b"')


def page_edited(project: Copy) -> None:
    """A blank at the end of a page."""
    (text,) = (project.root / "wiki_snapshot/enwiki").glob("ed-wood-*/*.txt")
    project.write(text.relative_to(project.root).as_posix(), text.read_bytes() + b" ")


def page_missing(project: Copy) -> None:
    """A page is gone."""
    for path in (project.root / "wiki_snapshot/enwiki").glob("ed-wood-*/*"):
        project.remove(path.relative_to(project.root).as_posix())


def truncated(project: Copy) -> None:
    """Half of a recording."""
    data = (project.root / PUBLISHED / "0.yaml").read_bytes()
    project.write(f"{PUBLISHED}/0.yaml", data[: len(data) // 2])


def swapped(project: Copy) -> None:
    """Two interactions change places."""

    def swap(cassette: Cassette) -> Cassette:
        first, second, *rest = cassette.interactions
        return replace(cassette, interactions=(second, first, *rest))

    project.cassette(f"{PUBLISHED}/0.yaml", swap)


def duplicated(project: Copy) -> None:
    """An interaction stands there twice."""
    project.cassette(f"{PUBLISHED}/0.yaml", twice)


def duplicated_and_sealed(project: Copy) -> None:
    """The same, with count and hash made to fit."""
    project.cassette(f"{PUBLISHED}/0.yaml", twice, sealed=True)


def twice(cassette: Cassette) -> Cassette:
    """The first interaction, once more at the end."""
    return replace(cassette, interactions=(*cassette.interactions, cassette.interactions[0]))


def newer(project: Copy) -> None:
    """A newer format version."""
    project.edit(f"{PUBLISHED}/0.yaml", "reactrepro-episode/1", "reactrepro-episode/2")


def unknown_task(project: Copy) -> None:
    """A run of a task that nobody knows."""
    for name in ("run.json", "0.yaml"):
        data = (project.root / PUBLISHED / name).read_bytes()
        project.write(f"cassettes/weather/react/a-model/{name}", data.replace(b'"hotpotqa"', b'"weather"'))


def metric(project: Copy) -> None:
    """Code: F1 is computed otherwise."""
    project.edit("reactrepro/metrics.py", "return 2 *", "return 1.5 *")


def other_prompt_named(project: Copy) -> None:
    """The block names another prompt than the requests hold."""

    def renamed(cassette: Cassette) -> Cassette:
        prompt = replace(cassette.meta.prompt, sha256="0" * 64)
        return replace(cassette, meta=replace(cassette.meta, prompt=prompt))

    project.cassette(f"{PUBLISHED}/0.yaml", renamed)


def key_in_a_reply(project: Copy) -> None:
    """A key stands in a reply."""

    def leaky(cassette: Cassette) -> Cassette:
        first, *rest = cassette.interactions
        return replace(cassette, interactions=(replace(first, response=first.response + f' "{KEY}"'), *rest))

    project.cassette(f"{PUBLISHED}/0.yaml", leaky)


def key_beside(project: Copy) -> None:
    """A key stands in an unfinished recording."""
    project.write(f"{PUBLISHED}/1.yaml.part", f"half a recording\n{KEY}\n")


def key_in_an_address(project: Copy) -> None:
    """A key is a parameter of a request's address."""
    project.edit(f"{PUBLISHED}/0.yaml", "/chat/completions", f"/chat/completions?key={KEY}")


def key_in_metadata(project: Copy) -> None:
    """A name and a password stand in a page's address."""
    (path,) = (project.root / "wiki_snapshot/enwiki").glob("ed-wood-*/*.json")
    project.edit(
        path.relative_to(project.root).as_posix(), '"final_url": null', '"final_url": "https://a:b@w.invalid/"'
    )


def key_in_a_title(project: Copy) -> None:
    """A key stands in a page's title."""
    (path,) = (project.root / "wiki_snapshot/enwiki").glob("ed-wood-*/*.json")
    project.edit(path.relative_to(project.root).as_posix(), '"title": null', f'"title": "{KEY}"')


def unused_page(project: Copy) -> None:
    """The only recording that reads two pages is gone."""
    project.remove(f"{PUBLISHED}/0.yaml")
    project.edit(f"{PUBLISHED}/run.json", '"selection": "0"', '"selection": ""')
    project.remove("cassettes/hotpotqa/default")


def accepted(project: Copy) -> None:
    """A change is accepted."""
    trailing_blank(project)
    project.write("prompts.lock", (project.root / "prompts.lock").read_bytes())
    assert project.run("accept", "hotpotqa/paper/react")[0] == 0


def reverted(project: Copy) -> None:
    """A change is accepted, and then undone."""
    accepted(project)
    project.edit(PROMPT, "Finish[Richard Nixon] \n", "Finish[Richard Nixon]\n")


def without_lock(project: Copy) -> None:
    """A change where there is no lock."""
    trailing_blank(project)
    project.remove("prompts.lock")


def prompt_added(project: Copy) -> None:
    """A prompt that nobody has agreed to."""
    project.write("reactrepro/prompts/hotpotqa/short/react.txt", "Be brief.\n")


def prompt_removed(project: Copy) -> None:
    """A prompt that no recording uses is gone."""
    project.remove("reactrepro/prompts/hotpotqa/paper/cot.txt")


def prompt_removed_that_is_used(project: Copy) -> None:
    """The prompt of all recordings is gone."""
    project.remove(PROMPT)


def lock_in_conflict(project: Copy) -> None:
    """A merge went wrong."""
    text = (project.root / "prompts.lock").read_text("ascii")
    project.write("prompts.lock", text + "<<<<<<< HEAD\n")


def lock_newer(project: Copy) -> None:
    """A lock of a newer version."""
    project.edit("prompts.lock", "reactrepro-prompts/1", "reactrepro-prompts/2")


def nothing(_: Copy) -> None:
    """Nothing changes."""


def several(project: Copy) -> None:
    """Four things at once."""
    trailing_blank(project)
    page_missing(project)
    newer(project)
    temperature(project)


class Case(NamedTuple):
    change: Callable[[Copy], None]
    code: int
    words: tuple[str, ...] = ()
    code_changed: bool = False


CASES = {
    "trailing-blank": Case(trailing_blank, 1),
    "crlf": Case(crlf, 1),
    "exemplars-reordered": Case(reordered, 1),
    "instruction-reworded": Case(reworded, 1),
    "stop-string": Case(stop_string, 1, code_changed=True),
    "temperature": Case(temperature, 1),
    "model": Case(model, 1),
    "page-edited": Case(page_edited, 1),
    "page-missing": Case(page_missing, 3),
    "truncated": Case(truncated, 5),
    "interactions-swapped": Case(swapped, 5),
    "interaction-duplicated": Case(duplicated, 5),
    "interaction-duplicated-and-sealed": Case(duplicated_and_sealed, 1),
    "newer-format": Case(newer, 5),
    "unknown-task": Case(unknown_task, 5),
    "metric": Case(metric, 1, code_changed=True),
    "another-prompt-named": Case(other_prompt_named, 5),
    "key-in-a-reply": Case(key_in_a_reply, 5),
    "key-in-an-unfinished-recording": Case(key_beside, 5),
    "key-in-an-address": Case(key_in_an_address, 5),
    "name-and-password-in-metadata": Case(key_in_metadata, 5),
    "key-in-a-title": Case(key_in_a_title, 5),
    "too-old": Case(nothing, 1, ("--max-age", "0")),
    "young-enough": Case(nothing, 0, ("--max-age", "36500")),
    "unused-page": Case(unused_page, 0),
    "accepted": Case(accepted, 1),
    "accepted-and-allowed": Case(accepted, 0, ("--allow-stale",)),
    "accepted-and-reverted": Case(reverted, 1),
    "without-lock": Case(without_lock, 1),
    "prompt-added": Case(prompt_added, 1),
    "prompt-removed": Case(prompt_removed, 1),
    "prompt-removed-that-is-used": Case(prompt_removed_that_is_used, 3),
    "lock-in-conflict": Case(lock_in_conflict, 5),
    "lock-newer": Case(lock_newer, 5),
    "several": Case(several, 5),
    "untouched": Case(nothing, 0),
}


@pytest.mark.case("B42")
@pytest.mark.case("B13")
@pytest.mark.parametrize("name", CASES)
def test_a_change_has_its_report_and_its_exit_code(name: str, project: Copy, exact: object) -> None:
    """Each cause is told once, with what it touches, what it costs, and what to do."""
    change, code, words, own = CASES[name]
    change(project)
    found, printed = project.run("check", *words, own=own)
    assert told(printed) == exact
    assert found == code


def told(printed: str) -> str:
    """What stands before and after the tables, which tell of each recording."""
    head, _, rest = printed.partition("\nrun  ")
    if head.startswith("run  "):
        head, rest = "", printed
    closing = rest[rest.rindex("\nprovenance: ") :] if "\nprovenance: " in rest else rest
    return re.sub(r"known here: [^.]*", "known here: …", head + closing)


@pytest.mark.parametrize("name", ["trailing-blank", "crlf", "exemplars-reordered", "instruction-reworded", "accepted"])
def test_the_hashes_alone_tell_the_same_of_prompts(name: str, project: Copy) -> None:
    """`--only prompts` replays nothing and says of a prompt, its recordings and its cost what the whole check says."""
    CASES[name].change(project)
    code, fast = project.run("check", "--quiet", "--only", "prompts")
    assert (code, fast.replace(" (prompts only)", "")) == project.run("check", "--quiet")


@pytest.mark.parametrize(
    ("part", "seen"),
    [
        ("prompts", {"trailing-blank", "prompt-added", "prompt-removed", "accepted-and-reverted", "newer-format"}),
        ("wiki", {"page-edited", "page-missing", "newer-format", "name-and-password-in-metadata"}),
        ("secrets", {"key-in-a-reply", "key-in-an-unfinished-recording", "key-in-an-address"}),
    ],
)
def test_a_part_sees_its_own_and_no_more(part: str, seen: set[str], project: Copy) -> None:
    """`--only` looks at one thing; what belongs to another part passes."""
    looked = [
        "trailing-blank",
        "prompt-added",
        "prompt-removed",
        "accepted-and-reverted",
        "page-edited",
        "page-missing",
    ]
    looked += ["key-in-a-reply", "key-in-an-unfinished-recording", "key-in-an-address", "newer-format", "temperature"]
    codes = {}
    for name in looked:
        CASES[name].change(project)
        codes[name] = project.run("check", "--quiet", "--only", part)[0]
        project.restore()
    assert {name for name, code in codes.items() if code} == seen & set(looked)


def test_one_recording_is_asked_for_its_own_secrets(project: Copy) -> None:
    """A key in another recording of the run is another one's problem."""
    key_beside(project)
    assert project.run("check", "--quiet", f"{PUBLISHED}/0.yaml")[0] == 0
    assert project.run("check", "--quiet", PUBLISHED)[0] == 5


def test_what_is_no_secret_can_be_said(project: Copy) -> None:
    """The report never shows a key; it shows a hash, and with `--no-secret HASH` the same is no problem."""
    key_beside(project)
    code, printed = project.run("check", "--only", "secrets")
    assert code == 5
    assert KEY not in printed
    digest = re.search(r"sha256 ([0-9a-f]{12})", printed)
    assert digest is not None
    assert project.run("check", "--only", "secrets", "--no-secret", digest[1])[0] == 0


@pytest.mark.case("B42")
def test_a_lost_trailing_blank_is_reported_as_the_readme_shows(project: Copy) -> None:
    """Exit code 1, and the place of the blank: the example in README.md is what the program prints."""
    project.edit(PROMPT, "was Milhous. \n", "was Milhous.\n")
    code, printed = project.run("check", "--quiet", "cassettes/hotpotqa")
    readme = (checkout() / "README.md").read_text("utf-8")
    shown = re.search(r"\$ reactrepro check cassettes/hotpotqa\n(prompt changed: .*?)\n```", readme, re.DOTALL)
    assert shown is not None
    assert printed.split("\n\n")[0] == shown[1]
    assert code == 1


@pytest.mark.case("B42")
@pytest.mark.parametrize(
    ("old", "new", "seen"),
    [
        ("1844-\x80\x931846", "1844–1846", r"1844-\x80\x931846"),
        ("three types: \n", "three types:\n", r"three types:\x20"),
        ("Question: Which magazine", "Question:  Which magazine", "Question:  Which"),
    ],
    ids=["mojibake", "blank-of-the-instruction", "one-more-blank"],
)
def test_every_edit_of_a_prompt_can_be_seen(project: Copy, old: str, new: str, seen: str) -> None:
    """Whatever an editor does to the bytes, the gate closes, and the difference shows it."""
    file = INSTRUCTION if "types" in old else PROMPT
    project.edit(file, old, new)
    code, printed = project.run("check", "--quiet", "cassettes/hotpotqa")
    assert code == 1
    assert seen in printed


@pytest.mark.parametrize("cut", [0, 1, 100, 0.1, 0.3, 0.7, 0.9, 0.99, -2])
def test_a_recording_cut_anywhere_is_corrupt(project: Copy, cut: float) -> None:
    """Exit code 5, wherever it ends; tests/cassettes/test_files.py cuts at every byte."""
    data = (project.root / PUBLISHED / "0.yaml").read_bytes()
    project.write(f"{PUBLISHED}/0.yaml", data[: int(cut * len(data)) if isinstance(cut, float) else cut])
    code, printed = project.run("check", "--quiet", PUBLISHED)
    assert (code, printed.split(":")[0]) == (5, "corrupt")


@pytest.mark.parametrize("form", ["junit", "github", "gitlab"])
def test_other_programs_get_their_form(form: str, project: Copy, exact: object) -> None:
    """One changed prompt, an edited page and a key, for the reporters of CI services."""
    trailing_blank(project)
    page_edited(project)
    key_beside(project)
    code, printed = project.run("check", "--format", form, "cassettes/hotpotqa")
    assert printed == exact
    assert code == 5


def test_data_for_programs(project: Copy) -> None:
    """`--json` is `--format json`: findings with hashes, diff, episodes, calls and commands; ASCII."""
    trailing_blank(project)
    code, printed = project.run("check", "--json")
    assert (code, printed) == project.run("check", "--format", "json")
    data = json.loads(printed.encode("ascii"))
    assert (code, data["exit_code"], data["counts"]) == (1, 1, {"prompt changed": 24})
    (finding,) = data["findings"]
    assert finding["subject"] == "hotpotqa/paper/react"
    assert (finding["file"], finding["line"]) == (PROMPT, 25)
    assert finding["llm_calls"] == {"at_least": 24, "expected": 95, "estimate": True}
    assert finding["episodes"][1]["keys"] == [str(key) for key in range(20)]
    assert {len(finding["recorded"]), len(finding["now"])} == {64}
    assert finding["diff"].startswith("--- recorded\n+++ now\n")
    assert finding["commands"][0] == "reactrepro accept hotpotqa/paper/react"
    assert data["provenance"]["counts"] == {"recorded": 23, "transcribed": 1}
    assert len(data["episodes"]) == 24


def test_github_gets_a_summary_of_the_step(project: Copy, tmp_path: Path, exact: object) -> None:
    """Markdown is appended to the file that GITHUB_STEP_SUMMARY names; paths count from the repository's root."""
    trailing_blank(project)
    file = tmp_path / "summary.md"
    file.write_text("# Before\n", encoding="utf-8")
    variables = {"GITHUB_STEP_SUMMARY": str(file), "GITHUB_WORKSPACE": str(project.root.parent)}
    code, printed = project.run("check", "--format", "github", "cassettes/hotpotqa", own=True, **variables)
    assert code == 1
    assert file.read_text("utf-8") == exact
    assert f"::error file={project.root.name}/{PROMPT},title=reactrepro%3A prompt changed,line=25::" in printed


@pytest.mark.case("B43")
def test_a_prompt_is_accepted_by_people_only(project: Copy, exact: object) -> None:
    """`accept` shows what it agrees to; a dry run writes nothing; where CI is set it is refused."""
    trailing_blank(project)
    lock = project.root / "prompts.lock"
    before = lock.read_bytes()
    project.write("prompts.lock", before)
    code, printed = project.run("accept", own=True, CI="true")
    assert (code, lock.read_bytes()) == (2, before)
    assert "CI is set" in printed
    code, printed = project.run("accept", "--dry-run")
    assert (code, lock.read_bytes()) == (0, before)
    assert printed == exact
    assert project.run("accept", "hotpotqa")[0] == 0
    assert project.run("accept")[1] == "prompts.lock holds these prompts as they are: nothing to accept.\n"
    code, printed = project.run("accept", "hotpotqa/nope")
    assert (code, "is no prompt of this project" in printed) == (2, True)


def test_the_projects_own_lock_is_what_accept_writes(project: Copy) -> None:
    """The committed prompts.lock holds every packaged prompt as it is."""
    project.remove("prompts.lock")
    code, printed = project.run("accept", "--json")
    assert (code, json.loads(printed)["written"]) == (0, True)
    assert (project.root / "prompts.lock").read_bytes() == (checkout() / "prompts.lock").read_bytes()


@pytest.mark.case("B43")
def test_the_lock_alone_can_be_missed_by_no_part_of_the_project(project: Copy) -> None:
    """A prompt that no recording uses is locked, too: its change fails, and names its file."""
    project.edit("reactrepro/prompts/hotpotqa/paper/cot.txt", "Let's think", "Let us think")
    code, printed = project.run("check", "--quiet")
    assert code == 1
    assert printed.startswith("prompt changed: hotpotqa/paper/cot is not as prompts.lock has it")
    assert printed.endswith("24 recordings checked: 24 ok; 1 problem besides.\n")
    assert project.run("check", "--quiet", PUBLISHED)[0] == 0


def test_the_gate_is_read_only(project: Copy) -> None:
    """`check` changes no file, whatever it finds."""
    several(project)
    before = {path: path.read_bytes() for path in project.root.rglob("*") if path.is_file()}
    project.run("check")
    assert {path: path.read_bytes() for path in project.root.rglob("*") if path.is_file()} == before


def test_the_page_on_the_gate_has_every_class() -> None:
    """docs/gate.md lists each class, and `check --help` names it."""
    page = (checkout() / "docs" / "gate.md").read_text("utf-8")
    named = {name for row in re.findall(r"(?m)^\| ([^|]+) \| \d", page) for name in row.split(", ")}
    assert named >= {*CLASSES, "prompt not locked", "lock without prompt"} - {STALE}
    helped = " ".join((check.help or "").split())
    assert [name for name in (*CLASSES, "prompt not locked", "lock without prompt") if name not in helped] == []
