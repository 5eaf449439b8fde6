"""Names of base measures for people."""

from __future__ import annotations

import pytest

from benchbrief.reports.data.measure_labels import readable_label
from benchbrief.reports.words.brief_words import words


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
