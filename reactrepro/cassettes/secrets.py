"""What looks like a key: pure, for whoever reads files and for whoever is about to write one.

A recording is kept free of secrets by writing only what is known to be none (`exchanges/scrub.py`). This is the net
below: recordings made by hand, by other programs, or edited since. It knows the shapes that services give their keys,
so that prose, hashes and ids are never taken for one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

SHAPES: Sequence[tuple[str, Sequence[bytes], bytes]] = (
    ("an API key", (b"sk-",), rb"sk-(?=[\w-]*[0-9])(?=[\w-]*[A-Za-z])[\w-]{20,}"),
    ("an AWS key id", (b"AKIA", b"ASIA"), rb"A[KS]IA[A-Z0-9]{16}(?![A-Z0-9])"),
    ("a Google key", (b"AIza",), rb"AIza[\w-]{35}"),
    ("a GitHub token", (b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_"), rb"gh[pousr]_[A-Za-z0-9]{36,}"),
    ("a GitHub token", (b"github_pat_",), rb"github_pat_\w{22,}"),
    ("a GitLab token", (b"glpat-",), rb"glpat-[\w-]{20,}"),
    ("a Hugging Face token", (b"hf_",), rb"hf_[A-Za-z0-9]{30,}"),
    ("a Groq key", (b"gsk_",), rb"gsk_[A-Za-z0-9]{40,}"),
    ("an xAI key", (b"xai-",), rb"xai-[A-Za-z0-9]{40,}"),
    ("a Perplexity key", (b"pplx-",), rb"pplx-[A-Za-z0-9]{40,}"),
    ("a Replicate token", (b"r8_",), rb"r8_[A-Za-z0-9]{30,}"),
    ("a Slack token", (b"xox",), rb"xox[abeprs]-(?=[\w-]*[0-9])[\w-]{20,}"),
    ("a JSON web token", (b"eyJ",), rb"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}"),
    ("a bearer token", (b"earer ",), rb"[Bb]earer (?=[\w.~+/-]*[0-9])[\w.~+/-]{20,}"),
    ("a private key", (b"PRIVATE KEY-",), rb"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
)
"""Name, what every key of that kind contains, and its shape."""

_START = rb"(?:(?<![\w-])|(?<=\\[nrtbf]))"  # not in the middle of a word; `\n` before it is a line's end, not an n
_COMPILED = [(name, literals, re.compile(_START + shape, re.ASCII)) for name, literals, shape in SHAPES]
_PLACEHOLDER = re.compile(rb"example|redacted|removed|placeholder|your[-_]", re.IGNORECASE)
_FEW = 6
"""Distinct characters behind its beginning that a key has more of: `sk-xxxxxxxxxxxxxxxxxxxx` is none."""

_SECRET_PARAMETER = re.compile(
    r"(?:.*[-_])?(?:key|apikey|token|secret|password|passwd|auth|authorization|credentials?|sig|signature)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Secret:
    """Something that looks like a key; the text itself is never shown.

    Attributes:
        name: what it looks like.
        line: the 1-based line on which it stands.
        begins: its first characters.
        length: how long it is.
        digest: the first twelve digits of its SHA-256, by which one can say that it is no secret.
    """

    name: str
    line: int
    begins: str
    length: int
    digest: str

    def __str__(self) -> str:
        return f"holds what looks like {self.name} ({self.begins}…, {self.length} characters, sha256 {self.digest})"


def secrets_in_bytes(data: bytes, known: Collection[str] = ()) -> Iterator[Secret]:
    """Yield what in *data* looks like a key, by kind and place.

    Args:
        data: a file's bytes.
        known: digests (`Secret.digest`) of what looks like a key and is none.
    """
    for name, literals, shape in _COMPILED:
        if any(literal in data for literal in literals):
            for match in shape.finditer(data):
                found = match[0]
                digest = hashlib.sha256(found).hexdigest()[:12]
                if digest not in known and not _is_placeholder(found):
                    line = data.count(b"\n", 0, match.start()) + 1
                    yield Secret(name, line, found[:6].decode("ascii"), len(found), digest)


def secret_in_address(uri: str) -> str | None:
    """Say what in *uri* no recording may hold: a name or password before the host, a key among the parameters."""
    if "@" not in uri and "?" not in uri:
        return None
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if "@" in parts.netloc:
        return "a user's name before the host"
    for name, value in parse_qsl(parts.query):
        known = _PLACEHOLDER.search(value.encode("utf-8", "replace"))
        if value and _SECRET_PARAMETER.fullmatch(name) and not known:
            return f"the parameter {name!r}"
    return None


class Scan:
    """Finds secrets in many files that have most of their lines in common, each line looked at once.

    Args:
        known: as for `secrets_in_bytes`.
    """

    def __init__(self, known: Collection[str] = ()) -> None:
        self._known = known
        self._clean: set[bytes] = set()

    def __call__(self, data: bytes) -> tuple[Secret, ...]:
        """Return what in *data* looks like a key."""
        lines = set(data.split(b"\n")) - self._clean
        if next(secrets_in_bytes(b"\n".join(lines), self._known), None) is None:
            self._clean |= lines
            return ()
        return tuple(secrets_in_bytes(data, self._known))


def _is_placeholder(found: bytes) -> bool:
    return bool(_PLACEHOLDER.search(found)) or (not found.startswith(b"---") and len(set(found[4:])) <= _FEW)
