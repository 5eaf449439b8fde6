"""Tests a search for a promise in a figure and in the disclosure: verdicts on rates, limits, and the rate found."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from benchbrief.model import events as j
from benchbrief.model.plan import Plan
from benchbrief.model.run_record import RunRecord
from benchbrief.reports.data.view_model import (
    CalloutView,
    DisclosureView,
    FigureView,
    ReportView,
    TableView,
)
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.analysis.promised_rates import RateRuns
from benchbrief.results.build_store import rebuild
from benchbrief.results.open_store import open_store
from benchbrief.runners.execution.executor import execute
from benchbrief.runners.journal.journal_file import JOURNAL, Journal, read_journal
from benchbrief.runners.journal.run_folder import create_run
from tests.reports.marked_notes import flat, marked_notes
from tests.support.longer import longer
from tests.support.plans import compile_text

SPEC = """
hardware eco    "Eco"    { hosts = "eco.lab" }
hardware legacy "Legacy" { hosts = "legacy.lab" }
client load { hosts = "load.lab"  tool = ycsb("/opt/ycsb-0.17.0") }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb"  reset = as_needed }
workload b "Sessions" from ycsb.b { records = 1M }
experiment e "Search" {
  hardware  = [eco, legacy]
  workloads = b
  threads   = 64
  target    = highest(1k ops/s..200k ops/s, where: latency.p99[read] < 10 ms and errors < 0.1 %, within: 30 %)
  measure   = 30 s
}
metric tail "Tail" in ms = latency.p99[e, read], lower is better
report brief "B" {
  figure "Both"   { line = tail by target, color hardware }
  figure "Panels" { line = latency.p99[e][read] by target  multiples = hardware }
  figure "Double" { line = 2 * tail[eco] by target }
  figure "Served" { line = throughput[eco] by target }
  figure "Found"  { bars = sustained by hardware }
  table  "Rates"  { rows = hardware  column "Price" = 1 / sustained }
  callout "Best"  { rows = hardware  column "Rate" = "{sustained:,.0f}" }
  disclosure = automatic
}
"""


class Made(NamedTuple):
    """A simulated run, and what making its brief printed."""

    plan: Plan
    run_dir: Path
    view: ReportView


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("searched")
    plan = compile_text(SPEC, folder)
    run_dir = create_run(folder / "out", plan, {}, simulated=j.Simulated())
    execute(plan, "", run_dir)
    return Made(plan, run_dir, view_of(plan, run_dir))


@pytest.fixture
def run_dir(made: Made, tmp_path: Path) -> Path:
    """Return a copy of the run. Tests may change the journal of the copy."""
    return shutil.copytree(made.run_dir, tmp_path / made.run_dir.name)


def found_by(run_dir: Path, hardware: str = "eco") -> j.PromiseEnded:
    promises = RunRecord.of(read_journal(run_dir / JOURNAL)).promises
    return next(ended for key, ended in promises.items() if key.hardware == hardware)


def instead(run_dir: Path, ended: j.PromiseEnded) -> None:
    """Replace the search's result in the journal, as if the search had had this result."""
    journal = Journal(run_dir)
    journal.write(ended)
    journal.close()


def view_of(plan: Plan, run_dir: Path, language: str = "en") -> ReportView:
    rebuild(run_dir, plan)
    with open_store(run_dir) as store:
        (report,) = plan.reports
        return build(plan, store, report, CATALOGUES[language])


def figures_of(view: ReportView) -> dict[str, FigureView]:
    return {block.title: block for block in flat(view.blocks) if isinstance(block, FigureView)}


def disclosed(view: ReportView) -> str:
    return "\n".join(repr(block) for block in view.disclosed if isinstance(block, DisclosureView))


def notes(figure: FigureView) -> str:
    return "\n".join(note.text for note in figure.notes)


