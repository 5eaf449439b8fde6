"""Tests that the trends of a site equal those of `bench trend`: series, changes, the lab's share, and verdicts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from itertools import groupby
from typing import Any

import numpy as np

from benchbrief.history.many_runs import SiteRun, run_details, values_of
from benchbrief.history.read_series import SeriesChoice
from benchbrief.history.series_changes import ChangeVerdict, trend_of
from benchbrief.history.series_rows import SeriesRow
from benchbrief.history.site.site_pages import suite_view
from benchbrief.history.site.site_trends import SuiteTrends, TrendRules, suite_trends
from benchbrief.reports.words.brief_words import CATALOGUES
from tests.history.histories import FIRST_NIGHT, a_row, found

REFERENCE = {"hardware": "reference", "threads": 4}
NIGHTS, STEP = 40, 25
SUITE = "nightly.bench", "", "measured"


def site_runs(rows: Sequence[SeriesRow]) -> list[SiteRun]:
    """Return the site's data for the rows, the oldest run first."""
    made = []
    for run, of_run in groupby(sorted(rows, key=lambda row: (row.measured_at, row.run_id)), lambda row: row.run_id):
        kept = list(of_run)
        values, facts = values_of(kept)
        made.append(SiteRun(id=run, stamp="", state="done", values=values, facts=facts, **run_details(kept)))
    return made


def history(factor: float, of_lab: float) -> list[SeriesRow]:
    """Return nights with a step caused by the code, a step caused by the lab, and a control. Every third night has a
    different kernel."""
    chance = np.random.default_rng(3)
    rows = []
    for night in range(NIGHTS):
        lab = of_lab if night >= STEP else 1.0
        own = lab * (factor if night >= STEP else 1.0)
        facts = {"kernel": "6.2" if night % 3 == 2 else "6.1"}
        rows.append(a_row(night, 9000 * own * chance.normal(1, 0.01), facts=facts))
        rows.append(a_row(night, 500 * lab * chance.normal(1, 0.01), point=REFERENCE, control=True, facts=facts))
        rows.append(a_row(night, 0.0, quantity="errors", unit="1/s", better="lower", facts=facts))
    return rows


def test_series_parts_and_changes_are_those_of_bench_trend() -> None:
    for rows in (history(0.94, 1.0), history(1.0, 0.9), history(0.94, 0.9)):
        for across in ((), ("kernel",)):
            shown = found(rows, SeriesChoice(across=across))
            trends = [trend_of(each, shown.controls) for each in shown.series if each.quantity != "errors"]
            lines = suite_trends(site_runs(rows), 400, TrendRules(across))[SUITE].lines
            assert [line.series for line in lines] == [each.series for each in trends]
            changes = [sorted(each.changes, key=lambda change: change.first.at) for each in trends]
            assert [[each.change for each in line.changes] for line in lines] == changes
            assert changes[0]


def card_of(rows: Sequence[SeriesRow], *verdicts: ChangeVerdict) -> tuple[str, str, str]:
    """Return the suite's state, and the state and the text of its first trend that is not a control."""
    runs = site_runs(rows)
    trends = suite_trends(runs, 400, TrendRules(("kernel",), verdicts))[SUITE]
    view = suite_view(SUITE, runs, CATALOGUES["en"], trends)
    ((_, cards),) = view.trends
    (card,) = (each for each in cards if "control" not in each.point)
    return view.card.state, card.state, card.change


def test_a_change_that_the_control_has_too_is_the_labs_and_no_alarm() -> None:
    state, of_card, text = card_of(history(1.0, 0.9))
    assert (state, of_card) == ("steady", "lab")
    assert "the lab's: the control changed by −" in text
    state, of_card, text = card_of(history(0.94, 1.0))
    assert (state, of_card) == ("worse", "worse")
    assert "control" not in text
    assert "in part the lab's" in card_of(history(0.9, 0.9))[2]


def test_verdicts_count() -> None:
    def said(verdict: str) -> tuple[str, str, str]:
        run = f"night-{STEP:04d}"
        on = ChangeVerdict.model_validate(
            {"run": run, "quantity": "throughput", "verdict": verdict, "note": "why <so>"}
        )
        return card_of(history(0.94, 1.0), on)

    state, of_card, text = said("accept")
    assert (state, of_card) == ("steady", "accepted")
    assert text.endswith("accepted: why <so>")
    assert said("bug")[:2] == ("worse", "worse")
    state, of_card, text = said("noise")
    assert (state, of_card) == ("steady", "steady")
    assert re.fullmatch(r"last change −\d\.\d % on 2026-\d\d-\d\d · noise: why <so>", text)


