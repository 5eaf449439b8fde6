"""The rules for a steady state: of throughput, for the phases of an experiment and the rounds of a single run, and of a
run that ends by itself (`runners/measurement/steady_ends.py` has its arithmetic).

The first one is SNIA's for solid-state storage ("Solid State Storage Performance Test Specification", PTS 2.0.x,
definition of "Steady State"), over consecutive measurements of equal length:

(1) max - min of the measurements <= 20 % of their average;

(2) excursion of the best linear fit <= 10 % of their average.

The excursion is how far the fitted line rises or falls from the first measurement to the last.
"""

from __future__ import annotations

import math

MOST_RANGE = 0.20
MOST_TREND = 0.10

FEWEST_PHASES = 3
"""The fewest phases of a steady state. A line fits two exactly, and adds nothing to their range; three tell drifts from
jumps. SNIA's five would leave six phases hardly any choice."""

ROUNDING = 1e-9
"""The share of the limits that binary arithmetic may exceed them by."""

BATCH_S = 5.0
"""The seconds of a batch of a run that ends by itself: MSER-5 looks at means of five values, here of seconds."""

FEWEST_BATCHES = 10
"""With fewer, the transient is mostly found by chance."""

SOONEST_S = BATCH_S * FEWEST_BATCHES

MOST_WITHIN = 0.5
"""An interval half as wide as the mean shows nothing: a larger number most likely lacks its `%`."""


def usual_length(soonest_s: float, most_s: float) -> float:
    """Return the seconds that an estimate takes a cell to be measured, which ends by itself between two times: as many
    times the shortest as the longest is of it."""
    return math.sqrt(soonest_s * most_s)
