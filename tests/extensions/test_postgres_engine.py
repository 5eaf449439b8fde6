"""Tests the engine of the PostgreSQL package in this process, with a real server and a real standby."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from bench_postgres import postgres_engine
from bench_postgres.pgbench_driver import Pgbench
from bench_postgres.postgres_engine import Postgresql
from bench_postgres.written_tables import written_tables

from benchbrief.model.plan import Database, Workload
from benchbrief.runners.driver_contexts import CellContext
from benchbrief.runners.errors import RunnerError, ServerFailed
from benchbrief.runners.hosts.host_connections import HostPool
from benchbrief.runners.journal.run_identity import RunName
from tests.extensions.postgres_specs import SQL
from tests.support import cells
from tests.support.longer import longer
from tests.support.postgres import BIN, DATABASE, PASSWORD, USER, Postgres, as_owner, run
from tests.support.waiting import until

ACCOUNTS = 100_000
PROPERTIES: dict[str, str | float | bool] = {
    "scale": 1.0,
    "fillfactor": 100.0,
    "protocol": "simple",
    "max_tries": 1.0,
    "records": float(ACCOUNTS),
}
Make = Callable[..., tuple[Postgresql, CellContext]]


def own(sql: str) -> Workload:
    return workload("sql", sql)


def workload(benchmark: str, sql: str | None = None) -> Workload:
    return Workload(
        name="orders",
        label="Orders",
        description="",
        family="pgbench",
        benchmark=benchmark,
        properties=dict(PROPERTIES),
        files={"file": sql} if sql else {},
        writes=True,
        origin=cells.ORIGIN,
    )


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Yield a function that makes engines. At the end, stop the engines."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("PG_PASSWORD", PASSWORD)
    started: list[Postgresql] = []

    def made(server: Postgres, load: Workload, **more: Any) -> tuple[Postgresql, CellContext]:
        uri = f"postgresql://{USER}:{PASSWORD.replace('%', '%25').replace('/', '%2F').replace(' ', '%20')}"
        database = Database(
            name="shop",
            label="Shop",
            engine="postgresql",
            server="attach",
            uri=(f"{uri}@127.0.0.1:{server.port}/{DATABASE}",),
            origin=cells.ORIGIN,
            **{"reset": "after_writes", **more},
        )
        context = cells.context(load, database, tool_path=str(BIN / "pgbench"), measure_s=1.0)
        hosts = HostPool(context.plan, run_name=RunName(owner="anyone"))
        engine = Postgresql(context.plan, database, context.hardware, hosts)
        started.append(engine)
        endpoint = engine.start()
        return engine, CellContext(context.plan, context.cell, context.tool_path, endpoint)

    yield made
    for engine in started:
        engine.stop()


def loaded(engine: Postgresql, context: CellContext, folder: Path) -> None:
    hosts = HostPool(context.plan, run_name=RunName(owner="anyone"))
    (folder / "load").mkdir()
    cells.load(hosts["local"], Pgbench(), engine, context, folder / "load")


def asked(server: Postgres, sql: str) -> str:
    """Return the answer of the tests' database to a query by the owner of the cluster."""
    where = ("-h", str(server.directory), "-p", str(server.port), "-U", "postgres", "-d", DATABASE)
    return run("psql", *where, "-X", "-q", "-A", "-t", "-c", sql).strip()


@contextmanager
def paused(primary: Postgres, standby: Postgres) -> Iterator[None]:
    """Pause the replay on the standby during the block, which begins once the standby reports the pause."""
    del primary
    as_owner(standby, "SELECT pg_wal_replay_pause()")
    try:
        until(lambda: as_owner(standby, "SELECT pg_get_wal_replay_pause_state()") == "paused")
        yield
    finally:
        as_owner(standby, "SELECT pg_wal_replay_resume()")


@contextmanager
def silent(primary: Postgres, standby: Postgres) -> Iterator[None]:
    """Silence the standby once it has caught up. From then on, the primary reports no lag (`replay_lag` is NULL)."""
    until(lambda: as_owner(primary, "SELECT replay_lag IS NULL FROM pg_stat_replication") == "t", 60)
    with stopped_receiver(standby):
        yield


@contextmanager
def silent_with_a_lag(primary: Postgres, standby: Postgres) -> Iterator[None]:
    """Silence the standby while the primary still reports the small lag of the last replay."""

    def lags() -> bool:
        as_owner(primary, "SELECT txid_current()")
        return as_owner(primary, "SELECT replay_lag < interval '0.1 s' FROM pg_stat_replication") == "t"

    until(lags, 60)
    with stopped_receiver(standby):
        yield


