"""What a measurement has of what a promise limits, and whether it keeps the promise."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

from benchbrief.model.achieved_load import offered, to_serve
from benchbrief.model.measurement import Measurement
from benchbrief.model.plan import Cell, Experiment, Promise
from benchbrief.runners.scheduling.reported_statistics import latency_at

ERRORS, SERVED = "errors", "served"


def values_of(experiment: Experiment, cell: Cell, measurement: Measurement) -> dict[str, float]:
    """Return what a measurement has of what the promise limits: latencies in seconds, the share of the operations that
    failed or were never sent, and the share of the offered load that was served."""
    found: dict[str, float] = {SERVED: served_of(experiment, cell, measurement)}
    for limit in experiment.promise.limits if experiment.promise else ():
        if limit.measure == ERRORS:
            good, bad = measurement.total.count, measurement.total.errors + measurement.dropped
            found[limit.name] = bad / (good + bad) if good + bad else 1.0
        elif (value := latency_at(measurement, limit.statistic, limit.operation)) is not None:
            found[limit.name] = value
    return found


def served_of(experiment: Experiment, cell: Cell, measurement: Measurement) -> float:
    """Return the share of the operations due in the window that were done, also of those that failed.

    Where the tool does not tell how many were due, they follow from the rate. Of random arrivals, as few are taken to
    be due as chance makes in one of 40 runs.
    """
    total = measurement.total
    done = total.count + total.errors
    if measurement.due is not None:
        return done / measurement.due if measurement.due else 0.0
    rate = offered(cell.target or 0.0, experiment)
    if experiment.arrivals is not None and experiment.arrivals.kind == "poisson" and total.seconds > 0:
        rate -= min(rate, 2 * sqrt(rate / total.seconds))
    tried = done / total.count if total.count else 1.0
    return tried * total.ops_per_s / rate if rate else 1.0


def is_kept(promise: Promise, values: Mapping[str, float]) -> bool:
    """Return whether `values_of` a measurement keep a promise: not without one of them."""
    limits = all(limit.name in values and limit.keeps(values[limit.name]) for limit in promise.limits)
    return limits and values.get(SERVED, 0.0) >= to_serve(promise)


def is_kept_though_late(experiment: Experiment, cell: Cell, measurement: Measurement) -> bool:
    """Return whether a run keeps the promise of a search although its generator was late. Lateness only adds to the
    latency from when an operation was due, so limits that hold with it hold without it, too. A run that lacks
    operations proves nothing."""
    if experiment.promise is None or measurement.dropped or measurement.total.errors:
        return False
    return is_kept(experiment.promise, values_of(experiment, cell, measurement))
