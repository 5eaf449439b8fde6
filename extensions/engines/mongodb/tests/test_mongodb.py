"""Tests MongoDB's embedded stand-in and attached servers. In tests with `scripted` in their names, a script replaces a
server that is not available here."""

from __future__ import annotations

import os
import re
import signal
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pymongo
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from benchbrief.extensions.engines.mongodb.mongodb import MongoDB
from benchbrief.model.events import EngineFacts
from benchbrief.model.plan import Database, Hook, Reference
from benchbrief.runners.driver_contexts import CellContext, Endpoint
from benchbrief.runners.errors import LoadShort, RunnerError, ServerFailed
from benchbrief.runners.host_checks import check_hosts
from benchbrief.runners.hosts.host_connections import HostPool
from benchbrief.runners.journal.measurement_versions import Recorded
from benchbrief.runners.journal.run_identity import RunName
from benchbrief.runners.reuse import Carried, recheck
from benchbrief.runners.seams import Size
from tests.support import cells
from tests.support.mongo_peer import HELLO, scripted_mongod
from tests.support.sshd import sshd
from tests.support.tools import built_tool, system_tool, tools_dir
from tests.support.waiting import until

Make = Callable[..., tuple[MongoDB, CellContext]]
NO_CLIENT = "no client would find it"
WARM_UP = "benchbrief.extensions.engines.mongodb.mongo_stand_in.WARM_UP_S"
"""A short warm-up, since no test depends on the stand-in's speed."""


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Yield a function that makes engines, and stop the engines at the end."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("BENCHBRIEF_TOOLS", str(tools_dir()))
    monkeypatch.setattr(WARM_UP, 0.2)
    started: list[MongoDB] = []

    def made(database: Database, records: int = 3, owner: str = "anyone") -> tuple[MongoDB, CellContext]:
        context = cells.context(cells.ycsb("a", records), database)
        engine = MongoDB(
            context.plan, database, context.hardware, HostPool(context.plan, run_name=RunName(owner=owner))
        )
        started.append(engine)
        return engine, context

    yield made
    for engine in started:
        engine.stop()


def client(endpoint: Endpoint) -> pymongo.MongoClient[dict[str, Any]]:
    assert endpoint.uri
    return pymongo.MongoClient(endpoint.uri.value, serverSelectionTimeoutMS=5000)


def fill(endpoint: Endpoint, records: int) -> None:
    with client(endpoint) as connection:
        connection.get_default_database()["usertable"].insert_many([{"_id": f"user{i}"} for i in range(records)])


# --- the embedded stand-in ---------------------------------------------------------------------------------------


def test_the_embedded_server_is_started_disclosed_and_stopped(make: Make) -> None:
    built_tool("mongo-stand-in")
    engine, _ = make(cells.embedded())
    endpoint = engine.start()
    assert endpoint.uri
    assert endpoint.uri.value.startswith("mongodb://127.0.0.1:")
    assert endpoint.uri.value.endswith("/ycsb")
    assert engine.start() == endpoint, "starting twice is starting once"
    facts = engine.describe()
    assert facts["server"].startswith("mongo-java-server")
    assert "not MongoDB but a stand-in" in facts["stand_in"]
    assert "in memory" in facts["stand_in"]
    assert facts["topology"] == "standalone"
    engine.stop()
    with pytest.raises(pymongo.errors.PyMongoError), client(endpoint) as connection:
        connection.admin.command("ping")


