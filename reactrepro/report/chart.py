"""Line charts as SVG 1.1: shares over a setting, with their intervals. The same values give the same bytes.

Whiskers, not bands: series overlap. Colours are those of Okabe and Ito, which people tell apart who see few; each
series has a mark of its own, too. Without scripts, fonts or links: a chart can be shown anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, log10
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from ..visible import escaped

WIDTH, HEIGHT = 760, 420
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 24, 44, 56
_LEGEND_ROW = 20
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_TICKS = 10
_APART = 3.0
"""Pixels between the whiskers of two series at one value."""


@dataclass(frozen=True, slots=True)
class Point:
    """One value: where it was computed, what came of it, and its interval; all shares are 0 to 1."""

    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Series:
    """Points under one name, by increasing x."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """What is drawn.

    Attributes:
        title, description: what a reader who does not see it is told first, and then.
        x, y: labels of the axes.
        series: at least one point in all of them together.
    """

    title: str
    description: str
    x: str
    y: str
    series: tuple[Series, ...]


def svg(chart: Chart) -> bytes:
    """Return *chart* as an SVG file, in ASCII. All text is escaped."""
    scale = _Scale(chart)
    height = HEIGHT + _LEGEND_ROW * len(chart.series)
    root = Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {WIDTH} {height}",
            "width": str(WIDTH),
            "height": str(height),
            "role": "img",
            "aria-labelledby": "title desc",
            "font-family": "sans-serif",
            "font-size": "13",
        },
    )
    for name, text in (("title", chart.title), ("desc", chart.description)):
        SubElement(root, name, id=name).text = escaped(text)
    SubElement(root, "rect", width="100%", height="100%", fill="#ffffff")
    _text(root, chart.title, _LEFT, 24, weight="bold")
    _axes(root, chart, scale)
    for number, series in enumerate(chart.series):
        _series(root, series, number, scale, (number - (len(chart.series) - 1) / 2) * _APART)
    indent(root)
    made: bytes = tostring(root, encoding="us-ascii", xml_declaration=True)
    return made + b"\n"


class _Scale:
    """Values to pixels."""

    def __init__(self, chart: Chart) -> None:
        values = [point.x for series in chart.series for point in series.points] or [0.0]
        low, high = min(values), max(values)
        self.low, self.high = (low, high) if low < high else (low - 1, high + 1)
        top = max([point.high for series in chart.series for point in series.points] or [1.0])
        self.top = min(1.0, ceil(top * 10) / 10) or 0.1

    def x(self, value: float) -> float:
        return _LEFT + (value - self.low) / (self.high - self.low) * (WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        return HEIGHT - _BOTTOM - value / self.top * (HEIGHT - _TOP - _BOTTOM)

    def ticks(self) -> list[float]:
        """Round values on the x axis, `_TICKS` and a few at most."""
        least = (self.high - self.low) / _TICKS
        power = 10.0 ** floor(log10(least))
        step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= least)
        step = max(step, 1.0) if self.high - self.low >= 2 else step
        first = ceil(self.low / step - 1e-9)
        return [round(n * step, 9) for n in range(first, floor(self.high / step + 1e-9) + 1)]


def _axes(root: Element, chart: Chart, scale: _Scale) -> None:
    left, right, bottom = _LEFT - 10.0, float(WIDTH - _RIGHT + 10), scale.y(0)
    for tenth in range(round(scale.top * 10) + 1):
        y = scale.y(tenth / 10)
        _line(root, (left, y), (right, y), "#dddddd")
        _text(root, f"{tenth / 10:.1f}", left - 6, y + 4, anchor="end")
    for value in scale.ticks():
        x = scale.x(value)
        _line(root, (x, bottom), (x, bottom + 5), "#333333")
        _text(root, f"{value:g}", x, bottom + 20, anchor="middle")
    _line(root, (left, bottom), (right, bottom), "#333333")
    _line(root, (left, scale.y(scale.top)), (left, bottom), "#333333")
    _text(root, chart.x, (left + right) / 2, bottom + 42, anchor="middle")
    middle = (scale.y(scale.top) + bottom) / 2
    label = _text(root, chart.y, 20, middle, anchor="middle")
    label.set("transform", f"rotate(-90 20 {_number(middle)})")


def _series(root: Element, series: Series, number: int, scale: _Scale, aside: float) -> None:
    colour = _COLOURS[number % len(_COLOURS)]
    group = SubElement(root, "g", stroke=colour, fill="none")
    places = [(scale.x(point.x) + aside, scale.y(point.y)) for point in series.points]
    if len(places) > 1:
        SubElement(group, "polyline", points=" ".join(f"{_number(x)},{_number(y)}" for x, y in places))
    for point, (x, y) in zip(series.points, places, strict=True):
        low, high = scale.y(point.low), scale.y(min(point.high, scale.top))
        path = "".join(f"M{_number(x - 3)} {_number(end)}h6" for end in (low, high))
        whisker = SubElement(group, "path", d=f"M{_number(x)} {_number(low)}V{_number(high)}{path}", opacity="0.6")
        said = f"{series.name}, {point.x:g}: {point.y:.3f} ({point.low:.3f} to {point.high:.3f})"
        SubElement(whisker, "title").text = escaped(said)
        _mark(group, number, x, y, colour)
    y = HEIGHT + _LEGEND_ROW * number
    _mark(SubElement(root, "g", stroke=colour, fill="none"), number, _LEFT + 4.0, y - 4.0, colour)
    _text(root, series.name, _LEFT + 16, y)


def _mark(parent: Element, number: int, x: float, y: float, colour: str) -> None:
    shapes = ("M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "M-4 -4h8v8h-8z", "M0 -5L5 4H-5z", "M0 -5L5 0L0 5L-5 0z")
    # The second time round, marks are hollow.
    fill = colour if number // len(shapes) % 2 == 0 else "#ffffff"
    place = f"translate({_number(x)} {_number(y)})"
    SubElement(parent, "path", d=shapes[number % len(shapes)], fill=fill, transform=place)


def _line(parent: Element, start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    ends = {"x1": start[0], "y1": start[1], "x2": end[0], "y2": end[1]}
    SubElement(parent, "line", {name: _number(value) for name, value in ends.items()}, stroke=colour)


def _text(parent: Element, text: str, x: float, y: float, *, anchor: str = "start", weight: str = "normal") -> Element:
    found = SubElement(
        parent,
        "text",
        {"x": _number(x), "y": _number(y), "text-anchor": anchor, "font-weight": weight, "fill": "#222222"},
    )
    found.text = escaped(text)
    return found


def _number(value: float) -> str:
    """One digit: the same on every machine, whatever the last bits of a computation are."""
    return f"{value + 0.0:.1f}".replace("-0.0", "0.0")
