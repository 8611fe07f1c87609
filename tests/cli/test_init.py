"""`reactrepro init`: what it makes is green at once, locks the user's own prompt, and leaves what is there alone."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from reactrepro import cli, prompts
from reactrepro.cassettes.model import interactions_sha256
from reactrepro.cassettes.runs import Run
from reactrepro.runs.init import CI, STARTER, init
from reactrepro.runs.roots import packaged

from ..shell import Shell

posix = pytest.mark.skipif(
    sys.platform == "win32" or shutil.which("bash") is None, reason="the programs that stand in are for a POSIX shell"
)

PACKAGED = Run.at(packaged() / "cassettes" / "hotpotqa" / "react" / "deepseek-v3-250324")
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command in an empty folder; return (exit code, output, errors)."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str, str]:
        code = cli.run(words)
        return (code, *capsys.readouterr())

    return run


@pytest.fixture
def shell(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, offline: dict[str, str]) -> Shell:
    """A shell in an empty folder."""
    return Shell(tmp_path_factory.mktemp("shell"), offline, tmp_path)


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def edit(folder: Path, name: str = "mine") -> None:
    """Take a trailing blank away from the project's own prompt."""
    prompt = folder / "prompts" / "hotpotqa" / name / "react.txt"
    before = prompt.read_bytes()
    prompt.write_bytes(before.replace(b"was Milhous. \n", b"was Milhous.\n"))
    assert prompt.read_bytes() != before


@posix
def test_a_fresh_project_is_green_and_an_edit_of_its_prompt_is_red(shell: Shell) -> None:
    """Offline, `check` and pytest agree before and after; each names the user's own file."""
    assert shell.run("reactrepro init my-agent").returncode == 0
    shell.run("cd my-agent")
    done = shell.run("reactrepro check cassettes")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "1 recording checked: 1 ok.")
    done = shell.run("pytest")
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout
    edit(shell.here)
    done = shell.run("reactrepro check cassettes")
    assert done.returncode == 1
    assert "prompts/hotpotqa/mine/react.txt" in done.stdout
    done = shell.run("pytest")
    assert done.returncode == 1
    assert "4 failed" in done.stdout
    assert "prompts/hotpotqa/mine/react.txt changed since it was recorded" in done.stdout


def test_the_recording_is_the_packaged_one_under_another_prompts_name(command: Command, tmp_path: Path) -> None:
    """Exchange, provenance, outcome, pages and time are those of the packaged episode; the note says what is not."""
    assert command("init", "--name", "polite")[0] == 0
    copied = Run.at(tmp_path / "cassettes" / "hotpotqa" / "react" / "deepseek-v3-250324")
    mine, theirs = copied.read("0"), PACKAGED.read("0")
    assert interactions_sha256(mine.interactions) == interactions_sha256(theirs.interactions)
    assert mine.meta.interactions == theirs.meta.interactions
    for name in ("provenance", "filled_in", "time", "versions", "outcome", "pages", "question", "gold", "sent", "host"):
        assert getattr(mine.meta, name) == getattr(theirs.meta, name)
    assert mine.meta.prompt.sha256 == theirs.meta.prompt.sha256 == prompts.load("hotpotqa", "react", "paper").sha256
    assert sorted(mine.meta.prompt.files) == [
        "prompts/hotpotqa/polite/react.instruction.txt",
        "prompts/hotpotqa/polite/react.txt",
    ]
    assert (copied.config.prompt, copied.config.provenance) == ("polite", "transcribed")
    assert copied.config.note.startswith(f"Copied by `reactrepro init` from {PACKAGED.label}, {PACKAGED.id[:12]}; ")
    assert "'paper' is 'polite' here" in copied.config.note
    assert PACKAGED.config.note in copied.config.note


@pytest.mark.parametrize("ci", [None, "github", "gitlab"])
def test_a_dry_run_lists_what_a_real_one_writes_and_writes_nothing(command: Command, tmp_path: Path, ci: str) -> None:
    """Then everything listed is there, and nothing else; a second run writes nothing."""
    words = ("init", "project", "--json", *(("--ci", ci) if ci else ()))
    planned = json.loads(command(*words, "--dry-run")[1])
    assert list(tmp_path.iterdir()) == []
    code, out, err = command(*words)
    made = json.loads(out)
    assert (code, err) == (0, "")
    assert [one["path"] for one in planned["files"]] == [one["path"] for one in made["files"]]
    assert {one["state"] for one in planned["files"]} == {"planned"}
    before = files(tmp_path / "project")
    assert set(before) == {one["path"] for one in made["files"]}
    assert (CI.get(ci) in before) == (ci is not None)
    again = json.loads(command(*words)[1])
    assert {one["state"] for one in again["files"]} == {"left"}
    assert files(tmp_path / "project") == before


