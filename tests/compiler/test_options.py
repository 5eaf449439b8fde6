"""Options of a database may be a fact of the hardware, so that variants can differ in them."""

from __future__ import annotations

from pathlib import Path

from benchbrief.compiler.compile import check

SPEC = """
hardware box {{
  hosts = local  path = "/var/tmp/x"
  variant small {{ cache = 8 MiB }}
  variant large {{ cache = {large} }}
}}
database rocks {{ engine = rocksdb  path = "{{path}}"  options {{ cache = "{{{fact}}}"  compression = "none" }} }}
workload rr from db_bench.readrandom
experiment one {{ hardware = box.variants  workloads = [rr]  threads = [1]  measure = 1 s }}
"""


def write(tmp_path: Path, large: str = "1 GiB", fact: str = "cache") -> Path:
    path = tmp_path / "options.bench"
    path.write_text(SPEC.format(large=large, fact=fact))
    return path


def test_an_option_is_filled_in_by_each_variant_and_changes_its_cells(tmp_path: Path) -> None:
    plan = check(write(tmp_path)).plan
    assert plan is not None
    assert {key: each.options["cache"] for key, each in plan.databases.items()} == {
        "rocks@small": 8 * 2**20,
        "rocks@large": 2**30,
    }
    assert len({cell.hash for cell in plan.cells}) == 2


def test_a_fact_of_another_unit_is_refused_where_it_is_declared(tmp_path: Path) -> None:
    checked = check(write(tmp_path, large="1 GHz"))
    assert checked.plan is None
    assert [each.span.text for each in checked.diagnostics if each.span] == ["1 GHz"]


def test_an_undeclared_fact_is_refused(tmp_path: Path) -> None:
    checked = check(write(tmp_path, fact="nix"))
    assert checked.plan is None
    assert {each.code for each in checked.diagnostics} == {"E0512"}
