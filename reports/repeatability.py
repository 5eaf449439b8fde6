"""How far the repeats of a point lie apart: the coefficient of variation of its throughput."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from benchbrief.reports.source import Results
from benchbrief.reports.values import NBSP, quantity
from benchbrief.reports.view import Item, Notice
from benchbrief.reports.words import counted

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


def paragraph(results: Results) -> Iterable[Item]:
    found = spreads(results)
    if found:
        median = _share(statistics.median(spread.cv for spread in found))
        wide = any(spread.cv > NOTICED_CV for spread in found)
        text = counted(results.words, "d_spread", len(found), median=median, **_worst(found, results))
        yield Item("", text, emphasis=wide)


def _worst(found: Sequence[Spread], results: Results) -> dict[str, object]:
    worst, plan, words = found[0], results.plan, results.words
    by_target = worst.target is not None
    load = counted(words, "at_target" if by_target else "at_threads", worst.target or worst.threads)
    point = words["d_point"].format(
        workload=plan.workloads[worst.workload].label, hardware=plan.hardware[worst.hardware].label, load=load
    )
    ends = {"low": quantity(worst.low, "ops/s"), "high": quantity(worst.high, "ops/s")}
    return {"point": point, "cv": _share(worst.cv), "repeats": worst.repeats, **ends}


def _share(value: float) -> str:
    percent = value * 100
    return f"{percent:.0f}{NBSP}%" if percent >= 10 else f"{percent:.2g}{NBSP}%"
