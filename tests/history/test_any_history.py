"""Tests that any history gets trends, gate verdicts, a page and a site, whatever its runs measured and however
little."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from benchbrief.history.gate_rule import GateRule, Remeasured, confirm, judge_run
from benchbrief.history.many_runs import BriefFile, SiteRun
from benchbrief.history.series_changes import trend_of
from benchbrief.history.series_rows import SeriesRow
from benchbrief.history.site.render_site import render_site
from benchbrief.history.site.site_folder import open_site
from benchbrief.history.site.trend_page import trend_page
from benchbrief.reports.words.brief_words import CATALOGUES
from benchbrief.results.store_errors import ResultsError
from tests.history.histories import a_row, found
from tests.history.test_site_trends import site_runs
from tests.reports.odd_results import NAMES, VALUES

NO_NUMBER = re.compile(r">\s*[-−+±]?(?:nan|inf|NaN|None)\b")
QUANTITIES = (("throughput", "ops/s", "higher"), ("errors", "share", "lower"), ("latency.p99[read]", "s", "lower"),
              ("gain", "1", None), ("sustained", "ops/s", "higher"))  # fmt: skip


@dataclass
class Place:
    """A folder or store, as a site sees it, that holds these runs."""

    runs: Sequence[SiteRun]
    name: str = "tests"

    def stamps(self) -> Mapping[str, str]:
        return {run.id: "1" for run in self.runs}

    def read(self, runs: Sequence[str]) -> Iterator[SiteRun]:
        yield from (run for run in self.runs if run.id in runs)

    def fetch(self, run: SiteRun, brief: BriefFile, into: Path) -> None:
        raise AssertionError(f"{run.id} has no brief {brief.path}, to be written to {into}")


def rows_of(seed: int) -> list[SeriesRow]:
    """Return the rows of a made-up history. The seed chooses a kind of values from `VALUES`. The rows have gaps, and
    everything else about them changes from night to night."""
    rng = random.Random(seed)  # noqa: S311  # the same in every run
    change, label = list(VALUES.values())[seed % len(VALUES)], list(NAMES.values())[seed // 7 % len(NAMES)]
    nights = rng.choice((1, 2, 3, 5, 9, 16, 30))
    points = [{"hardware": rng.choice(("nvme", label)), "threads": 2**n} for n in range(rng.randint(1, 3))]
    points += [{}] if rng.random() < 0.2 else []
    rows = []
    for night in range(nights):
        facts = {"kernel": "6.1" if rng.random() < 0.9 else "6.2"}
        unit_of = "ms" if rng.random() < 0.05 else ""
        for quantity, unit, better in QUANTITIES:
            for point in points:
                value = change(rng, 1000.0 * (1.3 if night > nights / 2 else 1.0))
                known = value is not None and math.isfinite(value) and rng.random() < 0.95
                rest: dict[str, Any] = {
                    "quantity": quantity, "unit": unit_of or unit, "better": better, "label": label, "point": point,
                    "facts": facts, "percentile": quantity.startswith("latency"), "chosen": rng.random() < 0.1,
                    "bound": rng.choice(("", "", "", "at_least", "open")), "decided": rng.random() < 0.9,
                    "definition": "as ever" if rng.random() < 0.97 else f"of night {night}",
                }  # fmt: skip
                rows.append(a_row(night, value if known else None, **rest))
                repeats = [change(rng, 1000.0) for _ in range(rng.choice((0, 1, 3)))]
                for number, each in enumerate(repeats, 1):
                    if each is not None and math.isfinite(each):
                        rows.append(a_row(night, each, repeat=number, **rest))
            control = change(rng, 500.0)
            if quantity == "throughput" and control is not None and math.isfinite(control):
                rows.append(a_row(night, control, control=True, point={"hardware": "reference"}, facts=facts))
    return rows


def require_pages(seed: int, folder: Path) -> None:
    """Judge, draw and render a history. Check that nothing fails, and that no page shows `nan`, `inf` or `None` as a
    number."""
    rows, language = rows_of(seed), ("en", "ja")[seed % 2]
    pages = []
    try:
        history = found(rows)
    except ResultsError:
        history = None
    if history is not None:
        trends = [trend_of(series, history.controls) for series in history.series]
        pages.append(trend_page(trends, history.notes))
        for rule in (GateRule(), GateRule(threshold=0.05, imported=True)):
            judged = judge_run(max(row.run_id for row in rows), history.series, history.controls, rule)
            suspects = [place for place, each in enumerate(judged) if each.state == "suspect"]
            again = {place: [value or math.nan for value in judged[place].before[:3]] for place in suspects}
            controls = {each.key: [1.0, math.nan, 2.0] for each in history.controls}
            for confirmed in confirm(judged, Remeasured(again, controls), rule):
                assert confirmed.p is None or 0 <= confirmed.p <= 1, confirmed
    made = render_site(Place(site_runs(rows)), open_site(folder / "site", "tests"), "Lab", CATALOGUES[language])
    assert made.broken == ()
    pages += [path.read_text("utf-8") for path in (folder / "site").rglob("*.html")]
    assert len(pages) > 4
    for page in pages:
        assert (wrong := NO_NUMBER.search(page)) is None, (seed, page[wrong.start() - 300 : wrong.end() + 50])


# A step that meets both languages.
@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=() if seed % 5 == 0 else pytest.mark.long) for seed in range(len(VALUES))]
)
def test_any_history_has_its_pages_and_verdicts(seed: int, tmp_path: Path) -> None:
    require_pages(seed, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1000, 1200))
def test_more_histories_have_their_pages_and_verdicts(seed: int, tmp_path: Path) -> None:
    require_pages(seed, tmp_path)
