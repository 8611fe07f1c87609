"""Charts: well-formed, escaped, described, and the same bytes for the same values."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactrepro.report.chart import HEIGHT, WIDTH, Chart, Point, Series, svg

SHARES = st.floats(0, 1)
POINTS = st.builds(Point, st.floats(0, 1000), SHARES, SHARES, SHARES)
SERIES = st.builds(Series, st.text(), st.lists(POINTS, max_size=5).map(tuple))
CHARTS = st.builds(
    Chart, st.text(), st.text(), st.text(), st.text(), st.lists(SERIES, min_size=1, max_size=9).map(tuple)
)
SVG = "{http://www.w3.org/2000/svg}"


@given(CHARTS)
def test_any_text_and_any_values_make_a_chart(chart: Chart) -> None:
    """ASCII, well-formed, with nothing in it that runs or leads away; drawn twice, the same bytes."""
    data = svg(chart)
    assert data == svg(chart)
    assert data.isascii()
    root = ElementTree.fromstring(data)  # noqa: S314 - our own
    names = {element.tag for element in root.iter()}
    shapes = ("svg", "title", "desc", "rect", "text", "g", "polyline", "path", "line")
    assert names <= {SVG + name for name in shapes}
    assert not [name for element in root.iter() for name in element.attrib if name.startswith("on") or "href" in name]
    numbers = ("points", "d", "x", "y", "x1", "y1", "x2", "y2")
    assert not [number for element in root.iter() for name in numbers if "n" in (number := element.get(name, ""))]


def test_text_is_shown_and_runs_nothing() -> None:
    """A run may bear any name that a stranger gives it."""
    name = "<script>alert(1)</script> & \x1b[2J\u202e"
    data = svg(Chart(name, "d", "x", "y", (Series(name, (Point(1, 0.5, 0.4, 0.6),)),)))
    assert b"<script" not in data
    root = ElementTree.fromstring(data)  # noqa: S314 - our own
    assert root.findtext(f"{SVG}title") == "<script>alert(1)</script> & \\x1b[2J\\u202e"


def test_a_chart_is_told_to_those_who_do_not_see_it() -> None:
    """Title and description are named by the image itself, and each value says what it is."""
    root = ElementTree.fromstring(  # noqa: S314 - our own
        svg(Chart("A title", "What it shows.", "samples", "EM", (Series("a", (Point(3, 0.5, 0.25, 0.75),)),)))
    )
    assert (root.get("role"), root.get("aria-labelledby")) == ("img", "title desc")
    assert (root.findtext(f"{SVG}title"), root.findtext(f"{SVG}desc")) == ("A title", "What it shows.")
    assert [element.text for element in root.iter(f"{SVG}title")][1:] == ["a, 3: 0.500 (0.250 to 0.750)"]
    assert {"samples", "EM", "A title", "a"} <= {element.text for element in root.iter(f"{SVG}text")}


def test_values_stand_where_the_axes_say() -> None:
    """Left is less, up is more, and everything lies within the picture."""
    points = (Point(1, 0.0, 0.0, 0.2), Point(5, 0.5, 0.3, 0.7), Point(21, 1.0, 0.8, 1.0))
    root = ElementTree.fromstring(svg(Chart("t", "d", "x", "y", (Series("a", points),))))  # noqa: S314 - our own
    line = next(root.iter(f"{SVG}polyline")).attrib["points"]
    places = [tuple(map(float, place.split(","))) for place in line.split()]
    assert places == sorted(places)
    assert [y for _, y in places] == sorted((y for _, y in places), reverse=True)
    assert all(0 < x < WIDTH and 0 < y < HEIGHT for x, y in places)
    first, middle, last = (x for x, _ in places)
    assert (middle - first) * 5 == pytest.approx(last - first)
