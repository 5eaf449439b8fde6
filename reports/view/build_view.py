"""Builds the view model from plan, report and results, with every element computed, numbered and escaped."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from html import escape
from importlib.metadata import version
from typing import Literal

from markupsafe import Markup

from benchbrief.model import plan as p
from benchbrief.model.plan import DimKey
from benchbrief.model.units import parse_unit
from benchbrief.reports.charts import draw_chart
from benchbrief.reports.charts.build_figure import Sketch, finished, sketched
from benchbrief.reports.charts.chart import NO_REACH, Reach
from benchbrief.reports.charts.chart_layout import NO_MARGINS, Margins
from benchbrief.reports.charts.document_colours import document_colours
from benchbrief.reports.charts.draw_chart import script_data
from benchbrief.reports.charts.drawn_series import figure_csv
from benchbrief.reports.charts.native_charts import native_charts
from benchbrief.reports.charts.shared_axes import shared_reach
from benchbrief.reports.charts.svg_converter import Converter, NotDrawn
from benchbrief.reports.claims_sheet import disclosed_claims, sheet_of, trademarks
from benchbrief.reports.data.gaps import Gaps, name_part, reason_of, told
from benchbrief.reports.data.imported_briefs import is_imported
from benchbrief.reports.data.measure_labels import line_label, readable_label
from benchbrief.reports.data.numbers_file import ClaimEntry, PrintedBy
from benchbrief.reports.data.one_precision import with_one_precision
from benchbrief.reports.data.report_data import AskedStore, Results, run_row
from benchbrief.reports.data.tables import (
    Column,
    Columns,
    ShownTable,
    facts_elements,
    has,
    is_empty,
    is_of_sizes,
    keep_elements_with_data,
    queries_of_prose,
    shown_table,
    sources_of,
    split_brief,
    table_queries,
    without_disclosure,
)
from benchbrief.reports.data.view_model import (
    Block,
    CalloutView,
    DisclosureView,
    FactsView,
    FigureRow,
    FigureView,
    Footnote,
    FormulaView,
    HeadlineNumberView,
    HeadlineView,
    Method,
    MissingPart,
    ReportView,
    SectionView,
    TableCell,
    TableHead,
    TableRow,
    TableView,
    TextView,
)
from benchbrief.reports.disclosure import disclosure as d
from benchbrief.reports.disclosure import systems_under_test
from benchbrief.reports.disclosure.compared_facts import compared_facts
from benchbrief.reports.disclosure.method import method, repeat, with_numbers
from benchbrief.reports.disclosure.number_ledger import Ledger
from benchbrief.reports.disclosure.run_origin import disclose_origin
from benchbrief.reports.disclosure.systems_under_test import fact_groups
from benchbrief.reports.notices import number_marks
from benchbrief.reports.notices.number_marks import Cautions, not_chosen
from benchbrief.reports.notices.open_searches import sentences_by_cell
from benchbrief.reports.notices.result_limits import said_once
from benchbrief.reports.text import render_prose
from benchbrief.reports.text.html_markup import lift_marks, note_marks
from benchbrief.reports.text.number_format import (
    FEW_NODES,
    Scale,
    automatic,
    belonging,
    fixed,
    key_text,
    spelled_unit,
    unit_text,
    whole_nodes,
    written_as,
)
from benchbrief.reports.view import table_heads
from benchbrief.reports.view.arrange_elements import headline_size, in_one_line, with_leads
from benchbrief.reports.view.house_style import font_of, template_of
from benchbrief.reports.view.notices import notices, told_in_brief
from benchbrief.reports.view.said_claims import are_computed, claims_of, say_claims, state_numbers
from benchbrief.reports.view.table_heads import (
    aligned,
    cards_of,
    grouped_rows,
    head_rows,
    marked,
    notes_at_heads,
    parts_of,
    room_of,
    shared_unit,
)
from benchbrief.reports.words.brief_words import CATALOGUES, Words, counted, sentences
from benchbrief.results.analysis.claim_verdicts import ClaimVerdict

_NOTHING = TextView(Markup())
"""An empty table of facts, which takes up no space and no slide."""


class Footnotes:
    """Collects the footnotes of the current block until they are taken. A footnote's text is below the first block that
    cites it, and the marks of later blocks are links to that text. Slides repeat their footnotes, because they are seen
    one at a time.
    """

    def __init__(self, results: Results, *, repeated: bool = False) -> None:
        self.cautions = Cautions(results)
        self._results = results
        self._repeated = repeated
        self._count = 0
        self._pending: dict[str, Footnote] = {}
        self._told: dict[str, int] = {}
        self._cited: dict[int, None] = {}
        self._texts: dict[str, int] = {}

    def note(self, text: str) -> int:
        """Return the number of the footnote with this text."""
        return self.named(text, lambda: text)

    def named(self, name: str, write: Callable[[], str]) -> int:
        """Return the number of the footnote with this name. Its text is written only the first time."""
        if name not in self._told:
            text = write()
            self._count += 1
            self._told[name] = self._count
            self._pending[name] = Footnote(self._count, text)
            self._texts.setdefault(text, self._count)
        self._cited[self._told[name]] = None
        return self._told[name]

    def numbered(self, texts: Iterable[str]) -> tuple[int, ...]:
        said_once = self._results.words["as_published"] if self._results.has_none_measured else ""
        return tuple(self.note(text) for text in dict.fromkeys(texts) if text != said_once)

    def tell_boundaries(self, queries: Iterable[p.Query]) -> tuple[int, ...]:
        """Add a footnote to numbers whose watts cover more or less than whole machines."""
        if not any(map(systems_under_test.is_of_power, queries)):
            return ()
        return tuple(self.note(text) for text in systems_under_test.cpu_packages_only(self._results))

    def quoted(self, query: p.Query, **where: DimKey) -> Sequence[str]:
        """Return the footnote of a value that comes from a publication instead of a computation. Return nothing for
        other values."""
        return [self._results.words["as_published"]] if self._results.is_quoted(query, **where) else []

    def tell_quoted(self, queries: Iterable[p.Query]) -> None:
        """Add a footnote to a drawing with published values in place of computed ones."""
        self.numbered(text for query in queries for text in self.quoted(query))

    def tell_cautions(self, queries: Iterable[p.Query]) -> None:
        """Add footnotes for the values of a drawing or a worked example."""
        queries = list(queries)
        self.numbered(text for query in queries for text in (*self.cautions.of(query), *self.cautions.at(query)))

    def tell_cautions_of(self, figure: p.FigureElement) -> list[str]:
        """Add footnotes for the values of a figure. If the offered load was missed at only some points of the axis,
        this caution gets no footnote. It is returned instead, together with these points."""
        words, places = self._results.words, dict[str, dict[str, None]]()
        for dim, query in ((series.x_dim or "", query) for series in figure.series for query in series.drawn):
            keys = [key for key in figure.keys.get(dim, ()) if self._results.at(query, **{dim: key.value}) is not None]
            named = dim in ("threads", "target")
            labels = (f"{float(k.label):,.12g}" if named and k.label.isdecimal() else k.label for k in keys)
            at = {label: {*self.cautions.at(query, **{dim: k.value})} for label, k in zip(labels, keys, strict=True)}
            self.numbered(self.cautions.of(query))
            for text in self.cautions.at(query):
                found = [label for label, its in at.items() if text in its] if text == words["c_short"] else []
                places.setdefault(text, {}).update(dict.fromkeys(found if 0 < len(found) < len(keys) else [""]))
        self.numbered(text for text, labels in places.items() if "" in labels)
        return [
            words["caution_at"].format(
                keys=words.locale.listed(labels),
                text=text[:1].lower() + text[1:].rstrip(".。"),
            )
            for text, labels in places.items()
            if "" not in labels
        ]

    def of_text(self, queries: Sequence[p.Query]) -> Iterator[str]:
        """Yield the cautions about a number in a text, and a sentence on the points of a ramp that the number
        covers."""
        for query in queries:
            yield from self.cautions.in_text(query)
        yield from not_chosen(queries, self._results)

    @property
    def cited(self) -> tuple[int, ...]:
        """The numbers of the current block's footnotes, including those printed below an earlier block."""
        return tuple(sorted(self._cited))

    def taken(self) -> tuple[Footnote, ...]:
        """Return the footnotes to print below the current block, and begin the next block."""
        found, self._pending, self._cited = tuple(self._pending.values()), {}, {}
        if self._repeated:
            self._told.clear()
        return found

    def drop(self) -> tuple[Footnote, ...]:
        """Discard the current block and begin a new one. Returns the footnotes that were to be printed below the
        discarded block."""
        for name in self._pending:
            del self._told[name]
        for note in self._pending.values():
            if self._texts.get(note.text) == note.number:
                del self._texts[note.text]
        self._count -= len(self._pending)
        return self.taken()

    def untold(self, notes: Iterable[Footnote]) -> tuple[Footnote, ...]:
        """Return the footnotes of a dropped block whose texts are in no other block."""
        return tuple(note for note in notes if note.text not in self._texts)

    def marks_of(self, notes: Iterable[Footnote]) -> Markup:
        """Return the marks of a dropped block's footnotes whose texts are in another block."""
        return note_marks(sorted(self._texts[note.text] for note in notes if note.text in self._texts))

    def begin_document(self) -> None:
        self._told.clear()


