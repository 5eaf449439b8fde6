"""Draws the pictures of docs/reports.md, from docs/pictures/sample.bench and made-up values.

    python -m tools.pictures [NAME...]    all of them, or those of the named reports

Each report of the sample gives one picture, of a page or of the parts of it that CROPS names. A picture stores a digest
of its report's text, so that a test can tell which pictures are out of date.
"""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image, PngImagePlugin

from benchbrief.compiler.compile import check
from benchbrief.dsl.source import Source
from benchbrief.dsl.syntax import ast
from benchbrief.dsl.syntax.parse import parse
from benchbrief.model.plan import Plan, Report
from benchbrief.reports.charts.svg_converter import Converter
from benchbrief.reports.data.report_data import AskedStore
from benchbrief.reports.data.view_model import figures_of, with_redrawn_figures
from benchbrief.reports.render.companion import companion_of, lead_across
from benchbrief.reports.render.fill_pages import Arrangement
from benchbrief.reports.render.page_html import to_html
from benchbrief.reports.render.page_pdf import to_pdf
from benchbrief.reports.view.build_view import build
from benchbrief.reports.view.house_style import house_of
from benchbrief.reports.words.brief_words import words_of
from benchbrief.results.open_store import fresh_store

REPOSITORY = Path(__file__).resolve().parents[1]
FOLDER = REPOSITORY / "docs" / "pictures"
SAMPLE = FOLDER / "sample.bench"

PAGE = "page of "
CROPS: dict[str, tuple[str, ...]] = {
    "title": ("band",),
    "headline": ("headline",),
    "callout": ("callout",),
    "order": (f"{PAGE}band",),
    "appendix": (f"{PAGE}band",),
    "disclosure": ("companion",),
    "columns": (f"{PAGE}band",),
    "one_page": (f"{PAGE}band",),
    "brand": ("band", "callout"),
    "font": ("band",),
    "logo": ("band",),
    "cover": ("band",),
    "facts": ("facts",),
    "best": ("table",),
    "heat": ("table",),
    "compare": ("table",),
    "published": ("table",),
    "formula": ("formula",),
    "footnote": ("text", "FootnoteAreaBox"),
    "legal": ("legal",),
    "internal": (f"{PAGE}band",),
    "slides": (f"{PAGE}figure",),
    "paper": (f"{PAGE}h1",),
}
"""The parts of a page that each picture shows, given as classes of the page or kinds of the PDF writer's boxes. A
picture may also show a box's whole page. Pictures that are not listed show a figure."""
AS_FILE = "palette"
"""The report whose figure is also saved as the SVG that accompanies a brief."""
_DPI, _PAGE_DPI = 132, 75
_AIR = 5.0
"""The pixels around a cropped part."""


def reports() -> dict[str, str]:
    """Return the texts of the sample's reports by name."""
    tree = parse(Source(SAMPLE.name, SAMPLE.read_text(encoding="utf-8")))
    blocks = (each for each in tree.declarations if isinstance(each, ast.Block) and each.keyword.text == "report")
    return {each.name.text: each.span.text for each in blocks if each.name}


def digest(report: str) -> str:
    return hashlib.sha256(report.encode()).hexdigest()[:16]


def digest_in(picture: Path) -> str:
    """Return the digest of the report that a picture was drawn from."""
    with Image.open(picture) as image:
        return str(image.info.get("report", ""))


def made_up_values() -> str:
    """Return a table for `bench import table`: three kinds of drives that differ, and repeats that differ slightly."""
    noise = random.Random(1)  # noqa: S311  # the same in each drawing
    drives = {"disk": (900, 5), "sata": (7400, 14), "nvme": (9300, 20)}
    loads = {"a": 0.8, "b": 1.1, "c": 1.3}
    lines = [
        "# title: Made-up values for the pictures of this page",
        "# publisher: nobody",
        "# document: docs/reports.md",
        "# licence: that of the documentation",
        "hardware, workload, threads, repeat, throughput (ops/s), latency.p99[read] (ms), times (x)",
        *(f", {load}, 64, , , , {times}" for load, times in zip(loads, (8, 9, 9), strict=True)),
    ]
    for drive, (most, half) in drives.items():
        for load, share in loads.items():
            better = 1.2 if (drive, load) == ("sata", "a") else 1.0
            for threads in (4, 8, 16, 32, 64):
                rate = most * share * better * threads / (threads + half)
                for repeat in (1, 2, 3):
                    done = rate * noise.uniform(0.98, 1.02)
                    lines.append(f"{drive}, {load}, {threads}, {repeat}, {done:.1f}, {2500 * threads / done:.2f},")
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Box:
    """A part of a page, in pixels of the page from its top left corner."""

    page: int
    left: float
    top: float
    right: float
    bottom: float


