"""Tests the blog template: a post is also written as Markdown, and its title is not on a dark band."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchbrief.model.extension_spec import Format
from benchbrief.reports.render.render_report import Rendered, render
from tests.reports import world as w
from tests.reports.test_pages import HARDWARE, RESULT, WORKLOADS, figure, text
from tests.support import paging
from tests.support.drawn_once import CONVERTER

TITLE_END = 0.2
"""The part of the first page, from its top, in which the title stands, as a share of the page's height."""


def made(folder: Path, template: str, *formats: Format) -> Rendered:
    report = w.report("R", RESULT, text(60), figure("By threads"), template=template)
    world = w.World(HARDWARE, WORKLOADS, (1, 4))
    return render(world.plan(report), world.store(), report.name, folder, formats=formats, converter=CONVERTER)


@pytest.fixture(scope="module")
def post(tmp_path_factory: pytest.TempPathFactory) -> Rendered:
    return made(tmp_path_factory.mktemp("post"), "blog")


def test_a_post_is_also_in_markdown_without_what_takes_a_pointer(post: Rendered) -> None:
    assert {path.suffix for path in post.files} >= {".html", ".pdf", ".md"}
    written = post.html.with_suffix(".md").read_text("utf-8")
    (linked,) = re.findall(r"!\[[^\]]*\]\((.*?\.svg)\)", written)
    assert (post.html.parent / linked).is_file()
    assert '<script type="application/json">' in post.html.read_text("utf-8")
    assert not re.search(r"<(script|div|svg)\b", written)


def test_its_title_stands_on_the_paper_and_not_on_a_band(post: Rendered, tmp_path: Path) -> None:
    brief = made(tmp_path, "technical_brief", "pdf")
    assert post.pdf
    assert brief.pdf
    assert _dark_at_title(post.pdf) < 0.1
    assert _dark_at_title(brief.pdf) > 0.5


def _dark_at_title(pdf: Path) -> float:
    first = next(paging.sheets(pdf))
    title = first.pixels[: int(first.height * TITLE_END) * first.width]
    return sum(dot < 128 for dot in title) / len(title)