@pytest.mark.parametrize(
    ("runs", "verdict"),
    [
        (RateRuns(1, met=3, broken=2, beyond=0, held_met=0, held_out=0), "kept"),
        (RateRuns(1, met=2, broken=2, beyond=0, held_met=0, held_out=0), "broken"),
        (RateRuns(1, met=1, broken=1, beyond=2, held_met=0, held_out=0), "beyond"),
        (RateRuns(1, met=5, broken=0, beyond=0, held_met=1, held_out=3), "broken"),
        (RateRuns(1, met=3, broken=0, beyond=0, held_met=1, held_out=3, held_beyond=2), "beyond"),
        (RateRuns(1, met=0, broken=0, beyond=0, held_met=3, held_out=3), "kept"),
        (RateRuns(1, met=5, broken=0, beyond=0, held_met=2, held_out=3), "broken"),
        (RateRuns(1, met=0, broken=0, beyond=0, held_met=0, held_out=0), None),
    ],
)
def test_the_verdict_on_a_rate_is_that_of_most_runs_and_held_out_runs_overrule_it(
    runs: RateRuns, verdict: str | None
) -> None:
    assert runs.verdict == verdict


def test_a_figure_of_a_search_shows_the_limit_the_rate_found_and_which_rates_broke_the_promise(made: Made) -> None:
    eco, legacy = found_by(made.run_dir), found_by(made.run_dir, "legacy")
    assert eco.sustained
    assert legacy.sustained
    figures = figures_of(made.view)
    both = figures["Both"]
    assert "limit of the promise: 10\u00a0ms." in both.alt
    assert f"sustained, Eco: {eco.sustained:,.0f} ops/s." in both.alt
    assert f"sustained, Legacy: {legacy.sustained:,.0f} ops/s." in both.alt
    broken = ", ".join(f"{each.rate:,.0f}" for each in eco.rates if each.rate > eco.sustained)
    assert f"Eco: the promise is broken at {broken} ops/s." in both.alt
    assert "Hollow points: rates at which they did not." in notes(both)
    assert re.search(r"A search chose the rates: \d+ of 42 that it did not ask for", notes(both))
    for label in ("1,000", "10,000", "50,000"):
        assert f">{label}</text>" in both.svg, "a logarithmic axis with round numbers"
    assert both.svg.count("stroke-dasharray") >= 3

    panels = figures["Panels"]
    shown = f"Upright dashed lines: sustained, Eco: {eco.sustained:,.0f} ops/s; sustained, Legacy: "
    assert shown in notes(panels), "the legend of the panels is that of the first one"
    assert "limit of the promise: 10\u00a0ms." in panels.alt, "`latency.p99[e][read]` is `latency.p99[e, read]`"
    assert "limit of the promise" not in figures["Double"].alt, "what is computed has another limit"
    assert "limit of the promise" not in figures["Served"].alt
    assert f"sustained: {eco.sustained:,.0f} ops/s." in figures["Served"].alt


@pytest.mark.long
def test_a_japanese_brief_says_the_same(made: Made, run_dir: Path) -> None:
    view = view_of(made.plan, run_dir, "ja")
    both = figures_of(view)["Both"]
    assert "約束の上限：10\u00a0ms" in both.alt
    assert "持続レート、Eco：" in both.alt
    assert "中抜きの点：守られなかったレート。" in notes(both)


@pytest.mark.long
def test_rates_without_a_value_stand_on_the_axis_and_the_generators_are_marked_apart(made: Made, run_dir: Path) -> None:
    plain = figures_of(made.view)["Both"]
    ended = found_by(run_dir)
    seen = {each.rate for each in ended.rates}
    lower, higher = [rate for rate in made.plan.experiments["e"].points if rate not in seen][-2:]
    more = (j.RateJudged(rate=lower, met=0, broken=3), j.RateJudged(rate=higher, met=0, broken=0, beyond=3))
    instead(run_dir, ended.model_copy(update={"rates": (*ended.rates, *more)}))
    marked = figures_of(view_of(made.plan, run_dir))["Both"]
    assert "Hollow points on the x axis: rates that broke the promise in runs without a value to draw." in notes(marked)
    assert "Crosses on the x axis: rates at which the load generator was too late to tell." in notes(marked)
    assert f"Eco: the load generator was too late to tell at {higher:,.0f} ops/s." in marked.alt
    assert f", {lower:,.0f} ops/s." in marked.alt
    assert "on the x axis" not in notes(plain)
    assert marked.svg != plain.svg


