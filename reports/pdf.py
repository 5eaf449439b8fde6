"""HTML -> PDF/UA-1: tagged, titled, with bookmarks and embedded fonts. The one module that knows WeasyPrint."""

from __future__ import annotations

import logging


def to_pdf(html: str) -> bytes:
    """The document. Nothing is fetched: what the page shows, it carries in itself."""
    import weasyprint
    from weasyprint.urls import URLFetcher

    logging.getLogger("fontTools").setLevel(logging.ERROR)  # remarks on font tables that subsetting drops
    document = weasyprint.HTML(string=html, url_fetcher=URLFetcher(allowed_protocols=("data",)))
    pdf: bytes = document.write_pdf(pdf_variant="pdf/ua-1", pdf_tags=True)
    return pdf
