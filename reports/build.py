"""Plan, report and results -> the view model: every element computed, numbered and escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.metadata import version

from markupsafe import Markup

from benchbrief.compiler import plan as p
from benchbrief.reports import disclosure as d
from benchbrief.reports import power, prose, published
from benchbrief.reports.cautions import Cautions
from benchbrief.reports.charts import draw
from benchbrief.reports.facts import fact_groups
from benchbrief.reports.figure_data import figure_csv
from benchbrief.reports.figures import drawing
from benchbrief.reports.house import family_of
from benchbrief.reports.imported import is_imported
from benchbrief.reports.interactive import for_script
from benchbrief.reports.labels import line_label, readable
from benchbrief.reports.ledger import Ledger
from benchbrief.reports.locales import written_as
from benchbrief.reports.markup import marks
from benchbrief.reports.notices import notices
from benchbrief.reports.numbers import Printed
from benchbrief.reports.origin import origin
from benchbrief.reports.sizes import FULL, HALF, card_size, height_for, run_of_figures, slide_size
from benchbrief.reports.source import Key, Results, Store
from benchbrief.reports.tables import needed, shared_decimals, sources_of, table_queries
from benchbrief.reports.values import (
    Scale,
    belonging,
    key_text,
    spelled_unit,
    unit_text,
)
from benchbrief.reports.view import (
    Block,
    CalloutView,
    Card,
    Cell,
    FactsView,
    FigureRow,
    FigureView,
    FormulaView,
    Head,
    Note,
    ReportView,
    Row,
    SectionView,
    TableView,
    TextView,
)
from benchbrief.reports.words import Words

FONTS = {"en": "Inter", "ja": "Noto Sans CJK JP"}
_UNIT_FOLLOWS = 40
"""Characters behind a number that are kept with it: its unit may be among them."""
_SUBTRACTS = re.compile(" [-−] ")


def build(
    plan: p.Plan,
    store: Store,
    report: p.Report,
    words: Words,
    reports_from: Mapping[str, str] | None = None,
) -> ReportView:
    """The view of one report of the plan over the results in the store; `reports_from` as for `disclosure`."""
    with written_as(words.locale):
        return _view(Results(plan, store, words), report, reports_from)


def _view(results: Results, report: p.Report, reports_from: Mapping[str, str] | None) -> ReportView:
    builder = _Builder(results, report, reports_from)
    lead, rest = published.parted(published.telling(report.elements, results))
    blocks = (*builder.blocks(lead, level=2), *builder.published(), *builder.blocks(rest, level=2))
    legal = builder.legal()
    legal_notes = builder.notes()
    common = tuple(origin(results))
    return ReportView(
        title=report.title,
        subtitle=report.subtitle,
        language=report.language,
        author=report.author,
        date=d.date_text(results),
        run_id=str(d.run_row(results)["run_id"] or ""),
        version=version("benchbrief"),
        simulated=bool(d.run_row(results)["simulated"]),
        imported=is_imported(results),
        notices=tuple(notices(results)),
        blocks=blocks,
        legal=legal,
        legal_notes=legal_notes,
        provenance=builder.ledger.view(common),
        numbers=builder.ledger.file(report, common),
        made=d.made_at(results),
        profile=results.plan.spec.profile or "",
        keywords=_keywords(results.plan),
    )


def _keywords(plan: p.Plan) -> tuple[str, ...]:
    """What was measured and with what, for those who look for documents."""
    engines = (database.engine for database in plan.databases.values())
    tools = (client.tool.driver for client in plan.clients.values())
    return tuple(dict.fromkeys((*engines, *tools, *(hardware.label for hardware in plan.hardware.values()))))


class _Builder:
    """Holds what runs through a report: the numbers of figures, tables and footnotes."""

    def __init__(self, results: Results, report: p.Report, reports_from: Mapping[str, str] | None) -> None:
        self.reports_from = reports_from
        self.results = results
        self.report = report
        self.words = results.words
        self.mark = "simulated" if d.run_row(results)["simulated"] else "imported" if is_imported(results) else ""
        self.cautions = Cautions(results)
        self.ledger = Ledger(results, report.provenance)
        usual, house = FONTS.get(report.language, FONTS["en"]), family_of(report.theme)
        self.font = f"'{house}', {usual}, sans-serif" if house else f"{usual}, sans-serif"
        self.figures = self.tables = self.sections = self.footnotes = 0
        self.pending: dict[str, Note] = {}

    def blocks(self, elements: Sequence[p.Element], level: int) -> Iterable[Block]:
        index = 0
        while index < len(elements):
            run = run_of_figures(elements[index:])
            if len(run) in (0, 1, 3) or self.report.template == "slide":  # three are to be compared: all of one size
                count = max(1, len(run))
                yield from (self.block(element, level) for element in elements[index : index + count])
            else:
                count = len(run) - len(run) % 2
                yield from (
                    FigureRow(tuple(self.figure(one, half=True) for one in run[at : at + 2]))
                    for at in range(0, count, 2)
                )
            index += count

    def block(self, element: p.Element, level: int) -> Block:
        match element:
            case p.TextElement():
                self.ledger.at("")
                html = prose.blocks(element.prose, self.insert, level)
                return TextView(html, self.notes())
            case p.TableElement():
                return self.table(element)
            case p.CalloutElement():
                return self.callout(element)
            case p.FigureElement():
                return self.figure(element, half=False)
            case p.FormulaElement():
                return self.formula(element)
            case p.FactsElement():
                self.tables += 1
                groups = fact_groups(element.hardware, self.results)
                return FactsView(self.tables, element.title or self.words["configuration"], groups)
            case p.DisclosureElement():
                shown = _has_facts(self.report.elements)
                return d.disclosure(self.results, facts_shown=shown, reports_from=self.reports_from)
            case p.SectionElement():
                self.sections += 1
                anchor = f"section-{self.sections}"
                above, self.ledger.heading = self.ledger.heading, element.title
                inner = tuple(self.blocks(element.elements, level + 1))
                self.ledger.heading = above
                return SectionView(element.title, level, anchor, inner)

    # --- footnotes and numbers in text ---------------------------------------------------------------------------

    def note(self, text: str) -> int:
        """The number of a footnote with this text under the block in hand."""
        if text not in self.pending:
            self.footnotes += 1
            self.pending[text] = Note(self.footnotes, text)
        return self.pending[text].number

    def tell_boundaries(self, queries: Iterable[p.Query]) -> None:
        """A footnote under what is made of watts that are not those of whole machines."""
        if any(map(power.is_of_power, queries)):
            for text in power.cpu_packages_only(self.results):
                self.note(text)

    def numbered(self, texts: Iterable[str]) -> tuple[int, ...]:
        return tuple(self.note(text) for text in dict.fromkeys(texts))

    def tell_cautions(self, queries: Iterable[p.Query]) -> None:
        """Footnotes for all that a drawing, or a worked example, is made of."""
        queries = list(queries)
        self.numbered(text for query in queries for text in (*self.cautions.of(query), *self.cautions.at(query)))

    def notes(self) -> tuple[Note, ...]:
        found, self.pending = tuple(self.pending.values()), {}
        return found

    def insert(self, value: p.Value, follows: str) -> prose.Inserted:
        """A computed number in a text; a dash with a footnote when it, or an end of its range, is missing. One that
        rests on few operations has a footnote, too."""
        low = self.results.at(value.query)
        high = self.results.at(value.high) if value.high else None
        unit = value.query.unit
        takes = len(spelled_unit(unit, follows)) if value.format else 0
        missing = low is None or (value.high is not None and high is None)
        ends = [query for query in (value.query, value.high) if query]
        note = None
        if missing:
            note = self.note(self.results.why_missing(value.query if low is None or not value.high else value.high))
            takes = len(belonging(unit, follows))
        elif text := next((text for query in ends for text in self.cautions.few(query)), ""):
            note = self.note(text)
        printed = Printed(
            by="prose",
            format=value.format,
            follows=follows[:_UNIT_FOLLOWS],
            to=self.words["to"],
            as_declared=self.declared(value.query),
            missing=self.words["missing"],
        )
        shown = self.ledger.number(value.query, printed, high=value.high)
        return prose.Inserted(shown.text, shown.html(missing=missing), note, takes)

    def declared(self, query: p.Query) -> bool:
        """Whether the unit is a metric's own: then numbers of the metric stay in it."""
        metrics = (m.name for m in self.results.plan.metrics if m.query.unit == query.unit)
        return any(re.search(rf"\b{re.escape(name)}\b", query.text) for name in metrics)

    def cells(self, queries: Iterable[p.Query], **where: Key) -> str:
        found = (cell.cell_id for query in queries for cell in self.results.cells_behind(query, **where))
        return " ".join(dict.fromkeys(found))

    def optional_prose(self, text: p.Prose | None) -> Markup | None:
        return prose.inline(text, self.insert) if text else None

    def legal(self) -> Markup | None:
        self.ledger.at("")
        return prose.blocks(self.report.legal, self.insert, 3) if self.report.legal else None

    # --- elements ------------------------------------------------------------------------------------------------

    def table(self, element: p.TableElement, *, numbered: bool = True) -> TableView:
        if numbered:
            self.tables += 1
            self.ledger.at(f"{self.words['table']} {self.tables}")
        element = needed(element, self.results)
        shared = shared_decimals(element, self.results)
        lines = [self.line(element, line, shared) for line in element.lines]
        heads = [head for head, _ in lines]
        keys = [Head(key_text(key.label, key.value), numeric=False) for key in element.keys]
        if element.transposed:
            columns, rows = keys, [Row(head, cells) for head, cells in lines]
            columns = [Head(k.label, numeric=any(h.numeric for h in heads)) for k in keys]
        else:
            columns = heads
            rows = [Row(key, tuple(cells[i] for _, cells in lines)) for i, key in enumerate(keys)]
        self.tell_boundaries([line.query for line in element.lines if line.query])
        note = self.optional_prose(element.note)
        return TableView(
            self.tables,
            element.title,
            element.dim_label or self.words.get(element.dim, element.dim),
            tuple(columns),
            tuple(rows),
            self.notes(),
            note,
            tuple(sources_of(table_queries(element))),
        )

    def published(self) -> Iterable[TableView]:
        """Of imported results, what their source tells of metrics."""
        if table := published.table(self.results, self.ledger, self.tables + 1):
            self.tables += 1
            yield table

    def line(
        self, element: p.TableElement, line: p.Line, shared: Mapping[str, tuple[Scale, int]]
    ) -> tuple[Head, tuple[Cell, ...]]:
        if line.query is None:
            numeric = any(not isinstance(part, str) for text in line.texts for part in text.parts)
            cells = [Cell(prose.inline(text, self.insert), numeric) for text in line.texts]
            return Head(readable(line.label, self.words), unit_text(line.unit), numeric), tuple(cells)
        label = line_label(line.label, line.query, self.words)
        values = [self.results.at(line.query, **{element.dim: key.value}) for key in element.keys]
        unit = line.query.unit
        scale, decimals = (Scale(1.0, unit_text(unit)), 0) if line.format else shared[unit]
        printed = Printed(
            by="format" if line.format else "scale",
            format=line.format,
            factor=scale.factor,
            decimals=decimals,
            missing=self.words["missing"],
        )
        found = []
        for key, value in zip(element.keys, values, strict=True):
            where = {element.dim: key.value}
            if value is None:
                notes = self.numbered([self.results.why_missing(line.query, **where)])
            else:
                notes = self.numbered(self.cautions.at(line.query, **where))
            shown = self.ledger.number(line.query, printed, at=where)
            found.append(Cell(shown.html(missing=value is None) + marks(notes), True, shown.cells))
        shown_unit = "" if line.format.endswith("%") else scale.unit
        return Head(label, shown_unit, notes=self.numbered(self.cautions.of(line.query))), tuple(found)

    def callout(self, element: p.CalloutElement) -> CalloutView:
        self.ledger.at(element.title)
        table = self.table(element.table, numbered=False) if element.table else None
        html = prose.blocks(element.prose, self.insert, 3) if element.prose else None
        note = self.optional_prose(element.note)
        cards: tuple[Card, ...] = ()
        column = ""
        notes = table.notes if table else ()
        upright = element.table is not None and not element.table.transposed
        if table and upright and len(table.columns) == 1 and len(table.rows) <= 6:
            head = table.columns[0]
            column = f"{head.label} ({head.unit})" if head.unit else head.label
            cards = tuple(Card(row.head.label, row.cells[0].html) for row in table.rows)
        return CalloutView(
            element.title,
            column,
            cards,
            card_size(cards),
            None if cards else table,
            html,
            note,
            (*notes, *self.notes()),
            table.sources if table else (),
        )

    def figure(self, element: p.FigureElement, *, half: bool) -> FigureView:
        self.figures += 1
        self.ledger.at(f"{self.words['figure']} {self.figures}", of_text=True)
        found = drawing(element, self.results)
        drawn_size = (FULL[0], height_for(len(found.charts)))
        width, height = HALF if half else slide_size(drawn_size) if self.report.template == "slide" else drawn_size
        drawn = draw(found.charts, width, height, self.font) if found.charts else None
        for text in found.notes:
            self.note(text)
        note = self.optional_prose(element.note)
        claim = self.optional_prose(element.claim)
        queries = [q for s in element.series for q in (s.query, s.x_query) if q]
        entered = [q for s in element.series for q in (s.query, s.x_query, s.repeats) if q]
        row = self.ledger.figure(f"figure-{self.figures}", element.title, entered)
        self.tell_boundaries(queries)
        self.tell_cautions(queries)
        return FigureView(
            self.figures,
            element.title,
            drawn.svg if drawn else "",
            found.alt,
            not half,
            width,
            found.data_head,
            found.data,
            self.notes(),
            note,
            self.cells(queries),
            tuple(sources_of(queries)),
            row,
            figure_csv(found.series, element, self.mark),
            for_script(drawn.panels, found.series, self.figures, self.words, (width, height)) if drawn else {},
            claim,
            found.key if drawn else "",
        )

    def formula(self, element: p.FormulaElement) -> FormulaView:
        words = _operators(element.text.format(*(term.text for term in element.terms)))
        significant = 6 if _SUBTRACTS.search(element.text) else 4  # a difference of near values needs more digits
        self.ledger.at(self.words["formula"])
        amounts = [self.amount(t.query, significant, self.declared_text(t.query)) for t in element.terms]
        numbers = Markup(_operators(escape(element.text))).format(*amounts)  # noqa: S704  # escaped just there
        result = self.amount(element.result)
        queries = [*(term.query for term in element.terms), element.result]
        self.tell_cautions(queries)
        steps = (words, numbers, result)
        cells, sources = self.cells(queries), tuple(sources_of(queries))
        title, key = element.name, element.for_label
        if key:
            title = self.words["for_key"].format(name=element.name, key=key)
        return FormulaView(title, element.name, key, steps, self.notes(), cells, sources)

    def declared_text(self, query: p.Query) -> str:
        """A declared fact as the spec has it: `0.10 USD/h`, and not what it is in base units; else nothing."""
        value, name = self.results.at(query), re.match(r"\w+", query.text)
        for hardware in self.results.plan.hardware.values():
            fact = hardware.facts.get(name.group()) if name else None
            if isinstance(fact, p.Quantity) and (fact.unit, fact.value) == (query.unit, value):
                return fact.text
        return ""

    def amount(self, query: p.Query, significant: int = 0, declared: str = "") -> Markup:
        """`declared`: the text of a fact, which is printed as it is."""
        missing = self.results.at(query) is None
        if missing:
            self.note(self.results.why_missing(query))
        printed = Printed(
            by="declared" if declared else "amount",
            format=declared,
            significant=significant,
            missing=self.words["missing"],
        )
        return self.ledger.number(query, printed).html(missing=missing)


def _has_facts(elements: Sequence[p.Element]) -> bool:
    return any(
        isinstance(e, p.FactsElement) or (isinstance(e, p.SectionElement) and _has_facts(e.elements)) for e in elements
    )


def _operators(text: str) -> str:
    """The signs of the language as people write them."""
    for sign, written in ((" * ", " × "), (" / ", " ÷ "), (" - ", " − ")):
        text = text.replace(sign, written)
    return text
