"""A brief on a phone: only tables, figures and listings scroll sideways, each in a box of its own."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchbrief.reports.render.page_html import TEMPLATES, to_html
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.store import store_schema as s
from tests.reports import briefs
from tests.reports.test_interactive import told
from tests.reports.world import make_store

WIDTH = 390
"""CSS pixels of a common phone."""
_PHONE = f'<html lang="en"><body><iframe style="width: {WIDTH}px; height: 800px; border: 0"></iframe></body></html>'
"""A browser's own window can't be as narrow."""
_MEASURE = """
  const view = document.querySelector("iframe");
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
    tell({
      width,
      page: page.scrollingElement.scrollWidth,
      beyond: beyond.map((one) => one.cloneNode(false).outerHTML.slice(0, 120)),
      boxes: all.filter((one) => scrolls(one) && one.scrollWidth > one.clientWidth).length,
    });
  };
  view.srcdoc = PAGE;
"""


def on_phone(page: str, folder: Path) -> Any:
    """What stands beyond the edges of a phone's screen, and the width that the page takes there."""
    carried = base64.b64encode(page.encode()).decode()
    text = f'new TextDecoder().decode(Uint8Array.from(atob("{carried}"), (one) => one.charCodeAt(0)))'
    return told(_PHONE, _MEASURE.replace("PAGE", text), folder)


def page_of(made: briefs.Made, template: str, *, simulated: bool) -> str:
    world, report = made
    chosen = report.model_copy(update={"template": template})
    rows = [row._replace(simulated=simulated) if isinstance(row, s.RunRow) else row for row in world.rows()]
    words = CATALOGUES[report.language]
    return to_html(build(world.plan(chosen), make_store(rows), chosen, words), template, words, "screen")


@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("brief", [briefs.quickstart, briefs.three_ssds, briefs.cluster_shrink])
def test_no_page_scrolls_sideways_but_in_its_own_boxes(
    brief: Callable[[], briefs.Made], template: str, tmp_path: Path
) -> None:
    page = page_of(brief(), template, simulated=brief is briefs.three_ssds)
    found = on_phone(page, tmp_path)
    assert found["width"] == WIDTH
    assert found["beyond"] == []
    assert found["page"] <= WIDTH
    assert found["boxes"] > 0


def test_what_is_wider_than_the_screen_is_found(tmp_path: Path) -> None:
    page = '<html lang="en"><body><div id="wide" style="width: 600px; background: red">Wide</div></body></html>'
    found = on_phone(page, tmp_path)
    assert found["page"] > WIDTH
    assert any('id="wide"' in each for each in found["beyond"])
