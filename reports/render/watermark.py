"""The mark on every page of a report whose numbers are not a measurement of the product.

On paper, the mark is drawn over each finished sheet, where style sheets and parts cannot reach it. On the screen, it is
added to the finished page, and its style is on the element itself and on the elements around it, where no style sheet
overrides it. No catalogue of words can blank it.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

from markupsafe import Markup, escape

from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.data.view_model import ReportView
from benchbrief.reports.text.line_ends import close_up
from benchbrief.reports.words.brief_words import CATALOGUES, Words

Sheet = Callable[[float, float], str]
"""A function that returns the HTML page to draw over a finished sheet of this width and height, in CSS pixels."""
_FONTS = "font-family:Inter,Noto Sans CJK JP,Noto Sans,Arial,sans-serif"
_NOTHING_ELSE = (
    "all:initial;direction:ltr;unicode-bidi:normal;display:block;visibility:visible;opacity:1;clip:auto;text-indent:0;"
    "margin:0;height:auto;max-height:none;max-width:none;overflow:visible;text-transform:none"
)
"""Undoes a style sheet's rules. `all` covers everything except `direction` and `unicode-bidi`."""
_PLACE = (
    f"{_NOTHING_ELSE};position:fixed;top:38%;left:-10%;width:120%;z-index:2147483647;"
    "pointer-events:none;transform:rotate(-32deg);text-align:center;white-space:nowrap;line-height:1.15;"
    f"color:rgba(163,29,29,0.17);font-weight:700;letter-spacing:0.04em;{_FONTS}"
)
_INHERITED = ("color", "font-family", "font-weight", "line-height", "text-align", "white-space", "pointer-events")
_LINE = ";".join((_NOTHING_ELSE, *(f"{name}:inherit" for name in _INHERITED)))
_LARGE = f"{_LINE};font-size:min(58pt,14vw);letter-spacing:inherit"
_SMALL = f"{_LINE};font-size:min(22pt,4.4vw);letter-spacing:0.08em"
_FOOT = (
    f"{_NOTHING_ELSE};position:fixed;bottom:0;left:0;right:0;width:auto;z-index:2147483647;pointer-events:none;"
    "white-space:normal;text-align:center;line-height:1.3;color:#3f2b00;background:#ffe2a6;font-weight:600;"
    f"padding:4px 12px;font-size:12px;{_FONTS}"
)
_AROUND = (
    "display:block;visibility:visible;opacity:1;position:static;clip:auto;clip-path:none;mask:none;filter:none;"
    "backdrop-filter:none;mix-blend-mode:normal;transform:none;translate:none;rotate:none;scale:none;zoom:1;"
    "perspective:none;transform-style:flat;will-change:auto;contain:none;container-type:normal;"
    "content-visibility:visible;animation:none;transition:none"
)
"""Undoes styles of the page and its body that would hide the contents or make fixed elements move with the page."""

_SHEET = """<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title></title><style>
@page {{ size: {width:.2f}px {height:.2f}px; margin: 0 }}
html, body {{ margin: 0 }}
body {{ font: 700 {unit:.3f}px Inter, "Noto Sans CJK JP", "Noto Sans", Arial, sans-serif; white-space: nowrap }}
.tile {{ position: absolute; overflow: hidden; width: {across:.2f}px; height: {down:.2f}px }}
.large {{ font-size: 10em; letter-spacing: 0.04em }} .small {{ font-size: 3.8em; letter-spacing: 0.08em }}
.over {{ position: absolute; left: -10%; width: 120%; top: 38%; transform: rotate(-32deg);
  text-align: center; line-height: 1.15; color: rgba(163, 29, 29, 0.17) }}
.light {{ margin: -0.12em 0 0 -0.12em; color: rgba(255, 255, 255, 0.4) }}
.foot {{ position: absolute; left: {left}%; bottom: {low}em; padding: 0.15em 0.4em; font-weight: 600;
  font-size: 1.3em; line-height: 1.2; color: #1d2a35; background: white }}
</style>{tiles}</html>"""
_TILE = 1450
"""The size of a tile in CSS pixels. A sheet longer or wider than a tile shows the mark several times."""
_LEAST = 600
"""The height of a sheet, in CSS pixels, below which letters do not get smaller."""
_MOST_TILES = 40
"""The most tiles in each direction. On a larger sheet, the tiles grow instead."""


def mark_title(page: str, words: Words) -> str:
    """Return the page of a simulated run, with the mark in its title."""
    return page.replace("<title>", f"<title>{escape(_texts('watermark', words)[0])}: ", 1)


