"""Tests the names of base measures that people see."""

from __future__ import annotations

from typing import Any

import pytest

from benchbrief.model import plan as p
from benchbrief.reports.charts.build_figure import drawing, label_with_unit
from benchbrief.reports.data.measure_labels import readable_label
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.words.brief_words import words
from tests.reports import world as w


@pytest.mark.parametrize(
    ("label", "english", "japanese"),
    [
        ("throughput", "Throughput", "スループット"),
        ("throughput[insert]", "Throughput, insert", "スループット（挿入）"),
        ("latency.p99[read]", "p99 read latency", "読み取り p99 レイテンシー"),
        ("latency.p99[read, service]", "p99 read latency (service)", "読み取り p99 レイテンシー（サービス時間）"),
        (
            "latency.p99[intended, read], A",
            "p99 read latency (intended), A",
            "読み取り p99 レイテンシー（意図レイテンシー）、A",
        ),
        (
            "latency.mean[update], HDD",
            "Mean update latency, HDD",
            "更新 平均 レイテンシー、HDD",
        ),
        ("latency.p999[read]", "p99.9 read latency", "読み取り p99.9 レイテンシー"),
        ("disk.write", "Device writes", "デバイス書き込み"),
        ("Power efficiency", "Power efficiency", "Power efficiency"),
        ("mean(cpu over time)", "Busy cores: mean over time", "稼働コア数（時間についての平均）"),
        (
            "max(latency.p99[read] over threads, workload), Eco",
            "p99 read latency: maximum over threads, workloads, Eco",
            "読み取り p99 レイテンシー（スレッド数、ワークロードについての最大）、Eco",
        ),
        ("max(speed over threads)", "max(speed over threads)", "max(speed over threads)"),
        (
            "max(Gain over threads) / max(Loss over threads)",
            "max(Gain over threads) / max(Loss over threads)",
            "max(Gain over threads) / max(Loss over threads)",
        ),
        (
            "max(Gain over threads), (Eco over all)",
            "Gain: maximum over threads, (Eco over all)",
            "Gain（スレッド数についての最大）、(Eco over all)",
        ),
        (
            "max(mean(cpu over time) over threads)",
            "Busy cores: mean over time: maximum over threads",
            "稼働コア数（時間についての平均）（スレッド数についての最大）",
        ),
        ("nodes, 5100 ECO", "Nodes, 5100 ECO", "ノード数、5100 ECO"),
        ("price", "Price", "価格"),
        ("steady_rate, HDD", "Steady rate, HDD", "Steady rate, HDD"),
        ("bandwidth", "bandwidth", "bandwidth"),
        ("throughput of all", "throughput of all", "throughput of all"),
        ("", "", ""),
    ],
)
def test_a_measure_is_named_in_the_language_and_other_labels_are_left_alone(
    label: str, english: str, japanese: str
) -> None:
    assert readable_label(label, words("en")) == english
    assert readable_label(label, words("ja")) == japanese


@pytest.mark.parametrize(
    ("label", "unit", "title"),
    [
        ("Nodes for the same work", "nodes", "Nodes for the same work"),
        ("Busy cores", "cores", "Busy cores"),
        ("Throughput", "ops/s", "Throughput (ops/s)"),
        ("Node's share of the time", "s", "Node's share of the time (s)"),
        ("同じ処理に要するノード", "ノード", "同じ処理に要するノード"),
        ("Gain", "", "Gain"),
    ],
)
def test_the_title_of_an_axis_names_its_unit_once(label: str, unit: str, title: str) -> None:
    assert label_with_unit(label, unit) == title


@pytest.mark.parametrize(
    ("unit", "known", "title"),
    [("share", {"signed": False}, "Share (%)"), ("share", {"signed": True}, "Change (%)"), ("s", {}, "Time (ms)")],
)
def test_the_axis_of_several_series_names_their_quantity(unit: str, known: dict[str, Any], title: str) -> None:
    sql = "SELECT threads, value / 1e6 AS value FROM measure.throughput WHERE operation = 'all'"
    query = w.query(sql, ("threads",), unit, "x", **known)
    shown = (w.series("line", query, label, "threads") for label in ("Reads", "Writes"))
    world = w.World({"disk": "Disk"}, {"a": "A"}, repeats=1)
    figure: p.FigureElement = w.figure("F", *shown, by={"threads": w.keys([1, 2, 4])})
    (chart,) = drawing(figure, Results(world.plan(), world.store(), words("en"))).charts
    assert chart.left == title
