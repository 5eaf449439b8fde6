"""Tests whole plans that the executor runs on simulated hosts: the results, and that nothing real is contacted."""

from __future__ import annotations

import hashlib
import json
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from benchbrief.compiler.measure_catalogue import KINDS
from benchbrief.compiler.registry import ENGINE_SPECS, PROBE_SPECS
from benchbrief.model import events as j
from benchbrief.model.extension_spec import ProbeMeasure, ProbeSpec
from benchbrief.results.build_store import DATABASE, rebuild
from benchbrief.results.ingest.run_evidence import read_evidence
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.execution.executor import execute
from benchbrief.runners.execution.run_state import Outcome
from benchbrief.runners.journal.journal_file import JOURNAL, read_run
from benchbrief.runners.journal.run_folder import SIMULATION, create_run
from benchbrief.runners.world.load_model import Machine
from benchbrief.runners.world.simulated_hosts import Sampler, make_samples, measures_of
from tests.support.plans import compile_spec

SPEC = """
hardware old { hosts = "old-[1-2].lab"  power = ipmi("old-[1-2]-bmc.lab", user: env("U"), password: secret("P")) }
hardware new {
  hosts = "new-[1-4].lab"  cores = 32
  power = redfish("https://new-[1-4]-bmc.lab", user: env("U"), password: secret("P"))
}
client load { hosts = "load-[1-2].lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://bench:{secret(PASSWORD)}@{hosts}/ycsb" }
workload a from ycsb.a { records = 10M }
workload f from ycsb.f { records = 10M }
experiment ramp {
  hardware = [old, new]  workloads = [a, f]  threads = [8, 512]  warm_up = 5 min  measure = 30 min  repeats = 3
  probes   = [power every 1 s, disk every 1 s, cpu every 1 s, memory every 1 s, network every 1 s]
}
experiment cold { hardware = old  workloads = a  threads = 64  phases = 4 x 1 min }
experiment offered { hardware = old  workloads = a  threads = 64  target = [10k ops/s, 10M ops/s]  phases = 2 x 1 min }
experiment find { hardware = new  workloads = a  threads = knee(from: 8, factor: 4, to: 32768)  measure = 1 min }
experiment hold { hardware = new  workloads = load(f)  threads = find.knee  measure = 1 min }
"""


def simulated(folder: Path, text: str = SPEC, **options: Any) -> tuple[Path, Outcome]:
    """Simulate a run of the spec in `folder`."""
    folder.mkdir(exist_ok=True)
    (folder / "a.bench").write_text(text)
    plan = compile_spec(folder / "a.bench")
    run_dir = create_run(folder / "out", plan, {}, simulated=j.Simulated.model_validate(options))
    return run_dir, execute(plan, "", run_dir)


def test_the_record_that_a_run_extends_is_what_its_journal_says(tmp_path: Path) -> None:
    (tmp_path / "a.bench").write_text(SPEC)
    plan = compile_spec(tmp_path / "a.bench")
    run_dir = create_run(tmp_path / "out", plan, {}, simulated=j.Simulated())
    record = read_run(run_dir)
    execute(plan, "", run_dir, before=record)
    assert record.end is not None
    assert record == read_run(run_dir)
    assert read_evidence(run_dir, plan, record) == read_evidence(run_dir)


def rows(run_dir: Path, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(run_dir / "store" / DATABASE), read_only=True) as connection:
        return connection.execute(sql).fetchall()


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex", "bind", "sendto"):
            patch.setattr(socket.socket, name, _refused)
        patch.setattr(subprocess, "Popen", _refused)
        run_dir, outcome = simulated(tmp_path_factory.mktemp("simulated"))
    assert outcome.status == "done", outcome
    rebuild(run_dir)
    return run_dir


def _refused(*_: object, **__: object) -> None:
    raise AssertionError("a simulated run reached for the world")


def test_every_start_of_the_run_is_marked(run_dir: Path) -> None:
    assert run_dir.name.endswith("-simulated")
    assert [start.simulated for start in read_evidence(run_dir).starts] == [j.Simulated()]
    assert rows(run_dir, "SELECT simulated FROM runs") == [(True,)]


def test_a_host_that_is_simulated_for_long_is_sampled_less_often_without_a_gap(run_dir: Path) -> None:
    assert rows(run_dir, "SELECT min(share), max(longest_gap_s) FROM coverage") == [(1.0, 0.0)]
    assert rows(run_dir, "SELECT count(*) FROM notes WHERE text LIKE '%was sampled for%'") == [(0,)]
    assert rows(run_dir, "SELECT count(*) > 0, count(value) = count(*) FROM samples WHERE measure = 'energy'") == [
        (True, True)
    ]


