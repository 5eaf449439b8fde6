"""Tests SQL over runs of a shared store that vary different factors, or none."""

from pathlib import Path

import pyarrow as pa
import pytest

from benchbrief.history.shared_store.push_and_pull import Push, push_run
from benchbrief.history.shared_store.shared_query import open_results, with_factors_of
from benchbrief.history.shared_store.shared_store import SharedStore, open_store
from benchbrief.model.plan import DimKey, SpecRef
from tests.results.making import READ, RunMaker, a_cell, a_factor, a_plan, at_levels, measurement, with_factors

ASKED = "SELECT run, {} FROM measure.throughput WHERE operation = 'all' ORDER BY ALL"


@pytest.fixture
def store(tmp_path: Path) -> SharedStore:
    return open_store(str(tmp_path / "shared"))


def push(store: SharedStore, out: Path, name: str, spec: str, **keys: DimKey) -> None:
    """Push a run of one cell at these levels of factors. If no levels are given, the plan has no factors."""
    cell = at_levels(keys) if keys else a_cell()
    factors = (a_factor(each, key, unit="kB" if isinstance(key, float) else None) for each, key in keys.items())
    plan = with_factors(a_plan([cell]), *factors)
    run = RunMaker(out / name, plan.model_copy(update={"spec": SpecRef(name=spec, files={spec: "0" * 64})}))
    run.ok(cell, {"load-1": measurement([READ])})
    run.end("done")
    push_run(run.run_dir, store, Push())


def test_the_views_have_the_factors_of_the_runs(store: SharedStore, tmp_path: Path) -> None:
    push(store, tmp_path, "run-1", "old.bench")
    push(store, tmp_path, "run-2", "codec.bench", codec="lz4", vsize=100.0)
    push(store, tmp_path, "run-3", "ack.bench", ack="majority")
    with open_results(store) as results:
        assert results.sql(ASKED.format("codec, vsize, ack")).rows == (
            ("run-1", None, None, None),
            ("run-2", "lz4", 100.0, None),
            ("run-3", None, None, "majority"),
        )
        columns = [name for name, *_ in results.sql("DESCRIBE measure.latency")]
        assert columns[:4] == ["run", "experiment", "hardware", "workload"]
        assert set(columns[4:7]) == {"codec", "vsize", "ack"}
        levels = results.sql("SELECT factor, level, unit FROM factors ORDER BY ALL").rows
        assert levels == (("ack", "majority", None), ("codec", "lz4", None), ("vsize", "100", "B"))
        assert not results.cautions


@pytest.mark.long
def test_a_run_whose_levels_are_of_another_kind_is_left_out_and_named(store: SharedStore, tmp_path: Path) -> None:
    for number in (1, 2):
        push(store, tmp_path, f"run-{number}", f"{number}.bench", size=100.0)
    push(store, tmp_path, "run-3", "3.bench", size="large")
    with open_results(store) as results:
        assert results.sql(ASKED.format("size")).rows == (("run-1", 100.0), ("run-2", 100.0))
        (caution,) = results.cautions
        assert "run run-3 is left out of measure.throughput" in caution
        assert "'size'" in caution


def test_a_column_that_no_factor_can_have_is_not_offered() -> None:
    known = pa.schema([("workload", pa.string()), ("value", pa.float64())])
    hostile = pa.schema(
        [('x"; DROP VIEW y; --', pa.string()), ("nested", pa.list_(pa.string())), ("codec", pa.string())]
    )
    offered = with_factors_of(known, [pa.schema([*known, *hostile])])
    assert offered is not None
    assert offered.names == ["run", "workload", "codec", "value"]
