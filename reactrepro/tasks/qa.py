"""A user's own questions (`--data my.jsonl`): a task without code, asked and scored as HotpotQA is."""

from __future__ import annotations

from .hotpotqa import HotpotQA


class Qa(HotpotQA):
    """Any questions with short answers. Each is known by a hash of its text, so that their order plays no part.

    Attributes:
        name: the task's name, in paths and on the command line.
        version: moves when a score can.
    """

    name = "qa"
    version = 1
