"""Renders the view model as a self-contained HTML page, and as the variant for the PDF."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from markupsafe import Markup

from benchbrief.compiler.registry import TEMPLATE_SPECS
from benchbrief.reports.brief_error import ReportError
from benchbrief.reports.data.view_model import Block, FigureView, ReportView, notes_of
from benchbrief.reports.render.fill_pages import Ending, FirstFigure
from benchbrief.reports.render.page_pdf import require_on_screen
from benchbrief.reports.render.templating import as_data_url, make_environment, render_template
from benchbrief.reports.render.watermark import (
    mark_imported_page,
    mark_page,
    mark_title,
    page_style,
    require_closed_parts,
)
from benchbrief.reports.text.html_markup import writable
from benchbrief.reports.text.line_ends import close_up, keep_last_words, keep_words_whole
from benchbrief.reports.view.arrange_elements import (
    closing_facts,
    conclusions_of,
    even_subtitle_width,
    even_width,
    headline_of,
    is_long_ending,
    lead_of,
    opening_of,
    slides_of,
    take_figure,
    title_width,
)
from benchbrief.reports.view.house_style import House, files_of_others, template_of
from benchbrief.reports.words.brief_words import Words

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment

TEMPLATES = tuple(TEMPLATE_SPECS.own)
_TRACES = re.compile(r' data-(?:cells|expression)="[^"]*"')
"""Matches the attributes that tell programs where a number comes from. They are kept only in pages for screens, because
they may be most of the page, and a PDF would parse them in each layout."""
DISCLOSURE = "disclosure-report"
"""The CSS class of a disclosure's page."""
Medium = Literal["screen", "paper", "markdown"]
Answer = Callable[[str], Sequence[Mapping[str, Any]]]
"""The answer to a template's `query("SELECT ...")`, as rows by column name."""


def to_html(
    view: ReportView,
    template: str,
    words: Words,
    medium: Medium,
    house: House | None = None,
    query: Answer | None = None,
    figures: str = "",
    first_figure: FirstFigure = "in_place",
    *,
    close_set: int = 0,
    new_page: str = "",
    ending: Ending = "short",
) -> str:
    """Render the page with a template. Raises ReportError for a mistake in a user's parts or in another package's
    template.

    On paper, charts are images, so that their text stays selectable and they have alternative texts. In Markdown,
    charts are links to images in the folder `figures`. `first_figure` tells whether the first figure is moved before or
    after the lead. A `close_set` of 1 makes letters smaller and leaves less space, and 2 does so even more. `new_page`
    is the section that begins a new page. If `ending` is "roomy", the page's ending has larger letters.
    """
    house = house or House()
    layout = template_of(template)
    headline, blocks = headline_of(view.blocks)
    lead, following = lead_of(blocks) if layout.leads else (None, blocks)
    opening, rest = opening_of(following) if lead is None else ((), following)
    if first_figure == "before_lead":
        lead, opening, rest = None, (), blocks
    key_figure: tuple[Block, ...] = ()
    if first_figure != "in_place" or layout.covers:
        key_figure, rest = take_figure(rest)
    slides, closing_blocks = slides_of(blocks) if layout.slides else (), tuple[Block, ...]()
    if view.disclosed:
        slides, closing_blocks = closing_facts(slides)
    context: dict[str, Any] = {
        **_shared(view, words, medium, house, _script()),
        "kind": template,
        "kicker": words.get(layout.word) or layout.label(view.language),
        "phone_picture": _for_phone,
        "picture": {"screen": _inline, "paper": _as_image}.get(medium, partial(_as_link, figures)),
        "query": query or _no_results,
        "headline": headline,
        "lead": lead,
        "opening": opening,
        "key_figure": key_figure,
        "following": rest,
        "conclusions": conclusions_of(rest),
        "slides": slides,
        "closing_blocks": closing_blocks,
        "long_ending": is_long_ending(
            [f"{item.term} {item.text}" for item in view.method.items] if view.method else [],
            [text for text in (*(limit.text for limit in view.limits), view.further_limits) if text],
        ),
        "title_width": title_width(view.title, view.language)
        if layout.slides
        else even_width(view.title_html or Markup.escape(view.title), layout.title_line, view.language),
        "subtitle_width": even_subtitle_width(view.subtitle_html, view.language)
        if not (layout.slides or layout.covers or view.one_page)
        else "none",
        "close_set": close_set,
        "new_page": new_page,
        "roomy": ending == "roomy",
        "slides_of_result": len(slides_of(opening)) if layout.slides else 0,
    }
    parts = {name: (path, text) for name, path, text in house.parts}
    made = make_environment(parts) if parts else _ours()
    paths = (*(path for path, _ in parts.values()), *files_of_others(layout))
    page = _marked(render_template(f"{template}/brief.html.j2", made, paths, context), view, words, medium)
    if parts and medium == "screen" and (view.simulated or view.imported):
        require_closed_parts(page, tuple(path for path, _ in parts.values()))
    return page


