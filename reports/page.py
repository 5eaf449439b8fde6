"""The view model in a template's clothes: one self-contained HTML page, and the variant of it that becomes the PDF."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from markupsafe import Markup

from benchbrief.reports.templating import environment, rendered
from benchbrief.reports.view import FigureView, ReportView
from benchbrief.reports.watermark import marked
from benchbrief.reports.words import Words

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment

KICKERS: Mapping[str, str] = {
    "technical_brief": "kicker",
    "blog": "kicker_blog",
    "white_paper": "kicker_white_paper",
}
"""The layouts, each with the words above its title."""
TEMPLATES = tuple(KICKERS)
Medium = Literal["screen", "paper"]
Parts = Mapping[str, tuple[str, str]]
"""A user's parts of a layout by name: the path that messages call it by, and its text."""


def to_html(
    view: ReportView,
    template: str,
    words: Words,
    medium: Medium,
    *,
    parts: Parts | None = None,
    query: Callable[[str], Any] | None = None,
) -> str:
    """The page in one of TEMPLATES. Raises ReportError for what is wrong in a user's parts.

    On paper, charts are images: that keeps their text selectable and gives them alternative texts.
    """
    context: dict[str, Any] = {
        "report": view,
        "w": words,
        "kicker": words[KICKERS[template]],
        "medium": medium,
        "picture": _as_image if medium == "paper" else _inline,
        "query": query,
        "script": _script(),
        "policy": policy(_script()),
    }
    made = environment(parts) if parts else _ours()
    paths = tuple(path for path, _ in parts.values()) if parts else ()
    page = rendered(f"{template}/brief.html.j2", made, paths, context)
    return marked(page, words) if view.simulated else page


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
