"""Init: a working project, with a prompt of its own, a recording that locks it, a test, and a gate for CI.

The recording is the packaged published episode under the project's own prompt, whose text is that of the paper. The
exchange, its provenance and its pages are copied unchanged; the prompt's name is another, and a note says so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from .. import __version__, prompts
from ..cassettes.model import PromptRef
from ..cassettes.runs import RUN_FILE, Run
from ..cassettes.write import cassette_bytes, run_bytes
from ..errors import DiskError, Usage
from ..wiki.entries import find
from .roots import packaged

TASK, METHOD, PROMPT = "hotpotqa", "react", "paper"
EXAMPLE, KEY = "deepseek-v3-250324", "0"
"""The packaged run that a project begins with: real, and to be recorded anew by anyone who has a key."""

STARTER = Path(__file__).resolve().parents[1] / "starter"
CI = {"github": ".github/workflows/reactrepro.yml", "gitlab": ".gitlab-ci.yml"}
SETTINGS = ("pytest.toml", ".pytest.toml", "pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
"""Files that pytest may have its settings in; a new pytest.ini could take the place of what stands there."""

State = Literal["written", "left", "planned"]


@dataclass(frozen=True)
class Made:
    """What became of one file.

    Attributes:
        path: relative to the project.
        state: ``written``; ``left`` as it stood, or out; ``planned``: nothing is written in a dry run.
        hint: why it was left, and what to do about it.
    """

    path: str
    state: State
    hint: str = ""


@dataclass(frozen=True)
class _Group:
    """Files that make sense together: all are written, or none.

    Attributes:
        files: path -> bytes.
        exists: the path that must not be there; "" for the only file's own.
        hint: what to say where it is.
        unless: why it is left out anyway; "" for no reason.
    """

    files: Mapping[str, bytes]
    exists: str = ""
    hint: str = ""
    unless: str = ""


def init(
    folder: Path, *, name: str = "mine", ci: str | None = None, install: str | None = None, dry_run: bool = False
) -> tuple[Made, ...]:
    """Make a project in *folder*. What is there already is never written to.

    Args:
        folder: need not exist.
        name: the name of the project's own prompt.
        ci: ``github`` or ``gitlab``, for a workflow of that kind.
        install: what CI hands to pip; default: this version of reactrepro.
        dry_run: say what would be done, and do nothing.

    Raises:
        Usage: *folder* is a file, or *name* can name no prompt.
        DiskError: it cannot be written.
    """
    if not prompts.is_name(name) or name in prompts.names_in(prompts.PACKAGED, TASK, METHOD):
        raise Usage(
            f"{name!r} cannot name a prompt of your own: use lower-case letters, digits, '-' and '_', beginning with a "
            "letter or digit, and no name of a packaged prompt."
        )
    if folder.exists() and not folder.is_dir():
        raise Usage(f"{folder} is no folder.")
    made: list[Made] = []
    try:
        for group in _groups(folder, name, ci, install or f"reactrepro=={__version__}"):
            made += _make(folder, group, dry_run)
    except OSError as error:
        raise DiskError.of(error) from error
    return tuple(made)


def _make(folder: Path, group: _Group, dry_run: bool) -> Iterator[Made]:
    there = group.exists or next(iter(group.files))
    if group.unless or _is_there(folder / there):
        yield Made(there, "left", group.unless or group.hint or "it is there already")
        return
    if not dry_run:
        _write(folder, group.files)
    for path in group.files:
        yield Made(path, "planned" if dry_run else "written")


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    written: list[Path] = []
    try:
        for path, data in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("xb") as handle:  # never over a file that came in between
                written.append(file)
                handle.write(data)
    except OSError:
        for file in written:  # half a group would be left as it is by the next attempt
            file.unlink(missing_ok=True)
        raise


def _is_there(path: Path) -> bool:
    if path.is_dir() and not path.is_symlink():
        return any(path.iterdir())
    return path.exists() or path.is_symlink()


def _groups(folder: Path, name: str, ci: str | None, install: str) -> Iterator[_Group]:
    texts = {file.name: file.read_bytes() for file in prompts.files(TASK, METHOD, PROMPT)}
    own = f"prompts/{TASK}/{name}"
    yield _Group({f"{own}/{file}": data for file, data in texts.items()}, exists=own)
    yield from _recording(folder, name)
    fill = {"{name}": name, "{install}": json.dumps(install)}
    yield _Group({"tests/test_recordings.py": _starter("test_recordings.py.txt", fill)})
    yield _settings(folder)
    yield _attributes(folder)
    yield _Group({"NOTICE.md": _starter("NOTICE.md", fill)}, hint="it is there already; whose texts were copied is "
                 "told in the notices of reactrepro")  # fmt: skip
    if ci is not None:
        yield _Group({CI[ci]: _starter(f"{ci}.yml", fill)}, hint="it is there already; `reactrepro init DIR --ci` in "
                     "an empty folder shows what to add")  # fmt: skip


def _recording(folder: Path, name: str) -> Iterator[_Group]:
    """The packaged episode, for the project's own prompt, and the pages it read."""
    base = packaged()
    run = Run.at(base / "cassettes" / TASK / METHOD / EXAMPLE)
    cassette, config = run.read(KEY), run.config
    prompt = prompts.load(TASK, METHOD, PROMPT)
    files = {file.name.replace(f"/{PROMPT}/", f"/{name}/"): file.sha256 for file in prompt.files}
    ref = PromptRef(name=name, sha256=prompt.sha256, files=files)
    note = f"Copied by `reactrepro init` from {run.label}, {run.id[:12]}; its prompt {PROMPT!r} is {name!r} here."
    home = f"cassettes/{TASK}/{METHOD}/{EXAMPLE}"
    recording = {
        f"{home}/{RUN_FILE}": run_bytes(replace(config, prompt=name, note=f"{note} {config.note}")),
        f"{home}/{KEY}.yaml": cassette_bytes(replace(cassette, meta=replace(cassette.meta, prompt=ref))),
    }
    yield _Group(recording, exists=home, unless=_another(folder, name, prompt.sha256))
    for pin in cassette.meta.pages:
        for entry in find([base / "wiki_snapshot"], pin.query, pin.site):
            place = entry.folder.relative_to(base).as_posix()
            pages = {f"{place}/{file.name}": file.read_bytes() for file in sorted(entry.folder.iterdir())}
            yield _Group(pages, exists=place)


