"""Tests the marks on numbers that were not measured here. Nothing that a user adds removes them."""

from __future__ import annotations

import subprocess
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from html import escape
from io import BytesIO
from itertools import product
from pathlib import Path

import pytest
from fontTools.fontBuilder import FontBuilder  # type: ignore[import-untyped]
from fontTools.pens.ttGlyphPen import TTGlyphPen  # type: ignore[import-untyped]
from markupsafe import Markup
from PIL import Image
from pypdf import PdfReader

from benchbrief.model import plan as p
from benchbrief.model.extension_spec import Format
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.data.view_model import ReportView
from benchbrief.reports.render.page_html import Medium, to_html
from benchbrief.reports.render.page_pdf import parse_page, to_pdf
from benchbrief.reports.render.render_report import render
from benchbrief.reports.render.watermark import draw_sheet, mark_markdown
from benchbrief.reports.view.build_view import build
from benchbrief.reports.view.house_style import House
from benchbrief.reports.words.brief_words import CATALOGUES, Words
from tests.reports import world as w
from tests.support import paging
from tests.support.longer import one_in
from tests.support.tools import system_tool

KINDS = {"simulated": "SIMULATED", "imported": "Imported: not measured here"}
PDF: tuple[Format, ...] = ("pdf",)
LEAD = (p.CalloutElement(title="Lead", prose=w.text("Words.")),)
BLANK = Words("fr", {**CATALOGUES["en"].entries, "watermark": "", "imported_mark": " "})
Page = Callable[..., str]


def blank_typeface() -> str:
    """Return the address of a typeface that has the name Inter and empty letters."""
    letters = {code: f"glyph{code}" for code in range(32, 127)}
    order = [".notdef", *letters.values()]
    font = FontBuilder(1000, isTTF=True)
    font.setupGlyphOrder(order)
    font.setupCharacterMap(letters)
    font.setupGlyf({name: TTGlyphPen(None).glyph() for name in order})
    font.setupHorizontalMetrics(dict.fromkeys(order, (600, 0)))
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable({"familyName": "Inter", "styleName": "Bold"})
    font.setupOS2()
    font.setupPost()
    file = BytesIO()
    font.save(file)
    return f"data:font/ttf;base64,{b64encode(file.getvalue()).decode()}"


EVERYTHING = "html, body, div, span, .simulated-mark, .imported-mark, .simulated-mark span"
HOSTILE = {
    "moved away and not shown": f"""
        .simulated-mark, .imported-mark {{ padding: 5000px !important; transform: translateX(5000px) !important }}
        .simulated-mark span {{ position: absolute !important; top: -9999px !important }}
        .simulated-mark, .imported-mark, .notice, .notices, .running-foot {{ display: none !important }}
        {EVERYTHING} {{ opacity: 0 !important; font-size: 0 !important; clip-path: inset(50%) !important }}
    """,
    "cut off": f"""
        @page {{ size: 200mm 120mm; margin: 90mm 0 0; overflow: hidden }} @page :first {{ margin: 0 }}
        {EVERYTHING} {{ overflow: hidden !important; height: 1px !important; width: 1px !important }}
    """,
    "under a red page": """
        @page { background: #a31d1d } html, body, main, .band { background: #a31d1d !important }
        body::after { content: ""; position: fixed; inset: -100mm; z-index: 2147483647; background: #a31d1d }
    """,
    "in a typeface of nothing": f"""
        @font-face {{ font-family: Inter; font-weight: bold; src: url({blank_typeface()}) }}
        * {{ font: bold 12px Inter !important }}
    """,
}
"""Style sheets that hide everything that they can reach."""
HOSTILE_ON_SCREEN = f"""
    {HOSTILE["moved away and not shown"]} {HOSTILE["cut off"]}
    html, body {{
      transform: translate(-9999px) !important; filter: opacity(0) !important; contain: strict !important;
      content-visibility: hidden !important; position: absolute !important; clip: rect(0, 0, 0, 0) !important;
      visibility: hidden !important; display: none !important; zoom: 0.01 !important; scale: 0 !important }}
    * {{ direction: rtl !important; transition: all 99s 99s !important; animation: gone 1s forwards !important }}
    @keyframes gone {{ to {{ opacity: 0 }} }}
"""


@pytest.fixture(scope="module")
def view() -> ReportView:
    world = w.World({"disk": "Disk"}, {"a": "Sessions"})
    report = w.report("A report", *LEAD, legal=w.text("Small print."))
    return build(world.plan(report), world.store(), report, CATALOGUES["en"], None)


@pytest.fixture
def page(view: ReportView) -> Page:
    def make(
        kind: str,
        legal: str = "",
        words: Words = CATALOGUES["en"],
        medium: Medium = "screen",
        template: str = "technical_brief",
        css: str = "",
    ) -> str:
        parts = (("legal.html.j2", "house/legal.html.j2", legal),) if legal else ()
        return to_html(of_kind(view, kind), template, words, medium, House(css=Markup(css), parts=parts))  # noqa: S704  # ours

    return make


def of_kind(view: ReportView, kind: str) -> ReportView:
    return replace(view, simulated=kind == "simulated", imported=kind == "imported")


def mark_on(html: str, kind: str) -> str:
    (element,) = parse_page(html).findall(f"./body/div[@class='{kind}-mark']")
    return "".join(element.itertext())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "part", ["<!--", "<div hidden>", "<textarea>", "<template>", "<style>", "<noscript>", "<title>", "<b"]
)
def test_a_part_that_would_swallow_the_mark_is_refused(page: Page, kind: str, part: str) -> None:
    with pytest.raises(ReportError, match=r"hide the mark .*: house/legal\.html\.j2"):
        page(kind, part)


