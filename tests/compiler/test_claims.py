"""Tests that the words of a claim's sentence are checked against its number."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchbrief.compiler.compile import CheckedSource, check, checked_time, examine
from benchbrief.compiler.estimates.budget_fit import most_s
from benchbrief.compiler.estimates.estimate import RENDERING_S
from benchbrief.model import plan as p
from tests.support.longer import one_in

SPEC = """
hardware eco    "5100 ECO"   { hosts = "eco-[1-3].lab"  price = 2 USD/h  drives = "4 x 960 GB" }
hardware legacy "Legacy HDD" { hosts = "hdd-[1-3].lab"  price = 1 USD/h }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload a "Session store" from ycsb.a
workload c "Cache, 4X reads" from ycsb.c
experiment ramp { hardware = [eco, legacy]  workloads = [a, c]  threads = [8, 16, 32]  measure = 5 min  repeats = 3 }
metric ratio "Ratio"     = throughput[eco] / throughput[legacy], higher is better
metric gain "Gain"       in % = throughput[eco] / throughput[legacy] - 1, higher is better
metric saved "Saved"     in % = 1 - latency.p99[read][eco] / latency.p99[read][legacy], higher is better
metric cost "Cost"       in USD/Mop = price / throughput, lower is better
metric best "Best"       = max(ratio over threads, workload), higher is better
metric doubled "Doubled" = throughput[eco, a] / throughput[eco, c] + throughput[eco] / throughput[legacy]
"""
AT = "[a][threads: 8]"
BEST, WORST = "max(throughput[eco, a] over threads)", "min(throughput[legacy, a] over threads)"
SAVED_AT_BEST = "100 * (1 - min(latency.p99[read][eco] over threads) / max(latency.p99[read][legacy] over threads))"


def checked(folder: Path, sentence: str, value: str, more: str = "") -> CheckedSource:
    (folder / "spec.bench").write_text(
        f'{SPEC}\nclaim said "{sentence}" {{ value = {value} {more}}}\nreport brief "Brief" {{ headline = said }}\n',
        encoding="utf-8",
    )
    return check(folder / "spec.bench")


def claim(folder: Path, sentence: str, value: str, more: str = "") -> p.Claim:
    found = checked(folder, sentence, value, more)
    assert found.plan is not None, found.diagnostics
    (made,) = found.plan.claims
    return made


MISLEADING = [
    ("E0833", "Up to {value:.1f}X the work of {legacy}", f"ratio{AT}"),
    ("E0843", "Best is {value}", "eco"),
    ("E0843", "{value:.1f}X the work of {legacy}", f"[ratio{AT}, best]"),
    ("E0201", "{value:.1f}X the work of {legcay}", f"ratio{AT}"),
    ("E0201", "{valeu:.1f}X the work of {legacy}", f"ratio{AT}"),
    ("E0701", "{value:.1f}X the work of {foo}", f"ratio{AT}"),
    ("E0837", "{value:,.0f} operations a second", "1000 * 100"),
    ("E0833", "As much as {value:.0f}% more work than {legacy}", "mean(gain over threads, workload)"),
    ("E0833", "{legacy} に対して最大で {value:.1f} 倍", f"ratio{AT}"),
    ("E0834", "At least {value:.1f}X the work of {legacy}", "max(ratio over threads, workload)"),
    ("E0834", "At least {value:.1f}X the work of {legacy}", "best"),
    ("E0834", "{legacy} の {value:.1f} 倍以上", "max(ratio over threads, workload)"),
    ("E0835", "{value:.1f} times faster than {legacy}", f"ratio{AT}"),
    ("E0835", "{value:.1f}x faster than {legacy}", f"ratio{AT}"),
    ("E0835", "{value:.1f}X more operations than {legacy}", "best"),
    ("E0835", "{legacy} より {value:.1f} 倍速い", f"ratio{AT}"),
    ("E0836", "{value:.0%} higher than {legacy}", f"ratio{AT}"),
    ("E0836", "{value:.0%} more work than {legacy}", "best"),
    ("E0836", "{legacy} より {value:.0%} 高い", f"ratio{AT}"),
    ("E0837", "Twice the work: {value:.0f}% more than {legacy}", f"gain{AT}"),
    ("E0837", "10X the work: {value:.0f}% more than {legacy}", f"gain{AT}"),
    ("E0837", "{value:.0f}% more than {legacy}, and half the latency", f"gain{AT}"),
    ("E0837", "{value:.0f}% more than {legacy}, at 20 % less cost", f"gain{AT}"),
    ("E0837", "{value:.0f}% more than {legacy}, with 4 ms reads", f"gain{AT}"),
    ("E0837", "{value:.0f}% more than {legacy}: 100,000 ops/s", f"gain{AT}"),
    ("E0837", "性能は 3 倍。{legacy} に対して {value:.0f}% 増", f"gain{AT}"),
    ("E0837", "性能は三倍。{legacy} に対して {value:.0f}% 増", f"gain{AT}"),
    ("E0837", "遅延は半分。{legacy} に対して {value:.0f}% 増", f"gain{AT}"),
    ("E0837", "性能は３倍。{legacy} に対して {value:.0f}% 増", f"gain{AT}"),
    ("E0834", "Up to {value:.1f}X the work of {legacy}", "min(ratio over threads, workload)"),
    ("E0834", "{value:.1f}X or more of the work of {legacy}", "best"),
    ("E0834", "少なくとも {value:.1f} 倍（{legacy} 比）", "best"),
    ("E0835", "{value:.1f}X quicker than {legacy}", "best"),
    ("E0836", "{value:.0%} quicker than {legacy}", f"ratio{AT}"),
    ("E0837", "A tenfold gain: {value:.0f}% more than {legacy}", f"gain{AT}"),
    ("E0840", "{value:.0f}% of the work of {legacy}", f"gain{AT}"),
    ("E0842", "Up to {value:.1f}X the work of {legacy}", "max(ratio over threads, workload) - 1"),
    ("E0842", "Up to {value:.1f}X the work of {legacy}", "2 * best"),
    ("E0841", "{legacy} needs {value:.1f} nodes", f"4 * nodes[legacy] * ratio{AT}"),
    ("E0841", "{value:.1f} of {legacy}", f"ratio{AT} + throughput[eco]{AT} / 1 ops/s"),
    ("E0846", "{value:.0f}% less work than {legacy}", f"gain{AT}"),
    ("E0846", "{value:.0f}% higher latency than {legacy}", f"saved{AT}"),
    ("E0846", "A read takes {value:.0f}% longer than on {legacy}", f"saved{AT}"),
    ("E0846", "{eco} cuts the work by {value:.0f}%", f"gain{AT}"),
    ("E0846", "{legacy} より {value:.0f}% 低い", f"gain{AT}"),
    ("E0846", "{legacy} から {value:.0f}% 削減", f"gain{AT}"),
    ("E0847", "{value:.1f}X the work of {legacy}", f"{BEST} / {WORST}"),
    ("E0847", "{value:.0f}% less time than {legacy}", SAVED_AT_BEST),
    ("E0847", "{value:.0%} of the work of {legacy}", f"{BEST.replace('max', 'min')} / {WORST.replace('min', 'max')}"),
    ("E0849", "Up to {value:.1f}X the work of {legacy}", "max(ratio over threads, workload, repeat)"),
    ("E0843", "{value:.1f}X the work of {legacy}", "said"),
    ("E0832", "{value:.1f} of the work", f"doubled{AT}"),
    ("E0831", "{value:.1f}X to {max(ratio over threads, workload):.1f}X the work", f"ratio{AT}"),
    ("E0831", "More work", f"ratio{AT}"),
    ("E0834", "On average {value:.1f}X the work of {legacy}", "max(ratio over threads, workload)"),
    ("E0834", "Up to {value:.1f}X the work of {legacy} on average", "max(ratio over threads, workload)"),
    ("E0834", "A typical {value:.1f}X the work of {legacy}", "best"),
    ("E0834", "{value:.0f}% more work than {legacy}, averaged over all loads", "max(gain over threads, workload)"),
    ("E0834", "The average gain over {legacy} is {value:.0f}%", "min(gain over threads, workload)"),
    ("E0834", "{eco} typically does {value:.1f}X the work of {legacy}", "max(ratio over threads, workload)"),
    ("E0834", "{value:.1f}X the work of {legacy} at every thread count", "max(ratio over threads, workload)"),
    ("E0834", "On all workloads, {value:.1f}X the work of {legacy}", "best"),
    ("E0834", "{value:.1f}X the work of {legacy} across all workloads", "max(ratio over threads, workload)"),
    ("E0834", "Up to {value:.1f}X the work of {legacy} on each workload", "max(ratio over threads, workload)"),
    ("E0834", "{value:.1f}X the work of {legacy}, whatever the load", "max(ratio over threads, workload)"),
    ("E0834", "{value:.1f}X the work of {legacy} regardless of load", f"{BEST} / {BEST.replace('eco', 'legacy')}"),
    ("E0834", "{eco} consistently does {value:.1f}X the work of {legacy}", "max(ratio over threads, workload)"),
    ("E0834", "{value:.2f} USD/Mop with {eco} at every load", "min(cost[eco] over threads, workload)"),
    ("E0834", "平均で {legacy} の {value:.1f} 倍の処理量", "max(ratio over threads, workload)"),
    ("E0834", "{legacy} より平均 {value:.0f} % 高いスループット", "max(gain over threads, workload)"),
    ("E0834", "スループットは平均して最大 {value:.0f} % 向上（{legacy} 比）", "max(gain over threads, workload)"),
    ("E0834", "すべてのワークロードで {legacy} の {value:.1f} 倍", "max(ratio over threads, workload)"),
    ("E0834", "どの負荷でも {legacy} の {value:.1f} 倍の処理量", "best"),
    ("E0834", "負荷を問わず {legacy} の {value:.1f} 倍", "max(ratio over threads, workload)"),
    ("E0834", "典型的な負荷では {legacy} の {value:.1f} 倍", "max(ratio over threads, workload)"),
    ("E0837", "Ten X the work: {value:.0f}% more than {legacy}", f"gain{AT}"),
    ("E0837", "A ten-X gain, {value:.0f}% more than {legacy}", f"gain{AT}"),
    ("E0837", "x10 the work, {value:.0f}% more than {legacy}", f"gain{AT}"),
    ("E0837", "{value:.0f}% more work than {legacy} at ×10 efficiency", f"gain{AT}"),
    ("E0837", "Latency cut by two thirds, {value:.0f}% more work than {legacy}", f"gain{AT}"),
    ("E0837", "Two-thirds of what {legacy} pays, {value:.0f}% more work", f"gain{AT}"),
    ("E0837", "A third off the bill, {value:.0f}% more work than {legacy}", f"gain{AT}"),
    ("E0837", "A 3:1 advantage, {value:.0f}% more work than {legacy}", f"gain{AT}"),
    ("E0837", "{eco} is ahead of {legacy} by 3:1, and does {value:.0f}% more work", f"gain{AT}"),
    ("E0837", "An order-of-magnitude leap, {value:.0f}% more than {legacy}", f"gain{AT}"),
    ("E0837", "桁違いの性能、{legacy} より {value:.0f}% 多い", f"gain{AT}"),
    ("E0837", "一桁速い応答、{legacy} より {value:.0f}% 多い処理", f"gain{AT}"),
    ("E0837", "3対1で上回る性能、{legacy} より {value:.0f}% 多い", f"gain{AT}"),
    ("E0837", "x10 の性能、{legacy} より {value:.0f}% 多い", f"gain{AT}"),
    ("E0747", "{value:.1f} ms less than {legacy}", f"ratio{AT}"),
    ("E0747", "In 2 hours, {eco} costs {value:.1f} USD", "price[eco]"),
    ("E0747", "応答時間の短い {eco} は {value:.1f} USD", "price[eco]"),
    ("E0747", "Half a million operations cost {value:.1f} USD on {eco}", "cost[eco, a][threads: 8]"),
    ("E0747", "{value:.1f} watts against {legacy}", f"ratio{AT}"),
    ("E0747", "{value:.0f} ops/s more than {legacy}", f"gain{AT}"),
    ("E0747", "{legacy} に対して {value:.1f} ミリ秒", f"ratio{AT}"),
    ("E0747", "{value:.2f} watts for a read on {eco}", "latency.p99[read][eco, a][threads: 8]"),
    ("E0747", "{eco} の読み取りは {value:.2f} ワット", "latency.p99[read][eco, a][threads: 8]"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "sentence", "value"), one_in(3, MISLEADING))
def test_words_that_promise_another_thing_are_refused(code: str, sentence: str, value: str, tmp_path: Path) -> None:
    found = checked(tmp_path, sentence, value)
    assert [each.code for each in found.diagnostics if each.severity == "error"] == [code], found.diagnostics


HONEST = [
    ("On average {value:.1f}X the work of {legacy}", "mean(ratio over threads, workload)"),
    ("At least {value:.1f}X the work of {legacy} at every thread count", "min(ratio over threads, workload)"),
    ("{value:.1f}X the work of {legacy} on every workload", "min(ratio over threads, workload)"),
    ("The highest gain over all workloads is {value:.0f}%, against {legacy}", "max(gain over threads, workload)"),
    ("The most of all points, measured at each thread count: {value:.1f}X {legacy}", "best"),
    ("Up to {value:.1f}X the work of {legacy}, averaged over three repeats", "max(ratio over threads, workload)"),
    ("Up to {value:.1f}X the work of {legacy}, with 4 x 960 GB in each node", "max(ratio over threads, workload)"),
    ("{value:.2f} USD/Mop at the most with {eco}, whatever the load", "max(cost[eco] over threads, workload)"),
    ("Up to {value:.0%} less time for a read on average than on {legacy}",
     "max(1 - latency.mean[read][eco] / latency.mean[read][legacy] over threads, workload)"),
    ("Up to {value:.1f}X the work of {legacy}, generally available today", "max(ratio over threads, workload)"),
    ("全ワークロード中で最大 {value:.1f} 倍（{legacy} 比）", "max(ratio over threads, workload)"),
    ("どの負荷でも {legacy} の {value:.1f} 倍以上", "min(ratio over threads, workload)"),
    ("平均レイテンシーを最大 {value:.0%} 短縮（{legacy} 比）",
     "max(1 - latency.mean[read][eco] / latency.mean[read][legacy] over threads, workload)"),
    ("Always-on storage: up to {value:.1f}X the work of {legacy}", "max(ratio over threads, workload)"),
    ("いつでも使える {eco} は、{legacy} の最大 {value:.1f} 倍", "max(ratio over threads, workload)"),
    ("Checked by a third-party lab: {value:.1f}X the work of {legacy}", f"ratio{AT}"),
    ("One third of those reads are cold, {value:.1f}X the work of {legacy}", f"ratio{AT}"),
    ("From 3 to 1 nodes, each {value:.1f}X the work of {legacy}", f"ratio{AT}"),
    ("PCIe 4.0 x4 drives, {value:.1f}X the work of {legacy}", f"ratio{AT}"),
    ("{value:.1f}X the work of {legacy} on x86", f"ratio{AT}"),
    ("A 3:1 mix of reads and writes, {value:.1f}X the work of {legacy}", f"ratio{AT}"),
    ("Two thirds of the operations are reads: {value:.1f}X the work of {legacy}", f"ratio{AT}"),
    ("Ten minutes a point, {value:.1f}X the work of {legacy}", f"ratio{AT}"),
    ("読み書き 3:1 の負荷で {legacy} の {value:.1f} 倍", f"ratio{AT}"),
    ("{value:.2f} ms for a read on {eco}", "latency.p99[read][eco, a][threads: 8]"),
    ("{eco} の読み取りは {value:.2f} ミリ秒", "latency.p99[read][eco, a][threads: 8]"),
    ("{value:.1f}X 時間あたりの処理（{legacy} 比）", f"ratio{AT}"),
    ("Up to {value:.1f}X the work of {legacy}", "max(ratio over threads, workload)"),
    ("Up to {value:.1f}X the work of {legacy}", "best"),
    ("Up to {value:.0f}% more work", "max(gain over threads, workload)"),
    ("At least {value:.1f}X the work of {legacy}", "min(ratio over threads, workload)"),
    ("More than {value:.0f}% more work than {legacy}", f"gain{AT}"),
    ("{value:.1f} times as fast as {legacy}", f"ratio{AT}"),
    ("{value:.1f} times the operations of {legacy}", f"ratio{AT}"),
    ("{value:.0%} of the work of {legacy}", f"ratio{AT}"),
    ("{value:.0f}% higher than {legacy}", f"gain{AT}"),
    ("{value:.0f}% less time for a read", f"saved{AT}"),
    ("{value:.1f}X the work, on 4 x 960 GB", f"ratio{AT}"),
    ("Cache, 4X reads: {value:.1f}X the work", f"ratio{AT}"),
    ("At best {value:,.0f} ops/s in 2026", "max(throughput[eco] over threads, workload)"),
    ("{eco} needs {value:.2f} USD/Mop", f"cost[eco]{AT}"),
    ("{legacy} に対して最大 {value:.1f} 倍", "max(ratio over threads, workload)"),
    ("{legacy} より {value:.0f}% 高い", f"gain{AT}"),
    ("At least 8 threads give {value:.1f}X the work of {legacy}", "max(ratio over threads, workload)"),
    ("As fast as {legacy}: {value:.1f}X", f"ratio{AT}"),
    ("With 8 up to 32 threads, {value:.1f}X the work of {legacy}", f"ratio{AT}"),
    ("Nothing is said twice: {value:.1f}X the work of {legacy}", f"ratio{AT}"),
    ("最大スループットは {legacy} の {value:.1f} 倍", f"ratio{AT}"),
    ("読み取りは {legacy} より {value:.0f}% 短い", f"saved{AT}"),
    ("{eco} cuts the latency by {value:.0f}%", f"saved{AT}"),
    ("A read is {value:.0f}% faster than on {legacy}", f"saved{AT}"),
    ("{value:.1f}X the work of {legacy}", f"{BEST} / {BEST.replace('eco', 'legacy')}"),
    ("{value:.1f}X the work of {legacy} at peak load", f"ratio{AT}"),
    ("{value:.1f}X the work of {legacy} at the lowest price", f"ratio{AT}"),
    ("As load grows, the latency falls by {value:.0f}%", f"saved{AT}"),
    ("Raises the work and cuts the latency by {value:.0f}%", f"saved{AT}"),
    ("Saves {value:.0f}% of the latency of {legacy}", f"saved{AT}"),
    ("Up to {value:.1f}X the work of 8 threads", f"{BEST} / throughput[eco, a][threads: 8]"),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "value"), one_in(3, HONEST))
def test_words_that_say_what_the_number_is_are_taken(sentence: str, value: str, tmp_path: Path) -> None:
    found = checked(tmp_path, sentence, value)
    assert [each.code for each in found.diagnostics if each.severity == "error"] == [], found.diagnostics


def test_the_base_is_what_is_divided_by_also_behind_the_names_of_metrics(tmp_path: Path) -> None:
    made = claim(tmp_path, "Up to {value:.1f}X the work", "best")
    assert (made.base, made.named, made.no_difference, made.bound, made.better) == (
        "Legacy HDD", False, 1.0, "high", "higher"
    )  # fmt: skip
    assert set(made.points.dims) == {"threads", "workload"}
    assert made.divisor is not None
    assert (made.divisor.text, set(made.divisor.dims)) == ("throughput[legacy]", {"threads", "workload"})
    assert made.repeats is not None
    assert "repeat" in made.repeats.dims


def test_a_change_is_no_difference_at_zero_and_a_sentence_may_name_the_base(tmp_path: Path) -> None:
    made = claim(tmp_path, "{value:.0f}% more than Legacy HDD", f"gain{AT}")
    assert (made.base, made.named, made.no_difference, made.bound) == ("Legacy HDD", True, 0.0, "")


def test_a_number_of_its_own_has_no_base_and_the_direction_of_its_metric(tmp_path: Path) -> None:
    made = claim(tmp_path, "{value:.2f} USD/Mop", f"cost[eco]{AT}")
    assert (made.base, made.no_difference, made.better) == ("", None, "lower")


def test_against_says_the_base_where_there_are_several(tmp_path: Path) -> None:
    made = claim(tmp_path, "{value:.1f} of the work", f"doubled{AT}", "against = legacy ")
    assert made.base == "Legacy HDD"


def test_an_exception_has_its_reason_and_sets_one_rule_aside(tmp_path: Path) -> None:
    made = claim(tmp_path, "10X: {value:.1f} times", f"ratio{AT}", 'allow "the name of the product" = typed ')
    assert made.allowed == {"typed": "the name of the product"}
    codes = {each.code for each in checked(tmp_path, "10X: {value:.1f}X", f"ratio{AT}", "allow = typed ").diagnostics}
    assert "E0838" in codes


def test_words_of_a_direction_promise_a_number_above_no_difference(tmp_path: Path) -> None:
    assert claim(tmp_path, "{value:.0f}% more work than {legacy}", f"gain{AT}").directed
    assert not claim(tmp_path, "{value:+.0f}% against {legacy}", f"gain{AT}").directed
    assert not claim(tmp_path, "{value:.1f}X the work of {legacy}", f"ratio{AT}").directed


def test_a_rule_is_set_aside_once_and_a_claim_has_no_other_format(tmp_path: Path) -> None:
    twice = 'allow "one" = typed  allow "two" = typed '
    assert [each.code for each in checked(tmp_path, "{value:.1f} times", f"ratio{AT}", twice).diagnostics] == ["E0848"]
    claimed = f'claim said "{{value:.1f}}X" {{ value = ratio{AT} }}'
    text = f'{SPEC}\n{claimed}\nreport b "B" {{ text = "In all {{said:.3f}}" }}\n'
    (tmp_path / "spec.bench").write_text(text, encoding="utf-8")
    assert [each.code for each in check(tmp_path / "spec.bench").diagnostics] == ["E0731"]


def test_a_claim_is_said_by_its_name_in_texts_titles_and_figures(tmp_path: Path) -> None:
    (tmp_path / "spec.bench").write_text(
        f"""{SPEC}
