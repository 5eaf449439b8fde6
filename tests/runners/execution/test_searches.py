"""Tests knee searches with runs in memory: the knee, the cells that are not needed, and the cells that must wait for
the search."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from benchbrief.model import events as j
from benchbrief.model.measurement import Bucket, Histogram, Measurement, Operation, PhaseThroughput
from benchbrief.model.plan import Cell, KneeSearch, Plan
from benchbrief.model.run_record import RunRecord
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.scheduling.knee_search import Searches, knee_of, latency_of
from tests.support.plans import compile_spec
from tests.support.waiting import until

CRITERION = KneeSearch(latency="p99", rise=0.10, gain=0.03)


def points(*measured: tuple[float, float]) -> list[j.SearchPoint]:
    """Return search points at 1, 2, 4, …, measured in operations per second and milliseconds."""
    return [
        j.SearchPoint(point=2.0**i, ops_per_s=rate, latency_s=latency / 1000)
        for i, (rate, latency) in enumerate(measured)
    ]


# --- the criterion -----------------------------------------------------------------------------------------------


def test_the_knee_is_the_last_point_before_latency_rises_and_throughput_does_not() -> None:
    assert knee_of(points((100, 1), (190, 1.05), (300, 1.5), (305, 3), (306, 9)), CRITERION) == 4


@pytest.mark.parametrize(
    ("after", "knee"),
    [
        ((102.9, 1.1), 1),
        ((103, 1.1), None),
        ((102.9, 1.09), None),
        ((50, 2), 1),
        ((100, 1), None),
    ],
    ids=["both", "gains just enough", "rises not enough", "falls", "nothing changes"],
)
def test_a_knee_needs_both_the_rise_and_the_missing_gain(after: tuple[float, float], knee: float | None) -> None:
    assert knee_of(points((100, 1), after), CRITERION) == knee


def test_the_first_knee_counts() -> None:
    assert knee_of(points((100, 1), (100, 2), (200, 2), (200, 4)), CRITERION) == 1


def test_no_knee_without_a_next_point() -> None:
    assert knee_of(points((100, 1)), CRITERION) is None
    assert knee_of([], CRITERION) is None


# --- the latency of a cell ---------------------------------------------------------------------------------------


def operation(name: str, *buckets: tuple[float, int], **more: object) -> Operation:
    histogram = Histogram(tuple(Bucket(ms / 1000, (ms + 1) / 1000, count) for ms, count in buckets))
    fields: dict[str, object] = {
        "histogram": histogram,
        "mean_s": buckets[0][0] / 1000,
        "max_s": (buckets[-1][0] + 1) / 1000,
    }
    return Operation(name, histogram.count, **{**fields, **more})  # type: ignore[arg-type]  # fields by name


def measurement(*operations: Operation) -> Measurement:
    count = sum(op.count for op in operations if op.in_total)
    return Measurement((0, 1), (PhaseThroughput(None, count, 0, 1, count),), operations)


def test_a_percentile_is_that_of_all_operations_together() -> None:
    reads, updates = operation("read", (1, 980)), operation("update", (50, 20))
    # 20 of 1000 took 50 ms: the hundredth part of all lies among them, though no read did.
    assert latency_of(measurement(reads, updates), "p99") == pytest.approx(0.0505)
    assert latency_of(measurement(reads, updates), "p50") == pytest.approx(0.0015, abs=1e-4)


def test_a_read_modify_write_is_not_counted_beside_its_halves() -> None:
    halves = operation("read", (1, 100)), operation("update", (1, 100))
    twice = operation("read_modify_write", (900, 100), in_total=False)
    assert latency_of(measurement(*halves, twice), "p99") == latency_of(measurement(*halves), "p99")


def test_an_offered_load_is_judged_by_when_its_operations_were_due() -> None:
    service, intended = operation("read", (1, 100)), operation("read", (700, 100), kind="intended", in_total=False)
    assert latency_of(measurement(service, intended), "p50") == pytest.approx(0.7005)


def test_printed_percentiles_are_not_merged_but_the_highest_counts() -> None:
    printed = [
        Operation("read", 90, printed=((99.0, 0.002),)),
        Operation("update", 10, printed=((99.0, 0.005),)),
    ]
    assert latency_of(measurement(*printed), "p99") == 0.005
    assert latency_of(measurement(*printed), "p95") is None


def test_a_mean_is_weighted_by_the_operations() -> None:
    assert latency_of(measurement(operation("read", (1, 300)), operation("update", (5, 100))), "mean") == 0.002
    assert latency_of(measurement(operation("read", (1, 300)), operation("update", (5, 100))), "max") == 0.006


def test_a_printed_percentile_that_one_operation_lacks_is_not_known() -> None:
    some = [Operation("read", 90, printed=((99.0, 0.002),)), Operation("update", 10, printed=((95.0, 0.005),))]
    assert latency_of(measurement(*some), "p99") is None


def test_a_percentile_is_not_above_the_largest_latency() -> None:
    assert latency_of(measurement(operation("read", (1, 100), max_s=0.0012)), "p99") == 0.0012


def test_phases_are_not_counted_again() -> None:
    whole, phase = operation("read", (1, 100)), operation("read", (900, 50), phase=1)
    assert latency_of(measurement(whole, phase), "p99") == latency_of(measurement(whole), "p99")


# --- a run -------------------------------------------------------------------------------------------------------

SPEC = """
hardware one { hosts = "one.lab" }
hardware two { hosts = "two.lab" }
client load { hosts = "load.lab"  tool = ycsb }
client other { hosts = "other.lab"  tool = ycsb }
database mongo { engine = mongodb  uri = "mongodb://{hosts}/ycsb" }
workload w from ycsb.a
experiment search {
  hardware = one  client = load  workloads = w  threads = knee(from: 1, factor: 2, to: 8)  measure = 1 s  repeats = 2
}
experiment found { hardware = two  client = other  workloads = w  threads = search.knee  measure = 1 s }
"""


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    path = tmp_path / "spec.bench"
    path.write_text(SPEC, encoding="utf-8")
    return compile_spec(path)


class RecordedSearches:
    """A journal in memory, with the state after each of its records."""

    def __init__(self, plan: Plan, before: list[j.AnyRecord] | None = None) -> None:
        self.records = list(before or [])
        done = {r.cell for r in self.records if isinstance(r, j.CellEnded) and r.status == "ok"}
        self.searches = Searches(plan, RunRecord.of(self.records), done, self.records.append)

    def ended(self, cell: Cell, **more: object) -> None:
        fields = {"at": 0, "cell": cell.id, "hash": cell.hash, "attempt": 1, "status": "ok"}
        verdict = j.CellEnded.model_validate(fields | more)
        self.records.append(verdict)
        self.searches.ended(cell, verdict)

    def found(self) -> list[j.SearchEnded]:
        return [record for record in self.records if isinstance(record, j.SearchEnded)]


MEASURED = {
    1: ((100.0, 0.001), (120.0, 0.0012)),
    2: ((200.0, 0.0013), (220.0, 0.001)),
    4: ((205.0, 0.002), (209.0, 0.001)),
}
"""The throughputs and latencies of the repeats, by threads. At 4 threads, the mean is lower than at 2."""


def measure(recorded: RecordedSearches, cells: list[Cell]) -> None:
    for cell in cells:
        rate, latency = MEASURED[cell.threads or 0][cell.repeat - 1]
        recorded.ended(cell, ops_per_s=rate, latency_s=latency)


def test_a_point_is_judged_by_the_mean_throughput_and_the_highest_latency_of_all_its_repeats(plan: Plan) -> None:
    recorded = RecordedSearches(plan)
    measure(recorded, list(plan.cells[:5]))
    assert recorded.found() == []
    assert not recorded.searches.not_needed(plan.cells[5]), "the second repeat of 4 threads"
    measure(recorded, [plan.cells[5]])
    (found,) = recorded.found()
    assert (found.knee, found.axis) == (2, "threads")
    assert [(p.point, p.ops_per_s, p.latency_s) for p in found.points] == [
        (1, 110, 0.0012),
        (2, 210, 0.0013),
        (4, 207, 0.002),
    ]


def test_points_above_the_knee_are_not_needed(plan: Plan) -> None:
    recorded = RecordedSearches(plan)
    measure(recorded, list(plan.cells[:6]))
    assert [recorded.searches.not_needed(cell) for cell in plan.cells[6:8]] == ["the knee was found at 2 threads"] * 2
    assert not recorded.searches.not_needed(plan.cells[8])


def test_a_cell_gets_the_knee_for_its_threads(plan: Plan) -> None:
    recorded = RecordedSearches(plan)
    measure(recorded, list(plan.cells[:6]))
    known = recorded.searches.resolved(plan.cells[8], threading.Event())
    assert known is not None
    assert known.threads == 2
    assert known.id == plan.cells[8].id


def test_a_knee_that_is_too_small_for_the_load_hosts_fails_the_cell_before_it_is_run(plan: Plan) -> None:
    recorded = RecordedSearches(plan)
    measure(recorded, list(plan.cells[:6]))
    two = plan.cells[8].model_copy(update={"load_hosts": ("a", "b")})
    assert recorded.searches.resolved(two, threading.Event()) is not None
    three = plan.cells[8].model_copy(update={"load_hosts": ("a", "b", "c")})
    with pytest.raises(RunnerError, match="the knee of search, 2 threads, can't be split over 3 load generators"):
        recorded.searches.resolved(three, threading.Event())


def test_a_cell_waits_until_the_search_is_over(plan: Plan) -> None:
    recorded = RecordedSearches(plan)
    got: list[Cell | None] = []
    waiting = threading.Thread(target=lambda: got.append(recorded.searches.resolved(plan.cells[8], threading.Event())))
    waiting.start()
    measure(recorded, list(plan.cells[:5]))
    assert got == []
    assert waiting.is_alive()
    measure(recorded, [plan.cells[5]])
    until(lambda: not waiting.is_alive(), 10)
    assert [cell and cell.threads for cell in got] == [2]


def test_waiting_ends_when_the_run_is_to_stop(plan: Plan) -> None:
    stopping = threading.Event()
    stopping.set()
    assert RecordedSearches(plan).searches.resolved(plan.cells[8], stopping) is None


def test_a_resumed_run_decides_as_the_interrupted_one_did(plan: Plan) -> None:
    first = RecordedSearches(plan)
    measure(first, list(plan.cells[:4]))
    second = RecordedSearches(plan, first.records)
    measure(second, list(plan.cells[4:6]))
    assert [found.knee for found in second.found()] == [2]
    third = RecordedSearches(plan, second.records)
    assert third.found() == second.found(), "said once"
    assert third.searches.not_needed(plan.cells[6])


def test_a_run_killed_before_it_said_what_it_had_found_says_it_when_it_is_resumed(plan: Plan) -> None:
    first = RecordedSearches(plan)
    measure(first, list(plan.cells[:6]))
    cut_off = [record for record in first.records if isinstance(record, j.CellEnded)]
    assert [found.knee for found in RecordedSearches(plan, [*cut_off]).found()] == [2]


def test_a_failed_cell_ends_its_search_and_what_waits_for_it_with_the_reason(plan: Plan) -> None:
    recorded = RecordedSearches(plan)
    measure(recorded, list(plan.cells[:2]))
    recorded.ended(plan.cells[2], status="failed", reason="gone")
    with pytest.raises(RunnerError, match=r"not run: its search can't go on, as search/one/w/threads=2/r1 failed"):
        recorded.searches.refuse_undecided(plan.cells[3])
    with pytest.raises(RunnerError, match=r"the knee of search is not known, as search/one/w/threads=2/r1 failed"):
        recorded.searches.resolved(plan.cells[8], threading.Event())
    assert recorded.found() == []
    again = RecordedSearches(plan, recorded.records)
    again.searches.refuse_undecided(plan.cells[2])
    measure(again, list(plan.cells[2:6]))
    assert [found.knee for found in again.found()] == [2], "the failed cell was tried again"


def test_a_tool_without_the_latency_leaves_the_search_undecided(plan: Plan) -> None:
    recorded = RecordedSearches(plan)
    recorded.ended(plan.cells[0], ops_per_s=100.0, latency_s=None)
    with pytest.raises(RunnerError, match="ycsb gave no p99 latency in search/one/w/threads=1/r1"):
        recorded.searches.resolved(plan.cells[8], threading.Event())


def test_a_search_without_a_knee_says_so_and_nothing_is_guessed(plan: Plan) -> None:
    recorded = RecordedSearches(plan)
    for cell in plan.cells[:8]:
        recorded.ended(cell, ops_per_s=100.0 * (cell.threads or 0), latency_s=0.001)
    assert [found.knee for found in recorded.found()] == [None]
    (remark,) = [record for record in recorded.records if isinstance(record, j.Remark)]
    assert remark.severity == "warning"
    assert remark.text == (
        "search found no knee up to 8 threads (on one, with w): let it search further, by a larger `to:`, "
        "or say what to take without a knee, by `else:`"
    )
    with pytest.raises(RunnerError, match=r"search found no knee up to 8 threads"):
        recorded.searches.resolved(plan.cells[8], threading.Event())


def test_a_point_that_is_declared_for_it_stands_in_for_a_knee_that_does_not_show(plan: Plan) -> None:
    (name,) = {experiment for experiment in plan.experiments if plan.experiments[experiment].search}
    experiment = plan.experiments[name]
    assert experiment.search
    search = experiment.search.model_copy(update={"otherwise": 4.0})
    experiments = {**plan.experiments, name: experiment.model_copy(update={"search": search})}
    recorded = RecordedSearches(plan.model_copy(update={"experiments": experiments}))
    for cell in plan.cells[:8]:
        recorded.ended(cell, ops_per_s=100.0 * (cell.threads or 0), latency_s=0.001)
    assert [found.knee for found in recorded.found()] == [None], "what it found is kept as it is"
    (remark,) = [record for record in recorded.records if isinstance(record, j.Remark)]
    assert remark.text == (
        "search found no knee up to 8 threads (on one, with w): what waits for it takes 4 threads, by `else:`"
    )
    resolved = recorded.searches.resolved(plan.cells[8], threading.Event())
    assert resolved is not None
    assert resolved.threads == 4


def test_a_failed_search_has_no_point_that_stands_in(plan: Plan) -> None:
    (name,) = {experiment for experiment in plan.experiments if plan.experiments[experiment].search}
    experiment = plan.experiments[name]
    assert experiment.search
    search = experiment.search.model_copy(update={"otherwise": 4.0})
    experiments = {**plan.experiments, name: experiment.model_copy(update={"search": search})}
    recorded = RecordedSearches(plan.model_copy(update={"experiments": experiments}))
    recorded.ended(plan.cells[0], status="failed", reason="gone")
    with pytest.raises(RunnerError, match=r"the knee of search is not known"):
        recorded.searches.resolved(plan.cells[8], threading.Event())


@pytest.mark.parametrize("lost", ["latency_s", "ops_per_s"])
def test_done_cells_without_what_decides_a_search_are_reported_and_nothing_waits_for_it(plan: Plan, lost: str) -> None:
    first = RecordedSearches(plan)
    measure(first, list(plan.cells[:6]))
    before = [record.model_copy(update={lost: None}) for record in first.records if isinstance(record, j.CellEnded)]
    again = RecordedSearches(plan, [*before])
    (remark,) = [record for record in again.records if isinstance(record, j.Remark)]
    assert remark.text == "the knee of search is not known, as no p99 latency was noted of search/one/w/threads=1/r1"
    assert again.found() == []
    with pytest.raises(RunnerError, match=r"no p99 latency was noted of search/one/w/threads=1/r1"):
        again.searches.resolved(plan.cells[8], threading.Event())


def test_a_search_of_which_no_cell_is_left_and_that_is_not_decided_is_reported(plan: Plan) -> None:
    records: list[j.AnyRecord] = [
        j.CellSkipped(at=0, cell=cell.id, hash=cell.hash, reason="of another search") for cell in plan.cells[:8]
    ]
    recorded: list[j.AnyRecord] = []
    searches = Searches(plan, RunRecord.of(records), {cell.id for cell in plan.cells[:8]}, recorded.append)
    assert [record.text for record in recorded if isinstance(record, j.Remark)] == [
        "the knee of search is not known, as the results that it has do not decide it"
    ]
    with pytest.raises(RunnerError, match="the results that it has do not decide it"):
        searches.resolved(plan.cells[8], threading.Event())
