"""Tests a server that is queried during a measurement: its failures are not confused with failures elsewhere."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from benchbrief.model.plan import Probe
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.execution.attempt import Attempt
from benchbrief.runners.execution.cell_probes import server_status
from benchbrief.runners.journal.journal_file import Journal
from benchbrief.runners.seams import Engine
from benchbrief.runners.world.world_choice import RealWorld
from tests.support import cells
from tests.support.waiting import until

PROBE = Probe(name="database", every_s=0.02, hosts=("node1",), on="controller", origin=cells.ORIGIN)


class Telling:
    """An engine that gives these answers one after another, and then repeats the last one."""

    name = "telling"

    def __init__(self, *answers: Mapping[str, Any] | Exception) -> None:
        self._answers = list(answers)
        self.asked = 0

    def status(self) -> Mapping[str, float]:
        self.asked += 1
        answer = self._answers[min(self.asked, len(self._answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer


@contextmanager
def asked(engine: Telling, run_dir: Path) -> Iterator[None]:
    context = cells.context(cells.ycsb("a"), cells.embedded())
    cell = context.cell.model_copy(update={"probes": (PROBE,)})
    with closing(Journal(run_dir)) as journal:
        attempt = Attempt(context.plan, cell, 1, run_dir, journal, {}, RealWorld(), threading.Event())
        with server_status(attempt, cast(Engine, engine)):
            yield


def kept(run_dir: Path, name: str) -> list[str]:
    (path,) = run_dir.glob(f"**/probe-database-node1/{name}")
    return path.read_text().splitlines()


def test_an_error_of_the_measurement_is_not_one_of_the_disk(tmp_path: Path) -> None:
    with pytest.raises(ConnectionResetError), asked(Telling({"connections.current": 1.0}), tmp_path):
        raise ConnectionResetError


def test_an_answer_that_can_t_be_read_is_a_gap_and_the_next_ones_are_kept(tmp_path: Path) -> None:
    engine = Telling({"connections.current": 1.0}, ValueError("odd"), RunnerError("away"), {"connections.current": 4.0})
    with asked(engine, tmp_path):
        until(lambda: engine.asked > 4)
    assert [line.partition(" ")[2] for line in kept(tmp_path, "stderr")] == [
        "its answer can't be read: ValueError('odd')",
        "away",
    ]
    readings = [json.loads(line) for line in kept(tmp_path, "stdout") if line.startswith("{")]
    assert [each["connections.current"] for each in readings[:3]] == [1.0, 4.0, 4.0]
