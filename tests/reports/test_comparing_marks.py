"""Tests brackets, ranges and other marks that compare values: from the spec to the drawing, the data and the
alternative text."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable
from itertools import combinations, product
from pathlib import Path

import pytest

from benchbrief.dsl.diagnostics.diagnostic import SpecError
from benchbrief.model import plan as p
from benchbrief.reports.charts.bar_marks import numbers_at_bars
from benchbrief.reports.charts.build_figure import Drawing, drawing
from benchbrief.reports.charts.chart import Box, text_width
from benchbrief.reports.charts.chart_layout import ChartText, arrange
from benchbrief.reports.charts.chart_texts import texts, texts_and_labels
from benchbrief.reports.charts.draw_chart import FULL, draw
from benchbrief.reports.charts.drawn_series import compared, figure_csv
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.text.number_format import written_as
from benchbrief.reports.words.brief_words import words
from benchbrief.results.store import store_schema as s
from tests.reports.generated import rows_for
from tests.reports.world import make_store
from tests.support.drawn_once import CONVERTER
from tests.support.longer import longer, one_in
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
metric needed "Needed" in nodes = nodes[hdd] * throughput[nvme, threads: 4] / throughput[hdd, threads: 4]
report brief "Brief" { figure "F" { FIGURE } }
"""
Rate = Callable[[str, str, int], float | None]
SIDE_BY_SIDE = "bars = throughput[threads: 4] by workload, color hardware"


def eight_times(hardware: str, _workload: str, threads: int) -> float:
    return 100.0 * threads * (8.7 if hardware == "nvme" else 1) * (1 + threads / 16 if hardware == "nvme" else 1)


def made(
    figure: str, folder: Path, rate: Rate = eight_times, language: str = "en", spec: str = ""
) -> tuple[p.FigureElement, Drawing]:
    plan = compile_text((spec or SPEC).replace("FIGURE", figure), folder)
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


@pytest.mark.parametrize(("expr", "wanted"), [("ratio", "11X"), ("gain", "+988%"), ("-gain", "−9.9X")])
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
    assert "+824% to +1640%" in written(found)


def test_a_range_of_equal_ends_is_one_number_and_a_line(tmp_path: Path) -> None:
    _, found = made(
        "bars = range(ratio over threads) by workload", tmp_path, lambda h, *_: 37.0 if h == "nvme" else 1.0
    )
    assert [text for text in written(found) if "X" in text] == ["37X", "37X"]


def test_a_low_range_has_both_ends_above_it(tmp_path: Path) -> None:
    def rate(hardware: str, _: str, threads: int) -> float:
        return (100.0 if hardware == "nvme" else 1.0) * (threads + 3)

    _, found = made("bars = range(throughput over threads) by workload, color hardware", tmp_path, rate)
    (panel,) = arrange(found.charts, 240, FULL[1])
    assert [text.text for text in numbers_at_bars(panel.plot)] == ["4 to 19"] * 2 + ["1,900", "400"] * 2


def test_bars_of_nodes_are_as_high_as_the_whole_nodes_they_are_labelled_with(tmp_path: Path) -> None:
    _, found = made("bars = needed by workload", tmp_path)
    (point, _) = found.charts[0].traces[0].points
    assert (point.y, point.text) == (11.0, "11")
    assert found.series[0].details[0].value == pytest.approx(8.7 * 1.25)


@pytest.mark.long
def test_figures_of_panels_say_at_how_many_points_either_line_is_ahead(tmp_path: Path) -> None:
    def rate(hardware: str, workload: str, threads: int) -> float:
        ahead = "hdd" if (workload, threads) == ("w", 16) else "nvme"
        return 150.0 if hardware == ahead else 100.0

    lines = "line = throughput by threads, color hardware  multiples = workload"
    assert made(lines, tmp_path, rate)[1].message == "NVMe is ahead in throughput at 5 of 6 points, HDD at 1"
    japanese = made(lines, tmp_path, rate, "ja")[1].message
    assert japanese == "6 点のうち 5 で NVMe、1 で HDD のスループットが優位"

    def once(hardware: str, workload: str, threads: int) -> float:
        return 100.0 if hardware == "hdd" or (workload, threads) == ("w", 16) else 150.0

    assert made(lines, tmp_path, once)[1].message == "NVMe is ahead in throughput at 5 of 6 points, 1 tied"


