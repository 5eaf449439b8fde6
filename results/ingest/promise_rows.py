"""The rows of searches for a promise: what each found, and how often each rate kept the promise."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from benchbrief.compiler.planning.plan import Knee, Promise
from benchbrief.compiler.searches.rate_search import CONFIDENCE
from benchbrief.results.ingest.run_evidence import Evidence
from benchbrief.results.messages.result_messages import say
from benchbrief.results.store.promise_tables import PromiseRow, RateRow
from benchbrief.runners.journal import events as j
from benchbrief.runners.scheduling.promise_search import bounds_of, warning_of


def promise_rows(evidence: Evidence) -> Iterator[PromiseRow | RateRow]:
    for experiment in evidence.plan.experiments.values():
        if experiment.promise is None:
            continue
        for hardware, workload in product(experiment.hardware, experiment.workloads):
            key = Knee(experiment=experiment.name, hardware=hardware, workload=workload)
            ended = evidence.record.promises.get(key)
            yield _row(evidence, key, experiment.promise, experiment.points, ended)
            for each in ended.rates if ended else ():
                place = (evidence.run_id, experiment.name, hardware, workload, each.rate)
                yield RateRow(*place, *_runs(each))


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
        key.experiment,
        key.hardware,
        key.workload,
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