def test_littles_law_holds_for_every_closed_loop(run_dir: Path) -> None:
    """By Little's law, the mean number of operations in the system is the throughput times the mean latency, over all
    load generators."""
    found = rows(
        run_dir,
        "SELECT c.cell_id, c.threads, sum(o.count * o.mean_s) / any_value(t.duration_s) FROM operations AS o "
        "JOIN cells AS c USING (cell_id) JOIN throughput AS t ON t.cell_id = c.cell_id AND t.operation = 'all' "
        "AND t.phase IS NOT DISTINCT FROM o.phase WHERE c.target IS NULL AND o.operation <> 'read_modify_write' "
        "GROUP BY c.cell_id, c.threads, o.phase",
    )
    assert len(found) > 30
    assert all(at_once == pytest.approx(threads, rel=1e-3) for _, threads, at_once in found), found


def test_a_load_above_what_the_hosts_can_do_saturates_and_falls_behind_its_schedule(run_dir: Path) -> None:
    most = rows(run_dir, "SELECT max(value) FROM measure.throughput WHERE experiment = 'ramp' AND hardware = 'old'")[0][
        0
    ]
    done = dict(
        rows(
            run_dir,
            "SELECT target, value FROM measure.throughput WHERE experiment = 'offered' "
            "AND phase IS NULL AND operation = 'all'",
        )
    )
    assert done[10_000] == pytest.approx(10_000, rel=1e-3)
    assert done[10_000_000] <= most
    intended = rows(
        run_dir,
        "SELECT target, kind, phase, value FROM measure.latency WHERE experiment = 'offered' AND statistic = 'p50' "
        "AND operation = 'read' AND repeat IS NULL AND phase IS NOT NULL",
    )
    by = {(target, kind, phase): value for target, kind, phase, value in intended}
    # At a load that can be borne, an operation seldom waits for its turn; at one that can't, the lag grows.
    assert by[10_000, "intended", 2] == pytest.approx(by[10_000, "service", 2], rel=0.2)
    assert by[10_000_000, "intended", 1] > 10
    assert by[10_000_000, "service", 1] < 1
    assert by[10_000_000, "intended", 2] == pytest.approx(3 * by[10_000_000, "intended", 1], rel=0.1)


def test_without_a_warm_up_the_first_phase_is_slower(run_dir: Path) -> None:
    found = rows(
        run_dir,
        "SELECT value FROM measure.throughput WHERE experiment = 'cold' AND operation = 'all' "
        "AND phase IS NOT NULL ORDER BY phase",
    )
    rates = [rate for (rate,) in found]
    assert rates == sorted(rates)
    assert rates[0] < 0.9 * rates[-1]
    assert rates[2] > 0.97 * rates[3]


def test_repeats_differ_a_little(run_dir: Path) -> None:
    spread = rows(run_dir, "SELECT cv FROM measure.spread WHERE experiment = 'ramp' AND operation = 'all'")
    assert all(0.0001 < cv < 0.08 for (cv,) in spread), spread


def test_the_search_finds_a_knee_that_the_other_experiment_takes(run_dir: Path) -> None:
    ((knee,),) = rows(run_dir, "SELECT knee FROM searches")
    assert knee is not None
    assert rows(run_dir, "SELECT threads, status FROM cells WHERE experiment = 'hold'") == [(int(knee), "ok")]


def test_every_node_is_sampled_and_power_rises_with_the_load(run_dir: Path) -> None:
    nodes = rows(run_dir, "SELECT DISTINCT node FROM samples WHERE measure = 'power' ORDER BY node")
    assert nodes == [(f"new-{i}.lab",) for i in range(1, 5)] + [(f"old-{i}.lab",) for i in range(1, 3)]
    power = dict(
        rows(
            run_dir,
            "SELECT threads, avg(value) FROM measure.sample WHERE measure = 'power' AND hardware = 'old' "
            "AND workload = 'a' GROUP BY threads",
        )
    )
    assert 150 < power[8] < 250 < power[512] < 455


def test_server_counters_are_those_of_the_measured_window(run_dir: Path) -> None:
    found = rows(
        run_dir,
        "SELECT c.delta, t.count, c.reason FROM counters AS c JOIN cells USING (cell_id) "
        "JOIN throughput AS t USING (cell_id) WHERE c.name = 'opcounters.query' AND workload = 'a' "
        "AND experiment = 'ramp' AND t.operation = 'read' AND t.phase IS NULL",
    )
    assert found
    # Readings are some time apart, and the counters are of one of two or four nodes.
    for delta, count, reason in found:
        assert count / 4 * 0.95 < delta < count / 2 * 1.15, (delta, count, reason)


