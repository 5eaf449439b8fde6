"""The rows of searches for a promise: what each found, and how often each rate kept the promise."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from benchbrief.compiler.planning.plan import Experiment, Knee, Plan, Promise
from benchbrief.compiler.searches.rate_search import CONFIDENCE
from benchbrief.results.analysis.promised_rates import Promised, RateRuns
from benchbrief.results.ingest.run_evidence import Evidence
from benchbrief.results.messages.result_messages import say
from benchbrief.results.store.promise_tables import PromiseRow, RateRow
from benchbrief.runners.journal import events as j
from benchbrief.runners.scheduling.promise_search import bounds_of, warning_of


def promise_rows(evidence: Evidence) -> Iterator[PromiseRow | RateRow]:
    for key, experiment, promise in _searches(evidence):
        ended = evidence.record.promises.get(key)
        yield _row(evidence, key, promise, experiment.points, ended)
        for each in ended.rates if ended else ():
            place = (evidence.run_id, *_place(key), each.rate)
            yield RateRow(*place, *_runs(each))


def promised(ended: j.PromiseEnded, plan: Plan) -> Promised:
    """Return what a search found, as reports read it."""
    rates = plan.experiments[ended.experiment].points
    kept_to, broken_from = bounds_of(ended, rates)
    return Promised(
        ended.experiment,
        ended.hardware,
        ended.workload,
        ended.sustained,
        ended.kind,
        ended.by_generator,
        ended.sure,
        ended.held_met,
        ended.held_out,
        warning_of(rates[0], ended) if ended.sustained is None else "",
        kept_to,
        broken_from,
        tuple(
            RateRuns(each.rate, each.met, each.broken, each.beyond, each.held_met, each.held_out, each.held_beyond)
            for each in ended.rates
        ),
    )


def _searches(evidence: Evidence) -> Iterator[tuple[Knee, Experiment, Promise]]:
    for experiment in evidence.plan.experiments.values():
        if experiment.promise is not None:
            for hardware, workload in product(experiment.hardware, experiment.workloads):
                key = Knee(experiment=experiment.name, hardware=hardware, workload=workload)
                yield key, experiment, experiment.promise


def _place(key: Knee) -> tuple[str, str, str]:
    return key.experiment, key.hardware, key.workload


def _runs(rate: j.RateJudged) -> tuple[int, ...]:
    return rate.met, rate.broken, rate.beyond, rate.failed, rate.held_met, rate.held_out, rate.held_beyond


def _row(
    evidence: Evidence, key: Knee, promise: Promise, rates: tuple[float, ...], ended: j.PromiseEnded | None
) -> PromiseRow:
    unknown = say.rate_imported() if evidence.imported else say.rate_unended()
    sustained = ended.sustained if ended else None
    kept_to, broken_from = bounds_of(ended, rates) if ended else (None, None)
    reason = (warning_of(rates[0], ended) if ended else unknown) if sustained is None else None
    return PromiseRow(
        evidence.run_id,
        *_place(key),
        promise.text,
        promise.within,
        CONFIDENCE,
        ended.kind if ended else None,
        sustained,
        ended.rate if ended else None,
        ended.above if ended else None,
        bool(ended and ended.by_generator),
        bool(ended and ended.sure),
        kept_to,
        broken_from,
        ended.held_met if ended else 0,
        ended.held_out if ended else 0,
        reason,
    )
