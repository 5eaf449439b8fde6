"""What counts as a steady throughput: one rule for the phases of an experiment and for the rounds of a single run.

The rule is SNIA's for solid-state storage ("Solid State Storage Performance Test Specification", PTS 2.0.x,
definition of "Steady State"), over consecutive measurements of equal length:

    max - min of the measurements    <= 20 % of their average
    excursion of the best linear fit <= 10 % of their average

The excursion is how far the fitted line rises or falls from the first measurement to the last.
"""

from __future__ import annotations

MOST_RANGE = 0.20
MOST_TREND = 0.10

FEWEST_PHASES = 3
"""How many phases a steady state takes at least. Of two, the line goes through both, and says no more than their range
does; with three, what drifts and what jumps are different things. SNIA's five would leave six phases hardly any choice.
"""

ROUNDING = 1e-9
"""A share of the limits that is allowed on top, so that what is just within them stays so in binary arithmetic."""
