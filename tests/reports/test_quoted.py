"""Tests published values that replace missing values of imported figures, and what a source says or leaves out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from benchbrief.compiler.compile import check
from benchbrief.extensions.importers.table.figure_tables import TableOfFigures
from benchbrief.model import plan as p
from benchbrief.reports.data.report_data import PublishedNumber, published_values, quoted_values
from benchbrief.reports.data.view_model import (
    DisclosureView,
    FactsView,
    FigureView,
    HeadlineView,
    ReportView,
    SectionView,
    TableView,
    figures_of,
)
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES, words_of
from benchbrief.results.imports.keep_import import StatedSource, keep_run
from benchbrief.results.open_store import open_store
from tests.reports import world as w
from tests.support.longer import longer
from tests.support.plans import compile_text
from tests.support.tools import REPOSITORY

HOSTS = r"\.lab|\.cloud"
EXAMPLES = ["power_efficiency", *longer("cluster_shrink", "price_performance", "rocksdb_ssds", "flash_cache")]


@pytest.fixture(scope="module")
def views(tmp_path_factory: pytest.TempPathFactory) -> Views:
    return Views(tmp_path_factory.mktemp("imported"))


class Views:
    """The briefs about the published figures of the examples. Each is made once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.of = cache(self._make)

    def _make(self, name: str) -> ReportView:
        plan = check(REPOSITORY / "examples" / name / f"{name}.bench").plan
        assert plan is not None
        table = REPOSITORY / "examples" / name / "published.csv"
        run = keep_run(self._folder / name, plan, {}, TableOfFigures().prepare(table, plan, StatedSource()))
        with open_store(run) as store:
            (report,) = plan.reports
            return build(plan, store, report, words_of(report))


def blocks(view: ReportView | SectionView) -> Iterator[object]:
    for block in view.blocks:
        yield block
        if isinstance(block, SectionView):
            yield from blocks(block)


def plain(html: str) -> str:
    return " ".join(re.sub("<[^>]+>", "", html).replace("\N{NO-BREAK SPACE}", " ").split())


def disclosed(view: ReportView) -> str:
    (found,) = [block for block in view.disclosed if isinstance(block, DisclosureView)]
    return "\n".join(f"{item.term}: {item.text}" for group in found.groups for item in group.items)


def test_figures_of_power_efficiency_are_drawn_of_the_published_ranges_and_say_so(views: Views) -> None:
    view = views.of("power_efficiency")
    (ratio,) = (block for block in blocks(view) if isinstance(block, FigureView))
    assert ("User record change (F)", "63X to 69X") in [tuple(row)[1:] for row in ratio.data]
    efficiency = next(block for block in blocks(view) if isinstance(block, TableView))
    shown = " ".join(str(row) for row in efficiency.rows if row.head.label == "User record change (F)")
    assert [number for number in ("3.6", "4.1", "250.5", "271.6") if number not in shown] == []
    assert not any("As published" in note.text for note in ratio.notes)
    assert view.method
    assert any(item.text.startswith("All numbers are those that the source states") for item in view.method.items)


@pytest.mark.long
def test_the_figure_of_the_flash_cache_has_the_published_gains(views: Views) -> None:
    figures = list(figures_of(views.of("flash_cache").blocks))
    drawn = {(row[0], row[1]): row[2].replace("\u00a0", " ") for figure in figures for row in figure.data}
    names = ("Change of operations per second", "Reads", "Updates")
    assert [drawn[name, "Web updates (B)"] for name in names] == ["+117%", "−45%", "−55%"]
    assert [drawn[name, "Transactions (F)"] for name in names] == ["+111%", "−50%", "−43%"]


@pytest.mark.long
def test_the_gain_of_the_inserts_is_derived_from_the_published_throughput(views: Views) -> None:
    view = views.of("price_performance")
    assert view.title == "R6g (Arm): 2.7X the inserts per dollar of R5 (x86), at full load"
    assert [tag.text for tag in view.origin] == ["Computed from figures of Arm Limited (2021), not measured here"]
    (headline,) = (block for block in blocks(view) if isinstance(block, HeadlineView))
    assert [(plain(number.value), plain(number.text)) for number in headline.numbers] == [
        ("2.7X", "the inserts per dollar of R5 (x86), at full load a"),
        ("+117%", "inserts per second against R5 (x86), at full load a"),
        ("−20%", "price per hour against R5 (x86)"),
    ]


def test_a_quoted_number_leads_to_its_source_and_not_to_measurements(views: Views) -> None:
    view = views.of("power_efficiency")
    assert view.provenance.sources
    figure = next(line for line in view.provenance.sources if "1" in line.expressions)
    assert len(figure.expressions) > 1, "its mark at 1X is a constant, which no source states"
    assert all(line.quoted and not line.measurements for line in view.provenance.sources)
    assert not view.provenance.measurements


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_disclosure_of_published_figures_prints_no_setting_that_the_source_never_stated(
    views: Views, name: str
) -> None:
    text = disclosed(views.of(name))
    of_spec = ("records =", "field_length", "closed loop", "Closed loop", "service times", "interleaved", "repeats")
    assert [setting for setting in of_spec if setting in text] == []
    assert not re.search(HOSTS, text)
    tables = [block for block in blocks(views.of(name)) if isinstance(block, FactsView)]
    facts = [line.declared for table in tables for group in table.groups for line in group.lines]
    assert [fact for fact in facts if re.search(HOSTS, fact)] == []


