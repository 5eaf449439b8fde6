"""Measures how much the rules on claims and titles slow down the check of a spec of 10,000 lines. Rounds alternate
between all rules and none.

All rounds run in one process and are timed by its processor time. The spec is the one that `hcl` uses, with ten claims
added.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from benchbrief.compiler.briefs import claims, lower_report
from benchbrief.compiler.compile import examine
from benchmarks.figures import record
from benchmarks.hcl import written
from benchmarks.timing import spread

MOST = 0.05
CLAIMS = "\n".join(
    f'claim c{n} "Up to {{value:.1f}}X the operations of {{old{n}}}, and at the best load"'
    f" {{ value = max(throughput[new{n}] / throughput[old{n}] over threads, workload) }}"
    for n in range(10)
)


def _taken(check: Callable[[], object]) -> float:
    began = time.process_time()
    check()
    return time.process_time() - began


def main(pairs: int = 41) -> bool:
    of_claims, of_titles = claims.broken_rule, lower_report.warn_of_results
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.bench"
        path.write_text(f"{written('bench')}\n{CLAIMS}\n", encoding="utf-8")
        found = examine(path)
        assert found.model is not None, found.diagnostics
        assert not found.failed, found.diagnostics
        times = []
        for _ in range(pairs):
            whole = _taken(lambda: examine(path))
            claims.broken_rule = lower_report.warn_of_results = lambda *_: None
            try:
                times.append((whole, _taken(lambda: examine(path))))
            finally:
                claims.broken_rule, lower_report.warn_of_results = of_claims, of_titles
    share = statistics.median(whole / without - 1 for whole, without in times)
    record(
        "checking 10,000 lines with the rules on claims and titles",
        f"{spread([whole for whole, _ in times], 's')} of processor time, {100 * share:.1f} % more",
        f"without: {spread([without for _, without in times], 's')}",
    )
    print(
        f"  {100 * share:.1f} % more, at most {100 * MOST:g} % wanted: {'holds' if share <= MOST else 'DOES NOT HOLD'}"
    )
    return share <= MOST


if __name__ == "__main__":
    raise SystemExit(not main())
