"""What conftest.py promises to every test holds."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest
from pytest_socket import SocketBlockedError, SocketConnectBlockedError

ELSEWHERE = "192.0.2.1"  # a documentation address (RFC 5737): nobody answers


@pytest.fixture(scope="module", autouse=True)
def _developers_environment() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("OPENAI_API_KEY", "SOME_VENDOR_API_KEY", "ANTHROPIC_BASE_URL", "REACTREPRO_CASSETTES"):
            patch.setenv(name, "x")
        patch.setenv("https_proxy", "http://192.0.2.1:1")
        yield


def test_no_test_reaches_the_network() -> None:
    """A test that opens a socket or asks for an address fails."""
    with pytest.raises(SocketBlockedError):
        socket.socket(socket.AF_INET)
    with pytest.raises(SocketBlockedError):
        socket.getaddrinfo("example.org", 443)


@pytest.mark.skipif(sys.platform == "win32", reason="the event loop wakes itself through a loopback socket there")
def test_an_event_loop_needs_no_network() -> None:
    """Asynchronous code runs although sockets are blocked."""
    assert asyncio.run(asyncio.sleep(0, "done")) == "done"


def test_loopback_leads_to_this_machine_only(loopback: str) -> None:
    """With `loopback` a test can serve itself, and still reaches nobody else."""
    with socket.create_server((loopback, 0)) as server:
        socket.create_connection(server.getsockname()).close()
        server.accept()[0].close()
    with pytest.raises(SocketConnectBlockedError):
        socket.create_connection((ELSEWHERE, 443))


def test_no_test_sees_a_key_or_a_setting() -> None:
    """Keys, endpoints, proxies and our own variables are gone; the test data may stay, and nothing is fetched."""
    left = {name for name in os.environ if name.endswith("_API_KEY") or name.startswith("REACTREPRO_")}
    assert left <= {"REACTREPRO_TEST_DATA", "REACTREPRO_DATA"}
    assert not os.path.exists(os.environ["REACTREPRO_DATA"])
    assert not {"https_proxy", "ANTHROPIC_BASE_URL"} & os.environ.keys()


@pytest.mark.parametrize("use", ["create_connection(('127.0.0.1', 9))", "getaddrinfo('example.org', 443)"])
def test_an_offline_child_cannot_use_the_network(offline: dict[str, str], use: str) -> None:
    """In the environment `offline` a child process that uses the network ends with an error."""
    command = [sys.executable, "-c", f"import reactrepro, socket; socket.{use}"]
    done = subprocess.run(command, env=offline, capture_output=True, text=True, check=False)
    assert "RuntimeError: the network was used" in done.stderr
    assert done.returncode == 1
