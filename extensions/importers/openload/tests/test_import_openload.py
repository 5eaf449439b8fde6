"""Tests `bench import openload`: real outputs are read as the driver reads them, and outputs that openload itself
refused stay refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from benchbrief.model.plan import Plan
from benchbrief.results.imports.cell_matching import Where
from benchbrief.results.imports.imported_files import ImportRefused
from benchbrief.results.imports.importer_seams import read_output
from benchbrief.results.imports.keep_import import keep_run
from benchbrief.results.imports.prepare_outputs import prepare_outputs
from benchbrief.results.open_store import open_store
from tests.support.imported import SOURCE
from tests.support.openload import JUDGED_GENTLY, openload
from tests.support.plans import compile_text
from tests.support.recorded import RECORDED_OUTPUTS
from tests.support.tools import built_tool

OUTPUTS = RECORDED_OUTPUTS / "openload"
SPEC = """
hardware box { hosts = "box.lab" }
client load { hosts = "load.lab"  tool = openload }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload a from ycsb.a { records = 1k  distribution = zipfian }
workload c from ycsb.c { records = 1k }
workload b from ycsb.a { records = 2k }
experiment random { hardware = box  workloads = [a, b, c]  threads = 16  measure = 5 s
  target = [400 ops/s, 500 ops/s] }
experiment even { hardware = box  workloads = a  threads = 16  measure = 5 s
  target = 400 ops/s  arrivals = constant }
experiment alone  { hardware = box  workloads = a  threads = [8, 16]  measure = 5 s }
experiment stairs { hardware = box  workloads = a  threads = 8
  warm_up = 1 s  arrivals = steps(100 ops/s, 300 ops/s, 600 ops/s, lasting: 2 s) }
experiment bursts { hardware = box  workloads = a  threads = 8  target = 100 ops/s  measure = 6 s
  arrivals = burst(600 ops/s, every: 3 s, lasting: 1 s) }
experiment ends { hardware = box  workloads = a  threads = 8  target = 100 ops/s
  measure = until_steady(within: 50 %, from: 50 s, to: 2 min) }
experiment closer { hardware = box  workloads = a  threads = 8  target = 100 ops/s
  measure = until_steady(within: 10 %, from: 50 s, to: 2 min) }
