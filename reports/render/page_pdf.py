"""Turns HTML into PDF/UA-1: tagged, titled, with bookmarks and embedded fonts. Only this module uses WeasyPrint."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from io import BytesIO
from math import degrees
from typing import TYPE_CHECKING, Any

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.reports.brief_error import ReportError, hides
from benchbrief.reports.render.fill_pages import Arrangement, fit_figures, notes_elsewhere
from benchbrief.reports.render.remembered_lines import (
    once_a_sheet,
    once_a_style,
    once_a_width,
    remembering_lines,
    with_memory,
)
from benchbrief.reports.text.html_markup import letters

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

LAYOUTS = ("absolute", "block", "column", "float", "grid", "inline", "page", "table")
"""The writer's modules that set the sizes of boxes."""
_LEAST_SIZE = 4.0
"""The smallest type size in CSS pixels that counts as visible."""
_MOST_MOVED = 10.0
"""How far a text may be moved, in CSS pixels, or how far it may be turned, in degrees."""
_LEAST_CONTRAST = 1.8
"""The least contrast by WCAG 2.2 that counts as visible. It is far below the recommended contrast, so that only
mistakes are refused."""


@dataclass(frozen=True)
class _Around:
    """The part of a box that its enclosing boxes don't clip, as (left, top, right, bottom), and the colour behind it,
    as shares of red, green and blue."""

    area: tuple[float, float, float, float]
    ground: tuple[float, float, float] = (1.0, 1.0, 1.0)


def find_unseen(pages: Iterable[Any], wanted: Iterable[str]) -> list[str]:
    """Return the texts that a reader of the pages cannot see, however they are broken into lines, hyphenated or
    capitalised."""
    pages = [page._page_box for page in pages]
    shown = "|".join(
        letters("".join(text for page in pages for text in _of_page(page, notes=n))) for n in (False, True)
    )
    return [text for text in wanted if letters(text) not in shown]


def _of_page(page: Any, *, notes: bool) -> Iterator[str]:
    """Yield the visible texts of a page's main flow or, with `notes`, of its footnotes. The two are separate because
    footnotes would interrupt a text that continues on the next page."""
    around = _Around((0.0, 0.0, page.margin_width(), page.margin_height()))
    for box in page.children[1:] if notes else page.children[:1]:
        if not notes or type(box).__name__ == "FootnoteAreaBox":
            yield from _of_box(box, around)


def _of_box(box: Any, around: _Around) -> Iterator[str]:
    style = box.style
    if style["opacity"] < 0.5 or _is_moved(style["transform"]) or style["clip"]:
        return
    alpha = style["background_color"].alpha
    mixed = zip(_rgb(style["background_color"]), around.ground, strict=True)
    red, green, blue = (alpha * own + (1 - alpha) * under for own, under in mixed)
    around = replace(around, ground=(red, green, blue))
    text = getattr(box, "text", None)
    if text is not None:
        if _seen(box, around):
            yield text
        return
    if style["overflow"] != "visible":
        left, top, right, bottom = around.area
        x, y = box.border_box_x(), box.border_box_y()
        area = (max(left, x), max(top, y), min(right, x + box.border_width()), min(bottom, y + box.border_height()))
        around = replace(around, area=area)
    for child in getattr(box, "children", ()):
        yield from _of_box(child, around)


def _is_moved(transform: Iterable[tuple[str, Any]]) -> bool:
    """Return whether a transform moves or turns a box by more than a style sheet may
    (`compiler/briefs/confined_styles.py`)."""
    for name, by in transform:
        if name == "translate":
            if any(length.unit != "px" or abs(length.value) > _MOST_MOVED for length in by):
                return True
        elif name != "rotate" or abs(degrees(by)) > _MOST_MOVED:
            return True
    return False


def _seen(box: Any, around: _Around) -> bool:
    style = box.style
    left, top, right, bottom = around.area
    x, y = box.position_x + box.width / 2, box.position_y + box.height / 2
    return (
        style["visibility"] == "visible"
        and style["font_size"] >= _LEAST_SIZE
        and style["color"].alpha >= 0.5
        and left <= x <= right
        and top <= y <= bottom
        and _contrast(_rgb(style["color"]), around.ground) >= _LEAST_CONTRAST
    )


