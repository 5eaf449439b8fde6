"""The mark on every page of a report whose numbers nobody measured, or others did.

It is put into the finished page, whatever template made it, and its style stands on the element itself, where no style
sheet gets at it: a template can neither forget it nor take it away, and no catalogue of words can blank it.
"""

from __future__ import annotations

from markupsafe import Markup, escape

from benchbrief.reports.errors import ReportError
from benchbrief.reports.words import CATALOGUES, Words

_NOTHING_ELSE = (
    "all:initial;display:block;visibility:visible;opacity:1;clip:auto;text-indent:0;margin:0;height:auto;"
    "max-height:none;max-width:none;overflow:visible;text-transform:none"
)
"""Undoes what a style sheet may say; the PDF writer does not know `all`, so the rest names what it knows."""
_PLACE = (
    f"{_NOTHING_ELSE};position:fixed;top:38%;left:-10%;width:120%;z-index:2147483647;"
    "pointer-events:none;transform:rotate(-32deg);text-align:center;white-space:nowrap;line-height:1.15;"
    "color:rgba(163,29,29,0.17);font-weight:700;letter-spacing:0.04em;"
    "font-family:Inter,Noto Sans CJK JP,Noto Sans,Arial,sans-serif"
)
_INHERITED = ("color", "font-family", "font-weight", "line-height", "text-align", "white-space", "pointer-events")
_LINE = ";".join((_NOTHING_ELSE, *(f"{name}:inherit" for name in _INHERITED)))
_LARGE, _SMALL = f"{_LINE};font-size:58pt;letter-spacing:inherit", f"{_LINE};font-size:22pt;letter-spacing:0.08em"
_FOOT = (
    f"{_NOTHING_ELSE};position:fixed;left:0;width:auto;z-index:2147483647;pointer-events:none;white-space:nowrap;"
    "line-height:1.2;color:#a31d1d;background:rgba(255,255,255,0.85);font-weight:600;"
    "font-family:Inter,Noto Sans CJK JP,Noto Sans,Arial,sans-serif"
)
_FOOT_AT = {"screen": "bottom:0;padding:3px 8px;font-size:13px", "paper": "bottom:-12.5mm;padding:0;font-size:7.6pt"}
_FOOT_OF_SLIDES = "bottom:0;padding:1mm;font-size:9pt"
"""Within the page: a title slide has no margins."""


def marked(page: str, words: Words) -> str:
    """The page with the mark across it (on paper across each sheet), and with it in its title."""
    large, *translated = _told("watermark", words)
    below = [*translated, _told("watermark_below", words)[0]]
    lines = (
        Markup('<span style="{}">{}</span>').format(_important(style), text)
        for style, text in ((_LARGE, large), *((_SMALL, text) for text in below))
    )
    mark = Markup('<div class="simulated-mark" aria-hidden="true" style="{}">{}</div>').format(
        _important(_PLACE), Markup("").join(lines)
    )
    page = page.replace("<title>", f"<title>{escape(large)}: ", 1)
    return _at_the_end(page, mark)


def marked_imported(page: str, words: Words, medium: str, template: str) -> str:
    """The page with a line in its foot (on paper in that of each sheet) which says that the numbers are others'."""
    place = _FOOT_OF_SLIDES if template == "slide" and medium == "paper" else _FOOT_AT[medium]
    mark = Markup('<div class="imported-mark"{} style="{}">{}</div>').format(
        Markup(' aria-hidden="true"') if medium == "paper" else "",
        _important(f"{_FOOT};{place}"),
        _in_one_line("imported_mark", words),
    )
    return _at_the_end(page, mark)


def marked_markdown(text: str, words: Words, key: str) -> str:
    """A page's Markdown under a line of the mark: `key` is a word of the catalogue."""
    return f"**{_in_one_line(key, words)}**\n\n{text}"


def held(page: str, paths: tuple[str, ...]) -> None:
    """Raises ReportError when a user's parts (`paths`) leave something open in the page that swallows its mark."""
    from benchbrief.reports.pdf import parsed

    for element in parsed(page).findall("./body/div"):
        wanted = {"simulated-mark": _PLACE, "imported-mark": _FOOT}.get(element.get("class") or "")
        if wanted and (element.get("style") or "").startswith(_important(wanted)):
            return
    raise ReportError(
        f"the parts of the house style hide the mark of what was not measured here: {', '.join(paths)}",
        "close every element and every comment that a part opens",
    )


def _at_the_end(page: str, mark: Markup) -> str:
    before, body, after = page.rpartition("</body>")
    return f"{before}{mark}\n{body}{after}" if body else f"{page}{mark}"


def _in_one_line(key: str, words: Words) -> str:
    own, *ours = _told(key, words)
    return f"{own} ({ours[0]})" if ours else own


def _told(key: str, words: Words) -> list[str]:
    """The words of the mark, and, where these are not ours, ours as well."""
    ours, own = CATALOGUES.get(words.language, CATALOGUES["en"])[key], words[key].strip()
    return [own, ours] if own and own != ours else [ours]


def _important(style: str) -> str:
    return ";".join(f"{rule} !important" for rule in style.split(";"))
