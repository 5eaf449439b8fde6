"""The MongoDB engine: servers that already run, servers started for the run, or the embedded stand-in.

The controller talks to one server directly: the primary of a replica set, or a mongos. It connects through the
hardware's first host if that is another machine. It connects without this detour to a server that already ran and uses
TLS. Load generators use the URI from the spec, or the URI of the servers that we started.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar, Literal

from benchbrief.extend import directories, programs
from benchbrief.extend.common import (
    Cell,
    Database,
    Endpoint,
    GoesOn,
    Hardware,
    Hosts,
    Interrupted,
    Plan,
    PlanRefused,
    Secret,
    ServerFailed,
    Stopping,
    figure,
    now,
)
from benchbrief.extend.engines import (
    Size,
    changes_of,
    command_files,
    listening_address,
    resolve_uri,
    run_hooks,
    secrets_of,
    tolerated,
)
from benchbrief.extensions.engines.mongodb import mongo_data, mongo_layout, mongo_stand_in
from benchbrief.extensions.engines.mongodb.mongo_client import Address, Connection, say
from benchbrief.extensions.engines.mongodb.mongo_cluster import (
    check_declared,
    find_writable,
    part,
    refuse_other_set,
    wait_caught_up,
)
from benchbrief.extensions.engines.mongodb.mongo_data import Data
from benchbrief.extensions.engines.mongodb.mongo_facts import counters_of, facts_of, size_of, status_of, storage_of
from benchbrief.extensions.engines.mongodb.mongo_layout import warn_of_unguarded
from benchbrief.extensions.engines.mongodb.mongo_start import StartedCluster, server_keys

_RESTART_SLACK_S = 2.0
_ELECTION_TIMEOUT_S = 30.0
"""How many seconds to wait for an election. A replica set that has lost its primary takes about 12 s."""
_LOOK_EVERY_S = 0.5


class MongoDB:
    """The MongoDB engine. Implements `seams.Engine`, `seams.Restores`, `seams.Settles` and `seams.ShapesData`."""

    name: ClassVar[str] = "mongodb"
    find_stand_in = staticmethod(mongo_stand_in.find_stand_in)

    def __init__(self, plan: Plan, database: Database, hardware: Hardware, hosts: Hosts) -> None:
        self._plan = plan
        self._database, self._hardware = database, hardware
        self._key = plan.key_of(database, hardware)
        self._hosts, self._host = hosts, hardware.hosts[0]
        self.keep: Path | None = None
        self.stopping: Stopping = GoesOn()
        self._open = ExitStack()
        self._embedded: mongo_stand_in.EmbeddedServer | None = None
        self._cluster: StartedCluster | None = None
        self._entered = False
        self._uri: Secret | None = None
        self._connection: Connection | None = None
        self._data = mongo_layout.DEFAULT_DATABASE
        self._running_since = 0.0
        self._primary_at = ""
        self._build: str | None = None
        """The server's build, read after each start. None until then."""

    def start(self) -> Endpoint:
        if self._connection is not None:
            self.healthy()
            return Endpoint(uri=self._uri)
        try:
            if not self._entered:
                self._entered = True
                self._hooks("prepare")
            found = self._reached()
            # The declared options apply to the load generators' URI only, not to the controller's connection.
            text = found.having(self._database.options).text
            self._uri = Secret(text, name=f"uri of {self._database.name}", of=secrets_of(self._database))
            self._data = found.database
            self._connect(found)
            check_declared(self._database, self._started())
            if self._embedded and not self._embedded.attached:
                mongo_stand_in.warm_up(self._started(), self._data, self.stopping)
        except BaseException:
            self._leave()
            raise
        return Endpoint(uri=self._uri)

    def look(self) -> None:
        if self._database.server != "attach" or self._connection is not None:
            return
        try:
            found = self._uri_of_server()
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
            facts["warm-up"] = say.warm_up_embedded(seconds=figure(mongo_stand_in.WARM_UP_S, ".0f"))
        if "stand_in" in facts or self._database.server == "embedded":
            product = facts.get("stand_in") or "mongo-java-server"
            facts["server"] = product
            kept = say.stand_in_file if self._database.path else say.stand_in_memory
            facts["stand_in"] = (kept if self._embedded else say.stand_in)(product=product)
        return facts | command_files(self._database, self._hardware, self._hosts)

    def shaping(self) -> dict[str, str]:
        """Implement `seams.ShapesData`: the server's storage facts and build, and the files that commands name."""
        facts = command_files(self._database, self._hardware, self._hosts) | storage_of(self._started())
        if self._build is None:
            self._build = self.build()
        return facts | {"build": self._build}

    def build(self) -> str:
        if self._database.start:
            host = self._hosts[self._host]
            program = programs.find_program(host, self._database.start.binary)
            return programs.digest(host, program) if program else ""
        return mongo_stand_in.build(self._hosts[self._host]) if self._database.server == "embedded" else ""

    def holds(self, cell: Cell) -> bool:
        """Return whether the data set is there and another cell may use it, considering how the database is reset."""
        if cell.dataset is None or not cell.dataset.reuse:
            return False
        if self._database.reset == "command":
            return True
        if self._database.reset == "snapshot":
            return self._cluster is not None and self._cluster.has_snapshot(cell.dataset)
        return self._data_set().usable(cell.dataset, tolerated(self._database.reset, self._database.engine))

    def doubt(self, cell: Cell) -> str:
        """Implement `seams.KnowsChanges`: return how other clients have changed the data set."""
        return self._data_set().foreign_changes(cell.dataset) if cell.dataset and cell.dataset.reuse else ""

    def can_undo(self, cell: Cell) -> bool:
        """Implement `seams.Undoes`: return whether the records that cells inserted can be deleted."""
        return mongo_data.can_delete(self._data_set(), cell)

    def undo(self, cell: Cell) -> tuple[bool, str]:
        """Implement `seams.Undoes`: delete the records that cells inserted, from the hosts that load the data set if
        possible."""
        server = mongo_data.Server(self._database, self._uri_of_server(), self._primary_at)
        with mongo_data.find_routes(self._data_set(), server, cell, self._hosts) as routes:
            return mongo_data.delete(self._data_set(), cell, routes, self.stopping)

    def finish(self, cell: Cell) -> None:
        """Implement `seams.KnowsChanges`, with a note in the server."""
        if cell.dataset:
            self._data_set().finish(cell.dataset, changes_of(self._plan.workload_of(cell), cell.events))

    def reset(self, cell: Cell) -> None:
        del cell  # every data set is in the same collection
        self._data_set().drop(sharded_by_default=self._cluster is not None)

    def is_unchanged(self, cell: Cell) -> bool:
        """Implement `seams.KnowsUnchanged`. Returns False if earlier writers may not have been noted."""
        known = self._cluster is not None and self._cluster.knows_writers
        return known and cell.dataset is not None and self._data_set().usable(cell.dataset, ("nothing",))

    def restore(self, cell: Cell) -> str:
        if self._database.reset == "command":
            self._hooks("reset")
            self._connect_again()  # the command may have restarted the server
            if cell.dataset:
                self._data_set().brought_back(cell.dataset)
            return say.restored_by_command()
        if self._cluster:
            self._disconnect()
            self._cluster.restore_snapshot()
            self._connect_again()
        return say.restored()

    def loaded(self, cell: Cell, records: int) -> None:
        if cell.dataset is None:
            return
        self._data_set().loaded(cell.dataset, records)
        if self._database.reset == "snapshot" and self._cluster:
            self._disconnect()
            self._cluster.take_snapshot(cell.dataset)
            self._connect_again()

    def begin(self, cell: Cell) -> tuple[str, ...]:
        """Implement `seams.CountsWriters`, with a note in the server. Does nothing for the resets `drop_and_load` and
        `command`."""
        if cell.dataset is None or self._database.reset in ("drop_and_load", "command"):
            return ()
        writers = self._data_set().begin(cell.dataset, changes_of(self._plan.workload_of(cell), cell.events))
        return directories.warn_of_aged(writers) if self._database.reset == "reuse" else ()

    def settle(self, cell: Cell) -> tuple[str, ...]:
        del cell
        remarks: tuple[str, ...] = ()
        if self._cluster:
            for primary in self._cluster.connections():
                try:
                    remarks += wait_caught_up(self._database, [primary], self.stopping)
                finally:
                    primary.close()
            if self._database.start:
                remarks += warn_of_unguarded(self._database.start, self._cluster.layout)
        elif part(self._started().hello()).topology == "sharded":
            remarks += (say.shards_unknown(),)
        else:
            remarks += wait_caught_up(self._database, [self._started()], self.stopping)
        return tuple(dict.fromkeys(remarks))

    def size(self, cell: Cell) -> Size:
        """Implement `seams.TellsSize`. The size is that of the whole database, including other collections."""
        del cell  # other collections in the database count as well
        return size_of(self._started(), self._data)

    def counters(self) -> dict[str, float]:
        return counters_of(self._started().command("serverStatus"))

    def status(self) -> dict[str, float]:
        """Implement `seams.TellsStatus`. In a replica set, the status includes the secondaries' largest lag."""
        connection = self._started()
        status = connection.command("serverStatus")
        members: Sequence[Mapping[str, Any]] = ()
        if "repl" in status and "setName" in status["repl"]:
            members = connection.command("replSetGetStatus").get("members", ())
        return status_of(status, members)

    def healthy(self) -> None:
        """Raise ServerFailed if the server does not answer, was restarted, or no longer takes writes."""
        if self._cluster and (ended := self._cluster.servers.ended()):
            raise ServerFailed(say.of_database(database=self._database.name, what=ended), say.hint_server_output())
        at = now()
        since = at - self._uptime()
        if since > self._running_since + _RESTART_SLACK_S:
            said = say.server_restarted(database=self._database.name, seconds=figure(at - since, ".0f"))
            raise ServerFailed(said, say.hint_server_log())
        primary = part(self._started().hello()).primary
        if primary != self._primary_at:
            raise ServerFailed(
                say.primary_moved(database=self._database.name, now=primary or "none", before=self._primary_at),
                say.hint_election(),
            )

    def take_over(self) -> None:
        """Implement `seams.OutlivesController`. The prepare commands will not run again."""
        self._entered = True

    def job_keys(self) -> Mapping[str, str]:
        """Implement `seams.OutlivesController`. There are no keys for a server that already ran before the run."""
        if self._database.start:
            return server_keys(self._key, self._database, self._hardware, self._hosts)
        if self._database.server != "embedded":
            return {}
        return {f"server/{self._key}": self._host}

    def require_running_since(self, at: float) -> None:
        if self._running_since > at + _RESTART_SLACK_S:
            raise ServerFailed(say.server_anew(database=self._database.name), say.hint_server_log())

    def stop(self) -> None:
        """Stop the servers that we started, and leave other servers running. Raises TeardownFailed if the user's
        teardown commands fail afterwards."""
        entered, self._entered = self._entered, False
        self._leave()
        if entered:
            self._hooks("teardown")

    def _leave(self) -> None:
        self._disconnect()
        self._build = None
        embedded, cluster, self._embedded, self._cluster = self._embedded, self._cluster, None, None
        if embedded is not None:
            embedded.stop()
        if cluster is not None:
            cluster.stop()

    def _hooks(self, when: Literal["prepare", "reset", "teardown"]) -> None:
        run_hooks(when, self._database, self._hardware, self._hosts, self.keep, self.stopping)

    # --- reaching the server ---

    def _reached(self) -> mongo_layout.MongoUri:
        """Return the URI at which load generators reach the server. If the server is ours, start it first."""
        if self._database.server == "embedded":
            host = self._hosts[self._host]
            self._embedded = mongo_stand_in.start(
                host,
                listening_address(self._plan, self._database, host),
                self._database.path,
                self.keep,
                *self.job_keys(),
            )
        elif self._database.start:
            self._cluster = StartedCluster(
                self._key, self._database, self._database.start, self._hardware, self._hosts, self.stopping
            )
            self._cluster.servers.keep = self.keep
            self._cluster.start()
        return self._uri_of_server()

    def _uri_of_server(self) -> mongo_layout.MongoUri:
        """Return the server's connection string, without the options that only load generators use."""
        if self._embedded:
            return mongo_layout.parse(f"mongodb://{mongo_layout.at_port(self._embedded.host, self._embedded.port)}/")
        if self._cluster:
            return mongo_layout.parse(self._cluster.uri(self._data))
        return mongo_layout.parse(resolve_uri(self._database.uri, self._database).value)

    def _connect(self, found: mongo_layout.MongoUri) -> None:
        self._connection = self._cluster.front() if self._cluster else self._primary(found)
        self._running_since = now() - self._uptime()
        self._primary_at = part(self._connection.hello()).primary

    def _connect_again(self) -> None:
        self._disconnect()
        self._connect(self._uri_of_server())

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        self._open.close()

    def _primary(self, uri: mongo_layout.MongoUri) -> Connection:
        """Return a connection to the server that takes writes, after waiting for the end of an election. Raises
        ServerFailed."""
        if uri.looked_up or uri.encrypted:
            return self._straight(uri)
        asked = uri.having(self._database.options).replica_set
        deadline = time.monotonic() + _ELECTION_TIMEOUT_S
        while True:
            said: str = say.none_answers()
            answers = False
            for name, port in uri.hosts:
                at = mongo_layout.at_port(name, port)
                address = self._open.enter_context(self._hosts[self._host].forward(name, port))
                try:
                    connection = self._connected(uri.direct(*address).text, address, (name, port))
                    hello = connection.hello()
                except ServerFailed as error:
                    said = error.message
                    continue
                try:
                    refuse_other_set(self._database, asked, hello, at)
                except PlanRefused:
                    connection.close()
                    raise
                if find_writable(hello):
                    return connection
                said, answers = say.not_primary(at=at), True
                connection.close()
            self._open.close()
            if not answers or time.monotonic() > deadline:
                raise ServerFailed(
                    say.no_writable(database=self._database.name, said=said),
                    say.hint_running_origin(origin=self._database.origin),
                )
            if self.stopping.is_set():
                raise Interrupted
            threading.Event().wait(_LOOK_EVERY_S)

    def _straight(self, uri: mongo_layout.MongoUri) -> Connection:
        """Connect from this machine instead of through the first host, since only the servers' own names match the
        certificates."""
        try:
            return self._connected(uri.text)
        except ServerFailed as error:
            raise ServerFailed(
                say.connected_straight(said=error.message, host=self._host),
                say.hint_straight(origin=self._database.origin),
            ) from error

    def _connected(self, uri: str, tunnel: Address | None = None, to: Address | None = None) -> Connection:
        words = self._embedded.last_words if self._embedded else str
        return Connection(uri, self._database, words, tunnel=tunnel, to=to)

    def _started(self) -> Connection:
        if self._connection is None:
            raise ServerFailed(say.not_started(database=self._database.name), say.hint_start())
        return self._connection

    def _data_set(self) -> Data:
        return Data(self._started(), self._data)

    def _uptime(self) -> float:
        status: Mapping[str, Any] = self._started().command("serverStatus")
        return float(status.get("uptimeMillis") or 1000 * status.get("uptime", 0)) / 1000
