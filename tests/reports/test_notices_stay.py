"""Tests statements that readers must know before any number. A house style that removes them from a brief is
refused."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from markupsafe import Markup

from benchbrief.compiler.briefs.confined_styles import PROTECTED, refused_style
from benchbrief.model import plan as p
from benchbrief.model.extension_spec import Format
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.data.view_model import ReportView
from benchbrief.reports.render.page_html import TEMPLATES, Medium, must_say, require_said, to_html
from benchbrief.reports.render.page_pdf import parse_page, to_pdf
from benchbrief.reports.render.render_report import render
from benchbrief.reports.view.build_view import build
from benchbrief.reports.view.house_style import House
from benchbrief.reports.words.brief_words import CATALOGUES
from tests.reports import world as w
from tests.support.longer import one_in

HIDING = {
    "not shown": ".notice { display: none }",
    "its text not shown": "#notice-1 p { visibility: hidden }",
    "all of the page not shown": "main { opacity: 0 !important }",
    "without size": ".notice p { font-size: 0 }",
    "in the colour of its ground": ".notice, .notice p, .notice strong { color: #fff5e0; background: #fffaf0 }",
    "see-through": ".notice p { color: rgba(0, 0, 0, 0.1) }",
    "off the page": ".notice { position: absolute; left: -9999px }",
    "cut off": ".notice { height: 1px; padding: 0; overflow: hidden }",
    "scaled away": ".notice { transform: scale(0.001) }",
}
HARMLESS = """
    .notice.error, .notice.warning { background: #222; columns: 2; text-transform: uppercase; hyphens: auto }
    .notice p, .notice.error strong, .notice.warning strong { color: #fff; font-size: 12pt }
    .notice { overflow: hidden; width: 60mm }
    @media (prefers-color-scheme: dark) { .notice { border-color: white } }
    .notice { transform: translateY(-2px); box-shadow: 0 2px 6px #888; border-radius: 4px }
    main { transform: rotate(0deg) }
"""


PDF: tuple[Format, ...] = ("pdf",)


@cache
def view() -> ReportView:
    world = w.World({"disk": "Disk"}, {"a": "A"}, failed={"ramp/disk/a/threads=4/1": "it went `away` unexpectedly"})
    report = w.report("A report", p.TextElement(prose=w.text("Words.")))
    return build(world.plan(report), world.store(), report, CATALOGUES["en"])


def page(css: str, medium: Medium) -> str:
    house = House(css=Markup(css))  # noqa: S704  # a style sheet of this test
    return to_html(view(), "technical_brief", CATALOGUES["en"], medium, house)


def show_on_screen(css: str) -> None:
    require_said(page(css, "screen"), view())


@pytest.mark.parametrize("css", one_in(3, HIDING.values()), ids=HIDING)
def test_a_style_sheet_that_hides_a_notice_ends_the_rendering(css: str) -> None:
    with pytest.raises(ReportError, match="hides what a brief must say") as shown:
        show_on_screen(css)
    assert "where all of it is" in (shown.value.hint or "")
    with pytest.raises(ReportError, match="hides what a brief must say"):
        to_pdf(page(css, "paper"), must_say=lambda page: must_say(page, view()))


def test_a_report_with_such_a_style_sheet_is_not_written(tmp_path: Path) -> None:
    sheet = tmp_path / "house.css"
    sheet.write_text(HIDING["not shown"])
    world = w.World({"disk": "Disk"}, {"a": "A"}, failed={"ramp/disk/a/threads=4/1": "it went away"})
    theme = p.Theme(css=p.Asset(file=str(sheet), sha256="0" * 64))
    report = w.report("A report", p.TextElement(prose=w.text("Words."))).model_copy(update={"theme": theme})
    with pytest.raises(ReportError, match="hides what a brief must say"):
        render(world.plan(report), world.store(), "brief", tmp_path, html_only=True)
    assert not (tmp_path / "brief.html").exists()


@pytest.mark.parametrize("media", ["screen", "(max-width: 40rem)", "screen and (min-width: 10px)"])
def test_one_that_hides_it_in_some_windows_only_does_too(media: str) -> None:
    with pytest.raises(ReportError, match="hides what a brief must say"):
        show_on_screen(f"@media {media} {{ .notice {{ display: none }} }}")


def test_one_that_changes_its_looks_does_not() -> None:
    show_on_screen(HARMLESS)
    assert to_pdf(page(HARMLESS, "paper"), must_say=lambda page: must_say(page, view())).startswith(b"%PDF")


def test_a_style_sheet_may_change_the_looks_of_a_notice() -> None:
    assert refused_style(HARMLESS) is None


@pytest.mark.parametrize("template", TEMPLATES)
def test_pictures_are_for_no_class_of_a_notice_or_of_what_is_around_it(template: str) -> None:
    html = to_html(view(), template, CATALOGUES["en"], "screen")
    tree = parse_page(html)
    around = {child: parent for parent in tree.iter() for child in parent}
    notices = [element for element in tree.iter() if "notice" in (element.get("class") or "").split()]
    assert notices
    for notice in notices:
        chain, inside = [notice], list(notice.iter())
        while chain[-1] is not tree:
            chain.append(around[chain[-1]])
        classes = {name for element in (*chain, *inside) for name in (element.get("class") or "").split()}
        assert classes <= PROTECTED


def test_a_report_over_a_kept_style_sheet_that_could_cover_it_is_not_written(tmp_path: Path) -> None:
    sheet = tmp_path / "house.css"
    sheet.write_text("\nbody::after { content: ''; position: fixed; inset: 0; background: white }")
    world = w.World({"disk": "Disk"}, {"a": "A"})
    theme = p.Theme(css=p.Asset(file=str(sheet), sha256="0" * 64))
    report = w.report("A report", p.TextElement(prose=w.text("Words."))).model_copy(update={"theme": theme})
    with pytest.raises(ReportError, match=r"house\.css:2: `position` can't stand in a house style"):
        render(world.plan(report), world.store(), "brief", tmp_path, html_only=True)
    assert not (tmp_path / "brief.html").exists()


def test_a_part_that_leaves_it_out_ends_the_rendering(tmp_path: Path) -> None:
    part = tmp_path / "notice.html.j2"
    part.write_text("<p>All is well.</p>")
    world = w.World({"disk": "Disk"}, {"a": "A"}, failed={"ramp/disk/a/threads=4/1": "it went away"})
    report = w.report("A report", p.TextElement(prose=w.text("Words.")))
    report = report.model_copy(update={"parts": (p.Asset(file=str(part), sha256="0" * 64),)})
    with pytest.raises(ReportError, match="hides what a brief must say"):
        render(world.plan(report), world.store(), "brief", tmp_path, formats=PDF)
    assert not (tmp_path / "brief.pdf").exists()


MARKDOWN: tuple[Format, ...] = ("markdown",)
APART = {
    "its origin": ".origin-tag { display: none }",
    "its limits": ".limits-line a { color: white }",
    "its disclosure": ".companion p { visibility: hidden }",
    "why a number is missing": ".notes { display: none }",
    "nothing": ".origin-tag { color: #000 } .limits { display: none } .method { display: none }",
}


@pytest.mark.parametrize("formats", [("html",), ("pdf",)])
@pytest.mark.parametrize("hidden", one_in(3, APART))
def test_a_brief_with_a_disclosure_of_its_own_shows_what_its_numbers_are(
    tmp_path: Path, hidden: str, formats: tuple[Format, ...]
) -> None:
    sheet = tmp_path / "house.css"
    sheet.write_text(APART[hidden])
    world = w.World({"disk": "Disk"}, {"a": "A"}, failed={"ramp/disk/a/threads=4/1": "it went away"}, stand_in=True)
    query = w.throughput("threads", hardware="disk", workload="a")
    lines = (p.Line(label="L", query=query),)
    table = p.TableElement(title="T", dim="threads", dim_label="Threads", keys=w.keys((1, 2, 4)), lines=lines)
    theme = p.Theme(css=p.Asset(file=str(sheet), sha256="0" * 64))
    report = w.report("A report", table, disclosure="separate", theme=theme)
    if hidden == "nothing":
        made = render(world.plan(report), world.store(), "brief", tmp_path / "out", formats=formats)
        assert made.files[1].name == f"brief-disclosure.{formats[0]}"
        return
    with pytest.raises(ReportError, match="hides what a brief must say"):
        render(world.plan(report), world.store(), "brief", tmp_path / "out", formats=formats)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("part", ["origin", "limits", "companion"])
def test_a_part_that_leaves_it_out_of_one_ends_the_rendering(tmp_path: Path, part: str) -> None:
    (tmp_path / f"{part}.html.j2").write_text("")
    world = w.World({"disk": "Disk"}, {"a": "A"}, failed={"ramp/disk/a/threads=4/1": "it went away"}, stand_in=True)
    own = (p.Asset(file=str(tmp_path / f"{part}.html.j2"), sha256="0" * 64),)
    report = w.report("A report", p.TextElement(prose=w.text("Words.")), disclosure="separate", parts=own)
    for format_ in TEXTS:
        with pytest.raises(ReportError, match="hides what a brief must say"):
            render(world.plan(report), world.store(), "brief", tmp_path / "out", formats=(format_,))


TEXTS: tuple[Format, ...] = ("html", "markdown")


@pytest.mark.parametrize(
    ("part", "stays"),
    [
        ('{% if medium != "markdown" %}{% include "ours/notice.html.j2" %}{% endif %}', False),
        ('<img src="data:," alt="{{ notice.title }} {{ notice.text }}">', False),
        ('<a href="https://example.org" title="{{ notice.title }} {{ notice.text }}">More</a>', False),
        ('<aside>{% include "ours/notice.html.j2" %}</aside>', True),
        ("<p><em>{{ notice.title }}</em>: {{ notice.text }}</p>", True),
    ],
)
def test_a_part_that_takes_it_from_the_markdown_ends_the_rendering(tmp_path: Path, part: str, stays: bool) -> None:
    (tmp_path / "notice.html.j2").write_text(part)
    reason = "it went `away` at <b> & [5](x) of 3*4_5"
    world = w.World({"disk": "Disk"}, {"a": "A"}, failed={"ramp/disk/a/threads=4/1": reason})
    report = w.report("A report", p.TextElement(prose=w.text("Words.")))
    own = p.Asset(file=str(tmp_path / "notice.html.j2"), sha256="0" * 64)
    report = report.model_copy(update={"parts": (own,)})
    if stays:
        render(world.plan(report), world.store(), "brief", tmp_path, formats=MARKDOWN)
        assert "it went" in (tmp_path / "brief.md").read_text()
        return
    with pytest.raises(ReportError, match="hides what a brief must say"):
        render(world.plan(report), world.store(), "brief", tmp_path, formats=MARKDOWN)
    assert not list(tmp_path.glob("*.md"))
