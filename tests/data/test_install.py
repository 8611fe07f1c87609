"""A data file is put in its place, whole and checked, or not at all."""

from __future__ import annotations

import errno
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from reactrepro.data import fetch, install
from reactrepro.data.catalogue import FILES, TERMS
from reactrepro.data.mirrors import Silence
from reactrepro.errors import Corrupt, InfraError, Usage

from .mirror import GOOD, ROWS, Answer, Mirror, serving, small

FEWER = json.dumps(ROWS[:2], ensure_ascii=False).encode()


@pytest.fixture
def mirror(loopback: str) -> Iterator[Mirror]:
    """A server that runs."""
    with serving() as made:
        yield made


def files(folder: Path) -> list[str]:
    """Every file in *folder*."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


class Told(Silence):
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self.sizes: list[tuple[int, int | None]] = []
        self.failures: list[str] = []

    def asking(self, url: str) -> None:
        self.urls.append(url)

    def come(self, size: int, whole: int | None) -> None:
        self.sizes.append((size, whole))

    def failed(self, url: str, why: str) -> None:
        self.failures.append(why)


def test_mirrors_are_asked_in_order_until_one_is_right(mirror: Mirror, tmp_path: Path) -> None:
    """A page that is gone, a file of another kind and an empty one are passed over, and told of."""
    urls = [mirror.put(*pair) for pair in (("/b", FEWER), ("/c", b""), ("/d", GOOD), ("/e", GOOD))]
    file, told = small(GOOD, f"{mirror.address}/a", *urls), Told()
    made = install.install(file, tmp_path, progress=told)
    assert made.path.read_bytes() == GOOD
    assert (made.state, made.source, made.size) == ("installed", urls[2], len(GOOD))
    assert mirror.paths == ["/a", "/b", "/c", "/d"]
    assert [why.split(":")[0] for why in told.failures] == [
        "it answered with status 404",
        "it is another file",
        "it answered with status 200 and 0 bytes",
    ]
    assert told.sizes[-1] == (len(GOOD), len(GOOD))
    assert files(tmp_path) == [f"hotpotqa/{file.name}", f"hotpotqa/{file.name}.notice.txt"]


@pytest.mark.case("B52")
def test_what_is_there_is_not_fetched_again(mirror: Mirror, tmp_path: Path) -> None:
    """Nothing over the network, and the file is not touched."""
    file = small(GOOD, mirror.put("/a", GOOD))
    first = install.install(file, tmp_path)
    before = first.path.stat()
    again = install.install(file, tmp_path)
    assert (again.state, again.source) == ("present", None)
    assert mirror.paths == ["/a"]
    assert first.path.stat().st_mtime_ns == before.st_mtime_ns
    assert first.path.stat().st_ino == before.st_ino


@pytest.mark.case("B52")
def test_an_empty_download_is_no_file(mirror: Mirror, tmp_path: Path) -> None:
    """Status 200 and 0 bytes: an infra error that names the file, its sum, and how to give it; nothing is kept."""
    file = small(GOOD, mirror.put("/a", b""))
    with pytest.raises(InfraError) as caught:
        install.install(file, tmp_path)
    said = str(caught.value)
    assert "hotpotqa's hotpot_dev_v1_simplified.json could not be fetched" in said
    assert "it answered with status 200 and 0 bytes" in said
    assert f"3 rows, SHA-256 {file.sha256} (made here)" in said
    assert "reactrepro fetch hotpotqa --file simplified --from FILE" in said
    assert files(tmp_path) == []


@pytest.mark.case("B52")
def test_a_host_that_does_not_resolve_is_an_infra_error(tmp_path: Path) -> None:
    """It says so, in the system's words."""

    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with pytest.MonkeyPatch.context() as patch:  # undone here: pytest-socket patches the same function
        patch.setattr(socket, "getaddrinfo", unknown)
        with pytest.raises(
            InfraError, match=r"the host's name does not resolve \(Name or service not known\)"
        ) as caught:
            install.install(small(GOOD, "http://gone.invalid/a"), tmp_path)
    assert str(small().sha256) in str(caught.value)
    assert files(tmp_path) == []


@pytest.mark.case("B52")
def test_a_file_with_a_row_fewer_is_refused(mirror: Mirror, tmp_path: Path) -> None:
    """Rows and sums are named, those found and those expected; nothing is kept."""
    with pytest.raises(Corrupt, match=r"2 rows, SHA-256 [0-9a-f]{64}; expected is .*3 rows, SHA-256 [0-9a-f]{64}"):
        install.install(small(GOOD, mirror.put("/a", FEWER)), tmp_path)
    assert files(tmp_path) == []


