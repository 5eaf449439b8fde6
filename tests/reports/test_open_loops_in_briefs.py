"""Tests what a brief says about an open loop: the limits that the runs had to keep and how close they came to them, the
rates of a staircase, and a search on page 1."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchbrief.model import events as j
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.view_model import DisclosureView, FigureView, ReportView
from benchbrief.reports.notices import open_searches
from benchbrief.reports.view.build_view import build
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.analysis.promised_rates import Promised, RateRuns
from benchbrief.results.build_store import rebuild
from benchbrief.results.open_store import open_store
from benchbrief.runners.execution.executor import execute
from benchbrief.runners.journal.run_folder import create_run
from tests.reports.world import make_store
from tests.support.longer import longer
from tests.support.plans import compile_text

SPEC = """
hardware eco "Eco" { hosts = "eco.lab" }
client load { hosts = "load.lab"  tool = openload }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb"  reset = as_needed }
workload b "Sessions" from ycsb.b { records = 1M }
experiment stairs "Stairs" {
  hardware = eco  workloads = b  threads = 64
  arrivals = steps(500 ops/s, 2k ops/s, 500 ops/s, lasting: 10 s, queue: 100, timeout: 2 s, give_up: 1 min)
}
experiment closed "Closed" {
  hardware = eco  workloads = b  threads = 4  measure = 10 s
  arrivals = closed(stalls: 20 %)
}
experiment e "Search" {
  hardware = eco  workloads = b  threads = 64  measure = 30 s
  target = highest(1k ops/s..200k ops/s, where: latency.p99[read] < 10 ms, within: 30 %)
}
metric tail "Tail" in ms = latency.p99[stairs, read], lower is better
report brief "B" {
  figure "Stairs" { line = tail by phase }
  disclosure = automatic
}
"""


def view_of(folder: Path, language: str) -> ReportView:
    plan = compile_text(SPEC, folder)
    run_dir = create_run(folder / "out", plan, {}, simulated=j.Simulated())
    execute(plan, "", run_dir)
    rebuild(run_dir, plan)
    with open_store(run_dir) as store:
        return build(plan, store, plan.reports[0], CATALOGUES[language])


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        (
            "en",
            (
                "at most 100 operations wait for a thread",
                "an operation that took longer than 2\N{NO-BREAK SPACE}s from being sent has failed",
                "a run was cut after 1\N{NO-BREAK SPACE}min without a success",
                "ran allowed: 20%",
                "the most that a run had: Dropped operations 0%",
                "Longest hiccup of openload 1\N{NO-BREAK SPACE}ms",
            ),
        ),
        *longer(
            (
                "ja",
                ("各測定での最大値：破棄された操作の割合 0", "を超えた操作は失敗", "成功のない状態が", "許容割合 20"),
            )
        ),
    ],
)
def test_a_disclosure_says_what_was_accepted_and_the_most_that_a_run_had(
    language: str, sentences: tuple[str, ...], tmp_path: Path
) -> None:
    view = view_of(tmp_path, language)
    said = "\n".join(repr(block) for block in view.disclosed if isinstance(block, DisclosureView))
    said = said.replace("\\xa0", "\N{NO-BREAK SPACE}")
    assert [each for each in sentences if each not in said] == [], said
    (figure,) = (block for block in view.blocks if isinstance(block, FigureView))
    head, *rows = (row.split(",")[1] for row in figure.csv.splitlines())
    assert (head, rows) == ("target", ["500", "2000", "500"])
    assert [notice.severity for notice in view.notices].count("info") == 1, "the search is on the first page"


def _shown(found: Promised, folder: Path) -> str:
    plan = compile_text(SPEC, folder)
    with make_store([]) as store:
        results = Results(plan, store, CATALOGUES["en"])
        results.__dict__["promises"] = (found,)
        (notice,) = open_searches.notice(results)
    return notice.text


def _promised(**changes: Any) -> Promised:
    rates = (RateRuns(1000.0, 2, 0, 0, 0, 0), RateRuns(2000.0, 3, 1, 0, 3, 3), RateRuns(2100.0, 0, 3, 0, 0, 0))
    return Promised("e", "eco", "b", "", 2000.0, "found", False, True, 3, 3, "", 2000.0, 2100.0, rates)._replace(
        **changes
    )


def test_the_first_page_says_how_the_runs_at_the_rate_and_below_turned_out(tmp_path: Path) -> None:
    assert _shown(_promised(), tmp_path) == (
        "Eco, Sessions: 2,000 ops/s keep the promise latency.p99[read] < 10 ms. At this rate 6 of 7 runs kept it, "
        "among them 3 of 3 that took no part in the search. At all lower rates that were measured, every run kept it "
        "(2 of 2)."
    )


def test_the_first_page_marks_a_bound_and_says_which_run_capped_the_rate(tmp_path: Path) -> None:
    at_least = _shown(_promised(kind="at_least", rates=_promised().rates[:2]), tmp_path).replace("\u00a0", " ")
    assert "≥ 2,000 ops/s keep the promise" in at_least
    capped = (*_promised().rates[:2], RateRuns(2500.0, 2, 0, 0, 0, 0), RateRuns(2600.0, 0, 3, 0, 0, 0))
    shown = _shown(_promised(rates=capped, sure=False), tmp_path).replace("\u00a0", " ")
    assert "≈ 2,000 ops/s keep the promise" in shown
    assert shown.endswith(
        "Most runs at up to 2,500 ops/s kept it, too, but a run at 2,000 ops/s broke it, and no rate above that counts."
    )


def test_the_first_page_says_that_a_late_generator_lowered_the_rate(tmp_path: Path) -> None:
    """Here, the promise is also broken at the next rate, so that the search has no bound."""
    above = (RateRuns(2100.0, 0, 0, 0, 2, 3), RateRuns(2200.0, 1, 0, 0, 0, 1, 1), RateRuns(2300.0, 4, 0, 1, 2, 3, 1))
    shown = _shown(_promised(rates=(*_promised().rates[:2], *above), sure=False), tmp_path)
    assert (
        "98% confidence. The load generator was too late to tell in 2 of 4 held-out runs at 2,200, 2,300 ops/s, which "
        "lowered the rate: the true one may be higher. At this rate"
    ) in shown.replace("\u00a0", " ")
    assert "may be higher" not in _shown(_promised(rates=(*_promised().rates[:2], above[0]), sure=False), tmp_path)


def test_the_first_page_counts_undecided_runs_apart_from_broken_promises(tmp_path: Path) -> None:
    late = (RateRuns(1000.0, 2, 0, 1, 0, 0), RateRuns(1500.0, 0, 0, 2, 0, 0), RateRuns(2000.0, 3, 1, 1, 3, 3))
    shown = _shown(_promised(rates=late, sure=False), tmp_path)
    assert shown.replace("\u00a0", " ").partition("10 ms. ")[2] == (
        "Its runs did not decide this rate with 98% confidence. At this rate 6 of 7 runs kept it, among them 3 of "
        "3 that took no part in the search. In 1 more run, at 2,000 ops/s, the load generator was too late to tell. "
        "At all lower rates that were measured, every run kept it (2 of 2). In 3 more runs, at 1,000, 1,500 ops/s, "
        "the load generator was too late to tell."
    )


def test_the_first_page_says_why_no_rate_counts(tmp_path: Path) -> None:
    shown = _shown(_promised(sustained=None, kind="none", reason="broken at the lowest"), tmp_path)
    assert shown == "Eco, Sessions: no rate counts (broken at the lowest)."