claim said "{{value:.1f}}X the work of {{legacy}}" {{ value = ratio{AT} }}
report brief "{{said}}" {{
  subtitle = "See: {{said}}"
  text = "We found: {{said}}."
  figure "Work" {{ claim = said  bars = throughput[a][threads: 8] by hardware }}
}}
""",
        encoding="utf-8",
    )
    found = check(tmp_path / "spec.bench")
    assert found.plan is not None, found.diagnostics
    (report,) = found.plan.reports
    assert report.title == "…X the work of Legacy HDD"
    assert report.heading == p.Prose(parts=(p.Said(claim="said"),))
    text, figure = report.elements
    assert isinstance(text, p.TextElement)
    assert text.prose.parts == ("We found: ", p.Said(claim="said"), ".")
    assert isinstance(figure, p.FigureElement)
    assert figure.claim == p.Prose(parts=(p.Said(claim="said"),))


def test_a_claim_is_said_in_the_titles_of_elements(tmp_path: Path) -> None:
    titled = "In short, {workload.label}: {said}"
    (tmp_path / "spec.bench").write_text(
        f"""{SPEC}
claim said "{{value:.1f}}X the work of {{legacy}}" {{ value = ratio{AT} }}
report brief "Brief" {{
  each workload {{
    section "{titled}" {{ text = "T" }}
    callout "{titled}" {{ text = "{{said}}" }}
    figure "{titled}" {{ bars = throughput[threads: 8] by hardware }}
    table "{titled}" {{ rows = threads  columns = throughput by hardware }}
    compare "{titled}" {{ rows = threads  columns = throughput by hardware }}
  }}
}}
""",
        encoding="utf-8",
    )
    found = check(tmp_path / "spec.bench")
    assert found.plan is not None, found.diagnostics
    elements = found.plan.reports[0].elements
    assert len(elements) == 10
    for label, element in zip(("Session store",) * 5 + ("Cache, 4X reads",) * 5, elements, strict=True):
        assert isinstance(element, p.SectionElement | p.CalloutElement | p.FigureElement | p.TableElement)
        assert element.title == f"In short, {label}: …X the work of Legacy HDD"
        assert element.heading == p.Prose(parts=(f"In short, {label}: ", p.Said(claim="said")))


@pytest.mark.parametrize(
    ("title", "code"),
    [
        ("{said} and {max(ratio over threads, workload):.1f}X", "E0732"),
        ("{said:.1f}", "E0731"),
        ("{siad}", "E0201"),
        ("{said}, 9X", "W0760"),
    ],
)
def test_a_title_with_a_claim_has_the_rules_of_titles(tmp_path: Path, title: str, code: str) -> None:
    claimed = f'claim said "{{value:.1f}}X the work of {{legacy}}" {{ value = ratio{AT} }}'
    report = f'report brief "Brief" {{ section "{title}" {{ text = "T" }} }}'
    (tmp_path / "spec.bench").write_text(f"{SPEC}\n{claimed}\n{report}\n", encoding="utf-8")
    assert [each.code for each in check(tmp_path / "spec.bench").diagnostics] == [code]


AROUND = """
claim most "Up to {value:.1f}X the work of {legacy}" { value = max(ratio over threads, workload) }
claim least "At least {value:.1f}X the work of {legacy}" { value = min(ratio over threads, workload) }
claim one "{value:.1f}X the work of {legacy}" { value = ratio[a][threads: 8] }
claim bare "{value:.1f}" { value = ratio[a][threads: 8] }
claim rate "{value:,.0f}" { value = throughput[eco, a][threads: 8] }
"""
MISLED = [
    'section "On every load, always: {most}" { text = "T" }',
    'section "{one}, and no less: on every load {most}" { text = "T" }',
    'section "Up to {one}" { text = "T" }',
    'section "{bare} ms" { text = "T" }',
    'section "{bare} times faster" { text = "T" }',
    'section "{rate} times the work" { text = "T" }',
    'callout "On average: {most}" { text = "T" }',
    'callout "T" { text = "T"  note = "At least {one}" }',
    'figure "どの負荷でも：{most}" { line = throughput[a] by threads, color hardware }',
    'figure "T" { claim = "平均で、{most}"  line = throughput[a] by threads, color hardware }',
    'table "On every load: {most}" { rows = facts }',
    'text = "It ran at night. On every workload, always: {most}. It ended."',
    'text = "Ten times the work: {most}."',
]
LED_RIGHT = [
    'section "In short: {most}" { text = "T" }',
    'section "Result: {most}" { text = "T" }',
    'section "要約：{most}" { text = "T" }',
    'section "On every load: {least}" { text = "T" }',
    'section "Measured on every load: {most}" { text = "T" }',
    'table "In short: {most}" { rows = published }',
    'callout "T" { text = "We found: {most}." }',
    'text = "Every load was measured, on average days. {most}. Its price is 20 % higher."',
    'text = "On each load, both sides ran three times: {most}."',
    'text = "On every load, always: {least}."',
]


def test_the_words_around_a_claim_have_its_rules_wherever_a_text_says_it(tmp_path: Path) -> None:
    lines = "\n".join([*MISLED, *LED_RIGHT])
    text = f'{SPEC}{AROUND}report brief "In short: {{most}}" {{\n{lines}\n}}\n'
    (tmp_path / "spec.bench").write_text(text, encoding="utf-8")
    found = check(tmp_path / "spec.bench")
    warned = {text.splitlines()[each.span.line - 1] for each in found.diagnostics if each.code == "W0761" and each.span}
    assert warned == set(MISLED), [each.summary for each in found.diagnostics]
    assert {each.code for each in found.diagnostics} == {"W0761"}
    assert found.plan is not None
    excepted = "\n".join(f'allow "as the source words it" = {rule}' for rule in ("bound", "ratio", "typed"))
    (tmp_path / "spec.bench").write_text(text.replace(lines, f"{excepted}\n{lines}"), encoding="utf-8")
    assert check(tmp_path / "spec.bench").diagnostics == ()


def test_only_the_points_of_a_claim_are_held_out(tmp_path: Path) -> None:
    more = "metric peak = max(throughput[threads: 32] over workload) / max(throughput[threads: 8] over workload)\n"
    (tmp_path / "spec.bench").write_text(
        f'{SPEC}{more}claim said "{{value:.1f}}X the work of 8 threads" {{ value = peak[eco]  held_out = 4 }}\n'
        'report brief "Brief" { headline = said }\n',
        encoding="utf-8",
    )
    found = check(tmp_path / "spec.bench")
    assert found.plan is not None, found.diagnostics
    (made,) = found.plan.claims
    assert made.held_out is not None
    reads = [read for extreme in made.held_out.extremes for read in extreme.points.reads or ()]
    assert reads
    assert {read.keys["hardware"] for read in reads} == {("eco",)}
    told = checked_time(examine(tmp_path / "spec.bench"))
    assert told is not None
    assert told.total_s == pytest.approx(most_s(found.plan) + RENDERING_S, rel=0.01)


def test_an_unknown_claim_is_misspelt(tmp_path: Path) -> None:
    text = (
        f'{SPEC}\nclaim speedup "{{value:.1f}}X" {{ value = best }}\nreport b "B" {{ headline = [speedup, spedup] }}\n'
    )
    (tmp_path / "spec.bench").write_text(text, encoding="utf-8")
    (error,) = [each for each in check(tmp_path / "spec.bench").diagnostics if each.severity == "error"]
    assert error.suggestion is not None
    assert error.suggestion.replacement == "speedup"


def test_a_typed_result_in_a_title_is_a_warning(tmp_path: Path) -> None:
    text = f"""{SPEC}
