"""Tests that an engine with its data in a directory can use another package's snapshots like ours."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchbrief.compiler import registry
from benchbrief.compiler.registry import SNAPSHOT_SPECS, snapshot_names
from benchbrief.extending.conformance import try_extension
from benchbrief.extending.installed_code import code_problem
from benchbrief.extending.snapshot_trials import Unmade, try_promises
from benchbrief.extensions.engines.rocksdb.rocksdb import RocksDB
from benchbrief.extensions.engines.rocksdb.tests.test_linked_snapshots import RECORDS, db_bench, hashes, overwritten
from benchbrief.model.extension_spec import SnapshotSpec
from benchbrief.runners.engines.file_system_snapshots import FUNCTIONS, FileSystemSnapshots
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.hosts.host_connections import HostPool
from tests.extensions.test_kit import NAME, not_held, site, write
from tests.support import cells
from tests.support.plans import compile_text
from tests.support.tools import system_tool

__all__ = ["site"]

SPEC = """
hardware here { hosts = local }
database rocks { engine = rocksdb  path = "/var/tmp/db"  reset = my_own }
workload ow from db_bench.overwrite { records = 5k }
experiment e { hardware = here  workloads = ow  threads = [1, 2]  measure = 1 s }
"""


@pytest.mark.parametrize("name", SNAPSHOT_SPECS.own)
def test_each_of_our_own_is_right_and_has_its_functions(name: str) -> None:
    spec = SNAPSHOT_SPECS.own[name]
    assert spec.mistake(name, own=True) == ""
    assert code_problem(spec) == ""
    assert name in snapshot_names()
    assert set(spec.described) == {"en", "ja"}
    assert "free" in FileSystemSnapshots(name).free


@pytest.mark.long
def test_one_of_another_package_brings_the_same_bytes_back(site: Path, tmp_path: Path) -> None:
    system_tool("db_bench")
    write("snapshot", site)
    assert not_held(try_extension(NAME)) == []
    path = tmp_path / "there" / "db"
    context = cells.context(
        cells.db_bench("overwrite", RECORDS), cells.rocksdb(path).model_copy(update={"reset": NAME})
    )
    engine = RocksDB(context.plan, context.database, context.hardware, HostPool(context.plan))
    engine.check_place()
    engine.start()
    engine.reset(context.cell)
    db_bench(path, "fillseq,flush")
    engine.loaded(context.cell, RECORDS)
    before = hashes(path)
    engine.begin(context.cell)
    overwritten(path)
    assert hashes(path) != before
    assert engine.holds(context.cell)
    assert "My Own snapshot" in str(engine.restore(context.cell))
    assert hashes(path) == before


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("mend && sync", ": && sync", "not those of its snapshot"),
        ("forget() { drop", "forget() { rm -rf --", "takes another's snapshot for its own"),
    ],
)
def test_snapshots_that_break_a_promise_are_found_out(
    site: Path, tmp_path: Path, right: str, wrong: str, said: str
) -> None:
    script = write("snapshot", site) / "bench_my_own" / "snapshots.sh"
    assert right in script.read_text()
    script.write_text(script.read_text().replace(right, wrong))
    registry.look_again()
    assert re.search(said, try_promises(NAME, tmp_path))


@pytest.mark.parametrize("name", SNAPSHOT_SPECS.own)
def test_each_of_our_own_keeps_its_promises_where_its_file_system_can_be_made(name: str, tmp_path: Path) -> None:
    try:
        assert try_promises(name, tmp_path) == ""
    except Unmade as why:
        pytest.skip(f"no {name} can be made here: {why}")


def test_a_spec_uses_it_and_a_plan_records_its_package(site: Path, tmp_path: Path) -> None:
    write("snapshot", site)
    plan = compile_text(SPEC, tmp_path)
    (package,) = plan.extensions.values()
    assert plan.extensions.keys() == {f"snapshot {NAME}"}
    assert package.startswith("bench-my-own 0.1.0+")
    assert NAME in {step.reset for cell in plan.cells for step in cell.steps}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_script_without_a_function_is_named_with_it(site: Path, name: str) -> None:
    script = write("snapshot", site) / "bench_my_own" / "snapshots.sh"
    script.write_text(script.read_text().replace(f"\n{name}()", f"\nno_{name}()"))
    registry.look_again()
    spec = SNAPSHOT_SPECS.find(NAME)
    assert isinstance(spec, SnapshotSpec)
    assert code_problem(spec).endswith(f"lacks in its snapshots.sh {name}")
    with pytest.raises(RunnerError, match=f"lacks the function {name}"):
        FileSystemSnapshots(NAME)


def test_one_that_is_not_installed_is_said_to_lack() -> None:
    with pytest.raises(RunnerError, match="there is no snapshot named `no_such`"):
        FileSystemSnapshots("no_such")
