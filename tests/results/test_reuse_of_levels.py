"""Tests that earlier results can replace cells whose factors have the same values, whatever the levels are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchbrief.model.measurement import Operation
from benchbrief.model.plan import Cell, Plan
from benchbrief.results.runs.reusable_results import find_reusable
from tests.results.making import RunMaker, measurement
from tests.support.plans import compile_text

FACTORS = """
factor codec "Compression" { none "No compression" = "none"  lz4 "LZ4" = "lz4" }
factor vsize "Value size" { levels = [100 B, 1 kB] }
"""
REST = """
hardware box { hosts = "box.lab" }
database rocks { engine = rocksdb  path = "/data/{codec}-{vsize}"  options { compression = codec  cache = 8 MiB } }
workload rr from db_bench.readrandom { records = 10k  value_size = vsize }
workload rw from db_bench.readrandomwriterandom { records = 10k  value_size = vsize }
experiment matrix {
  hardware = box  workloads = [rr, rw]  threads = [1, 2]  vary = [codec, vsize]  measure = 10 s
  repeats = 2
}
"""
SPEC = FACTORS + REST


def measured(out: Path, plan: Plan, left_out: tuple[Cell, ...] = ()) -> None:
    run = RunMaker(out / "20260301-101500-matrix", plan)
    for cell in plan.cells:
        if cell not in left_out:
            run.ok(cell, {host: measurement([Operation("read", 100)]) for host in cell.load_hosts or ("box.lab",)})
    run.end("done")


def to_measure(tmp_path: Path, before: str, after: str) -> list[str]:
    """Return the cells of a spec that are measured after a run of another spec."""
    measured(tmp_path / "out", compile_text(before, tmp_path))
    return [cell.id for cell in find_reusable(compile_text(after, tmp_path), tmp_path / "out").measured]


def renamed(spec: str) -> str:
    for old, new in (
        ('none "No compression" =', 'plain "Off" ='),
        ('lz4 "LZ4" =', 'fast "A fast one" ='),
        ('factor vsize "Value size" { levels = [100 B, 1 kB] }',
         'factor bytes "Size of values" { small "Small" = 100 B  large "Large" = 1000 B }'),
        ("vsize", "bytes"),
        ('codec "Compression"', 'packing "How values are packed"'),
        ("{codec}", "{packing}"),
        ("= codec", "= packing"),
        ("[codec,", "[packing,"),
    ):  # fmt: skip
        assert old in spec
        spec = spec.replace(old, new)
    return spec


@pytest.mark.parametrize("order", ["", ", interleaved"])
def test_renamed_and_relabelled_levels_and_factors_measure_nothing_again(tmp_path: Path, order: str) -> None:
    spec = SPEC.replace("repeats = 2", f"repeats = 2{order}")
    assert to_measure(tmp_path, spec, renamed(spec)) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('none "No compression" = "none"  lz4 "LZ4" = "lz4"', 'lz4 "LZ4" = "lz4"  none "No compression" = "none"'),
        ("levels = [100 B, 1 kB]", "levels = [1 kB, 100 B]"),
        ("vary = [codec, vsize]", "vary = [vsize, codec]"),
        ("vary = [codec, vsize]", "vary = [codec[lz4], vsize]"),
        ("vary = [codec, vsize]", "vary = [codec, vsize]  when = codec == lz4 or vsize == 1 kB"),
    ],
)
def test_reordered_and_fewer_levels_measure_nothing_again(tmp_path: Path, old: str, new: str) -> None:
    assert old in SPEC
    assert to_measure(tmp_path, SPEC, SPEC.replace(old, new)) == []


def test_a_further_level_measures_its_own_cells_alone(tmp_path: Path) -> None:
    left = to_measure(tmp_path, SPEC, SPEC.replace('lz4 "LZ4" = "lz4"', 'lz4 "LZ4" = "lz4"  zstd "Z" = "zstd"'))
    assert len(left) == 16
    assert all("codec=zstd" in cell for cell in left)


def test_another_value_under_the_same_name_is_measured(tmp_path: Path) -> None:
    left = to_measure(tmp_path, SPEC, SPEC.replace('lz4 "LZ4" = "lz4"', 'lz4 "LZ4" = "zstd"'))
    assert len(left) == 16
    assert all("codec=lz4" in cell for cell in left)


def test_variants_of_an_earlier_run_may_become_levels(tmp_path: Path) -> None:
    before = """
hardware box {
  hosts = "box.lab"
  variant none "No compression" { path = "/data/none"  codec = "none" }
  variant lz4 "LZ4" { path = "/data/lz4"  codec = "lz4" }
}
database rocks { engine = rocksdb  path = "{path}"  options { compression = "{codec}" } }
workload rr from db_bench.readrandom { records = 10k }
experiment matrix { hardware = box.variants  workloads = rr  threads = [1, 2]  measure = 10 s  repeats = 2 }
"""
    after = """
hardware box { hosts = "box.lab" }
factor codec "Compression" { none "No compression" = "none"  lz4 "LZ4" = "lz4" }
database rocks { engine = rocksdb  path = "/data/{codec}"  options { compression = codec } }
workload rr from db_bench.readrandom { records = 10k }
experiment matrix { hardware = box  workloads = rr  threads = [1, 2]  vary = codec  measure = 10 s  repeats = 2 }
"""
    assert to_measure(tmp_path, before, after) == []


def test_a_point_lost_at_one_level_leaves_the_others_as_they_are(tmp_path: Path) -> None:
    plan = compile_text(SPEC, tmp_path)
    lost = next(cell for cell in plan.cells if "codec=lz4,vsize=1000" in cell.id)
    measured(tmp_path / "out", plan, (lost,))
    left = find_reusable(plan, tmp_path / "out").measured
    assert {cell.levels for cell in left} == {lost.levels}
    assert len(left) == 2, "the repeats of a point are taken together"
