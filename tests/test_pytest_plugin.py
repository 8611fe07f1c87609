"""The pytest plugin, in pytest runs of its own: projects made here, with recordings of an invented world."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from benchmarks.installed import installed
from reactrepro import cli, prompts
from reactrepro.cassettes.runs import Run
from reactrepro.runs.script import scripted_episode, scripted_run

from .world import BAY, BAY_REPLIES, FOUNDER, FOUNDER_REPLIES, SITE, World

ROOT = Path(__file__).parents[1]
PLUGIN = "reactrepro" if entry_points(group="pytest11", name="reactrepro") else "reactrepro.pytest_plugin"
TAKEN = ["record_mode", "vcr", "vcr_config", "block_network", "default_cassette_name", "disable_recording", "snapshot"]


class Project:
    """A user's project: a prompt of its own, two recordings made with it, and whatever tests are written into it."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester, self.root = pytester, pytester.path
        self.prompt = self.root / "prompts" / "hotpotqa" / "mine" / "react.txt"
        self.prompt.parent.mkdir(parents=True)
        self.prompt.write_bytes(b"".join(path.read_bytes() for path in prompts.files("hotpotqa", "react", "paper")))
        self.world = World(self.root)
        shutil.rmtree(self.world.cassettes)
        self.run = self.new_run("made-up")
        self.record(FOUNDER, FOUNDER_REPLIES)
        self.record(BAY, BAY_REPLIES)

    def new_run(self, name: str, **fields: str) -> Run:
        """Make a run under the project's own prompt."""
        made = {"settings": self.world.settings, "site": SITE, "prompt": "mine"} | fields
        return scripted_run(self.world.cassettes, "hotpotqa", name, **made)  # type: ignore[arg-type]

    def record(self, question: object, replies: list[str], run: Run | None = None) -> Path:
        """Record an episode."""
        return scripted_episode(
            run or self.run,
            question,  # type: ignore[arg-type]
            replies,
            snapshots=[self.world.snapshot],
            prompt_roots=[self.root / "prompts"],
        )

    def edit(self, old: bytes = b"was Milhous. \n", new: bytes = b"was Milhous.\n") -> None:
        """Change the prompt."""
        text = self.prompt.read_bytes()
        assert old in text
        self.prompt.write_bytes(text.replace(old, new))

    def pytest(self, *words: str, plugins: tuple[str, ...] = ()) -> pytest.RunResult:
        """Run pytest here."""
        chosen = [word for name in (PLUGIN, *plugins) for word in ("-p", name)]
        return self.pytester.runpytest_inprocess(*chosen, *words)

    def names(self, *words: str) -> list[str]:
        """The ids of the tests that pytest collects."""
        found = self.pytest("--collect-only", "-q", *words)
        return [line for line in found.outlines if "::" in line]

    def explained(self, *words: str) -> str:
        """What `reactrepro check` says of the first recording that is not ok."""
        done = subprocess.run(
            [sys.executable, "-m", "reactrepro", "check", *words],
            cwd=self.root, capture_output=True, encoding="utf-8", check=False,
            env={**os.environ, "PYTHONPATH": str(Path(cli.__file__).parents[2]), "PYTHONUTF8": "1"},
        )  # fmt: skip
        return done.stdout.split("\n\n")[0]


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project; child processes find this very reactrepro, too."""
    monkeypatch.setenv("PYTHONPATH", str(Path(cli.__file__).parents[2]))
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("COLUMNS", "300")
    return Project(pytester)


TEST = """
    import pytest

    @pytest.mark.reactrepro(task="hotpotqa", index=0)
    def test_founder(reactrepro_episode, reactrepro_prompt, reactrepro_wiki):
        assert reactrepro_episode.score.em
        assert reactrepro_episode.trajectory.answer == "Ada Marlow"
        assert list(reactrepro_prompt) == [1, 2, 3]
        assert reactrepro_prompt[1].endswith("Question: Who founded the town on Harlow Bay?\\nThought 1:")
        assert reactrepro_prompt.reprompts == {}
        assert list(reactrepro_wiki.pages) == ["Vorland"]
        assert reactrepro_wiki.pages["Vorland"].text.startswith("Vorland is a town in Quill.")
        assert reactrepro_wiki.page("Vorland") is reactrepro_wiki.pages["Vorland"]
        assert reactrepro_wiki.page("Harlow Bay").kind == "article"
        assert reactrepro_wiki.observations[2].startswith("(Result 1 / 1)")
        with pytest.raises(KeyError, match="no round 4; the episode has 3"):
            reactrepro_prompt[4]
