"""The view model in a template's clothes: one self-contained HTML page, and the variant of it that becomes the PDF."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from markupsafe import Markup

from benchbrief.reports.arranging import lead_of, slides_of
from benchbrief.reports.errors import ReportError
from benchbrief.reports.house import House
from benchbrief.reports.pdf import require_on_screen
from benchbrief.reports.templating import environment, rendered
from benchbrief.reports.view import FigureView, ReportView
from benchbrief.reports.watermark import around, held, marked, marked_imported, titled
from benchbrief.reports.words import Words

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment

KICKERS: Mapping[str, str] = {
    "technical_brief": "kicker",
    "white_paper": "kicker_white_paper",
    "blog": "kicker_blog",
    "slide": "kicker_slide",
}
"""The layouts, each with the words above its title."""
TEMPLATES = tuple(KICKERS)
Medium = Literal["screen", "paper", "markdown"]
Answer = Callable[[str], Sequence[Mapping[str, Any]]]
"""What a template's `query("SELECT ...")` is answered with: rows, each by the names of its columns."""


def to_html(
    view: ReportView,
    template: str,
    words: Words,
    medium: Medium,
    house: House | None = None,
    query: Answer | None = None,
    figures: str = "",
) -> str:
    """The page in one of TEMPLATES. Raises ReportError for what is wrong in a user's parts.

    On paper, charts are images: that keeps their text selectable and gives them alternative texts. For Markdown, they
    are images that lie in the folder `figures`.
    """
    house = house or House()
    lead, following = lead_of(view.blocks)
    context: dict[str, Any] = {
        "report": view,
        "w": words,
        "comma": words.locale.listed(("", "")),
        "kind": template,
        "kicker": words[KICKERS[template]],
        "medium": medium,
        "house": house,
        "picture": {"screen": _inline, "paper": _as_image}.get(medium, partial(_as_link, figures)),
        "query": query or _no_results,
        "lead": lead,
        "following": following,
        "slides": slides_of(view.blocks) if template == "slide" else (),
        "script": _script(),
        "policy": policy(_script()),
        "around": around(view, medium),
    }
    parts = {name: (path, text) for name, path, text in house.parts}
    made = environment(parts) if parts else _ours()
    page = rendered(f"{template}/brief.html.j2", made, tuple(path for path, _ in parts.values()), context)
    if view.simulated and medium != "markdown":
        page = titled(page, words)
    if medium != "screen" or not (view.simulated or view.imported):
        return page
    page = marked(page, words) if view.simulated else marked_imported(page, words)
    if parts:
        held(page, tuple(path for path, _ in parts.values()))
    return page


def require_notices(page: str, view: ReportView) -> None:
    """Raises ReportError when a house style hides a notice in a browser.

    What comes behind the notices has no part in it, and laying it out takes long.
    """
    if view.notices:
        start = page.find(f'<div id="notice-{len(view.notices)}"')
        end = page.find("</div>\n</div>", start)
        require_on_screen(page if start < 0 or end < 0 else page[:end], said(view))


def said(view: ReportView) -> list[str]:
    """What the notices say, in pieces that each stand in a line of text of their own."""
    return [text for notice in view.notices for text in (notice.title, notice.text.replace("`", ""))]


def _no_results(_text: str) -> Sequence[Mapping[str, Any]]:
    raise ReportError("there are no results to ask")


def policy(script: str) -> str:
    """The page's Content-Security-Policy: this one script, the page's own styles and pictures, and not one request."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; font-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


@lru_cache(maxsize=1)
def _script() -> Markup:
    return Markup((files("benchbrief.reports") / "templates" / "base" / "figure.js").read_text("utf-8"))  # noqa: S704


@lru_cache(maxsize=1)
def _ours() -> SandboxedEnvironment:
    return environment({})


def _as_image(figure: FigureView) -> Markup:
    data = base64.b64encode(figure.svg.encode()).decode()
    return Markup('<img src="data:image/svg+xml;base64,{}" alt="{}">').format(data, figure.alt)


def _inline(figure: FigureView) -> Markup:
    """The drawing itself, with identifiers of its own: several stand in one page."""
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{figure.id}-\1"', figure.svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{figure.id}-\1)", svg)
    opening = Markup('<svg role="img" aria-label="{}"').format(figure.alt)
    return opening + Markup(svg.removeprefix("<svg"))  # noqa: S704  # drawn by us, every label escaped by the renderer


def _as_link(folder: str, figure: FigureView) -> Markup:
    return Markup('<img src="{}/{}.svg" alt="{}">').format(folder, figure.id, figure.alt)
