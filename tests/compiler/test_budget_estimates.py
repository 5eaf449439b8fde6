"""What a plan says of the time that budgets leave: loads, totals, and what one pass takes."""

from __future__ import annotations

from pathlib import Path

from benchbrief.compiler.estimates.budget_fit import budget_fits
from tests.support.plans import compile_text

BOX = """
hardware {name} {{ hosts = "{name}.lab" }}
"""
LOADED = """
database rocks { engine = rocksdb  path = "/data" }
workload calm from db_bench.readrandom { records = 1000M }
"""


def test_loads_on_hosts_of_their_own_do_not_add_up_beside_the_time_of_a_pass(tmp_path: Path) -> None:
    told = {}
    for boxes in (["one"], ["one", "two"]):
        text = "".join(BOX.format(name=name) for name in boxes) + LOADED
        text += f"experiment e {{ hardware = [{', '.join(boxes)}]  workloads = calm  threads = 1  measure = 1 min\n"
        plan = compile_text(text + "  repeats = 4  budget = 90 s }\n", tmp_path)
        (fit,) = budget_fits(plan)
        assert 0 < fit.loading_s < fit.pass_s
        told[len(boxes)] = fit.too_small
    assert told[1] == told[2]