@pytest.mark.parametrize("kind", KINDS)
def test_a_part_that_closes_what_it_opens_leaves_the_mark(page: Page, kind: str) -> None:
    assert KINDS[kind] in mark_on(page(kind, "<!-- ours --><p>Small print.</p>"), kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_catalogue_without_the_words_of_the_mark_has_ours(page: Page, kind: str) -> None:
    assert KINDS[kind] in mark_on(page(kind, words=BLANK), kind)
    assert KINDS["imported"] in mark_markdown("# A report", BLANK, "imported_mark")


@pytest.mark.parametrize("kind", KINDS)
def test_words_of_ones_own_stand_before_ours(page: Page, kind: str) -> None:
    own = Words("fr", {**CATALOGUES["en"].entries, "watermark": "SIMULÉ", "imported_mark": "Pas mesuré ici"})
    shown = mark_on(page(kind, words=own), kind)
    assert shown.startswith(own["watermark" if kind == "simulated" else "imported_mark"])
    assert KINDS[kind] in shown


@pytest.mark.parametrize(("hostile", "kind"), one_in(3, product(HOSTILE, KINDS)))
def test_no_style_sheet_takes_the_mark_from_a_sheet_of_paper(
    page: Page, view: ReportView, kind: str, hostile: str, tmp_path: Path
) -> None:
    html = page(kind, medium="paper", template="slide", css=HOSTILE[hostile])
    over = draw_sheet(of_kind(view, kind), CATALOGUES["en"])
    seen = []
    for name, drawn in (("marked", over), ("bare", None)):
        path = tmp_path / f"{name}.pdf"
        path.write_bytes(to_pdf(html, over=drawn))
        seen.append(list(paging.sheets(path, 36)))
    marked, bare = seen
    assert len(marked) == len(bare) > 0
    for with_mark, without in zip(marked, bare, strict=True):
        changed = sum(abs(one - other) > 15 for one, other in zip(with_mark.pixels, without.pixels, strict=True))
        assert changed > (1200 if kind == "simulated" else 80), changed


@pytest.mark.long
def test_no_style_sheet_takes_the_marks_from_the_screen(page: Page, tmp_path: Path) -> None:
    """A browser shows both pages side by side, and each has the red of the mark in its window."""
    frames = "".join(
        f'<iframe sandbox srcdoc="{escape(page(kind, css=HOSTILE_ON_SCREEN))}"></iframe>' for kind in KINDS
    )
    style = "body { margin: 0; display: flex } iframe { border: 0; width: 600px; height: 600px }"
    (tmp_path / "both.html").write_text(f"<!DOCTYPE html><style>{style}</style>{frames}", "utf-8")
    flags = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage")
    painted = ("--run-all-compositor-stages-before-draw", "--virtual-time-budget=3000")  # frames, too, however busy
    command: list[str | Path] = [
        *(system_tool("chromium"), *flags, *painted, f"--user-data-dir={tmp_path / 'profile'}"),
        "--window-size=1200,600",
        *("--hide-scrollbars", f"--screenshot={tmp_path / 'both.png'}", (tmp_path / "both.html").as_uri()),
    ]
    for _ in range(3):  # a busy machine may not have painted a frame yet; a mark that is hidden stays so
        subprocess.run(command, check=True, capture_output=True, timeout=100)
        image = Image.open(tmp_path / "both.png").convert("RGB")
        reds = [_reds(image.crop(box)) for box in ((0, 100, 600, 500), (600, 560, 1200, 600))]
        if min(reds) > 300:
            break
    assert min(reds) > 300, reds


def _reds(image: Image.Image) -> int:
    """Count the pixels that are as red as the watermark."""
    pixels = image.tobytes()
    return sum(red - green > 20 for red, green in zip(pixels[::3], pixels[1::3], strict=True))


@pytest.mark.parametrize("template", ["technical_brief", "slide"])
def test_every_sheet_of_an_imported_brief_says_so(page: Page, view: ReportView, template: str) -> None:
    over = draw_sheet(of_kind(view, "imported"), CATALOGUES["en"])
    pdf = PdfReader(BytesIO(to_pdf(page("imported", medium="paper", template=template), over=over)))
    assert pdf.pages
    assert all(KINDS["imported"] in sheet.extract_text() for sheet in pdf.pages)


def test_a_sheet_of_any_size_is_marked_all_over(view: ReportView) -> None:
    over = draw_sheet(of_kind(view, "simulated"), CATALOGUES["en"])
    assert over
    assert [over(*size).count('class="tile"') for size in ((794, 1123), (1280, 720), (794, 20_000))] == [1, 1, 14]


def test_a_part_that_the_pdf_writer_fails_over_is_named(tmp_path: Path) -> None:
    part = tmp_path / "callout.html.j2"
    part.write_text('<p style="transform: scale(0)">Nothing.</p>')
    world, report = w.World({"disk": "Disk"}, {"a": "Sessions"}), w.report("A report", *LEAD)
    report = report.model_copy(update={"parts": (p.Asset(file=str(part), sha256="0" * 64),)})
    with pytest.raises(ReportError, match=r"fails over the house style: .*/callout\.html\.j2") as shown:
        render(world.plan(report), world.store(), report.name, tmp_path, formats=PDF)
    assert "--format html" in shown.value.hint


def test_a_brief_of_measurements_has_no_mark(page: Page) -> None:
    assert "-mark" not in page("measured", "<!--")
