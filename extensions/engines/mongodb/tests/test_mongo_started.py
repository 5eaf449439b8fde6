"""Tests MongoDB servers that are started for a run, on hosts reached through a real sshd.

No real mongod is available here. The `scripted` tests therefore start processes that accept mongod's options and speak
its wire protocol (tests/support/mongod_process.py). The others start the stand-in, which keeps real documents.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pymongo
import pytest

from benchbrief.extensions.engines.mongodb.mongo_cluster import find_lagging
from benchbrief.extensions.engines.mongodb.mongo_layout import layout, warn_of_unguarded
from benchbrief.extensions.engines.mongodb.mongodb import MongoDB
from benchbrief.extensions.engines.mongodb.tests.test_mongodb import certificate_of
from benchbrief.model.plan import Auth, Database, Host, Reference, ServerStart, Tls
from benchbrief.runners.driver_contexts import CellContext, Endpoint
from benchbrief.runners.errors import Interrupted, RunnerError, ServerFailed, ToolMissing
from benchbrief.runners.hosts.host_connections import HostPool
from benchbrief.runners.journal.run_identity import RunName
from benchbrief.runners.journal.secret_masking import Secret
from tests.support import cells
from tests.support.mongo import as_mongod
from tests.support.sshd import sshd
from tests.support.tools import system_tool
from tests.support.waiting import until

ROOT = Path(__file__).parents[4]
Made = tuple[MongoDB, CellContext]
Make = Callable[..., Made]
AUTH = Auth(
    user="bench",
    password=Reference(kind="secret", name="MONGO_PASSWORD"),
    key=Reference(kind="secret", name="MONGO_KEY"),
)
PASSWORD, KEY = "open:sesame/please", "onlyserversknowthis"


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Yield a function that makes engines for servers on a number of hosts, and stop the engines at the end."""
    system_tool("sshd")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("MONGO_PASSWORD", PASSWORD)
    monkeypatch.setenv("MONGO_KEY", KEY)
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    pools: list[HostPool] = []
    engines: list[MongoDB] = []
    with sshd(config=f"SetEnv TMPDIR={tmp_path}") as remote:
        monkeypatch.setenv("HOME", str(remote.home))
        remote.write_config(name="127.0.0.1")
        remote.write_known_hosts()

        def made(database: Database, hosts: int = 1, records: int = 3, owner: str = "anyone") -> Made:
            context = cells.context(cells.ycsb("a", records), database)
            # One address, as behind a gateway: each server takes the next port.
            names = [f"db-{n}" for n in range(1, hosts + 1)]
            table = {name: Host(id=name, transport="ssh", name="127.0.0.1") for name in names}
            hardware = context.hardware.model_copy(update={"hosts": tuple(table), "nodes": hosts})
            changed = {"hosts": {**context.plan.hosts, **table}, "hardware": {"box": hardware}}
            plan = context.plan.model_copy(update=changed)
            pools.append(HostPool(plan, run_name=RunName(owner=owner)))
            engine = MongoDB(plan, database, hardware, pools[-1])
            engine.keep = tmp_path / "kept"
            engines.append(engine)
            return engine, context

        yield made
        for engine in engines:
            engine.stop()
        for pool in pools:
            pool.close()


def programs(folder: Path) -> str:
    """Write scripted versions of `mongod` and `mongos`, and return the path of `mongod`. `lag` is how far secondaries
    are behind."""
    (folder / "bin").mkdir(exist_ok=True)
    for name in ("mongod", "mongos"):
        program = folder / "bin" / name
        program.write_text(
            f"#!/bin/sh\nexport PYTHONPATH='{ROOT}' PEER_LAG='{folder / 'lag'}'\n"
            f"exec '{sys.executable}' -m tests.support.mongod_process {name} \"$@\"\n"
        )
        program.chmod(0o755)
    return str(folder / "bin/mongod")


def started(binary: str, folder: Path, topology: str = "standalone", **more: Any) -> Database:
    of_start: dict[str, Any] = {
        key: more.pop(key) for key in ("auth", "tls", "config", "config_name", "port") if key in more
    }
    start = ServerStart(
        binary=binary, router=f"{binary.rpartition('/')[0]}/mongos", **({"port": free_port()} | of_start)
    )
    database = cells.attached("", topology)
    return database.model_copy(
        update={"server": "start", "start": start, "uri": (), "path": str(folder / "data"), **more}
    )