def mark_page(page: str, words: Words) -> str:
    """Return the page with the mark of a simulated run across it, for the screen."""
    large, *small = _simulated(words)
    lines = (
        Markup('<span style="{}">{}</span>').format(_important(style), text)
        for style, text in ((_LARGE, large), *((_SMALL, text) for text in small))
    )
    mark = Markup('<div class="simulated-mark" aria-hidden="true" style="{}">{}</div>').format(
        _important(_PLACE), Markup("").join(lines)
    )
    return _at_the_end(page, mark)


def mark_imported_page(page: str, view: ReportView, words: Words) -> str:
    """Return the page for the screen. Its footer gets a line on the origin of the numbers."""
    mark = Markup('<div class="imported-mark" style="{}">{}</div>').format(_important(_FOOT), _origin(view, words))
    return _at_the_end(page, mark)


def page_style(view: ReportView, medium: str) -> str:
    """Return the style of the page and its body, which keeps a style sheet from hiding the mark through them."""
    return _important(_AROUND) if medium == "screen" and (view.simulated or view.imported) else ""


def draw_sheet(view: ReportView, words: Words) -> Sheet | None:
    """Return a function that makes the sheet to draw over each page of paper, or None if everything was
    measured here."""
    mark = Markup("")
    if view.simulated:
        large, *small = _simulated(words)
        lines = Markup('<div class="large">{}</div>').format(large)
        lines += Markup("").join(Markup('<div class="small">{}</div>').format(text) for text in small)
        # Twice: a page in the mark's own red would hide one.
        mark = Markup('<div class="over light">{0}</div><div class="over">{0}</div>').format(lines)
    if view.origin or view.imported:
        mark += Markup('<div class="foot">{}</div>').format(_origin(view, words))
    if not mark:
        return None

    def over(width: float, height: float) -> str:
        columns, rows = (min(ceil(side / _TILE), _MOST_TILES) for side in (width, height))
        across, down = width / columns, height / rows
        tiles = Markup("").join(
            Markup('<div class="tile" style="left:{}px;top:{}px">{}</div>').format(column * across, row * down, mark)
            for column in range(columns)
            for row in range(rows)
        )
        unit = min(across, max(down, _LEAST)) / 100
        left, low = (8.2, 2.7) if width < 1.7 * height else (5.6, 1.7)  # at the margin of a page, and of a slide
        places = {"left": left, "low": low, "width": width, "height": height, "across": across, "down": down}
        return _SHEET.format(**places, unit=unit, tiles=tiles)

    return over


def mark_markdown(text: str, words: Words, key: str) -> str:
    """Return a page's Markdown below a line with the mark. `key` is the key of the mark in the catalogue."""
    return f"**{_in_one_line(key, words)}**\n\n{text}"


def require_closed_parts(page: str, paths: tuple[str, ...]) -> None:
    """Raise ReportError if a user's parts (`paths`) leave an element open. The mark would disappear in it."""
    from benchbrief.reports.render.page_pdf import parse_page

    for element in parse_page(page).findall("./body/div"):
        wanted = {"simulated-mark": _PLACE, "imported-mark": _FOOT}.get(element.get("class") or "")
        if wanted and element.get("style") == _important(wanted):
            return
    raise ReportError(
        f"the parts of the house style hide the mark of what was not measured here: {', '.join(paths)}",
        "close every element and every comment that a part opens",
    )


def _simulated(words: Words) -> list[str]:
    """Return the lines of the mark. The first one is large."""
    return [*_texts("watermark", words), _texts("watermark_below", words)[0]]


def _at_the_end(page: str, mark: Markup) -> str:
    before, body, after = page.rpartition("</body>")
    return f"{before}{mark}\n{body}{after}" if body else f"{page}{mark}"


def _origin(view: ReportView, words: Words) -> str:
    """Return a line on the origin of the numbers."""
    tags = " · ".join(tag.text for tag in view.origin)
    tags = close_up(tags) if view.language == "ja" else tags
    if not view.imported:
        return tags
    own, *ours = _texts("imported_mark", words)
    return f"{tags or own} ({ours[0]})" if ours else tags or own


def _in_one_line(key: str, words: Words) -> str:
    own, *ours = _texts(key, words)
    return f"{own} ({ours[0]})" if ours else own


def _texts(key: str, words: Words) -> list[str]:
    """Return the catalogue's words for the mark, followed by our own if they are different."""
    ours, own = CATALOGUES.get(words.language, CATALOGUES["en"])[key], words[key].strip()
    return [own, ours] if own and own != ours else [ours]


def _important(style: str) -> str:
    return ";".join(f"{rule} !important" for rule in style.split(";"))