def as_written(text: str) -> str:
    """Replace operators with the usual signs: × for `*` and ÷ for `/`."""
    for sign, written in ((" * ", " × "), (" / ", " ÷ "), (" - ", " − ")):
        text = text.replace(sign, written)
    return text


def subtracts(text: str) -> bool:
    return bool(re.search(" [-−] ", text))


def in_one_time(formula: str, units: Sequence[str]) -> str:
    """If a formula divides rates with different times, such as per second and per hour, add the factor between them.

    For example, `{0} / {1}` becomes `{0} × 3,600 s/h / {1}`.
    """
    times = [found[1] for unit in units if (found := _RATE.fullmatch(unit))]
    if formula not in ("{0} / {1}", "{0} ÷ {1}") or len(times) < len(units):
        return formula
    ours, theirs = times
    each = parse_unit(theirs).factor / parse_unit(ours).factor
    return formula.replace("{0}", f"{{0}} × {fixed(each, 0)} {ours}/{theirs}") if each > 1 else formula


_RATE = re.compile(r"[^/]+/(s|min|h)")


def declared_text(results: Results, query: p.Query) -> str:
    """Return a declared fact as the spec writes it, such as `0.10 USD/h`, instead of in base units. Return "" if it is
    not declared."""
    value, name = results.at(query), next(iter(query.names), "")
    for hardware in results.plan.hardware.values():
        fact = hardware.facts.get(name)
        if value is not None and isinstance(fact, p.Quantity) and _is_same(fact, value, query.unit):
            return fact.text
    return ""


def _is_same(fact: p.Quantity, value: float, unit: str) -> bool:
    ours, theirs = parse_unit(unit), parse_unit(fact.unit)
    return ours.dimension == theirs.dimension and math.isclose(value * ours.factor, fact.value * theirs.factor)


Among = Literal["table", "rows", "columns"]
STEPS = 5


