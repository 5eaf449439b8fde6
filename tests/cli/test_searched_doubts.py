"""Tests that doubts about a searched rate are shown beside each number that depends on it: in briefs, comparisons and
trends."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import duckdb
import pytest

from benchbrief.api.opened_run import open_run
from benchbrief.model.points import Curve
from benchbrief.results.open_store import open_store
from benchbrief.results.store.searched_doubts import KNOWN, Doubt, doubts, of_search, values_at
from benchbrief.results.store.store import Store
from benchbrief.results.store.store_schema import SUSTAINED
from benchbrief.runners.journal.run_folder import load_plan
from tests.support.bench import Bench, fresh_bench

# Eco keeps the promise up to about 14,000 ops/s, and Legacy beyond the highest rate of the search.
SPEC = '''
hardware eco    "Eco"    { hosts = "eco.lab"     cores = 4 }
hardware legacy "Legacy" { hosts = "legacy.lab"  cores = 16 }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb"  reset = as_needed }
workload b "Sessions" from ycsb.b { records = 100k }
experiment e {
  hardware = [eco, legacy]  workloads = b  threads = 64  measure = 10 s  repeats = 3
  target   = highest(1k ops/s..20k ops/s, where: latency.p99[read] < 10 ms, within: 20 %, held_out: 1)
}
param price = 2400 USD
metric kept  "Kept"  in ops/s = sustained[e], higher is better
metric cost  "Cost"  in USD*s/op = price / sustained[e], lower is better
metric gain  "Gain"  = sustained[e] / sustained[e, eco], higher is better
metric other "Other" = sustained[e, legacy] / sustained[e], higher is better
expect "Known"  kept >= 10k ops/s
expect "Capped" kept[legacy] < 30k ops/s
expect "Short"  kept[legacy] >= 30k ops/s
expect "Each"   kept >= 15k ops/s
report brief "B" {
  language = @LANGUAGE@
  callout "Kept" { rows = hardware  column "Kept" = kept }
  callout "Costs" { rows = hardware  column "USD s/op" = "{cost:.3f}" }
  text = """
    Legacy keeps {kept[legacy]:,.0f} ops/s and costs {cost[legacy]:.3f} USD*s/op. Together they keep
    {range(kept over hardware):,.0f} ops/s, and {min(kept over hardware):,.0f} ops/s at the least.
  """
  table "All" {
    rows = hardware  column "Kept" = kept  column "Cost" = cost  column "Gain" = gain  column "Other" = other
  }
  figure "Drawn" { bars = kept by hardware }
  disclosure = automatic
}
'''


class Run(NamedTuple):
    bench: Bench
    path: Path
    text: str
    """The text of the run's brief, without tags."""
    said: str
    """The run's output, on one line."""
    page: str


def run(folder: Path, language: str) -> Iterator[Run]:
    with fresh_bench(folder) as bench:
        (bench.folder / "doubts.bench").write_text(SPEC.replace("@LANGUAGE@", language))
        done = bench("run", "doubts.bench", "--simulate", "--seed", "1")
        assert done.code == 0, done.text
        (path,) = bench.run_dirs()
        page = unescape((path / "reports" / "brief-simulated.html").read_text("utf-8")).replace("\u00a0", " ")
        yield Run(bench, path, " ".join(re.sub("<[^>]*>", " ", page).split()), " ".join(done.text.split()), page)