@pytest.mark.parametrize(
    ("name", "stated"),
    [
        *longer(
            ("flash_cache", ["MongoDB 2.4.8", "YCSB 0.1.4", "100 GB", "JDK 1.6.45"]),
            ("price_performance", ["v5.0.0-alpha0-179-g3c818a3", "YCSB 0.17.0", "GCC 10.3"]),
            ("rocksdb_ssds", ["RocksDB: 8.1.1", "db_bench: 8.1.1", "1 TB"]),
        ),
        ("power_efficiency", ["48 to 500 threads"]),
        ("cluster_shrink", ["LVM"]),
    ],
)
def test_the_versions_and_settings_of_a_source_are_disclosed(views: Views, name: str, stated: list[str]) -> None:
    text = disclosed(views.of(name))
    assert [each for each in stated if each not in text] == []


SPEC = """
hardware eco { hosts = "eco.lab" }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload a from ycsb.a
workload f from ycsb.f
experiment ramp { hardware = eco  workloads = [a, f]  threads = [48, 96]  measure = 1 min }
"""


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> tuple[p.Cell, ...]:
    return compile_text(SPEC, tmp_path_factory.mktemp("spec")).cells


def value(bound: str, number: float, unit: str = "%", **at: str | float) -> PublishedNumber:
    return PublishedNumber("gain", bound, at, number, unit)


OVER_ALL = p.Quote(metric="gain", bound="low", over=("threads", "workload"))


def test_the_lowest_over_separate_parts_of_a_source_is_that_of_the_parts(cells: tuple[p.Cell, ...]) -> None:
    shown = [value("low", 20, workload="a"), value("low", 10, workload="f"), value("high", 5, workload="f")]
    assert quoted_values(OVER_ALL, (), "%", shown, cells) == {(): (10, "")}


def test_the_lowest_is_not_known_where_a_part_was_not_published(cells: tuple[p.Cell, ...]) -> None:
    assert quoted_values(OVER_ALL, (), "%", [value("low", 20, workload="a")], cells) == {}


def test_a_value_at_another_point_is_not_quoted(cells: tuple[p.Cell, ...]) -> None:
    quote = p.Quote(metric="gain", bound="value", at={"workload": "a"})
    assert quoted_values(quote, (), "%", [value("value", 20, workload="a", threads=96.0)], cells) == {}
    assert quoted_values(quote, (), "%", [value("value", 20, workload="f")], cells) == {}


def test_a_quoted_value_is_in_the_unit_of_its_expression_to_the_digits_that_were_published(
    cells: tuple[p.Cell, ...],
) -> None:
    quote = p.Quote(metric="gain", bound="value", at={"workload": "a"}, negated=True)
    assert quoted_values(quote, (), "", [value("value", 55, workload="a")], cells) == {(): (-0.55, "")}
    assert quoted_values(quote, (), "%", [value("value", 0.55, "", workload="a")], cells) == {(): (-55, "")}


def test_one_end_of_a_range_alone_is_a_bound(cells: tuple[p.Cell, ...]) -> None:
    keys = (None, None, "a", None, None, None)
    for bound, said, opposite in (("low", "at_least", "at_most"), ("high", "at_most", "at_least")):
        shown = published_values([("gain", bound, 2.0, "", *keys, "")])
        for quote in (p.Quote(metric="gain", bound="value"), p.Quote(metric="gain", bound="high", over=("threads",))):
            assert quoted_values(quote, ("workload",), "", shown, cells) == {("a",): (2.0, said)}
            negated = quote.model_copy(update={"negated": True})
            assert quoted_values(negated, ("workload",), "", shown, cells) == {("a",): (-2.0, opposite)}


def test_a_published_bound_is_drawn_and_listed_as_one(views: Views) -> None:
    view = views.of("rocksdb_ssds")
    rows = [row[-1] for figure in figures_of(view.blocks) for row in figure.data]
    assert rows[-4:] == ["2.0以上", "1.5", "最大1.8", "1"]
    (published,) = (block for block in view.disclosed if isinstance(block, TableView))
    assert {"2以上", "最大1.8"} <= {plain(row.cells[0].html) for row in published.rows}


def test_the_table_of_published_values_stands_where_the_spec_places_it(tmp_path: Path) -> None:
    name = "power_efficiency"
    plan = check(REPOSITORY / "examples" / name / f"{name}.bench").plan
    assert plan is not None
    (report,) = plan.reports
    placed = report.model_copy(update={"elements": (*report.elements, p.PublishedElement(title="From the source"))})
    table = REPOSITORY / "examples" / name / "published.csv"
    run = keep_run(tmp_path, plan, {}, TableOfFigures().prepare(table, plan, StatedSource()))
    with open_store(run) as store:
        found = build(plan, store, placed, words_of(report)).blocks
        assert isinstance(found[-1], TableView)
        assert found[-1].title == "From the source"
        titles = [block.title for block in found if isinstance(block, TableView)]
        assert len(titles) == len(set(titles)), "it stands once"
        assert "Published values" not in titles


def test_a_brief_of_what_was_measured_has_no_table_of_published_values() -> None:
    world = w.World({"disk": "Disk"}, {"a": "Sessions"})
    report = w.report("R", p.PublishedElement(title="From the source"))
    assert not any(
        isinstance(block, TableView)
        for block in build(world.plan(report), world.store(), report, CATALOGUES["en"]).blocks
    )