def shade_rows(rows: Sequence[TableRow], among: Among) -> list[TableRow]:
    """Return the rows with their cells shaded.

    Values in the same unit are compared in the whole table, in each row, or in each column.
    """

    def scope(cell: TableCell, at: int, column: int) -> tuple[str, int]:
        return cell.unit, {"table": 0, "rows": at, "columns": column}[among]

    scopes: dict[tuple[str, int], list[float]] = {}
    for at, row in enumerate(rows):
        for column, cell in enumerate(row.cells):
            if cell.value is not None:
                scopes.setdefault(scope(cell, at, column), []).append(cell.value)
    found = []
    for at, row in enumerate(rows):
        cells = [
            cell if cell.value is None else replace(cell, heat=step(cell.value, scopes[scope(cell, at, column)]))
            for column, cell in enumerate(row.cells)
        ]
        found.append(replace(row, cells=tuple(cells)))
    return found


def key_of(rows: Sequence[TableRow], among: Among) -> str:
    """Return the catalogue's key for the meaning of the shades, or for the reason why there are none."""
    return f"heat_{among}" if any(cell.heat for row in rows for cell in row.cells) else "heat_none"


def step(value: float, among: Sequence[float]) -> int:
    """Divide the range of `among` into STEPS equal parts and return the number of the part with the value, counted from
    1. Return 0 if all values are equal."""
    low, high = min(among), max(among)
    if low == high:
        return 0
    return min(STEPS, 1 + int(STEPS * (value - low) / (high - low)))


_UNIT_FOLLOWS = 40
"""How many characters after a number are kept with it, since they may contain its unit."""


def build(
    plan: p.Plan,
    store: AskedStore,
    report: p.Report,
    words: Words,
    reports_from: Mapping[str, str] | None = None,
    converter: Converter | None = None,
) -> ReportView:
    """Return the view of a report over the results in the store. `reports_from` is as for `disclosure`. Without a
    `converter`, the view is drawn with a temporary one."""
    with written_as(words.locale), nullcontext(converter) if converter else Converter().running() as drawing:
        for_customers = report.audience == "customer" and report.disclosure == "separate"
        results, gaps = Results(plan, store, words, for_customers=for_customers), Gaps(NotDrawn)
        claims = claims_of(report, results)
        computed = are_computed(report, claims, results)
        report = say_claims(report, results, claims)
        written = gaps.made("precision", partial(with_one_precision, report, results), "columns")
        report = report if isinstance(written, MissingPart) else written
        if has(p.FigureElement, report.elements):
            drawing.start()
        kept = gaps.made("kept", lambda: keep_elements_with_data(report.elements, results), "choice")
        elements = report.elements if isinstance(kept, MissingPart) else kept
        while True:
            known = len(gaps)
            view = _view(_Builder(results, report, claims, reports_from, drawing, gaps), elements, computed=computed)
            if len(gaps) == known:
                return view


def _view(builder: _Builder, elements: Sequence[p.Element], *, computed: bool) -> ReportView:
    """Return the view of a report's elements. `computed` means that its published numbers are computed from a source's
    numbers."""
    results, report = builder.results, builder.report
    builder.sketch(elements)
    title, title_html, on_title = builder.heading(report.heading, report.title)
    subtitle, subtitle_html, on_subtitle = builder.heading(report.subheading, report.subtitle)
    of_title = builder.foot.drop()
    apart = report.disclosure == "separate"
    lead, rest = split_brief(without_disclosure(elements) if apart else elements)
    asked = has(p.PublishedElement, elements)
    published = () if apart or asked else builder.published()
    blocks = with_leads((*builder.blocks(lead, level=2), *published, *builder.blocks(rest, level=2)))
    legal = builder.legal()
    legal_notes = builder.foot.taken()
    title_html += builder.foot.marks_of(note for note in of_title if note.number in on_title)
    subtitle_html += builder.foot.marks_of(note for note in of_title if note.number in on_subtitle)
    title_notes = builder.foot.untold(of_title)
    builder.foot.begin_document()
    stated = () if asked or not apart else builder.published()
    disclosed = (
        (*stated, *builder.facts_in_full(elements), builder.block(p.DisclosureElement(), level=2)) if apart else ()
    )
    details = "disclosure" if apart or has(p.DisclosureElement, report.elements) else ""
    found = tuple(
        notices(
            results,
            builder.gaps,
            report.limits,
            details,
            shows=builder.ledger.shows_measured,
            computed=computed,
            of_sizes=is_of_sizes(elements),
        )
    )
    limits, every = told_in_brief(found, cap=apart), told_in_brief(found, cap=False)
    count = len(every)
    further = count - len(limits)
    invalid = [text for each in found if each.severity == "error" for text in each.limits]
    grave = [text for each in found if each.is_grave and each.severity != "error" for text in each.limits]
    of_grave = in_one_line(grave, after=invalid)
    once = results.once(said_once)
    of_grave += (once,) if once in grave and once not in of_grave else ()  # single numbers do not repeat it
    said = [text for each in found if each.is_stated for text in each.limits]
    in_words = in_one_line(said, after=(*invalid, *of_grave))
    in_full, in_part = ("limits_all", "limits_some") if in_words else ("limits_line", "limits_listed")
    every_line = counted(results.words, in_full, count) if limits else ""
    tags = {each.origin.text: each.origin for each in found if each.origin}
    entries: Sequence[ClaimEntry] = builder.gaps.tried(builder.claim_entries, [])
    common, run = tuple(disclose_origin(results)), run_row(results)
    not_made = tuple(told(gap, CATALOGUES["en"]) for gap in builder.gaps.found if not gap.is_drawing)
    return ReportView(
        title=title,
        subtitle=subtitle,
        title_html=title_html,
        subtitle_html=subtitle_html,
        title_notes=title_notes,
        internal=report.audience == "internal",
        language=report.language,
        author=report.author,
        date=d.date_text(results),
        run_id=str(run["run_id"] or ""),
        version=version("benchbrief"),
        simulated=bool(run["simulated"]),
        imported=is_imported(results),
        notices=found,
        origin=tuple(tags.values()),
        limits=limits,
        every_limit=every,
        grave_limits=(*invalid, *of_grave),
        stated_limits=in_words,
        limit_count=count,
        further_limits=counted(results.words, "limits_elsewhere", further) if further else "",
        limits_line=counted(results.words, in_part, count, listed=len(limits)) if further else every_line,
        every_limits_line=every_line,
        method=with_numbers(
            builder.gaps.tried(lambda: method(results, shows_percentiles=builder.ledger.shows_percentiles), Method(())),
            [each.of_method for each in found if each.of_method],
            results.words,
        ),
        repeat=builder.gaps.tried(lambda: repeat(results), ""),
        blocks=blocks,
        legal=legal,
        legal_notes=legal_notes,
        provenance=builder.ledger.view(common),
        numbers=builder.ledger.file(report, common).model_copy(update={"not_made": not_made, "claims": tuple(entries)}),
        cells=builder.ledger.cells,
        stated=builder.gaps.tried(lambda: tuple(state_numbers(report, builder.claims, results)), ()),
        claims=tuple(builder.claims),
        made=d.made_at(results),
        profile=results.plan.spec.profile or "",
        keywords=d.keywords(results.plan),
        gaps=builder.gaps.found,
        disclosed=disclosed,
        columns=report.columns,
        one_page=report.layout == "one_page",
    )