def disclosure_html(view: ReportView, words: Words, medium: Medium, house: House | None = None) -> str:
    """Return the full disclosure report. A user's style sheet and parts do not affect it."""
    context = _shared(view, words, medium, (house or House()).of_disclosure(), Markup(""))
    page = render_template("base/disclosure_report.html.j2", _ours(), (), {**context, "kind": DISCLOSURE})
    return _marked(page, view, words, medium)


def _shared(view: ReportView, words: Words, medium: Medium, house: House, script: Markup) -> dict[str, Any]:
    """Return the variables that are common to the templates of briefs and of disclosures."""
    return {
        "report": view,
        "w": words,
        "comma": words.locale.listed(("", "")),
        "medium": medium,
        "house": house,
        "script": script,
        "policy": content_policy(script),
        "around": page_style(view, medium),
        "close_set": 0,
        "new_page": "",
        "roomy": False,
    }


def _marked(page: str, view: ReportView, words: Words, medium: Medium) -> str:
    """Return a rendered page, marked if its numbers were not measured here. In Japanese sentences, spaces around
    Japanese names are removed."""
    page = writable(page if medium == "screen" else _TRACES.sub("", page))
    page = keep_last_words(page) if medium == "paper" else page
    if view.language == "ja":
        page = close_up(page)
        page = keep_words_whole(page) if medium == "paper" else page
    if view.simulated and medium != "markdown":
        page = mark_title(page, words)
    if medium != "screen" or not (view.simulated or view.imported):
        return page
    return mark_page(page, words) if view.simulated else mark_imported_page(page, view, words)


def require_said(page: str, view: ReportView) -> None:
    """Raise ReportError if a house style hides something in a browser that a brief must say.

    Drawings and scripts are not checked, because their layout takes long, and neither are texts without any content.
    """
    require_on_screen(re.sub(r"<(svg|script)\b.*?</\1>", "", page, flags=re.DOTALL), must_say(page, view))


def must_say(page: str, view: ReportView) -> list[str]:
    """Return the texts that a brief's page must show, in pieces of one line each: the kind of its numbers, the fact
    that they have limits, the place of the disclosure, and each footnote that the page marks, such as why a number is
    missing. If the brief contains the disclosure, the pieces include the notices.
    """
    found = [text for notice in view.notices for text in (notice.title, notice.text)]
    if view.disclosed:
        other = view.companion
        found = [*(tag.text for tag in view.origin), *view.grave_limits, *view.stated_limits, view.limits_line]
        found += [other.file, other.digest, other.address] if other else []
    marked = set(re.findall(r'<a href="#note-(\d+)"', page))
    footnotes = (*view.title_notes, *notes_of(view.blocks), *view.legal_notes)
    found += [note.text for note in footnotes if str(note.number) in marked or note in view.title_notes]
    return [text.replace("`", "") for text in found if text]


def _no_results(_text: str) -> Sequence[Mapping[str, Any]]:
    raise ReportError("there are no results to ask")


def content_policy(script: str) -> str:
    """Return the page's Content-Security-Policy. It allows this one script and the page's own styles and pictures, but
    no request."""
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
    return make_environment({})


def _as_image(figure: FigureView) -> Markup:
    return Markup('<img src="{}" alt="{}">').format(as_data_url(figure.paper_svg or figure.svg), figure.alt)


def _inline(figure: FigureView) -> Markup:
    return _with_own_ids(figure.svg, figure.id, figure.alt)


def _for_phone(figure: FigureView) -> tuple[Markup, Mapping[str, object]] | None:
    """Return the drawing for a narrow screen with its points, or None if there is none."""
    drawn = figure.for_phone() if figure.for_phone else None
    return (_with_own_ids(drawn[0], f"{figure.id}-phone", figure.alt), drawn[1]) if drawn else None


def _with_own_ids(svg: str, name: str, alt: str) -> Markup:
    """Return a drawing with unique identifiers, because one page has several drawings."""
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", svg)
    opening = Markup('<svg role="img" aria-label="{}"').format(alt)
    return opening + Markup(svg.removeprefix("<svg"))  # noqa: S704  # drawn by us, every label escaped by the renderer


def _as_link(folder: str, figure: FigureView) -> Markup:
    return Markup('<img src="{}/{}.svg" alt="{}">').format(folder, figure.id, figure.alt)
