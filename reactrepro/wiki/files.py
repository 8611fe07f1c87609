"""Reading files that may come from strangers: plain, bounded, and inside of the snapshot.

Paths are strings here: a replay reads pages by the thousand, and objects for paths are half of what that costs.
"""

from __future__ import annotations

import os
import stat

from ..errors import Corrupt


def read_bytes(path: str, limit: int, root: str) -> bytes:
    """Return the bytes of the plain file at *path*, which stands somewhere below *root*.

    Raises:
        Corrupt: it is absent, larger than *limit*, no plain file, leads out of *root*, or cannot be read.
    """
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            check_inside(path, root)
            status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            raise Corrupt(f"{path} is no plain file.")
        if status.st_size > limit:
            raise Corrupt(f"{path} is too large: {status.st_size} bytes, at most {limit} are read.")
        with open(path, "rb", buffering=0) as file:
            return file.read(status.st_size)
    except FileNotFoundError as error:
        raise Corrupt(f"{path} is absent, though the metadata beside it counts on it.") from error
    except OSError as error:
        raise Corrupt(f"{path} cannot be read: {error.strerror}.") from error


def check_inside(path: str, root: str) -> None:
    """Check that *path*, if it is a link, leads to some place below *root*; a path that is absent is inside.

    Raises:
        Corrupt: the link leads out of *root*.
    """
    if os.path.islink(path):
        inside = os.path.join(os.path.realpath(root), "")
        if not os.path.realpath(path).startswith(inside):
            raise Corrupt(f"{path} is a link that leads out of {root}; it is not followed.")
