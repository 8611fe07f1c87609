"""The sessions of reactrepro: `nox -l` lists them, a bare `nox` runs lint, types and tests.

Plain `venv` and pip, nothing else to install beforehand (docs/decisions/0004).
"""

from __future__ import annotations

import os
import shutil
import sys
import zipfile
from pathlib import Path

import nox
from nox.command import CommandFailed

nox.needs_version = ">=2025.5"
nox.options.default_venv_backend = "venv"
nox.options.error_on_missing_interpreters = False
nox.options.sessions = ["lint", "types", "tests"]

ROOT = Path(__file__).parent
PYPROJECT = nox.project.load_toml(ROOT / "pyproject.toml")
VERSIONS = ["3.11", "3.12", "3.13", "3.14"]


def needs(*groups: str) -> tuple[str, ...]:
    """Return the requirements of pyproject's dependency groups; pip's own `--group` is too new for many machines."""
    return nox.project.dependency_groups(PYPROJECT, *groups)


def pytest(session: nox.Session, *arguments: str) -> None:
    """Run pytest on the checkout; REACTREPRO_TEST_DATA comes from the environment, where it is set."""
    session.install("-e", ".", *needs("test"))
    session.run("pytest", *arguments, *session.posargs, env={"PYTHONDONTWRITEBYTECODE": "1"})


@nox.session
def tests(session: nox.Session) -> None:
    """Run the test suite with the Python that runs nox; arguments behind `--` go to pytest."""
    pytest(session, "-n", "auto")


@nox.session
def slow(session: nox.Session) -> None:
    """Run the tests that take seconds each, which the test suite leaves out."""
    pytest(session, "-m", "slow")


@nox.session(python=VERSIONS)
def tests_all(session: nox.Session) -> None:
    """Run the test suite with each supported Python that is installed; `nox -s tests_all-3.12` picks one."""
    pytest(session, "-n", "auto")


@nox.session
def snapshots(session: nox.Session) -> None:
    """Write the snapshots anew: prompts and trajectories as they are now. Read the diff before you commit it."""
    if os.environ.get("CI"):
        session.error("CI is set: snapshots are compared here, never written")
    pytest(session, "--snapshot-update")


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, format, and who imports whom."""
    session.install(*needs("lint"))
    session.run("ruff", "check", "--no-cache", ".")
    session.run("ruff", "format", "--no-cache", "--check", ".")
    session.run("lint-imports", "--no-cache")


@nox.session
def types(session: nox.Session) -> None:
    """Check types, strictly."""
    session.install("-e", ".", *needs("types"))
    session.run("mypy", "--cache-dir", session.create_tmp(), *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Write docs/results.md and its charts anew from what is recorded. Read the diff before you commit it."""
    session.install("-e", ".")
    session.run("python", "docs/write_results.py")


@nox.session
def bench(session: nox.Session) -> None:
    """Measure; arguments behind `--` go to benchmarks/run.py."""
    session.install("-e", ".", "pytest>=9")
    session.run("python", "benchmarks/run.py", *session.posargs)


@nox.session
def bench_dspy(session: nox.Session) -> None:
    """Measure beside a warm hit in DSPy's disk cache, which needs many packages; arguments go to benchmarks/run.py."""
    session.install("-e", ".", "dspy")
    session.run("python", "benchmarks/run.py", "--dspy", *session.posargs)


@nox.session
def live(session: nox.Session) -> None:
    """Prove on real servers, which it installs and starts, that recording works; arguments behind `--` go to it."""
    session.install("-e", ".")
    try:
        session.run("python", "-m", "live.check", *session.posargs)
    except CommandFailed as error:
        if error.reason == "Returned code 77":
            session.skip("this system cannot run the servers; why is said above")
        raise


@nox.session
def build(session: nox.Session) -> None:
    """Build sdist and wheel into dist/, look into the wheel, and use it: in a clean environment, an empty folder."""
    session.install("build")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    session.run("python", "-m", "build", "--outdir", "dist")
    (wheel,) = ROOT.glob("dist/*.whl")
    check_wheel(session, wheel)
    clean = Path(session.create_tmp()).resolve() / "clean"
    shutil.rmtree(clean, ignore_errors=True)
    session.run("python", "-m", "venv", str(clean))
    programs = clean / ("Scripts" if sys.platform == "win32" else "bin")
    session.run(str(programs / "python"), "-m", "pip", "install", "--quiet", str(wheel), external=True)
    empty = clean / "empty"
    empty.mkdir()
    with session.chdir(empty):
        session.run(str(programs / "reactrepro"), "--version", external=True)
        session.run(str(programs / "reactrepro"), "replay", "hotpotqa", "0", external=True)
    left = list(empty.iterdir())
    if left:
        session.error(f"a replay wrote into the folder it ran in: {left}")
    with session.chdir(empty):
        session.run(str(programs / "reactrepro"), "init", "--quiet", external=True)
        session.run(str(programs / "reactrepro"), "check", "cassettes", external=True)


def check_wheel(session: nox.Session, wheel: Path) -> None:
    """Fail unless *wheel* holds every finished recording and page, byte for byte, and nothing unfinished."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        for folder in ("cassettes", "wiki_snapshot"):
            files = [path for path in (ROOT / folder).rglob("*") if path.is_file() and path.suffix != ".part"]
            if not files:
                session.error(f"{folder}/ holds nothing to package")
            for path in files:
                name = f"reactrepro/_recordings/{path.relative_to(ROOT).as_posix()}"
                if name not in names or archive.read(name) != path.read_bytes():
                    session.error(f"{name} is not in {wheel.name} as it stands in the checkout")
    if unfinished := [name for name in names if name.endswith(".part")]:
        session.error(f"{wheel.name} holds unfinished recordings: {unfinished}")
    if not any(name.endswith("/licenses/NOTICE.md") for name in names):
        session.error(f"{wheel.name} lacks NOTICE.md")
    session.log(f"{wheel.name}: {len(names)} files, recordings complete")
