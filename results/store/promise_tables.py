"""The tables of searches for a promise, and the view of what they found."""

from __future__ import annotations

from typing import NamedTuple


class PromiseRow(NamedTuple):
    """A search for the highest rate of a promise on one hardware with one workload, and what it found.

    `within` and `confidence` are shares. `kind` is found, at_least, none or undecided. `sustained` is the rate in ops/s
    that counts; where it is NULL, `reason` says why. `found` is the rate of the search, also where held-out runs
    broke the promise, and `above` the next candidate, which broke it; `by_generator`: which the load generator could
    not offer. `sure`: the edge was decided with that confidence, and not by the majority of all repeats. Up to
    the rate `kept_to` no run broke the promise, and from `broken_from` on none kept it (NULL where there is no such
    rate): runs disagree between the two. Of `held_out` runs, `held_met` kept the promise.
    """

    run_id: str
    experiment: str
    hardware: str
    workload: str
    promise: str
    within: float
    confidence: float
    kind: str | None
    sustained: float | None
    found: float | None
    above: float | None
    by_generator: bool
    sure: bool
    kept_to: float | None
    broken_from: float | None
    held_met: int
    held_out: int
    reason: str | None


class RateRow(NamedTuple):
    """A rate that a search measured: how many runs kept the promise, broke it, were beyond the generator, or failed.

    Its held-out runs do not count there: of `held_out`, `held_met` kept the promise, and
    `held_beyond` were beyond the generator.
    """

    run_id: str
    experiment: str
    hardware: str
    workload: str
    target: float
    met: int
    broken: int
    beyond: int
    failed: int
    held_met: int
    held_out: int
    held_beyond: int


SUSTAINED = """

CREATE VIEW measure.sustained AS
SELECT *,
       CASE WHEN value IS NULL THEN NULL WHEN bound IS NULL THEN if(decided, NULL, '≈') ELSE if(decided, '≥', '≳')
       END AS mark
FROM (
    SELECT experiment, hardware, workload, sustained AS value,
           CASE WHEN sustained IS NOT NULL AND (kind = 'at_least' OR by_generator) THEN 'at_least' END AS bound,
           coalesce(sure, false) AS decided
    FROM main.promises
);
"""