def test_one_wrong_file_outweighs_silent_hosts(mirror: Mirror, tmp_path: Path) -> None:
    """With several failures the highest exit code counts, and all are listed."""
    file = small(GOOD, mirror.put("/a", FEWER), f"{mirror.address}/gone")
    with pytest.raises(Corrupt, match=r"(?s)it is another file.*status 404"):
        install.install(file, tmp_path)


def test_a_broken_transfer_is_tried_once_more(mirror: Mirror, tmp_path: Path) -> None:
    """The second attempt brings it."""
    broken = Answer(GOOD[:40], length=len(GOOD))
    made = install.install(small(GOOD, mirror.put("/a", broken, Answer(GOOD))), tmp_path)
    assert made.path.read_bytes() == GOOD
    assert mirror.paths == ["/a", "/a"]


def test_a_transfer_that_breaks_twice_is_an_infra_error(mirror: Mirror, tmp_path: Path) -> None:
    """A part is never kept, nor taken for the file where its rows could vouch for it."""
    file = small(GOOD, mirror.put("/a", Answer(GOOD[:40], length=len(GOOD))), sha256=None)
    with pytest.raises(InfraError, match=r"it broke off: \w+ \(2 attempts\)"):
        install.install(file, tmp_path)
    assert files(tmp_path) == []


