"""The mark on every page of a report whose numbers nobody measured.

It is put into the finished page, whatever template made it, and its style stands on the element itself, where no style
sheet gets at it: a template can neither forget it nor take it away.
"""

from __future__ import annotations

from markupsafe import Markup, escape

from benchbrief.reports.words import Words

_PLACE = (
    "position:fixed;top:38%;left:-10%;width:120%;z-index:2147483647;display:block;visibility:visible;opacity:1;"
    "pointer-events:none;transform:rotate(-32deg);text-align:center;white-space:nowrap;line-height:1.15;"
    "color:rgba(163,29,29,0.17);font-weight:700;letter-spacing:0.04em"
)
_LARGE, _SMALL = "display:block;font-size:58pt", "display:block;font-size:22pt;letter-spacing:0.08em"


def marked(page: str, words: Words) -> str:
    """The page with the mark across it (on paper across each sheet), and with it in its title."""
    lines = (
        Markup('<span style="{}">{}</span>').format(_important(style), words[key])
        for style, key in ((_LARGE, "watermark"), (_SMALL, "watermark_below"))
    )
    mark = Markup('<div class="simulated-mark" aria-hidden="true" style="{}">{}</div>').format(
        _important(_PLACE), Markup("").join(lines)
    )
    page = page.replace("<title>", f"<title>{escape(words['watermark'])}: ", 1)
    before, body, after = page.rpartition("</body>")
    return f"{before}{mark}\n{body}{after}" if body else f"{page}{mark}"


def _important(style: str) -> str:
    return ";".join(f"{rule} !important" for rule in style.split(";"))
