"""Names that are safe file names on every system, whatever a model or a user calls things."""

from __future__ import annotations

import re

from ..errors import Usage

_KEY = re.compile(r"[0-9a-z](?:[0-9a-z-]{0,62}[0-9a-z])?\Z")
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,78}[a-z0-9])?\Z")
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|\Z)")  # Windows devices, with any extension


def is_key(text: str) -> bool:
    """Tell whether *text* can name an episode: digits, lower-case letters and inner hyphens, at most 64."""
    return bool(_KEY.match(text)) and not _RESERVED.match(text)


def is_name(text: str) -> bool:
    """Tell whether *text* can name a task, a method or a run on every file system."""
    return bool(_NAME.match(text)) and not _RESERVED.match(text) and ".." not in text


def checked_name(text: str, what: str) -> str:
    """Return *text*, which names a *what* ("run").

    Raises:
        Usage: it is no safe file name.
    """
    if not is_name(text):
        raise Usage(
            f"{text!r} cannot name a {what}: use lower-case letters, digits, '.', '_' and '-', 80 at most, "
            "beginning and ending with a letter or a digit."
        )
    return text


def slug(model: str) -> str:
    """Return the run name that a model's name suggests ("models/DeepSeek V3" -> "models-deepseek-v3")."""
    text = re.sub(r"[^a-z0-9.]+", "-", model.lower())
    text = re.sub(r"\.\.+", ".", text).strip(".-")[:71].strip(".-")
    if not text or _RESERVED.match(text):
        text = f"run-{text}".strip("-")
    return text


def run_name(model: str, settings_sha256: str, taken: dict[str, str]) -> str:
    """Return the default name of a run.

    Args:
        model: the model asked for.
        settings_sha256: hash of what was asked.
        taken: name -> settings hash of the runs that stand there already.

    Returns:
        The model's slug; with eight digits of the hash behind it when another configuration has that name.
    """
    plain = slug(model)
    if taken.get(plain, settings_sha256) == settings_sha256:
        return plain
    return f"{plain}-{settings_sha256[:8]}"
