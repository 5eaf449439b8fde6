"""Tests what a brief says about a budget. Every text states the level of the intervals that are drawn."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from benchbrief.model import plan as p
from benchbrief.model.message import duration_figure
from benchbrief.model.run_messages import say
from benchbrief.reports.data.gaps import Gaps
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.disclosure.disclosure import build_disclosure
from benchbrief.reports.notices.run_validity import disclose_budget as notice
from benchbrief.reports.render.render_report import render
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.store import store_schema as s
from tests.reports import world as w

WORLD = w.World(hardware={"disk": "Disk"}, workloads={"rr": "Reads"}, repeats=3)
NINETY_FIVE = re.compile(r"(?<!\d)95 ?%[^.。]{0,12}(interval|信頼区間)|95 ?% ?区間")


def budgeted(language: str, others_repeats: int | None = None, **more: object) -> p.Plan:
    """Return a plan with a ramp of three repeats and a budget, and with an experiment that has this many repeats and
    its own budget."""
    sql = "SELECT threads, repeat, value FROM measure.throughput WHERE operation = 'all'"
    each = w.query(sql, ("threads", "repeat"), "ops/s", "throughput")
    line = w.series("line", w.throughput("threads"), "Throughput", "threads", band=True, repeats=each)
    figure = w.figure("F", line, by={"threads": w.keys([1, 2, 4])})
    report = w.report("Brief", figure, p.DisclosureElement()).model_copy(update={"language": language})
    plan = WORLD.plan(report)
    ramp = plan.experiments["ramp"].model_copy(update={"budget_s": 3600.0, **more})
    found = {"ramp": ramp}
    if others_repeats:
        found["other"] = ramp.model_copy(update={"name": "other", "label": "Other", "repeats": others_repeats})
    return plan.model_copy(update={"experiments": found})


def brief_of(plan: p.Plan, folder: Path) -> str:
    html = render(plan, WORLD.store(), "brief", folder, html_only=True).html.read_text("utf-8")
    html = html.replace("\u00a0", " ").replace("\\u00a0", " ")
    return re.sub('<bdi class="whole">(.*?)</bdi>', r"\1", html)


def test_the_rule_of_a_budget_is_stated_a_sentence_at_a_time() -> None:
    plan = budgeted("en", confident=p.Confident(at_least=2, within=0.1))
    results = Results(plan, WORLD.store(), CATALOGUES["en"])
    items = list(notice(plan.experiments["ramp"], results))
    texts = [str(each.text).replace("\u00a0", " ") for each in items]
    assert texts[0] == "“Thread ramp” had a budget of 1 h; its points were measured 3 times each."
    assert "points with fewer than 2, as an interval needs that many" in texts[1]
    assert texts[-1] == "3 points stayed wider than ±10% in throughput, the widest ±13.8%."
    assert [each.emphasis for each in items] == [False] * 4 + [True]


def results_without(left_out: Mapping[int, tuple[str, str]]) -> Results:
    """Return the results of the world, but with some cells in another status, without numbers and with a reason."""
    plan = budgeted("en")
    known = {cell.id: left_out[number] for number, cell in enumerate(plan.cells) if number in left_out}
    rows: list[tuple[Any, ...]] = []
    for row in WORLD.rows():
        if isinstance(row, s.CellRow) and row.cell_id in known:
            status, reason = known[row.cell_id]
            rows.append(row._replace(status=status, reason=reason))
        elif not isinstance(row, s.ThroughputRow) or row.cell_id not in known:
            rows.append(row)
    return Results(plan, w.make_store(rows), CATALOGUES["en"])


def over(spent_s: float) -> str:
    shown = {"budget": 43200.0, "spent": spent_s, "next": 900.0}
    return say.budget_over(**{name: duration_figure(seconds) for name, seconds in shown.items()})


NO_ROOM = say.budget_no_room(
    budget=duration_figure(43200.0), spent=duration_figure(42000.0), next=duration_figure(3600.0)
)


def test_the_reasons_why_no_repeat_followed_are_reported_by_kind_and_the_others_counted() -> None:
    left_out = [over(42600.0), over(43000.0), say.budget_unasked(), "first", "second", "third"]
    results = results_without({number + 3: ("skipped", reason) for number, reason in enumerate(left_out)})
    items = list(notice(results.plan.experiments["ramp"], results))
    ends = [str(each.text).replace("\u00a0", " ") for each in items if "No repeat followed" in str(each.text)]
    assert ends == [
        (
            "No repeat followed: the budget of 12 h has no room for the next repeat: 11 h 50 min–11 h 56 min are "
            "spent, and the next repeat takes about 15 min."
        ),
        "No repeat followed: no report and no expectation reads the point.",
        "No repeat followed: first.",
    ]
    assert str(items[-1].text) == "2 more reasons are in `bench status` of the run."


def test_points_without_room_are_shown_apart_from_repeats_without_room() -> None:
    results = results_without({6: ("missing", NO_ROOM), 7: ("skipped", NO_ROOM), 8: ("skipped", over(42000.0))})
    items = list(notice(results.plan.experiments["ramp"], results))
    (lost,) = (each for each in items if "not measured" in str(each.text))
    assert str(lost.text) == "One point was not measured, as the budget had no room for it."
    assert lost.emphasis
    assert [each.text for each in items if "point takes about" in str(each.text)] == []
    cells = {line.id: line.status for line in build_disclosure(results, Gaps(), facts_of=(), reports_from=None).cells}
    assert list(cells.values())[6:] == ["missing", "left out", "left out"]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_no_interval_of_a_budgeted_brief_is_called_one_of_95_percent(tmp_path: Path, language: str) -> None:
    plan = budgeted(language, confident=p.Confident(at_least=2, within=0.2))
    html = brief_of(plan, tmp_path)
    assert not NINETY_FIVE.search(html)
    assert len(re.findall("97.5 ?%", html)) >= 5, "the band, three points and the notice"
    words = Results(plan, WORLD.store(), CATALOGUES[language]).words
    assert "97.5" in words["statistic_ci"]
    assert "95" in CATALOGUES[language]["statistic_ci"]


def test_the_level_that_is_stated_is_the_one_that_is_drawn(tmp_path: Path) -> None:
    # The widest interval over three repeats is 13.8 % at 97.5 % (two looks), and 24.1 % at 99.17 % (six looks).
    within = p.Confident(at_least=2, within=0.2)
    alone = brief_of(budgeted("en", confident=within), tmp_path)
    assert "97.5%" in alone
    assert "stayed wider" not in alone
    beside = brief_of(budgeted("en", others_repeats=7, confident=within), tmp_path)
    assert "97.5%" not in beside
    assert "99.17%" in beside
    assert "6 looks" in beside
    assert "3 points stayed wider than ±20%" in beside
