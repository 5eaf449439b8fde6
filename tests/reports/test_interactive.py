"""Tests the HTML brief in a real browser: what its script does and may do, and that everybody can read it."""

from __future__ import annotations

import base64
import csv
import json
import re
import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from benchbrief.reports.render.page_html import TEMPLATES, to_html
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from tests.reports import briefs
from tests.support.tools import built_tool, system_tool

_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--virtual-time-budget=20000", "--window-size=1100,1400",
)  # fmt: skip
_REPORT = """
const report = (found) => {
  const made = document.createElement("pre");
  made.id = "reported";
  made.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(found))));
  document.body.append(made);
};
"""


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Return the same brief in each layout."""
    world, report = briefs.quickstart()
    found = {}
    for template in TEMPLATES:
        chosen = report.model_copy(update={"template": template})
        plan = world.plan(chosen)
        view = build(plan, world.store(), chosen, CATALOGUES["en"])
        found[template] = to_html(view, template, CATALOGUES["en"], "screen")
    return found


@pytest.fixture
def brief(pages: dict[str, str]) -> str:
    return pages["technical_brief"]


def browsed(address: str, profile: Path) -> str:
    """Return the page as it is after its scripts have run."""
    command = [str(system_tool("chromium")), *_FLAGS, f"--user-data-dir={profile}", "--dump-dom", address]
    return subprocess.run(command, capture_output=True, text=True, timeout=110, check=True).stdout


def script_answer(html: str, script: str, folder: Path) -> Any:
    """Run `script` in the page after the page's own script. The page's policy is lifted. Returns what `script` passes
    to `report(...)`."""
    free = re.sub(r"<meta http-equiv=.Content-Security-Policy.[^>]*>", "", html)
    path = folder / "page.html"
    path.write_text(free.replace("</body>", f"<script>{{{_REPORT}{script}}}</script></body>"), "utf-8")
    found = re.search('<pre id="reported">([^<]*)</pre>', browsed(path.as_uri(), folder / "profile"))
    assert found
    return json.loads(base64.b64decode(found[1]))


def judged_by_axe(html: str, folder: Path) -> Any:
    """Return how many WCAG A and AA rules the page passes, which ones it violates, and whether a hostile text has left
    anything in `hit`."""
    axe = built_tool("axe/node_modules/axe-core/axe.min.js").read_text("utf-8")
    # The names at the ends of lines are as near as the lines are: such places are essential in a data visualisation
    # (Understanding WCAG 2.2, 2.5.8), and the arrow keys reach the same points.
    checks = """
      const essential = (rule, node) => rule.id === "target-size" && node.html.startsWith('<button class="toggle"');
      document.querySelectorAll("details").forEach((one) => one.open = true);
      const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
      axe.run(document, { runOnly: { type: "tag", values: tags } }).then((found) => report({
        passes: found.passes.length,
        violations: found.violations
          .map((one) => [one.id, one.nodes.filter((node) => !essential(one, node)).map((node) => node.html)])
          .filter(([, nodes]) => nodes.length > 0),
        hit: window.hit ?? null,
      }));
    """
    return script_answer(html, f"{axe};{checks}", folder)


def figures(html: str) -> list[Any]:
    return [json.loads(text) for text in re.findall('<script type="application/json">(.*?)</script>', html)]


def test_each_point_shows_its_value_its_repeats_and_its_cells(brief: str) -> None:
    found = figures(brief)
    assert len(found) == 9 + 1, "a wide one is drawn for phones, too"
    assert found[0]["points"][0]["tip"] == [
        "Local disk", "Threads 1: 18,024\u00a0ops/s", "1 repeat", "Cell ramp/disk/rww/threads=1/1",
    ]  # fmt: skip
    assert [one["name"] for one in found[0]["series"]] == ["Local disk", "RAM disk"]
    for figure in found:
        width, height = figure["size"]
        for one in (*figure["points"], *figure["series"]):
            left, top, wide, high = one["box"]
            assert -2 <= left <= left + wide <= width
            assert -1 <= top <= top + high <= height


def test_the_data_of_a_figure_are_its_raw_values_with_units_and_cells(brief: str) -> None:
    link = re.search('href="data:text/csv;charset=utf-8;base64,([^"]*)" download="figure-2.csv"', brief)
    assert link
    rows = list(csv.DictReader(StringIO(base64.b64decode(link[1]).decode())))
    assert len(rows) == 6
    assert list(rows[0]) == [
        "series", "threads", "x", "x_unit", "value", "unit", "low", "high", "repeats", "cells",
    ]  # fmt: skip
    assert {(row["x_unit"], row["unit"]) for row in rows} == {("ops/s", "s")}
    assert float(rows[0]["value"]) == pytest.approx(0.00072 * 1.45)
    assert rows[0]["cells"] == "ramp/disk/rww/threads=1/1"


def test_pointer_keyboard_and_toggles_show_and_hide(brief: str, tmp_path: Path) -> None:
    steps = """
      const plot = document.querySelector("#figure-1 .plot"), walk = plot.querySelector(".walk");
      const tip = plot.querySelector(".tip"), found = {};
      const state = () => tip.hidden ? null : [...tip.children].map((line) => line.textContent);
      const key = (name) => { walk.dispatchEvent(new KeyboardEvent("keydown", { key: name })); return state(); };
      found.before = state();
      walk.focus();
      found.focused = document.activeElement === walk;
      found.first = key("ArrowRight");
      found.second = key("ArrowRight");
      found.other = key("ArrowUp");
      found.last = key("End");
      found.aloud = plot.querySelector("[role=status]").textContent;
      found.escaped = key("Escape");
      const box = plot.getBoundingClientRect(), shown = JSON.parse(
        document.querySelector("#figure-1 script").textContent);
      const [left, top] = shown.points[1].box;
      walk.dispatchEvent(new PointerEvent("pointermove", {
        clientX: box.left + left * box.width / shown.size[0], clientY: box.top + top * box.height / shown.size[1] }));
      found.pointed = state();
      const toggle = plot.querySelector("button");
      const seen = () => [...plot.querySelectorAll('[data-series="0"]')].some((g) => g.getBoundingClientRect().width);
      found.name = toggle.getAttribute("aria-label");
      found.drawn = [seen()];
      toggle.click();
      found.pressed = toggle.getAttribute("aria-pressed");
      found.drawn.push(seen());
      found.without = key("Home");
      toggle.click();
      found.drawn.push(seen());
      report(found);
    """
    found = script_answer(brief, steps, tmp_path)
    assert found["before"] is None
    assert found["focused"]
    assert found["first"][:2] == ["Local disk", "Threads 1: 18,024\u00a0ops/s"]
    assert found["second"][1].startswith("Threads 2: ")
    assert found["other"][0] == "RAM disk"
    assert found["other"][1].startswith("Threads 2: ")
    assert found["last"][:2] == ["RAM disk", "Threads 4: 62,493\u00a0ops/s"]
    assert found["aloud"].startswith("RAM disk. Threads 4: 62,493\u00a0ops/s")
    assert found["escaped"] is None
    assert found["pointed"] == found["second"]
    assert found["name"] == "Local disk"
    assert found["drawn"] == [True, False, True]
    assert found["pressed"] == "false"
    assert found["without"][0] == "RAM disk"


@pytest.fixture
def asked(brief: str) -> Iterator[tuple[str, list[str]]]:
    """Yield an address of the brief, and a list of the requests to its server."""
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_response(200 if self.path == "/brief.html" else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            bad = "<script>document.title = 'run'</script><img src='/stolen.png'>"
            self.wfile.write(brief.replace("</body>", f"{bad}</body>").encode())

        def log_message(self, *_: object) -> None:
            """Print nothing on the terminal."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/brief.html", paths
        server.shutdown()


def test_the_page_runs_its_own_script_alone_and_asks_the_network_for_nothing(
    asked: tuple[str, list[str]], tmp_path: Path
) -> None:
    address, paths = asked
    page = browsed(address, tmp_path)
    assert page.count('class="walk"') == 9 + 1
    assert "<title>run</title>" not in page
    assert paths == ["/brief.html"]


@pytest.mark.parametrize(
    "template",
    [pytest.param(each, marks=() if each == "technical_brief" else pytest.mark.long) for each in TEMPLATES],
)
def test_axe_finds_nothing_against_wcag_a_and_aa_in_any_layout(
    pages: dict[str, str], tmp_path: Path, template: str
) -> None:
    found = judged_by_axe(pages[template], tmp_path)
    assert found["violations"] == []
    assert found["passes"] > 15
