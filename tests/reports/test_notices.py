"""Tests our own sentences in a brief: notices give conditions with their numbers, and code in them is marked as
code."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal

import pytest
from markupsafe import Markup
from pypdf import PdfReader

from benchbrief.extensions.engines.mongodb.mongo_client import say
from benchbrief.model import plan as p
from benchbrief.reports.data.report_data import AskedStore, AskedTable, Results
from benchbrief.reports.render.render_report import render
from benchbrief.reports.text.html_markup import code_in_backticks, link_cells
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.store import store_schema as s
from tests.reports import world as w

QUICKSTART = Path(__file__).parents[2] / "examples" / "quickstart.bench"
ORIGIN = p.Origin(file="brief.bench", line=7, column=1)


def expecting(limit: float) -> p.Expect:
    top = w.query(
        "SELECT 'disk' AS hardware, 8200.0::DOUBLE AS value", ("hardware",), "ops/s", "max(throughput over threads)"
    )
    holds = w.query(
        f"SELECT 'disk' AS hardware, (8200.0 > {limit})::INT::DOUBLE AS value",  # a number of this test
        ("hardware",),
        "1",
        "",
    )
    bound = w.constant(limit, "ops/s", f"{limit:.0f} ops/s")
    text = f"max(throughput over threads) > {limit:.0f} ops/s"
    return p.Expect(text=text, label="Fast enough", query=holds, sides=(top, bound), origin=ORIGIN)


def test_an_unmet_expectation_is_reported_with_its_condition_and_its_value() -> None:
    world = w.World({"disk": "Disk"}, {"a": "A"})
    world.expects = (expecting(10_000), expecting(5_000))
    report = w.report("R")
    view = build(world.plan(report), world.store(), report, CATALOGUES["en"])
    (notice,) = [each for each in view.notices if each.title == "Expectations not met"]
    assert notice.text == (
        "1 of 2: Fast enough: max(throughput over threads) > 10000 ops/s: does not hold "
        "(Disk: max(throughput over threads) = 8,200\u00a0ops/s)."
    )


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "; not judged: Updates, without latency.p99[read])."),
        ("ja", "、判定の対象外：Updates（latency.p99[read] の測定なし）"),
    ],
)
def test_an_expectation_says_which_workloads_it_passes_over(language: str, said: str) -> None:
    world = w.World({"disk": "Disk"}, {"a": "Updates"})
    over = p.Unjudged(measure="latency.p99[read]", dim="workload", keys=("a",))
    world.expects = (expecting(10_000).model_copy(update={"unjudged": (over,)}),)
    report = w.report("R")
    view = build(world.plan(report), world.store(), report, CATALOGUES[language])
    assert any(said in notice.text for notice in view.notices), [notice.text for notice in view.notices]


def test_an_expectation_without_its_value_is_shown_apart_from_one_that_is_not_met() -> None:
    world = w.World({"disk": "Disk"}, {"a": "A"})
    unknown = expecting(5_000)
    query = unknown.query.model_copy(update={"sql": "SELECT 'disk' AS hardware, NULL::DOUBLE AS value"})
    world.expects = (expecting(10_000), unknown.model_copy(update={"query": query}))
    report = w.report("R")
    view = build(world.plan(report), world.store(), report, CATALOGUES["en"])
    found = {notice.title: (notice.severity, notice.text) for notice in view.notices if "Expect" in notice.title}
    assert [severity for severity, _ in found.values()] == ["error", "warning"]
    assert found["Expectations not met"][1].count("max(") == 2
    assert "can't be known: a value is missing (Disk" in found["Expectations without a verdict"][1]


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "One expectation is not met by its value, but the repeats do not decide it: Fast enough."),
        ("ja", "1 件の期待条件は値の上では満たされていませんが、反復からは判定できません：Fast enough。"),
    ],
)
def test_an_unmet_expectation_that_the_repeats_do_not_decide_is_no_error(language: str, said: str) -> None:
    world = w.World({"disk": "Disk"}, {"a": "A"})
    unmet = expecting(10_000)
    sql = "SELECT 'disk' AS hardware, n AS repeat, value FROM (VALUES (1.0, 7000.0), (2.0, 9400.0)) AS of(n, value)"
    each = unmet.sides[0].model_copy(update={"sql": sql, "dims": ("hardware", "repeat")})
    world.expects = (unmet.model_copy(update={"repeats": (each, unmet.sides[1]), "better": "higher"}),)
    report = w.report("R")
    view = build(world.plan(report), world.store(), report, CATALOGUES[language])
    (notice,) = (notice for notice in view.notices if said in notice.limits)
    assert notice.severity == "warning"


@pytest.mark.parametrize("template", ["white_paper", "slide"])
def test_a_cover_names_all_notices_with_links_to_them(template: str, tmp_path: Path) -> None:
    world = w.World({"disk": "Disk"}, {"a": "A"}, failed={"ramp/disk/a/threads=4/1": "it went away"})
    world.expects = (expecting(10_000),)
    report = w.report("R", template=template)
    made = render(world.plan(report), world.store(), report.name, tmp_path)
    assert made.pdf is not None
    cover = PdfReader(made.pdf).pages[0]
    shown = " ".join(cover.extract_text().split())
    links = [link.get_object() for link in cover.annotations or ()]
    text = made.html.read_text("utf-8")
    (listed,) = re.findall(r'<p class="cover-notices">(.*?)</p>', text, re.DOTALL)
    titles = re.findall(r'<a href="#(notice-\d+)">([^<]+)</a>', listed)
    assert [title for _, title in titles][:2] == ["Incomplete results", "Expectations not met"]
    assert all(title in shown for _, title in titles)
    assert all(re.search(rf'id="{anchor}">\s*<div [^>]*><p><strong>{title}', text) for anchor, title in titles)
    assert {anchor for anchor, _ in titles} <= {str(link.get("/Dest")) for link in links}


@pytest.mark.parametrize("audience", ["internal", "customer"])
def test_an_internal_brief_names_the_profile_beside_the_date_and_others_where_they_say_how_to_repeat_it(
    audience: Literal["internal", "customer"], tmp_path: Path
) -> None:
    world = w.World({"disk": "Disk"}, {"a": "A"})
    report = w.report("R", disclosure="separate", audience=audience)
    plan = world.plan(report)
    plan = plan.model_copy(update={"spec": plan.spec.model_copy(update={"profile": "smoke"})})
    text = render(plan, world.store(), report.name, tmp_path, html_only=True).html.read_text("utf-8")
    byline = re.search(r'<p class="byline">(.*?)</p>', text)
    assert byline is not None
    assert byline[1].endswith("</span><span>Profile smoke</span>") == (audience == "internal")
    assert "--profile smoke" in text


def test_a_simulated_brief_says_nothing_of_expectations_on_its_first_page() -> None:
    world, report = w.World({"disk": "Disk"}, {"a": "A"}), w.report("R")
    world.expects = (expecting(10_000),)
    rows = [row._replace(simulated=True) if isinstance(row, s.RunRow) else row for row in world.rows()]
    view = build(world.plan(report), w.make_store(rows), report, CATALOGUES["en"])
    assert [notice.title for notice in view.notices if notice.severity == "error"] == [
        "Simulated: nothing was measured"
    ]


def test_a_stand_in_and_where_its_data_lie_are_reported_in_the_language_of_the_report() -> None:
    world = w.World({"disk": "Disk"}, {"a": "A"}, engine="mongodb")
    sentence = say.stand_in_memory(product="mongo-java-server 1.47.0")
    fact = s.FactRow(w.RUN, "database", "disk", "db@disk", "stand_in", sentence, None, "observed")
    report = w.report("R", p.DisclosureElement(), language="ja")
    view = build(world.plan(report), w.make_store([*world.rows(), fact]), report, CATALOGUES["ja"])
    assert "wire protocol" not in f"{view.notices} {view.blocks}"
    assert "（mongo-java-server 1.47.0、データはメモリー上）" in view.notices[0].text


@pytest.mark.parametrize("language", ["en", "ja"])
def test_a_server_of_another_product_is_named_first_and_in_the_disclosure(language: str) -> None:
    world = w.World({"disk": "Disk"}, {"a": "A"}, engine="mongodb")
    sentence = say.other_server(product="FerretDB 1.24.0", speaks="7.0.42")
    facts = {"server": "FerretDB", "version": "1.24.0", "protocol": "MongoDB 7.0.42", "other_server": sentence}
    rows = [s.FactRow(w.RUN, "database", "disk", "db@disk", *fact, None, "observed") for fact in facts.items()]
    report = w.report("R", p.DisclosureElement(), language=language)
    view = build(world.plan(report), w.make_store([*world.rows(), *rows]), report, CATALOGUES[language])
    notice = next(each for each in view.notices if "FerretDB" in each.text)
    assert (notice.first, notice.severity) == (True, "warning")
    assert "FerretDB 1.24.0" in f"{view.blocks}"
    assert ("which speaks" in notice.text) == (language == "en")


def test_an_unplanned_point_is_shown_as_not_planned() -> None:
    world = w.World({"disk": "Disk", "ram": "RAM"}, {"a": "A"})
    plan = world.plan()
    plan = plan.model_copy(update={"cells": tuple(cell for cell in plan.cells if cell.hardware == "disk")})
    results = Results(plan, w.make_store(world.rows()), CATALOGUES["en"])
    query = w.throughput("hardware", "threads", workload="a")
    assert results.why_missing(query, hardware="ram", threads=4.0) == "not planned there"
    assert results.why_missing(query, hardware="disk", threads=4.0) == "not given by the measurement"


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "this workload has no read operations"), ("ja", "このワークロードに読み取り操作なし")],
)
def test_an_operation_that_a_workload_does_not_do_is_the_reason_for_a_missing_value(language: str, said: str) -> None:
    world = w.World({"disk": "Disk"}, {"reads": "Reads", "writes": "Writes"})
    plan = world.plan()
    done = {"reads": ("read",), "writes": ("write",)}
    workloads = {key: each.model_copy(update={"operations": done[key]}) for key, each in plan.workloads.items()}
    rows = [row for row in world.rows() if not isinstance(row, s.LatencyRow) or row.workload == "reads"]
    results = Results(plan.model_copy(update={"workloads": workloads}), w.make_store(rows), CATALOGUES[language])
    measured = w.latency("workload", "threads", workload="reads")
    assert results.why_missing(measured, workload="writes") == said
    assert said not in results.why_missing(measured, workload="reads")
    assert said not in results.why_missing(measured), "there are both workloads"
    assert said not in results.why_missing(w.throughput("workload", workload="reads"), workload="writes")
    assert said not in Results(plan, w.make_store(rows), CATALOGUES[language]).why_missing(measured, workload="writes")


class Counted:
    """A real store that counts the queries made on it."""

    def __init__(self, store: AskedStore) -> None:
        self._store = store
        self.asked: Counter[str] = Counter()

    def query(self, query: p.Query) -> Sequence[Sequence[Any]]:
        return self._store.query(query)

    def sql(self, text: str) -> AskedTable:
        self.asked[text] += 1
        return self._store.sql(text)

    @property
    def run_dir(self) -> Path:
        return self._store.run_dir

    @property
    def is_rebuilt(self) -> bool:
        return self._store.is_rebuilt

    def each(self, text: str) -> AbstractContextManager[Iterable[Sequence[Any]]]:
        self.asked[text] += 1
        return self._store.each(text)


def test_notices_footnotes_and_the_disclosure_of_a_brief_ask_the_store_for_the_same_only_once() -> None:
    world, report = w.World({"disk": "Disk"}, {"a": "A"}), w.report("R", p.DisclosureElement())
    store = Counted(world.store())
    build(world.plan(report), store, report, CATALOGUES["en"])
    assert len(store.asked) > 30
    assert {text: times for text, times in store.asked.items() if times > 1} == {}


def test_words_in_backticks_become_code_and_nothing_else_becomes_markup() -> None:
    assert code_in_backticks("say `bench <run>` & more") == "say <code>bench &lt;run&gt;</code> &amp; more"
    assert code_in_backticks("a lone ` stays") == "a lone ` stays"
    assert code_in_backticks(Markup("Tom&#x27;s <em>own</em>")) == "Tom&#x27;s <em>own</em>"


@pytest.mark.parametrize("observed", [True, False])
def test_observed_facts_have_a_column_where_there_are_any(observed: bool, tmp_path: Path) -> None:
    world = w.World({"disk": "Disk"}, {"a": "Sessions"})
    report = w.report("R", p.FactsElement(title="Configuration", hardware=("disk",)))
    fact = s.FactRow(w.RUN, "host", "disk", "local", "kernel", "6.1", None, "observed")
    rows = [*world.rows(), *([fact] if observed else [])]
    html = render(world.plan(report), w.make_store(rows), report.name, tmp_path, html_only=True).html.read_text("utf-8")
    table = html.partition("<figcaption><b>Table 1")[2].partition("</figure>")[0]
    assert ("Observed" in table) == observed
    assert table.count("<td>") == table.count('<th scope="row">') * (2 if observed else 1) > 0
    assert ("6.1" in table) == observed


def test_a_cell_that_a_notice_or_the_disclosure_names_leads_to_its_line_of_the_appendix(tmp_path: Path) -> None:
    cell = "ramp/disk/a/threads=4/1"
    world = w.World({"disk": "Disk"}, {"a": "A"}, failed={cell: "it went away"})
    lines = (p.Line(label="Throughput", unit="ops/s", query=w.throughput("workload")),)
    table = p.TableElement(title="T", dim="workload", dim_label="", keys=w.keys({"a": "A"}), lines=lines)
    report = w.report("R", table, p.DisclosureElement())
    made = render(world.plan(report), world.store(), report.name, tmp_path, html_only=True)
    page = made.html.read_text("utf-8")
    link = rf'<a class="traced" href="#(measurement-\d+)">{re.escape(cell)}</a>'
    notice, disclosure = page[: page.index('id="disclosure"')], page[page.index('id="disclosure"') :]
    (row,) = re.findall(link, notice)
    assert re.findall(link, disclosure) == [row]
    assert f'<tr id="{row}">' in page


def test_links_lead_only_to_cells_of_the_appendix() -> None:
    said = Markup("In x/h/load(f)/target=2000/r1、x/h/a/r2; not (e/h/a/r1).")
    assert link_cells(said, {"x/h/load(f)/target=2000/r1": "m1", "x/h/a/r2": "m2"}) == (
        'In <a class="traced" href="#m1">x/h/load(f)/target=2000/r1</a>、'
        '<a class="traced" href="#m2">x/h/a/r2</a>; not (e/h/a/r1).'
    )
