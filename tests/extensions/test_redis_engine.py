"""Tests the engine of the Redis package in this process, with a real server that is already running."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from bench_redis.redis_engine import Redis

from benchbrief.model.plan import Cell, Database, Workload
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.hosts.host_connections import HostPool
from benchbrief.runners.journal.run_identity import RunName
from tests.support import cells
from tests.support.redis import count, redis, say

READS = Workload(
    name="reads",
    label="Reads",
    description="",
    family="redis_benchmark",
    benchmark="get",
    properties={"records": 2.0, "value": 100.0, "pipeline": 1.0, "load_threads": 1.0},
    writes=False,
    origin=cells.ORIGIN,
)


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    with redis(tmp_path) as found:
        yield found


@pytest.fixture
def engine(port: int) -> Redis:
    database = Database(
        name="cache",
        label="Cache",
        engine="redis",
        server="attach",
        uri=(f"redis://127.0.0.1:{port}",),
        reset="after_writes",
        origin=cells.ORIGIN,
    )
    plan = cells.context(READS, database).plan
    made = Redis(plan, database, plan.hardware["box"], HostPool(plan, run_name=RunName(owner="anyone")))
    made.start()
    return made


def loaded(engine: Redis, port: int) -> Cell:
    (cell,) = engine.plan.cells
    engine.reset(cell)
    for number in range(2):
        assert say(port, f"SET key:{number:012d} x") == "+OK"
    engine.loaded(cell, 2)
    assert engine.holds(cell)
    return cell


def test_a_database_with_more_keys_than_were_loaded_is_not_emptied(engine: Redis, port: int) -> None:
    cell = loaded(engine, port)
    engine.reset(cell)
    assert say(port, "DBSIZE") == ":1"
    loaded(engine, port)
    say(port, "SET session:1 of-others")
    assert not engine.holds(cell)
    with pytest.raises(RunnerError, match="keys that benchbrief did not load: 1"):
        engine.reset(cell)
    assert say(port, "DBSIZE") == ":4"


@pytest.mark.parametrize("name", ["session:1", "key:000000000002", "key:00000000000x", '"a\\nkey:000000000001"'])
def test_a_key_with_a_name_that_benchbrief_does_not_give_is_not_ours(engine: Redis, port: int, name: str) -> None:
    cell = loaded(engine, port)
    say(port, "DEL key:000000000000")
    say(port, f"SET {name} of-others")
    with pytest.raises(RunnerError, match="has keys that benchbrief did not load: "):
        engine.reset(cell)
    assert say(port, "DBSIZE") == ":3"


def test_of_a_large_database_a_bounded_number_of_names_is_looked_at(engine: Redis, port: int) -> None:
    cell = loaded(engine, port)
    say(port, f'SET benchbrief "{cell.dataset.hash if cell.dataset else ""} 100000"')
    say(port, "EVAL \"for i = 2, 99999 do redis.call('set', string.format('key:%012d', i), 'x') end\" 0")
    before = count(port, "total_commands_processed")
    engine.reset(cell)
    assert say(port, "DBSIZE") == ":1"
    assert count(port, "total_commands_processed") - before < 30


@pytest.mark.parametrize("value", ["on", "loading", "0123 4x"])
def test_a_key_of_the_note_s_name_with_another_value_is_not_ours(engine: Redis, port: int, value: str) -> None:
    say(port, f'SET benchbrief "{value}"')
    with pytest.raises(RunnerError, match="keys that benchbrief did not load: benchbrief"):
        engine.reset(engine.plan.cells[0])
    assert say(port, "DBSIZE") == ":1"


def test_a_cell_with_an_event_that_changes_data_is_loaded_again_after(engine: Redis, port: int) -> None:
    cell = loaded(engine, port)
    engine.begin(replace(cell, events=(cells.event("kept"),)))
    assert engine.holds(cell)
    engine.begin(replace(cell, events=(cells.event("changed"),)))
    assert not engine.holds(cell)
    engine.reset(cell)
    assert say(port, "DBSIZE") == ":1"
