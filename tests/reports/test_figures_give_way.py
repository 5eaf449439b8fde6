"""Tests figures that are slightly too high for the rest of a page. They are made lower, and placed on that page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchbrief.model import plan as p
from benchbrief.reports.data.view_model import figures_of, with_redrawn_figures
from benchbrief.reports.render.fill_pages import CLOSEST, HIGHEST, HIGHEST_ON_FIRST, LOWEST, Arrangement
from benchbrief.reports.render.page_pdf import to_pdf
from benchbrief.reports.render.render_report import render
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from tests.reports import world as w
from tests.reports.generated import rows_for
from tests.reports.test_pages import HARDWARE, WORKLOADS, figure, text
from tests.support import paging
from tests.support.plans import compile_text


def made(folder: Path, words: int, *figures: p.Element) -> tuple[Path, str]:
    """Make a brief that begins with this many words and a section of figures. Returns the PDF, and the HTML."""
    world = w.World(HARDWARE, WORKLOADS, (1, 4))
    section = p.SectionElement(title="Part", elements=(text(9), *figures))
    report = w.report("R", text(words), section, text(300), provenance="none")
    files = render(world.plan(report), world.store(), report.name, folder)
    assert files.pdf
    return files.pdf, files.html.read_text("utf-8")


def word(pdf: Path, wanted: str) -> paging.Word:
    return next(word for word in paging.words(pdf) if word.text == wanted)


@pytest.mark.parametrize("titles", [pytest.param(("Alone",), marks=pytest.mark.long), ("One", "Other")])
def test_a_figure_fills_the_rest_of_a_page_with_texts_as_large_as_ever(titles: tuple[str, ...], tmp_path: Path) -> None:
    figures = [figure(title) for title in titles]
    lower, html = made(tmp_path / "lower", 520, *figures)
    usual, usual_html = made(tmp_path / "usual", 200, *figures)
    assert [word(lower, title).page for title in titles] == [1 for _ in titles]
    assert paging.blank_shares(lower)[0] < 0.1
    sizes = [round(one.bottom - one.top, 1) for pdf in (lower, usual) for one in [word(pdf, "Disk")]]
    assert sizes[0] == sizes[1]
    heights = [re.findall(r"<svg [^>]*viewBox=\"[^\"]*\"", page) for page in (html, usual_html)]
    assert heights[0] == heights[1]


def test_the_first_figure_stands_before_texts_that_fill_the_first_page(tmp_path: Path) -> None:
    pdf, html = made(tmp_path, 620, figure("Alone"), figure("Next"))
    assert word(pdf, "Alone").page == 1
    assert word(pdf, "Alone").top < word(pdf, "Part").top
    assert html.index("Part</h2>") < html.index('id="figure-1"'), "on a screen there is no page, and it keeps its place"


@pytest.mark.long
def test_the_same_figures_give_way_each_time(tmp_path: Path) -> None:
    one, other = (made(tmp_path / name, 480, figure("Alone"))[0] for name in ("one", "other"))
    assert paging.words(one) == paging.words(other)


_STYLE = """<style>
@page { size: 500px; margin: 0 } body, figure, p { margin: 0 } figure { break-inside: avoid }
.full { break-before: page; height: 300px } img { display: block; width: 500px }
</style>"""
_IMAGE = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 500 220'></svg>"


class Pages:
    """A document for pages of 500 pixels. Each of its `count` blocks is 300 pixels high, and is followed by a figure of
    `high` pixels. A last block without a figure ends the document."""

    def __init__(self, count: int, between: str = "", high: int = 220) -> None:
        self.count, self.between, self.high = count, between, high
        self.asked: list[Arrangement] = []

    def html(self, shares: Mapping[str, float]) -> str:
        blocks = []
        for number in range(1, self.count + 1):
            height = self.high * shares.get(f"figure-{number}", 1.0)
            drawing = f'<figure id="figure-{number}"><img src="{_IMAGE}" style="height: {height}px" alt=""></figure>'
            blocks.append(f'<div class="full">Block</div>{self.between}{drawing}')
        return (
            f'<html lang="en"><title>T</title>{_STYLE}<body>{"".join(blocks)}<div class="full">End</div></body></html>'
        )

    def arranged(self, arrangement: Arrangement) -> str:
        self.asked.append(arrangement)
        return self.html(arrangement.shares)

    def made(self, folder: Path) -> list[int]:
        """Return the pages of the blocks, and the page of the end."""
        path = folder / "pages.pdf"
        path.write_bytes(to_pdf(self.html({}), redraw=self.arranged))
        return [word.page for word in paging.words(path)]


def test_a_document_is_laid_out_twice_at_most_and_all_figures_are_fitted_then(tmp_path: Path) -> None:
    pages = Pages(4)
    assert pages.made(tmp_path) == [1, 2, 3, 4, 5]
    (asked,) = pages.asked
    assert list(asked.shares) == [f"figure-{number}" for number in range(1, 5)]
    assert all(LOWEST <= share < 196 / 220 for share in asked.shares.values())


def test_no_figure_is_drawn_again_where_all_pages_are_full(tmp_path: Path) -> None:
    full = Pages(2, '<p style="height: 196px"></p>', high=496)
    assert full.made(tmp_path) == [1, 3, 5]
    assert full.asked == []


def test_a_figure_grows_into_what_is_blank_of_its_page_and_no_further(tmp_path: Path) -> None:
    pages = Pages(2, high=100)
    assert pages.made(tmp_path) == [1, 2, 3]
    assert list(pages.asked[0].shares.values()) == [HIGHEST_ON_FIRST, HIGHEST]


class Sections(Pages):
    """A document with a section of `lines` lines, one of `last` lines, and the method."""

    def __init__(self, lines: int, last: int) -> None:
        super().__init__(1)
        self.lines, self.last = lines, last

    def html(self, shares: Mapping[str, float], *, close: int = 0, new_page: str = "") -> str:
        size = (10, 8, 6)[close]
        style = (
            f"div {{ height: {size}px }} #{new_page or 'none'} {{ break-before: page }} section {{ display: block }}"
        )
        parts = [
            f'<section id="{name}">{"<div>Line</div>" * count}</section>'
            for name, count in (("section-1", self.lines), ("section-2", self.last), ("method", 6))
        ]
        return f'<html lang="en"><title>T</title>{_STYLE}<style>{style}</style><body>{"".join(parts)}</body></html>'

    def arranged(self, arrangement: Arrangement) -> str:
        self.asked.append(arrangement)
        return self.html(arrangement.shares, close=arrangement.close_set, new_page=arrangement.new_page)


def test_the_little_that_stands_on_a_last_page_is_drawn_in(tmp_path: Path) -> None:
    pages = Sections(30, 20)
    assert set(pages.made(tmp_path)) == {1}
    assert pages.asked[-1].close_set == 1


def test_what_is_still_left_over_is_set_as_close_as_can_be(tmp_path: Path) -> None:
    pages = Sections(40, 20)
    assert set(pages.made(tmp_path)) == {1}
    assert [*dict.fromkeys(asked.close_set for asked in pages.asked)] == [1, CLOSEST]


def test_a_last_section_that_a_page_tears_begins_the_last_page(tmp_path: Path) -> None:
    pages = Sections(40, 27)
    assert pages.made(tmp_path).count(1) == 40
    assert [asked.new_page for asked in pages.asked] == ["section-2"]


def test_a_layout_that_fills_no_more_pages_is_not_taken(tmp_path: Path) -> None:
    class Unchanged(Pages):
        def arranged(self, arrangement: Arrangement) -> str:
            super().arranged(arrangement)
            return self.html({})

    pages = Unchanged(1)
    assert pages.made(tmp_path) == [1, 3]
    assert [asked.close_set for asked in pages.asked].count(0) == 1


PANELS = """
hardware a "Eight disks in a row" { hosts = "a.lab" }
hardware b "One flash drive" { hosts = "b.lab" }
client load { hosts = "load.lab"  tool = ycsb("/opt/ycsb-0.17.0") }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload r "Session store" from ycsb.a { records = 1M }
workload s "Photo tagging" from ycsb.b { records = 1M }
workload t "NAME" from ycsb.c { records = 1M }
workload u "Transactions" from ycsb.f { records = 1M }
experiment e { hardware = [a, b]  workloads = WORKLOADS  threads = [1, 4, 16, 64]  measure = 5 min }
report brief "Panels" {
  figure "Panels" { line = throughput by threads, color hardware  multiples = workload }
  figure "Alone" { line = latency.p99[read, r] by threads, color hardware }
}
"""


@pytest.mark.parametrize("workloads", ["[r, s, t]", "[r, s, t, u]"])
@pytest.mark.parametrize("name", ["Profile cache", "A-name-that-takes-all-three-lines-of-the-heading-of-a-panel"])
def test_panels_are_wide_and_high_enough_to_be_read_wherever_they_stand(
    workloads: str, name: str, tmp_path: Path
) -> None:
    spec = PANELS.replace("WORKLOADS", workloads).replace("NAME", name)
    plan = compile_text(spec, tmp_path)
    store = w.make_store(rows_for(plan))
    view = build(plan, store, plan.reports[0], CATALOGUES["en"])
    panels, _ = figures_of(view.blocks)
    assert panels.wide
    shares = {"figure-1": LOWEST, "figure-2": LOWEST}
    (lower, alone), (_, again) = (figures_of(with_redrawn_figures(view.blocks, shares)) for _ in range(2))
    assert again.svg is alone.svg, "a figure is drawn once at each height"
    for svg in (panels.svg, lower.svg):
        heights = [float(height) for height in re.findall(r'd="M0,0h[1-9][0-9.]*v([0-9.]+)h-', svg)]
        assert len(heights) >= workloads.count(",") + 1
        assert min(heights) >= 35 / 25.4 * 96 - 1
