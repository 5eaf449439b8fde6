"""Latencies as counts in buckets, from the mean times of the model.

The time at a station is taken as exponentially distributed, as it is at a single queue with exponential arrivals
and services (Kleinrock, "Queueing Systems", volume 1, 1975). The times at the two stations, processors and disk,
are taken as independent, and the network as a fixed delay.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

PER_DECADE = 20
"""Buckets for each power of ten. Each is 12 % wider than the one before."""
_FIRST_S = 1e-6
_MOST = 12 * PER_DECADE
"""Up to 10^12 times the first: more than any latency."""
_LAGS = 8
_WIDE = 20
"""A growing lag is cut into so many steps, unless it grows by so many times the rest of a latency."""

Counts = tuple[tuple[int, int], ...]
"""Pairs of a bucket's number and its count of latencies, in rising order."""


def edge(number: int) -> float:
    """Return where a bucket begins, in seconds. It ends where the next one begins."""
    return EDGES[number]


EDGES = tuple(_FIRST_S * 10 ** (i / PER_DECADE) for i in range(_MOST + 2))
"""Where each bucket begins, in seconds."""


@dataclass(frozen=True)
class Latencies:
    """A distribution: two exponential parts with these means, a fixed part, and a lag, all in seconds.

    The lag is how far a load that is too high for the hosts is behind its schedule. It grows from `lag_from` to
    `lag_to` during the measured time.
    """

    first_s: float
    second_s: float
    fixed_s: float
    lag_from: float = 0.0
    lag_to: float = 0.0

    @property
    def mean_s(self) -> float:
        return self.first_s + self.second_s + self.fixed_s + (self.lag_from + self.lag_to) / 2

    def share_below(self, latency_s: float) -> float:
        """Return the share of the operations that take at most this long."""
        if self.lag_to <= 0:
            return self._without_lag(latency_s - self.fixed_s)
        span, busy_s = self.lag_to - self.lag_from, self.first_s + self.second_s
        late_s = latency_s - self.fixed_s - self.lag_from
        if span > _WIDE * busy_s:  # the rest is negligible against the lag
            return min(1.0, max(0.0, (late_s - busy_s) / span))
        return sum(self._without_lag(late_s - span * (i + 0.5) / _LAGS) for i in range(_LAGS)) / _LAGS

    @cached_property
    def _without_lag(self) -> Callable[[float], float]:
        """Return the distribution of a sum of two exponentials (hypoexponential), also when one is 0 or both are
        equal. It is of times above 0."""
        a, b, exp = max(self.first_s, self.second_s), min(self.first_s, self.second_s), math.exp
        if a <= 0:
            return lambda time_s: float(time_s > 0)
        if b <= a * 1e-6:
            return lambda time_s: -math.expm1(-time_s / a) if time_s > 0 else 0.0
        if a - b < a * 1e-3:
            return lambda time_s: 1.0 - (1.0 + time_s / a) * exp(-time_s / a) if time_s > 0 else 0.0
        return lambda time_s: 1.0 - (a * exp(-time_s / a) - b * exp(-time_s / b)) / (a - b) if time_s > 0 else 0.0

    def counts(self, number: int) -> Counts:
        """Distribute so many latencies over the buckets by their shares."""
        found = []
        counted = 0
        low = max(_FIRST_S, self.fixed_s + self.lag_from)
        without_lag = None if self.lag_to > 0 else self._without_lag
        bucket = max(0, min(_MOST, math.floor(math.log10(low / _FIRST_S) * PER_DECADE) - 1))
        while counted < number:
            if bucket >= _MOST:
                share = 1.0
            elif without_lag:  # this loop is a third of what a simulated load costs
                share = without_lag(EDGES[bucket + 1] - self.fixed_s)
            else:
                share = self.share_below(EDGES[bucket + 1])
            upto = min(number, round(number * share))
            if upto > counted:
                found.append((bucket, upto - counted))
                counted = upto
            bucket += 1
        return tuple(found)
