"""Locks between processes, names that are for good, and what a killed writer leaves."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import filelock
import pytest

from reactrepro.cassettes.locks import locked
from reactrepro.cassettes.write import replace_file


def test_a_lock_has_one_holder_and_leaves_no_file(tmp_path: Path) -> None:
    """Who does not get it is told so, after the time that it was ready to wait."""
    path = tmp_path / "new" / ".0.lock"
    with locked(path) as first:
        assert first
        with locked(path, wait=0) as second:
            assert not second
        assert path.exists()
        with locked(path, wait=0.05) as third:
            assert not third
    assert not path.exists()
    with locked(path) as again:
        assert again


def test_who_waits_gets_it_when_it_is_free(tmp_path: Path) -> None:
    """Though the file that it waited for is gone: no two hold it at a time."""
    path, holding, most = tmp_path / ".lock", [0], [0]

    def work() -> None:
        for _ in range(10):
            with locked(path, wait=30) as held:
                assert held
                holding[0] += 1
                most[0] = max(most[0], holding[0])
                holding[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1]
    assert list(tmp_path.iterdir()) == []


HOLDER = """\
import os, pathlib, sys
from reactrepro.cassettes.locks import locked

with locked(pathlib.Path(sys.argv[1])):
    os._exit(9)
"""


def test_a_killed_holder_holds_nothing(tmp_path: Path, offline: dict[str, str]) -> None:
    """Its file stays, and is no obstacle."""
    path = tmp_path / ".lock"
    done = subprocess.run([sys.executable, "-c", HOLDER, str(path)], env=offline, check=False)
    assert (done.returncode, path.exists()) == (9, True)
    with locked(path, wait=0) as held:
        assert held
    assert not path.exists()


def test_a_file_system_without_locks_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said as other errors of files are."""

    def unable(*_: object, **__: object) -> None:
        raise NotImplementedError

    monkeypatch.setattr(filelock.FileLock, "acquire", unable)
    with pytest.raises(OSError, match="the file system knows no locks"), locked(tmp_path / ".lock"):
        pass


@pytest.mark.skipif(os.name != "posix", reason="folders are synced on POSIX systems only")
@pytest.mark.parametrize(("number", "fails"), [(errno.EINVAL, False), (errno.EIO, True)])
def test_a_folder_that_cannot_be_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, fails: bool
) -> None:
    """Some file systems do not know how, which is no error; others fail, which is one."""
    sync = os.fsync

    def fsync(handle: int) -> None:
        if os.fstat(handle).st_mode & 0o040000:
            raise OSError(number, os.strerror(number))
        sync(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    path = tmp_path / "a.yaml"
    if fails:
        with pytest.raises(OSError, match="Input/output error") as caught:
            replace_file(path, b"new")
        assert caught.value.filename == str(path)
    else:
        replace_file(path, b"new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.yaml"]
