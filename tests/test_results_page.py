"""docs/results.md and its charts are what the recordings say."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from docs.write_results import PAGE, files, main, recorded
from reactrepro import published

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def made() -> dict[str, bytes]:
    """The page and its charts, as they are computed now."""
    return files(recorded())


def test_the_page_says_what_the_recordings_say(made: dict[str, bytes]) -> None:
    """Text and charts, to the byte; no chart is left over. If not: `nox -s docs`."""
    for name, data in made.items():
        assert DOCS.joinpath(name).read_bytes().replace(b"\r\n", b"\n") == data, f"docs/{name} is old: nox -s docs"
    charts = {f"charts/{path.name}" for path in DOCS.glob("charts/*")}
    assert charts == set(made) - {PAGE}


@pytest.mark.case("B08")
def test_the_paper_stands_nowhere_on_the_page(made: dict[str, bytes]) -> None:
    """Neither its rows nor its numbers: they are of another world."""
    page = made[PAGE].decode("utf-8")
    assert "the paper's row" not in page
    assert "PaLM" not in page
    assert not [row for row in published.TABLE_1 if f"{row.hotpotqa / 100:.3f}  " in page]


def test_links_lead_somewhere(made: dict[str, bytes]) -> None:
    """Charts and other pages are there, and each chart is drawn and described."""
    page = made[PAGE].decode("utf-8")
    for target in re.findall(r"\]\(([^)]+)\)", page):
        assert target in made or DOCS.joinpath(target).is_file(), target
    for name, data in made.items():
        if name != PAGE:
            root = ElementTree.fromstring(data)  # noqa: S314 - our own
            assert [child.tag.rpartition("}")[2] for child in root][:2] == ["title", "desc"]


@pytest.mark.slow
def test_what_is_right_already_is_not_written_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The second time nothing is written; a chart of a sweep that is no more is removed."""
    main(tmp_path)
    (tmp_path / "charts" / "old.svg").write_text("<svg/>", encoding="ascii")
    capsys.readouterr()
    main(tmp_path)
    assert capsys.readouterr().out == f"removed {tmp_path / 'charts' / 'old.svg'}\n"