def free_port() -> int:
    """Return a free port that is followed by several more free ports."""
    for port in range(20_000 + os.getpid() % 5000, 60_000, 16):
        with socket.socket() as first, socket.socket() as last:
            try:
                first.bind(("", port))
                last.bind(("", port + 9))
            except OSError:
                continue
            return port
    raise RuntimeError("no free port")


def client(endpoint: Endpoint) -> pymongo.MongoClient[dict[str, Any]]:
    assert endpoint.uri
    return pymongo.MongoClient(endpoint.uri.value, serverSelectionTimeoutMS=5000)


def fill(endpoint: Endpoint, records: int) -> None:
    with client(endpoint) as connection:
        connection["ycsb"]["usertable"].insert_many([{"_id": f"user{i}"} for i in range(records)])


def servers_of(folder: Path) -> list[int]:
    """Return the processes with this folder among their arguments."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:  # it has ended
            continue
        if any(word.startswith(f"{folder}/data/".encode()) for word in words):
            found.append(int(path.parent.name))
    return found


@pytest.mark.long
def test_a_scripted_replica_set_with_access_control_is_started_on_three_hosts_and_ended(
    make: Make, tmp_path: Path
) -> None:
    database = started(programs(tmp_path), tmp_path, "replica_set(rs0)", members=3, version="8", auth=AUTH)
    engine, context = make(database, hosts=3)
    endpoint = engine.start()
    assert endpoint.uri
    assert endpoint.uri.value.endswith("/ycsb?replicaSet=rs0&authSource=admin")
    assert engine.start() == endpoint, "starting twice is starting once"
    facts = engine.describe()
    assert facts["topology"] == "replica_set(rs0), 3 members"
    assert facts["version"] == "8.0.1"
    engine.reset(context.cell)
    fill(endpoint, 3)
    engine.loaded(context.cell, 3)
    assert engine.settle(context.cell) == ()
    engine.healthy()
    shown = b"".join(Path(f"/proc/{pid}/cmdline").read_bytes() for pid in servers_of(tmp_path))
    assert b"--keyFile" in shown
    other = Endpoint(uri=Secret(endpoint.uri.value.replace("sesame", "barley")))
    with pytest.raises(pymongo.errors.OperationFailure, match="Authentication failed"):
        fill(other, 1)
    engine.stop()
    assert servers_of(tmp_path) == []
    for member in ("rs0-1", "rs0-2", "rs0-3"):
        assert "clean shutdown" in (tmp_path / "kept" / member / "1/stdout").read_text()
    kept = "".join(path.read_text() for path in (tmp_path / "kept").rglob("*") if path.is_file())
    for secret in (PASSWORD, KEY):
        assert secret not in shown.decode() + kept


def test_servers_without_access_control_that_others_can_reach_are_reported() -> None:
    start = ServerStart(binary="mongod", router="mongos", port=27017)
    database = cells.attached("", "replica_set(rs0)")
    far = [Host(id=name, transport="ssh", name=name) for name in ("db1", "db2")]
    near = [Host(id="here", transport="local", name="127.0.0.1")]
    (text,) = warn_of_unguarded(start, layout(database, far, 27017))
    assert "without access control, and listened at db1, db2" in text
    assert warn_of_unguarded(start, layout(database, near, 27017)) == ()
    assert warn_of_unguarded(start.model_copy(update={"auth": AUTH}), layout(database, far, 27017)) == ()


@pytest.mark.long
def test_a_scripted_cluster_spreads_the_data_over_its_shards(make: Make, tmp_path: Path) -> None:
    engine, context = make(started(programs(tmp_path), tmp_path, "sharded", shards=2, auth=AUTH), hosts=2)
    endpoint = engine.start()
    engine.reset(context.cell)
    facts = engine.describe()
    assert (facts["topology"], facts["shards"], facts["shard key"]) == ("sharded", "2", "_id: hashed")
    fill(endpoint, 3)
    engine.loaded(context.cell, 3)
    engine.settle(context.cell)
    engine.reset(context.cell)
    assert engine.describe()["shard key"] == "_id: hashed", "dropping a collection forgets how it was spread"
    engine.stop()
    assert servers_of(tmp_path) == []


@pytest.mark.long
def test_a_scripted_server_with_tls_is_reached_by_all_who_trust_its_certificate(make: Make, tmp_path: Path) -> None:
    certificate = str(certificate_of("localhost", tmp_path))
    tls = Tls(certificate=certificate, ca=certificate)
    engine, _ = make(started(programs(tmp_path), tmp_path, "replica_set(rs0)", tls=tls), hosts=2)
    endpoint = engine.start()
    assert endpoint.uri
    assert f"tls=true&tlsCAFile={certificate}" in endpoint.uri.value
    assert engine.describe()["topology"] == "replica_set(rs0), 2 members"


@pytest.mark.long
def test_a_measurement_waits_for_scripted_secondaries_to_catch_up(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lag = tmp_path / "lag"
    lag.write_text("40")
    engine, context = make(started(programs(tmp_path), tmp_path, "replica_set(rs0)", max_lag_s=2.0), hosts=2)
    engine.start()
    monkeypatch.setattr("benchbrief.extensions.engines.mongodb.mongo_cluster._CAUGHT_UP_TIMEOUT_S", 0.2)
    with pytest.raises(ServerFailed, match=r"has not caught up within 0 s: 127\.0\.0\.1:\d+ lags \d+ s behind"):
        engine.settle(context.cell)
    monkeypatch.setattr("benchbrief.extensions.engines.mongodb.mongo_cluster._CAUGHT_UP_TIMEOUT_S", 60.0)
    looks: list[int] = []

    def look(status: Mapping[str, Any], max_lag_s: float) -> list[str]:
        found = find_lagging(status, max_lag_s)
        looks.append(len(found))
        lag.write_text("1")
        return found

    monkeypatch.setattr("benchbrief.extensions.engines.mongodb.mongo_cluster.find_lagging", look)
    assert engine.settle(context.cell) == ()
    assert looks == [1, 0], "it was waited for"


def test_a_scripted_server_that_dies_is_reported_by_its_name(make: Make, tmp_path: Path) -> None:
    engine, _ = make(started(programs(tmp_path), tmp_path))
    engine.start()
    engine.healthy()
    os.kill(int((tmp_path / "data/mongod.pid").read_text().split()[0]), signal.SIGKILL)
    until(lambda: servers_of(tmp_path) == [])
    with pytest.raises(ServerFailed, match="last words: mongod waiting"):
        until(engine.healthy, within_s=20)


@pytest.mark.long
def test_a_scripted_server_that_can_t_start_is_reported_with_its_last_words(make: Make, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        engine, _ = make(started(programs(tmp_path), tmp_path, port=taken.getsockname()[1]))
        with pytest.raises(RunnerError, match=r"mongod on db-1 .*Address already in use"):
            engine.start()
    assert "Address already in use" in (tmp_path / "kept/mongod/1/stdout").read_text()


def test_a_program_that_is_not_there_is_reported_with_what_to_do(make: Make, tmp_path: Path) -> None:
    engine, _ = make(started(str(tmp_path / "nowhere/mongod"), tmp_path))
    with pytest.raises(ToolMissing, match=r"nowhere/mongod is not on db-1") as missing:
        engine.start()
    assert "`binary`" in missing.value.hint


def test_a_directory_of_others_is_left_alone(make: Make, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data/precious").write_text("keep me")
    engine, _ = make(started(programs(tmp_path), tmp_path))
    with pytest.raises(RunnerError, match=r"is not empty .precious., and was not made by benchbrief"):
        engine.start()
    assert (tmp_path / "data/precious").read_text() == "keep me"


@pytest.mark.long
def test_a_server_that_the_killed_controller_of_another_run_left_is_ended_first(make: Make, tmp_path: Path) -> None:
    database = started(programs(tmp_path), tmp_path)
    make(database)[0].start()
    (orphan,) = servers_of(tmp_path)
    make(database, owner="other")[0].start()
    assert orphan not in servers_of(tmp_path)


def left_by_its_controller(engine: MongoDB) -> None:
    """Act as if the engine's controller had died, leaving its servers alone."""
    engine._disconnect()
    engine._cluster = None