def test_a_load_is_counted_remembered_and_dropped(make: Make) -> None:
    built_tool("mongo-stand-in")
    engine, context = make(cells.embedded())
    endpoint = engine.start()
    engine.reset(context.cell)
    fill(endpoint, 2)
    with pytest.raises(LoadShort, match=r"3 records were to be loaded; the load generator says 3, and .* holds 2"):
        engine.loaded(context.cell, 3)
    assert not engine.holds(context.cell)
    engine.reset(context.cell)
    fill(endpoint, 3)
    engine.loaded(context.cell, 3)
    assert engine.holds(context.cell)
    with client(endpoint) as connection:
        connection["ycsb"]["usertable"].insert_one({"_id": "one more"})
    assert not engine.holds(context.cell), "the last cell added records"
    with pytest.raises(RunnerError, match="holds 4 documents after 3 were loaded"):
        engine.loaded(context.cell, 3)
    engine.reset(context.cell)
    with client(endpoint) as connection:
        assert connection["ycsb"]["usertable"].count_documents({}) == 0


def test_counters_rise_with_the_operations(make: Make) -> None:
    built_tool("mongo-stand-in")
    engine, _ = make(cells.embedded())
    endpoint = engine.start()
    before = engine.counters()
    fill(endpoint, 5)
    after = engine.counters()
    assert after["opcounters.insert"] - before["opcounters.insert"] == 5


def test_a_server_that_died_is_reported_with_its_name(make: Make, tmp_path: Path) -> None:
    built_tool("mongo-stand-in")
    engine, _ = make(cells.embedded(tmp_path / "data"))
    engine.start()
    engine.healthy()
    os.kill(int((tmp_path / "data/server.pid").read_text()), signal.SIGKILL)
    with pytest.raises(ServerFailed, match="server of database mongo can't be reached"):
        until(engine.healthy, within_s=20)


@pytest.mark.long
def test_data_on_disk_outlive_the_server(make: Make, tmp_path: Path) -> None:
    built_tool("mongo-stand-in")
    engine, context = make(cells.embedded(tmp_path / "data"))
    fill(engine.start(), 3)
    engine.loaded(context.cell, 3)
    assert "in a file" in engine.describe()["stand_in"]
    engine.stop()
    again, context = make(cells.embedded(tmp_path / "data"))
    again.start()
    assert again.holds(context.cell)


def test_a_server_left_behind_by_a_killed_controller_is_replaced(make: Make, tmp_path: Path) -> None:
    """The orphan still locks the data. It is found by its process number and its data directory."""
    built_tool("mongo-stand-in")
    orphaned, _ = make(cells.embedded(tmp_path / "data"), owner="another")
    fill(orphaned.start(), 3)
    orphan = int((tmp_path / "data/server.pid").read_text())
    engine, _ = make(cells.embedded(tmp_path / "data"))
    endpoint = engine.start()
    assert not Path(f"/proc/{orphan}").exists()
    with client(endpoint) as connection:
        assert connection["ycsb"]["usertable"].count_documents({}) == 3


def test_a_number_that_another_process_has_now_is_left_alone(make: Make, tmp_path: Path) -> None:
    built_tool("mongo-stand-in")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/server.pid").write_text(str(os.getpid()))
    make(cells.embedded(tmp_path / "data"))[0].start()


def test_a_data_directory_that_can_t_be_used_is_reported_with_the_server_s_words(make: Make, tmp_path: Path) -> None:
    built_tool("mongo-stand-in")
    (tmp_path / "data").mkdir()
    (tmp_path / "data/stand-in.mv").mkdir()
    with pytest.raises(ServerFailed, match=r"embedded MongoDB server on local ended at once: .*cannot open the data"):
        make(cells.embedded(tmp_path / "data"))[0].start()


@contextmanager
def engine_of_another_host(
    database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    load_hosts: tuple[str, ...] = ("local",),
) -> Iterator[tuple[MongoDB, CellContext]]:
    """Yield an engine with one host, which is both under test and the load generator. It is reached through SSH, by a
    name in ~/.ssh/config."""
    system_tool("sshd")
    monkeypatch.setattr(WARM_UP, 0.2)
    monkeypatch.setenv("BENCHBRIEF_TOOLS", str(tools_dir()))
    with sshd(config=f"SetEnv TMPDIR={tmp_path}") as remote:
        monkeypatch.setenv("HOME", str(remote.home))
        monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
        remote.write_config()
        remote.write_known_hosts()
        made = cells.context(cells.ycsb("a", 3), database)
        cell = made.cell.model_copy(update={"load_hosts": load_hosts})
        hosts = {"local": remote.host.model_copy(update={"id": "local"})}
        plan = made.plan.model_copy(update={"hosts": hosts, "cells": (cell,)})
        with HostPool(plan) as pool:
            engine = MongoDB(plan, made.database, made.hardware, pool)
            try:
                yield engine, made
            finally:
                engine.stop()