@pytest.mark.parametrize("width", one_in(6, range(200, 660, 20)))
def test_the_ends_of_ranges_side_by_side_do_not_touch(width: int, tmp_path: Path) -> None:
    _, found = made(
        "bars = range(throughput over threads) by workload, color hardware", tmp_path, lambda *at: 1234.0 * at[2]
    )
    (panel,) = arrange(found.charts, width, FULL[1])
    boxes = [_box(text) for text in numbers_at_bars(panel.plot)]
    assert all(one.overlap(other) == 0 for one, other in combinations(boxes, 2))


def test_marks_that_compare_are_written_in_japanese(tmp_path: Path) -> None:
    _, found = made("bars = range(ratio over threads) by workload", tmp_path, language="ja")
    assert "9.2倍〜17倍" in written(found)


@pytest.mark.long
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


LINE = "line = throughput[r] by threads, color hardware"


def arrows(found: Drawing) -> list[tuple[str, int]]:
    """Return the text of each label with the number of its arrows."""
    labels = (label for panel in arrange(found.charts, *FULL) for label in texts_and_labels(panel.plot)[1])
    return [(" ".join(line.text for line in label.lines), len(label.arrows)) for label in labels]


def test_a_note_has_an_arrow_to_each_measured_point_at_its_keys(tmp_path: Path) -> None:
    _, found = made(f'{LINE}  note "Full at {{throughput[r, hdd, threads: 16]:,.0f}}" at threads: 16', tmp_path)
    assert arrows(found) == [("Full at 1,600", 2)]
    _, found = made(f'{LINE}  note "Full" at threads: 16, hdd', tmp_path)
    assert arrows(found) == [("Full", 1)]
    assert found.notes == ()


def test_a_note_covers_neither_text_nor_line(tmp_path: Path) -> None:
    _, found = made(f'{LINE}  note "All of the disks are full from here on" at threads: 4', tmp_path)
    (panel,) = arrange(found.charts, *FULL)
    written, (label,) = texts_and_labels(panel.plot)
    boxes = [_box(line) for line in label.lines]
    assert all(_box(text).overlap(box) == 0 for box in boxes for text in written if text not in label.lines)
    x = panel.plot.x_pixel()
    for trace in panel.plot.chart.traces:
        y = panel.plot.y_pixel(trace)
        spots = [Box(x(p.x) - 1, y(p.y) - 1, x(p.x) + 1, y(p.y) + 1) for p in trace.points if p.y is not None]
        assert all(spot.overlap(box) == 0 for spot in spots for box in boxes)


def _box(text: ChartText) -> Box:
    width = text_width(text.text, text.size)
    left = text.x - {"left": 0.0, "center": width / 2, "right": width}[text.align]
    return Box(left, text.y - text.size / 2, left + width, text.y + text.size / 2)


def test_a_note_at_a_point_without_a_result_leaves_a_footnote(tmp_path: Path) -> None:
    def rate(hardware: str, workload: str, threads: int) -> float | None:
        return None if threads == 16 else eight_times(hardware, workload, threads)

    _, found = made(f'{LINE}  note "Full" at threads: 16', tmp_path, rate)
    assert arrows(found) == []
    assert "“Full” points at nothing: there is no result at its place." in found.notes


def test_a_note_in_panels_is_where_its_keys_are(tmp_path: Path) -> None:
    line = "line = throughput by threads, color hardware  multiples = workload"
    _, found = made(f'{line}  note "One" at threads: 16, w, hdd  note "All" at threads: 4', tmp_path)
    assert arrows(found) == [("All", 2), ("One", 1), ("All", 2)]