def _another(folder: Path, name: str, sha256: str) -> str:
    """Return why the recording does not fit the prompt that is there already; "" where it does."""
    root = folder / "prompts"
    if not _is_there(root / TASK / name):
        return ""
    there = prompts.load(TASK, METHOD, name, [root]) if name in prompts.names_in(root, TASK, METHOD) else None
    if there is not None and there.sha256 == sha256:
        return ""
    return f"left out: prompts/{TASK}/{name} is not the text that it was recorded with. --name gives the copy another"


def _settings(folder: Path) -> _Group:
    data = _starter("pytest.ini", {})
    for file in SETTINGS:
        if _is_there(folder / file):
            hint = f"it is there already; to test every recording, add to pytest's settings: {_LINE}"
            return _Group({"pytest.ini": data}, exists=file, hint="" if _says(folder / file, _LINE) else hint)
    return _Group({"pytest.ini": data})


_LINE = "reactrepro_recordings = cassettes"


def _attributes(folder: Path) -> _Group:
    data = _starter("gitattributes", {})
    lines = [line.split("#")[0].strip() for line in data.decode("ascii").splitlines()]
    absent = [line for line in lines if line and not _says(folder / ".gitattributes", line.split()[0])]
    hint = f"it is there already; add to it: {'; '.join(' '.join(line.split()) for line in absent)}" if absent else ""
    return _Group({".gitattributes": data}, hint=hint)


def _says(path: Path, text: str) -> bool:
    try:
        return text in path.read_text("utf-8", "replace")
    except OSError:
        return False


def _starter(name: str, fill: Mapping[str, str]) -> bytes:
    text = STARTER.joinpath(name).read_bytes().decode("utf-8")
    for mark, value in fill.items():
        text = text.replace(mark, value)
    return text.encode("utf-8")
