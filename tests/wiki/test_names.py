"""Folder names: every query has one, on every file system."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro.errors import Usage
from reactrepro.wiki.names import checked_site, folder, is_extraction, is_folder, is_version, slug

from .samples import HARD


def test_hard_queries_have_names_of_their_own() -> None:
    """No two queries share a folder, also where case does not count."""
    names = {folder(query).lower() for query in HARD}
    assert len(names) == len(HARD)


@given(st.text(st.characters(), max_size=400) | st.sampled_from(HARD))
def test_a_name_is_bounded_plain_and_never_a_device(query: str) -> None:
    """a-z, 0-9 and hyphens, 53 characters at most, ending in twelve digits of the query's hash."""
    name = folder(query)
    assert re.fullmatch(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?-[0-9a-f]{12}", name)
    assert is_folder(name)
    assert folder(query) == name


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("Scott Derrickson", "scott-derrickson-a6f7cff63787"),
        ("Ed Wood", "ed-wood-2e364fd422a6"),
        ("", "query-e3b0c44298fc"),
        ("Mars", "mars-a0a6ca091c70"),
        ("mars", "mars-d158be41db87"),
        ("CON", "con-a3dbc4b644a9"),
        ("../../etc/passwd", "etc-passwd-3754d6cb3a38"),
    ],
)
def test_names_never_move(query: str, name: str) -> None:
    """A folder's name is part of the format: recordings made today are found there tomorrow."""
    assert folder(query) == name
    assert slug(query) == name[:-13]


@pytest.mark.parametrize(
    "site", ["", ".", "..", "a/b", "a\\b", "En", "con", "nul", "-x", "a" * 33, "en wiki", "a\n", "h:80"]
)
def test_a_site_is_a_logical_name(site: str) -> None:
    """No host, no port, no path, no device: anything else cannot name a wiki."""
    with pytest.raises(Usage, match="cannot name a wiki"):
        checked_site(site)


def test_names_of_files_are_checked_too() -> None:
    """Extractions and versions become parts of file names."""
    assert all(map(is_extraction, ["article", "original", "x-1_y"]))
    assert not any(map(is_extraction, ["", "Article", "../x", "a.b", "a\n"]))
    assert all(map(is_version, ["0439cb073ff7", "A-1_b"]))
    assert not any(map(is_version, ["", ".x", "a.b", "..", "con", "a/b", "a\n"]))
