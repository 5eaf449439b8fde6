"""Tests runs with factors: each level has its own searches, points, repeats, data sets and servers."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchbrief.extensions.engines.mongodb.mongodb import MongoDB
from benchbrief.model import events as j
from benchbrief.model.plan import Cell, DatabaseKey, Hardware, Plan
from benchbrief.model.run_record import NOWHERE, RunRecord
from benchbrief.runners.execution.executor import execute
from benchbrief.runners.hosts.host_connections import HostPool
from benchbrief.runners.journal.journal_file import JOURNAL, read_journal
from benchbrief.runners.journal.run_folder import create_run
from benchbrief.runners.scheduling.budgeted_repeats import Budgets
from benchbrief.runners.scheduling.confident_repeats import RepeatsUntil
from benchbrief.runners.scheduling.point_choice import AdaptiveRamps
from tests.support.plans import compile_text

HEAD = """
hardware box { hosts = "box.lab" }
factor codec "Compression" { none = "none"  lz4 = "lz4"  zstd = "zstd" }
database rocks { engine = rocksdb  path = "/b/{codec}"  options { compression = codec } }
workload rr from db_bench.readrandom
"""
Rates = Mapping[str, tuple[float, ...]]
CLOSE, FAR = (100.0, 101.0, 99.0, 100.0, 100.5, 99.5), (100.0, 140.0, 60.0, 100.0, 120.0, 80.0)


def plan_of(tmp_path: Path, experiment: str, head: str = HEAD) -> Plan:
    text = f"experiment e {{ hardware = box  workloads = rr  vary = codec  measure = 10 s  {experiment} }}"
    return compile_text(head + text, tmp_path)


def simulated(folder: Path, plan: Plan) -> list[j.AnyRecord]:
    run_dir = create_run(folder, plan, {}, simulated=j.Simulated())
    assert execute(plan, "", run_dir).status == "done"
    return read_journal(run_dir / JOURNAL)


class Run:
    """A run in memory. `rates` has the rate per thread of each codec's repeats. Beyond `most` threads, a codec gets no
    faster."""

    def __init__(
        self, plan: Plan, rates: Mapping[str, tuple[float, ...]], most: Mapping[str, int] | None = None
    ) -> None:
        self.plan, self.rates, self.most = plan, rates, most or {}
        self.records: list[j.AnyRecord] = []
        self.record = RunRecord()

    def write(self, record: j.AnyRecord) -> None:
        record = record.model_copy(update={"at": float(len(self.records))})
        self.records.append(record)
        self.record.add(NOWHERE, record)

    def measure(self, cell: Cell) -> j.CellEnded:
        codec = str(cell.levels.keys["codec"])
        rate = self.rates[codec][cell.repeat - 1] * min(cell.threads or 1, self.most.get(codec, 1000))
        self.write(j.CellStarted(at=0, cell=cell.id, hash=cell.hash, attempt=1))
        ended = j.CellEnded(at=0, cell=cell.id, hash=cell.hash, attempt=1, status="ok", ops_per_s=rate, latency_s=0.01)
        self.write(ended)
        return ended

    def confident(self) -> list[str]:
        """Return the measured cells in the form `lz4/1`."""
        repeats, measured = RepeatsUntil(self.plan, self.record, set(), self.write), []
        for cell in self.plan.cells:
            if repeats.not_needed(cell):
                repeats.skipped(cell)
                continue
            measured.append(f"{cell.levels.keys['codec']}/{cell.repeat}")
            repeats.ended(cell, self.measure(cell))
        return measured


def test_each_level_has_a_knee_of_its_own_and_later_cells_take_that_of_their_level(tmp_path: Path) -> None:
    text = "threads = knee(from: 1, factor: 2, to: 256)  repeats = 2"
    hold = "\nexperiment hold { hardware = box  workloads = rr  threads = e.knee  vary = codec  measure = 10 s }"
    plan = plan_of(tmp_path, text + " }" + hold.removesuffix("}"))
    records = simulated(tmp_path / "out", plan)
    ended = [each for each in records if isinstance(each, j.SearchEnded)]
    assert [each.levels for each in ended] == ["codec=none", "codec=lz4", "codec=zstd"]
    knees = {each.levels: each.knee for each in ended}
    held = {each.cell: each.threads for each in records if isinstance(each, j.CellStarted) and "hold/" in each.cell}
    assert held == {f"hold/box/rr/{level}/threads=e.knee/r1": knee for level, knee in knees.items()}


def test_a_search_without_a_knee_says_at_which_level(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "threads = knee(from: 1, factor: 2, to: 4, else: 4)")
    texts = [str(each.text) for each in simulated(tmp_path / "out", plan) if isinstance(each, j.Remark)]
    assert any("no knee up to 4 threads (on box, with rr, codec=zstd)" in text for text in texts)


@pytest.mark.long
def test_a_promise_is_searched_for_at_each_level(tmp_path: Path) -> None:
    head = """
