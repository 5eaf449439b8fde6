"""Tests that a colour has one meaning in a brief. The meaning depends on the spec's order or its palette, and never on
the place in a figure."""

from __future__ import annotations

import itertools

import pytest

from benchbrief.model import plan as p
from benchbrief.reports.charts.build_figure import drawing
from benchbrief.reports.charts.chart import MOST_COLOURS, PALETTE, Trace, palette_colour
from benchbrief.reports.charts.document_colours import document_colours
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.words.brief_words import words
from tests.reports import world as w

WORLD = w.World({"hdd": "HDD", "eco": "Eco", "nvme": "NVMe"}, {"a": "Sessions", "b": "Photos"})


def figure(dim: str, keys: dict[str, str]) -> p.FigureElement:
    query = w.throughput("hardware", "workload", "threads")
    by = {"threads": w.keys((1, 2)), dim: w.keys(keys)}
    return w.figure("F", w.series("line", query, "Throughput", "threads", color_dim=dim), by=by)


def paints(
    of: p.FigureElement, *elements: p.Element, palette: dict[str, str] | None = None, first: bool = False
) -> dict[str, str]:
    """Return the colours of a figure's series by name. With `first`, the figure comes before the other elements of the
    brief, and otherwise after them."""
    plan = WORLD.plan()
    colours = document_colours([of, *elements] if first else [*elements, of], plan, palette or {})
    drawn = drawing(of, Results(plan, WORLD.store(), words("en")), colours=colours)
    return {trace.name: trace.paint for chart in drawn.charts for trace in chart.traces}


def test_a_key_has_its_colour_in_each_figure_whatever_stands_beside_it() -> None:
    every = figure("hardware", {"hdd": "HDD", "eco": "Eco", "nvme": "NVMe"})
    assert paints(every) == {"HDD": PALETTE[0], "Eco": PALETTE[1], "NVMe": PALETTE[2]}
    assert paints(figure("hardware", {"nvme": "NVMe", "hdd": "HDD"}), every) == {"NVMe": PALETTE[2], "HDD": PALETTE[0]}


def test_keys_of_two_dimensions_do_not_share_a_colour() -> None:
    first, then = (
        figure("hardware", {"hdd": "HDD", "nvme": "NVMe"}),
        figure("workload", {"a": "Sessions", "b": "Photos"}),
    )
    assert not {*paints(first, then, first=True).values()} & {*paints(then, first).values()}
    assert paints(then, section(first)) == {"Sessions": PALETTE[3], "Photos": PALETTE[4]}


def section(*elements: p.Element) -> p.SectionElement:
    return p.SectionElement(title="S", elements=elements)


def test_a_palette_decides_and_the_others_are_grey() -> None:
    every = figure("hardware", {"hdd": "HDD", "eco": "Eco", "nvme": "NVMe"})
    found = paints(every, palette={"nvme": "#00aa77"})
    assert found["NVMe"] == "#00aa77"
    for name in ("HDD", "Eco"):
        red, green, blue = (int(found[name][at : at + 2], 16) for at in (1, 3, 5))
        assert max(red, green, blue) - min(red, green, blue) < 24, "a grey"
    assert found["HDD"] != found["Eco"]
    assert paints(figure("workload", {"a": "Sessions"}), every, palette={"nvme": "#00aa77"}) == {"Sessions": PALETTE[3]}


def test_a_series_at_one_hardware_has_the_colour_of_that() -> None:
    every = figure("hardware", {"hdd": "HDD", "nvme": "NVMe"})
    query = w.throughput("threads", text="throughput[nvme]", hardware="nvme")
    alone = w.figure("F", w.series("line", query, "Throughput", "threads"), by={"threads": w.keys((1, 2))})
    assert paints(alone, every) == {"Throughput": PALETTE[2]}
    beside = w.series("line", w.latency("threads", hardware="nvme"), "p99", "threads", axis="right")
    two = w.figure("F", w.series("line", query, "Throughput", "threads"), beside, by={"threads": w.keys((1, 2))})
    assert len({*paints(two, every).values()}) == 2, "two lines of one hardware"


@pytest.mark.parametrize("mark", ["line", "bar"])
def test_forty_series_differ_in_colour_shape_or_dash(mark: str) -> None:
    traces = [Trace(str(place), "line", (), place) for place in range(40)]
    assert len({(trace.paint, trace.shape) for trace in traces}) == 40
    assert len({palette_colour(place) for place in range(MOST_COLOURS)}) == MOST_COLOURS
    levels = {f"h{n}": f"Host {n}" for n in range(40)}
    world = w.World(levels, {"a": "Sessions"}, (1, 2))
    query = w.throughput("hardware", "threads")
    many = w.figure(
        "F", w.series(mark, query, "Throughput", "threads", color_dim="hardware"),
        by={"threads": w.keys((1, 2)), "hardware": w.keys(levels)},
    )  # fmt: skip
    notes = drawing(many, Results(world.plan(), world.store(), words("en"))).notes
    assert any("Colours repeat" in note for note in notes) == (mark == "bar")


def test_neighbours_differ_in_a_grey_print() -> None:
    def lightness(colour: str) -> float:
        red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
        return 0.299 * red + 0.587 * green + 0.114 * blue

    for one, other in itertools.pairwise(range(8)):
        assert abs(lightness(palette_colour(one)) - lightness(palette_colour(other))) > 0.08
