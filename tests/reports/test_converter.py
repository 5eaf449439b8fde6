"""Tests the process of the chart converter, and what happens to a brief if the process ends, hangs or refuses."""

from __future__ import annotations

import re
import sys
import time
import xml.etree.ElementTree as ET  # our own drawings
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfReader

from benchbrief.model import plan as p
from benchbrief.model.extension_spec import Format
from benchbrief.reports.charts import draw_chart
from benchbrief.reports.charts.chart import Chart, ChartPoint, Trace, XAxis
from benchbrief.reports.charts.draw_chart import draw
from benchbrief.reports.charts.svg_converter import Converter, NotDrawn
from benchbrief.reports.data.view_model import figures_of
from benchbrief.reports.render.render_report import render
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from tests.cli.specs import SMALL
from tests.reports import briefs
from tests.reports import world as w
from tests.support.bench import fresh_bench
from tests.support.drawn_once import CONVERTER
from tests.support.longer import longer
from tests.support.stored_texts import change_texts

SPEC: dict[str, Any] = {"mark": "point", "data": {"values": [{"a": 1}]}, "encoding": {"x": {"field": "a"}}}
UNWRITABLE = ["\x00", "\x01", "\x08", "\x0b", "\x0c", "\x1b", "\x1f", "\ud800", "\ufffe", "\uffff"]
ODD = ["\x7f", "\x85", "\x9b", "\u202e", "\u2028", "\ufdd0", "\U0001fffe", "\ufeff"]


def titled(title: str) -> dict[str, Any]:
    return {**SPEC, "title": title}


def chart(text: str) -> Chart:
    """Return a chart that shows the text in every possible place."""
    lines = tuple(
        Trace(f"{text}{i}", "line", (ChartPoint(0, 1.0), ChartPoint(1, 2.0 + i)), i, loose=True) for i in range(2)
    )
    return Chart(lines, XAxis(text, "category", (text, f"b{text}")), text, heading=text)


@pytest.mark.parametrize("char", UNWRITABLE + ODD, ids=ascii)
def test_no_character_of_a_text_keeps_a_figure_from_being_drawn(char: str) -> None:
    svg = draw([chart(f"Before{char}after")], 600, 300, f"Font{char}", CONVERTER).svg
    written = "".join(ET.fromstring(svg).itertext())  # noqa: S314  # our own drawing
    shown = "\ufffd" if char in UNWRITABLE else char
    assert f"Before{shown}after" in written


def seconds(each: Chart) -> float:
    """Return how many seconds it takes to draw a chart whose texts are cut."""
    started = time.monotonic()
    assert "…" in draw([each], 600, 300, "Inter", CONVERTER).svg
    return time.monotonic() - started


@pytest.mark.parametrize("text", [*longer("word " * 1000), "x" * 5000], ids=["words", "one word"])
def test_a_text_of_thousands_of_characters_costs_a_figure_little_more_than_one_of_hundreds(text: str) -> None:
    ends = tuple(ChartPoint(float(x), 1.0 + x, label=text) for x in range(5))
    curves = tuple(Trace(f"{text}{i}", "curve", ends, i) for i in range(2))
    draw([chart("short")], 600, 300, "Inter", CONVERTER)  # starts the converter
    short = seconds(chart(text[:400]))
    for each in (chart(text), Chart(curves, XAxis(text, "linear"), text, text)):
        assert seconds(each) < 20 * short, "it was more than 50 times as long"


@pytest.mark.long
def test_a_converter_that_ends_costs_one_drawing_and_says_why() -> None:
    converter = Converter()
    before = converter.svg(titled("before"))
    with pytest.raises(NotDrawn, match=r"ended by SIGABRT: .*NonXmlChar"):
        converter.svg(titled("\x01"))
    assert converter.svg(titled("before")) == before
    converter.close()


@pytest.mark.parametrize(
    ("command", "limit", "reason"),
    [
        (("/nonexistent/python",), 60, "does not start: /nonexistent/python"),
        (("false",), 60, "ended with code 1$"),
        (("sh", "-c", "echo it broke >&2; exit 7"), 60, "ended with code 7: it broke$"),
        (("sh", "-c", "kill -9 $$"), 60, "ended by SIGKILL$"),
        (("sh", "-c", "echo no json; exec sleep 60"), 60, "gave an answer that is no JSON object$"),
        *longer(
            (("sh", "-c", "echo 7; exec sleep 60"), 60, "gave an answer that is no JSON object$"),
            (("sh", "-c", "exec >&-; exec sleep 60"), 60, "closed its output, and still runs$"),
        ),
        (("sleep", "60"), 0.5, "no drawing within 0.5 s"),
    ],
)
def test_every_end_of_a_converter_is_a_reason_in_one_line(command: tuple[str, ...], limit: float, reason: str) -> None:
    converter = Converter(command, limit)
    for _ in range(2):
        with pytest.raises(NotDrawn, match=reason) as raised:
            converter.svg(SPEC)
        assert "\n" not in str(raised.value)
    converter.close()


def test_a_specification_that_the_converter_refuses_does_not_end_it() -> None:
    with pytest.raises(NotDrawn, match="refuses"):
        CONVERTER.svg({})
    assert "<svg" in CONVERTER.svg(SPEC)


@pytest.mark.long
def test_a_converter_that_was_killed_between_two_drawings_starts_again() -> None:
    converter = Converter()
    converter.svg(SPEC)
    child = converter._child
    assert child
    child.kill()
    child.wait()
    assert "<svg" in converter.svg(SPEC)
    converter.close()


# --- in a brief ----------------------------------------------------------------------------------------------------


