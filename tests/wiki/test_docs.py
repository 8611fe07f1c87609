"""docs/wiki-pages.md says what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from reactrepro.wiki import EXTRACTIONS
from reactrepro.wiki.env import EMPTY_ARTICLE
from reactrepro.wiki.page import HEADING, LEFT_OUT, MAY_REFER

PAGE = (Path(__file__).parents[2] / "docs" / "wiki-pages.md").read_text(encoding="utf-8")


def test_the_elements_left_out_are_listed() -> None:
    """The table names exactly the classes that extraction `article` leaves out."""
    table = PAGE.split("Left out, with all they contain:")[1].split("\n\n")[1]
    assert set(re.findall(r"`\.([a-z-]+)`", table)) == LEFT_OUT
    assert set(re.findall(r"`#([a-z-]+)`", table)) == {"coordinates", "toc"}


def test_versions_and_wordings_are_quoted_as_they_are() -> None:
    """Each extraction's heading bears its version; observations and marks stand there word for word."""
    assert dict(re.findall(r"^## Extraction `(\w+)`, version (\d+)$", PAGE, re.MULTILINE)) == {
        name: str(version) for name, version in EXTRACTIONS.items()
    }
    for text in (EMPTY_ARTICLE.format("X"), HEADING, MAY_REFER):
        assert f"`{text}`" in PAGE
