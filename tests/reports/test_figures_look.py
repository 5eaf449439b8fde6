"""Tests the look of figures: each pixel is unchanged, nothing overlaps, and everyone can tell the colours apart."""

from __future__ import annotations

import io
import itertools
from pathlib import Path

import altair
import pytest
import vl_convert
from PIL import Image, ImageChops, ImageFilter

from benchbrief.reports.charts.chart import (
    DASHES,
    INK,
    PALETTE,
    SHAPES,
    TEXT,
    Box,
    Chart,
    ChartPoint,
    Trace,
    XAxis,
    text_width,
    tick_labels,
)
from benchbrief.reports.charts.chart_layers import panel_spec
from benchbrief.reports.charts.chart_layout import ChartText, arrange, shorten
from benchbrief.reports.charts.chart_texts import texts
from benchbrief.reports.charts.draw_chart import draw
from tests.reports.gallery import CASES, LONG
from tests.support.drawn_once import CONVERTER
from tests.support.longer import one_in

GOLDENS = Path(__file__).parent / "goldens" / "figures"
_NEAR, _SHARE = 40, 0.0015
"""By how many grey levels a blurred pixel may differ, and which share of the pixels may differ by more."""


def pixels(name: str) -> Image.Image:
    charts, width, height = CASES[name]
    font = "Noto Sans CJK JP" if name == "japanese" else "Inter"
    return Image.open(io.BytesIO(vl_convert.svg_to_png(draw(charts, width, height, font, CONVERTER).svg))).convert(
        "RGB"
    )


def differing(one: Image.Image, other: Image.Image) -> float:
    """Return the share of pixels that differ after blurring. Without blurring, font hinting and antialiasing would
    matter."""
    blurred = (image.filter(ImageFilter.GaussianBlur(1.5)) for image in (one, other))
    grey = ImageChops.difference(*blurred).convert("L").histogram()
    return sum(grey[_NEAR:]) / sum(grey)


@pytest.mark.parametrize("name", one_in(20, CASES))
def test_a_figure_is_valid_by_the_schema_of_altair(name: str) -> None:
    charts, width, height = CASES[name]
    for panel in arrange(charts, width, height):
        altair.LayerChart.from_dict(panel_spec(panel, "Inter"))


@pytest.mark.parametrize("name", CASES)
def test_a_figure_looks_as_it_did(name: str, request: pytest.FixtureRequest) -> None:
    drawn, path = pixels(name), GOLDENS / f"{name}.png"
    if request.config.getoption("--update-goldens"):
        path.parent.mkdir(exist_ok=True)
        drawn.quantize(64).save(path, optimize=True)
    expected = Image.open(path).convert("RGB")
    assert drawn.size == expected.size
    assert differing(drawn, expected) < _SHARE


def test_the_comparison_sees_a_missing_series_and_a_moved_label() -> None:
    whole = pixels("direct_labels")
    without = whole.copy()
    without.paste((255, 255, 255), (100, 90, 560, 200))
    assert differing(whole, without) > _SHARE
    moved = whole.copy()
    moved.paste(whole.crop((590, 20, 657, 60)), (590, 40))
    assert differing(whole, moved) > _SHARE


@pytest.mark.parametrize("name", CASES)
def test_no_text_stands_on_another_or_leaves_the_figure(name: str) -> None:
    charts, width, height = CASES[name]
    boxes = [
        (text.text, _box(text, panel.x + panel.plot.left, panel.y + panel.plot.top))
        for panel in arrange(charts, width, height)
        for text in (*texts(panel.plot), *panel.texts)
    ]
    assert boxes
    for text, box in boxes:
        assert box.left >= -1, text
        assert box.right <= width + 1, text
        assert box.top >= -1, text
        assert box.bottom <= height + 1, text
    for (one, first), (other, second) in itertools.combinations(boxes, 2):
        assert first.overlap(second) <= 2, (one, other)


def _box(text: ChartText, x: float, y: float) -> Box:
    width = text_width(text.text, text.size)
    left = {"left": 0.0, "center": width / 2, "right": width}[text.align]
    return Box(x + text.x - left, y + text.y - text.size / 2, x + text.x - left + width, y + text.y + text.size / 2)


def test_a_long_name_keeps_its_ends() -> None:
    short = shorten(LONG, 200)
    assert text_width(short, 10.5) <= 200
    assert short.startswith("Micron 7450")
    assert short.endswith("0092")
    assert shorten("Short", 200) == "Short"


# Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency" (2009), at
# full severity, on linear RGB.
_BLIND = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
_NONE = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def _lab(color: str, seen: tuple[tuple[float, ...], ...] = _NONE) -> tuple[float, float, float]:
    """Return CIE L*a*b* (D65) of a colour as an eye sees it."""
    raw = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in raw]
    r, g, b = (min(1.0, max(0.0, sum(m * c for m, c in zip(row, linear, strict=True)))) for row in seen)
    x, y, z = (
        (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505,
        0.2126 * r + 0.7152 * g + 0.0722 * b,
        (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089,
    )
    fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def test_neighbours_and_the_first_four_colours_differ_in_lightness_for_a_print_in_grey() -> None:
    light = [_lab(color)[0] for color in PALETTE]
    assert all(abs(a - b) > 15 for a, b in itertools.pairwise(light))
    assert all(abs(a - b) > 10 for a, b in itertools.combinations(light[:4], 2))
    assert all(abs(one - _lab(INK)[0]) > 10 for one in light)


@pytest.mark.parametrize("kind", _BLIND)
def test_colour_blind_readers_distinguish_all_colours(kind: str) -> None:
    seen = [_lab(color, _BLIND[kind]) for color in PALETTE]
    distances = [
        sum((a - b) ** 2 for a, b in zip(*pair, strict=True)) ** 0.5 for pair in itertools.combinations(seen, 2)
    ]
    assert min(distances) > 10


def test_shapes_and_dashes_distinguish_as_many_series_as_there_are_colours() -> None:
    assert len(set(SHAPES)) == len(set(DASHES)) == len(PALETTE)


def test_labels_of_neighbouring_panels_do_not_run_into_each_other() -> None:
    """Half of one panel's last tick label, and half of the next panel's first one, is outside the plot area."""
    rates = XAxis("Throughput (ops/s)", "linear")
    points = tuple(ChartPoint(x, 1.0) for x in (0.0, 90_000.0, 150_000.0))
    charts = [Chart((Trace("A", "line", points, 0),), rates, "ms", heading=f"Workload {i}") for i in range(3)]
    panels = arrange(charts, 657, 250)
    for one, other in itertools.pairwise(panels):
        last, first = tick_labels(one.plot.x_ticks)[-1], tick_labels(other.plot.x_ticks)[0]
        ends = one.x + one.plot.left + one.plot.width + text_width(last, TEXT) / 2
        assert (last, first) == ("150,000", "0")
        assert ends + 6 < other.x + other.plot.left - text_width(first, TEXT) / 2