report brief "Up to 99X the work" {{
  subtitle = "Cache, 4X reads"
  legal = "Sixfold in our tests."
  text = "Within 20 % of it."
  callout "Half the latency" {{ rows = workload  column "At 8" = "3X: {{ratio[threads: 8]:.1f}}" }}
  section "Twice the rate" {{
    figure "Ten times the work" {{ claim = "5X"  note = "7X"  line = throughput[a] by threads, color hardware }}
  }}
}}
"""
    (tmp_path / "spec.bench").write_text(text, encoding="utf-8")
    found = check(tmp_path / "spec.bench")
    warned = [each.summary.split("`")[1] for each in found.diagnostics if each.code == "W0760"]
    assert sorted(warned) == ["3X", "5X", "7X", "99X", "Half", "Sixfold", "Ten times", "Twice"]
    assert found.plan is not None


@pytest.mark.parametrize(
    ("code", "sentence", "value"),
    [
        ("E0841", "{value:.1f}X the work of {legacy}", f"3 * ratio{AT}"),
        ("E0841", "{value:.1f}X the work of {legacy}", f"(ratio{AT} - 1) * 10 + 1"),
        (
            "E0847",
            "Up to {value:.1f}X the work of {legacy}",
            f"max(throughput[eco] over threads) / throughput[legacy]{AT}",
        ),
        ("E0850", "{value:.1f}X the work of {legacy}", f"throughput[eco]{AT} / 1000"),
        ("E0850", "{legacy} の {value:.1f} 倍", f"throughput[eco]{AT} / throughput[eco]{AT}"),
    ],
)
def test_a_multiple_is_a_plain_ratio_of_like_things(tmp_path: Path, code: str, sentence: str, value: str) -> None:
    assert code in {each.code for each in checked(tmp_path, sentence, value).diagnostics}


def test_the_best_of_a_ramp_against_one_of_its_points_says_how_far_it_goes(tmp_path: Path) -> None:
    scaling = "max(throughput[eco, a] over threads) / throughput[eco, a][threads: 8]"
    assert claim(tmp_path, "Up to {value:.1f}X the work of 8 threads", scaling).no_difference == 1.0


@pytest.mark.parametrize(
    ("sentence", "named"),
    [
        ("{value:.1f}X the work of {legacy}", True),
        ("Against {legacy}, {eco} does {value:.1f}X the work", True),
        ("{legacy} does {value:.1f}X the work of {eco}", False),
        ("{legacy} に対して {value:.1f} 倍", True),
        ("{value:.1f}X the work", False),
    ],
)
def test_a_base_that_is_the_subject_is_not_named_as_the_base(tmp_path: Path, sentence: str, *, named: bool) -> None:
    assert claim(tmp_path, sentence, f"ratio{AT}").named is named


@pytest.mark.parametrize(
    ("sentence", "typed"),
    [
        ("At 20,000 ops/s: {value:.1f}X", False),
        ("At 20k operations per second: {value:.1f}X", False),
        ("毎秒 2 万で {value:.1f}X", False),
        ("With reads under 5 ms: {value:.1f}X", False),
        ("At 30,000 ops/s: {value:.1f}X", True),
        ("With reads under 4 ms: {value:.1f}X", True),
    ],
)
def test_a_setting_or_a_promise_of_the_spec_is_no_typed_result(tmp_path: Path, sentence: str, *, typed: bool) -> None:
    spec = SPEC.replace("threads = [8, 16, 32]", "target = [20k, 40k]").replace("[threads: 8]", "[target: 20k]")
    text = f"""{spec}