metric median = latency.p50[read, random, workload: a, target: 400 ops/s]
"""


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return compile_text(SPEC, tmp_path_factory.mktemp("spec"))


def files(name: str) -> dict[str, Path]:
    return {"stdout": OUTPUTS / name / "record.json", "histograms.hlog": OUTPUTS / name / "histograms.hlog"}


def where(experiment: str = "random", **cell: object) -> Where:
    said = {"workload": "a", **cell}
    return Where(experiment=experiment, cell=",".join(f"{name}={value}" for name, value in said.items()))


def refused(plan: Plan, path: Path, its: Where) -> str:
    with pytest.raises(ImportRefused) as caught:
        prepare_outputs("openload", [path], plan, SOURCE, its)
    return str(caught.value) + " ".join(str(each) + each.hint for each in caught.value.problems)


def test_a_record_is_read_with_both_kinds_of_latency_and_what_openload_saw_of_itself() -> None:
    shown = json.loads((OUTPUTS / "poisson" / "record.json").read_text())
    measured = read_output("openload", files("poisson"), "a")
    assert measured.total.count == round(shown["throughput_per_s"] * shown["window_s"])
    assert (measured.due, measured.dropped) == (shown["offered"], 0)
    for each in measured.operations:
        its = shown["operations"][each.operation][f"{each.kind}_us"]
        assert each.count == its["count"]
        assert each.histogram is not None
        assert each.histogram.count == its["count"]
        assert each.mean_s == pytest.approx(its["mean"] / 1e6)
    assert {each.kind for each in measured.operations} == {"intended", "service"}
    own = {each.measure: each.value for each in measured.samples}
    assert own["openload.lag"] == pytest.approx(shown["self"]["lag_us"]["p99"] / 1e6)
    assert own["openload.queue"] == shown["longest_queue"]
    disclosed = dict(measured.properties)
    assert "Poisson" in disclosed["arrivals"]
    assert (disclosed["seed"], disclosed["warm-up"]) == ("1", "2")
    assert "window" not in disclosed, "it reports its warm-up separately"
    assert measured.window[0] == pytest.approx(shown["started_at"] + 2)


@pytest.mark.long
def test_steps_are_phases_and_an_end_by_itself_is_kept() -> None:
    stairs = read_output("openload", files("steps"), "a")
    assert [each.phase for each in stairs.throughput] == [None, 1, 2, 3]
    assert "3 steps from 100 to 600 ops/s" in dict(stairs.properties)["arrivals"]
    ended = read_output("openload", files("steady"), "c")
    assert ended.steady is not None
    assert (ended.steady.steady, ended.steady.cut_s) == (True, 25)
    assert {each.kind for each in read_output("openload", files("closed"), "a").operations} == {"service"}


def test_its_numbers_go_to_the_store_with_the_log_beside_the_record(plan: Plan, tmp_path: Path) -> None:
    what = prepare_outputs("openload", [files("poisson")["stdout"]], plan, SOURCE, where(target=400))
    with open_store(keep_run(tmp_path / "bench-out", plan, {}, what)) as store:
        (metric,) = plan.metrics
        (value,) = [row.value for row in store.query(metric.query) if row.value is not None]
        assert value == pytest.approx(9437.183e-6, rel=0.001)
        kinds = store.sql("SELECT DISTINCT kind FROM operations ORDER BY ALL").rows
        assert kinds == (("intended",), ("service",))
        due = json.loads((OUTPUTS / "poisson" / "record.json").read_text())["offered"]
        assert store.sql("SELECT due FROM cells WHERE status = 'ok'").rows == ((due,),)


@pytest.mark.parametrize(
    ("name", "its", "said"),
    [
        ("poisson", where(target=500), "it was run with --rate=400, and cell"),
        ("poisson", where(workload="b", target=400), "--record-count=1000, and workload b has records = 2000"),
        ("poisson", where(workload="c", target=400), "--read=0.5, and workload c has read = 1"),
        ("poisson", where("even"), "arrivals whose kind is poisson, and cell"),
        ("poisson", where("alone", threads=16), "it was run with --arrivals=poisson, and cell"),
        ("poisson", where("alone", threads=8), "it was run with --workers=16, and cell"),
        ("steps", where("bursts"), "arrivals whose kind is steps, and cell"),
        ("steady", where("random", target=400), "it was run until it is steady within 0.5, and cell"),
        ("steady", where("closer"), "steady within 0.5 from 50 s on, and cell"),
        ("refused", where(target=400), "openload refuses its own numbers (lag, hiccups): p99: operations were started"),
        ("gaveup", where(target=400), "it did not end by itself (`gave-up`)"),
        ("interrupted", where(target=400), "it did not end by itself (`interrupted`)"),
        ("load", where(target=400), "the record of a load"),
    ],
)
def test_a_record_of_another_cell_or_that_is_no_measurement_is_refused(
    name: str, its: Where, said: str, plan: Plan
) -> None:
    assert said in refused(plan, files(name)["stdout"], its)


@pytest.mark.parametrize(("name", "experiment"), [("steps", "stairs"), ("steady", "ends")])
def test_a_record_of_its_own_cell_is_taken(name: str, experiment: str, plan: Plan) -> None:
    (kept,) = prepare_outputs("openload", [files(name)["stdout"]], plan, SOURCE, where(experiment)).cells
    assert kept.cell.experiment == experiment
    assert set(kept.jobs[0].files) == {"stdout", "histograms.hlog"}


def test_steps_are_held_to_their_rates(tmp_path: Path) -> None:
    other = compile_text(SPEC.replace("300 ops/s", "350 ops/s"), tmp_path)
    assert "arrivals whose step 2 of ops/s is 300, and cell" in refused(
        other, files("steps")["stdout"], where("stairs")
    )


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("alone", "histograms.hlog, is not beside it"),
        ("cut", "record.json is not whole"),
        ("twice", "not one record of openload"),
        ("lines", "give the record.json in the folder of its --output"),
        ("changed", "it contradicts itself"),
        ("cut log", "it contradicts itself"),
        ("another tool", "it looks like one of `bench import ycsb`"),
    ],
)
def test_an_incomplete_output_is_refused(what: str, said: str, plan: Plan, tmp_path: Path) -> None:
    for path in files("poisson").values():
        shutil.copy(path, tmp_path)
    record, log = tmp_path / "record.json", tmp_path / "histograms.hlog"
    text = record.read_text()
    match what:
        case "alone":
            log.unlink()
        case "cut":
            record.write_text(text[:2000])
        case "twice":
            record.write_text(text + text)
        case "lines":
            shutil.copy(OUTPUTS / "poisson" / "stdout", record)
        case "changed":
            record.write_text(text.replace('"p99":217055.231', '"p99":117055.231', 1))
        case "cut log":
            log.write_text("\n".join(log.read_text().splitlines()[:-2]) + "\n")
        case "another tool":
            shutil.copy(RECORDED_OUTPUTS / "ycsb" / "offered-load" / "stdout", record)
    assert said in refused(plan, record, where(target=400))


def test_the_present_output_of_openload_is_read(tmp_path: Path) -> None:
    built_tool("openload/bin/openload-mongodb")
    run = "--target null --record-count 1000 --read 1 --workers 2 --arrivals constant --rate 200 --duration 1"
    ended = openload(f"run {run} {JUDGED_GENTLY} --output {tmp_path}")
    assert ended.code == 0, ended.errors
    measured = read_output(
        "openload", {"stdout": tmp_path / "record.json", "histograms.hlog": tmp_path / "histograms.hlog"}, "c"
    )
    assert measured.due == 200
    assert measured.total.count == pytest.approx(200, abs=2)