def test_all_that_probes_may_be_asked_for_can_be_simulated() -> None:
    asked = {kind.sampled_as for kind in KINDS.values() if kind.probe} - {"energy"}  # it is made of the power
    probes = {kind.probe for kind in KINDS.values() if kind.probe}
    assert asked <= {name for probe in probes for library in (False, True) for name in measures_of(probe, library)}


def test_a_probe_of_ours_may_say_in_its_spec_what_is_simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    measures = {
        "tasks.running": ProbeMeasure("", "Tasks that run.", {"en": "Running tasks"}, simulated=3.0),
        "tasks.blocked": ProbeMeasure("", "Tasks that wait.", {"en": "Waiting tasks"}),
    }
    spec = ProbeSpec(3, "tasks", "The kernel's tasks.", "benchbrief.tasks:Tasks", measures=measures)
    monkeypatch.setitem(vars(PROBE_SPECS), "own", {**PROBE_SPECS.own, "tasks": spec})
    assert measures_of("tasks") == ("tasks.running",)
    sampler = Sampler("tasks", "db-1", 1.0, Machine(), seed=0)
    assert make_samples(sampler, 0.0, 2.0, []).values["tasks.running"] == pytest.approx((3.0, 3.0, 3.0), rel=0.1)


DATABASES = """
hardware db { hosts = "db-1.lab" }
hardware box { hosts = "box.lab" }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
database rocks { engine = rocksdb  path = "/data/bench" }
workload a from ycsb.a { records = 1M }
workload rr from db_bench.readrandom { records = 1M }
probe asked { kind = database  every = 1 s }
experiment m { hardware = db  database = mongo  workloads = a  threads = 8  measure = 1 min  probes = [asked] }
experiment r { hardware = box  database = rocks  workloads = rr  threads = 8  measure = 1 min  probes = [asked] }
"""


def test_a_simulated_server_and_a_simulated_library_tell_what_real_ones_tell(tmp_path: Path) -> None:
    run_dir, outcome = simulated(tmp_path, DATABASES)
    assert outcome.status == "done", outcome.message
    rebuild(run_dir)
    found = rows(run_dir, "SELECT experiment, measure, avg(value) FROM samples JOIN cells USING (cell_id) GROUP BY ALL")
    values = {(experiment, measure): value for experiment, measure, value in found}
    assert values["m", "database.queries"] == pytest.approx(values["m", "throughput"] / 2, rel=0.05)
    assert values["r", "database.cache_hit_ratio"] == pytest.approx(0.8, rel=0.05)
    assert ("r", "database.write_amplification") not in values, "nothing was written"
    assert not {("m", "database.user_read"), ("m", "database.stalled")} & values.keys()
    assert not {("r", "database.queries"), ("r", "database.memory")} & values.keys()


