"""Our own MongoDB servers: started on the hardware's hosts, configured as the spec says, and ended.

Each is a background job on its host, whose output is kept. Its data are in a folder of its own below the database's
path, which is ours only when it holds our marker (see `data_directories.py`). The marker records the servers'
layout, since data of another layout can't be used.
"""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from urllib.parse import quote as percent_encode

from benchbrief.model.plan import Database, Dataset, Hardware, Reference, ServerStart
from benchbrief.runners.engines import data_directories
from benchbrief.runners.engines.mongodb.mongo_client import Connection, Refused
from benchbrief.runners.engines.mongodb.mongo_cluster import find_writable
from benchbrief.runners.engines.mongodb.mongo_layout import Layout, Member, layout
from benchbrief.runners.engines.mongodb.mongo_messages import say
from benchbrief.runners.engines.mongodb.mongo_processes import Servers
from benchbrief.runners.engines.server_addresses import address_of
from benchbrief.runners.errors import Interrupted, PlanRefused, RunnerError, ServerFailed
from benchbrief.runners.journal.secret_references import read_reference
from benchbrief.runners.seams import Hosts, Stopping

_LISTEN_TIMEOUT_S = 300.0
"""In seconds. After an unclean end, a server first replays its journal."""
_ELECT_TIMEOUT_S = 120.0
_LOOK_EVERY_S = 0.2
_SELECT_MS = 1000
"""A server that does not answer in this time is asked again while it runs."""
_WRONG_LOGIN, _NOT_ALLOWED, _INITIALIZED = 18, 13, 23


