"""HTML to PDF/UA-1: tagged, titled, with bookmarks and embedded fonts. Only this module uses WeasyPrint."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from benchbrief.reports.brief_error import ReportError, hides
from benchbrief.reports.provenance.visible_text import find_unseen
from benchbrief.reports.render.fit_figures import fit_figures

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_WATERMARK = b"<</Type/Pagination/Subtype/Watermark>>"
"""The kind of a stamp among a page's artifacts (ISO 32000-1, 14.8.2.2.2)."""


def parse_page(html: str) -> Element:
    """Parse the page as browsers and the PDF writer do, by HTML's rules for omitted tags."""
    weasyprint = _weasyprint()
    tree: Element = weasyprint.HTML(string=html, url_fetcher=_fetcher()).etree_element
    return tree


def to_pdf(
    html: str,
    attached: Mapping[str, bytes] | None = None,
    over: Callable[[float, float], str] | None = None,
    *,
    must_say: Sequence[str] = (),
    redraw: Callable[[Mapping[str, float]], str] | None = None,
) -> bytes:
    """Return the document, with attached text files. It loads nothing: the page contains everything that it shows.

    `over` gives the HTML drawn over each finished sheet, by its width and height in CSS pixels, out of reach of the
    document's style sheets and of screen readers. `redraw` gives the page with figures drawn at these shares of their
    heights, by the figures' ids; with it, figures are fitted to their pages. Raises ReportError when a text of
    `must_say` is not visible on the laid-out pages.
    """
    weasyprint = _weasyprint()
    logging.getLogger("fontTools").setLevel(logging.ERROR)  # remarks on font tables that subsetting drops
    files = [
        weasyprint.Attachment(string=content.decode(), name=name, description=name, relationship="Data")
        for name, content in (attached or {}).items()
    ]
    options = {"pdf_variant": "pdf/ua-1", "pdf_tags": True, "attachments": files}

    def laid_out(page: str) -> Any:
        return weasyprint.HTML(string=page, url_fetcher=_fetcher()).render(**options)

    document = laid_out(html)
    if redraw:
        document = fit_figures(document, lambda shares: laid_out(redraw(shares)))
    _require(document, must_say)
    if over:
        _stamp(document, over)
    pdf: bytes = document.write_pdf(finisher=_stamped if over else None, **options)
    return pdf


def require_on_screen(html: str, texts: Sequence[str]) -> None:
    """Raise ReportError when a text is not visible in a browser window of some size: the rules for all kinds of
    media count."""
    weasyprint = _weasyprint()
    always = re.sub(r"@media[^{};]*\{", "@media all {", html)
    _require(weasyprint.HTML(string=always, url_fetcher=_fetcher(), media_type="screen").render(), texts)


def _require(document: Any, texts: Sequence[str]) -> None:
    if texts and (hidden := find_unseen(document.pages, texts)):
        raise hides(hidden[0])


def _stamp(document: Any, over: Callable[[float, float], str]) -> None:
    """Make each laid-out page paint, last of all, the page of `over` for its size."""
    weasyprint = _weasyprint()
    typefaces = _Typefaces()

    @lru_cache
    def stamp(width: float, height: float) -> Any:
        return weasyprint.HTML(string=over(width, height), url_fetcher=_fetcher()).render()

    for page in document.pages:
        page.paint = partial(_painted, page.paint, stamp(page.width, page.height), typefaces, document.fonts)


def _painted(
    paint: Callable[[Any, float], None],
    stamp: Any,
    typefaces: _Typefaces,
    fonts: dict[object, Any],
    stream: Any,
    scale: float,
) -> None:
    """Return a page with its stamp as an artifact. The stamp has no tags, so the document's tree has nothing of it."""
    paint(stream, scale)
    layer = stream.clone(fonts=typefaces, tags=None)
    stamp.pages[0].paint(layer, scale)
    fonts |= {("stamp", key): font for key, font in typefaces.items()}
    stream.begin_marked_content("Artifact", _WATERMARK)
    with stream.stacked():
        stream.stream.extend(layer.stream)
    stream.end_marked_content()


def _stamped(document: Any, pdf: Any) -> None:
    """Raise ReportError unless each page of the finished document has its stamp."""
    pages = [pdf.objects[int(reference.split()[0])] for reference in pdf.page_references]
    streams = [pdf.objects[int(page["Contents"].split()[0])].stream for page in pages]
    if len(streams) != len(document.pages) or not all(_WATERMARK in stream for stream in streams):
        raise ReportError("the PDF writer left a page without the mark of what was not measured here")


class _Typefaces(dict[object, Any]):
    """The typefaces of a stamp, renamed: the document may have one of the same name."""

    def __setitem__(self, key: object, font: Any) -> None:
        was = font.hash
        font.hash = "".join(chr(65 + (ord(letter) - 64) % 26) for letter in was)
        font.name = font.name.replace(was.encode(), font.hash.encode(), 1)
        super().__setitem__(key, font)


def _fetcher() -> Any:
    return _weasyprint().urls.URLFetcher(allowed_protocols=("data",))


@lru_cache(maxsize=1)
def _weasyprint() -> Any:
    """Import the library late, for a fast start.

    It tries several systems' names for each C library. On Linux, Python asks a compiler and a linker for unknown
    names, which takes longer than the rest of the import, and the loader finds the libraries by their Linux names
    without that.
    """
    import ctypes.util

    search = ctypes.util.find_library
    if sys.platform == "linux":
        ctypes.util.find_library = lambda name: None  # noqa: ARG005  # under the name that its own has
    try:
        import weasyprint
    finally:
        ctypes.util.find_library = search
    return weasyprint