def test_rates_with_a_value_at_which_the_deciding_runs_could_not_tell_are_not_known(made: Made, run_dir: Path) -> None:
    """The load generator was too late in the deciding runs at two rates. Neither the figure nor the disclosure says
    that the promise was broken there."""
    ended = found_by(run_dir)
    above = next(each for each in ended.rates if each.rate > (ended.sustained or 0))
    late = above.model_copy(update={"met": 4, "broken": 0, "beyond": 1, "held_out": 1, "held_beyond": 1})
    only = j.RateJudged(rate=max(made.plan.experiments["e"].points), met=0, broken=0, beyond=2)
    rates = [late if each is above else each for each in ended.rates]
    instead(run_dir, ended.model_copy(update={"rates": (*rates, only)}))
    view = view_of(made.plan, run_dir)
    both = figures_of(view)["Both"]
    assert f"Eco: the load generator was too late to tell at {above.rate:,.0f}, {only.rate:,.0f} ops/s." in both.alt
    assert f"Eco: the promise is broken at {above.rate:,.0f}" not in both.alt
    assert "Crosses at a value: rates at which the load generator was too late to tell" in notes(both)
    assert "Crosses at a value" not in notes(figures_of(made.view)["Both"])

    said = disclosed(view)
    assert f"{above.rate:,.0f}: 4 of 4 (1 not known)" in said
    assert f"{only.rate:,.0f}: not known" in said
    assert (
        f"held-out runs lowered the rate; kept at the higher ones: {above.rate:,.0f}: not known. Not known: runs"
        in said
    )
    assert "not known" not in disclosed(made.view).lower()


@pytest.mark.long
def test_a_search_without_a_rate_has_no_mark_and_says_why(made: Made, run_dir: Path) -> None:
    ended = found_by(run_dir)
    instead(run_dir, ended.model_copy(update={"held_met": 1, "held_out": 3}))
    figure = figures_of(view_of(made.plan, run_dir))["Both"]
    assert "sustained, Eco:" not in figure.alt
    assert re.search("“sustained, Eco” is not marked .*1 of 3 held-out runs", notes(figure))


def test_the_disclosure_says_that_held_out_runs_lowered_the_rate_and_what_contradicts_the_assumption(
    made: Made, run_dir: Path
) -> None:
    before = disclosed(made.view)
    ended = found_by(run_dir)
    assert ended.rate
    above = next(each for each in ended.rates if each.rate > ended.rate)
    refuted = above.model_copy(update={"met": 5, "broken": 0, "held_met": 1, "held_out": 3})
    highest = max(made.plan.experiments["e"].points)
    rates = [refuted if each is above else each for each in ended.rates]
    instead(run_dir, ended.model_copy(update={"rates": (*rates, j.RateJudged(rate=highest, met=1, broken=0))}))
    after = disclosed(view_of(made.plan, run_dir))
    lowered = f"Eco, Sessions: held-out runs lowered the rate; kept at the higher ones: {above.rate:,.0f}: 1 of 3"
    contradicted = f"{above.rate:,.0f} ops/s broke the promise, though {highest:,.0f} ops/s, a higher rate, kept it"
    assert lowered in after
    assert contradicted in after
    assert "Eco, Sessions: held-out runs" not in before
    assert "a higher rate, kept it" not in before


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "in 2 of 3 held-out runs at {rate} ops/s, which lowered the rate: the true one may be higher."),
        *longer(("ja", "そのためレートを引き下げました。真のレートはこれより高い可能性があります。")),
    ],
)
def test_each_number_of_a_rate_that_a_late_generator_lowered_says_so(
    made: Made, run_dir: Path, language: str, said: str
) -> None:
    ended = found_by(run_dir)
    above = next(each for each in ended.rates if each.rate > (ended.sustained or 0))
    late = above.model_copy(update={"held_met": 1, "held_out": 3, "held_beyond": 2})
    rates = tuple(late if each is above else each for each in ended.rates)
    instead(run_dir, ended.model_copy(update={"rates": rates, "sure": False, "lowered": True}))
    view = view_of(made.plan, run_dir, language)
    said = said.format(rate=f"{above.rate:,.0f}")
    shown = [block for block in flat(view.blocks) if isinstance(block, (TableView, CalloutView))]
    assert len(shown) == 2
    assert all(any(text.endswith(said) for text in marked_notes(view, block)) for block in shown)
    assert said in figures_of(view)["Found"].csv