class _Builder:
    """Builds a report's elements and keeps the numbering of figures, tables and footnotes."""

    def __init__(
        self,
        results: Results,
        report: p.Report,
        claims: Sequence[ClaimVerdict],
        reports_from: Mapping[str, str] | None,
        converter: Converter,
        gaps: Gaps,
    ) -> None:
        self.converter = converter
        self.gaps = gaps
        self.reports_from = reports_from
        self.results = results
        self.report = report
        self.claims = claims
        self.slides = template_of(report.template).slides
        self.words = results.words
        self.mark = "simulated" if run_row(results)["simulated"] else "imported" if is_imported(results) else ""
        columns = gaps.made("columns", lambda: Columns(report.elements, results), "columns")
        self.columns = Columns((), results) if isinstance(columns, MissingPart) else columns
        self.colours = document_colours(report.elements, results.plan, report.theme.palette)
        self.sketches: Mapping[int, tuple[Sketch, Reach]] = {}
        self.ledger = Ledger(results, report.provenance)
        self.font = font_of(report)
        self.figures = self.tables = self.sections = self.formulas = self.texts = 0
        self.foot = Footnotes(results, repeated=self.slides)
        self.citing = False
        self.margins = NO_MARGINS
        self.follows = False
        """Whether the figure is to the right of another one. The two then share their margins."""

    def sketch(self, elements: Sequence[p.Element]) -> None:
        """Sketch all figures of the report, leaving out those that can't be drawn. Find the values that each figure's
        axes must cover. A figure's sketch and these values are kept in `sketches`, by the figure's identity."""
        known: dict[int, Sketch] = {}
        for figure in p.figures_in(elements):
            made: Sketch | None = self.gaps.tried(partial(self._sketched, figure), None)
            if made:
                known[id(figure)] = made
        shared = self.gaps.tried(partial(shared_reach, known), dict[int, Reach]())
        self.sketches = {place: (sketch, shared.get(place, NO_REACH)) for place, sketch in known.items()}

    def _sketched(self, figure: p.FigureElement) -> Sketch:
        return sketched(figure, self.results, self.colours)

    def blocks(self, elements: Sequence[p.Element], level: int) -> Iterable[Block]:
        index = 0
        while index < len(elements):
            run = draw_chart.run_of_figures(elements[index:])
            if len(run) in (0, 1, 3) or self.slides:  # three compared figures have one size
                count = max(1, len(run))
                made = (self.block(element, level) for element in elements[index : index + count])
                yield from (one for one in made if one != _NOTHING)
            else:
                count = len(run) - len(run) % 2
                for at in range(0, count, 2):
                    self.margins = self.gaps.tried(partial(self.margins_of, run[at : at + 2]), NO_MARGINS)
                    pair: list[tuple[Block, bool]] = []
                    for one in run[at : at + 2]:
                        self.follows = bool(pair)
                        pair.append((self.block(one, level, half=True), bool(one.claim)))
                    if beside := tuple(one for one, _ in pair if isinstance(one, FigureView)):
                        own = [one for one, claimed in pair if claimed and isinstance(one, FigureView)]
                        yield FigureRow(draw_chart.with_even_heads(beside, self.words, own))
                    yield from (one for one, _ in pair if not isinstance(one, FigureView))
            index += count

    def margins_of(self, figures: Sequence[p.FigureElement]) -> Margins:
        """Return the margins of figures side by side that give their plot areas the same size."""
        charts = []
        for sketch, reach in (self.sketches[id(figure)] for figure in figures if id(figure) in self.sketches):
            bare = replace(sketch, figure=sketch.figure.model_copy(update={"point_notes": ()}))
            charts.append(finished(bare, self.results, (), self.columns, reach).charts)
        return draw_chart.margins_beside(charts)

    def block(self, element: p.Element, level: int, *, half: bool = False) -> Block:
        """Return the view of an element, or a sentence saying why it can't be made."""
        made: Block | MissingPart
        match element:
            case p.TextElement():
                made = self.gaps.made(id(element), lambda: self.text(element, level), "text")
            case p.TableElement():
                self.tables += 1
                made = self.gaps.made(id(element), lambda: self.table_if_any(element), "table", str(self.tables))
            case p.HeadlineElement():
                made = self.gaps.made(id(element), lambda: self.headline(element), "text")
            case p.PublishedElement():
                return next(iter(self.published(element)), TextView(Markup()))
            case p.CalloutElement():
                made = self.gaps.made(id(element), lambda: self.callout(element), "box", element.title)
            case p.FigureElement():
                self.figures += 1
                made = self.gaps.made(id(element), lambda: self.figure(element, half=half), "figure", str(self.figures))
            case p.FormulaElement():
                made = self.gaps.made(id(element), lambda: self.formula(element), "formula", element.name)
            case p.FactsElement():
                self.tables += 1
                made = self.gaps.made(id(element), lambda: self.facts(element), "table", str(self.tables))
            case p.DisclosureElement():
                made = self.gaps.made(id(element), self.disclosure, "disclosure")
            case p.SectionElement():
                return self.section(element, level)
        if not isinstance(made, MissingPart):
            return made
        self.foot.drop()
        text = self.words["not_made"].format(part=name_part(made, self.words), reason=reason_of(made, self.words))
        return TextView(Markup('<p class="nothing">{}</p>').format(text))

    def heading(self, prose: p.Prose | None, text: str) -> tuple[str, Markup, tuple[int, ...]]:
        """Return the title or subtitle, both plain and with its computed numbers, and the numbers of its footnotes."""
        self.ledger.at("")
        return render_prose.heading(prose or p.Prose(parts=(text,)), self.insert)

    def title_html(self, heading: p.Prose | None) -> Markup:
        """Return an element's title with the numbers of its claims and the marks of their footnotes. Return nothing if
        the title has no claim."""
        if heading is None:
            return Markup()
        _, html, notes = render_prose.heading(heading, self.insert)
        return html + note_marks(notes)

    def headline(self, element: p.HeadlineElement) -> HeadlineView:
        self.ledger.at("")
        numbers = tuple(
            self.headline_number(number) for number in element.numbers if isinstance(number, p.HeadlineNumber)
        )
        return HeadlineView(numbers, self.foot.taken(), *headline_size(numbers))

    def headline_number(self, number: p.HeadlineNumber) -> HeadlineNumberView:
        """Return a number in large type, with the marks of its notes after its sentence. The number is grey if it shows
        no difference, or is a range of losses and gains. If all hardware is one machine, every number is grey, because
        the differences are noise.
        """
        value, marks = lift_marks(render_prose.inline(number.value, self.insert))
        text, own = lift_marks(sentence := render_prose.inline(number.text, self.insert))
        said = text + note_marks(sorted({*marks, *own})) if marks else sentence
        grey = number.shows_none or {"−", "+"} <= set(value) or bool(systems_under_test.one_machine(self.results))
        return HeadlineNumberView(value, said, grey)

    def text(self, element: p.TextElement, level: int) -> TextView:
        self.ledger.at("")
        self.texts += 1
        return TextView(render_prose.blocks(element.prose, self.insert, level), self.foot.taken(), number=self.texts)

    def facts(self, element: p.FactsElement) -> FactsView | TextView:
        title = element.title or self.words["configuration"]
        title_html = self.title_html(element.heading)
        if not self.results.for_customers:
            groups = fact_groups(element.hardware, self.results)
            return FactsView(self.tables, title, groups, title_html=title_html, notes=self.foot.taken())
        found = compared_facts(element.hardware, self.results, self.tables, title)
        self.tables -= not found.beside
        if not found.common and not found.beside:
            return _NOTHING
        number = found.number if found.beside else 0
        return replace(found, number=number, title_html=title_html, notes=self.foot.taken())

    def facts_in_full(self, elements: Iterable[p.Element]) -> Iterator[FactsView]:
        """Yield the tables of facts, including the facts that a brief for customers leaves out."""
        for element in facts_elements(elements) if self.results.for_customers else ():
            self.tables += 1
            groups = fact_groups(element.hardware, self.results, in_full=True)
            yield FactsView(self.tables, element.title or self.words["configuration"], groups)

    def disclosure(self) -> DisclosureView:
        told = self.report.disclosure == "in_brief" or self.results.for_customers  # told in full there
        shown = {key for each in facts_elements(self.report.elements) for key in each.hardware} if told else ()
        claims = partial(disclosed_claims, self.report, self.claims, self.results)
        return d.build_disclosure(
            self.results, self.gaps, facts_of=shown, reports_from=self.reports_from, claims=claims
        )

    def claim_entries(self) -> list[ClaimEntry]:
        """Return the brief's claims for the file of numbers."""
        return [row.entry for row in sheet_of(self.report, self.claims, self.results, CATALOGUES["en"])]

    def section(self, element: p.SectionElement, level: int) -> SectionView:
        self.sections += 1
        anchor = f"section-{self.sections}"
        self.ledger.at("")
        title_html = self.title_html(element.heading)
        above, self.ledger.heading = self.ledger.heading, element.title
        inner = with_leads(tuple(self.blocks(element.elements, level + 1)))
        self.ledger.heading = above
        return SectionView(element.title, level, anchor, inner, title_html)

    def cited(self, name: str) -> render_prose.Inserted:
        """Return the mark of an author's footnote. If the report lacks the footnote, or cites it within a footnote,
        return the text as written."""
        prose = self.report.footnotes.get(name)
        if prose is None or self.citing:
            return render_prose.Inserted(f"[^{name}]", Markup.escape(f"[^{name}]"))
        return render_prose.Inserted("", Markup(""), (self.foot.named(f"[^{name}]", lambda: self.written(prose)),))

    def written(self, footnote: p.Prose) -> Markup:
        self.citing = True
        text = self.gaps.tried(lambda: render_prose.inline(footnote, self.insert), Markup(""))
        self.citing = False
        return text

    def insert(self, value: p.Value | render_prose.Citation, follows: str) -> render_prose.Inserted:
        """Return a computed number for a text, or a dash whose footnote gives the reason. If the value is a footnote
        mark, return the mark of the author's footnote."""
        if isinstance(value, render_prose.Citation):
            return self.cited(value.name)
        made = self.gaps.made(id(value), lambda: self.computed(value, follows), "number")
        if not isinstance(made, MissingPart):
            return made
        dash, note = self.words["missing"], self.foot.note(reason_of(made, self.words))
        takes = len(belonging(value.query.unit, follows))
        return render_prose.Inserted(dash, Markup('<span class="num missing">{}</span>').format(dash), (note,), takes)

    def computed(self, value: p.Value, follows: str) -> render_prose.Inserted:
        """Return a computed number for a text, or a dash with a footnote if the number or an end of its range is
        missing. A number also has a footnote if it is from few operations or from measurements of different lengths, or
        belongs to a claim.
        """
        low = self.results.at(value.query)
        high = self.results.at(value.high) if value.high else None
        unit = value.query.unit
        takes = len(spelled_unit(unit, follows)) if value.format else 0
        missing = low is None or (value.high is not None and high is None)
        ends = [query for query in (value.query, value.high) if query]
        notes = []
        if missing:
            why = self.results.why_missing(value.query if low is None or not value.high else value.high)
            notes = [self.foot.note(why)]
            takes = len(belonging(unit, follows))
        elif text := next(self.foot.of_text(ends), ""):
            notes = [self.foot.note(text)]
        if value.note and not missing:
            notes.append(self.foot.note(value.note))
        printed = PrintedBy(
            by="prose",
            format=value.format,
            follows=follows[:_UNIT_FOLLOWS],
            to=self.words["to"],
            step=value.step,
            rounded=value.rounded,
            as_declared=self.results.is_in_declared_unit(value.query),
            missing=self.words["missing"],
        )
        shown = self.ledger.number(value.query, printed, high=value.high)
        return render_prose.Inserted(shown.text, shown.html(missing=missing), tuple(notes), takes)

    def insert_quoted(self, value: p.Value | render_prose.Citation, follows: str) -> render_prose.Inserted:
        """Return a computed number, with a footnote if it is a published one."""
        made = self.insert(value, follows)
        if isinstance(value, render_prose.Citation):
            return made
        footnotes = [*self.foot.quoted(value.query), *(self.foot.quoted(value.high) if value.high else ())]
        return replace(made, notes=(self.foot.note(footnotes[0]),)) if footnotes and not made.notes else made

    def cells(self, queries: Iterable[p.Query], **where: DimKey) -> str:
        found = (cell.cell_id for query in queries for cell in self.results.cells_behind(query, **where))
        return " ".join(dict.fromkeys(found))

    def optional_prose(self, text: p.Prose | None) -> Markup | None:
        return render_prose.inline(text, self.insert) if text else None

    def legal(self) -> Markup | None:
        self.ledger.at("")
        legal = self.report.legal
        if not legal:
            line = trademarks(self.results.plan, self.words)
            return Markup("<p>{}</p>").format(line) if self.results.for_customers else None
        made = self.gaps.made("legal", lambda: render_prose.blocks(legal, self.insert, 3), "text")
        return None if isinstance(made, MissingPart) else made

    def table_if_any(self, element: p.TableElement) -> TableView | TextView:
        """Return a table, or a sentence if the table has no value at all."""
        if not is_empty(element, self.results):
            return self.table(element)
        self.tables -= 1
        return TextView(self.left_out(element))

    def left_out(self, element: p.TableElement) -> Markup:
        """Return a sentence saying that a table has no value at all, with the reasons."""
        reasons = dict.fromkeys(map(self.results.why_missing, table_queries(element)))
        why, title = self.words["semicolon"].join(filter(None, reasons)), element.title or self.words["table"]
        text = self.words["left_out_why" if why else "left_out"].format(names=title, why=why)
        return Markup('<p class="remark">{}</p>').format(text)

    def table(self, element: p.TableElement, *, numbered: bool = True) -> TableView:
        if numbered:
            self.ledger.at(f"{self.words['table']} {self.tables}")
        title_html = self.title_html(element.heading)
        shown = shown_table(element, self.results)
        remarks = [*number_marks.table_remarks(element, self.results), *self.empty_lines(shown)]
        footnotes, element = self.foot.numbered(remarks), shown.table
        columns_by_unit = self.columns.of(element)
        self.letters = number_marks.letters_of(element, self.results)
        lines = [self.line(element, line, columns_by_unit) for line in element.lines]
        lines, keys = notes_at_heads(
            lines, [TableHead(key_text(key.label, key.value), numeric=False) for key in element.keys]
        )
        lines = [(head, tuple(map(marked, cells))) for head, cells in lines]
        if element.transposed:
            numeric = any(head.numeric for head, _ in lines)
            columns = [replace(key, numeric=numeric) for key in keys]
            rows = grouped_rows(lines, self.words)
        else:
            columns = [head for head, _ in lines]
            rows = [TableRow(key, tuple(cells[i] for _, cells in lines)) for i, key in enumerate(keys)]
        rows = aligned(shade_rows(rows, element.heat) if element.heat else rows, self.words.locale.decimal)
        unit = shared_unit([row.head for row in rows] if element.transposed else columns)
        bare = [replace(column, unit="") for column in columns] if unit else columns
        footnotes += self.foot.tell_boundaries([line.query for line in element.lines if line.query])
        note = self.optional_prose(element.note)
        corner = element.dim_label or self.words.dimension(element.dim)
        return TableView(
            self.tables,
            element.title,
            corner,
            tuple(columns),
            tuple(rows),
            self.foot.taken(),
            note,
            tuple(sources_of(table_queries(element))),
            head_rows(bare),
            parts_of(corner, bare, rows, room_of(self.slides, boxed=not numbered)),
            self.words[key_of(rows, element.heat)] if element.heat else "",
            footnotes,
            self.letters.note,
            unit,
            title_html,
        )

    def empty_lines(self, shown: ShownTable) -> Iterator[str]:
        """Yield a sentence that names the rows and columns without any value, with the reasons."""
        names: dict[str, list[str]] = {}
        for line in shown.lines:
            path = [readable_label(each, self.words) for each in (*line.heads, line.label)]
            of = [line.query] if line.query else [query for text in line.texts for query in queries_of_prose(text)]
            why = next(map(self.results.why_missing, of), "")
            names.setdefault(why, []).append(self.words.locale.listed(filter(None, path)))
        for key in shown.keys:
            first = next((line.query for line in shown.table.lines if line.query), None)
            why = self.results.why_missing(first, **{shown.table.dim: key.value}) if first else ""
            names.setdefault(why, []).append(key_text(key.label, key.value))
        for why, those in names.items():
            listed = self.words.locale.listed(those)
            yield self.words["left_out_why" if why else "left_out"].format(names=listed, why=why)

    def published(self, element: p.PublishedElement | None = None) -> Iterable[TableView]:
        """Yield the table of the metrics that the source of imported results states, if it states any. `element` is the
        place that the report gives to this table, or None."""
        title = element.title if element else ""
        room = room_of(self.slides and (bool(title) or self.report.disclosure == "in_brief"), boxed=False)
        number = self.tables + 1
        made = self.gaps.made(
            "published",
            lambda: table_heads.published_table(self.results, self.ledger, number, room, title),
            "table",
            str(number),
        )
        if made and not isinstance(made, MissingPart):
            self.tables += 1
            title_html = self.title_html(element.heading if element else None)
            note = self.optional_prose(element.note if element else None)
            yield replace(made, title_html=title_html, note=note, notes=self.foot.taken())

    def line(
        self, element: p.TableElement, line: p.Line, columns: Mapping[str, Column]
    ) -> tuple[TableHead, tuple[TableCell, ...]]:
        if line.query is None:
            numeric = any(not isinstance(part, str) for text in line.texts for part in text.parts)
            quoted = [any(self.foot.quoted(query) for query in queries_of_prose(text)) for text in line.texts]
            insert = self.insert if all(quoted) else self.insert_quoted
            made = [lift_marks(render_prose.inline(text, insert)) for text in line.texts]
            cells = [TableCell(html, numeric, notes=marks) for html, marks in made]
            notes = self.foot.numbered([self.words["as_published"]] if all(quoted) else [])
            return TableHead(readable_label(line.label, self.words), unit_text(line.unit), numeric, notes), tuple(cells)
        above = tuple(line_label(head, line.query, self.words, self.results.plan) for head in line.heads)
        label = line_label(line.label, line.query, self.words, self.results.plan)
        values = [self.results.at(line.query, **{element.dim: key.value}) for key in element.keys]
        unit = line.query.unit
        column = Column(Scale(1.0, unit_text(unit)), 0) if line.format else columns[unit]
        printed = PrintedBy(
            by="format" if line.format else "scale",
            format=line.format,
            factor=column.scale.factor,
            decimals=column.decimals,
            missing=self.words["missing"],
        )
        found = []
        for key, value in zip(element.keys, values, strict=True):
            where = {element.dim: key.value}
            if value is None and self.results.left_out(line.query, **where):
                found.append(TableCell(Markup(), numeric=True))
                continue
            if value is None:
                notes = self.foot.numbered([self.results.why_missing(line.query, **where)])
            else:
                footnotes = self.foot.quoted(line.query, **where)
                notes = self.foot.numbered((*footnotes, *self.foot.cautions.at(line.query, **where)))
            beside = self.letters.of.get((line.query.sql, key.value), "")
            shown = self.ledger.number(line.query, printed, at=where, letters=beside)
            letters = number_marks.letters_beside(line, beside, marked=bool(element.mark))
            html, best = shown.html(missing=value is None), beside == number_marks.BEST
            if bound := self.results.bound(line.query, **where):
                html = Markup(escape(self.words[bound])).format(n=html)  # noqa: S704  # escaped just there
            html = Markup("<strong>{}</strong>").format(html) if best else html
            found.append(TableCell(html + letters, True, shown.cells, value, unit, best=best, notes=notes))
        shown_unit = "" if line.format.endswith("%") else column.scale.unit
        of_all = self.foot.numbered(self.foot.cautions.of(line.query))
        return TableHead(label, shown_unit, notes=of_all, heads=above), tuple(found)

    def callout(self, element: p.CalloutElement) -> CalloutView:
        self.ledger.at(element.title)
        title_html = self.title_html(element.heading)
        asked = element.table
        table = self.table(asked, numbered=False) if asked and not is_empty(asked, self.results) else None
        html = render_prose.blocks(element.prose, self.insert, 3) if element.prose else None
        html = (html or Markup("")) + self.left_out(asked) if asked and not table else html
        note = self.optional_prose(element.note)
        upright = asked is not None and not asked.transposed
        column, cards = cards_of(table) if table and upright else ("", ())
        column = column or (escape(table.unit) if table else "")
        return CalloutView(
            element.title,
            column,
            cards,
            draw_chart.card_size(cards, slides=self.slides),
            None if cards else table,
            html,
            note,
            (*(table.notes if table else ()), *self.foot.taken()),
            table.sources if table else (),
            table.marks if table else (),
            title_html,
        )

    def figure(self, element: p.FigureElement, *, half: bool) -> FigureView:
        number = str(self.figures)
        place = f"{self.words['figure']} {number}"
        self.ledger.at(place, of_text=True, drawn_in=f"figure-{number}")
        notes = [render_prose.heading(note.text, self.insert)[0] for note in element.point_notes]
        self.ledger.at(place, of_text=True)
        title_html = render_prose.heading(element.heading, self.insert)[1] if element.heading else Markup()
        sketch, reach = self.sketches.get(id(element)) or (self._sketched(element), NO_REACH)
        found = finished(sketch, self.results, notes, self.columns, reach)
        least = replace(self.margins, shared_legend=False) if half else NO_MARGINS
        width, usual = draw_chart.HALF if half else draw_chart.FULL
        height = draw_chart.height_for(found.charts, width, usual, least)
        if self.slides:
            width, height = draw_chart.slide_size((width, height))
        made = (
            self.gaps.made(
                (id(element), "drawing"),
                lambda: draw_chart.draw(found.charts, width, height, self.font, self.converter, least),
                "figure",
                number,
                anchor=f"figure-{number}",
                is_drawing=True,
            )
            if found.charts
            else None
        )
        drawn, undrawn = (None, reason_of(made, self.words)) if isinstance(made, MissingPart) else (made, "")
        on_paper, bare = drawn, self.margins if half and self.follows and self.margins.shared_legend else least
        if drawn and bare is not least:
            draw = partial(draw_chart.draw, found.charts, width, height, self.font, self.converter, bare)
            on_paper = self.gaps.tried(draw, drawn)
        named = not self.results.for_customers
        script = partial(script_data, drawn=found.series, number=self.figures, words=self.words, with_cells=named)
        for text in found.notes:
            self.foot.note(text)
        note = self.optional_prose(element.note)
        claim = self.optional_prose(element.claim) or (Markup.escape(found.message) if found.message else None)
        claim = lift_marks(claim)[0] if claim else None  # the marks follow the title below
        queries = [q for s in element.series for q in s.drawn]
        entered = [*queries, *(s.repeats for s in element.series if s.repeats)]
        row = self.ledger.figure(f"figure-{self.figures}", element.title, entered)
        self.foot.numbered(number_marks.figure_remarks(element, found.charts, self.results))
        self.foot.tell_boundaries(queries)
        self.foot.tell_quoted(queries)
        of_points = self.foot.tell_cautions_of(element)
        keys = [part for part in (found.key, *of_points) if part]
        key = sentences(keys, self.words) if len(keys) > 1 else "".join(keys)
        marks = self.foot.cited
        return FigureView(
            self.figures,
            element.title,
            drawn.svg if drawn else "",
            found.alt,
            not half,
            width,
            found.data_head,
            found.data,
            self.foot.taken(),
            note,
            self.cells(queries),
            tuple(sources_of(queries)),
            row,
            figure_csv(found.series, element, self.mark, self.results.once(sentences_by_cell)),
            script(drawn) if drawn else {},
            claim,
            key[:1].upper() + key[1:] if drawn else "",
            undrawn,
            draw_chart.lower_drawing(found.charts, on_paper, self.font, self.converter, self.gaps, bare)
            if on_paper
            else None,
            draw_chart.draw_for_phone(found.charts, self.font, self.converter, self.gaps, script)
            if drawn and not half and not self.slides
            else None,
            marks,
            title_html=title_html,
            is_rigid=drawn is not None and drawn.is_rigid,
            paper_svg=on_paper.svg if on_paper and on_paper is not drawn else "",
            native=native_charts(found.charts),
        )

    def formula(self, element: p.FormulaElement) -> FormulaView:
        words = as_written(element.text.format(*(readable_label(term.text, self.words) for term in element.terms)))
        significant = 6 if subtracts(element.text) else 4  # a difference of near values needs more digits
        self.ledger.at(self.words["formula"])
        declared = [declared_text(self.results, term.query) for term in element.terms]
        pairs = zip(element.terms, declared, strict=True)
        amounts = [self.amount(term.query, significant, said) for term, said in pairs]
        units = [said.rpartition(" ")[2] or term.query.unit for term, said in zip(element.terms, declared, strict=True)]
        text = in_one_time(element.text, units)
        numbers = Markup(as_written(escape(text))).format(*amounts)  # noqa: S704  # escaped just there
        steps = (words, numbers, self.result(element.result))
        queries = [*(term.query for term in element.terms), element.result]
        self.foot.tell_cautions(queries)
        cells, sources = self.cells(queries), tuple(sources_of(queries))
        name, key = readable_label(element.name, self.words), element.for_label
        title = self.words["for_key"].format(name=name, key=key) if key else name
        marks = self.foot.cited
        self.formulas += 1
        return FormulaView(title, name, key, steps, self.foot.taken(), cells, sources, marks, self.formulas)

    def result(self, query: p.Query) -> Markup:
        """Write the result of a formula. For nodes, also write the number before it is rounded up."""
        shown, value = self.amount(query), self.results.at(query)
        if value is None or value < FEW_NODES or whole_nodes(value, query.unit) == value:
            return shown
        return Markup(escape(self.words["rounded_up"])).format(exact=automatic(value), whole=shown)  # noqa: S704  # escaped just there

    def amount(self, query: p.Query, significant: int = 0, declared: str = "") -> Markup:
        """Write a number with its unit. A fact in `declared` is printed unchanged."""
        missing = self.results.at(query) is None
        if missing:
            self.foot.note(self.results.why_missing(query))
        printed = PrintedBy(
            by="declared" if declared else "amount",
            format=declared,
            significant=significant,
            missing=self.words["missing"],
        )
        return self.ledger.number(query, printed).html(missing=missing)