class StartedCluster:
    """The servers of one database on one hardware group. `stopping` is as in `seams.Engine`."""

    def __init__(
        self, database: Database, start: ServerStart, hardware: Hardware, hosts: Hosts, stopping: Stopping
    ) -> None:
        self._database = database
        self._start = start
        self._hardware = hardware
        self._hosts = hosts
        named = [hosts[id_].host.model_copy(update={"name": address_of(hosts[id_])}) for id_ in hardware.hosts]
        self.layout: Layout = layout(database, named, start.port)
        self.servers = Servers(database, hardware, hosts, self.layout)
        self._stopping = stopping
        self._open = ExitStack()
        self._login = self._credentials()
        self._ca: Path | None = None
        self.knows_writers = False
        """Whether each writer since the load or the last restore was noted. Earlier versions did not note them."""

    # --- reaching it ---

    def uri(self, data: str) -> str:
        """Return the load generators' connection string."""
        options = [f"replicaSet={self.layout.shards[0][0].replica_set}"] if self._is_replica_set() else []
        options += ["authSource=admin"] if self._login else []
        options += ["tls=true", f"tlsCAFile={percent_encode(self._start.tls.ca, safe='/')}"] if self._start.tls else []
        return f"mongodb://{self._login}{self.layout.seeds()}/{data}{'?' if options else ''}{'&'.join(options)}"

    def connections(self) -> Iterator[Connection]:
        """Yield the primary of each replica set that holds data. Raises ServerFailed when there is none."""
        for members in self.layout.shards:
            yield self._primary(members)

    def front(self) -> Connection:
        """Return the server through which all data can be read and written: a router, or the primary."""
        if self.layout.routers:
            return self._connect(self.layout.routers[0])
        return self._primary(self.layout.shards[0])

    # --- its life ---

    def start(self) -> None:
        """Attach to servers that run already, or start them.

        Raises ToolMissing, ServerFailed, Interrupted, or RunnerError for a directory that can't be used.
        """
        attached = self.servers.attach()
        for host_id in self._hardware.hosts if not attached else ():
            self._take_directory(host_id)
        if self._start.tls and self._ca is None:
            self._ca = Path(self._open.enter_context(tempfile.TemporaryDirectory())) / "ca.pem"
            self._hosts[self._hardware.hosts[0]].get(self._start.tls.ca, self._ca)
        if not attached:
            self._start_servers()

    def stop(self) -> None:
        """End every server, those that others need last, and keep the output. Raises RunnerError."""
        try:
            self.servers.stop()
        finally:
            self._open.close()
            self._ca = None

    def program(self) -> str:
        """Return the path of `mongod` on the first host. Raises ToolMissing."""
        return self.servers.program(self._hardware.hosts[0], self._start.binary)

    # --- snapshots ---

    def has_snapshot(self, dataset: Dataset) -> bool:
        wanted = self._mark(dataset)
        return all(
            data_directories.read_mark(self._hosts[host], self._path, snapshot=True) == wanted
            for host in self._hardware.hosts
        )

    def take_snapshot(self, dataset: Dataset) -> None:
        """Stop the servers, copy the data on every host, and start again. Raises RunnerError."""
        self.servers.stop()
        for host_id in self._hardware.hosts:
            at = self._hosts[host_id]
            self._require(data_directories.mark_directory(at, self._path, self._mark(dataset)), host_id, "marked")
            self._require(data_directories.take_snapshot(at, self._path, self._stopping), host_id, "copied")
            self._require(data_directories.mark_directory(at, self._path, self._mark()), host_id, "marked")
        self._start_servers()
        self.knows_writers = True

    def restore_snapshot(self) -> None:
        self.servers.stop()
        for host_id in self._hardware.hosts:
            at = self._hosts[host_id]
            self._require(data_directories.restore_snapshot(at, self._path, self._stopping), host_id, "restored")
            self._require(data_directories.mark_directory(at, self._path, self._mark()), host_id, "marked")
        self._start_servers()
        self.knows_writers = True

    # --- directories ---

    @property
    def _path(self) -> str:
        if not self._database.path:
            raise PlanRefused(f"database {self._database.name} has no path", f"add one ({self._database.origin})")
        return self._database.path

    def _mark(self, dataset: Dataset | None = None) -> str:
        shape = [(member.name, member.where) for members in self.layout.sets for member in members]
        text = repr((shape, self._start.auth is not None, self._start.config_sha256))
        found = hashlib.sha256(text.encode()).hexdigest()[:16]
        return f"{found} {dataset.hash}" if dataset else found

    def _take_directory(self, host_id: str) -> None:
        """Make the directory ours. Its contents stay only when servers of the same layout made them."""
        at = self._hosts[host_id]
        self._require(data_directories.open_directory(at, self._path), host_id, "used")
        self._require(self.servers.end_old(host_id, self._stopping), host_id, "used")
        kept = self._database.reset != "drop_and_load" and data_directories.read_mark(at, self._path) == self._mark()
        if not kept:
            self._require(data_directories.empty_directory(at, self._path), host_id, "emptied")
            self._require(data_directories.mark_directory(at, self._path, self._mark()), host_id, "marked")

    def _require(self, problem: str | None, host_id: str, verb: str) -> None:
        if problem is not None:
            raise RunnerError(
                f"the directory of database {self._database.name} on {host_id} can't be {verb}: {problem}",
                f"name a new or empty directory, with room, as its `path` ({self._database.origin})",
            )

    # --- servers ---

    def _start_servers(self) -> None:
        for members in self.layout.sets:
            for member in members:
                self.servers.run(member)
        for members in self.layout.sets:
            self._bring_up(members)
        for router in self.layout.routers:
            self.servers.run(router)
        for router in self.layout.routers:
            self._listening(router).close()
        if self.layout.routers:
            self._add_shards()

    # --- what they are together ---

    def _bring_up(self, members: tuple[Member, ...]) -> None:
        first = self._listening(members[0])
        for member in members[1:]:
            self._listening(member).close()
        try:
            if members[0].replica_set and "setName" not in first.hello():
                self._initiate(first, members)
        finally:
            first.close()
        if self._start.auth:
            self._make_user(members)
        self._primary(members).close()

    def _initiate(self, first: Connection, members: tuple[Member, ...]) -> None:
        config: dict[str, object] = {
            "_id": members[0].replica_set,
            "members": [{"_id": number, "host": member.where} for number, member in enumerate(members)],
        }
        if members[0].role == "config":
            config["configsvr"] = True
        try:
            first.command("replSetInitiate", config)
        except Refused as error:
            if error.server_code != _INITIALIZED:
                raise

    def _make_user(self, members: tuple[Member, ...]) -> None:
        """Make the user, if there is none: a server without users accepts a connection from its own host."""
        auth = self._start.auth
        if auth is None:
            return
        try:
            self._primary(members).close()
            return
        except Refused as error:
            if error.server_code not in (_WRONG_LOGIN, _NOT_ALLOWED):
                raise
        primary = self._primary(members, login=False)
        password = read_reference(auth.password, f"the password of database {self._database.name}")
        try:
            primary.command("createUser", self._user(), pwd=password, roles=["root"])
        except Refused as error:
            raise ServerFailed(
                say.no_login(database=self._database.name, said=error),
                say.hint_password(),
            ) from None
        finally:
            primary.close()

    def _add_shards(self) -> None:
        router = self.front()
        try:
            for members in self.layout.shards:
                seeds = ",".join(member.where for member in members)
                router.command("addShard", f"{members[0].replica_set}/{seeds}")
        finally:
            router.close()

    def _primary(self, members: tuple[Member, ...], *, login: bool = True) -> Connection:
        """Return a connection to the primary, once the other members are there as well."""
        deadline = time.monotonic() + _ELECT_TIMEOUT_S
        while True:
            found, missing = None, []
            for member in members:
                connection = self._connect(member, login=login)
                hello = connection.hello()
                if find_writable(hello) and found is None:
                    found = connection
                    continue
                connection.close()
                if not hello.get("secondary"):
                    missing.append(member.name)
            if found is not None and not missing:
                return found
            if found is not None:
                found.close()
            self._look_again(deadline, f"{members[0].replica_set or members[0].name} has no primary, or not all of it")

    def _listening(self, member: Member) -> Connection:
        deadline = time.monotonic() + _LISTEN_TIMEOUT_S
        while True:
            try:
                return self._connect(member, login=False)
            except Refused:
                raise
            except ServerFailed as error:
                self._look_again(deadline, f"{member.name} on {member.host} does not answer: {error}")

    def _look_again(self, deadline: float, problem: str) -> None:
        """Raises ServerFailed when another look is useless, Interrupted when the run must stop."""
        if self._stopping.is_set():
            raise Interrupted
        ended = self.servers.ended()
        if ended or time.monotonic() > deadline:
            raise ServerFailed(
                say.of_database(database=self._database.name, what=ended or problem), say.hint_server_output()
            )
        self.servers.pause(_LOOK_EVERY_S)

    def _connect(self, member: Member, *, login: bool = True) -> Connection:
        at = self._hosts[member.host]
        with ExitStack() as opened:
            host, port = opened.enter_context(at.forward("127.0.0.1", member.port))
            options = ["directConnection=true"]
            if self._login and login:
                options.append("authSource=admin")
            if self._start.tls:
                # The tunnel leads to the right host, but its certificate has the name that others use.
                options += ["tls=true", f"tlsCAFile={self._ca}", "tlsAllowInvalidHostnames=true"]
            uri = f"mongodb://{self._login if login else ''}{host}:{port}/?{'&'.join(options)}"
            connection = Connection(
                uri,
                self._database,
                partial(self.servers.last_words, member),
                _SELECT_MS,
                tunnel=(host, port),
                to=(member.address, member.port),
            )
            connection.also_close(opened.pop_all())
            return connection

    def _is_replica_set(self) -> bool:
        return not self.layout.routers and bool(self.layout.shards[0][0].replica_set)

    def _user(self) -> str:
        auth = self._start.auth
        if auth is None:
            return ""
        needed_by = f"the user of database {self._database.name}"
        return read_reference(auth.user, needed_by) if isinstance(auth.user, Reference) else auth.user

    def _credentials(self) -> str:
        """Return the `user:password@` of a connection string; "" without access control."""
        auth = self._start.auth
        if auth is None:
            return ""
        password = read_reference(auth.password, f"the password of database {self._database.name}")
        return f"{percent_encode(self._user(), safe='')}:{percent_encode(password, safe='')}@"
