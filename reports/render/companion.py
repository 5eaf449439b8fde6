"""Names and links the two documents of a report: the brief and its full disclosure."""

from __future__ import annotations

import hashlib
import re
from io import BytesIO

import segno
from markupsafe import Markup

from benchbrief.reports.data.view_model import Companion

_ID = re.compile(r'\bid="([^"]+)"')
_LINK = re.compile(r'<a ([^>]*?)href="#([^"]+)"([^>]*)>(.*?)</a>', re.DOTALL)


def companion_of(file: str, content: bytes, address: str) -> Companion:
    """Return the brief's reference to its disclosure. The disclosure is in `file`, and may be published at
    `address`."""
    digest = hashlib.sha256(content).hexdigest()
    text = f"{address}{'&' if '#' in address else '#'}sha256={digest}" if address else f"{file} sha256={digest}"
    return Companion(file, digest, address, _qr_code(text))


def _qr_code(text: str) -> Markup:
    """Return the code as SVG, black on white on any background."""
    drawn = BytesIO()
    segno.make(text, error="m", micro=False).save(
        drawn, kind="svg", xmldecl=False, svgclass=None, lineclass=None, omitsize=True, border=4, light="white"
    )
    return Markup(drawn.getvalue().decode().strip())  # noqa: S704  # paths that segno draws


def lead_across(page: str, file: str) -> str:
    """Return a page whose links lead into the other document, `file`, if their targets are missing here.

    Without a `file`, such links become plain text. A number keeps its mark, in two nested elements.
    """
    own = set(_ID.findall(page))

    def led(match: re.Match[str]) -> str:
        before, place, after, text = match.groups()
        if place in own:
            return match.group()
        if file:
            return f'<a {before}href="{file}#{place}"{after}>{text}</a>'
        return f"<span {before}{after.strip()}><span>{text}</span></span>" if _ID.search(before) else text

    return _LINK.sub(led, page)
