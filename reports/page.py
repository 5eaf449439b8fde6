"""The view model in a template's clothes: one self-contained HTML page, and the variant of it that becomes the PDF."""

from __future__ import annotations

import base64
import re
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

from markupsafe import Markup

from benchbrief.reports.view import FigureView, ReportView
from benchbrief.reports.watermark import marked
from benchbrief.reports.words import Words

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = ("technical_brief", "blog", "white_paper")


def to_html(view: ReportView, template: str, words: Words, medium: Literal["screen", "paper"]) -> str:
    """The page in one of TEMPLATES.

    On paper, charts are images: that keeps their text selectable and gives them alternative texts.
    """
    picture = _as_image if medium == "paper" else _inline
    page = _environment().get_template(f"{template}/brief.html.j2")
    made = page.render(report=view, w=words, medium=medium, picture=picture)
    return marked(made, words) if view.simulated else made


@lru_cache(maxsize=1)
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    root = files("benchbrief.reports") / "templates"

    def load(name: str) -> str:
        return root.joinpath(*name.split("/")).read_text("utf-8")

    environment = Environment(
        loader=FunctionLoader(load), undefined=StrictUndefined, autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["ticked"] = ticked
    return environment


def ticked(text: str) -> Markup:
    """A sentence of ours, in which words of a spec or of a command stand in backticks: those become code.

    What is HTML already, a note of the spec's author, is left as it is.
    """
    if isinstance(text, Markup):
        return text
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else part
        for index, part in enumerate(re.split(r"`([^`\n]+)`", text))
    )


def _as_image(figure: FigureView) -> Markup:
    data = base64.b64encode(figure.svg.encode()).decode()
    return Markup('<img src="data:image/svg+xml;base64,{}" alt="{}">').format(data, figure.alt)


def _inline(figure: FigureView) -> Markup:
    """The drawing itself, with identifiers of its own: several stand in one page."""
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{figure.id}-\1"', figure.svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{figure.id}-\1)", svg)
    opening = Markup('<svg role="img" aria-label="{}"').format(figure.alt)
    return opening + Markup(svg.removeprefix("<svg"))  # noqa: S704  # drawn by us, every label escaped by the renderer