@pytest.mark.parametrize(
    ("language", "by_generator", "said"),
    [
        ("en", False, "Eco, Sessions: {rate} ops/s or more; the promise was kept at the highest rate of the search."),
        (
            "en",
            True,
            "Eco, Sessions: {rate} ops/s or more; the load generator was too late to tell at the next rate.",
        ),
        *longer(
            ("ja", False, "Eco、Sessions では {rate} ops/s 以上です。探索の最も高いレートでも約束が守られました。")
        ),
    ],
)
def test_each_number_of_a_rate_that_is_known_from_below_alone_says_so(
    made: Made, run_dir: Path, language: str, by_generator: bool, said: str
) -> None:
    ended = found_by(run_dir)
    kind = "found" if by_generator else "at_least"
    instead(run_dir, ended.model_copy(update={"kind": kind, "by_generator": by_generator}))
    view = view_of(made.plan, run_dir, language)
    said = said.format(rate=f"{ended.sustained:,.0f}")
    shown = [
        block
        for block in flat(view.blocks)
        if isinstance(block, (TableView, CalloutView)) or block is figures_of(view)["Found"]
    ]
    assert len(shown) == 3
    assert all([text for text in marked_notes(view, block) if " ops/s" in text] == [said] for block in shown)
    assert said in figures_of(view)["Found"].csv
    assert "remarks" not in figures_of(view)["Served"].csv
    remarks = {number.at.get("hardware"): number.remarks for number in view.numbers.numbers if number.at}
    assert remarks == {"eco": (said,), "legacy": ()}


@pytest.mark.long
@pytest.mark.parametrize("ended", [True, False], ids=["interrupted", "killed"])
def test_a_search_that_did_not_end_shows_what_it_measured(made: Made, run_dir: Path, *, ended: bool) -> None:
    journal = run_dir / JOURNAL
    lines, good = journal.read_text("utf-8").splitlines(keepends=True), list[str]()
    for at, line in enumerate(lines):
        record = json.loads(line)
        if record["type"] == "cell_ended" and "/eco/" in record["cell"]:
            good.append(record["cell"])
        if len(good) == 6:
            journal.write_text("".join(lines[: at + 1]), "utf-8")
            break
    if ended:
        stopped = Journal(run_dir)
        stopped.write(j.RunEnded(status="interrupted", at=record["at"]))
        stopped.close()
    view = view_of(made.plan, run_dir)
    served = figures_of(view)["Served"]
    measured = {cell.split("target=")[1].split("/")[0] for cell in good}
    shown = {row[1]: row[-1] for row in served.data}
    assert {rate.replace(",", "").split(" ")[0] for rate in shown} == measured
    assert "–" not in shown.values()
    assert served.svg
    assert any("did not ask for" in text for text in marked_notes(view, served))
    (found,) = (row for row in figures_of(view)["Found"].data if "Eco" in row)
    assert found[-1] == "–", "there is no answer before the search ends"
