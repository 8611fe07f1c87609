"""What `nox -s live` checks, one module per matter; `ALL` has them in their order. See docs/recording-live.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from . import apis, fixtures, full_disk, leaks, recorder_killed, servers_killed, slow, storm, together
from .stage import Stage

ALL: Mapping[str, Callable[[Stage], str]] = {
    "apis": apis.check,
    "fixtures": fixtures.check,
    "llm-killed": servers_killed.check_llm,
    "wiki-killed": servers_killed.check_wiki,
    "recorder-killed": recorder_killed.check,
    "slow": slow.check,
    "storm": storm.check,
    "two-recorders": together.check,
    "full-disk": full_disk.check,
    "no-leaks": leaks.check,
}
"""Name -> check, which returns what it measured in a few words, and raises `CheckFailed` or `Skipped`."""