def _rgb(color: Any) -> tuple[float, float, float]:
    red, green, blue = color.to("srgb").coordinates
    return red, green, blue


def _contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """Return the contrast ratio of two colours (WCAG 2.2)."""
    low, high = sorted(map(_luminance, (one, other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: tuple[float, ...]) -> float:
    linear = (share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in color)
    return sum(weight * share for weight, share in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


_WATERMARK = b"<</Type/Pagination/Subtype/Watermark>>"
"""The type of a stamp among a page's artifacts (ISO 32000-1, 14.8.2.2.2)."""


def parse_page(html: str) -> Element:
    """Parse the page as browsers and the PDF writer do, following HTML's rules for omitted tags."""
    weasyprint = _weasyprint()
    tree: Element = weasyprint.HTML(string=html, url_fetcher=_fetcher()).etree_element
    return tree


def to_pdf(
    html: str,
    attached: Callable[[str], Mapping[str, bytes]] | None = None,
    over: Callable[[float, float], str] | None = None,
    *,
    must_say: Callable[[str], Sequence[str]] | None = None,
    redraw: Callable[[Arrangement], str] | None = None,
    rigid: Collection[str] = (),
    one_page: bool = False,
    further: int = 0,
    inspect: Callable[[Any], None] | None = None,
) -> bytes:
    """Return the document as a PDF, with the files that `attached` returns for the page as it was laid out. Nothing is
    loaded, because the page contains everything that it shows.

    `over` returns HTML to draw over each finished sheet of a given width and height in CSS pixels. The document's style
    sheets and screen readers do not reach it. `redraw` returns the page in another arrangement. With `redraw`, figures
    are fitted to their pages, or to `one_page`, and footnotes are placed on the pages that cite them. Figures with
    `rigid` ids never get lower. `further` is the number of limits that only a whole ending has. `inspect` examines the
    finished layout. Raises ReportError if a text that `must_say` returns for the page is not visible as laid out.
    """
    weasyprint = _weasyprint()
    logging.getLogger("fontTools").setLevel(logging.ERROR)  # remarks on font tables that subsetting drops
    options = {"pdf_variant": "pdf/ua-1", "pdf_tags": True}

    def laid_out(page: str) -> Any:
        document = weasyprint.HTML(string=page, url_fetcher=_fetcher()).render(typefaces, **options)
        pages[id(document)] = page
        return document

    pages: dict[int, str] = {}
    typefaces = weasyprint.text.fonts.FontConfiguration()
    with remembering_lines():
        document = laid_out(html)
        if redraw:

            def again(arrangement: Arrangement) -> Any:
                document = laid_out(redraw(arrangement))
                arranged[id(document)] = arrangement
                return document

            arranged = {id(document): Arrangement()}
            document = fit_figures(document, again, rigid=rigid, one_page=one_page, further=further)
            if notes := notes_elsewhere(document):
                noted = again(replace(arranged[id(document)], notes=notes))
                document = noted if len(noted.pages) == len(document.pages) else document
    _require(document, must_say(pages[id(document)]) if must_say else ())
    if inspect:
        inspect(document)
    if over:
        _stamp(document, over)
    files = [
        weasyprint.Attachment(file_obj=BytesIO(content), name=name, description=name)
        for name, content in (attached(pages[id(document)]) if attached else {}).items()
    ]

    def finish(document: Any, pdf: Any) -> None:
        if over:
            _stamped(document, pdf)
        if files:
            _associate(pdf, ["Source" if file.name.endswith(".zip") else "Data" for file in files])

    pdf: bytes = document.write_pdf(finisher=finish, attachments=files, **options)
    return pdf


def require_on_screen(html: str, texts: Sequence[str]) -> None:
    """Raise ReportError if a text is not visible in a browser, on a light or a dark page. The style rules for windows
    of all sizes and for all kinds of media are applied at once."""
    weasyprint = _weasyprint()
    for light in (True, False):

        def counted(rule: re.Match[str], *, light: bool = light) -> str:
            return "@media print {" if light and "dark" in rule[1] else "@media all {"

        always = re.sub(r"@media([^{};]*)\{", counted, html)
        _require(weasyprint.HTML(string=always, url_fetcher=_fetcher(), media_type="screen").render(), texts)


def _require(document: Any, texts: Sequence[str]) -> None:
    if texts and (hidden := find_unseen(document.pages, texts)):
        raise hides(hidden[0])


def _stamp(document: Any, over: Callable[[float, float], str]) -> None:
    """Make each laid-out page also paint the page that `over` returns for its size, on top of everything else."""
    typefaces = _Typefaces()
    for page in document.pages:
        stamp = _stamp_of(over(page.width, page.height))
        page.paint = partial(_painted, page.paint, stamp, typefaces, document.fonts)


@lru_cache(maxsize=4)
def _stamp_of(html: str) -> Any:
    """Return the laid-out stamp, which a brief and its disclosure share."""
    return _weasyprint().HTML(string=html, url_fetcher=_fetcher()).render()


def _painted(
    paint: Callable[[Any, float], None],
    stamp: Any,
    typefaces: _Typefaces,
    fonts: dict[object, Any],
    stream: Any,
    scale: float,
) -> None:
    """Return a page with its stamp as an artifact. The stamp has no tags, so it is not in the document's tree."""
    paint(stream, scale)
    layer = stream.clone(fonts=typefaces, tags=None)
    stamp.pages[0].paint(layer, scale)
    fonts |= {("stamp", key): font for key, font in typefaces.items()}
    stream.begin_marked_content("Artifact", _WATERMARK)
    with stream.stacked():
        stream.stream.extend(layer.stream)
    stream.end_marked_content()


def _stamped(document: Any, pdf: Any) -> None:
    """Raise ReportError unless every page of the finished document has its stamp."""
    pages = [pdf.objects[int(reference.split()[0])] for reference in pdf.page_references]
    streams = [pdf.objects[int(page["Contents"].split()[0])].stream for page in pages]
    if len(streams) != len(document.pages) or not all(_WATERMARK in stream for stream in streams):
        raise ReportError("the PDF writer left a page without the mark of what was not measured here")


def _associate(pdf: Any, relationships: Sequence[str]) -> None:
    """Make each attachment an associated file of the document, with its relationship to the document (ISO 32000-2,
    14.13)."""
    names = pdf.objects[int(pdf.catalog["Names"]["EmbeddedFiles"].split()[0])]["Names"]
    files = names[1::2]
    for reference, relationship in zip(files, relationships, strict=True):
        pdf.objects[int(reference.split()[0])]["AFRelationship"] = f"/{relationship}"
    pdf.catalog["AF"] = type(names)(files)


class _Typefaces(dict[object, Any]):
    """The typefaces of a stamp. They are renamed because the document may use typefaces of the same names."""

    def __setitem__(self, key: object, font: Any) -> None:
        was = font.hash
        font.hash = "".join(chr(65 + (ord(letter) - 64) % 26) for letter in was)
        font.name = font.name.replace(was.encode(), font.hash.encode(), 1)
        super().__setitem__(key, font)


def _fetcher() -> Any:
    return _weasyprint().urls.URLFetcher(allowed_protocols=("data",))


@lru_cache(maxsize=1)
def _weasyprint() -> Any:
    """Import the library only when it is needed, so that commands start fast.

    The library tries several systems' names for each C library. On Linux, Python asks a compiler and a linker about
    unknown names, which takes longer than the rest of the import. With the Linux names, the loader finds the libraries
    directly.
    """
    import ctypes.util

    search = ctypes.util.find_library
    if sys.platform == "linux":
        ctypes.util.find_library = lambda name: None  # noqa: ARG005  # under the name that its own has
    try:
        import weasyprint
    finally:
        ctypes.util.find_library = search
    for module in (weasyprint.layout.inline, weasyprint.layout.preferred):
        module.split_first_line = with_memory(module.split_first_line)
    sized = once_a_width(weasyprint.layout.percent.resolve_percentages, weasyprint.formatting_structure.boxes)
    for name in LAYOUTS:
        getattr(weasyprint.layout, name).resolve_percentages = sized
    weasyprint.layout.inline.strut = once_a_style(weasyprint.layout.inline.strut)
    weasyprint.css.CSS = once_a_sheet(weasyprint.css.CSS)
    return weasyprint