@pytest.mark.long
def test_scripted_servers_outlive_their_controller_and_the_next_one_of_the_run_attaches_to_them(
    make: Make, tmp_path: Path
) -> None:
    database = started(programs(tmp_path), tmp_path, "sharded", shards=2, auth=AUTH)
    engine, context = make(database, hosts=2)
    endpoint = engine.start()
    fill(endpoint, 3)
    servers, began = sorted(servers_of(tmp_path)), time.time()
    assert (len(servers), len(engine.job_keys())) == (4, 6), "two shards, two configuration servers, and the routers"
    left_by_its_controller(engine)

    resumed, _ = make(database, hosts=2)
    resumed.take_over()
    assert resumed.start() == endpoint
    resumed.require_running_since(began)
    resumed.healthy()
    assert sorted(servers_of(tmp_path)) == servers
    resumed.loaded(context.cell, 3)  # though what was there is gone when such servers are begun anew
    resumed.stop()
    assert servers_of(tmp_path) == []
    assert list(tmp_path.glob("benchbrief-*")) == []
    shown = "".join(path.read_text() for path in (tmp_path / "kept").rglob("*") if path.is_file())
    assert "clean shutdown" in shown
    assert KEY not in shown


@pytest.mark.long
def test_scripted_servers_of_which_one_has_gone_are_all_begun_anew(make: Make, tmp_path: Path) -> None:
    database = started(programs(tmp_path), tmp_path, "replica_set(rs0)")
    engine, _ = make(database, hosts=2)
    engine.start()
    began, servers = time.time(), servers_of(tmp_path)
    left_by_its_controller(engine)
    os.kill(int((tmp_path / "data/rs0-2.pid").read_text().split()[0]), signal.SIGKILL)
    until(lambda: len(servers_of(tmp_path)) == 1)
    resumed, _ = make(database, hosts=2)
    resumed.take_over()
    resumed.start()
    assert set(servers_of(tmp_path)).isdisjoint(servers)
    resumed._running_since += 3600  # what it tells is coarse
    with pytest.raises(ServerFailed, match="started anew meanwhile"):
        resumed.require_running_since(began)


