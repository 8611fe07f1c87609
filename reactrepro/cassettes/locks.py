"""One writer at a time, across processes and machines; and what a killed one left behind is cleared away.

A lock is a file that the system holds for a process, and that dies with it: a killed recorder holds nothing. The file
itself is removed by whoever held it, while it is still held. So a lock file that can be locked is litter, and a
temporary file below a lock that one holds is litter, too.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .names import is_key
from .runs import EPISODE, FAILED
from .write import TEMPORARY

if TYPE_CHECKING:
    from filelock import FileLock

LOCK = ".lock"
BRIEFLY = 0.5
"""Seconds to wait for a lock that somebody may be holding for a moment only, to clear up."""

OLD = 600.0
"""Seconds after which a temporary file that no lock guards is nobody's anymore; one is written in milliseconds."""


@contextmanager
def locked(path: Path, *, wait: float = BRIEFLY) -> Iterator[bool]:
    """Hold the lock file *path* inside, and leave no file behind.

    Args:
        path: made where it is absent, and its folder, too.
        wait: seconds to wait for whoever holds it.

    Yields:
        Whether it was got.

    Raises:
        OSError: the file cannot be made.
    """
    lock = _acquired(path, wait)
    try:
        yield lock is not None
    finally:
        if lock is not None:
            if os.name == "posix":
                path.unlink(missing_ok=True)
            lock.release()
            with contextlib.suppress(OSError):  # Windows: not while it is open, nor when somebody has just opened it
                if os.name != "posix":
                    path.unlink(missing_ok=True)


def _acquired(path: Path, wait: float) -> FileLock | None:
    # Since 3.21 it refuses a lock on a file that was removed meanwhile; since 3.30 it never removes the file itself.
    from filelock import FileLock, Timeout

    tries = 3
    while True:
        tries -= 1
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = FileLock(path, thread_local=False)  # whoever lets it go need not be the thread that took it
            lock.acquire(timeout=wait, poll_interval=0.02)
        except Timeout:
            return None
        except FileNotFoundError:  # who had no use for the folder, which was empty, has just removed it
            if not tries:
                raise
        except NotImplementedError:
            raise OSError(errno.ENOTSUP, "the file system knows no locks", str(path)) from None
        else:
            return lock


def episode_lock(folder: Path, key: str) -> Path:
    """Return the lock file of the episode *key* of the run in *folder*."""
    return folder / f".{key}{LOCK}"


def clear(folder: Path, key: str) -> None:
    """Remove what a killed recorder of the episode *key* left half written; its lock has to be held."""
    for path in folder.glob(f".{key}.*{TEMPORARY}"):
        path.unlink(missing_ok=True)


def clear_run(folder: Path) -> None:
    """Remove what killed recorders left in a run's *folder*, of episodes that nobody is recording now.

    A failure that stands beside the finished episode goes, too: its recorder was killed between two steps.
    """
    names = {path.name for path in folder.iterdir()}
    littered = {name[1:] for name in names if name.startswith(".") and name.endswith((TEMPORARY, LOCK))}
    settled = {name for name in names if name.endswith(FAILED) and name.replace(FAILED, EPISODE) in names}
    for key in sorted({name.split(".", 1)[0] for name in littered | settled}):
        if not is_key(key):
            continue
        with locked(episode_lock(folder, key), wait=0) as held:
            if held:
                clear(folder, key)
                if (folder / f"{key}{EPISODE}").exists():
                    (folder / f"{key}{FAILED}").unlink(missing_ok=True)


def clear_old(folder: Path) -> None:
    """Remove the old temporary files from the folders in *folder*, which no lock guards."""
    for path in folder.glob(f"*/.*{TEMPORARY}"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > OLD:
                path.unlink()
