"""How far the repeats of a point lie apart, in throughput and in 99th percentiles, and if hardware differs by more."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

from benchbrief.reports.source import Results
from benchbrief.reports.values import NBSP, quantity
from benchbrief.reports.view import Item, Notice
from benchbrief.reports.words import counted
from benchbrief.results.comparison import compare
from benchbrief.results.contenders import Contender, quantities

MOST_PAIRS = 3
"""Of hardware: a fourth hardware has six, which is a table of a reader's own (`bench compare`)."""
NOTICED_CV = 0.10
"""A share: above it, differences of some per cent between points say nothing."""


class Spread(NamedTuple):
    """A point that was measured more than once. `cv` is a share, `low` and `high` are ops/s."""

    experiment: str
    hardware: str
    workload: str
    threads: float
    target: float | None
    repeats: int
    cv: float
    low: float
    high: float


class _Differences(NamedTuple):
    """Between two kinds of hardware: how many are within noise, and the sentence that tells it."""

    noise: int
    text: str


def spreads(results: Results) -> list[Spread]:
    """The widest first."""
    point = "t.experiment, t.hardware, t.workload, t.threads, t.target"
    rows = results.store.sql(
        f"SELECT {point}, any_value(s.repeats), any_value(s.cv) AS cv, min(t.value), max(t.value) "  # noqa: S608  # ours
        "FROM measure.spread AS s JOIN measure.throughput AS t "
        "USING (experiment, hardware, workload, threads, operation) "
        "WHERE s.target IS NOT DISTINCT FROM t.target AND s.phase IS NULL AND t.phase IS NULL "
        f"AND operation = 'all' AND s.cv IS NOT NULL GROUP BY {point} ORDER BY cv DESC, {point}"
    ).rows
    return [Spread(*row) for row in rows]


def notice(results: Results) -> Iterable[Notice]:
    """That repeats of a point lie far apart, where they do."""
    words, found = results.words, spreads(results)
    wide = [spread for spread in found if spread.cv > NOTICED_CV]
    if wide:
        text = counted(
            words, "notice_spread_body", len(found), wide=len(wide), limit=_share(NOTICED_CV), **_worst(found, results)
        )
        yield Notice(words["notice_spread"], text, "warning")
    if texts := [each.text for each in _differences(results) if each.noise]:
        yield Notice(words["notice_noise"], " ".join(texts), "warning")


def paragraph(results: Results) -> Iterable[Item]:
    found = spreads(results)
    if found:
        median = _share(statistics.median(spread.cv for spread in found))
        wide = any(spread.cv > NOTICED_CV for spread in found)
        text = counted(results.words, "d_spread", len(found), median=median, **_worst(found, results))
        yield Item("", text, emphasis=wide)
        yield from _percentiles(results)
        for each in _differences(results):
            yield Item("", each.text)


def _percentiles(results: Results) -> Iterable[Item]:
    """The spread of the repeats' own 99th percentiles, of all operations and points."""
    point = "experiment, hardware, workload, threads, target, operation"
    rows = results.store.sql(
        f"SELECT {point}, count(value), stddev_samp(value) / avg(value) AS cv FROM measure.latency "  # noqa: S608  # ours
        "WHERE statistic = 'p99' AND reported AND phase IS NULL AND repeat IS NOT NULL AND value > 0 "
        f"GROUP BY {point} HAVING count(value) > 1 ORDER BY cv DESC, {point}"
    ).rows
    if rows:
        _, hardware, workload, threads, target, operation, _, cv = rows[0]
        point = _point(hardware, workload, threads, target, results)
        median = _share(statistics.median(row[-1] for row in rows))
        text = results.words["d_spread_p99"].format(median=median, cv=_share(cv), operation=operation, point=point)
        yield Item("", text)


def _differences(results: Results) -> Iterable[_Differences]:
    """Those between the first few pairs of hardware."""
    plan, words = results.plan, results.words
    sides = [Contender(key, plan, results.store, key) for key in plan.hardware]
    for first, second in [*combinations(sides, 2)][:MOST_PAIRS]:
        compared = [
            each
            for each in quantities(first, second, metrics=False)
            if each.name == "throughput" or each.name.startswith("latency.p99[")
        ]
        rows = [row for row in compare(compared).comparisons if row.p is not None]
        if rows:
            labels = {"first": plan.hardware[first.label].label, "second": plan.hardware[second.label].label}
            noise = sum(row.verdict == "within noise" for row in rows)
            yield _Differences(noise, counted(words, "d_noise", len(rows), noise=noise, **labels))


def _worst(found: Sequence[Spread], results: Results) -> dict[str, object]:
    worst = found[0]
    ends = {"low": quantity(worst.low, "ops/s"), "high": quantity(worst.high, "ops/s")}
    return {
        "point": _point(worst.hardware, worst.workload, worst.threads, worst.target, results),
        "cv": _share(worst.cv),
        "repeats": worst.repeats,
        **ends,
    }


def _point(hardware: str, workload: str, threads: float, target: float | None, results: Results) -> str:
    plan, words = results.plan, results.words
    load = counted(words, "at_threads", threads) if target is None else counted(words, "at_target", target)
    return words["d_point"].format(
        workload=plan.workloads[workload].label, hardware=plan.hardware[hardware].label, load=load
    )


def _share(value: float) -> str:
    percent = value * 100
    return f"{percent:.0f}{NBSP}%" if percent >= 10 else f"{percent:.2g}{NBSP}%"