"""


# --- marked tests ---------------------------------------------------------------------------------------------------


def test_a_marked_test_gets_the_episode_its_prompts_and_its_pages(project: Project) -> None:
    """What was recorded, replayed under the project's own prompt and pages."""
    project.pytester.makepyfile(TEST)
    project.pytest().assert_outcomes(passed=1)


def test_a_failing_replay_fails_the_test_in_the_words_of_check(project: Project) -> None:
    """Not as an error, and before the test's own assertions; with -vv, as `check --verbose` says it."""
    project.pytester.makepyfile(TEST)
    project.edit()
    for words, check in (((), ()), (("-vv",), ("--verbose",))):
        done = project.pytest(*words)
        done.assert_outcomes(failed=1)
        explained = project.explained(*check, "cassettes/hotpotqa/react/made-up/0.yaml")
        assert explained.startswith("prompt changed: hotpotqa/")
        assert "prompts/hotpotqa/mine/react.txt" in explained
        assert explained in done.stdout.str()
    assert "--- recorded" in explained
    assert "FAILED test_a_failing_replay_fails_the_test_in_the_words_of_check.py::test_founder - " in done.stdout.str()


def test_a_mark_alone_replays(project: Project) -> None:
    """A marked test that asks for no fixture is not a test that cannot fail; its unmarked sibling is left alone."""
    project.pytester.makepyfile(
        """
        import pytest

        marked = pytest.mark.reactrepro("hotpotqa", 0, run="made-up")

        @pytest.mark.parametrize("number", [pytest.param(1, marks=marked), 2])
        def test_one(number):
            pass
        """
    )
    project.pytest().assert_outcomes(passed=2)
    project.edit()
    project.pytest().assert_outcomes(passed=1, failed=1)


def test_a_fixture_of_the_users_own_does_not_hide_why(project: Project) -> None:
    """A fixture that stumbles over the missing trajectory is answered with the reason that it is missing."""
    project.pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def answer(reactrepro_episode):
            return reactrepro_episode.trajectory.answer

        @pytest.mark.reactrepro(task="hotpotqa", index=0)
        def test_answer(answer):
            assert answer == "Ada Marlow"

        @pytest.mark.xfail(strict=True)
        @pytest.mark.reactrepro(task="hotpotqa", index=0)
        def test_known():
            pass
        """
    )
    project.edit()
    done = project.pytest()
    done.assert_outcomes(errors=1, xfailed=1)
    assert "AttributeError" not in done.stdout.str()
    assert project.explained("cassettes/hotpotqa/react/made-up/0.yaml") in done.stdout.str()


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ("", "no episode: mark the test"),
        ("@pytest.mark.reactrepro(index=0)", "the task is missing. It takes task, index, method and run."),
        ("@pytest.mark.reactrepro(task='hotpotqa', idx=0)", "unknown: idx"),
        ("@pytest.mark.reactrepro('hotpotqa', 0, 'react', 'made-up', 1)", "more than four arguments"),
        ("@pytest.mark.reactrepro(task='weather')", "missing: no recording fits weather."),
        ("@pytest.mark.reactrepro(task='hotpotqa', index=9)", "episode 9: it is not recorded."),
        ("@pytest.mark.reactrepro(task='hotpotqa', index='0-1')", "usage: index='0-1' names 2 episodes"),
        ("@pytest.mark.reactrepro(task='hotpotqa', index='?')", "usage: '?' is no index"),
    ],
)
def test_a_mark_that_names_no_episode_says_what_is_wrong(project: Project, mark: str, said: str) -> None:
    """The test does not pass, and there is no traceback."""
    project.pytester.makepyfile(f"import pytest\n\n{mark}\ndef test_it(reactrepro_episode):\n    pass\n")
    done = project.pytest()
    assert done.ret == 1
    assert said in done.stdout.str()
    assert "Traceback" not in done.stdout.str()
    assert "pytest_plugin.py" not in done.stdout.str()


def test_the_mark_is_known_and_helped(project: Project) -> None:
    """`--strict-markers` accepts it, `--markers` and `--fixtures` explain, and nothing is named otherwise."""
    project.pytester.makepyfile(TEST)
    project.pytest("--strict-markers").assert_outcomes(passed=1)
    assert (
        "@pytest.mark.reactrepro(task, index=None, method=None, run=None): " in project.pytest("--markers").stdout.str()
    )
    out = project.pytest("--fixtures").stdout.str()
    ours = re.search(r"fixtures defined from reactrepro\.pytest_plugin -+\n(.*?)\n-{5}", out + "\n-----", re.DOTALL)
    assert ours is not None
    names = re.findall(r"^(\w+) -- ", ours[1], re.MULTILINE)
    assert names == ["reactrepro_episode", "reactrepro_prompt", "reactrepro_wiki"]


# --- recordings as tests --------------------------------------------------------------------------------------------

ZERO, ONE = (f"cassettes/hotpotqa/react/made-up/{n}.yaml::hotpotqa/react/made-up/{n}" for n in (0, 1))


def test_nothing_is_collected_unless_asked_for(project: Project) -> None:
    """An installed plugin adds no test to anybody's project."""
    project.pytester.makepyfile("def test_one():\n    pass\n")
    assert project.names() == ["test_nothing_is_collected_unless_asked_for.py::test_one"]


