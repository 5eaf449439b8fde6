"""The rule for steady throughput, for the phases of an experiment and the rounds of a single run.

The rule is SNIA's for solid-state storage ("Solid State Storage Performance Test Specification", PTS 2.0.x, definition
of "Steady State"), over consecutive measurements of equal length:

(1) max - min of the measurements <= 20 % of their average;

(2) excursion of the best linear fit <= 10 % of their average.

The excursion is how far the fitted line rises or falls from the first measurement to the last.
"""

from __future__ import annotations

MOST_RANGE = 0.20
MOST_TREND = 0.10

FEWEST_PHASES = 3
"""The fewest phases of a steady state. A line fits two exactly, and adds nothing to their range; three tell drifts from
jumps. SNIA's five would leave six phases hardly any choice."""

ROUNDING = 1e-9
"""The share of the limits that binary arithmetic may exceed them by."""