@pytest.fixture
def one_breaks(monkeypatch: pytest.MonkeyPatch) -> tuple[w.World, p.Report]:
    """Make a report whose first figure crashes the real converter, because the figure's texts are not cleaned."""
    world, report = briefs.quickstart()
    (section,) = [each for each in report.elements if isinstance(each, p.SectionElement)][:1]
    figure = next(each for each in section.elements if isinstance(each, p.FigureElement))
    broken = figure.model_copy(update={"x_label": "\x01"})
    monkeypatch.setattr(draw_chart, "writable", lambda spec: spec)
    return world, report.model_copy(update={"elements": (broken, *report.elements)})


@pytest.mark.long
def test_a_figure_that_can_not_be_drawn_costs_that_figure_and_is_reported_on_the_first_page(
    one_breaks: tuple[w.World, p.Report],
) -> None:
    world, report = one_breaks
    view = build(world.plan(report), world.store(), report, CATALOGUES["en"])
    first, *others = figures_of(view.blocks)
    assert "SIGABRT" in first.undrawn
    assert not first.svg
    assert all(each.svg and not each.undrawn for each in others)
    (notice,) = [each for each in view.notices if each.title == "Figures are missing"]
    assert notice.severity == "error"
    assert notice.text.startswith("Figure 1 could not be drawn (the chart converter ended by SIGABRT")


@pytest.mark.long
@pytest.mark.parametrize("language", ["en", *longer("ja")])
def test_a_brief_without_a_figure_has_its_place_its_reason_and_its_data(
    one_breaks: tuple[w.World, p.Report], language: str, tmp_path: Path
) -> None:
    world, report = one_breaks
    report = report.model_copy(update={"language": language})
    formats: tuple[Format, ...] = ("html", "markdown", "pdf") if language == "ja" else ("html", "markdown")
    made = render(world.plan(report), world.store(), report.name, tmp_path, formats=formats)
    words = CATALOGUES[language]
    html = made.html.read_text("utf-8")
    assert made.undrawn[0].startswith(f"figure 1 of `{report.name}`: the chart converter ended by SIGABRT")
    place = re.search(r'<figure class="chart[^"]*" id="figure-1".*?</figure>', html, re.DOTALL)
    assert place
    assert words["undrawn_figure"].partition("{")[0] in place.group()
    assert (made.pdf is not None) == ("pdf" in formats)
    if made.pdf:
        first_page = PdfReader(made.pdf).pages[0].extract_text().replace("\n", "")
        assert words["notice_undrawn"].replace(" ", "") in first_page.replace(" ", "")
    assert words["notice_undrawn"] in (tmp_path / f"{made.html.stem}.md").read_text("utf-8")
    assert (tmp_path / f"{made.html.stem}-figures" / "figure-1.csv").read_text("utf-8").count("\n") > 2


@pytest.mark.long
def test_run_and_report_end_with_code_3_when_no_figure_can_be_drawn(tmp_path: Path) -> None:
    """The test replaces the converter with a module that ends every process that imports it."""
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "vl_convert.py").write_text("import os\nos.abort()\n")
    with fresh_bench(tmp_path / "bench") as bench:
        bench.spec(SMALL)
        env = {"PYTHONPATH": str(broken)}
        ran = bench("run", "brief.bench", "--simulate", "--json", env=env).plainly()
        assert ran.code == 3
        assert ran.json["undrawn"] == ["figure 1 of `brief`: the chart converter ended by SIGABRT"]
        assert [Path(path).suffix for path in ran.json["reports"]["brief"]][:4] == [".pdf", ".pdf", ".html", ".html"]
        again = bench("report", "simulated", "--html-only", "--json", env=env).plainly()
        assert "warning: missing from the brief: figure 1 of `brief`: the chart converter ended by" in again.err
        assert (again.code, again.json["undrawn"]) == (3, ran.json["undrawn"])
        whole = bench("report", "simulated", "--html-only", "--json").plainly()
        assert (whole.code, list(whole.json["reports"]), whole.json["undrawn"]) == (0, ["brief"], [])


@pytest.mark.long
def test_a_stored_run_of_an_earlier_version_keeps_its_brief_whatever_its_texts_hold(tmp_path: Path) -> None:
    with fresh_bench(tmp_path, paper=True) as bench:
        bench.spec(SMALL)
        assert bench("run", "brief.bench", "--simulate", "--no-report").code == 0
        change_texts(bench.run_dir, lambda text: text.replace("First folder", "First\x1b\x01\uffff folder"))
        shown = bench("report", "simulated", "--format", "html,pdf,markdown").plainly()
        assert shown.code == 0, shown.text
        page = next((bench.run_dir / "reports").glob("*.html")).read_text("utf-8")
        assert "First\ufffd\ufffd\ufffd folder" in page
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", page)


@pytest.mark.long
def test_the_child_imports_the_converter_alone() -> None:
    """The first drawing has to wait for the imports of the child."""
    import subprocess

    code = "import sys, runpy; runpy.run_path(sys.argv[1], run_name='__main__'); print(*sorted(sys.modules))"
    path = str(Path(draw_chart.__file__).with_name("svg_converter.py"))
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, path], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True
    )
    loaded = (done.stdout + done.stderr).split()
    assert "vl_convert" in loaded
    assert not {"altair", "benchbrief", "pydantic"} & set(loaded)


def test_a_drawing_becomes_pixels_twice_as_many() -> None:
    png = CONVERTER.png(
        '<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"><rect width="9" height="9"/></svg>'
    )
    assert png.startswith(b"\x89PNG")
    assert (int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")) == (60, 40)
    with pytest.raises(NotDrawn, match="refuses"):
        CONVERTER.png("no picture")
