"""The points that were measured of a ramp or search whose points a run chooses, and the rule that it chose by."""

from __future__ import annotations

from collections.abc import Iterator

from benchbrief.compiler.estimates.grouped_hardware import shares_points
from benchbrief.compiler.planning import plan as p
from benchbrief.compiler.planning.achieved_load import to_serve
from benchbrief.compiler.searches.rate_search import CONFIDENCE, LEAD
from benchbrief.reports.data.report_data import Results, Search
from benchbrief.reports.text.number_format import percent, points
from benchbrief.reports.words.brief_words import Words
from benchbrief.results.analysis.promised_rates import Promised


def chosen_points(experiment: p.Experiment, results: Results) -> str:
    """Return how a run chose the points of an experiment, and which it measured; "" where it did not choose."""
    if experiment.promise:
        return promise_search(experiment, experiment.promise, results)
    return adaptive_ramp(experiment, experiment.adaptive, results) if experiment.adaptive else ""


def adaptive_ramp(experiment: p.Experiment, rule: p.Adaptive, results: Results) -> str:
    """Return the rule of an adaptive ramp, with the points that each of its curves was measured at."""
    words, plan = results.words, results.plan
    items = [
        words[f"d_points_on_{experiment.axis}"].format(
            points=points(tried_points(Search(experiment.name, hardware, workload, None), experiment.axis, results))
            or words["missing"],
            hardware=plan.hardware[hardware].label,
            workload=plan.workloads[workload].label,
        )
        for hardware in experiment.hardware
        for workload in experiment.workloads
    ]
    shared = shares_points(plan, experiment.name)
    return words["d_adaptive"].format(
        n=rule.points,
        candidates=len(experiment.points),
        own=words["d_adaptive_shared" if shared else "d_adaptive_own"],
        measured=words["semicolon"].join(items),
    )


def promise_search(experiment: p.Experiment, rule: p.Promise, results: Results) -> str:
    """Return the rule of a search for a promise, with what it found and the runs at each rate."""
    words = results.words
    promises = [each for each in results.promises if each.experiment == experiment.name]
    found = [_promised(each, results) for each in promises]
    text = words["d_promise"].format(
        promise=rule.text,
        candidates=len(experiment.points),
        low=points(experiment.points[:1]),
        high=points(experiment.points[-1:]),
        apart=f"{50 * rule.within:g} %",
        within=f"{100 * rule.within:g} %",
        lead=LEAD,
        confidence=percent(CONFIDENCE),
        judged=rule.judged,
        served=f"{100 * to_serve(rule):g} %",
        held_out=rule.held_out,
        found=words["semicolon"].join(found) or words["missing"],
    )
    for sentence in (each for promised in promises for each in _remarkable(promised, results)):
        text = words["d_promise_and"].format(text=text, sentence=sentence)
    if any(rate.late for promised in promises for rate in promised.rates):
        text = words["d_promise_and"].format(text=text, sentence=words["d_not_known"])
    return text


def _promised(found: Promised, results: Results) -> str:
    words, plan = results.words, results.plan
    where = {
        "hardware": plan.hardware[found.hardware].label,
        "workload": plan.workloads[found.workload].label,
        "rates": words.locale.listed([_runs(r.rate, r.met, r.judged, r.beyond, words) for r in found.rates if r.judged])
        or words["missing"],
    }
    if found.sustained is None:
        return words["d_not_sustained"].format(**where, reason=words.said(found.reason) or words["no_reason"])
    key = "d_sustained_at_least" if found.kind == "at_least" else "d_sustained_found"
    key = "d_sustained_generator" if found.by_generator else key
    sure = words["d_edge_sure" if found.sure else "d_edge_majority"]
    held = {"met": found.held_met, "n": found.held_out}
    return words[key].format(**where, rate=found.doubt.mark + points([found.sustained]), sure=sure, **held)


def _runs(rate: float, met: int, runs: int, late: int, words: Words) -> str:
    """Return how many of the runs at a rate kept the promise, with those apart whose load generator was late."""
    key = "d_rate_unknown" if late == runs else "d_rate_late" if late else "d_rate_runs"
    return words[key].format(rate=points([rate]), met=met, n=runs - late, late=late)


def _remarkable(found: Promised, results: Results) -> Iterator[str]:
    """Yield that held-out runs lowered the rate, and what contradicts the assumption of the search."""
    words, plan = results.words, results.plan
    where = {"hardware": plan.hardware[found.hardware].label, "workload": plan.workloads[found.workload].label}
    refuted = [rate for rate in found.rates if rate.refuted]
    if found.sustained is not None and refuted:
        rates = [_runs(r.rate, r.held_met, r.held_out, r.held_beyond, words) for r in refuted]
        yield words["d_lowered"].format(**where, rates=words.locale.listed(rates))
    broken = min((rate.rate for rate in found.rates if rate.verdict == "broken"), default=None)
    kept = max((rate.rate for rate in found.rates if rate.verdict == "kept"), default=None)
    if broken is not None and kept is not None and kept > broken:
        yield words["d_contradicted"].format(**where, broken=points([broken]), kept=points([kept]))


def tried_points(search: Search, axis: str, results: Results) -> list[float]:
    """Return the points that the search measured."""
    key = (search.experiment, search.hardware, search.workload)
    cells = (c for c in results.cells if (c.experiment, c.hardware, c.workload) == key and c.status == "ok")
    return sorted({float(value) for cell in cells if (value := getattr(cell, axis)) is not None})
