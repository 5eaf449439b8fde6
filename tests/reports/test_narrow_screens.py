"""Tests a brief on a phone: only tables, figures and listings scroll sideways, each in its own box."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchbrief.reports.charts.draw_chart import PHONE
from benchbrief.reports.render.page_html import TEMPLATES, to_html
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.store import store_schema as s
from tests.reports import briefs
from tests.reports.test_interactive import script_answer
from tests.reports.world import make_store

WIDTH = 390
"""The width of a common phone in CSS pixels."""
_PHONE = f'<html lang="en"><body><iframe style="width: {WIDTH}px; height: 800px; border: 0"></iframe></body></html>'
"""A phone's screen as a frame in a page, because a browser's own window can't be as narrow."""
_MEASURE = """
  const view = document.querySelector("iframe"), pages = PAGES, found = [];
  const next = () => {
    if (found.length === pages.length) return report(found);
    const bytes = Uint8Array.from(atob(pages[found.length]), (one) => one.charCodeAt(0));
    view.srcdoc = new TextDecoder().decode(bytes);
  };
  view.onload = () => {
    const page = view.contentDocument, width = view.contentWindow.innerWidth;
    const all = [...page.body.querySelectorAll("*")];
    page.querySelectorAll("details").forEach((one) => one.open = true);
    const style = (one) => view.contentWindow.getComputedStyle(one);
    const scrolls = (one) => ["auto", "scroll"].includes(style(one).overflowX);
    const apart = (one) => style(one).position === "fixed" || one.parentElement.closest("svg") !== null;
    const held = (one) => {
      for (let box = one.parentElement; box; box = box.parentElement)
        if (box !== page.body && box !== page.documentElement && (scrolls(box) || apart(box))) return true;
      return false;
    };
    const beyond = all.filter((one) => {
      const place = one.getBoundingClientRect();
      return place.width && (place.right > width + 1 || place.left < -1) && !apart(one) && !held(one);
    });
    found.push({
      width,
      page: page.scrollingElement.scrollWidth,
      beyond: beyond.map((one) => one.cloneNode(false).outerHTML.slice(0, 120)),
      figures: [...page.querySelectorAll("figure.chart.both")].map((one) => {
        const shown = [...one.querySelectorAll(".plot")].filter((plot) => plot.getBoundingClientRect().width);
        return [shown.length === 1 && shown[0].matches(".phone"), one.scrollWidth];
      }),
      boxes: all.filter((one) => scrolls(one) && one.scrollWidth > one.clientWidth).length,
    });
    next();
  };
  next();
"""
_WIDE = '<html lang="en"><body><div id="wide" style="width: 600px; background: red">Wide</div></body></html>'


def on_phone(pages: Iterable[str], folder: Path) -> list[Any]:
    """For each page, return everything beyond the edges of a phone's screen, and the page's width. All pages use one
    browser."""
    carried = [base64.b64encode(page.encode()).decode() for page in pages]
    found: list[Any] = script_answer(_PHONE, _MEASURE.replace("PAGES", json.dumps(carried)), folder)
    return found


def pages_of(made: briefs.Made, *, simulated: bool) -> Iterator[str]:
    """Yield the brief in each layout, in order."""
    world, report = made
    store = make_store(row._replace(simulated=simulated) if isinstance(row, s.RunRow) else row for row in world.rows())
    words = CATALOGUES[report.language]
    for template in TEMPLATES:
        chosen = report.model_copy(update={"template": template})
        yield to_html(build(world.plan(chosen), store, chosen, words), template, words, "screen")


@pytest.mark.parametrize(
    "brief",
    [
        briefs.quickstart,
        pytest.param(briefs.three_ssds, marks=pytest.mark.long),
        pytest.param(briefs.cluster_shrink, marks=pytest.mark.long),
    ],
)
def test_no_page_scrolls_sideways_but_in_its_own_boxes(brief: Callable[[], briefs.Made], tmp_path: Path) -> None:
    pages = pages_of(brief(), simulated=brief is briefs.quickstart)
    *found, wide = on_phone([*pages, _WIDE], tmp_path)
    for template, shown in zip(TEMPLATES, found, strict=True):
        assert shown["width"] == WIDTH, template
        assert shown["beyond"] == [], template
        assert shown["page"] <= WIDTH, template
        assert shown["boxes"] > 0, template
    assert wide["page"] > WIDTH, "what is wider than the screen is found"
    assert any('id="wide"' in each for each in wide["beyond"])


@pytest.mark.long
def test_a_wide_figure_is_drawn_again_for_a_phone_and_fits_it(tmp_path: Path) -> None:
    made = briefs.quickstart()
    page = next(pages_of(made, simulated=True))
    drawn = re.findall(r'<div class="plot phone"><svg [^>]*width="(\d+)"', page)
    assert drawn
    assert {*drawn} == {str(PHONE)}
    (seen,) = on_phone([page], tmp_path)
    assert seen["figures"]
    assert all(shown and width <= WIDTH for shown, width in seen["figures"])