@pytest.mark.long
def test_the_embedded_server_of_another_host_is_reached_through_ssh(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built_tool("mongo-stand-in")
    with engine_of_another_host(cells.embedded(), tmp_path, monkeypatch) as (engine, made):
        endpoint = engine.start()
        fill(endpoint, 3)
        engine.loaded(made.cell, 3)
        assert engine.holds(made.cell)


@pytest.mark.long
def test_the_embedded_server_of_a_host_with_a_name_for_ssh_alone_listens_where_others_reach_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built_tool("mongo-stand-in")
    with engine_of_another_host(cells.embedded(), tmp_path, monkeypatch, ("elsewhere",)) as (engine, _):
        endpoint = engine.start()
        assert endpoint.uri
        assert endpoint.uri.value.startswith("mongodb://127.0.0.1:")
        fill(endpoint, 3)


@pytest.mark.long
def test_a_server_behind_another_host_is_reported_by_its_own_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchbrief.extensions.engines.mongodb.mongo_client._SELECT_TIMEOUT_MS", 2000)
    with (
        engine_of_another_host(cells.attached("mongodb://127.0.0.1:1/ycsb"), tmp_path, monkeypatch) as (engine, _),
        pytest.raises(ServerFailed, match=r"can't be reached: 127\.0\.0\.1:1: ") as caught,
    ):
        engine.start()
    assert len(re.findall(r"127\.0\.0\.1:\d+", str(caught.value))) == 1


def test_with_tls_a_server_is_connected_to_by_the_name_of_its_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = {"isMaster": HELLO, "serverStatus": STATUS, "buildInfo": BUILD}
    certificate = certificate_of("localhost", tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with scripted_mongod(answers, tls=context) as (_, port):
        uri = f"mongodb://localhost:{port}/ycsb?tls=true&tlsCAFile={certificate}"
        with engine_of_another_host(cells.attached(uri), tmp_path, monkeypatch) as (engine, _):
            engine.start()
            assert engine.describe()["version"] == "7.0.5"


def test_a_server_with_tls_that_this_machine_can_t_reach_says_that_no_other_host_was_asked(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchbrief.extensions.engines.mongodb.mongo_client._SELECT_TIMEOUT_MS", 300)
    with pytest.raises(
        ServerFailed, match=r"can't be reached: .*straight from this machine, not through local"
    ) as caught:
        make(cells.attached("mongodb://127.0.0.1:1/ycsb?tls=true"))[0].start()
    assert "trust its certificate" in caught.value.hint


def certificate_of(name: str, folder: Path) -> Path:
    """Write a key and a self-signed certificate for it to one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(
            subject, subject, key.public_key(), x509.random_serial_number(), now, now + timedelta(1)
        )
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path = folder / "server.pem"
    path.write_bytes(private + certificate.public_bytes(Encoding.PEM))
    return path


# --- an attached server ------------------------------------------------------------------------------------------


def test_an_attached_server_is_left_running(make: Make, server: str) -> None:
    engine, _ = make(cells.attached(f"mongodb://{server}/shop?w=1"))
    endpoint = engine.start()
    assert endpoint.uri
    assert endpoint.uri.value == f"mongodb://{server}/shop?w=1"
    fill(endpoint, 3)
    engine.stop()
    with client(endpoint) as connection:
        assert connection["shop"]["usertable"].count_documents({}) == 3


@pytest.mark.long
def test_looking_at_what_is_measured_runs_none_of_its_commands(make: Make, server: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    hooks = tuple(
        Hook(when=when, line=f"echo {when} >>'{log}'", timeout_s=20.0, origin=cells.ORIGIN)
        for when in ("prepare", "teardown")
    )
    database = cells.attached(f"mongodb://{server}/shop").model_copy(update={"hooks": hooks})
    engine, context = make(database)
    engine.look()
    facts = engine.describe()
    engine.stop()
    (found,) = [each for each in check_hosts(context.plan) if each.what == "database mongo"]
    assert (found.ok, found.detail) == (True, f"{facts['server']} {facts['version']}")
    measured = EngineFacts(at=0.0, database="mongo@box", facts={**facts, "version": "0.1"})
    cell = context.cell
    earlier = Carried(cell, cell, tmp_path, "run", cell.id, 0.0, Recorded(), 1, (), (measured,), {})
    assert f"version is {facts['version']}, and was 0.1" in recheck(context.plan, [earlier]).changed[cell.id]
    assert not log.exists()
    engine.start()
    engine.stop()
    assert log.read_text() == "prepare\nteardown\n"
    assert not list(tmp_path.glob("benchbrief-*")), "nothing of the commands stays on their host"


def test_a_uri_without_a_database_names_ycsb_for_every_client(make: Make, server: str) -> None:
    """By default, YCSB's release would use the database `test`, and go-ycsb would use `ycsb`."""
    endpoint = make(cells.attached(f"mongodb://{server}"))[0].start()
    assert endpoint.uri
    assert endpoint.uri.value == f"mongodb://{server}/ycsb"


def test_an_attached_stand_in_is_disclosed_too(make: Make, server: str) -> None:
    engine, _ = make(cells.attached(f"mongodb://{server}/ycsb"))
    engine.start()
    assert "not MongoDB but a stand-in" in engine.describe()["stand_in"]


def test_references_are_read_from_the_environment(make: Make, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    template = ("mongodb://", Reference(kind="secret", name="MY_SERVER"), "/ycsb")
    database = cells.attached("").model_copy(update={"uri": template})
    with pytest.raises(RunnerError, match="needs the secret MY_SERVER, which is not set") as caught:
        make(database)[0].start()
    assert "export MY_SERVER=" in caught.value.hint
    monkeypatch.setenv("MY_SERVER", server)
    endpoint = make(database)[0].start()
    assert endpoint.uri
    assert endpoint.uri.value == f"mongodb://{server}/ycsb"
    assert server not in repr(endpoint)


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("http://h/", "is not a MongoDB connection string"),
        ("mongodb://user:open-sesame@", "is not a MongoDB connection string"),
        ("mongodb://h:port/", "a port in the database's uri is not a number"),
        ("mongodb://h:99999/", "uri of database mongo can't be read"),
        ("mongodb://u:hush/open-sesame@h/ycsb", "uri of database mongo can't be read"),
        ("mongodb://u:hush?open-sesame@h/ycsb", "uri of database mongo can't be read"),
        ("mongodb://u:hush%open-sesame@h/ycsb", "uri of database mongo can't be read"),
        (
            "mongodb://h/ycsb?w=1&wtimeoutMS=open-sesame",
            "uri of database mongo: The value of wtimeoutms must be an integer",
        ),
    ],
)
def test_a_bad_uri_is_one_clear_message_without_its_secrets(
    make: Make, uri: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchbrief.extensions.engines.mongodb.mongo_client._SELECT_TIMEOUT_MS", 300)
    with pytest.raises(RunnerError, match=said) as caught:
        make(cells.attached(uri))[0].start()
    assert "open-sesame" not in f"{caught.value} {caught.value.hint}"


def test_nobody_listening_is_a_failed_server(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchbrief.extensions.engines.mongodb.mongo_client._SELECT_TIMEOUT_MS", 300)
    with pytest.raises(ServerFailed, match=r"no server of database mongo can be written to: .*Connection refused"):
        make(cells.attached("mongodb://user:open-sesame@127.0.0.1:1/ycsb"))[0].start()


def test_a_standalone_server_is_not_the_declared_replica_set(make: Make, server: str) -> None:
    with pytest.raises(RunnerError, match=r"declared as replica_set\(rs0\), and the server is standalone"):
        make(cells.attached(f"mongodb://{server}/ycsb", topology="replica_set(rs0)"))[0].start()


# --- scripted peers ----------------------------------------------------------------------------------------------

STATUS: dict[str, Any] = {"uptimeMillis": 60_000.0, "opcounters": {"insert": 1}}
BUILD: dict[str, Any] = {
    "version": "7.0.5",
    "gitVersion": "7809d71e84e314b497f282ea8aa06d7ded3eb205",
    "modules": [],
    "allocator": "tcmalloc",
    "javascriptEngine": "mozjs",
    "storageEngines": ["devnull", "wiredTiger"],
}
_CLAIM = {"version": "7.0.42", "gitVersion": "0" * 40, "modules": []}


@pytest.mark.parametrize(
    ("build", "hello", "server", "version"),
    [
        ({**BUILD, **_CLAIM, "ferretdbVersion": "v1.24.0"}, {}, "FerretDB", "1.24.0"),
        ({**_CLAIM, "ferretdb": {"version": "v2.5.0", "package": "docker"}}, {}, "FerretDB", "2.5.0"),
        ({**_CLAIM, "ferretdbVersion": "unknown"}, {}, "FerretDB", None),
        ({**BUILD, "psmdbVersion": "7.0.5-3"}, {}, "Percona Server for MongoDB", "7.0.5-3"),
        ({**_CLAIM, "_t": "BuildInfoResponse"}, {}, "Azure Cosmos DB", None),
        (_CLAIM, {"internal": {"documentdb_versions": ["0.117-0", "0.117.0"], "kind": ""}}, "DocumentDB", "0.117-0"),
        (_CLAIM, {"internal": {"documentdb_versions": [], "kind": "azuredocumentdb"}}, "Azure DocumentDB", None),
        (_CLAIM, {"me": "db1.abc.us-east-1.docdb.amazonaws.com:27017"}, "Amazon DocumentDB", None),
        (_CLAIM, {}, "unknown, speaks MongoDB's protocol", None),
    ],
)
def test_a_scripted_server_of_another_product_is_never_called_mongodb(
    make: Make, build: dict[str, Any], hello: dict[str, Any], server: str, version: str | None
) -> None:
    with scripted_mongod({"isMaster": {**HELLO, **hello}, "serverStatus": STATUS, "buildInfo": build}) as (_, port):
        engine, _ = make(cells.attached(f"mongodb://127.0.0.1:{port}/ycsb"))
        engine.start()
        facts = engine.describe()
        engine.stop()
    assert (facts["server"], facts.get("version")) == (server, version)
    assert facts["protocol"] == f"MongoDB {build['version']}"
    assert "MongoDB's" in facts["other_server"]
    assert "stand_in" not in facts


def test_a_declared_version_is_that_of_the_product_itself(make: Make) -> None:
    answers = {"isMaster": HELLO, "serverStatus": STATUS, "buildInfo": {**_CLAIM, "ferretdbVersion": "v1.24.0"}}
    with scripted_mongod(answers) as (_, port):
        engine, _ = make(cells.attached(f"mongodb://127.0.0.1:{port}/ycsb", version="1.24"))
        engine.start()
        engine.stop()
        with pytest.raises(RunnerError, match=r"declared as version 7\.0, and the server is FerretDB 1\.24\.0"):
            make(cells.attached(f"mongodb://127.0.0.1:{port}/ycsb", version="7.0"))[0].start()


def test_a_scripted_mongod_is_mongodb(make: Make) -> None:
    with scripted_mongod({"isMaster": HELLO, "serverStatus": STATUS, "buildInfo": BUILD}) as (_, port):
        engine, _ = make(cells.attached(f"mongodb://127.0.0.1:{port}/ycsb"))
        engine.start()
        facts = engine.describe()
        engine.stop()
    assert (facts["server"], facts["version"]) == ("MongoDB", "7.0.5")
    assert not {"other_server", "protocol"} & set(facts)


def test_a_server_outside_of_the_replica_set_that_its_uri_asks_for_is_refused_at_once(make: Make, server: str) -> None:
    asking = cells.attached(f"mongodb://{server}/ycsb?w=1&replicaSet=rs0")
    for touch in ("start", "look"):
        with pytest.raises(RunnerError) as refused:
            getattr(make(asking)[0], touch)()
        assert str(refused.value).endswith(f"the replica set `rs0`, and the server at {server} is in none: {NO_CLIENT}")
        assert "mend `replicaSet=` in the uri, or leave it out (" in refused.value.hint


def test_a_scripted_member_of_another_replica_set_is_refused_and_one_that_gets_its_configuration_is_waited_for(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = {**HELLO, "setName": "rs1", "hosts": ["a"], "ismaster": True}
    with scripted_mongod({"isMaster": other, "serverStatus": STATUS, "buildInfo": BUILD}) as (_, port):
        uri = f"mongodb://127.0.0.1:{port}/ycsb?replicaset=rs0"
        with pytest.raises(RunnerError, match=f"127.0.0.1:{port} is in `rs1`: {NO_CLIENT}"):
            make(cells.attached(uri))[0].start()
        make(cells.attached(uri.replace("rs0", "rs1")))[0].start()
    monkeypatch.setattr("benchbrief.extensions.engines.mongodb.mongodb._ELECTION_TIMEOUT_S", 0.1)
    fresh = {**HELLO, "ismaster": False, "isreplicaset": True}
    with (
        scripted_mongod({"isMaster": fresh, "serverStatus": STATUS, "buildInfo": BUILD}) as (_, port),
        pytest.raises(ServerFailed, match="answers, and is not the primary"),
    ):
        make(cells.attached(f"mongodb://127.0.0.1:{port}/ycsb?replicaSet=rs0"))[0].start()


def test_the_primary_of_a_scripted_replica_set_is_found_among_its_members(make: Make) -> None:
    member = {**HELLO, "setName": "rs0", "hosts": ["a", "b", "c"], "ismaster": False, "secondary": True}
    primary = {**member, "ismaster": True, "isWritablePrimary": True, "secondary": False}
    answers: dict[str, Any] = {"serverStatus": STATUS, "buildInfo": BUILD}
    with (
        scripted_mongod({"isMaster": member, **answers}) as (_, first),
        scripted_mongod({"isMaster": primary, **answers, "serverStatus": {**STATUS, "network": {"bytesIn": 7}}}) as (
            _,
            second,
        ),
    ):
        uri = f"mongodb://127.0.0.1:{first},127.0.0.1:{second}/ycsb?replicaSet=rs0"
        engine, _ = make(cells.attached(uri, topology="replica_set(rs0)"))
        endpoint = engine.start()
        assert endpoint.uri
        assert endpoint.uri.value == uri, "load generators find the primary themselves"
        assert engine.describe()["topology"] == "replica_set(rs0), 3 members"
        assert "stand_in" not in engine.describe()
        assert engine.counters()["network.bytesIn"] == 7
        engine.stop()


def test_a_scripted_replica_set_without_a_primary_is_a_failed_server(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchbrief.extensions.engines.mongodb.mongodb._ELECTION_TIMEOUT_S", 0.5)
    member = {**HELLO, "setName": "rs0", "hosts": ["a"], "ismaster": False, "secondary": True}
    with (
        scripted_mongod({"isMaster": member}) as (_, port),
        pytest.raises(ServerFailed, match="answers, and is not the primary"),
    ):
        make(cells.attached(f"mongodb://127.0.0.1:{port}/ycsb"))[0].start()


def test_a_scripted_router_is_a_sharded_cluster(make: Make) -> None:
    answers = {"isMaster": {**HELLO, "msg": "isdbgrid"}, "serverStatus": STATUS, "buildInfo": BUILD}
    with scripted_mongod(answers) as (_, port):
        engine, context = make(cells.attached(f"mongodb://127.0.0.1:{port}/ycsb", topology="sharded"))
        engine.start()
        assert engine.describe()["topology"] == "sharded"
        (text,) = engine.settle(context.cell)
        assert "whether the secondaries of the shards had caught up is not known" in text
        engine.stop()


def test_a_scripted_server_s_wiredtiger_counters_are_kept(make: Make) -> None:
    status = {
        **STATUS,
        "storageEngine": {"name": "wiredTiger"},
        "connections": {"current": 5, "totalCreated": 9},
        "wiredTiger": {"cache": {"bytes read into cache": 1234, "other": 5}},
    }
    with scripted_mongod({"isMaster": HELLO, "serverStatus": status, "buildInfo": BUILD}) as (_, port):
        engine, _ = make(cells.attached(f"mongodb://127.0.0.1:{port}/ycsb"))
        engine.start()
        assert engine.counters() == {
            "opcounters.insert": 1,
            "connections.totalCreated": 9,
            "wiredtiger.cache.read_bytes": 1234,
        }
        assert engine.describe()["storage engine"] == "wiredTiger"
        engine.stop()


def test_a_scripted_server_that_was_restarted_meanwhile_is_a_failed_server(make: Make) -> None:
    status = dict(STATUS)
    answers = {"isMaster": HELLO, "serverStatus": status}
    with scripted_mongod(answers) as (_, port):
        engine, _ = make(cells.attached(f"mongodb://127.0.0.1:{port}/ycsb"))
        engine.start()
        engine.healthy()
        status["uptimeMillis"] = 400.0
        with pytest.raises(ServerFailed, match="was restarted 0 s ago"):
            engine.healthy()
        engine.stop()


def test_a_scripted_refusal_names_what_to_do(make: Make) -> None:
    with (
        scripted_mongod({"isMaster": HELLO}) as (_, port),
        pytest.raises(ServerFailed, match="refuses: no such command: 'serverStatus'") as caught,
    ):
        make(cells.attached(f"mongodb://127.0.0.1:{port}/ycsb"))[0].start()
    assert "credentials" in caught.value.hint


@pytest.mark.long
def test_what_shapes_a_data_set_in_a_server_is_its_version_its_build_and_its_storage(make: Make) -> None:
    built_tool("mongo-stand-in")
    engine, _ = make(cells.embedded())
    engine.start()
    shaping = engine.shaping()
    assert re.fullmatch("[0-9a-f]{64}", shaping["build"])
    assert shaping["version"] == engine.describe()["version"]


def test_the_size_of_a_scripted_server_s_data_is_that_of_collections_and_indexes(make: Make) -> None:
    usual = {"storageSize": 4096.0, "indexSize": 1024.0, "dataSize": 10_000.0}
    answers = {"isMaster": HELLO, "serverStatus": STATUS, "buildInfo": BUILD}
    for stats, size in (
        (usual, Size(5120.0, 10_000.0)),
        ({**usual, "storageSize": 0}, Size(None, 10_000.0, "the server does not tell its storageSize (`dbStats`)")),
        ({"ok": 1}, None),
    ):
        with scripted_mongod({**answers, "dbStats": stats}) as (_, port):
            engine, context = make(cells.attached(f"mongodb://127.0.0.1:{port}/ycsb"))
            engine.start()
            found = engine.size(context.cell)
            engine.stop()
        assert found == size if size else (found.on_disk, found.logical) == (None, None)
