"""What holds for every test: no network, no keys, snapshots to the byte.

Sockets are blocked by pytest-socket (`--disable-socket`, pyproject.toml). The fixtures for tests to use:

* `loopback`: sockets are open, and lead to this machine only.
* `offline`: the environment for a child process in which any use of the network is an error.
* `reactrepro_test_data`: the folder of public data sets, or the test is skipped.
* `exact`: a snapshot that counts every byte (snapshot_gate.py).
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import hypothesis
import pytest

import reactrepro

pytest_plugins = ["pytester", "tests.snapshot_gate"]

TEST_DATA = "REACTREPRO_TEST_DATA"
FETCHED = "REACTREPRO_DATA"
LOOPBACK = ["127.0.0.1", "::1", "localhost"]

# What a developer's or a build machine's environment may hold and no test may see: keys, endpoints, our own
# variables, proxies (they would be asked even for loopback addresses), colours and widths.
PRIVATE = re.compile(
    r".*_(API_KEY|AUTH_TOKEN)|(OPENAI|ANTHROPIC|REACTREPRO)_.*|(HTTPS?|ALL|NO)_PROXY|NO_COLOR|(FORCE|CLICOLOR)_.*"
    r"|CLICOLOR|COLUMNS|LINES",
    re.IGNORECASE,
)

# Loaded by the interpreter before anything else; an audit hook sees every socket without importing `socket`.
NO_NETWORK = """\
import sys

def refuse(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.bind"):
        raise RuntimeError(f"the network was used: {event} {args[1:]}")

sys.addaudithook(refuse)
"""

# The same examples in every run where runs must agree; new ones at a developer's desk. Time limits per example tell
# about the machine, not about the code.
hypothesis.settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
hypothesis.settings.register_profile("dev", deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Open loopback addresses for the tests that ask for `loopback`, before any of their fixtures is made."""
    for item in items:
        if "loopback" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.allow_hosts(LOOPBACK))


@pytest.fixture
def loopback() -> str:
    """The address of this machine, to which the test may connect."""
    return LOOPBACK[0]


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    for name in list(os.environ):
        if name != TEST_DATA and PRIVATE.fullmatch(name):
            monkeypatch.delenv(name)
    # Nor what a developer has fetched: the folder for that is one that does not exist.
    monkeypatch.setenv(FETCHED, str(tmp_path_factory.getbasetemp() / "nothing-fetched"))


@pytest.fixture
def offline(_clean_environment: None, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a child process that runs this very reactrepro and cannot use the network."""
    folder = tmp_path_factory.mktemp("offline")
    folder.joinpath("sitecustomize.py").write_text(NO_NETWORK, encoding="utf-8")
    path = os.pathsep.join([str(folder), str(Path(reactrepro.__file__).parents[1])])
    return {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture(scope="session")
def reactrepro_test_data() -> Path:
    """The folder of public data sets that REACTREPRO_TEST_DATA names; without it the test is skipped."""
    value = os.environ.get(TEST_DATA)
    if not value:
        pytest.skip(f"{TEST_DATA} is not set: the public data sets are not at hand")
    folder = Path(value).resolve()
    if not folder.is_dir():
        pytest.fail(f"{TEST_DATA} names no folder: {value}", pytrace=False)
    return folder
