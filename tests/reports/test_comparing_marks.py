"""Brackets, ranges and other marks that compare, from the spec to the drawing, the data and the alternative text."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from benchbrief.model import plan as p
from benchbrief.reports.charts.build_figure import Drawing, drawing
from benchbrief.reports.charts.chart_layout import arrange
from benchbrief.reports.charts.chart_texts import texts
from benchbrief.reports.charts.draw_chart import FULL, draw
from benchbrief.reports.charts.drawn_series import compared, figure_csv
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.text.number_format import NBSP, written_as
from benchbrief.reports.words.brief_words import words
from benchbrief.results.store import store_schema as s
from tests.reports.generated import rows_for
from tests.reports.one_converter import CONVERTER
from tests.reports.world import make_store
from tests.support.plans import compile_text

SPEC = """
hardware box {
  hosts = local
  variant hdd "HDD" { storage = "a" }
  variant nvme "NVMe" { storage = "b" }
}
client load { hosts = local  tool = openload }
database mongo { engine = mongodb  server = embedded  reset = as_needed }
workload r "Reads" from ycsb.c { records = 2k }
workload w "Writes" from ycsb.a { records = 2k }
experiment ramp { hardware = box.variants  workloads = [r, w]  threads = [1, 4, 16]  measure = 10 s }
metric ratio "Ratio" = throughput[nvme] / throughput[hdd], higher is better
metric gain "Gain" = throughput[nvme] / throughput[hdd] - 1, higher is better
report brief "Brief" { figure "F" { FIGURE } }
"""
Rate = Callable[[str, str, int], float | None]
SIDE_BY_SIDE = "bars = throughput[threads: 4] by workload, color hardware"


def eight_times(hardware: str, _workload: str, threads: int) -> float:
    return 100.0 * threads * (8.7 if hardware == "nvme" else 1) * (1 + threads / 16 if hardware == "nvme" else 1)


def made(figure: str, folder: Path, rate: Rate = eight_times, language: str = "en") -> tuple[p.FigureElement, Drawing]:
    plan = compile_text(SPEC.replace("FIGURE", figure), folder)
    places = {c.id: (c.hardware.rpartition(".")[2], c.workload, int(c.threads or 0)) for c in plan.cells}
    rows = (
        row._replace(ops_per_s=rate(*places[row.cell_id])) if isinstance(row, s.ThroughputRow) else row
        for row in rows_for(plan)
    )
    (element,) = plan.reports[0].elements
    assert isinstance(element, p.FigureElement)
    with written_as(words(language).locale):
        return element, drawing(element, Results(plan, make_store(rows), words(language)))


def written(found: Drawing) -> list[str]:
    return [text.text for panel in arrange(found.charts, *FULL) for text in (*texts(panel.plot), *panel.texts)]


def rows_of(element: p.FigureElement, found: Drawing) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(figure_csv(found.series, element))))


def test_a_bracket_has_the_number_of_each_key(tmp_path: Path) -> None:
    element, found = made(
        f"{SIDE_BY_SIDE}  bracket = ratio[threads: 4] by workload, format '.2f'".replace("'", '"'), tmp_path
    )
    assert [text for text in written(found) if text.endswith("X")] == ["10.88X", "10.88X"]
    rows = rows_of(element, found)
    ratios = [row for row in rows if row["series"] == "Ratio"]
    assert [(row["workload"], row["unit"]) for row in ratios] == [("Reads", ""), ("Writes", "")]
    assert [float(row["value"]) for row in ratios] == pytest.approx([10.875, 10.875])
    assert "Ratio: 10.88X at Reads and at Writes." in found.alt
    assert ("Ratio", "Reads", "10.88X") in found.data
    assert found.charts[0].left == "Throughput (ops/s)"


@pytest.mark.parametrize(("expr", "wanted"), [("ratio", "11X"), ("gain", f"+988{NBSP}%"), ("-gain", "−9.9X")])
def test_a_ratio_is_so_many_times_and_a_share_a_percentage(expr: str, wanted: str, tmp_path: Path) -> None:
    _, found = made(f"bars = throughput[threads: 4, r] by hardware  bracket = {expr}[threads: 4, r]", tmp_path)
    assert wanted in written(found)


def test_a_bracket_whose_number_is_missing_is_a_gap_with_its_reason(tmp_path: Path) -> None:
    def rate(hardware: str, workload: str, threads: int) -> float | None:
        return 0.0 if (hardware, workload) == ("hdd", "r") else eight_times(hardware, workload, threads)

    element, found = made(f"{SIDE_BY_SIDE}  bracket = ratio[threads: 4] by workload", tmp_path, rate)
    assert [text for text in written(found) if text.endswith("X")] == ["11X"]
    assert any("missing" in note for note in found.notes)
    assert next(row["value"] for row in rows_of(element, found) if row["series"] == "Ratio") == ""


def test_a_range_has_both_ends(tmp_path: Path) -> None:
    element, found = made("bars = range(ratio over threads) by workload", tmp_path)
    assert [text for text in written(found) if "X" in text] == ["9.2X to 17X"] * 2
    ends = [float(row[end]) for row in rows_of(element, found) for end in ("value", "to")]
    assert ends == pytest.approx([8.7 * 17 / 16, 17.4] * 2)
    assert ("Ratio", "Reads", "9.2X to 17X") in found.data
    assert found.alt.startswith("Chart with floating bars from the lowest to the highest value: Ratio by Workload.")


def test_a_range_of_shares_is_in_per_cent(tmp_path: Path) -> None:
    _, found = made("bars = range(gain over threads) by workload", tmp_path)
    assert found.charts[0].left == "Gain (%)"
    assert f"+824{NBSP}% to +1640{NBSP}%" in written(found)


def test_a_range_of_equal_ends_is_one_number_and_a_line(tmp_path: Path) -> None:
    _, found = made(
        "bars = range(ratio over threads) by workload", tmp_path, lambda h, *_: 37.0 if h == "nvme" else 1.0
    )
    assert [text for text in written(found) if "X" in text] == ["37X", "37X"]


def test_marks_that_compare_are_written_in_japanese(tmp_path: Path) -> None:
    _, found = made("bars = range(ratio over threads) by workload", tmp_path, language="ja")
    assert "9.2倍〜17倍" in written(found)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (8.7, "8.7X"), (28.4, "28X"), (1.04, "1.04X"), (0.352, "0.35X"), (0.0, "0X"), (-2.0, "−2.0X"), (9.96, "10X"),
        (1e15, "1.0e+15X"), (1e-9, "1.0e−09X"), (123456.0, "123,456X"),
    ],
)  # fmt: skip
def test_ratios_have_two_digits(value: float, wanted: str, tmp_path: Path) -> None:
    element, _ = made("bars = range(ratio over threads) by workload", tmp_path)
    assert compared(value, element.series[0], words("en")) == wanted


DRAWN = (
    f"{SIDE_BY_SIDE}  bracket = gain[threads: 4] by workload",
    "bars = range(throughput over threads) by workload, color hardware",
)


@pytest.mark.parametrize("value", [0.0, -1.0, 1e-9, 1e15, math.nan, None])
@pytest.mark.parametrize("figure", DRAWN)
def test_odd_results_are_drawn(figure: str, value: float | None, tmp_path: Path) -> None:
    _, found = made(figure, tmp_path, lambda h, w, t: value if w == "r" else eight_times(h, w, t))
    svg = draw(found.charts, *FULL, "Inter", CONVERTER).svg
    assert "NaN" not in svg