expect latency.p99[read][eco, a][target: 20k] < 5 ms
claim said "{sentence}" {{ value = ratio[a][target: 20k] }}
"""
    (tmp_path / "spec.bench").write_text(text, encoding="utf-8")
    found = check(tmp_path / "spec.bench")
    assert ("E0837" in {each.code for each in found.diagnostics}) is typed, found.diagnostics


@pytest.mark.long
def test_five_hundred_claims_are_checked(tmp_path: Path) -> None:
    claims = "\n".join(f'claim c{n} "{{value:.1f}}X" {{ value = best }}' for n in range(500))
    (tmp_path / "spec.bench").write_text(f"{SPEC}\n{claims}\n", encoding="utf-8")
    found = check(tmp_path / "spec.bench")
    assert found.plan is not None
    assert len(found.plan.claims) == 500


@pytest.mark.parametrize(
    ("value", "base", "no_difference"),
    [
        (f"(throughput[eco] - throughput[legacy]){AT} / throughput[legacy]{AT}", "Legacy HDD", 0.0),
        (f"(throughput[eco] - throughput[legacy]){AT}", "Legacy HDD", 0.0),
        (f"100 * ratio{AT}", "Legacy HDD", 100.0),
        ("price[eco] / price[legacy]", "Legacy HDD", 1.0),
        (f"cost[eco]{AT} / cost[legacy]{AT}", "Legacy HDD", 1.0),
        (
            "sum(throughput[eco] over workload)[threads: 8] / sum(throughput[legacy] over workload)[threads: 8]",
            "Legacy HDD",
            1.0,
        ),
        ("throughput[eco, a][threads: 32] / throughput[eco, a][threads: 8]", "threads 8", 1.0),
    ],
)
def test_each_way_to_compare_has_its_base_and_what_no_difference_is(
    value: str, base: str, no_difference: float, tmp_path: Path
) -> None:
    made = claim(tmp_path, "{value:.1f} in all", value)
    assert (made.base, made.no_difference) == (base, no_difference)


def test_a_claim_is_compared_only_with_what_its_value_is(tmp_path: Path) -> None:
    for value in (f"ratio{AT}", f"throughput[eco]{AT}"):
        found = checked(tmp_path, "{value:.1f}", value, "against = eco ")
        assert "E0845" in {each.code for each in found.diagnostics}


def test_what_is_no_claim_can_not_stand_in_a_headline(tmp_path: Path) -> None:
    text = SPEC + 'claim said "{value:.1f}X" { value = best }\nreport brief "B" { headline = [said, "99X", 5] }\n'
    (tmp_path / "spec.bench").write_text(text, encoding="utf-8")
    assert [each.code for each in check(tmp_path / "spec.bench").diagnostics] == ["E0844", "E0844"]


def test_a_result_that_is_divided_by_a_count_is_still_a_result(tmp_path: Path) -> None:
    count = "count(ratio over threads, workload)"
    titles = (f"{{sum(ratio over threads, workload) / {count}:.1f}}X", f"{{{count}:.0f}}")
    reports = "\n".join(f'report r{number} "{title}" {{ text = "T" }}' for number, title in enumerate(titles))
    (tmp_path / "spec.bench").write_text(f"{SPEC}\n{reports}\n", encoding="utf-8")
    assert [each.code for each in check(tmp_path / "spec.bench").diagnostics] == ["W0762"]


@pytest.mark.parametrize(
    "said",
    [
        'report brief "Up to {max(ratio over threads, workload):.1f}X the work of {legacy}" { text = "T" }',
        'report brief "T" { headline "{range(gain over threads, workload):+.0f}%" = "work against {legacy}" }',
        f'report brief "T" {{ figure "F" {{ bars = ratio{AT}  claim = "{{ratio{AT}:.1f}}X that of {{legacy}}" }} }}',
        """report brief "T" {
          headline "{max(gain over threads, workload):+.0f}%" = "at the most, against {legacy}"
          subtitle = "At least {min(ratio over threads, workload):.1f}X the work of {legacy}"
        }
        report second "Up to {max(ratio over threads, workload):.1f}X the work of {legacy}" { text = "T" }""",
    ],
)
def test_a_computed_result_that_is_no_claim_has_a_warning_whose_correction_makes_it_one(
    tmp_path: Path, said: str
) -> None:
    path = tmp_path / "spec.bench"
    path.write_text(f"{SPEC}\n{said.replace('bars = ratio[a][threads: 8]', 'bars = ratio[threads: 8] by workload')}\n")
    found = check(path).diagnostics
    assert {each.code for each in found} == {"W0762"}
    edits = [edit for each in found if each.suggestion for edit in each.suggestion.edits]
    assert len(edits) == 2 * len(found)
    text = path.read_text(encoding="utf-8")
    for edit in sorted(edits, key=lambda each: -each.span.start):
        text = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
    path.write_text(text, encoding="utf-8")
    assert re.search(r"^claim (?:brief_)?result ", text, re.MULTILINE)
    assert check(path).diagnostics == ()
    excepted = f'report brief "T" {{ allow "as the source has it" = computed  headline "{{ratio{AT}:.1f}}X" = "it" }}'
    path.write_text(f"{SPEC}\n{excepted}\n", encoding="utf-8")
    plan = check(path).plan
    assert plan is not None
    (report,) = plan.reports
    assert report.allowed == {"computed": "as the source has it"}


@pytest.mark.parametrize(
    ("headline", "code"),
    [
        (f'headline "Up to {{gain{AT}:.0f}}%" = "more work than on {{legacy}}"', "E0833"),
        (f'headline "{{gain{AT}:.0f}}%" = "more work than on {{legacy}}, half the time"', "E0837"),
        (f'headline "{{ratio{AT}:.0%}}" = "higher than {{legacy}}"', "E0836"),
        ('headline "{throughput[eco, a, threads: 8]:,.0fu}" = "always: {said}"', "E0834"),
    ],
)
def test_a_headline_breaks_the_rules_as_a_claim_does(tmp_path: Path, headline: str, code: str) -> None:
    claimed = 'claim said "Up to {value:.1f}X the work of {legacy}" { value = max(ratio over threads, workload) }'
    (tmp_path / "spec.bench").write_text(f'{SPEC}\n{claimed}\nreport brief "T" {{ {headline} }}\n', encoding="utf-8")
    assert code in [each.code for each in check(tmp_path / "spec.bench").diagnostics]


@pytest.mark.parametrize(("value", "bound"), [("ratio", "high"), ("cost[eco]", "low")])
def test_a_claim_of_a_range_is_judged_by_its_better_end(tmp_path: Path, value: str, bound: str) -> None:
    found = checked(tmp_path, "{value:.2f} on every load", f"range({value} over threads, workload)")
    assert found.diagnostics == ()
    assert found.plan is not None
    (claim,) = found.plan.claims
    assert claim.says_range
    assert claim.number is not None
    assert claim.opposite is not None
    assert claim.number.query.sql != claim.opposite.sql
    assert (claim.bound, claim.number.high) == (bound, None)
