"""Names of base measures for people."""

from __future__ import annotations

import pytest

from benchbrief.reports.labels import readable
from benchbrief.reports.words import words


@pytest.mark.parametrize(
    ("label", "english", "japanese"),
    [
        ("throughput", "Throughput", "スループット"),
        ("throughput[insert]", "Throughput, insert", "スループット（挿入）"),
        ("latency.p99[read]", "p99 read latency", "読み取り p99 レイテンシー"),
        (
            "latency.mean[update], HDD",
            "Mean update latency, HDD",
            "更新 平均 レイテンシー、HDD",
        ),
        ("latency.p999[read]", "p99.9 read latency", "読み取り p99.9 レイテンシー"),
        ("disk.write", "Device writes", "デバイス書き込み"),
        ("Power efficiency", "Power efficiency", "Power efficiency"),
        ("mean(cpu over time)", "mean(cpu over time)", "mean(cpu over time)"),
        ("bandwidth", "bandwidth", "bandwidth"),
        ("throughput of all", "throughput of all", "throughput of all"),
        ("", "", ""),
    ],
)
def test_a_measure_is_named_in_the_language_and_other_labels_are_left_alone(
    label: str, english: str, japanese: str
) -> None:
    assert readable(label, words("en")) == english
    assert readable(label, words("ja")) == japanese