def test_a_wrong_clock_and_what_was_reused_are_left_out_and_said() -> None:
    rows = history(1.0, 1.0)
    late = FIRST_NIGHT + timedelta(days=365 * 40)
    rows += [
        a_row(98, 1.0, measured_at=late, run_id="wrong"),
        a_row(41, 1.0, reused_from="night-0000", run_id="again"),
    ]
    trends = suite_trends(site_runs(rows), 400, TrendRules())[SUITE]
    assert (trends.wrong_clocks, trends.reused) == (1, 1)
    assert not {"wrong", "again"} & {each.run_id for line in trends.lines for each in line.values}
    note = suite_view(SUITE, site_runs(rows), CATALOGUES["en"], trends).note
    assert "1 run is left out, as the clock of its controller" in note
    assert "What 1 run took from earlier runs is left out." in note


def test_errors_have_a_trend_where_there_are_any() -> None:
    rows = history(1.0, 1.0)
    assert {line.series.quantity for line in suite_trends(site_runs(rows), 400, TrendRules())[SUITE].lines} == {
        "throughput"
    }
    rows.append(a_row(NIGHTS, 3.0, quantity="errors", unit="1/s", better="lower"))
    assert "errors" in {line.series.quantity for line in suite_trends(site_runs(rows), 400, TrendRules())[SUITE].lines}


def test_the_overview_shows_a_trend_that_is_worse_before_others() -> None:
    rows = history(0.94, 1.0)
    rows += [a_row(night, 100.0 + night % 2, point={"hardware": "a", "threads": 4}) for night in range(NIGHTS)]
    runs = site_runs(rows)
    card = suite_view(SUITE, runs, CATALOGUES["en"], suite_trends(runs, 400, TrendRules(("kernel",)))[SUITE]).card
    assert card.trend is not None
    assert (card.trend.state, card.trend.point) == ("worse", "nvme, 4 threads")


def test_errors_and_changes_that_the_repeats_do_not_show_stand_in_the_table_of_two_runs() -> None:
    def repeated(night: int, value: float, repeats: Sequence[float], **more: Any) -> list[SeriesRow]:
        return [
            a_row(night, value, **more),
            *(a_row(night, each, repeat=at, **more) for at, each in enumerate(repeats, 1)),
        ]

    tail = {"quantity": "latency.p99[read]", "unit": "s", "better": "lower", "percentile": True}
    errors = {"quantity": "errors", "unit": "share", "better": "lower"}
    rows = repeated(0, 0.002, [0.001, 0.002, 0.004], **tail) + repeated(1, 0.002, [0.001, 0.001, 0.002], **tail)
    rows += repeated(0, 0.0, [0.0, 0.0, 0.0], **errors) + repeated(1, 0.02, [0.01, 0.02, 0.03], **errors)
    before, run = site_runs(rows)
    shown = suite_view(SUITE, [before, run], CATALOGUES["en"], SuiteTrends()).step
    assert shown is not None
    cells = {table.title: [(cell.text, cell.spread) for cell in table.rows[0].cells] for table in shown.tables}
    assert cells["p99 latency, read"][2] == ("+0.0 %", "of repeats −37.0 %")
    assert cells["Errors"][0][0] == "0.00 %"
    assert cells["Errors"][2][0] == "+2.00 points"
    rows = [row for row in rows if row.quantity != "errors" or row.value == 0]
    rows += repeated(1, 0.0, [0.0, 0.0, 0.0], **errors)
    before, run = site_runs(rows)
    step = suite_view(SUITE, [before, run], CATALOGUES["en"], SuiteTrends()).step
    assert step is not None
    assert [table.title for table in step.tables] == ["p99 latency, read"], (
        "nobody asks about errors that there are not"
    )


def test_a_trend_of_many_runs_shows_the_last_and_judges_all() -> None:
    (line,) = suite_trends(
        site_runs([row for row in history(0.9, 1.0) if row.quantity != "errors" and not row.control]),
        10,
        TrendRules(("kernel",)),
    )[SUITE].lines
    assert len(line.values) == 10
    assert [each.index for each in line.changes] == [None], "it was before what is shown"
    assert line.current is not None
