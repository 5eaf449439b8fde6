"""Tests that a tool without records fills the declared size of its database. Also tests that an attribute may be
required by one engine and optional for others."""

from __future__ import annotations

from pathlib import Path

from benchbrief.compiler.schemas import joined_keys
from benchbrief.model.plan import Cell
from benchbrief.model.value_shapes import Flag, Key
from tests.support.plans import compile_spec

SPEC = """\
hardware box { hosts = local }
database disk { engine = raw_storage  path = "/data/raw"  size = SIZE }
workload rr from fio.randread
experiment ramp { hardware = box  workloads = [rr]  threads = [1]  measure = 10 s }
"""


def cell_of(size: str, folder: Path) -> Cell:
    path = folder / "spec.bench"
    path.write_text(SPEC.replace("SIZE", size))
    (cell,) = compile_spec(path).cells
    return cell


def test_another_size_is_another_measurement_of_other_data(tmp_path: Path) -> None:
    small, large = (cell_of(size, tmp_path) for size in ("1 GiB", "20 GiB"))
    assert small.dataset
    assert large.dataset
    assert small.dataset.hash != large.dataset.hash
    assert small.hash != large.hash
    seconds = [next(step.seconds for step in cell.steps if step.kind == "load") for cell in (small, large)]
    assert seconds[1] > 10 * seconds[0]


def test_what_one_engine_requires_is_not_required_of_others() -> None:
    tables = {"a": {"size": Key(Flag(), "Of a.", required=True)}, "b": {"size": Key(Flag(), "Of b.")}, "c": {}}
    assert joined_keys(tables, "a")["size"].required
    for of in ("", "b", "c"):
        assert not joined_keys(tables, of)["size"].required
    assert joined_keys(tables)["size"].doc == "For a: Of a. For b: Of b."