def test_the_setting_makes_every_recording_a_test(project: Project) -> None:
    """With `testpaths` and without; not beside a file that was asked for; each can be run alone, by its id."""
    project.root.joinpath("tests").mkdir()
    project.root.joinpath("tests", "test_one.py").write_text("def test_one():\n    pass\n")
    one = "tests/test_one.py::test_one"
    project.pytester.makeini("[pytest]\nreactrepro_recordings = cassettes\n")
    assert sorted(project.names()) == sorted([ZERO, ONE, one])
    assert project.names("tests") == [one]
    assert project.names("cassettes") == [ZERO, ONE]
    assert project.names("cassettes/hotpotqa/react/made-up/1.yaml") == [ONE]
    assert project.names(ONE) == [ONE]
    assert project.names("-k", "made-up/1") == [ONE]
    assert project.names("-m", "not reactrepro") == [one]
    project.pytester.makeini("[pytest]\ntestpaths = tests\nreactrepro_recordings = cassettes\n")
    assert project.names() == [one, ZERO, ONE]
    project.pytest().assert_outcomes(passed=3)
    assert "reactrepro: recordings in " in project.pytest().stdout.str()


def test_the_option_takes_the_settings_place_and_always_collects(project: Project) -> None:
    """Beside files that were asked for, too; a folder elsewhere brings its own pages and prompts along."""
    project.pytester.makepyfile(test_one="def test_one():\n    pass\n")
    assert sorted(project.names("--reactrepro-recordings", "cassettes")) == sorted([ZERO, ONE, "test_one.py::test_one"])
    assert project.names("test_one.py", "--reactrepro-recordings=cassettes") == ["test_one.py::test_one", ZERO, ONE]
    package = project.root / "package"
    package.mkdir()
    for name in ("cassettes", "wiki_snapshot", "prompts"):
        project.root.joinpath(name).rename(package / name)
    project.pytest("--reactrepro-recordings", "package/cassettes").assert_outcomes(passed=3)
    project.pytester.makepyfile(test_one=TEST)
    project.pytest("--reactrepro-recordings", "package/cassettes").assert_outcomes(passed=3)


