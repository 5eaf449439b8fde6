"""Tests a brief as Markdown: texts stay texts, links have targets, and a table has one head."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markupsafe import Markup

from benchbrief.model.extension_spec import Format
from benchbrief.reports.render.render_report import render
from benchbrief.reports.text.markdown_export import escape_markdown, to_markdown
from tests.reports import briefs

FORMATS: tuple[Format, ...] = ("markdown",)
COMMONMARK = MarkdownIt("commonmark").enable("table")
PARAGRAPH = Markup("<p>{}</p>")
CELL = Markup("<table><thead><tr><th>h</th></tr></thead><tr><td>{}</td></tr></table>")
NAMES = [
    "<script>alert(1)</script>",
    "<img src=http://example.org/x.png>",
    "[x](javascript:alert(1))",
    "![x](http://example.org/x.png)",
    "a|b",
    "`code` *stars* under_score \\",
    "&lt;b&gt; &#60;b> &amp; <!-- x",
    "# no head",
    "> 8,000 - + 1",
    "[^1]: no note",
]


def text_of(html: str) -> str:
    return unescape(re.sub("<[^>]+>", "", html)).strip()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("element", [PARAGRAPH, CELL])
def test_a_name_reads_as_it_was_written_and_is_nothing_else(name: str, element: Markup) -> None:
    html = COMMONMARK.render(to_markdown(f"<body>{element.format(name)}</body>"))
    assert text_of(html).split("\n")[-1] == name
    assert not re.search(r"<(script|img|a|b|code|em|h1|blockquote|li)\b", html)


def test_the_alternative_text_of_a_figure_can_not_leave_it() -> None:
    text = to_markdown('<body><img src="f/figure-1.svg" alt="x](javascript:alert(1)) <b>"></body>')
    html = COMMONMARK.render(text)
    assert 'src="f/figure-1.svg"' in html
    assert "<a" not in html
    assert escape_markdown("x]") in text


@pytest.mark.parametrize(
    ("html", "bold"),
    [
        ("<strong>模擬実行。</strong>本書の数値", "模擬実行"),
        ("値は<strong>「大」</strong>です", "「大」"),
        ("<strong>Simulated. </strong>All of it", "Simulated."),
        ("an <em>unsteady</em> start", "unsteady"),
    ],
)
def test_an_emphasis_closes_in_every_script(html: str, bold: str) -> None:
    text = COMMONMARK.render(to_markdown(f"<body><p>{html}</p></body>"))
    assert re.search(rf"<(strong|em)>{bold}</\1>", text), text
    assert "*" not in text
    assert text_of(text) == text_of(html)


@pytest.fixture(scope="module")
def brief(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("markdown")
    world, report = briefs.quickstart(failed=True)
    report = report.model_copy(update={"author": "A. Nagy"})
    render(world.plan(report), world.store(), report.name, folder, formats=FORMATS)
    return (folder / f"{report.name}.md").read_text("utf-8")


def test_author_and_date_stand_apart(brief: str) -> None:
    assert "A. Nagy · 14 March 2026\n" in brief


def test_each_link_within_the_page_has_its_anchor(brief: str) -> None:
    targets = set(re.findall(r"\]\(#([^)]+)\)", brief))
    assert any(target.startswith("source-") for target in targets)
    assert targets <= set(re.findall(r'<a id="([^"]+)"></a>', brief))


def test_a_table_of_several_groups_has_one_head() -> None:
    group = '<tbody><tr class="group"><th colspan="2">{0}</th></tr><tr><th>cpu</th><td>8</td></tr></tbody>'
    head = "<thead><tr><th>Item</th><th>Declared</th></tr></thead>"
    text = to_markdown(f"<body><table>{head}\n{group.format('disk')}\n{group.format('flash')}\n</table></body>")
    assert text.count("---") == 2
    assert text.count("cpu") == 2
