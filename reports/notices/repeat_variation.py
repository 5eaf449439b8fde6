"""Describes how much a point's repeats differ in throughput and 99th percentile, and whether the differences between
hardware and levels are larger."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from benchbrief.model.plan import Levels
from benchbrief.model.points import Point
from benchbrief.model.precision import magnitude
from benchbrief.reports.data.place_labels import level_name, place_holes
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.view_model import Item, Notice
from benchbrief.reports.text.number_format import percent, quantity
from benchbrief.reports.words.brief_words import Words, counted
from benchbrief.results.compare.compared_quantities import pairs
from benchbrief.results.compare.comparison import compare_all
from benchbrief.results.compare.contender import Contender

MOST_SENTENCES = 3
"""The most pairs that get a sentence each. More pairs, such as the six of four hardware groups, get one sentence and a
list."""
MOST_NAMED = 4
"""The most compared things to name. If there are more, their pairs are counted."""
MOST_LISTED = 12
"""The most pairs in the list. It has the pairs with the largest shares within noise, and the others are only counted.
"""
MOST_COMPARED = 16
"""The most hardware, or levels of a factor, to compare. Their 120 pairs take a second to test, and the number of pairs
grows with the square."""
NOTICED_CV = 0.10
"""The coefficient of variation, as a share, above which a difference of a few per cent between points means nothing."""


class Spread(NamedTuple):
    """A point with several measurements. `cv` is a share, and `low` and `high` are in ops/s."""

    experiment: str
    hardware: str
    workload: str
    levels: str
    threads: float
    target: float | None
    repeats: int
    cv: float
    low: float
    high: float


class _Differences(NamedTuple):
    """The differences between two hardware groups or levels, with their labels. `tested` is the number of tested
    differences, and `noise` is how many of them are within noise."""

    first: str
    second: str
    tested: int
    noise: int
    undecided: int
    """How many of the differences within noise have only two repeats on one side."""


def spreads(results: Results) -> list[Spread]:
    """Return the spread of each point that has several measurements, the widest first."""
    point = "experiment, hardware, workload, levels, threads, target"
    rows = results.store.sql(
        f"SELECT {point}, count(value) AS repeats, stddev_samp(value) / avg(value) AS cv, min(value), max(value) "  # noqa: S608  # ours
        f"FROM (SELECT {point}, measure.number(ops_per_s) AS value FROM throughput JOIN cells USING (run_id, cell_id) "
        "WHERE status = 'ok' AND phase IS NULL AND operation = 'all') "
        f"GROUP BY {point} HAVING count(value) > 1 AND avg(value) <> 0 ORDER BY cv DESC, {point}"
    ).rows
    return [Spread(*row) for row in rows]


def notice(results: Results) -> Iterable[Notice]:
    """Yield a notice if the repeats of a point differ much, and another if differences between compared things are
    within noise."""
    words, found = results.words, results.once(spreads)
    wide = [spread for spread in found if spread.cv > NOTICED_CV]
    if wide:
        text = counted(
            words, "notice_spread_body", len(found), wide=len(wide), limit=_share(NOTICED_CV), **_worst(found, results)
        )
        worst = {**_worst(found, results), "limit": _share(NOTICED_CV)}
        limit = counted(words, "limit_spread", len(found), wide=len(wide), **worst)
        yield Notice(words["notice_spread"], text, "warning", limits=(limit,))
    differences = results.once(_differences)
    if any(each.noise for each in differences):
        tested, noise = sum(each.tested for each in differences), sum(each.noise for each in differences)
        holes = {"noise": noise, "what": _compared(differences, words)}
        text = counted(words, "notice_noise_body", tested, **holes)
        limit = counted(words, "limit_noise_all" if noise == tested else "limit_noise", tested, **holes)
        if any(each.undecided for each in differences):
            text += words["notice_two_repeats"]
            limit += words["limit_two_repeats"]
        yield Notice(words["notice_noise"], text, "warning", limits=(limit,), is_grave=noise == tested)


def tested(results: Results) -> str:
    """Return a text on the test that distinguished differences from noise, and on the things that it compared, or "" if
    none was tested."""
    differences = results.once(_differences)
    return results.words["m_tested"].format(what=_compared(differences, results.words)) if differences else ""


def _compared(differences: Sequence[_Differences], words: Words) -> str:
    """Return the names of the compared things. If there are many, return the number of pairs instead."""
    names = list(dict.fromkeys(name for each in differences for name in (each.first, each.second)))
    if len(differences) == 1:
        return words["compared_two"].format(first=names[0], second=names[1])
    of_one_kind = len(differences) == len(names) * (len(names) - 1) / 2
    few = of_one_kind and len(names) <= MOST_NAMED
    return words.locale.in_a_sentence(names) if few else counted(words, "compared_pairs", len(differences))


def paragraph(results: Results) -> Iterable[Item]:
    found = results.once(spreads)
    if found:
        median = _share(statistics.median(spread.cv for spread in found))
        wide = any(spread.cv > NOTICED_CV for spread in found)
        text = counted(results.words, "d_spread", len(found), median=median, **_worst(found, results))
        yield Item("", text, emphasis=wide)
        yield from _percentiles(results)
        differences = results.once(_differences)
        for text in _sentences(differences, results):
            yield Item("", text)
        if differences:
            yield Item("", results.words["d_tested"].format(what=_compared(differences, results.words)))
        for sides in _contenders(results):
            if len(sides) > MOST_COMPARED:
                yield Item("", results.words["d_noise_many"].format(n=len(sides)))


def _percentiles(results: Results) -> Iterable[Item]:
    """Return the spread of the 99th percentiles of single repeats, over all operations and points."""
    point = "experiment, hardware, workload, levels, threads, target, operation"
    rows = results.store.sql(
        f"SELECT {point}, stddev_samp(value) / avg(value) AS cv "  # noqa: S608  # ours
        f"FROM (SELECT {point}, measure.number(value_s) AS value FROM latency WHERE source IS NULL "
        "AND statistic = 'p99' AND reported AND phase IS NULL AND repeat IS NOT NULL) WHERE value > 0 "
        f"GROUP BY {point} HAVING count(value) > 1 ORDER BY cv DESC, {point}"
    ).rows
    if rows:
        experiment, hardware, workload, levels, threads, target, operation, cv = rows[0]
        point = _point(Point(experiment, hardware, workload, threads, target, Levels(levels)), results)
        median = _share(statistics.median(row[-1] for row in rows))
        named = results.words.get(f"operation_{operation}", operation)
        text = results.words["d_spread_p99"].format(median=median, cv=_share(cv), operation=named, point=point)
        yield Item("", text)


def _differences(results: Results) -> list[_Differences]:
    """Return the differences that can be tested between any two hardware, and between any two named levels of a factor.
    They are corrected together as one set of comparisons.

    Return None if there are too many.
    """
    found = [
        (first.label, second.label, [each for each in both if each.name.startswith(("throughput", "latency.p99["))])
        for sides in _contenders(results)
        if len(sides) <= MOST_COMPARED
        for first, second, both in pairs(sides, statistics=("p99",))
    ]
    outcomes = compare_all(both for _, _, both in found)
    tests = []
    for (first, second, _), outcome in zip(found, outcomes, strict=True):
        rows = [row for row in outcome.comparisons if row.p is not None]
        noise = [row for row in rows if row.verdict == "within noise"]
        tests.append(_Differences(first, second, len(rows), len(noise), sum(row.fewest == 2 for row in noise)))
    return [each for each in tests if each.tested]


def _contenders(results: Results) -> list[list[Contender]]:
    """Return the groups of things to compare with each other: the hardware, and the named levels of each factor.
    Numeric levels are not compared, because they form an axis, like numbers of threads."""
    plan, store = results.plan, results.store
    levels = [
        [
            Contender(level_name(factor, level.key), plan, store, levels=Levels.of({name: level.key}))
            for level in factor.levels
        ]
        for name, factor in plan.factors.items()
        if isinstance(factor.default, str)
    ]
    return [[Contender(hardware.label, plan, store, key) for key, hardware in plan.hardware.items()], *levels]


def _sentences(differences: Sequence[_Differences], results: Results) -> Iterable[str]:
    """Return a sentence for each pair. If there are many pairs, return one sentence and a list of the pairs whose
    differences are within noise."""
    words = results.words
    if len(differences) <= MOST_SENTENCES:
        for each in differences:
            yield counted(words, "d_noise", each.tested, **each._asdict())
        return
    tested, noise = sum(each.tested for each in differences), sum(each.noise for each in differences)
    yield counted(words, "d_noise_all", tested, noise=noise, pairs=len(differences))
    noisy = sorted((each for each in differences if each.noise), key=lambda each: -each.noise / each.tested)
    if noisy:
        listed = words["d_noise_separator"].join(
            words["d_noise_pair"].format_map(each._asdict()) for each in noisy[:MOST_LISTED]
        )
        more = counted(words, "d_noise_more", len(noisy) - MOST_LISTED) if len(noisy) > MOST_LISTED else ""
        yield words["d_noise_pairs"].format(pairs=listed, more=more)
        if len(noisy) < len(differences):
            yield words["d_noise_rest"]


def _worst(found: Sequence[Spread], results: Results) -> dict[str, object]:
    worst = found[0]
    ends = {"low": quantity(worst.low, "ops/s"), "high": quantity(worst.high, "ops/s")}
    return {
        "point": _point(Point.of(worst), results),
        "cv": _share(worst.cv),
        "repeats": worst.repeats,
        **ends,
    }


def _point(point: Point, results: Results) -> str:
    words, target = results.words, point.target
    load = counted(words, "at_threads", point.threads or 0) if target is None else counted(words, "at_target", target)
    return words["d_point"].format(**place_holes(point, results), load=load)


def _share(value: float) -> str:
    """Write a share as a percentage with two digits, or with more if it would otherwise read the same as
    `NOTICED_CV`."""
    digits = 1 - magnitude(100 * value) if 0 < value < 0.0995 else 0
    return percent(value, digits, unlike=NOTICED_CV)
