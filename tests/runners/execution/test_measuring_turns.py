"""Tests turns at measuring: one cell has the turn, the cell that has waited longest is next, and a resumed cell keeps
its turn."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from benchbrief.model import events as j
from benchbrief.model.plan import Cell
from benchbrief.model.run_record import Left
from benchbrief.runners.errors import Interrupted
from benchbrief.runners.scheduling.parallel_lanes import MeasuringTurns
from tests.support.plans import compile_spec
from tests.support.waiting import until

SPEC = """
hardware a { hosts = "a.lab" }
hardware b { hosts = "b.lab" }
hardware c { hosts = "c.lab" }
database rocks { engine = rocksdb  path = "/data/db" }
workload w from db_bench.readrandom { records = 1k }
experiment e { hardware = [a, b, c]  workloads = w  threads = 1  measure = 1 s  overlap = loading }
"""


@pytest.fixture
def cells(tmp_path: Path) -> dict[str, Cell]:
    path = tmp_path / "spec.bench"
    path.write_text(SPEC, encoding="utf-8")
    return {cell.hardware: cell for cell in compile_spec(path).cells}


class Lanes:
    """Threads that each take a turn and keep it until the test ends it."""

    def __init__(self, turns: MeasuringTurns) -> None:
        self.turns = turns
        self.measured: list[str] = []
        self.waiting: set[str] = set()
        self.over: dict[str, threading.Event] = {}
        self.stopping = threading.Event()
        self.interrupted: set[str] = set()
        self._threads: list[threading.Thread] = []

    def begin(self, cell: Cell) -> None:
        self.over[cell.hardware] = threading.Event()
        self._threads.append(threading.Thread(target=self._run, args=(cell,)))
        self._threads[-1].start()

    def _run(self, cell: Cell) -> None:
        try:
            with self.turns.taken(cell, self.stopping, lambda: self._waits(cell)):
                self.measured.append(cell.hardware)
                self.over[cell.hardware].wait(30)
        except Interrupted:
            self.interrupted.add(cell.hardware)

    @contextmanager
    def _waits(self, cell: Cell) -> Iterator[None]:
        self.waiting.add(cell.hardware)
        yield
        self.waiting.remove(cell.hardware)

    def join(self) -> None:
        for thread in self._threads:
            thread.join(30)
            assert not thread.is_alive()


def test_the_cell_that_has_waited_longest_is_next(cells: dict[str, Cell]) -> None:
    lanes = Lanes(MeasuringTurns(cells.values(), {}))
    lanes.begin(cells["b"])
    until(lambda: lanes.measured == ["b"])
    for name in ("c", "a"):
        lanes.begin(cells[name])
        until(lambda name=name: name in lanes.waiting)  # type: ignore[misc]
    lanes.over["b"].set()
    until(lambda: lanes.measured == ["b", "c"])
    assert lanes.waiting == {"a"}
    lanes.over["c"].set()
    until(lambda: lanes.measured == ["b", "c", "a"])
    lanes.over["a"].set()
    lanes.join()


def test_a_resumed_measurement_has_its_turn_before_any_other(cells: dict[str, Cell]) -> None:
    left = Left(cells["c"].id, 1, None)
    left.add(j.StepStarted(at=0.0, cell=cells["c"].id, attempt=1, step="measure", seconds=1.0))
    lanes = Lanes(MeasuringTurns(cells.values(), {cells["c"].id: left}))
    lanes.begin(cells["a"])
    until(lambda: lanes.waiting == {"a"})
    lanes.begin(cells["c"])
    until(lambda: lanes.measured == ["c"])
    lanes.over["c"].set()
    until(lambda: lanes.measured == ["c", "a"])
    lanes.over["a"].set()
    lanes.join()


def test_an_attempt_that_can_not_be_resumed_gives_up_its_turn(cells: dict[str, Cell]) -> None:
    left = Left(cells["c"].id, 1, None)
    left.add(j.StepStarted(at=0.0, cell=cells["c"].id, attempt=1, step="warm_up", seconds=1.0))
    lanes = Lanes(MeasuringTurns(cells.values(), {cells["c"].id: left}))
    lanes.begin(cells["a"])
    until(lambda: lanes.waiting == {"a"})
    lanes.turns.give_up(cells["c"])
    until(lambda: lanes.measured == ["a"])
    lanes.over["a"].set()
    lanes.join()


def test_a_run_that_stops_ends_the_waiting(cells: dict[str, Cell]) -> None:
    lanes = Lanes(MeasuringTurns(cells.values(), {}))
    lanes.begin(cells["a"])
    until(lambda: lanes.measured == ["a"])
    lanes.begin(cells["b"])
    until(lambda: lanes.waiting == {"b"})
    lanes.stopping.set()
    until(lambda: lanes.interrupted == {"b"})
    lanes.over["a"].set()
    lanes.join()


def test_a_measurement_knows_what_loaded_beside_it(cells: dict[str, Cell]) -> None:
    turns, stopping = MeasuringTurns(cells.values(), {}), threading.Event()
    with turns.loading(cells["b"]), turns.taken(cells["a"], stopping, nullcontext):
        with turns.loading(cells["c"]):
            pass
        assert sorted(turns.beside(cells["a"])) == ["b", "c"]
    with turns.taken(cells["b"], stopping, nullcontext):
        assert turns.beside(cells["b"]) == []
