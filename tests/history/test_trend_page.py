"""Tests a trend's page in a browser: axe finds no accessibility problems, the page fits a phone's screen, and hostile
texts can't inject scripts or images into it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchbrief.history.read_series import SeriesChoice
from benchbrief.history.series_changes import trend_of
from benchbrief.history.series_rows import SeriesRow
from benchbrief.history.site.trend_page import trend_page
from tests.history.histories import a_row, found
from tests.reports.test_interactive import judged_by_axe
from tests.reports.test_narrow_screens import WIDTH, on_phone

HOSTILE = 'x"><script>window.hit=1</script><img src=x onerror=hit()>'
LONG = "20260301-020000-nightly-" + "of-a-very-long-name-without-a-space-" * 3
REFERENCE = {"hardware": "reference", "threads": 4}
STEPPED = {"hardware": "nvme", "threads": 4}
GAINED = {"hardware": HOSTILE, "threads": 4}


def row(night: int, value: float | None, point: dict[str, object], **more: object) -> SeriesRow:
    kernel = "6.1" if night < 44 else f"6.2 {HOSTILE}"
    return a_row(night, value, f"{LONG}{night:03}", point=point, facts={"kernel": kernel}, **more)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a page with everything possible: changes for the worse, for the better and caused by the lab, and another
    environment."""
    chance = np.random.default_rng(3)
    rows = []
    for night in range(50):
        noise = np.exp(chance.normal(0, 0.01, 4))
        lab = 0.9 if night >= 30 else 1.0
        rows += [
            row(night, float(1e3 * noise[0] * (0.85 if night >= 15 else 1.0) * lab), STEPPED),
            row(night, float(1e3 * noise[1] * (1.2 if night >= 15 else 1.0) * lab), GAINED, label=HOSTILE),
            row(night, float(1e3 * noise[2] * lab), REFERENCE, control=True),
            row(night, float(1e-3 * noise[3]) if night % 9 else None, STEPPED, quantity="latency.p99[read]", unit="s",
                better="lower", percentile=True),
        ]  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        history = found(rows, SeriesChoice())
    trends = [trend_of(series, history.controls) for series in history.series]
    return trend_page(trends, [f"left out {LONG}: its tables can't be read"])


def test_the_page_has_every_kind_of_change_and_no_script(page: str) -> None:
    for said in ('class="worse"', 'class="better"', "the lab&#39;s", "not compared with the runs before"):
        assert said in page, said
    assert page.count("<svg") == 4
    assert "<script" not in page
    assert "<img" not in page


@pytest.mark.long
def test_axe_finds_nothing_against_wcag_a_and_aa(page: str, tmp_path: Path) -> None:
    shown = judged_by_axe(page, tmp_path)
    assert shown["violations"] == []
    assert shown["passes"] > 12
    assert shown["hit"] is None


def test_the_page_fits_a_phone(page: str, tmp_path: Path) -> None:
    (shown,) = on_phone([page], tmp_path)
    assert shown["width"] == WIDTH
    assert shown["beyond"] == []
    assert shown["page"] <= WIDTH
