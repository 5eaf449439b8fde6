"""Tests that every text of a brief and its disclosure is readable: its contrast conforms to WCAG AA in the light and in
the dark theme."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchbrief.reports.data.view_model import Companion
from benchbrief.reports.render.page_html import TEMPLATES, disclosure_html, to_html
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from tests.reports import briefs
from tests.reports.test_interactive import script_answer
from tests.support.tools import built_tool

_FRAME = '<html lang="en"><body><iframe style="width: 1100px; height: 1400px; border: 0"></iframe></body></html>'
_DARK = "(prefers-color-scheme: dark)"
_LOOK = """
  const view = document.querySelector("iframe"), pages = PAGES, found = [];
  const text = (bytes) => new TextDecoder().decode(Uint8Array.from(atob(bytes), (one) => one.charCodeAt(0)));
  const next = () => {
    if (found.length === pages.length) return report(found);
    view.srcdoc = text(pages[found.length]);
  };
  view.onload = () => {
    view.contentWindow.eval(text("AXE"));
    const page = view.contentDocument;
    page.querySelectorAll("details").forEach((one) => one.open = true);
    view.contentWindow.axe.run(page, { runOnly: ["color-contrast"] }).then((judged) => {
      const nodes = (kind) => judged[kind].flatMap((rule) => rule.nodes);
      found.push({
        passes: nodes("passes").length,
        violations: nodes("violations").map((node) => [node.html.slice(0, 120), node.any[0].message]),
        paper: view.contentWindow.getComputedStyle(page.documentElement).backgroundColor,
      });
      next();
    });
  };
  next();
"""


def judged_contrasts(pages: list[str], folder: Path) -> list[Any]:
    """Return axe's findings on the contrasts of each page, using one browser."""
    axe = base64.b64encode(built_tool("axe/node_modules/axe-core/axe.min.js").read_bytes()).decode()
    free = (re.sub(r"<meta http-equiv=.Content-Security-Policy.[^>]*>", "", page) for page in pages)
    carried = json.dumps([base64.b64encode(page.encode()).decode() for page in free])
    found: list[Any] = script_answer(_FRAME, _LOOK.replace("PAGES", carried).replace("AXE", axe), folder)
    return found


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Return a brief in each layout and its disclosure, both in each theme. Also return a page that is not readable."""
    world, report = briefs.quickstart()
    words, found = CATALOGUES["en"], {}
    for template in TEMPLATES:
        chosen = report.model_copy(update={"template": template})
        view = build(world.plan(chosen), world.store(), chosen, words)
        view = replace(view, companion=Companion("other.html", "0123456789abcdef" * 4))
        found[template] = to_html(view, template, words, "screen")
        found["disclosure"] = disclosure_html(view, words, "screen")
    assert all(_DARK in page for page in found.values())
    dark = {f"{name}, dark": page.replace(_DARK, "(min-width: 1px)") for name, page in found.items()}
    grey = found["disclosure"].replace("</body>", '<p style="color: #888; background: #999">Grey</p></body>')
    return {**found, **dark, "grey": grey}


@pytest.mark.long
def test_no_text_is_too_faint_in_either_theme(pages: dict[str, str], tmp_path: Path) -> None:
    judged = dict(zip(pages, judged_contrasts(list(pages.values()), tmp_path), strict=True))
    ((faint, _),) = judged.pop("grey")["violations"]
    assert ">Grey</p>" in faint
    for name, found in judged.items():
        assert found["violations"] == [], name
        assert found["passes"] > 20, name
        assert (found["paper"] == "rgb(255, 255, 255)") == (not name.endswith(", dark")), name