def test_a_knee_is_named_by_a_label_with_an_arrow_and_not_in_the_legend(tmp_path: Path) -> None:
    def rate(_hardware: str, _workload: str, threads: int) -> float:
        return min(threads, 4) * 100.0

    _, found = made(f"{LINE}  mark = knee(throughput[r, hdd] over threads)", tmp_path, rate)
    assert arrows(found) == [("Knee: 4 threads", 1)]
    (panel,) = arrange(found.charts, *FULL)
    assert [item.trace.name for item in panel.plot.legend] == ["HDD", "NVMe"]


def test_more_marks_than_can_be_pointed_at_stand_in_the_legend(tmp_path: Path) -> None:
    marks = "  ".join(f'mark = {n}k ops/s, label "M{n}"' for n in range(1, 5))
    _, found = made(f"{LINE}  {marks}", tmp_path)
    assert arrows(found) == []
    assert len(arrange(found.charts, *FULL)[0].plot.legend) == 6


def test_a_slope_has_its_values_at_both_ends(tmp_path: Path) -> None:
    def rate(hardware: str, workload: str, threads: int) -> float:
        return (1 if workload == "r" else 1.001) * eight_times(hardware, workload, threads)

    _, found = made("slope = throughput[threads: 4] by hardware, color workload", tmp_path, rate)
    (panel,) = arrange(found.charts, *FULL)
    ends = [text for text in texts(panel.plot) if text.series is not None]
    assert [(text.text.partition(".")[0], text.align) for text in ends] == [
        ("400", "right"), ("400", "right"), ("4,350", "left"), ("4,354", "left"),
    ]  # fmt: skip
    assert all(abs(one.y - other.y) >= 12 for one, other in ((ends[0], ends[1]), (ends[2], ends[3])))
    assert found.alt.startswith("Slope chart: Throughput (ops/s) by Hardware.")
    assert found.charts[0].x.categories == ("HDD", "NVMe")


def test_the_key_of_curves_names_the_points_of_each_line(tmp_path: Path) -> None:
    curve = "curve = throughput[nvme], latency.p99[nvme, read] along threads  multiples = workload"
    _, found = made(curve, tmp_path)
    assert written(found).count("16") == 2  # each panel has those of its only line
    assert found.key == "Numbers at the points: Threads (1, 4, 16 on each line)"
    assert made(curve, tmp_path, lambda *_: None)[1].key == "Numbers at the points: Threads"


def test_bars_in_a_broken_line_are_compared_like_others(tmp_path: Path) -> None:
    whole, broken = (made(SIDE_BY_SIDE + option, tmp_path)[1] for option in ("", ", dashed"))
    assert (broken.message, broken.alt) == (whole.message, whole.alt)
    assert broken.message

    def slower(hardware: str, _workload: str, _threads: int) -> float:
        return 100.0 if hardware == "hdd" else 80.0

    change = "bars = gain[threads: 4] by workload"
    assert made(change, tmp_path, slower)[1].key == "Pale bars: a change for the worse"
    assert made(f"{change}, dashed", tmp_path, slower)[1].key == ""
    both = f'{change}  bars = gain[threads: 16] by workload, label "Doubted", dashed'
    assert made(both, tmp_path, slower)[1].key == "Pale bars with an unbroken outline: a change for the worse"


def test_estimates_are_drawn_broken_and_said_to_be_estimates(tmp_path: Path) -> None:
    _, found = made(f"{SIDE_BY_SIDE}, estimated hdd", tmp_path)
    assert [trace.dashed for trace in found.charts[0].traces] == [True, False]
    assert [trace.name.partition(" (")[2] for trace in found.charts[0].traces] == ["estimated)", ""]
    assert [trace.dashed for trace in made(f"{SIDE_BY_SIDE}, estimated", tmp_path)[1].charts[0].traces] == [True, True]
    with pytest.raises(SpecError, match="`estimated` can't be the word `hd`"):
        compile_text(SPEC.replace("FIGURE", f"{SIDE_BY_SIDE}, estimated hd"), tmp_path)
    by_threads = "bars = throughput[r] by hardware, color threads, estimated"
    _, found = made(f"{by_threads} 4", tmp_path)
    assert [trace.dashed for trace in found.charts[0].traces] == [False, True, False]
    with pytest.raises(SpecError, match="threads 5 is not measured"):
        compile_text(SPEC.replace("FIGURE", f"{by_threads} 5"), tmp_path)