@pytest.mark.long
def test_waiting_for_scripted_secondaries_ends_when_the_run_is_to_stop(make: Make, tmp_path: Path) -> None:
    (tmp_path / "lag").write_text("40")
    engine, context = make(started(programs(tmp_path), tmp_path, "replica_set(rs0)", max_lag_s=2.0), hosts=2)
    engine.stopping = stopping = threading.Event()
    engine.start()
    threading.Timer(0.3, stopping.set).start()
    with pytest.raises(Interrupted):
        engine.settle(context.cell)
    engine.stop()
    assert servers_of(tmp_path) == []
    again, _ = make(started(programs(tmp_path), tmp_path, "replica_set(rs0)"), hosts=2)
    again.stopping = stopping
    with pytest.raises(Interrupted):
        again.start()
    assert servers_of(tmp_path) == [], "no election is waited for"


@pytest.mark.long
def test_the_stand_in_s_data_are_brought_back_from_a_snapshot(make: Make, tmp_path: Path) -> None:
    engine, context = make(started(as_mongod(tmp_path), tmp_path, reset="snapshot"))
    endpoint = engine.start()
    assert not engine.holds(context.cell)
    engine.reset(context.cell)
    fill(endpoint, 3)
    engine.loaded(context.cell, 3)
    assert engine.holds(context.cell)
    assert engine.is_unchanged(context.cell)
    with client(endpoint) as connection:
        connection["ycsb"]["usertable"].update_one({"_id": "user1"}, {"$set": {"field0": "written"}})
        connection["ycsb"]["usertable"].insert_one({"_id": "one more"})
    assert engine.holds(context.cell)
    assert not engine.is_unchanged(context.cell)
    assert "copied back" in engine.restore(context.cell)
    assert engine.is_unchanged(context.cell)
    with client(endpoint) as connection:
        found = list(connection["ycsb"]["usertable"].find())
    assert sorted(each["_id"] for each in found) == ["user0", "user1", "user2"]
    assert all("field0" not in each for each in found)
    engine.healthy()
    engine.stop()
    again, _ = make(started(as_mongod(tmp_path), tmp_path, reset="snapshot", port=engine._database.start.port))  # type: ignore[union-attr]  # it is started
    again.start()
    assert again.holds(context.cell), "a later run needs no load"