EVERY = sorted({made.path for ci in CI for made in init(Path("nowhere"), ci=ci, dry_run=True)})


@pytest.mark.parametrize("path", EVERY)
def test_what_is_there_is_never_written_to(command: Command, tmp_path: Path, path: str) -> None:
    """Whichever file is there already keeps its bytes, and is named; exit code 0."""
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(b"mine \r\n")
    ci = "gitlab" if "gitlab" in path else "github"
    code, out, err = command("init", "--ci", ci)
    assert (code, err) == (0, "")
    assert file.read_bytes() == b"mine \r\n"
    left = [line.partition(": ")[0].removeprefix("left ") for line in out.splitlines() if line.startswith("left ")]
    assert any(path == one or path.startswith(f"{one}/") for one in left), out


def test_a_prompt_of_that_name_that_is_there_is_not_locked_to_another_text(command: Command, tmp_path: Path) -> None:
    """The recording, made with another text, is left out, which is said; with another --name it comes along."""
    home = tmp_path / "prompts" / "hotpotqa" / "mine"
    home.mkdir(parents=True)
    (home / "react.txt").write_bytes(b"Another.")
    out = command("init")[1]
    assert "left cassettes/hotpotqa/react/deepseek-v3-250324: left out: prompts/hotpotqa/mine is not the text" in out
    assert not (tmp_path / "cassettes").exists()
    assert command("init", "--name", "second")[0] == 0
    assert command("check", "cassettes")[0] == 0


def test_pytests_settings_elsewhere_are_not_overruled(command: Command, tmp_path: Path) -> None:
    """Where pyproject.toml is, no pytest.ini is made, and the line to add is named, unless it is there."""
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n", "utf-8")
    out = command("init")[1]
    assert "left pyproject.toml: it is there already; to test every recording, add to pytest's settings: react" in out
    assert not (tmp_path / "pytest.ini").exists()
    (tmp_path / "pyproject.toml").write_text("[tool.pytest]\nreactrepro_recordings = cassettes\n", "utf-8")
    assert "to test every recording" not in command("init")[1]


def test_attributes_that_lack_a_line_are_named(command: Command, tmp_path: Path) -> None:
    """Only what is not there yet."""
    (tmp_path / ".gitattributes").write_text("* text=auto\ncassettes/** -text\n*.gz binary\n", "utf-8")
    out = command("init")[1]
    assert "left .gitattributes: it is there already; add to it: prompts/** -text; wiki_snapshot/** -text." in out


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_git_leaves_the_projects_bytes_alone(command: Command, tmp_path: Path) -> None:
    """Prompts, recordings and pages are exempt from line-end conversion; a test file is not."""
    assert command("init")[0] == 0
    git = ["git", "-c", "init.defaultBranch=main"]
    subprocess.run([*git, "init", "-q"], cwd=tmp_path, check=True)
    paths = [path for path in files(tmp_path) if not path.startswith(".git/")]
    done = subprocess.run(
        [*git, "check-attr", "text", *paths], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    exempt = {line.partition(": ")[0] for line in done.stdout.splitlines() if line.endswith(": unset")}
    assert exempt == {path for path in paths if path.split("/")[0] in {"prompts", "cassettes", "wiki_snapshot"}}


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--name", "paper"), 2, "cannot name a prompt of your own"),
        (("--name", "../x"), 2, "cannot name a prompt of your own"),
        (("--ci", "jenkins"), 2, "jenkins"),
        (("file",), 2, "file is no folder."),
        (("broken",), 4, "broken/prompts"),
    ],
)
def test_what_cannot_be_made_is_an_error(
    command: Command, tmp_path: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    """Usage 2, disk 4; and a message."""
    (tmp_path / "file").touch()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "prompts").touch()
    found, _, err = command("init", *words)
    assert (found, said in err) == (code, True), err


