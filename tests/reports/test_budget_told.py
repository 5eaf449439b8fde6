"""What a brief tells of a budget: the level of its intervals is the one that it draws, in every text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchbrief.compiler.planning import plan as p
from benchbrief.reports.notices.budget_notice import budgeted as notice
from benchbrief.reports.render.render_report import render
from benchbrief.reports.view.report_data import Results
from benchbrief.reports.words.brief_words import CATALOGUES
from tests.reports import world as w

WORLD = w.World(hardware={"disk": "Disk"}, workloads={"rr": "Reads"}, repeats=3)
NINETY_FIVE = re.compile(r"(?<!\d)95 ?%[^.。]{0,12}(interval|信頼区間)|95 ?% ?区間")


def budgeted(language: str, others_repeats: int | None = None, **more: object) -> p.Plan:
    """A ramp of three repeats with a budget, and beside it an experiment of so many repeats with its own."""
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


def told(plan: p.Plan, folder: Path) -> str:
    html = render(plan, WORLD.store(), "brief", folder, html_only=True).html.read_text("utf-8")
    html = html.replace("\u00a0", " ").replace("\\u00a0", " ")
    return re.sub('<span class="whole">(.*?)</span>', r"\1", html)


def test_the_rule_of_a_budget_is_told_a_sentence_at_a_time() -> None:
    plan = budgeted("en", confident=p.Confident(at_least=2, within=0.1))
    results = Results(plan, WORLD.store(), CATALOGUES["en"])
    items = list(notice(plan.experiments["ramp"], results))
    texts = [str(each.text).replace("\u00a0", " ") for each in items]
    assert texts[0] == "“Thread ramp” had a budget of 1 h; its points were measured 3 to 3 times."
    assert "points with fewer than 2, as an interval needs that many" in texts[1]
    assert texts[-1] == "3 points stayed wider than ±10 % in throughput, the widest ±13.8 %."
    assert [each.emphasis for each in items] == [False] * 4 + [True]


@pytest.mark.parametrize("language", ["en", "ja"])
def test_no_interval_of_a_budgeted_brief_is_called_one_of_95_percent(tmp_path: Path, language: str) -> None:
    plan = budgeted(language)
    html = told(plan, tmp_path)
    assert not NINETY_FIVE.search(html)
    assert html.count("97.5 %") >= 5, "the band, three points and the notice"
    words = Results(plan, WORLD.store(), CATALOGUES[language]).words
    assert "97.5" in words["statistic_ci"]
    assert "95" in CATALOGUES[language]["statistic_ci"]


def test_the_level_that_is_told_is_the_one_that_is_drawn(tmp_path: Path) -> None:
    # The widest interval over three repeats is 13.8 % at 97.5 % (two looks), and 24.1 % at 99.17 % (six looks).
    within = p.Confident(at_least=2, within=0.2)
    alone = told(budgeted("en", confident=within), tmp_path)
    assert "97.5 %" in alone
    assert "stayed wider" not in alone
    beside = told(budgeted("en", others_repeats=7, confident=within), tmp_path)
    assert "97.5 %" not in beside
    assert "99.17 %" in beside
    assert "6 looks" in beside
    assert "3 points stayed wider than ±20 %" in beside
