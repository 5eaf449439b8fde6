"""HTML -> PDF/UA-1: tagged, titled, with bookmarks and embedded fonts. The one module that knows WeasyPrint."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


def parsed(html: str) -> Element:
    """The page as browsers and the PDF writer see it: HTML's rules for what is left open are followed."""
    import weasyprint

    tree: Element = weasyprint.HTML(string=html, url_fetcher=_fetcher()).etree_element
    return tree


def to_pdf(html: str, attached: Mapping[str, bytes] | None = None) -> bytes:
    """The document, with files of text in it. Nothing is fetched: what the page shows, it carries in itself."""
    import weasyprint

    logging.getLogger("fontTools").setLevel(logging.ERROR)  # remarks on font tables that subsetting drops
    document = weasyprint.HTML(string=html, url_fetcher=_fetcher())
    files = [
        weasyprint.Attachment(string=content.decode(), name=name, description=name, relationship="Data")
        for name, content in (attached or {}).items()
    ]
    pdf: bytes = document.write_pdf(pdf_variant="pdf/ua-1", pdf_tags=True, attachments=files)
    return pdf


def _fetcher() -> Any:
    from weasyprint.urls import URLFetcher

    return URLFetcher(allowed_protocols=("data",))
