"""A run's results: tables, metrics, figures, and SQL."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from functools import cached_property
from html import escape
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

from benchbrief.api.answer import Answer, html_table, with_hints
from benchbrief.cli.run_options import OUT
from benchbrief.compiler.metrics.lower_to_sql import sql_name
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.model import plan as p
from benchbrief.reports.charts.build_figure import drawing
from benchbrief.reports.charts.chart_layers import altair_chart
from benchbrief.reports.charts.draw_chart import FULL, height_for
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.tables import keep_elements_with_data
from benchbrief.reports.text.number_format import written_as
from benchbrief.reports.view.said_claims import say_claims
from benchbrief.reports.words.brief_words import words_of
from benchbrief.results.query import mark_of
from benchbrief.results.store_errors import ResultsError

if TYPE_CHECKING:
    from altair import ConcatChart, LayerChart

    from benchbrief.model.plan import Plan
    from benchbrief.results.store.store import Store

_FONT = "sans-serif"


class FigureOfRun(NamedTuple):
    """A figure of a report. `number` is its number in the brief, and `report` is the report's name."""

    report: str
    number: int
    title: str


def figures_of_run(plan: p.Plan, store: Store) -> Iterator[tuple[FigureOfRun, p.FigureElement]]:
    """Yield each report's figures in reading order, numbered as in the brief."""
    for report in plan.reports:
        results = Results(plan, store, words_of(report))
        elements = keep_elements_with_data(say_claims(report, results).elements, results)
        for number, element in enumerate(p.figures_in(elements), start=1):
            yield FigureOfRun(report.name, number, element.title), element


def drawn_figure(figure: FigureOfRun, element: p.FigureElement, plan: p.Plan, store: Store) -> LayerChart | ConcatChart:
    """Return the figure as a chart. Raises ResultsError if none of its points has a value."""
    report = next(report for report in plan.reports if report.name == figure.report)
    words = words_of(report)
    with written_as(words.locale):
        found = drawing(element, Results(plan, store, words))
        if not found.charts:
            why = "; ".join(found.notes) or "no cell of it is good"
            raise ResultsError(f"figure {figure.number}, {figure.title!r}, has no value", why)
        mark = mark_of(store)
        title = f"{figure.title} ({mark})" if mark else figure.title
        return altair_chart(found.charts, FULL[0], height_for(found.charts), _FONT, title)


_TABLES = (
    "SELECT schema_name, table_name FROM duckdb_tables() UNION ALL "
    "SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal"
)
_STATES = "SELECT status, count(*) AS cells FROM cells GROUP BY ALL ORDER BY ALL"


@with_hints
def open_run(run: str | Path = "last", out: str | Path = OUT) -> Run:
    """Open a run by its name, the start of its name, or its folder. `last`, `last~1`, `simulated` and `imported` mean
    the same as for `bench`.

    `out` is the folder that holds the runs. The tables reflect the journal at this moment, so the run may still be in
    progress. Raises BenchError if there is no such run, or if it can't be read.
    """
    from benchbrief.results.open_store import fresh_store, store_warnings
    from benchbrief.results.runs.find_runs import find_run

    run_dir = find_run(Path(out), str(run))
    store = fresh_store(run_dir)
    for text in store_warnings(store):
        warnings.warn(text, stacklevel=3)  # past `with_hints`
    return Run(run_dir, store)


@with_hints
def list_runs(out: str | Path = OUT) -> list[Path]:
    """Return the folders of all runs in a folder, oldest first."""
    from benchbrief.results.runs import find_runs

    return find_runs.list_runs(Path(out))