@contextmanager
def stopped_receiver(standby: Postgres) -> Iterator[None]:
    receiver = int(as_owner(standby, "SELECT pid FROM pg_stat_wal_receiver"))
    os.kill(receiver, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(receiver, signal.SIGCONT)


# --- standbys --------------------------------------------------------------------------------------------------------


def test_a_standby_is_refused(make: Make, postgres_standby: Postgres) -> None:
    with pytest.raises(ServerFailed, match="is a standby, which can't be written to"):
        make(postgres_standby, workload("select_only"))


SILENT = r"is [\d,]{9,} bytes behind, for a time that the server does not know; 0\.1 s are allowed"


@pytest.mark.parametrize(
    ("kept_back", "message"),
    [
        *longer((paused, r"is \d\.\d s \([\d,]{9,} bytes\) behind, and 0\.1 s are allowed"), (silent, SILENT)),
        (silent_with_a_lag, SILENT),
    ],
)
def test_no_cell_begins_while_a_standby_is_behind(
    make: Make,
    postgres_pair: tuple[Postgres, Postgres],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kept_back: Callable[[Postgres, Postgres], AbstractContextManager[None]],
    message: str,
) -> None:
    engine, context = make(postgres_pair[0], workload("select_only"), max_lag_s=0.1)
    with kept_back(*postgres_pair), monkeypatch.context() as soon:
        soon.setattr(postgres_engine, "_CATCH_UP_S", 1.0)
        loaded(engine, context, tmp_path)
        status = engine.status()
        assert status["lag_bytes"] > 1_000_000
        assert status.get("lag_s") != 0
        with pytest.raises(RunnerError, match=f"a standby of database shop {message}"):
            engine.settle(context.cell)
    engine.settle(context.cell)


# --- before a measurement --------------------------------------------------------------------------------------------


def test_the_accounts_are_counted_by_the_load_and_not_before_a_measurement(
    make: Make, postgres_server: Postgres, tmp_path: Path
) -> None:
    def scans() -> int:
        time.sleep(1.5)  # backends report what they count when they end, at most once a second
        return int(asked(postgres_server, sql))

    sql = "SELECT seq_scan + idx_scan FROM pg_stat_user_tables WHERE relname = 'pgbench_accounts'"
    engine, context = make(postgres_server, workload("tpcb"), reset="reuse")
    loaded(engine, context, tmp_path)
    before = scans()
    for remarks in (0, 1):
        engine.settle(context.cell)
        assert len(engine.begin(context.cell)) == remarks
    assert scans() == before
    assert engine.holds(context.cell)
    assert scans() > before
    asked(postgres_server, "DELETE FROM pgbench_accounts WHERE aid = 7")
    assert not engine.holds(context.cell)


def test_a_cell_with_an_event_that_changes_data_is_counted_among_the_writers(
    make: Make, postgres_server: Postgres, tmp_path: Path
) -> None:
    engine, context = make(postgres_server, replace(workload("select_only"), writes=False))
    loaded(engine, context, tmp_path)
    engine.begin(replace(context.cell, events=(cells.event("kept"),)))
    assert engine.holds(context.cell)
    engine.begin(replace(context.cell, events=(cells.event("changed"),)))
    assert not engine.holds(context.cell)


@pytest.mark.long
def test_the_small_tables_are_vacuumed_once_for_all_load_generators(
    make: Make, postgres_server: Postgres, tmp_path: Path
) -> None:
    history = "INSERT INTO pgbench_history (tid, bid, aid) SELECT 1, 1, n FROM generate_series(1, 50) n"
    engine, context = make(postgres_server, workload("tpcb"))
    loaded(engine, context, tmp_path)
    asked(postgres_server, history)
    engine.settle(context.cell)
    assert asked(postgres_server, "SELECT count(*) FROM pgbench_history") == "0"
    asked(postgres_server, history)
    job = Pgbench().measure(context)
    (tmp_path / "measure").mkdir()
    output = cells.run_job(HostPool(context.plan, run_name=RunName(owner="anyone"))["local"], job, tmp_path / "measure")
    found = Pgbench().parse(context, output)
    done = sum(
        int(line.split()[1])
        for line in (output.directory / "transactions").read_text().splitlines()
        if line.startswith("whole ")
    )
    assert int(asked(postgres_server, "SELECT count(*) FROM pgbench_history")) == 50 + done
    assert "emptied once before each measurement" in dict(found.properties)["pgbench --no-vacuum"]


def test_each_thread_has_a_connection_and_psql_one_more(make: Make, postgres_server: Postgres) -> None:
    engine, context = make(postgres_server, workload("select_only"))
    free = int(engine._facts()["free_connections"])
    for threads, enough in ((free - 1, True), (free, False)):
        cell = context.cell.model_copy(update={"threads": threads})
        plan = context.plan.model_copy(update={"cells": (cell,)})
        hosts = HostPool(plan, run_name=RunName(owner="anyone"))
        at = Postgresql(plan, plan.databases[cell.database], context.hardware, hosts)
        if enough:
            at.look()
            continue
        with pytest.raises(RunnerError, match=f"has {free} connections left .* {free} threads need one each"):
            at.look()


# --- what a load brings back -----------------------------------------------------------------------------------------

OTHERS = """\
-- UPDATE comments SET x = 1
\\set name 'UPDATE x'
SELECT balance FROM accounts WHERE id = :id FOR NO KEY UPDATE;
INSERT INTO public.orders (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET id = 2;
update only "Stock" SET n = n - 1 WHERE note <> 'DELETE FROM notes';
DELETE
  FROM shop.baskets;  /* COPY all */
SELECT 1 FROM x FOR UPDATE;
INSERT INTO orders (id) VALUES (:id);
"""


def test_the_tables_that_a_script_writes_to_are_read_from_its_commands() -> None:
    assert written_tables(OTHERS) == ("orders", "Stock", "shop.baskets")
    assert written_tables(SQL) == ("pgbench_accounts", "pgbench_history")
    assert written_tables("SELECT 1;") == ()


@pytest.mark.parametrize(
    ("sql", "reset", "message"),
    [
        (OTHERS, "after_writes", True),
        (OTHERS, "drop_and_load", True),
        (OTHERS, "command", False),
        (SQL, "after_writes", False),
    ],
)
def test_a_remark_names_the_tables_that_no_load_makes_anew(
    make: Make, postgres_server: Postgres, sql: str, reset: str, message: bool
) -> None:
    engine, context = make(postgres_server, own(sql), reset=reset)
    said = " ".join(engine.settle(context.cell))
    assert ("writes to orders, Stock, shop.baskets, and a new load of database shop makes only" in said) == message
    assert ('`reset = command("...")`' in said) == message