def test_bars_that_differ_visibly_have_different_numbers(tmp_path: Path) -> None:
    def rate(hardware: str, workload: str, _threads: int) -> float:
        return {"hdd": 26.4 if workload == "r" else 25.6, "nvme": 30.0}[hardware]

    figure = f'{SIDE_BY_SIDE}, format ".0f"'
    _, found = made(figure, tmp_path, rate)
    assert [point.text for trace in found.charts[0].traces for point in trace.points] == ["26.4", "25.6", "30", "30"]
    _, found = made(figure, tmp_path, lambda *at: 10 * rate(*at))
    assert [point.text for trace in found.charts[0].traces for point in trace.points] == ["264", "256", "300", "300"]


DRAWN_BARS = f"{SIDE_BY_SIDE}  bracket = ratio[threads: 4] by workload"
LONG_NAME = (
    "A workload whose name says at length all that it does, to whom, how often and why, and goes on a little more"
)


@pytest.mark.parametrize("figure", [*longer(DRAWN_BARS), "bars = range(ratio over threads) by workload"])
def test_bars_of_long_names_lie_below_each_other_with_the_names_whole(
    figure: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = SPEC.replace('"Reads"', f'"{LONG_NAME}"').replace('"Writes"', f'"{LONG_NAME}!"')
    monkeypatch.setitem(globals(), "SPEC", long)
    _, found = made(figure, tmp_path)
    (panel,) = arrange(found.charts, 400, 260)
    assert panel.plot.flat
    shown = [text.text for text in texts(panel.plot)]
    assert sum(text.endswith("X") for text in shown) == 2
    assert LONG_NAME in " ".join(shown)
    assert "NaN" not in draw(found.charts, 400, 260, "Inter", CONVERTER).svg


def test_bars_of_short_names_stand(tmp_path: Path) -> None:
    _, found = made(SIDE_BY_SIDE, tmp_path)
    assert not arrange(found.charts, *FULL)[0].plot.flat


@pytest.mark.parametrize(
    ("label", "title", "is_named"),
    [
        ("Reads", "All reads", True),
        ("Read", "Reads", False),
        ("A", "A test", False),
        ("読み取り", "読み取りの性能", True),
    ],
)
def test_a_title_names_a_workload_only_by_whole_words(label: str, title: str, is_named: bool, tmp_path: Path) -> None:
    spec = SPEC.replace("[r, w]", "[r]").replace('"Reads"', f'"{label}"').replace('figure "F"', f'figure "{title}"')
    _, found = made(f'{SIDE_BY_SIDE}  claim = "It is measured"', tmp_path, spec=spec)
    assert found.charts[0].x.categories == (label,)
    assert found.charts[0].x.alone is is_named


DRAWN = (
    "slope = throughput[threads: 4] by hardware, color workload",
    f'{LINE}  note "A note" at threads: 4  mark = 1k ops/s',
    f'{SIDE_BY_SIDE}  note "A note" at r',
    f"{SIDE_BY_SIDE}  bracket = gain[threads: 4] by workload",
    "bars = range(throughput over threads) by workload, color hardware",
)


@pytest.mark.parametrize(("figure", "value"), one_in(4, product(DRAWN, (0.0, -1.0, 1e-9, 1e15, math.nan, None))))
def test_odd_results_are_drawn(figure: str, value: float | None, tmp_path: Path) -> None:
    _, found = made(figure, tmp_path, lambda h, w, t: value if w == "r" else eight_times(h, w, t))
    if value is None or math.isnan(value):
        assert any("missing" in note for note in found.notes)
    if found.charts:
        assert "NaN" not in draw(found.charts, *FULL, "Inter", CONVERTER).svg
