"""What a disclosure says of measurements that were to go on until they are steady: the rule, the ends, and the bias."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from benchbrief.compiler.planning import plan as p
from benchbrief.compiler.planning.steady_rule import BATCH_S
from benchbrief.reports.data.report_data import Results
from benchbrief.reports.data.view_model import Item
from benchbrief.reports.text.number_format import NBSP, duration, fixed
from benchbrief.reports.words.brief_words import counted, some_of


def measured_for(experiment: p.Experiment, results: Results) -> Iterator[str]:
    """Yield how long the cells of an experiment were measured, or by which rule they ended, and in which phases."""
    words, rule = results.words, experiment.until_steady
    if rule is None:
        yield words["d_measure"].format(time=duration(experiment.measure_s))
    else:
        times = {"first": duration(rule.from_s), "last": duration(experiment.measure_s)}
        yield words["d_measure_until"].format(within=f"{100 * rule.within:.12g}{NBSP}%", **times)
    if experiment.phases > 1:
        yield words["d_phases"].format(n=experiment.phases)


class End(NamedTuple):
    """How the measurement of a cell ended."""

    steady: bool
    lasted_s: float
    cut_s: float | None
    correlation: float | None
    """The highest of batches that follow each other, of throughput and of latency."""


def disclose_steadiness(results: Results) -> Iterator[Item]:
    """Yield the rule, how the measurements of each experiment ended, and what such an end does to the numbers."""
    words = results.words
    ends = ends_of(results)
    if not ends:
        return
    title = words["d_until_label"]
    yield Item(title, words["d_until_rule"].format(batch=duration(BATCH_S)))
    for experiment in results.plan.experiments.values():
        if found := ends.get(experiment.name):
            late = not all(end.steady for end in found)
            yield Item(experiment.label, words["semicolon"].join(_counts(experiment, found, results)), emphasis=late)
    yield Item(title, words["d_until_bias"])


def ends_of(results: Results) -> dict[str, list[End]]:
    """Return how the good measurements with the rule ended, by experiment."""
    rows = results.store.sql(
        "SELECT experiment, steady, lasted_s, cut_s, greatest(throughput_correlation, latency_correlation) "
        "FROM steady_ends JOIN cells USING (run_id, cell_id) WHERE status = 'ok' ORDER BY cell_id"
    ).rows
    found: dict[str, list[End]] = {}
    for experiment, *end in rows:
        found.setdefault(str(experiment), []).append(End(*end))
    return found


def _counts(experiment: p.Experiment, ends: list[End], results: Results) -> Iterator[str]:
    words = results.words
    steady = [end.lasted_s for end in ends if end.steady]
    which = some_of(words, len(steady), len(ends))
    if steady:
        yield counted(words, "d_until_steady", len(steady), which=which, times=_times(steady, results))
    if late := len(ends) - len(steady):
        which, most = some_of(words, late, len(ends)), duration(experiment.measure_s)
        yield counted(words, "d_until_late", late, which=which, most=most)
    cuts = [end.cut_s for end in ends if end.cut_s is not None]
    if cuts:
        yield words["d_until_cut"].format(times=_times(cuts, results))
    if uncut := len(ends) - len(cuts):
        yield counted(words, "d_until_uncut", uncut, which=some_of(words, uncut, len(ends)))
    if correlations := [end.correlation for end in ends if end.correlation is not None]:
        yield words["d_until_correlation"].format(values=fixed(max(correlations), 2))


def _times(seconds: list[float], results: Results) -> str:
    """Return a time, or from which to which they are."""
    low, high = duration(min(seconds)), duration(max(seconds))
    return low if low == high else results.words["d_until_times"].format(low=low, high=high)
