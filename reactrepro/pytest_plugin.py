"""The pytest plugin: marker and fixtures for recorded episodes, and recordings collected as tests (docs/pytest.md).

Every pytest run on a machine that has reactrepro installed loads this module. So it imports pytest and nothing else;
what it needs is imported when a marked test runs, or when recordings are to be collected.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from .cassettes.runs import Run
    from .report.model import EpisodeReport
    from .runs.roots import Sources
    from .runs.seen import SeenWiki, SentPrompts

MARKER = "reactrepro"
EPISODE = "reactrepro_episode"
SETTING = "reactrepro_recordings"

_MARKER_HELP = (
    "reactrepro(task, index=None, method=None, run=None): a recorded episode. It is replayed before the test, and the "
    "test fails if the replay does."
)
_FOLDERS_HELP = "folders of recordings, each of which becomes a test (reactrepro)"

_FOLDERS = pytest.StashKey[tuple[Path, ...]]()
_WHY = pytest.StashKey[str]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the setting, and the option that takes its place."""
    parser.addini(SETTING, _FOLDERS_HELP, type="paths", default=[])
    parser.getgroup("reactrepro").addoption(
        "--reactrepro-recordings", action="append", metavar="DIR", default=[], help=f"collect {_FOLDERS_HELP}"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", _MARKER_HELP)


# --- recordings, collected ------------------------------------------------------------------------------------------


def _folders(config: pytest.Config) -> tuple[Path, ...]:
    """Return the folders of recordings: those of the option, else those of the setting."""
    if _FOLDERS not in config.stash:
        given = [config.invocation_params.dir / folder for folder in config.getoption("--reactrepro-recordings")]
        folders = given or config.getini(SETTING)
        config.stash[_FOLDERS] = tuple(dict.fromkeys(Path(folder).resolve() for folder in folders))
    return config.stash[_FOLDERS]


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Add the folders of recordings to what is collected.

    Those of the option always; those of the setting unless the user asked for particular files: who runs one test file
    does not want five hundred recordings beside it.
    """
    config = session.config
    for folder in _folders(config):
        if next(folder.rglob("run.json"), None) is None:
            what = "holds no recording" if folder.is_dir() else "is no folder"
            raise pytest.UsageError(f"{SETTING}: {folder} {what}. A folder of recordings is laid out as cassettes/.")
        if config.getoption("--reactrepro-recordings") or _everything(config):
            asked = [config.invocation_params.dir / arg.partition("::")[0] for arg in config.args]
            if not any(folder.is_relative_to(path.resolve()) for path in asked):
                config.args.append(str(folder))


def _everything(config: pytest.Config) -> bool:
    source, sources = config.args_source, pytest.Config.ArgsSource
    here = config.invocation_params.dir == config.rootpath
    return source is sources.TESTPATHS or (source is sources.INVOCATION_DIR and here)


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say which recordings are tests."""
    return [f"reactrepro: recordings in {folder}" for folder in _folders(config)]


@pytest.hookimpl(tryfirst=True)
def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave no run out because of its name, such as "build"; pytest passes over folders of that name elsewhere."""
    folders = _folders(config)
    if not folders or not any(collection_path.is_relative_to(folder) for folder in folders):
        return None
    ignored = [config.invocation_params.dir / path for path in config.getoption("ignore") or ()]
    unwanted = any(fnmatch(collection_path.name, pattern) for pattern in config.getini("norecursedirs"))
    return False if unwanted and collection_path.is_dir() and collection_path not in ignored else None


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Make a collector of a recording, and of a run's configuration."""
    if file_path.suffix not in {".yaml", ".json"}:
        return None
    if any(file_path.resolve().is_relative_to(folder) for folder in _folders(parent.config)):
        if file_path.suffix == ".yaml":
            return RecordingFile.from_parent(parent, path=file_path)
        if file_path.name == "run.json":
            return RunFile.from_parent(parent, path=file_path)
    return None


class RecordingFile(pytest.File):
    """An episode's file: one test."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the test."""
        *_, task, method, run, _ = self.path.resolve().parts
        yield RecordingItem.from_parent(self, name=f"{task}/{method}/{run}/{self.path.stem}")


class RunFile(pytest.File):
    """A run's configuration: a failing test for each episode that is missing, or could not be recorded."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield those tests; none for a run that is complete."""
        from .cassettes.runs import Run
        from .runs.verdict import lacking

        run = Run.at(self.path.parent)
        for key, why in lacking(run):
            yield RecordingItem.from_parent(self, name=f"{run.label}/{key or 'run.json'}", why=why)


class RecordingItem(pytest.Item):
    """Does for one recording what `reactrepro check FILE` does."""

    def __init__(self, *, why: str = "", **more: Any) -> None:
        super().__init__(**more)
        self._why = why
        self.add_marker(MARKER)

    def runtest(self) -> None:
        """Check; fail in the words of `check`."""
        from .runs.verdict import verdict

        beside = self.path.with_name("run.json").is_file()
        path = self.path if beside else self.path.parent
        if why := self._why or verdict(path, self._sources, verbose=_verbose(self)):
            pytest.fail(why, pytrace=False)

    @property
    def _sources(self) -> Sources:
        """The folder's own pages and prompts, which stand beside it."""
        from .runs.roots import sources

        folder = next(f for f in _folders(self.config) if self.path.resolve().is_relative_to(f))
        return sources((folder,), here=folder.parent)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Name the test by the recording alone."""
        return self.path, None, self.name


# --- a test's own episode -------------------------------------------------------------------------------------------


def pytest_itemcollected(item: pytest.Item) -> None:
    """Replay the episode of a marked test also where it asks for no fixture: a mark that checks nothing is a trap."""
    names = getattr(item, "fixturenames", None)
    if names is not None and EPISODE not in names and item.get_closest_marker(MARKER):
        item.fixturenames = [*names, EPISODE]  # type: ignore[attr-defined]  # not in place: siblings share the list


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Say why the replay failed where a fixture stumbles over what it lacks."""
    try:
        return (yield)
    except Exception:
        if why := item.stash.get(_WHY, None):
            pytest.fail(why, pytrace=False)
        raise


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Fail a test whose episode does not replay, in place of running it."""
    if why := item.stash.get(_WHY, None):
        pytest.fail(why, pytrace=False)


@pytest.fixture
def reactrepro_episode(request: pytest.FixtureRequest) -> EpisodeReport:
    """The replayed episode that the mark names: trajectory, score, turns. The test fails if the replay does."""
    from .errors import ReactReproError
    from .runs.replay import replay_episode
    from .runs.verdict import verdict_on

    try:
        where = _marked_sources(request.config)
        run, key = _episode(_arguments(request.node), where)
        report = replay_episode(run, key, where)
    except ReactReproError as error:
        pytest.fail(f"{error.kind}: {error}", pytrace=False)
    if not report.ok:
        request.node.stash[_WHY] = verdict_on(report, where, verbose=_verbose(request.node))
    return report


@pytest.fixture
def reactrepro_prompt(reactrepro_episode: EpisodeReport) -> SentPrompts:
    """The exact prompt text by round: `reactrepro_prompt[1]`; that of second calls in `.reprompts`."""
    from .runs.seen import SentPrompts

    return SentPrompts(reactrepro_episode.turns)


@pytest.fixture
def reactrepro_wiki(reactrepro_episode: EpisodeReport, request: pytest.FixtureRequest) -> SeenWiki:
    """What the episode read: `.pages` by query, `.observations` by step, and `.page(query)` for any page."""
    from .runs.seen import SeenWiki

    return SeenWiki.of(reactrepro_episode, _marked_sources(request.config))


def _arguments(item: pytest.Item) -> Mapping[str, str | None]:
    """Return what the closest mark says: task, index, method, run."""
    mark = item.get_closest_marker(MARKER)
    if mark is None:
        pytest.fail(f"no episode: mark the test, as @pytest.mark.{MARKER}(task='hotpotqa', index=0)", pytrace=False)
    names = ("task", "index", "method", "run")
    given = dict(zip(names, mark.args, strict=False)) | dict(mark.kwargs)
    wrong = sorted(given.keys() - set(names)) or ["more than four arguments"] * (len(mark.args) > len(names))
    if wrong or not given.get("task"):
        what = f"unknown: {', '.join(wrong)}" if wrong else "the task is missing"
        pytest.fail(f"@pytest.mark.{MARKER}: {what}. It takes task, index, method and run.", pytrace=False)
    return {name: None if given.get(name) is None else str(given[name]) for name in names}


def _episode(given: Mapping[str, str | None], where: Sources) -> tuple[Run, str]:
    """Return the episode; the packaged recordings count only where the project has none that fits the other words."""
    from .cassettes.library import Library
    from .errors import Usage
    from .runs.roots import packaged
    from .runs.select import choose

    words = [] if given["index"] is None else [given["index"]]
    task, method, name = given["task"], given["method"], given["run"]
    own = Library(tuple(root for root in where.library.roots if root != packaged() / "cassettes"))
    library = own if own.runs(task, method, name) else where.library
    chosen = choose(library, task, words, method=method, run=name).episodes
    if len(chosen) != 1:
        raise Usage(f"index={given['index']!r} names {len(chosen)} episodes, and a test has one; parametrize it.")
    return chosen[0]


def _marked_sources(config: pytest.Config) -> Sources:
    """Return where marked episodes are looked for: the folders of recordings, the root folder's own, the packaged."""
    from dataclasses import replace

    from .runs.roots import sources

    folders = _folders(config)
    pages = [folder.parent / "wiki_snapshot" for folder in folders]
    found = sources(folders, [path for path in pages if path.is_dir()], here=config.rootpath)
    others = [folder.parent / "prompts" for folder in folders if folder.parent != config.rootpath]
    own = [path for path in others if path.is_dir()]
    return replace(found, prompts=(*own, *found.prompts)) if own else found


def _verbose(item: pytest.Item) -> bool:
    return bool(item.config.get_verbosity() > 1)