def test_a_folder_without_recordings_is_a_usage_error(project: Project) -> None:
    """A gate that looks into the wrong folder is not green."""
    project.root.joinpath("empty").mkdir()
    for folder, said in (("absent", "is no folder"), ("empty", "holds no recording")):
        done = project.pytest("--reactrepro-recordings", folder)
        assert done.ret == pytest.ExitCode.USAGE_ERROR
        assert said in done.stderr.str()
    assert project.pytest("--help", "--reactrepro-recordings", "absent").ret == 0


def test_a_failing_recording_prints_what_check_prints(project: Project) -> None:
    """The same explanation, and its head in the line that sums up; nothing of pytest's own."""
    project.edit()
    done = project.pytest("--reactrepro-recordings", "cassettes")
    done.assert_outcomes(failed=2)
    explained = project.explained("cassettes/hotpotqa/react/made-up/0.yaml")
    assert explained in done.stdout.str()
    head = re.escape(explained.split("\n")[0])
    assert re.search(rf"^FAILED {re.escape(ZERO)} - (Failed: )?{head}$", done.stdout.str(), re.MULTILINE)
    assert "Traceback" not in done.stdout.str()
    project.edit(b"was Milhous.\n", b"was Milhous. \n")
    done = project.pytest("--reactrepro-recordings", "cassettes", "--lf")
    done.assert_outcomes(passed=2)


@pytest.mark.case("B43")
def test_what_is_missing_or_astray_fails(project: Project) -> None:
    """Asked for and not recorded, an infra error, a run that cannot be read, a file without a run, a wrong name."""
    asked = project.new_run("asked", selection="0-2")
    project.record(FOUNDER, FOUNDER_REPLIES, asked)
    asked.error_path("1").write_text("{}", "ascii")
    broken = project.new_run("broken")
    project.record(BAY, BAY_REPLIES, broken)
    (broken.folder / "run.json").write_text("{", "ascii")
    lost = project.new_run("build")  # a name that pytest passes over
    project.record(BAY, BAY_REPLIES, lost)
    (lost.folder / "run.json").unlink()
    shutil.copy(project.run.path("0"), project.run.path("7"))
    done = project.pytest("--reactrepro-recordings", "cassettes", "-rA")
    rows = re.findall(r"^(PASSED|FAILED) \S*::hotpotqa/react/(\S+)", done.stdout.str(), re.MULTILINE)
    assert {name for word, name in rows if word == "PASSED"} == {"asked/0", "made-up/0", "made-up/1"}
    assert {name for word, name in rows if word == "FAILED"} == {
        "asked/1", "asked/2", "broken/1", "broken/run.json", "build/1", "made-up/7",
    }  # fmt: skip
    out = done.stdout.str()
    for said in ("ended in an infra error", "and it is not recorded", "holds recordings, but no run.json", "renamed"):
        assert said in out


def test_a_recording_that_is_ignored_is_not_collected(project: Project) -> None:
    """`--ignore` and `--deselect` work as for any test."""
    words = ("--reactrepro-recordings", "cassettes")
    run = project.new_run("dist")
    project.record(BAY, BAY_REPLIES, run)
    dist = "cassettes/hotpotqa/react/dist/1.yaml::hotpotqa/react/dist/1"
    assert project.names(*words) == [dist, ZERO, ONE]
    assert project.names(*words, "--ignore", "cassettes/hotpotqa/react/dist") == [ZERO, ONE]
    assert project.names(*words, "--deselect", ZERO) == [dist, ONE]


# --- beside other plugins -------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.case("B43")
def test_workers_give_the_same_verdicts(project: Project) -> None:
    """With `-n 2`: the same tests, the same failures, from the setting and from the option."""
    project.pytester.makepyfile(TEST)
    project.pytester.makeini("[pytest]\nreactrepro_recordings = cassettes\n")
    for words in ((), ("--reactrepro-recordings=cassettes",)):
        project.pytest("-n", "2", *words, plugins=_loaded("xdist")).assert_outcomes(passed=3)
    project.edit()
    done = project.pytest("-n", "2", plugins=_loaded("xdist"))
    done.assert_outcomes(failed=3)
    assert project.explained("cassettes/hotpotqa/react/made-up/0.yaml") in done.stdout.str()


