"""The page of named workloads."""

from __future__ import annotations

from benchbrief.compiler.blocks.workload_tables import DB_BENCH, PROPORTIONS, YCSB, Benchmark, read_share
from tools.reference.markdown import code, joined, table, text


def page() -> str:
    return joined(
        [
            "# Workloads",
            text("workloads"),
            "## YCSB",
            text("workloads-ycsb"),
            table(
                ("workload", *map(code, PROPORTIONS), "distribution", "what it does"), [_core(name) for name in YCSB]
            ),
            "## db_bench",
            text("workloads-db_bench"),
            table(
                ("workload", "operations", "data set", "measured", "what it does"),
                [_benchmark(name, benchmark) for name, benchmark in DB_BENCH.items()],
            ),
            "## `load`",
            text("workloads-load"),
        ]
    )


def _core(name: str) -> tuple[str, ...]:
    core = YCSB[name]
    shares = [f"{core.mix[operation]:.0%}" if operation in core.mix else "–" for operation in PROPORTIONS]
    return (code(f"ycsb.{name}"), *shares, code(core.distribution), core.description["en"])


def _benchmark(name: str, benchmark: Benchmark) -> tuple[str, ...]:
    share = read_share(name)
    operations = code(*benchmark.operations)
    if share is not None:
        operations += f"; `read` is {share:.0%} where it is left out"
    return (
        code(f"db_bench.{name}"),
        operations,
        "loaded before" if benchmark.existing else "empty at first",
        "for a time" if benchmark.timed else "to the last record",
        benchmark.description["en"],
    )
