"""How many operations are beyond a percentile. When these are few, chance decides its value."""

from __future__ import annotations

FEWEST = 10
"""With fewer operations beyond it, a percentile is reported as uncertain.

The number of operations beyond the true percentile is binomial. With 10 expected, it is 4 to 16 with a confidence
of 95 % (10 ± 1.96 √10), so the percentile is between the 4th and the 16th slowest. With 4 expected, the interval
begins at the slowest one. (Intervals of quantiles by ranks: H. A. David, H. N. Nagaraja, Order Statistics, chapter
7.)
"""


def share_beyond(statistic: str) -> float | None:
    """Convert p99 to 0.01; None for a mean."""
    name, digits = statistic[:1], statistic[1:]
    return 1 - float(digits) / 100 if name == "p" and digits.replace(".", "", 1).isdigit() else None


def are_few(beyond: float) -> bool:
    return beyond < FEWEST - 1e-6