def find_box(document: Any, wanted: str) -> Box:
    """Return the place of the first box whose element has this class or tag, or which is of this kind of the PDF
    writer's boxes. If the name begins with `PAGE`, return the box's whole page."""
    for number, page in enumerate(document.pages, 1):
        sheet = page._page_box
        for box in sheet.descendants():
            element = getattr(box, "element", None)
            classes = str(element.get("class") or "").split() if element is not None else []
            if wanted.removeprefix(PAGE) in (*classes, getattr(box, "element_tag", ""), type(box).__name__):
                if wanted.startswith(PAGE):
                    return Box(number, 0, 0, sheet.margin_width(), sheet.margin_height())
                left, top = box.border_box_x(), box.border_box_y()
                return Box(number, left, top, left + box.border_width(), top + box.border_height())
    raise LookupError(f"no page has a {wanted!r}")


def drawn(pdf: Path, box: Box, dpi: int) -> Image.Image:
    scale, air = dpi / 96, 0.0 if box.left <= 0 else _AIR
    left, top = int(max(0, box.left - air) * scale), int(max(0, box.top - air) * scale)
    right, bottom = round((box.right + air) * scale), round((box.bottom + air) * scale)
    part = ["-x", left, "-y", top, "-W", right - left, "-H", bottom - top, "-f", box.page, "-l", box.page]
    command = ["pdftoppm", "-r", dpi, *part, "-png", pdf]
    done = subprocess.run([str(word) for word in command], capture_output=True, check=True, timeout=100)
    return Image.open(BytesIO(done.stdout)).convert("RGB")


def stacked(images: list[Image.Image], gap: int = 12) -> Image.Image:
    """Return the pictures, one below the other, on white."""
    height = sum(each.height for each in images) + gap * (len(images) - 1)
    whole = Image.new("RGB", (max(each.width for each in images), height), "white")
    top = 0
    for each in images:
        whole.paste(each, (0, top))
        top += each.height + gap
    return whole


def save(image: Image.Image, path: Path, colours: int = 48, **notes: str) -> None:
    """Write a picture with few colours, which makes the file a third as large."""
    info = PngImagePlugin.PngInfo()
    for key, text in notes.items():
        info.add_text(key, text)
    few = image.quantize(colours, dither=Image.Dither.NONE)
    few.save(path, optimize=True, pnginfo=info)


def draw(plan: Plan, report: Report, results: AskedStore, converter: Converter, folder: Path) -> Image.Image:
    """Lay out the brief as `bench report` does, and return the parts that its picture shows."""
    catalogue, house = words_of(report), house_of(report, None)
    view = build(plan, results, report, catalogue, converter=converter)
    companion = companion_of(f"{report.name}-disclosure.pdf", b"", report.address) if view.disclosed else None
    view = replace(view, companion=companion)
    documents: list[Any] = []

    def page(arrangement: Arrangement) -> str:
        redrawn = replace(view, blocks=with_redrawn_figures(view.blocks, arrangement.shares))
        html = to_html(redrawn, report.template, catalogue, "paper", house, first_figure=arrangement.first_figure)
        return lead_across(html, "") if companion else html

    pdf = folder / f"{report.name}.pdf"
    pdf.write_bytes(to_pdf(page(Arrangement()), redraw=page, one_page=view.one_page, inspect=documents.append))
    if report.name == AS_FILE:
        (figure,) = figures_of(view.blocks)
        (FOLDER / "figure.svg").write_text(figure.svg, encoding="utf-8")
    crops = CROPS.get(report.name, ("figure",))
    dpi = _PAGE_DPI if crops[0].startswith(PAGE) else _DPI
    return stacked([drawn(pdf, find_box(documents[-1], crop), dpi) for crop in crops])


def imported_values(folder: Path) -> Iterator[Path]:
    (folder / "values.csv").write_text(made_up_values(), encoding="utf-8")
    bench = Path(sys.executable).with_name("bench")
    words = ["import", "table", folder / "values.csv", "--spec", SAMPLE, "--out", folder / "runs"]
    subprocess.run([bench, *map(str, words)], check=True, timeout=300)
    yield from (folder / "runs").glob("*-imported")


def main(names: list[str]) -> int:
    texts = reports()
    unknown = [name for name in names if name not in texts]
    if unknown:
        print(f"{SAMPLE.name} has no report {', '.join(unknown)}", file=sys.stderr)
        return 2
    plan = check(SAMPLE).plan
    if plan is None:
        print(f"{SAMPLE.name} has mistakes: run `bench check {SAMPLE.relative_to(REPOSITORY)}`", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as temporary, Converter().running() as converter:
        folder = Path(temporary)
        (run,) = imported_values(folder)
        with fresh_store(run) as results:
            for report in plan.reports:
                if not names or report.name in names:
                    path = FOLDER / f"{report.name}.png"
                    save(draw(plan, report, results, converter, folder), path, report=digest(texts[report.name]))
                    print(f"{path.relative_to(REPOSITORY)} {path.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