def test_half_a_group_is_taken_back(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk leaves no run without its episode, which the next attempt would leave as it is."""
    real = Path.open

    def full(self: Path, *given: Any, **more: Any) -> Any:
        if self.name == "0.yaml":
            raise OSError(28, "No space left on device", str(self))
        return real(self, *given, **more)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", full)
        code, _, err = command("init")
    assert (code, "No space left" in err) == (4, True)
    assert not list(tmp_path.rglob("run.json"))
    assert command("init")[0] == 0
    assert command("check", "cassettes")[0] == 0


# --- CI -------------------------------------------------------------------------------------------------------------


def workflow(folder: Path, ci: str) -> Any:
    """The workflow, read; GitHub's `on` is YAML 1.1's true."""
    return yaml.safe_load(folder.joinpath(CI[ci]).read_text("utf-8"))


@posix
@pytest.mark.parametrize("ci", ["github", "gitlab"])
def test_the_gates_commands_are_green_in_a_fresh_project(shell: Shell, ci: str) -> None:
    """The commands of the job, as they stand in the file, in order; red once the prompt is edited."""
    assert shell.run(f"reactrepro init --ci {ci}").returncode == 0
    made = workflow(shell.here, ci)
    if ci == "github":
        commands = [step["run"] for step in made["jobs"]["check"]["steps"] if "run" in step]
        variables = made["env"]
    else:
        commands, variables = made["reactrepro-check"]["script"], made["variables"]
    assert [command.split()[0] for command in commands] == ["python", "reactrepro", "python"]
    for command in commands:
        done = shell.run(command, **variables)
        assert done.returncode == 0, done.stdout
    edit(shell.here)
    assert [shell.run(command, **variables).returncode for command in commands] == [0, 1, 1]


def test_the_gate_has_no_secrets_and_runs_on_every_push(command: Command, tmp_path: Path) -> None:
    """Keys stand in the manual job alone; no expression stands in a command; nothing may be written."""
    assert command("init", "--ci", "github", "--install", 'reactrepro @ git+https://example.org/x "y"')[0] == 0
    made = workflow(tmp_path, "github")
    assert set(made[True]) == {"push", "pull_request", "workflow_dispatch"}
    assert made["permissions"] == {"contents": "read"}
    assert made["env"] == {"REACTREPRO": 'reactrepro @ git+https://example.org/x "y"'}
    check, record = made["jobs"]["check"], made["jobs"]["record"]
    assert "secrets." not in json.dumps(check)
    assert check["if"] == "github.event_name != 'workflow_dispatch'"
    assert record["if"] == "github.event_name == 'workflow_dispatch'"
    for job in (check, record):
        assert not [step for step in job["steps"] if "${{" in step.get("run", "")]
    assert "--format github" in json.dumps(check)


def test_gitlabs_recording_is_manual(command: Command, tmp_path: Path) -> None:
    """It never runs by itself, and does not hold up a pipeline."""
    assert command("init", "--ci", "gitlab")[0] == 0
    made = workflow(tmp_path, "gitlab")
    assert made["reactrepro-record"]["rules"] == [{"when": "manual", "allow_failure": True}]
    assert "rules" not in made["reactrepro-check"]
    assert "KEY" not in json.dumps(made)


@posix
@pytest.mark.parametrize("ci", ["github", "gitlab"])
def test_the_manual_jobs_command_is_understood(shell: Shell, ci: str) -> None:
    """It stops at the missing key, exit code 2, and nowhere before."""
    assert shell.run(f"reactrepro init --ci {ci}").returncode == 0
    made = workflow(shell.here, ci)
    if ci == "github":
        (text,) = [step["run"] for step in made["jobs"]["record"]["steps"] if step.get("name") == "record"]
        values = {"MODEL": made[True]["workflow_dispatch"]["inputs"]["model"]["default"], "QUESTIONS": "0"}
    else:
        text, values = made["reactrepro-record"]["script"][-1], made["reactrepro-record"]["variables"]
    done = shell.run(text, **values)
    assert done.returncode == 2
    assert "ARK_API_KEY" in done.stdout


def test_what_init_copies_is_declared() -> None:
    """NOTICE.md of the project has the licence text of the package's own, to the letter."""
    notice = Path(__file__).parents[2].joinpath("NOTICE.md").read_text("utf-8")
    licence = "\n".join(line for line in notice.splitlines() if line.startswith(">"))
    assert licence in STARTER.joinpath("NOTICE.md").read_text("utf-8")