hardware box { hosts = "box.lab" }
client load { hosts = "load.lab"  tool = ycsb }
factor codec { one = 1  all = majority }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/y"  options { write_concern = codec } }
workload rr from ycsb.a
"""
    search = "threads = 64  target = highest(1k ops/s..100k ops/s, where: latency.p99[read] < 5 ms, within: 10 %)"
    records = simulated(tmp_path / "out", plan_of(tmp_path, search, head))
    ended = {str(each.levels): each.rate for each in records if isinstance(each, j.PromiseEnded)}
    assert list(ended) == ["codec=one", "codec=all"]
    assert ended["codec=one"] != ended["codec=all"]
    chosen = {each.levels for each in records if isinstance(each, j.PointChosen)}
    assert chosen == {"codec=one", "codec=all"}


@pytest.mark.parametrize(
    ("order", "measured"),
    [
        ("grouped", [f"{codec}/{i}" for codec, n in (("none", 3), ("lz4", 6), ("zstd", 3)) for i in range(1, n + 1)]),
        ("interleaved", [f"{codec}/{i}" for i in range(1, 7) for codec in ("none", "lz4", "zstd")]),
    ],
)
def test_levels_end_their_repeats_alone_or_together_where_they_take_turns(
    tmp_path: Path, order: str, measured: list[str]
) -> None:
    plan = plan_of(tmp_path, f"threads = 1  repeats = confident(within: 5 %, to: 6), {order}")
    run = Run(plan, {"none": CLOSE, "lz4": FAR, "zstd": CLOSE})
    assert run.confident() == measured
    wide = [str(each.text) for each in run.records if isinstance(each, j.Remark)]
    assert len(wide) == 1
    assert wide[0].startswith("e/box/rr/codec=lz4/threads=1 on box: after 6 good repeats")


@pytest.mark.parametrize("order", ["grouped", "interleaved"])
def test_adaptive_levels_choose_points_of_their_own_unless_they_take_turns(tmp_path: Path, order: str) -> None:
    plan = plan_of(tmp_path, f"threads = adaptive(1..256, points: 6)  repeats = 1, {order}")
    run = Run(plan, dict.fromkeys(("none", "lz4", "zstd"), (100.0,)), {"none": 4, "lz4": 16, "zstd": 64})
    ramps = AdaptiveRamps(plan, run.record, run.write)
    measured: dict[str, set[float | None]] = {"none": set(), "lz4": set(), "zstd": set()}
    for cell in ramps.in_order(plan.cells, threading.Event()):
        if not ramps.not_needed(cell):
            measured[str(cell.levels.keys["codec"])].add(cell.threads)
            run.measure(cell)
    chosen = {(each.levels, each.point) for each in run.records if isinstance(each, j.PointChosen)}
    assert chosen == {(f"codec={codec}", point) for codec, points in measured.items() for point in points}
    assert all(len(points) == 6 for points in measured.values())
    assert (measured["none"] == measured["zstd"]) == (order == "interleaved")
    again = AdaptiveRamps(plan, RunRecord.of(run.records), run.write)
    assert all(again.not_needed(cell) for cell in again.in_order(plan.cells, threading.Event()))


@pytest.mark.parametrize(("order", "turn"), [("grouped", 1), ("interleaved", 3)])
def test_a_budget_repeats_each_level_by_itself_unless_they_take_turns(tmp_path: Path, order: str, turn: int) -> None:
    plan = plan_of(tmp_path, f"threads = 1  repeats = 6, {order}  budget = 4 min")
    run = Run(plan, {"none": CLOSE, "lz4": FAR, "zstd": CLOSE})
    budgets, measured = Budgets(plan, run.record, run.write, simulated=True), []
    for cell in budgets.in_order(plan.cells):
        if not budgets.not_needed(cell):
            measured.append(str(cell.levels.keys["codec"]))
            run.measure(cell)
    assert measured[:9] == ["none", "lz4", "zstd"] * 3
    assert measured[9 : 9 + turn] == (["lz4"] if turn == 1 else ["none", "lz4", "zstd"])


def test_simulated_levels_differ_and_a_simulation_gives_the_same_again(tmp_path: Path) -> None:
    plan = plan_of(tmp_path, "threads = 8  repeats = 2")

    def rates(folder: str) -> dict[str, float | None]:
        records = simulated(tmp_path / folder, plan)
        return {each.cell: each.ops_per_s for each in records if isinstance(each, j.CellEnded)}

    first = rates("first")
    assert rates("second") == first
    none, lz4 = (first[f"e/box/rr/codec={codec}/threads=8/r1"] or 0.0 for codec in ("none", "lz4"))
    assert abs(none / lz4 - 1) > 0.1
    renamed = compile_text((tmp_path / "brief.bench").read_text().replace("lz4 =", "quick ="), tmp_path)
    records = simulated(tmp_path / "third", renamed)
    again = {each.cell: each.ops_per_s for each in records if isinstance(each, j.CellEnded)}
    assert list(again.values()) == list(first.values())


def test_cells_of_one_definition_are_simulated_alike_whether_their_experiment_varies_or_not(tmp_path: Path) -> None:
    head = HEAD.replace("readrandom", "readrandom { value_size = vsize }")
    of = "{ hardware = box  workloads = rr  threads = 1  measure = 10 s"
    text = f"{head}factor vsize {{ levels = [100 B, 1 kB]  default = 1 kB }}\n"
    plan = compile_text(f"{text}experiment e {of}  vary = [codec, vsize] }}\nexperiment f {of} }}", tmp_path)
    rates = {each.cell: each.ops_per_s for each in simulated(tmp_path, plan) if isinstance(each, j.CellEnded)}
    assert rates["f/box/rr/threads=1/r1"] == rates["e/box/rr/codec=none,vsize=1000/threads=1/r1"]


@pytest.mark.parametrize(("path", "loads"), [("/b/{codec}", 3), ("/b", 6)])
def test_a_data_set_is_loaded_again_where_another_level_has_replaced_it(tmp_path: Path, path: str, loads: int) -> None:
    more = "\nexperiment f { hardware = box  workloads = rr  vary = codec  threads = 2  measure = 10 s"
    plan = plan_of(tmp_path, f"threads = 1 }}{more}", HEAD.replace("/b/{codec}", path))
    records = simulated(tmp_path / "out", plan)
    assert sum(isinstance(each, j.JobCollected) and each.job.startswith("load") for each in records) == loads
    assert sum(step.reset == "load" for cell in plan.cells for step in cell.steps) == loads


def test_started_servers_of_two_levels_are_two_jobs(tmp_path: Path) -> None:
    head = """
hardware box { hosts = local  path = "/var/tmp/x" }
client load { hosts = local  tool = ycsb }
factor codec { small = 1  large = majority }
database mongo { engine = mongodb  server = start  path = "{path}"  options { write_concern = codec } }
workload rr from ycsb.a
"""
    plan = plan_of(tmp_path, "threads = 1", head)
    keys = [DatabaseKey.of("mongo", "box", f"codec={level}") for level in ("small", "large")]
    assert list(plan.databases) == keys
    hardware: Hardware = plan.hardware["box"]
    with HostPool(plan) as hosts:
        jobs = [set(MongoDB(plan, plan.databases[key], hardware, hosts).job_keys()) for key in keys]
    assert all(all(name.startswith(f"server/{key}/") for name in of) and of for key, of in zip(keys, jobs, strict=True))
