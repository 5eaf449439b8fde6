"""Tests that expressions in figures and tables are named by words, and never by the spec's code."""

from __future__ import annotations

import re

import pytest

from benchbrief.model import plan as p
from benchbrief.reports.data.measure_labels import readable_label
from benchbrief.reports.words.brief_words import words
from tests.compiler.metrics.lowering import lowered

CODE = re.compile(r"[\[\]*]| / |\b[a-z]+\.[a-z]|[a-z]+\([a-z]|_")


def label(expression: str, warns: tuple[str, ...] = ()) -> p.Label:
    _, (report,), codes = lowered(f'report it "It" {{ figure "F" {{ bars = {expression} by workload }} }}')
    assert tuple(code for code in codes if code[0] == "E" or code == "W0714") == warns
    (found,) = report.elements
    assert isinstance(found, p.FigureElement)
    return found.series[0].label


@pytest.mark.parametrize(
    ("expression", "english", "japanese"),
    [
        (
            "throughput[eco, threads: 2] / throughput[old, threads: 2]",
            "Throughput, 2 threads: ratio of Eco to Old",
            "スループット、2 スレッド：Oldに対するEcoの比",
        ),
        (
            "throughput[eco, threads: 4] / throughput[eco, threads: 1] - 1",
            "Throughput, Eco: change from 1 thread to 4 threads",
            "スループット、Eco：1 スレッドから4 スレッドへの変化",
        ),
        (
            "1 - latency.p99[update, eco, threads: 2] / latency.p99[update, old, threads: 2]",
            "p99 update latency, 2 threads: reduction from Old to Eco",
            "更新 p99 レイテンシー、2 スレッド：OldからEcoへの減少",
        ),
        (
            "(best[eco] - best[old]) / best[old]",
            "Best: change from Old to Eco",
            "Best：OldからEcoへの変化",
        ),
        (
            "throughput[eco, threads: 2] / cpu[eco, threads: 2]",
            "Throughput, Eco, 2 threads divided by busy cores, Eco, 2 threads",
            "スループット、Eco、2 スレッドを稼働コア数、Eco、2 スレッドで割った値",
        ),
        (
            "best[eco] - best[old]",
            "Best, Eco minus Best, Old",
            "Best, EcoとBest, Oldの差",
        ),
        ("-best[eco]", "Minus Best, Eco", "符号を変えたBest, Eco"),
        ("best[eco] * 2", "Best, Eco times 2", "Best, Ecoと2の積"),
        (
            "max(throughput[eco] over threads, when throughput[eco] > 1k ops/s)",
            "Throughput, Eco: maximum over threads, where throughput, Eco > 1k ops/s",
            "スループット、Eco（スレッド数についての最大）（スループット、Eco > 1k ops/sの場合）",
        ),
        (
            "max(throughput over threads)[eco] / max(throughput over threads)[old]",
            "Throughput: maximum over threads: ratio of Eco to Old",
            "スループット（スレッド数についての最大）：Oldに対するEcoの比",
        ),
        (
            "first(throughput[eco] over threads) + last(throughput[eco] over threads)",
            "(throughput, Eco: first over threads) plus (throughput, Eco: last over threads)",
            "（スループット、Eco（スレッド数についての最初の値））と（スループット、Eco（スレッド数についての最後の値））の和",
        ),
        (
            "-(throughput[eco, threads: 2] - (best[eco] - best[old]))",
            "−(throughput (Eco, 2 threads) − (Best, Eco − Best, Old))",
            "−（スループット（Eco、2 スレッド） − （Best, Eco − Best, Old））",
        ),
        (
            "(best[eco] + best[old]) / price[eco]",
            "(Best, Eco + Best, Old) ÷ price, Eco",
            "（Best, Eco + Best, Old） ÷ 価格、Eco",
        ),
        (
            "cv(throughput[eco, threads: 2] over repeat)",
            "Throughput, Eco, 2 threads: coefficient of variation over repeats",
            "スループット、Eco、2 スレッド（反復についての変動係数）",
        ),
    ],
)
def test_arithmetic_is_named_in_the_language_of_the_brief(expression: str, english: str, japanese: str) -> None:
    found = label(expression)
    assert readable_label(found, words("en")) == english
    assert readable_label(found, words("ja")) == japanese
    assert not CODE.search(english + japanese)


def test_arithmetic_of_too_many_parts_wants_a_label() -> None:
    long = "(best[eco] + best[old]) / (price[eco] + price[old]) / 2"
    assert label(long, ("W0714",)) == long
    _, (report,), codes = lowered(
        f'report it "It" {{ table "T" {{ rows = workload  column "For the money" = {long} }}'
        f' figure "F" {{ bars = {long} by workload, label "For the money" }} }}'
    )
    assert [code for code in codes if code == "W0714"] == []
    assert len(report.elements) == 2
