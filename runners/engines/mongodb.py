"""MongoDB: a running server that is attached to, or the embedded stand-in. The only module that imports pymongo.

The controller talks to one server directly (the primary of a replica set, or a mongos), through the hardware's first
host when that is another machine (with TLS: straight). Load generators use the URI as it was given.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from benchbrief.compiler.plan import Cell, Database, Hardware, Plan
from benchbrief.runners import tools
from benchbrief.runners.engines import mongo_server, mongo_uri
from benchbrief.runners.seams import Endpoint, Hosts, LoadShort, RunnerError, Secret, ServerFailed

if TYPE_CHECKING:
    from pymongo import MongoClient
    from pymongo.collection import Collection

    Client = MongoClient[dict[str, Any]]

_TABLE = "usertable"
"""The collection of all YCSB clients."""
_NOTES = ("benchbrief", "datasets")
"""Database and collection that remember which data set was loaded."""
_SELECT_TIMEOUT_MS = 10_000
_SOCKET_TIMEOUT_MS = 600_000
_WARM_UP_S = 3.0
_RESTART_SLACK_S = 2.0
_NO_SUCH_COMMAND = 59

_WIRED_TIGER = {
    ("cache", "bytes read into cache"): "cache.read_bytes",
    ("cache", "bytes written from cache"): "cache.written_bytes",
    ("block-manager", "bytes read"): "block.read_bytes",
    ("block-manager", "bytes written"): "block.written_bytes",
    ("log", "log sync operations"): "log.syncs",
}


class MongoDB:
    """See `seams.Engine`."""

    name: ClassVar[str] = "mongodb"

    def __init__(self, plan: Plan, database: Database, hardware: Hardware, hosts: Hosts) -> None:
        self._plan = plan
        self._database = database
        self._hardware = hardware
        self._hosts = hosts
        self._host = hardware.hosts[0]
        self.keep: Path | None = None
        self._open = ExitStack()
        self._server: mongo_server.EmbeddedServer | None = None
        self._uri: Secret | None = None
        self._client: Client | None = None
        self._data = mongo_uri.DEFAULT_DATABASE
        self._running_since = 0.0

    def start(self) -> Endpoint:
        if self._client is not None:
            self.healthy()
            return Endpoint(uri=self._uri)
        try:
            if self._database.server == "embedded":
                self._server = mongo_server.start(
                    self._hosts[self._host], self._bind_address(), self._database.path, self.keep
                )
                found = mongo_uri.parse(f"mongodb://{self._server.host}:{self._server.port}/")
            else:
                found = mongo_uri.parse(mongo_uri.resolved(self._database.uri, self._database).value)
            # The options are those of the load: the controller looks after the server in its own way.
            self._uri = Secret(found.having(self._database.options).text, name=f"uri of {self._database.name}")
            self._data = found.database
            self._client = self._primary(found)
            self._running_since = time.time() - self._uptime()
            self._check_topology()
            if self._server:
                self._warm_up()
        except BaseException:
            self.stop()
            raise
        return Endpoint(uri=self._uri)

    def describe(self) -> dict[str, str]:
        build = self._command("buildInfo")
        status = self._command("serverStatus")
        facts = {
            "server": "MongoDB",
            "version": str(build.get("version", "unknown")),
            "topology": self._topology(),
        }
        if engine := status.get("storageEngine", {}).get("name"):
            facts["storage engine"] = str(engine)
        if self._database.path and self._server:
            facts["path"] = self._database.path
        if self._server:
            facts["warm-up"] = f"{_WARM_UP_S:.0f} s of inserts, reads and updates after its start"
        product = build.get("benchbriefStandIn")
        if product or self._database.server == "embedded":
            facts["server"] = str(product or "mongo-java-server")
            where = "in a file" if self._database.path else "in memory"
            facts["stand_in"] = (
                f"The server is not MongoDB but a stand-in that speaks its wire protocol, {facts['server']}, with its "
                f"data {where}: its numbers say nothing about MongoDB."
                if self._server
                else f"The server is not MongoDB but a stand-in that speaks its wire protocol, {facts['server']}: "
                "its numbers say nothing about MongoDB."
            )
        return facts

    def build(self) -> str:
        if self._database.server != "embedded":
            return ""
        host = self._hosts[self._host]
        return tools.digest_stand_in(host, tools.find_stand_in(host))

    def holds(self, cell: Cell) -> bool:
        """A reused data set is there when our note names it and no record was added or lost since."""
        if cell.dataset is None or not cell.dataset.reuse:
            return False
        with self._reaching():
            note = self._notes().find_one({"_id": self._note_id()})
            return (
                note is not None
                and note.get("dataset") == cell.dataset.hash
                and self._table().estimated_document_count() == cell.dataset.records
            )

    def reset(self, cell: Cell) -> None:
        del cell  # every data set is in the same collection
        with self._reaching():
            self._notes().delete_one({"_id": self._note_id()})
            self._table().drop()
            left = self._table().estimated_document_count()
        if left:
            raise RunnerError(
                f"{left} documents are still in {self._data}.{_TABLE} after it was dropped",
                "is another client writing to it?",
            )

    def loaded(self, cell: Cell, records: int) -> None:
        if cell.dataset is None:
            return
        asked = cell.dataset.records
        with self._reaching():
            found = self._table().estimated_document_count()
            if found != asked:  # the estimate comes from metadata, which may lag behind after an unclean stop
                found = self._table().count_documents({})
            if found < asked or records < asked:
                raise LoadShort(
                    f"{asked} records were to be loaded; the load generator says {records}, "
                    f"and {self._data}.{_TABLE} holds {found}",
                    "look at the load's output and the server's log, and load again",
                )
            if found > asked:
                raise RunnerError(
                    f"{self._data}.{_TABLE} holds {found} documents after {asked} were loaded",
                    "is another client writing to it?",
                )
            note = {"dataset": cell.dataset.hash, "records": asked}
            self._notes().replace_one({"_id": self._note_id()}, note, upsert=True)

    def counters(self) -> dict[str, float]:
        status = self._command("serverStatus")
        found: dict[str, float] = {}
        for section in ("opcounters", "network"):
            found |= _numbers(section, status.get(section, {}))
        found |= _numbers(
            "connections", {k: v for k, v in status.get("connections", {}).items() if k == "totalCreated"}
        )
        found |= _numbers("document", status.get("metrics", {}).get("document", {}))
        tiger = status.get("wiredTiger", {})
        for (section, key), name in _WIRED_TIGER.items():
            found |= _numbers("wiredtiger", {name: tiger.get(section, {}).get(key)})
        return found

    def healthy(self) -> None:
        """Raises ServerFailed when the server does not answer, or was restarted since `start`."""
        since = time.time() - self._uptime()
        if since > self._running_since + _RESTART_SLACK_S:
            raise ServerFailed(
                f"the server of database {self._database.name} was restarted {time.time() - since:.0f} s ago",
                "look at its log: what was measured meanwhile is worthless",
            )

    def stop(self) -> None:
        """Stop the embedded server; leave an attached one alone."""
        client, self._client = self._client, None
        server, self._server = self._server, None
        if client is not None:
            client.close()
        self._open.close()
        if server is not None:
            server.stop()

    def _warm_up(self) -> None:
        """Keep a freshly started server busy: a cold JVM runs at half its speed, all of it in the first cell."""
        with self._reaching():
            table = self._table().database["benchbrief_warm_up"]
            ends = time.monotonic() + _WARM_UP_S
            number = 0
            while time.monotonic() < ends:
                table.insert_one({"_id": f"user{number}", **{f"field{i}": "x" * 100 for i in range(10)}})
                table.find_one({"_id": f"user{number // 2}"})
                table.update_one({"_id": f"user{number // 3}"}, {"$set": {"field0": "y" * 100}})
                number += 1
            table.drop()

    # --- reaching the server ---

    def _bind_address(self) -> str:
        """Where load generators reach the server: they may run on its own host, or name it over the network."""
        keys = {key for key, database in self._plan.databases.items() if database == self._database}
        clients = {host for cell in self._plan.cells if cell.database in keys for host in cell.load_hosts}
        if clients <= {self._host}:
            return "127.0.0.1"
        return self._hosts[self._host].host.name

    def _primary(self, uri: mongo_uri.MongoUri) -> Client:
        """A client of the one server that takes writes. Raises ServerFailed."""
        if uri.looked_up or uri.encrypted:
            return self._straight(uri)
        told = "none of its hosts answers"
        for name, port in uri.hosts:
            address = self._open.enter_context(self._hosts[self._host].forward(name, port))
            try:
                client = self._connected(uri.direct(*address))
                with self._reaching():
                    hello = _hello(client)
            except ServerFailed as error:
                told = str(error)
                continue
            if hello.get("isWritablePrimary", hello.get("ismaster")):
                return client
            told = f"{name}:{port} answers, and is not the primary"
            client.close()
        raise ServerFailed(
            f"no server of database {self._database.name} can be written to: {told}",
            f"is it running, and the address right? ({self._database.origin})",
        )

    def _straight(self, uri: mongo_uri.MongoUri) -> Client:
        """Not through the first host: only the servers' own names fit their certificates (and DNS may know them)."""
        try:
            return self._connected(uri)
        except ServerFailed as error:
            raise ServerFailed(
                f"{error} (with TLS or mongodb+srv it is connected to straight from this machine, not through "
                f"{self._host})",
                "can this machine reach it by the name in its uri, and trust its certificate? "
                f"({self._database.origin})",
            ) from error

    def _connected(self, uri: mongo_uri.MongoUri) -> Client:
        from pymongo import MongoClient
        from pymongo.errors import InvalidURI

        with self._reaching():
            # It only warns of an option that it does not know or can't read, and goes on without it.
            with warnings.catch_warnings(record=True) as ignored:
                warnings.simplefilter("always")
                try:
                    client: Client = MongoClient(
                        uri.text,
                        appname="benchbrief",
                        serverSelectionTimeoutMS=_SELECT_TIMEOUT_MS,
                        socketTimeoutMS=_SOCKET_TIMEOUT_MS,
                    )
                except (InvalidURI, ValueError):  # what they say may quote a part of the password
                    raise RunnerError(
                        f"the uri of database {self._database.name} can't be read",
                        "a `/`, `?`, `@`, `:` or `%` in a user or password must be percent-encoded, or come from "
                        f"{{secret(NAME)}}; a port is at most 65535 ({self._database.origin})",
                    ) from None
            try:
                for warning in ignored:
                    if issubclass(warning.category, UserWarning):
                        raise RunnerError(
                            f"the uri of database {self._database.name}: {warning.message}",
                            f"mend the uri's options ({self._database.origin})",
                        )
                client.admin.command("ping")
            except BaseException:
                client.close()
                raise
        return client

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        """Turns what pymongo raises into ServerFailed; its messages hold addresses, never credentials."""
        from pymongo.errors import OperationFailure, PyMongoError

        try:
            yield
        except OperationFailure as error:
            raise ServerFailed(
                f"the server of database {self._database.name} refuses: {_short(error)}",
                "are the credentials in the uri right, and allowed to drop and count collections?",
            ) from None
        except PyMongoError as error:
            said = f"; its last words: {self._server.last_words()}" if self._server else ""
            raise ServerFailed(
                f"the server of database {self._database.name} can't be reached: {_short(error)}{said}",
                "is it running, and the address right?",
            ) from None

    def _started(self) -> Client:
        if self._client is None:
            raise ServerFailed(f"database {self._database.name} was not started", "call start() first")
        return self._client

    def _command(self, name: str) -> Mapping[str, Any]:
        with self._reaching():
            return self._started().admin.command(name)

    def _uptime(self) -> float:
        status = self._command("serverStatus")
        millis = status.get("uptimeMillis")
        return float(millis) / 1000 if millis is not None else float(status.get("uptime", 0))

    def _table(self) -> Collection[dict[str, Any]]:
        return self._started()[self._data][_TABLE]

    def _notes(self) -> Collection[dict[str, Any]]:
        database, collection = _NOTES
        return self._started()[database][collection]

    def _note_id(self) -> str:
        return f"{self._data}.{_TABLE}"

    # --- what it is ---

    def _topology(self) -> str:
        with self._reaching():
            hello = _hello(self._started())
        if hello.get("msg") == "isdbgrid":
            return "sharded"
        if name := hello.get("setName"):
            return f"replica_set({name}), {len(hello.get('hosts', ()))} members"
        return "standalone"

    def _check_topology(self) -> None:
        declared = self._database.topology
        found = self._topology()
        if declared and declared != found.partition(",")[0]:
            raise RunnerError(
                f"database {self._database.name} is declared as {declared}, and the server is {found}",
                f"mend `topology` or the uri ({self._database.origin})",
            )


def _hello(client: Client) -> Mapping[str, Any]:
    """The server's role; `isMaster` is the name that older servers know."""
    from pymongo.errors import OperationFailure

    try:
        return client.admin.command("hello")
    except OperationFailure as error:
        if error.code != _NO_SUCH_COMMAND:
            raise
        return client.admin.command("isMaster")


def _numbers(section: str, values: Mapping[str, Any]) -> dict[str, float]:
    return {
        f"{section}.{name}": float(value)
        for name, value in values.items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }


def _short(error: Exception) -> str:
    """The first sentence: pymongo appends its whole view of the cluster."""
    return str(error).split(", Timeout:")[0].split(", full error:")[0][:300]
