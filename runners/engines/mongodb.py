"""MongoDB: servers that are attached to, or started for the run, or the embedded stand-in.

The controller talks to one server directly (the primary of a replica set, or a mongos), through the hardware's first
host when that is another machine (with TLS, to one that is attached to: straight). Load generators use the URI as it
was given, or that of the servers that were started.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar, Literal

from benchbrief.compiler.plan import Cell, Database, Hardware, Plan
from benchbrief.runners import tools
from benchbrief.runners.contexts import Endpoint
from benchbrief.runners.engines import directories, mongo_server, mongo_uri
from benchbrief.runners.engines.addresses import address_of
from benchbrief.runners.engines.hooks import run_hooks
from benchbrief.runners.engines.mongo_client import Address, Connection
from benchbrief.runners.engines.mongo_cluster import SHARDS_NOT_KNOWN, check_declared, part, wait_caught_up, writable
from benchbrief.runners.engines.mongo_data import Data
from benchbrief.runners.engines.mongo_facts import counters_of, facts_of, status_of
from benchbrief.runners.engines.mongo_layout import unguarded
from benchbrief.runners.engines.mongo_processes import server_keys
from benchbrief.runners.engines.mongo_start import StartedCluster
from benchbrief.runners.errors import Interrupted, ServerFailed
from benchbrief.runners.seams import GoesOn, Hosts, Stopping
from benchbrief.runners.tasks import Secret

_WARM_UP_S = 3.0
_RESTART_SLACK_S = 2.0
_ELECTION_TIMEOUT_S = 30.0
"""A replica set that has lost its primary has another one after some 12 s."""
_LOOK_EVERY_S = 0.5


class MongoDB:
    """See `seams.Engine`, `seams.Restores` and `seams.Settles`."""

    name: ClassVar[str] = "mongodb"

    def __init__(self, plan: Plan, database: Database, hardware: Hardware, hosts: Hosts) -> None:
        self._plan = plan
        self._database = database
        self._hardware = hardware
        self._hosts = hosts
        self._host = hardware.hosts[0]
        self.keep: Path | None = None
        self.stopping: Stopping = GoesOn()
        self._open = ExitStack()
        self._embedded: mongo_server.EmbeddedServer | None = None
        self._cluster: StartedCluster | None = None
        self._entered = False
        self._uri: Secret | None = None
        self._connection: Connection | None = None
        self._data = mongo_uri.DEFAULT_DATABASE
        self._running_since = 0.0
        self._primary_at = ""

    def start(self) -> Endpoint:
        if self._connection is not None:
            self.healthy()
            return Endpoint(uri=self._uri)
        try:
            if not self._entered:
                self._entered = True
                self._hooks("prepare")
            found = self._reached()
            # The options are those of the load: the controller looks after the server in its own way.
            self._uri = Secret(found.having(self._database.options).text, name=f"uri of {self._database.name}")
            self._data = found.database
            self._connect(found)
            check_declared(self._database, self._started())
            if self._embedded and not self._embedded.attached:
                self._warm_up()
        except BaseException:
            self._leave()
            raise
        return Endpoint(uri=self._uri)

    def look(self) -> None:
        if self._database.server != "attach" or self._connection is not None:
            return
        try:
            found = mongo_uri.parse(mongo_uri.resolved(self._database.uri, self._database).value)
            self._data = found.database
            self._connect(found)
            check_declared(self._database, self._started())
        except BaseException:
            self._leave()
            raise

    def describe(self) -> dict[str, str]:
        facts = facts_of(self._started(), self._data_set())
        if self._cluster:
            start = self._database.start
            facts["program"] = self._cluster.program()
            if start and start.config_name:
                facts["config"] = f"{start.config_name} (SHA-256 {start.config_sha256})"
        if self._database.path and (self._embedded or self._cluster):
            facts["path"] = self._database.path
        if self._embedded:
            facts["warm-up"] = f"{_WARM_UP_S:.0f} s of inserts, reads and updates after its start"
        if "stand_in" in facts or self._database.server == "embedded":
            product = facts.get("stand_in") or "mongo-java-server"
            facts["server"] = product
            where = f", with its data {'in a file' if self._database.path else 'in memory'}" if self._embedded else ""
            facts["stand_in"] = (
                f"The server is not MongoDB but a stand-in that speaks its wire protocol, {product}{where}: "
                "its numbers say nothing about MongoDB."
            )
        return facts

    def build(self) -> str:
        if self._database.start:
            host = self._hosts[self._host]
            program = tools.find_program(host, self._database.start.binary)
            return tools.digest(host, program) if program else ""
        if self._database.server != "embedded":
            return ""
        host = self._hosts[self._host]
        return tools.digest_stand_in(host, tools.find_stand_in(host))

    def holds(self, cell: Cell) -> bool:
        """A data set is there when our note names it and no record was added or lost since."""
        if cell.dataset is None or not cell.dataset.reuse:
            return False
        if self._database.reset == "command":
            return True
        if self._database.reset == "snapshot":
            return self._cluster is not None and self._cluster.has_snapshot(cell.dataset)
        writers = self._data_set().writers(cell.dataset)
        return writers is not None and (writers == 0 or self._database.reset == "reuse")

    def reset(self, cell: Cell) -> None:
        del cell  # every data set is in the same collection
        self._data_set().drop(sharded_by_default=self._cluster is not None)

    def restore(self, cell: Cell) -> str:
        if self._database.reset == "command":
            self._hooks("reset")
            self._connect_again()  # it may have restarted the server
            if cell.dataset:
                self._data_set().require(cell.dataset, "the reset commands have brought back others")
            return "brought back by the declared command"
        if self._cluster:
            self._disconnect()
            self._cluster.restore_snapshot()
            self._connect_again()
        return "copied back from the snapshot that was taken after its load"

    def loaded(self, cell: Cell, records: int) -> None:
        if cell.dataset is None:
            return
        self._data_set().loaded(cell.dataset, records)
        if self._database.reset == "snapshot" and self._cluster:
            self._disconnect()
            self._cluster.take_snapshot(cell.dataset)
            self._connect_again()

    def settle(self, cell: Cell) -> tuple[str, ...]:
        told: tuple[str, ...] = ()
        if cell.dataset and self._database.reset in ("reuse", "after_writes"):
            writers = self._data_set().writers(cell.dataset)
            if writers is not None:
                told += directories.aged(writers)
                if self._plan.workloads[cell.workload].writes:
                    self._data_set().count_writer(cell.dataset, writers)
        if self._cluster:
            for primary in self._cluster.connections():
                try:
                    told += wait_caught_up(self._database, [primary], self.stopping)
                finally:
                    primary.close()
            if self._database.start:
                told += unguarded(self._database.start, self._cluster.layout)
        elif part(self._started().hello()).topology == "sharded":
            told += (SHARDS_NOT_KNOWN,)
        else:
            told += wait_caught_up(self._database, [self._started()], self.stopping)
        return tuple(dict.fromkeys(told))

    def counters(self) -> dict[str, float]:
        return counters_of(self._started().command("serverStatus"))

    def status(self) -> dict[str, float]:
        """See `server_status.TellsStatus`."""
        connection = self._started()
        status = connection.command("serverStatus")
        members: Sequence[Mapping[str, Any]] = ()
        if "repl" in status and "setName" in status["repl"]:
            members = connection.command("replSetGetStatus").get("members", ())
        return status_of(status, members)

    def healthy(self) -> None:
        """Raises ServerFailed when the server does not answer, was restarted, or is no longer the one for writes."""
        if self._cluster and (ended := self._cluster.servers.ended()):
            raise ServerFailed(f"database {self._database.name}: {ended}", "look at what it printed, which is kept")
        since = time.time() - self._uptime()
        if since > self._running_since + _RESTART_SLACK_S:
            raise ServerFailed(
                f"the server of database {self._database.name} was restarted {time.time() - since:.0f} s ago",
                "look at its log: what was measured meanwhile is worthless",
            )
        now = part(self._started().hello()).primary
        if now != self._primary_at:
            raise ServerFailed(
                f"the primary of database {self._database.name} is {now or 'none'} now, and was {self._primary_at}",
                "an election stops all writes for seconds: look at the servers' logs",
            )

    def take_over(self) -> None:
        """See `seams.OutlivesController`."""
        self._entered = True

    def job_keys(self) -> Mapping[str, str]:
        """See `seams.OutlivesController`."""
        if self._database.start:
            return server_keys(self._database, self._hardware, self._hosts)
        if self._database.server != "embedded":
            return {}
        return {f"server/{self._database.name}@{self._hardware.key}": self._host}

    def require_running_since(self, at: float) -> None:
        if self._running_since > at + _RESTART_SLACK_S:
            raise ServerFailed(
                f"the server of database {self._database.name} was started anew meanwhile",
                "look at its log: what was measured meanwhile is worthless",
            )

    def stop(self) -> None:
        """Stop what was started; leave attached servers alone. Raises TeardownFailed after that."""
        entered, self._entered = self._entered, False
        self._leave()
        if entered:
            self._hooks("teardown")

    def _leave(self) -> None:
        self._disconnect()
        embedded, self._embedded = self._embedded, None
        cluster, self._cluster = self._cluster, None
        if embedded is not None:
            embedded.stop()
        if cluster is not None:
            cluster.stop()

    def _hooks(self, when: Literal["prepare", "reset", "teardown"]) -> None:
        run_hooks(when, self._database, self._hardware, self._hosts, self.keep, self.stopping)

    def _warm_up(self) -> None:
        """Keep a freshly started server busy: a cold JVM runs at half its speed, all of it in the first cell."""
        connection = self._started()
        with connection.reaching():
            table = connection.collection(self._data, "benchbrief_warm_up")
            ends = time.monotonic() + _WARM_UP_S
            number = 0
            while time.monotonic() < ends and not self.stopping.is_set():
                table.insert_one({"_id": f"user{number}", **{f"field{i}": "x" * 100 for i in range(10)}})
                table.find_one({"_id": f"user{number // 2}"})
                table.update_one({"_id": f"user{number // 3}"}, {"$set": {"field0": "y" * 100}})
                number += 1
            table.drop()

    # --- reaching the server ---

    def _reached(self) -> mongo_uri.MongoUri:
        """How load generators reach the server, which is started where it is ours."""
        if self._database.server == "embedded":
            self._embedded = mongo_server.start(
                self._hosts[self._host], self._bind_address(), self._database.path, self.keep, *self.job_keys()
            )
            return mongo_uri.parse(f"mongodb://{self._embedded.host}:{self._embedded.port}/")
        if self._database.start:
            self._cluster = StartedCluster(
                self._database, self._database.start, self._hardware, self._hosts, self.stopping
            )
            self._cluster.servers.keep = self.keep
            self._cluster.start()
            return mongo_uri.parse(self._cluster.uri(mongo_uri.DEFAULT_DATABASE))
        return mongo_uri.parse(mongo_uri.resolved(self._database.uri, self._database).value)

    def _connect(self, found: mongo_uri.MongoUri) -> None:
        self._connection = self._cluster.front() if self._cluster else self._primary(found)
        self._running_since = time.time() - self._uptime()
        self._primary_at = part(self._connection.hello()).primary

    def _connect_again(self) -> None:
        self._disconnect()
        if self._cluster:
            self._connect(mongo_uri.parse(self._cluster.uri(self._data)))
        elif self._embedded is None:
            self._connect(mongo_uri.parse(mongo_uri.resolved(self._database.uri, self._database).value))
        else:
            self._connect(mongo_uri.parse(f"mongodb://{self._embedded.host}:{self._embedded.port}/"))

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        self._open.close()

    def _bind_address(self) -> str:
        """Where load generators reach the server: they may run on its own host, or name it over the network."""
        keys = {key for key, database in self._plan.databases.items() if database == self._database}
        clients = {host for cell in self._plan.cells if cell.database in keys for host in cell.load_hosts}
        if clients <= {self._host}:
            return "127.0.0.1"
        return address_of(self._hosts[self._host])

    def _primary(self, uri: mongo_uri.MongoUri) -> Connection:
        """A connection to the one server that takes writes. Where there is none just now, an election may be going on.

        Raises ServerFailed.
        """
        if uri.looked_up or uri.encrypted:
            return self._straight(uri)
        deadline = time.monotonic() + _ELECTION_TIMEOUT_S
        while True:
            told, answers = "none of its hosts answers", False
            for name, port in uri.hosts:
                address = self._open.enter_context(self._hosts[self._host].forward(name, port))
                try:
                    connection = self._connected(uri.direct(*address).text, address, (name, port))
                    hello = connection.hello()
                except ServerFailed as error:
                    told = str(error)
                    continue
                if writable(hello):
                    return connection
                told, answers = f"{name}:{port} answers, and is not the primary", True
                connection.close()
            self._open.close()
            if not answers or time.monotonic() > deadline:
                raise ServerFailed(
                    f"no server of database {self._database.name} can be written to: {told}",
                    f"is it running, and the address right? ({self._database.origin})",
                )
            if self.stopping.is_set():
                raise Interrupted
            threading.Event().wait(_LOOK_EVERY_S)

    def _straight(self, uri: mongo_uri.MongoUri) -> Connection:
        """Not through the first host: only the servers' own names fit their certificates (and DNS may know them)."""
        try:
            return self._connected(uri.text)
        except ServerFailed as error:
            raise ServerFailed(
                f"{error} (with TLS or mongodb+srv it is connected to straight from this machine, not through "
                f"{self._host})",
                "can this machine reach it by the name in its uri, and trust its certificate? "
                f"({self._database.origin})",
            ) from error

    def _connected(self, uri: str, tunnel: Address | None = None, to: Address | None = None) -> Connection:
        words = self._embedded.last_words if self._embedded else str
        return Connection(uri, self._database, words, tunnel=tunnel, to=to)

    def _started(self) -> Connection:
        if self._connection is None:
            raise ServerFailed(f"database {self._database.name} was not started", "call start() first")
        return self._connection

    def _data_set(self) -> Data:
        return Data(self._started(), self._data)

    def _uptime(self) -> float:
        status: Mapping[str, Any] = self._started().command("serverStatus")
        millis = status.get("uptimeMillis")
        return float(millis) / 1000 if millis is not None else float(status.get("uptime", 0))
