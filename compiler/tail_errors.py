"""The warning of percentiles that will rest on too few operations."""

from __future__ import annotations

from math import ceil

from benchbrief.compiler.measure_catalogue import STATISTICS
from benchbrief.compiler.problems import CompileProblem
from benchbrief.compiler.tail_operations import FEWEST, share_beyond
from benchbrief.dsl.diagnostics.plain_amounts import duration, enough_time


class FewBeyond(CompileProblem):
    """A percentile of so few operations that chance decides it. `rate` is in ops/s, `seconds` of each of `repeats`."""

    code = "W0709"
    says = "at {rate:,g} ops/s, `{measure}` of `{workload}` has {beyond} beyond it: chance decides its value"
    mark = "{share} of the operations in {time} are {operations:,.0f}"
    hint = "measure for {longer}, offer {higher:,} ops/s{lower}: {fewest} operations beyond it are needed"
    measure: str
    workload: str
    statistic: str
    rate: float
    of_operations: float
    seconds: float
    repeats: int
    fewest: int = FEWEST

    @property
    def operations(self) -> float:
        return self.rate * self.of_operations * self.seconds * self.repeats

    @property
    def times_more(self) -> float:
        return self.fewest / (self.operations * (share_beyond(self.statistic) or 1.0))

    @property
    def beyond(self) -> str:
        found = self.operations * (share_beyond(self.statistic) or 1.0)
        return "less than one operation" if found < 1 else "1 operation" if found < 2 else f"{int(found)} operations"

    @property
    def share(self) -> str:
        return f"{100 * self.of_operations:.3g} %"

    @property
    def time(self) -> str:
        return f"{self.repeats} x {duration(self.seconds)}" if self.repeats > 1 else duration(self.seconds)

    @property
    def longer(self) -> str:
        return enough_time(self.seconds * self.times_more * (1 - 1e-9))

    @property
    def higher(self) -> int:
        return ceil(self.rate * self.times_more * (1 - 1e-9))

    @property
    def lower(self) -> str:
        """The highest percentile that has enough operations beyond it."""
        known = [(beyond, name) for name, of in STATISTICS.items() if (beyond := share_beyond(of)) is not None]
        enough = [(beyond, name) for beyond, name in known if self.operations * beyond >= self.fewest]
        return f", or ask for `{min(enough)[1]}`" if enough else ""