BESIDE = """
    import socket
    import pytest

    @pytest.fixture
    def vcr_config():
        return {"record_mode": "none"}

    @pytest.mark.vcr
    @pytest.mark.block_network
    @pytest.mark.reactrepro(task="hotpotqa", index=0)
    def test_both(reactrepro_prompt, record_mode, snapshot):
        assert record_mode == "none"
        assert reactrepro_prompt[3] == snapshot
        with pytest.raises(Exception, match="socket|Network"):
            socket.create_connection(("127.0.0.1", 9))
"""


def test_beside_pytest_recording_pytest_socket_and_syrupy(project: Project) -> None:
    """All four in one test: the network stays blocked, the snapshot is compared, no cassette is written."""
    project.pytester.makepyfile(BESIDE)
    project.pytester.makeini("[pytest]\nreactrepro_recordings = cassettes\nfilterwarnings = ignore\n")
    words = ("--disable-socket", "--block-network", "--record-mode=none")
    project.pytest(*words, "--snapshot-update").assert_outcomes(passed=3)
    project.pytest(*words).assert_outcomes(passed=3)
    project.pytest(*words, "-k", "made-up").assert_outcomes(passed=2, deselected=1)
    assert not list(project.root.glob("cassettes/test_*"))


def test_nothing_of_others_is_defined(pytester: pytest.Pytester) -> None:
    """No fixture, option or mark of pytest-recording's or syrupy's; every name of ours begins with reactrepro."""
    from reactrepro import pytest_plugin

    names = {name for name in vars(pytest_plugin) if not name.startswith(("_", "pytest"))}
    assert not names & set(TAKEN)
    source = Path(pytest_plugin.__file__).read_text("utf-8")
    assert re.findall(r'"(--[a-z-]+)"', source) == ["--reactrepro-recordings"] * source.count(
        '"--reactrepro-recordings"'
    )
    assert [name for name in vars(pytest_plugin) if name.startswith("reactrepro_")] == [
        "reactrepro_episode",
        "reactrepro_prompt",
        "reactrepro_wiki",
    ]


def _loaded(name: str) -> tuple[str, ...]:
    return () if entry_points(group="pytest11", name=name) else (name,)


# --- what it costs --------------------------------------------------------------------------------------------------


def test_a_run_that_does_not_use_it_imports_nothing_of_it(project: Project) -> None:
    """Of reactrepro the plugin alone, and none of its dependencies."""
    project.pytester.makepyfile("def test_one():\n    pass\n")
    project.pytester.makeconftest(
        """
        import json, sys
        from pathlib import Path

        def pytest_unconfigure(config):
            Path("modules.json").write_text(json.dumps(sorted(sys.modules)))
        """
    )
    words = ["-p", PLUGIN, "-p", "no:recording", "-p", "no:syrupy", "-p", "no:hypothesispytest", "-p", "no:anyio"]
    done = project.pytester.runpytest_subprocess(*words)
    done.assert_outcomes(passed=1)
    modules = set(json.loads(project.root.joinpath("modules.json").read_text()))
    assert {name for name in modules if name.startswith("reactrepro")} == {"reactrepro", "reactrepro.pytest_plugin"}
    assert not {name.partition(".")[0] for name in modules} & {"click", "msgspec", "yaml", "vcr", "selectolax"}


def test_an_installed_package_brings_the_plugin_along(project: Project) -> None:
    """By the entry point that pyproject.toml names, without a word on the command line or in a conftest."""
    declared = tomllib.loads(ROOT.joinpath("pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    assert declared["pytest11"] == {"reactrepro": "reactrepro.pytest_plugin"}
    site = project.root / "site"
    installed(site)
    project.pytester.makepyfile(TEST)
    env = {name: value for name, value in os.environ.items() if name != "PYTEST_DISABLE_PLUGIN_AUTOLOAD"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--strict-markers", "--reactrepro-recordings", "cassettes"],
        cwd=project.root, env=env | {"PYTHONPATH": f"{site}{os.pathsep}{ROOT}"},
        capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 passed" in done.stdout
    assert re.search(r"^plugins: .*\breactrepro-", done.stdout, re.MULTILINE)