@pytest.fixture(scope="module")
def english(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    yield from run(tmp_path_factory.mktemp("doubts"), "en")


def numbers(found: Run) -> list[dict[str, Any]]:
    reported: list[dict[str, Any]] = json.loads((found.path / "reports" / "brief-simulated.json").read_text())[
        "numbers"
    ]
    return reported


@pytest.mark.long
def test_a_bound_is_reported_as_one_in_callouts_tables_texts_and_drawings(english: Run) -> None:
    shown = [each["shown"] for each in numbers(english)]
    callouts, text, table = shown[:4], shown[4:8], shown[8:]
    assert callouts == ["14,001", "≥ 20,000", "0.171", "≤ 0.120"]
    assert text == ["≥ 20,000", "≤ 0.120", "≈ 14,001 to 20,000", "14,001"], "the least is known"
    assert table == ["14,001", "0.171", "1.00", "≥ 1.43", "≥ 20,000", "≤ 0.120", "≥ 1.43", "1.00"]
    assert re.search("<text[^>]*>≥.20,000</text>", english.page), "the number at its bar"
    assert "Kept Legacy ≥ 20,000 ops/s" in english.text, "the table of the figure's data"
    assert "Kept: 14,001 ops/s at Eco to ≥ 20,000 ops/s at Legacy." in english.page, "its alternative text"
    assert "the promise was kept at the highest rate of the search" in english.text
    assert "Less than 95 % of the offered load was achieved" not in english.text, "by the rate that was found"


def test_an_expectation_holds_or_fails_only_where_it_would_beyond_the_bound_too(english: Run) -> None:
    said = english.said
    assert "Known: kept >= 10k ops/s would hold" in said
    assert "hardware legacy, workload b: kept is ≥ 20,000 ops/s" in said
    assert "Capped: kept[legacy] < 30k ops/s can't be known" in said
    assert "Short: kept[legacy] >= 30k ops/s can't be known" in said
    assert "a search knows this rate from one side only (kept[legacy] is ≥ 20,000 ops/s)" in said
    assert "Each: kept >= 15k ops/s would not hold" in said, "Eco is enough"
    brief = (
        "Short kept[legacy] >= 30k ops/s: can't be known: a search knows the rate from one side only (Sessions: kept"
    )
    page = (english.path / "reports" / "brief-simulated-disclosure.html").read_text("utf-8").replace("\u00a0", " ")
    assert f"{brief}[legacy] ≥ 20,000 ops/s )" in " ".join(re.sub("<[^>]*>", " ", unescape(page)).split())


def test_the_file_of_the_numbers_says_it_in_fields_and_verifies(english: Run) -> None:
    fields = {each["shown"]: (each["bound"], each["decided"]) for each in numbers(english)}
    assert fields["14,001"] == ("", True)
    assert fields["≥ 20,000"] == ("at_least", True)
    assert fields["≤ 0.120"] == ("at_most", True)
    assert fields["≈ 14,001 to 20,000"] == ("open", True)
    brief = english.path / "reports" / "brief-simulated.html"
    assert english.bench("verify", str(brief)).code == 0


@pytest.mark.long
def test_a_bound_is_reported_as_one_by_trend_compare_and_the_site(english: Run) -> None:
    bench = english.bench
    reported = bench("trend", "--origin", "simulated", "sustained", "cost", "--all")
    out = " ".join(reported.out.split())
    assert "≥ 20,000 ops/s last" in out
    assert "≤ 0.1200 USD*s/op last" in out
    assert "the true value may be higher (≥) or lower (≤)" in out
    values = {
        (series["quantity"], series["point"]["hardware"]): (value["bound"], value["decided"])
        for series in bench("trend", "--origin", "simulated", "sustained", "cost", "--json").json["series"]
        for part in series["parts"]
        for value in part["values"]
    }
    assert values["sustained", "legacy"] == ("at_least", True)
    assert values["cost", "legacy"] == ("at_most", True)
    assert values["sustained", "eco"] == values["cost", "eco"] == ("", True)
    (row,) = bench("compare", f"{english.path}:eco", f"{english.path}:legacy", "--metric", "sustained", "--json").json[
        "comparisons"
    ]
    assert (row["first"]["bound"], row["second"]["bound"]) == ("", "at_least")
    assert bench("site", "--to", "pages").code == 0
    pages = "".join(page.read_text("utf-8") for page in (bench.folder / "pages").rglob("*.html"))
    assert "≥ 20,000 ops/s" in pages.replace("\u00a0", " ")


@pytest.mark.long
def test_a_brief_in_japanese_has_the_same_signs_and_says_what_they_mean(tmp_path: Path) -> None:
    for found in run(tmp_path, "ja"):
        assert [each["shown"] for each in numbers(found)][1:4:2] == ["≥ 20,000", "≤ 0.120"]
        assert "探索の最も高いレートでも約束が守られました" in found.text


class Undecided:
    """A store with one undecided search, on one of the hardware groups."""

    def __init__(self, store: Store, hardware: str) -> None:
        self._store, self._hardware = store, hardware

    def sql(self, text: str) -> Any:
        unsure = f"(SELECT * REPLACE (sure AND hardware <> '{self._hardware}' AS sure) FROM main.promises)"  # noqa: S608  # ours
        return self._store.sql(text.replace("main.promises", unsure))

    def query(self, query: Any) -> Any:
        return self._store.query(query)


def test_what_its_runs_did_not_decide_is_reported_for_each_value_that_rests_on_it(english: Run) -> None:
    plan = load_plan(english.path)
    queries = {metric.name: metric.query for metric in plan.metrics}

    with open_store(english.path) as store:
        assert doubts(store, queries["kept"].sql) == {("legacy", "b"): Doubt("at_least")}
        eco, legacy = Undecided(store, "eco"), Undecided(store, "legacy")
        unsure = Doubt(decided=False)
        assert doubts(eco, queries["kept"].sql) == {("eco", "b"): unsure, ("legacy", "b"): Doubt("at_least")}
        assert doubts(eco, queries["gain"].sql) == {("legacy", "b"): Doubt("at_least", decided=False)}, "eco / eco is 1"
        assert doubts(legacy, queries["cost"].sql) == {("legacy", "b"): Doubt("at_most", decided=False)}


@pytest.mark.parametrize(
    ("doubt", "mark"),
    [
        (KNOWN, ""),
        (Doubt(decided=False), "≈ "),
        (Doubt("at_least"), "≥ "),
        (Doubt("at_most"), "≤ "),
        (Doubt("open"), "≈ "),
        (Doubt("at_least", decided=False), "≳ "),
        (Doubt("at_most", decided=False), "≲ "),
    ],
)
def test_each_doubt_has_a_sign(doubt: Doubt, mark: str) -> None:
    assert doubt.mark == mark


@pytest.mark.parametrize("kind", ["found", "at_least"])
@pytest.mark.parametrize("by_generator", [True, False])
@pytest.mark.parametrize("sure", [True, False])
def test_the_view_of_found_rates_has_the_doubt_that_briefs_print(kind: str, by_generator: bool, sure: bool) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE SCHEMA measure; CREATE TABLE measure.levels AS SELECT '' AS levels")
        connection.execute(
            "CREATE TABLE promises AS SELECT 'e' AS experiment, 'h' AS hardware, 'w' AS workload, '' AS levels, "
            "5.0 AS sustained, "
            "? AS kind, ?::BOOL AS by_generator, ?::BOOL AS sure",
            [kind, by_generator, sure],
        )
        connection.execute(SUSTAINED)
        ((bound, decided, mark),) = connection.execute("SELECT bound, decided, mark FROM measure.sustained").fetchall()
    doubt = of_search(kind, by_generator=by_generator, sure=sure)
    assert (bound or "", decided, mark or "") == (doubt.bound, doubt.decided, doubt.mark.strip())


def test_two_bounds_to_different_sides_leave_a_value_open() -> None:
    assert Doubt("at_least").or_of(Doubt("at_most")) == Doubt("open")
    assert Doubt("at_least").or_of(Doubt("at_least", decided=False)) == Doubt("at_least", decided=False)
    assert KNOWN.or_of(Doubt("at_most")) == Doubt("at_most")


def test_a_query_has_the_bounds_of_rates_and_warns_of_metrics_that_rest_on_them(english: Run) -> None:
    rates = english.bench("query", "--run", str(english.path), "--json", "FROM measure.sustained ORDER BY hardware")
    known = [("eco", None, True, None), ("legacy", "at_least", True, "≥")]
    assert [(row["hardware"], row["bound"], row["decided"], row["mark"]) for row in rates.json] == known
    assert "bounds" not in rates.err
    costs = english.bench("query", "--run", str(english.path), "--json", "FROM metric.cost")
    assert "cost: some values are bounds" in costs.err
    assert "other" not in costs.err
    assert {row["hardware"]: (row["bound"], row["decided"]) for row in costs.json} == {
        "eco": (None, True),
        "legacy": ("at_most", True),
    }
    with open_run(english.path) as opened:
        told = {row["hardware"]: (row["decided"], row["mark"]) for row in opened.table("sustained").rows()}
        assert told == {"eco": (True, None), "legacy": (True, "≥")}
        assert {row["hardware"]: row["bound"] for row in opened.metric("kept").rows()} == {
            "eco": None,
            "legacy": "at_least",
        }
    with duckdb.connect(str(english.path / "store" / "results.duckdb"), read_only=True) as file:
        assert file.execute("SELECT bound FROM metric.cost ORDER BY hardware").fetchall() == [(None,), ("at_most",)]


class Many:
    """A run with many searches, which all found only a bound. Counts the queries made on the run."""

    def __init__(self, searches: int, step: float = 1.0) -> None:
        self.connection = duckdb.connect()
        self.connection.execute("CREATE SCHEMA measure; CREATE TABLE measure.levels AS SELECT '' AS levels")
        self.queries = 0
        self.connection.execute(
            "CREATE TABLE promises AS SELECT 'e' AS experiment, 'h' || n AS hardware, 'w' AS workload, '' AS levels, "
            "1000.0 + n * ? AS sustained, 'at_least' AS kind, false AS by_generator, true AS sure "
            "FROM range(?) AS r(n)",
            [step, searches],
        )

    def sql(self, text: str) -> Any:
        self.queries += 1
        return SimpleNamespace(rows=self.connection.execute(text).fetchall())


@pytest.mark.long
def test_many_searches_take_few_queries_more_and_each_two_are_seen_apart() -> None:
    store = Many(100)
    cost = doubts(store, "SELECT hardware, 1 / value FROM measure.sustained")
    assert set(cost.values()) == {Doubt("at_most")}
    assert len(cost) == 100
    assert store.queries < 30
    two = "(SELECT value FROM measure.sustained WHERE hardware = 'h{}')"
    for one, other in ((0, 1), (3, 7), (98, 99), (12, 64)):
        shares = f"SELECT 'x' AS x, {two.format(one)} / ({two.format(one)} + {two.format(other)})"
        assert doubts(store, shares) == {("x",): Doubt("open")}
    total = doubts(Many(20), "SELECT 'x' AS x, sum(value) FROM measure.sustained")
    assert total == {("x",): Doubt("at_least")}


def of_all(value: str, by: str = "'x'") -> str:
    return f"SELECT {by}, {value} FROM measure.sustained"  # noqa: S608  # ours


def test_a_query_of_moved_rates_reads_the_searches_alone() -> None:
    rates = {Curve("e", f"h{n}", "w"): 1000.0 + n for n in range(3)}
    for value, expected in (("count(*)", 3.0), ("min(value)", 1000.0), ("avg(value)", 1001.0)):
        assert values_at(Many(3), of_all(value), rates) == {("x",): expected}
    assert values_at(Many(0), of_all("count(*)"), {}) == {("x",): 0.0}


def test_of_many_searches_a_value_that_rests_on_all_is_open_where_one_goes_the_other_way() -> None:
    found = doubts(Many(32), of_all("value / (SELECT avg(value) FROM measure.sustained)", by="hardware"))
    assert len(found) == 32
    assert set(found.values()) == {Doubt("open")}


def test_the_least_of_equal_bounds_is_a_bound() -> None:
    for searches in (2, 3, 20):
        assert doubts(Many(searches, step=0.0), of_all("min(value)")) == {("x",): Doubt("at_least")}
    for one in ("h0", "h1", "h2"):
        least, other = (f"min(value) FILTER (hardware {sign} '{one}')" for sign in ("<>", "="))
        assert doubts(Many(3, step=0.0), of_all(f"{least} / {other}")) == {("x",): Doubt("open")}