def _digests(run_dir: Path) -> Mapping[str, str]:
    return {
        str(path.relative_to(run_dir)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in run_dir.glob("raw/**/*")
        if path.is_file()
    }


SMALL = """
hardware db { hosts = "db-1.lab" }
hardware other { hosts = "other.lab" }
database rocks { engine = rocksdb  path = "/data/bench"  reset = reuse }
workload rr from db_bench.readrandom { records = 1M }
workload rww from db_bench.readwhilewriting { records = 1M }
experiment e {
  hardware = [db, other]  workloads = [rr, rww]  threads = [1, 2, 4, 8]  measure = 30 min  probes = [cpu every 1 s]
}
"""


def test_load_generators_run_together_also_after_one_ran_alone(tmp_path: Path) -> None:
    text = (
        SPEC[: SPEC.index("workload f")]
        + """
workload d from ycsb.d { records = 10M }
experiment both { hardware = new  workloads = a  threads = 8  measure = 1 min }
experiment alone { hardware = old  workloads = d  threads = 8  measure = 1 min }
experiment again { hardware = new  workloads = a  threads = 16  measure = 1 min }
"""
    )
    run_dir, _ = simulated(tmp_path, text)
    journal = (run_dir / JOURNAL).read_text("utf-8")
    assert journal.count('"cell_ended"') == 3
    assert '"together"' not in journal


def test_the_same_plan_leaves_the_same_bytes_and_another_seed_others(tmp_path: Path) -> None:
    first, again, other = (
        _digests(simulated(tmp_path / name, SMALL, seed=seed)[0]) for name, seed in (("a", 1), ("b", 1), ("c", 2))
    )
    assert first == again
    assert first.keys() == other.keys()
    assert sum(first[name] != other[name] for name in first if name.endswith("stdout")) > 16


def test_a_host_that_is_to_fail_fails_its_cells_and_no_others(tmp_path: Path) -> None:
    _, outcome = simulated(tmp_path, SMALL, failing=[{"pattern": "db-*"}])
    assert outcome.status == "failed"
    assert {cell.split("/")[1] for cell, _ in outcome.failed} == {"db"}
    assert len(outcome.failed) == 8
    assert "db-1.lab" in outcome.failed[0][1]
    assert "is simulated" in outcome.failed[0][1]


def test_a_share_of_errors_counts_as_errors(tmp_path: Path) -> None:
    text = SMALL.replace("measure = 30 min", "measure = 30 min  max_errors = 5 %")
    run_dir, outcome = simulated(tmp_path, text, errors=0.02)
    assert outcome.status == "done", outcome
    rebuild(run_dir)
    shares = rows(run_dir, "SELECT value FROM measure.errors WHERE phase IS NULL")
    assert all(share == pytest.approx(0.02, rel=0.01) for (share,) in shares)
    _, strict = simulated(tmp_path / "strict", SMALL, errors=0.02)
    assert strict.status == "failed"


TWO_CORES = """
hardware db { hosts = "db-1.lab"  cores = 2 }
client load { hosts = "load.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload a from ycsb.a { records = 10k }
experiment m { hardware = db  database = mongo  workloads = a  threads = 64  measure = 1 min  probes = disk every 1 s }
"""


@pytest.mark.parametrize("in_memory", [True, False])
def test_operations_take_as_long_and_need_a_disk_as_the_engine_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_memory: bool
) -> None:
    """If each operation takes 10 ms, two cores do at most 200 operations per second."""
    engine = replace(ENGINE_SPECS.own["mongodb"], simulated_s=0.01, in_memory=in_memory)
    monkeypatch.setitem(vars(ENGINE_SPECS), "own", {**ENGINE_SPECS.own, "mongodb": engine})
    run_dir, outcome = simulated(tmp_path, TWO_CORES)
    assert outcome.status == "done", outcome
    rebuild(run_dir)
    ((rate,),) = rows(run_dir, "SELECT value FROM measure.throughput WHERE phase IS NULL AND operation = 'all'")
    assert 100 < rate <= 205
    ((written,),) = rows(run_dir, "SELECT sum(value) FROM samples WHERE measure = 'disk.write'")
    assert (written == 0) is in_memory


def test_what_a_run_is_can_not_be_changed_later(tmp_path: Path) -> None:
    run_dir, _ = simulated(tmp_path, SMALL, failing=[{"pattern": "other*"}])
    plan = compile_spec(tmp_path / "a.bench")
    (run_dir / SIMULATION).unlink()
    with pytest.raises(RunnerError, match="simulated run"):
        execute(plan, "", run_dir)
    assert read_evidence(run_dir).simulated is not None


FLEET = """
import json, sys, time
from pathlib import Path
from benchmarks.fleet import spec
from benchbrief.compiler.compile import check
from benchbrief.runners.execution.executor import execute
from benchbrief.model.events import Simulated
from benchbrief.runners.journal.run_folder import create_run

folder = Path(sys.argv[1])
(folder / "fleet.bench").write_text(spec(100, threads=(1, 16, 256), workloads=("read", "mixed")))
plan = check(folder / "fleet.bench").plan
run_dir = create_run(folder / "out", plan, {}, simulated=Simulated())
began = time.process_time()
outcome = execute(plan, "", run_dir)
used = time.process_time() - began
# Not the maximum of getrusage, which a process has from the one that forked it.
peak = next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([outcome.status, len(plan.cells), used, peak]))
"""


@pytest.mark.long
def test_a_fleet_costs_the_controller_little(tmp_path: Path) -> None:
    """The fleet has 100 hosts and 600 cells. For 1,000 and 10,000 hosts, see `python -m benchmarks fleet`."""
    done = subprocess.run([sys.executable, "-c", FLEET, tmp_path], capture_output=True, text=True, check=True)
    status, cells, cpu_s, peak = json.loads(done.stdout)
    assert (status, cells) == ("done", 600)
    assert peak < 200e6
    # Some milliseconds; twice as much leaves room for a machine that does other things too.
    assert cpu_s / cells < 0.015