@pytest.mark.parametrize("length", [None, -1])
def test_no_file_is_read_without_bound(
    length: int | None, mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the server says how long it is, or not."""
    monkeypatch.setattr(install, "LIMIT", 1000)
    url = mirror.put("/a", Answer(b"x" * 300_000, length=length))
    with pytest.raises(InfraError, match=r"1,000 that are read|1,000 bytes that are read"):
        install.install(small(GOOD, url), tmp_path)


def test_silence_ends_a_transfer(mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that stops in the middle is not waited for without end."""
    monkeypatch.setattr(fetch, "TIMEOUT", (5.0, 0.2))
    url = mirror.put("/a", Answer(GOOD[:40], length=len(GOOD), hang=True))
    with pytest.raises(InfraError, match="no further byte, in time"):
        install.install(small(GOOD, url), tmp_path)


def test_a_transfer_has_an_end(mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However steadily bytes come."""
    monkeypatch.setattr(fetch, "LONGEST", -1.0)
    with pytest.raises(InfraError, match="not done after"):
        install.install(small(GOOD, mirror.put("/a", GOOD)), tmp_path)


def test_redirects_are_followed_and_nobody_is_signed_in(
    mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A .netrc of the user's is nobody's business, also behind a redirect."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password secret\n", encoding="ascii")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    mirror.put("/b", GOOD)
    url = mirror.put("/a", Answer(b"", 302, {"Location": "/b"}))
    install.install(small(GOOD, url), tmp_path / "data")
    assert mirror.paths == ["/a", "/b"]
    assert not any("authorization" in headers for _, headers in mirror.asked)
    assert all(headers["user-agent"].startswith("reactrepro/") for _, headers in mirror.asked)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("/a", "it redirects more than 10 times"),
        ("file:///etc/passwd", "it redirects to what is no address to fetch from"),
        ("http://me:secret@127.0.0.1:9/", "it redirects to what is no address to fetch from"),
        ("http://[x", "it redirects to what is no address to fetch from"),
    ],
)
def test_a_redirect_to_nowhere_is_an_infra_error(target: str, message: str, mirror: Mirror, tmp_path: Path) -> None:
    """In a circle, to a file of this machine, with a password."""
    url = mirror.put("/a", Answer(b"", 302, {"Location": target}))
    with pytest.raises(InfraError, match=message) as caught:
        install.install(small(GOOD, url), tmp_path)
    assert "secret" not in str(caught.value)


def test_the_body_of_a_redirect_is_not_read(mirror: Mirror, tmp_path: Path) -> None:
    """However long it is."""
    mirror.put("/b", GOOD)
    endless = Answer(b"x", 302, {"Location": "/b"}, length=10**12, hang=True)
    assert install.install(small(GOOD, mirror.put("/a", endless)), tmp_path).path.read_bytes() == GOOD


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("file:///etc/passwd", "no address to fetch from"),
        ("ftp://host/a", "no address to fetch from"),
        ("http://", "no address to fetch from"),
        ("http://[x", "no address to fetch from"),
        ("http://host/a b", "no address to fetch from"),
        ("https://me:secret@host/a", "holds a user name or password"),
    ],
)
def test_addresses_are_checked_before_any_is_asked(url: str, message: str, tmp_path: Path) -> None:
    """And a password is not repeated."""
    with pytest.raises(Usage, match=message) as caught:
        install.install(small(GOOD, "http://127.0.0.1:9/", url), tmp_path)
    assert "secret" not in str(caught.value)


def test_what_may_be_a_secret_in_an_address_is_not_shown(mirror: Mirror, tmp_path: Path) -> None:
    """A signed address has its signature behind the question mark."""
    made = install.install(small(GOOD, mirror.put("/a", GOOD) + "?signature=secret"), tmp_path)
    assert made.source == f"{mirror.address}/a"
    assert "secret" not in made.notice.read_text(encoding="utf-8")


def test_a_users_file_takes_the_place_of_a_mirror(tmp_path: Path) -> None:
    """No network; its name is noted, its folder is not."""
    local = tmp_path / "Downloads" / "mine.json"
    local.parent.mkdir()
    local.write_bytes(GOOD)
    made = install.install(small(GOOD, "http://gone.invalid/a"), tmp_path / "data", local=local)
    assert (made.path.read_bytes(), made.source) == (GOOD, "mine.json")
    assert "Downloads" not in made.notice.read_text(encoding="utf-8")


@pytest.mark.parametrize("data", [b"", FEWER, b"[", b"\xff\xfe"], ids=["empty", "fewer", "broken", "not text"])
def test_a_users_file_that_is_another_one_is_refused(data: bytes, tmp_path: Path) -> None:
    """It is named, with both sums, and nothing is written."""
    local = tmp_path / "mine.json"
    local.write_bytes(data)
    with pytest.raises(Corrupt, match=r"mine\.json is not hotpotqa's hotpot_dev_v1_simplified\.json") as caught:
        install.install(small(), tmp_path / "data", local=local)
    assert str(small().sha256) in str(caught.value)
    assert files(tmp_path) == ["mine.json"]


def test_a_file_that_was_changed_is_put_right(mirror: Mirror, tmp_path: Path) -> None:
    """What stood there is replaced in one step, and only by the right one."""
    file = small(GOOD, mirror.put("/a", FEWER))
    path = tmp_path / "hotpotqa" / file.name
    path.parent.mkdir()
    path.write_bytes(GOOD[:-1])
    with pytest.raises(Corrupt):
        install.install(file, tmp_path)
    assert path.read_bytes() == GOOD[:-1]
    made = install.install(file, tmp_path, mirrors=[mirror.put("/b", GOOD)])
    assert (made.state, path.read_bytes()) == ("replaced", GOOD)


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the file nor a temporary one."""
    local = tmp_path / "mine.json"
    local.write_bytes(GOOD)

    def full(_handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        install.install(small(), tmp_path / "data", local=local)
    assert files(tmp_path / "data") == []


def test_licence_and_citation_are_kept_beside_the_file(tmp_path: Path) -> None:
    """Of the data, and the whole licence of the code that it was released with."""
    local = tmp_path / "mine.json"
    local.write_bytes(GOOD)
    made = install.install(small(), tmp_path / "data", local=local)
    notice = made.notice.read_text(encoding="utf-8")
    for terms in (TERMS["hotpotqa"], TERMS["react"]):
        assert terms.licence in notice
        assert terms.citation in notice
    assert "Permission is hereby granted, free of charge" in notice
    assert str(made.file.sha256) in notice
    made.notice.unlink()
    assert install.install(small(), tmp_path / "data").notice.exists()


def test_a_users_file_is_recognized(tmp_path: Path, reactrepro_test_data: Path) -> None:
    """By its sum whatever it is called; else by its name; else it is judged as the usual one."""
    local = tmp_path / "hotpot_dev_fullwiki_v1.json"
    local.write_bytes((reactrepro_test_data / "hotpot_dev_v1_simplified.json").read_bytes())
    assert install.recognized("hotpotqa", local).short == "simplified"
    local.write_bytes(b"[]")
    assert install.recognized("hotpotqa", local).short == "fullwiki"
    assert install.recognized("hotpotqa", local.rename(tmp_path / "x.json")).short == "simplified"


def test_every_file_has_several_mirrors_and_terms() -> None:
    """And each can be asked."""
    for file in (file for files in FILES.values() for file in files):
        assert len(file.mirrors) > 1
        assert [fetch.checked(url) for url in file.mirrors] == list(file.mirrors)
        assert set(file.terms) <= TERMS.keys()
        assert file.size is None or file.size < install.LIMIT