class Run:
    """The results of a run, which `open_run` returns. Close a Run after use, or use it in a `with` block. A Run is not
    thread-safe."""

    def __init__(self, path: Path, store: Store) -> None:
        self.path = path
        self._store = store

    @property
    def id(self) -> str:
        return self.path.resolve().name

    @property
    def simulated(self) -> bool:
        """Whether the numbers come from a model instead of a measurement."""
        return self._store.simulated

    @property
    def imported(self) -> bool:
        """Whether the numbers were measured elsewhere."""
        return self._store.imported

    @cached_property
    @with_hints
    def plan(self) -> Plan:
        from benchbrief.runners.journal.run_folder import load_plan

        return load_plan(self.path)

    @with_hints
    def sql(self, text: str) -> Answer:
        """Return the answer to one SELECT statement in DuckDB's SQL. Raises ResultsError for any other statement."""
        import pyarrow as pa

        from benchbrief.results.query import mark_of

        with self._store.batches(text) as batches:
            table = batches.read_all()
        mark = mark_of(self._store)
        known = table.schema.get_field_index(mark) if mark else -1
        if mark and (known < 0 or table.schema.field(known).type != pa.bool_()):
            table = table.append_column(mark, pa.array([True] * table.num_rows, pa.bool_()))
        return Answer(table)

    @cached_property
    @with_hints
    def tables(self) -> list[str]:
        """The names of the tables and the `measure` views, for `table` and for SQL."""
        rows = self._store.sql(_TABLES).rows
        return sorted(table if schema == "main" else f"{schema}.{table}" for schema, table in rows)

    @with_hints
    def table(self, name: str) -> Answer:
        """Return a table (such as `cells`) or a view (such as `measure.spread`, or just `spread`). Raises ResultsError
        for an unknown name."""
        found = next((known for known in (name, f"measure.{name}") if known in self.tables), None)
        if found is None:
            raise _unknown("table", name, self.tables)
        return self.sql(f"FROM {sql_name(*found.split('.', 1))}")

    @cached_property
    def metrics(self) -> list[str]:
        return [metric.name for metric in self.plan.metrics]

    @with_hints
    def metric(self, name: str) -> Answer:
        """Return a metric of the spec at each of its points. Raises ResultsError for an unknown name."""
        if name not in self.metrics:
            raise _unknown("metric", name, self.metrics)
        return self.sql(f"FROM {sql_name('metric', name)}")

    @cached_property
    @with_hints
    def claims(self) -> list[dict[str, object]]:
        """The claims of all briefs, one row each, with the same fields as `bench claims --json`."""
        from benchbrief.reports.claims_sheet import claims_sheet

        return [row.document() for row in claims_sheet(self.plan, self._store)]

    @cached_property
    @with_hints
    def figures(self) -> list[FigureOfRun]:
        """The figures of the reports, in reading order."""

        return [figure for figure, _ in figures_of_run(self.plan, self._store)]

    @with_hints
    def figure(self, which: str | int, report: str | None = None) -> LayerChart | ConcatChart:
        """Return a figure as an altair chart that looks as it does in the brief. The figure is named by its title or
        its number.

        `report` names the report, in case several reports have such a figure. Raises ResultsError if there is no such
        figure, if several match, or if the figure has no value.
        """

        found = [
            (figure, element)
            for figure, element in figures_of_run(self.plan, self._store)
            if which in (figure.title, figure.number) and report in (None, figure.report)
        ]
        if len(found) > 1:
            several = ", ".join(f"{figure.number} of {figure.report!r}" for figure, _ in found)
            raise ResultsError(
                f"{len(found)} figures are meant by {which!r}: {several}",
                f"name one, such as figure({found[0][0].number}, report={found[0][0].report!r})",
            )
        if not found:
            raise _unknown("figure", str(which), [figure.title for figure in self.figures])
        return drawn_figure(*found[0], self.plan, self._store)

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        kind = "simulated " if self.simulated else "imported " if self.imported else ""
        return f"<{kind}run {self.id} of {self.plan.spec.name}>"

    def _repr_html_(self) -> str:
        states = [(row["status"], row["cells"]) for row in self.sql(_STATES).rows()]
        kind = " (simulated)" if self.simulated else " (imported)" if self.imported else ""
        lists = "".join(
            f"<p>{what}: {escape(', '.join(names))}</p>"
            for what, names in (("Metrics", self.metrics), ("Figures", [figure.title for figure in self.figures]))
            if names
        )
        head = f"<p><b>{escape(self.id)}</b>{kind}: {escape(self.plan.spec.name)}</p>"
        return f"{head}{html_table(['cells', 'number'], states)}{lists}"


def _unknown(kind: str, name: str, known: list[str]) -> ResultsError:
    meant = did_you_mean(name, known)
    there = f"there are: {', '.join(known)}" if known else f"the spec has no {kind}"
    return ResultsError(f"there is no {kind} {name!r}", f"did you mean {meant!r}?" if meant else there)
