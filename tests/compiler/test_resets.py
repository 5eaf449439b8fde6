"""Tests what workloads do to their data sets, and which cells therefore load again."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.compiler.compile import check
from benchbrief.compiler.estimates.estimate import resets
from benchbrief.compiler.explain.explain_plan import explain
from benchbrief.compiler.registry import TOOL_SPECS
from benchbrief.model.plan import Plan, Workload
from tests.support.plans import compile_spec

MONGO = """
hardware box { hosts = "box.lab" }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb"  RESET }
workload a from ycsb.a { records = 5M }
workload b from ycsb.b { records = 5M }
workload c from ycsb.c { records = 5M }
workload d from ycsb.d { records = 5M }
workload f from ycsb.f { records = 5M }
experiment ramp { hardware = box  workloads = [WORKLOADS]  threads = [1, 2]  measure = 20 min }
"""

ROCKS = """
hardware box { hosts = "box.lab" }
database rocks { engine = rocksdb  path = "/data/db"  RESET }
workload rr from db_bench.readrandom { records = 1M }
workload rs from db_bench.seekrandom { records = 1M }
workload ow from db_bench.overwrite { records = 1M }
experiment ramp { hardware = box  workloads = [WORKLOADS]  threads = [1, 2]  measure = 1 min }
"""


def planned(tmp_path: Path, spec: str, workloads: str, reset: str = "") -> Plan:
    path = tmp_path / "spec.bench"
    said = f"reset = {reset}" if reset else ""
    path.write_text(spec.replace("RESET", said).replace("WORKLOADS", workloads), encoding="utf-8")
    return compile_spec(path)


def loading(plan: Plan) -> list[str]:
    """Return the workload of each cell that loads its data."""
    return [cell.workload for cell in plan.cells if any(step.reset == "load" for step in cell.steps)]


@pytest.mark.parametrize(
    ("workload", "changes"),
    [
        ("ycsb.a", "updates"),
        ("ycsb.b", "updates"),
        ("ycsb.c", "nothing"),
        ("ycsb.d", "inserts"),
        ("ycsb.e", "inserts"),
        ("ycsb.f", "updates"),
        ("ycsb.a { read = 40 %  insert = 10 % }", "inserts"),
        ("ycsb.d { read = 100 %  insert = 0 % }", "nothing"),
        ("db_bench.readrandom", "nothing"),
        ("db_bench.overwrite", "updates"),
        ("db_bench.fillrandom", "anything"),
        ("fio.randread", "nothing"),
        ("fio.randrw", "updates"),
    ],
)
def test_the_mix_of_a_workload_says_what_it_does_to_its_data(tmp_path: Path, workload: str, changes: str) -> None:
    engine = {"ycsb": "mongodb  server = embedded", "db_bench": 'rocksdb  path = "/d"', "fio": "raw_storage"}
    database = engine[workload.partition(".")[0]]
    database += '  path = "/d"  size = 1 GiB' if database == "raw_storage" else ""
    client = "client load { hosts = local  tool = ycsb }" if workload.startswith("ycsb") else ""
    path = tmp_path / "spec.bench"
    path.write_text(
        f"hardware box {{ hosts = local }}\n{client}\ndatabase db {{ engine = {database} }}\n"
        f"workload w from {workload}\n"
        "experiment e { hardware = box  workloads = w  threads = 1  measure = 1 min }\n",
        encoding="utf-8",
    )
    assert compile_spec(path).workloads["w"].changes == changes


def test_a_workload_of_another_package_that_writes_may_have_changed_anything() -> None:
    spec = TOOL_SPECS.own["db_bench"]
    assert spec.workloads["fillseq"].changes == "anything"
    assert spec.changes("fillseq", {}) == "anything"


def test_a_workload_of_an_earlier_plan_that_writes_may_have_changed_anything() -> None:
    old = {"name": "w", "label": "w", "description": "", "family": "ycsb", "benchmark": "a", "properties": {}}
    old |= {"origin": {"file": "x.bench", "line": 1, "column": 1}}
    assert Workload.model_validate({**old, "writes": True}).changes == "anything"
    assert Workload.model_validate({**old, "writes": False}).changes == "nothing"


def test_mongodb_loads_once_for_cells_that_read_or_update(tmp_path: Path) -> None:
    plan = planned(tmp_path, MONGO, "a, b, c, f")
    assert {database.reset for database in plan.databases.values()} == {"undo"}
    assert loading(plan) == ["a"]


def test_a_cell_after_one_that_inserts_loads_again(tmp_path: Path) -> None:
    assert loading(planned(tmp_path, MONGO, "c, d", "as_needed")) == ["c", "d"]
    assert loading(planned(tmp_path, MONGO, "d", "as_needed")) == ["d", "d"]


def test_what_a_cell_inserts_is_deleted_unless_the_spec_says_otherwise(tmp_path: Path) -> None:
    assert loading(planned(tmp_path, MONGO, "c, d")) == ["c"]
    assert resets(planned(tmp_path, MONGO, "d").cells) == {"load": (1, 1001.0), "undo": (1, 60.0)}


def test_rocksdb_links_the_loaded_files_back_unless_the_spec_says_otherwise(tmp_path: Path) -> None:
    plan = planned(tmp_path, ROCKS, "rr, ow")
    assert {database.reset for database in plan.databases.values()} == {"links"}
    assert loading(plan) == ["rr"]


def test_an_explicit_reset_means_what_it_says(tmp_path: Path) -> None:
    assert loading(planned(tmp_path, MONGO, "c", "drop_and_load")) == ["c", "c"]
    assert loading(planned(tmp_path, MONGO, "c, a", "after_writes")) == ["c", "a"]
    assert loading(planned(tmp_path, MONGO, "d", "reuse")) == ["d"]


def test_rocksdb_loads_again_after_any_write(tmp_path: Path) -> None:
    """An overwritten key leaves its old version in a lower level until a compaction, so RocksDB does not update in
    place."""
    for reset in ("as_needed", "after_writes"):
        plan = planned(tmp_path, ROCKS, "rr, rs, ow", reset)
        assert {database.reset for database in plan.databases.values()} == {"after_writes"}
        assert loading(plan) == ["rr", "ow"]


def test_as_needed_and_after_writes_are_one_measurement_where_they_are_one_rule(tmp_path: Path) -> None:
    resets = ("as_needed", "after_writes")
    hashes = [[cell.hash for cell in planned(tmp_path, ROCKS, "rr, ow", reset).cells] for reset in resets]
    assert hashes[0] == hashes[1]
    mongo = [[cell.hash for cell in planned(tmp_path, MONGO, "a", reset).cells] for reset in resets]
    assert mongo[0] != mongo[1]


def workloads(plan: Plan) -> list[str]:
    return list(dict.fromkeys(cell.workload for cell in plan.cells))


def test_workloads_are_ordered_for_the_fewest_loads(tmp_path: Path) -> None:
    plan = planned(tmp_path, MONGO, "d, a, c", "as_needed")
    assert workloads(plan) == ["c", "a", "d"]
    assert loading(plan) == ["c", "d"]
    assert list(next(iter(plan.experiments.values())).workloads) == ["d", "a", "c"], "as the report has them"
    assert "in the order c, a, d, which takes fewer loads or resets than that of the spec" in explain(plan)
    assert workloads(planned(tmp_path, ROCKS, "ow, rr", "after_writes")) == ["rr", "ow"]


def test_workloads_are_ordered_for_the_fewest_undos_too(tmp_path: Path) -> None:
    plan = planned(tmp_path, MONGO, "d, a", "undo")
    assert workloads(plan) == ["a", "d"]
    assert "in the order a, d, which takes fewer loads or resets than that of the spec" in explain(plan)
    assert workloads(planned(tmp_path, MONGO, "a, d", "undo")) == ["a", "d"]


def test_workloads_stay_as_the_spec_has_them_where_no_load_is_saved(tmp_path: Path) -> None:
    assert workloads(planned(tmp_path, MONGO, "a, c")) == ["a", "c"]
    for reset in ("drop_and_load", "reuse"):
        assert workloads(planned(tmp_path, MONGO, "d, a, c", reset)) == ["d", "a", "c"]
    for reset in ("btrfs", "zfs", "lvm_thin"):
        assert workloads(planned(tmp_path, ROCKS, "ow, rr", reset)) == ["ow", "rr"]
    assert "fewest loads" not in explain(planned(tmp_path, MONGO, "a, c"))


def test_cells_of_one_data_set_come_together(tmp_path: Path) -> None:
    spec = MONGO.replace("ycsb.b { records = 5M", "ycsb.b { records = 7M")
    plan = planned(tmp_path, spec, "a, b, c")
    assert workloads(plan) == ["c", "a", "b"]
    assert len(loading(plan)) == 2


@pytest.mark.parametrize(
    ("database", "read", "write", "client"),
    [
        ('rocksdb  path = "/d"', "db_bench.readrandom", "db_bench.overwrite", ""),
        ('rocksdb  path = "/d"  tool = openload', "ycsb.c", "ycsb.a", ""),
        ('raw_storage  path = "/d"  size = 1 GiB', "fio.randread", "fio.randwrite", ""),
        *(
            (
                'mongodb  server = start  path = "/d"',
                "ycsb.c",
                "ycsb.a",
                f"client load {{ hosts = local  tool = {tool} }}",
            )
            for tool in ("ycsb", "go_ycsb", "openload")
        ),
    ],
    ids=["db_bench", "openload on RocksDB", "fio", "ycsb", "go_ycsb", "openload"],
)
def test_with_every_tool_readers_find_the_snapshot_as_readers_left_it(
    tmp_path: Path, database: str, read: str, write: str, client: str
) -> None:
    path = tmp_path / "spec.bench"
    path.write_text(
        f"hardware box {{ hosts = local }}\n{client}\ndatabase db {{ engine = {database}  reset = snapshot }}\n"
        f"workload r from {read}\nworkload w from {write}\n"
        "experiment e { hardware = box  workloads = [r, w]  threads = [1, 2]  measure = 1 min }"
    )
    steps = [(cell.workload, step.reset) for cell in compile_spec(path).cells for step in cell.steps]
    assert [each for each in steps if each[1]] == [("r", "load"), ("w", "copy")]


def test_a_random_order_stays_random(tmp_path: Path) -> None:
    spec = MONGO.replace("measure = 20 min", "measure = 20 min  repeats = 3, random(seed: 3)")
    assert [cell.id for cell in planned(tmp_path, spec, "d, c").cells] == [
        cell.id for cell in planned(tmp_path, spec, "d, c", "drop_and_load").cells
    ]


def test_inserts_are_undone_in_about_the_time_that_they_took(tmp_path: Path) -> None:
    plan = planned(tmp_path, MONGO, "c, d", "undo")
    assert resets(plan.cells) == {"load": (1, 1001.0), "undo": (1, 60.0)}  # 5 % of 20 min
    assert loading(plan) == ["c"]


def test_the_resets_of_a_plan_are_counted_with_their_time(tmp_path: Path) -> None:
    assert resets(planned(tmp_path, MONGO, "a, d", "as_needed").cells) == {"load": (2, 2 * 1001.0)}
    copies = resets(planned(tmp_path, ROCKS, "rr, ow", "snapshot").cells)
    assert copies["load"][0] == 1
    assert copies["copy"] == (1, 1.0)
    assert resets(planned(tmp_path, ROCKS, "rr, ow", "links").cells) == {"load": copies["load"], "links": (1, 0.5)}


@pytest.mark.parametrize("repeats", [3, 900])
def test_a_costly_reset_is_warned_of_with_any_number_of_cells(tmp_path: Path, repeats: int) -> None:
    path = tmp_path / "spec.bench"
    spec = MONGO.replace("RESET", "reset = drop_and_load").replace("WORKLOADS", "a, c")
    path.write_text(spec.replace("measure = 20 min", f"measure = 1 min  repeats = {repeats}"), encoding="utf-8")
    (found,) = [each for each in check(path).diagnostics if each.code == "W0213"]
    assert f"{4 * repeats:,} cells" in found.label


@pytest.mark.parametrize(("reset", "name"), [("snapshot", "copy"), ("links", "links")])
def test_a_snapshot_is_brought_back_only_after_a_cell_that_writes(tmp_path: Path, reset: str, name: str) -> None:
    cells = planned(tmp_path, ROCKS, "rr, rs", reset).cells
    assert [step.reset for cell in cells for step in cell.steps if step.kind == "load"] == ["load", "", "", ""]
    cells = planned(tmp_path, ROCKS, "ow, rr", reset).cells
    found = [(cell.workload, step.reset) for cell in cells for step in cell.steps if step.kind == "load"]
    assert found == [("rr", "load"), ("rr", ""), ("ow", ""), ("ow", name)]
