"""The parts of a brief before and after its figures, which all its editable files have: title, method, limits, legal
lines, and the file's properties. Each writer lays them out in its own way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from markupsafe import Markup

from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.plan import Report
from benchbrief.reports.charts.svg_converter import NotDrawn
from benchbrief.reports.data.view_model import Item, ReportView
from benchbrief.reports.office.office_formats import HandOver
from benchbrief.reports.office.packages import time_of
from benchbrief.reports.office.rich_text import Paragraph, joined, paragraphs, runs_of
from benchbrief.reports.text.html_markup import code_in_backticks, writable
from benchbrief.reports.view.house_style import template_of
from benchbrief.reports.words.brief_words import Words

_LONGEST = 255
"""The most characters of one of a file's properties."""


@dataclass(frozen=True)
class Front:
    """The beginning of a brief. `origin` is the origin of the numbers. `warnings` are the limits of the numbers, on one
    line or, if the brief has no separate disclosure, as notices."""

    kicker: str
    title: str | Markup
    subtitle: str | Markup
    origin: str
    byline: str
    warnings: tuple[Paragraph, ...]


def front_of(view: ReportView, report: Report, words: Words) -> Front:
    """Return the beginning of a brief."""
    template = template_of(report.template)
    return Front(
        words.get(template.word) or template.label(view.language),
        view.title_html or view.title,
        view.subtitle_html or view.subtitle,
        " · ".join(tag.text for tag in view.origin),
        " · ".join(filter(None, (view.author, view.date))),
        paragraphs(_limits_line(view, words)) if view.disclosed else tuple(_notices(view)),
    )


def _limits_line(view: ReportView, words: Words) -> Markup:
    if not view.limits:
        return Markup()
    grave = (Markup("<b>{}</b>").format(code_in_backticks(text)) for text in view.grave_limits)
    stated = (words["limits_stated"], *view.stated_limits) if view.stated_limits else ()
    return joined((*grave, *map(code_in_backticks, stated), view.limits_line))


def _notices(view: ReportView) -> Iterator[Paragraph]:
    for notice in view.notices:
        yield from paragraphs(Markup("<p><b>{}</b> {}</p>").format(notice.title, code_in_backticks(notice.text)))


@dataclass(frozen=True)
class Chapter:
    """A part of the brief's ending: numbered texts, followed by a line on `further` ones and by `items`."""

    head: str
    numbered: tuple[str, ...]
    items: tuple[Item, ...]
    colon: str
    further: str = ""

    @property
    def said(self) -> tuple[Paragraph, ...]:
        return (*self.said_alone, *said_of(self.items, self.colon))

    @property
    def said_alone(self) -> tuple[Paragraph, ...]:
        """Only the numbered texts, with the line on further ones."""
        numbered = (Paragraph(runs_of(code_in_backticks(text)), "number") for text in self.numbered)
        return (*numbered, *paragraphs(self.further))


def code_of(brief: HandOver, program: str) -> bytes:
    """Return a picture of the QR code that leads to the disclosure, or nothing if there is none."""
    other = brief.view.companion
    try:
        return brief.converter.png(str(other.qr), 12.0) if other and other.qr else b""
    except NotDrawn as error:
        brief.faults.append(f"the code of the disclosure is missing from the file for {program}: {error}")
        return b""


def endings_of(view: ReportView, words: Words, *, coded: bool = False) -> tuple[Chapter | None, Chapter | None]:
    """Return the method, and the limits, with references to the disclosure and to the command that measures again.
    Either may be missing. If the file shows the disclosure's QR code (`coded`), a line says where it leads."""
    colon, method, limits = words["colon"], None, None
    if view.method and view.method.items:
        method = Chapter(words["method_source" if view.imported else "method"], (), view.method.items, colon)
    items = []
    if other := view.companion:
        items.append(Item(words["full_disclosure"], words["companion_has"]))
        leads = words["companion_leads" if other.address else "companion_holds"] if coded else ""
        named = f"`{other.file}`{words['companion_digest'].format(digest=other.digest)}"
        blank = " " if colon.endswith(" ") else ""
        items.append(Item("", f"{named}{blank if leads else ''}{leads}"))
        if other.address:
            items.append(Item("", Markup('<a href="{0}">{0}</a>').format(other.address)))
    if view.repeat:
        items.append(Item(words["m_repeat"], view.repeat))
    if view.limits or items:
        head = words["limits"] if view.limits else view.title
        listed = tuple(limit.text for limit in view.limits)
        limits = Chapter(head, listed, tuple(items), colon, view.further_limits)
    return method, limits


def said_of(items: Iterable[Item], colon: str) -> list[Paragraph]:
    """Return lines of the disclosure or of the method as paragraphs. Each begins with its term and a colon."""
    said: list[Paragraph] = []
    for item in items:
        term = Markup("<b>{}{}</b>").format(code_in_backticks(item.term), colon.rstrip()) if item.term else Markup()
        blank = " " if term and colon.endswith(" ") else ""
        said += paragraphs(Markup("{}{}{}").format(term, blank, code_in_backticks(item.text)))
    return said


def properties_of(view: ReportView) -> dict[str, object]:
    """Return the properties of a file, under names that the libraries for documents, slides and workbooks all
    understand."""
    origin = " · ".join((*(tag.text for tag in view.origin), f"benchbrief {view.version}, {view.run_id}"))
    texts = {
        "title": view.title,
        "subject": view.subtitle,
        "author": view.author,
        "keywords": ", ".join(view.keywords),
        "comments": f"{origin}: {view.side_file}",
    }
    made = time_of(view.made)
    own = {name: writable(text[:_LONGEST]) for name, text in texts.items()}
    by = {"language": view.language, "last_modified_by": "benchbrief", "revision": 1}
    return {**own, **by, "created": made, "modified": made}
