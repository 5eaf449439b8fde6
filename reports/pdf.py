"""HTML -> PDF/UA-1: tagged, titled, with bookmarks and embedded fonts. The one module that knows WeasyPrint."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from benchbrief.reports.drawn_text import lacking
from benchbrief.reports.errors import ReportError, hides

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_WATERMARK = b"<</Type/Pagination/Subtype/Watermark>>"
"""What a stamp is, among a page's artifacts (ISO 32000-1, 14.8.2.2.2)."""


def parsed(html: str) -> Element:
    """The page as browsers and the PDF writer see it: HTML's rules for what is left open are followed."""
    weasyprint = _weasyprint()
    tree: Element = weasyprint.HTML(string=html, url_fetcher=_fetcher()).etree_element
    return tree


def to_pdf(
    html: str,
    attached: Mapping[str, bytes] | None = None,
    over: Callable[[float, float], str] | None = None,
    *,
    must_say: Sequence[str] = (),
) -> bytes:
    """The document, with files of text in it. Nothing is fetched: what the page shows, it carries in itself.

    `over` gives what is drawn over each finished sheet, by its width and height in CSS pixels: HTML of its own, out of
    reach of the document's style sheets, and no part of what programs read aloud. Raises ReportError when a text of
    `must_say` can't be seen on the laid-out pages.
    """
    weasyprint = _weasyprint()
    logging.getLogger("fontTools").setLevel(logging.ERROR)  # remarks on font tables that subsetting drops
    files = [
        weasyprint.Attachment(string=content.decode(), name=name, description=name, relationship="Data")
        for name, content in (attached or {}).items()
    ]
    options = {"pdf_variant": "pdf/ua-1", "pdf_tags": True, "attachments": files}
    document = weasyprint.HTML(string=html, url_fetcher=_fetcher()).render(**options)
    _require(document, must_say)
    if over:
        _stamp(document, over)
    pdf: bytes = document.write_pdf(finisher=_stamped if over else None, **options)
    return pdf


def require_on_screen(html: str, texts: Sequence[str]) -> None:
    """Raises ReportError when a text can't be seen on the page that a browser shows of this, in some window at least:
    the rules for all kinds of media are taken to hold."""
    weasyprint = _weasyprint()
    always = re.sub(r"@media[^{};]*\{", "@media all {", html)
    _require(weasyprint.HTML(string=always, url_fetcher=_fetcher(), media_type="screen").render(), texts)


def _require(document: Any, texts: Sequence[str]) -> None:
    if texts and (hidden := lacking(document.pages, texts)):
        raise hides(hidden[0])


def _stamp(document: Any, over: Callable[[float, float], str]) -> None:
    """Have each page of a document that is laid out paint, last of all, the page of `over` for its size."""
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
    """A page, and its stamp as an artifact: from a stream without tags, as nothing of it is in the document's tree."""
    paint(stream, scale)
    layer = stream.clone(fonts=typefaces, tags=None)
    stamp.pages[0].paint(layer, scale)
    fonts |= {("stamp", key): font for key, font in typefaces.items()}
    stream.begin_marked_content("Artifact", _WATERMARK)
    with stream.stacked():
        stream.stream.extend(layer.stream)
    stream.end_marked_content()


def _stamped(document: Any, pdf: Any) -> None:
    """Raises ReportError unless each page of the finished document has its stamp."""
    pages = [pdf.objects[int(reference.split()[0])] for reference in pdf.page_references]
    streams = [pdf.objects[int(page["Contents"].split()[0])].stream for page in pages]
    if len(streams) != len(document.pages) or not all(_WATERMARK in stream for stream in streams):
        raise ReportError("the PDF writer left a page without the mark of what was not measured here")


class _Typefaces(dict[object, Any]):
    """Those of a stamp, under names of their own: a typeface of the document's may call itself the same."""

    def __setitem__(self, key: object, font: Any) -> None:
        was = font.hash
        font.hash = "".join(chr(65 + (ord(letter) - 64) % 26) for letter in was)
        font.name = font.name.replace(was.encode(), font.hash.encode(), 1)
        super().__setitem__(key, font)


def _fetcher() -> Any:
    return _weasyprint().urls.URLFetcher(allowed_protocols=("data",))


@lru_cache(maxsize=1)
def _weasyprint() -> Any:
    """The library, imported late for a fast start.

    It tries several systems' names of each C library that it loads. On Linux Python has a compiler and a linker look
    for those that it does not know, which takes longer than all else of the import, and the loader finds the libraries
    by the names that they have on Linux without them.
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
