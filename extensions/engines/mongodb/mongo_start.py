"""MongoDB servers that we start on the hardware's hosts, configure according to the spec, and stop.

Each server is a `ServerJob` and has its own data folder below the database's path. The path is ours only if it holds
our marker (see `data_directories.py`). The marker records the servers' layout, since data written under another layout
can't be used.
"""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from urllib.parse import quote as percent_encode

from benchbrief.extend import directories, programs
from benchbrief.extend.common import (
    Database,
    Dataset,
    Hardware,
    Hosts,
    Interrupted,
    JobFile,
    Message,
    PlanRefused,
    RunnerError,
    Secret,
    ServerFailed,
    Stopping,
    ToolMissing,
)
from benchbrief.extend.engines import (
    END_TIMEOUT_S,
    DatabaseKey,
    Reference,
    ServerJob,
    ServerStart,
    address_of,
    ask_to_end,
    end_old_servers,
    read_reference,
    server_command,
)
from benchbrief.extensions.engines.mongodb.mongo_client import Connection, RefusedByServer, say
from benchbrief.extensions.engines.mongodb.mongo_cluster import find_writable
from benchbrief.extensions.engines.mongodb.mongo_layout import CONFIG_FILE, KEY_FILE, Layout, Member, layout, words

_PROGRAMS = {"router": "mongos", "data": "mongod", "config": "mongod"}


def server_keys(key: DatabaseKey, database: Database, hardware: Hardware, hosts: Hosts) -> dict[str, str]:
    """Return the keys of a database's server jobs, each with its host's id. Returns no keys if we do not start the
    database's servers."""
    if database.start is None:
        return {}
    made = layout(database, [hosts[host_id].host for host_id in hardware.hosts], database.start.port)
    return {_job_key(key, member): member.host for member in made.members}


def _job_key(key: DatabaseKey, member: Member) -> str:
    return f"server/{key}/{member.name}"


class Servers:
    """The server processes of a database on one hardware group. `keep` has the same meaning as in `seams.Engine`."""

    def __init__(self, key: DatabaseKey, database: Database, hosts: Hosts, made: Layout) -> None:
        if database.start is None or not database.path:
            raise PlanRefused(say.database_pathless(database=database.name), say.hint_path(origin=database.origin))
        self._database = database
        self._start = database.start
        self._path = database.path
        self._hosts = hosts
        self._layout = made
        self.keep: Path | None = None
        self._jobs = {
            each.name: ServerJob(hosts[each.host], _job_key(key, each), f"{_PROGRAMS[each.role]} {each.name}")
            for each in made.members
        }

    def attach(self) -> bool:
        """Attach to the servers that an earlier controller started if all of them still run. Otherwise stop them."""
        for name, job in self._jobs.items():
            job.keep = self.keep / name if self.keep else None
        attached = [job.attach() for job in self._jobs.values()]  # attach to all jobs before stopping any
        if all(attached):
            return True
        with suppress(RunnerError):  # keep the output of those that were killed, too
            self.stop()
        return False

    def run(self, member: Member) -> None:
        """Start a server. Raises ToolMissing, RunnerError."""
        start, router = self._start, member.role == "router"
        program = self.program(member.host, start.router if router else start.binary)
        directory = f"{self._path}/{member.name}"
        arguments = words(start, member, directory, self._layout.config, bool(self._layout.routers))
        files = [JobFile(CONFIG_FILE, (start.config,))] if "--config" in arguments else []
        if start.auth and "--keyFile" in arguments:
            key = read_reference(start.auth.key, f"the key of database {self._database.name}")
            files.append(JobFile(KEY_FILE, (Secret(key, name="key"),)))
        self._jobs[member.name].start(server_command(program, directory, arguments), tuple(files))

    def program(self, host_id: str, name: str) -> str:
        """Return the path of a program on a host. Raises ToolMissing."""
        found = programs.find_program(self._hosts[host_id], name)
        if found is None:
            raise ToolMissing(
                say.mongo_missing(program=name, host=host_id),
                say.hint_mongo_missing(origin=self._database.origin),
            )
        return found

    def ended(self) -> str:
        """Return a sentence about a server that ended by itself, with the end of its output. Returns "" if all servers
        run."""
        for member in self._layout.members:
            job = self._jobs[member.name]
            if job.has_ended():
                return say.member_ended(member=member.name, host=member.host, said=job.last_words())
        return ""

    def last_words(self, member: Member) -> str:
        return self._jobs[member.name].last_words()

    def pause(self, seconds: float) -> None:
        """Wait until the seconds have passed or a server ends."""
        next(job for job in self._jobs.values() if job.is_started).wait(seconds)

    def stop(self) -> None:
        """Stop every server, and keep its output. Raises RunnerError.

        Routers stop first, then servers with data, and last the servers with the cluster's configuration. All servers
        of one kind get the signal before we wait for the first of them to end.
        """
        failures = []
        for group in ("router", "data", "config"):
            these = [each for each in self._layout.members if each.role == group and self._jobs[each.name].is_started]
            for each in these:
                ask_to_end(self._hosts[each.host], f"{self._path}/{each.name}")
            for each in these:
                try:
                    self._jobs[each.name].stop(END_TIMEOUT_S)
                except RunnerError as error:
                    failures.append(error)
        if failures:
            raise failures[0]


_LISTEN_TIMEOUT_S = 300.0
"""How many seconds a server may take until it listens. After an unclean stop, it has to replay its journal first."""
_ELECT_TIMEOUT_S = 120.0
_LOOK_EVERY_S = 0.2
_SELECT_MS = 1000
"""How many milliseconds one attempt to connect may take. Attempts are repeated while the server runs."""
_WRONG_LOGIN, _NOT_ALLOWED, _INITIALIZED = 18, 13, 23


class StartedCluster:
    """A cluster that we start on one hardware group: its servers, its users and its snapshots. `stopping` has the same
    meaning as in `seams.Engine`."""

    def __init__(
        self,
        key: DatabaseKey,
        database: Database,
        start: ServerStart,
        hardware: Hardware,
        hosts: Hosts,
        stopping: Stopping,
    ) -> None:
        self._database = database
        self._start = start
        self._hardware = hardware
        self._hosts = hosts
        named = [hosts[id_].host.model_copy(update={"name": address_of(hosts[id_])}) for id_ in hardware.hosts]
        self.layout: Layout = layout(database, named, start.port)
        self.servers = Servers(key, database, hosts, self.layout)
        self._stopping = stopping
        self._open = ExitStack()
        self._login = self._credentials()
        self._ca: Path | None = None
        self.knows_writers = False
        """Whether every writer since the load or the last restore was noted. Earlier versions of benchbrief did not
        note writers."""

    # --- reaching it ---

    def uri(self, data: str) -> str:
        """Return the load generators' connection string."""
        options = [f"replicaSet={self.layout.shards[0][0].replica_set}"] if self._is_replica_set() else []
        options += ["authSource=admin"] if self._login else []
        options += ["tls=true", f"tlsCAFile={percent_encode(self._start.tls.ca, safe='/')}"] if self._start.tls else []
        return f"mongodb://{self._login}{self.layout.seeds()}/{data}{'?' if options else ''}{'&'.join(options)}"

    def connections(self) -> Iterator[Connection]:
        """Yield a connection to the primary of each replica set that holds data. Raises ServerFailed if a set has no
        primary."""
        for members in self.layout.shards:
            yield self._primary(members)

    def front(self) -> Connection:
        """Return a connection to a router or, without routers, to the primary. Either gives access to all data."""
        if self.layout.routers:
            return self._connect(self.layout.routers[0])
        return self._primary(self.layout.shards[0])

    # --- its life ---

    def start(self) -> None:
        """Start the servers, or attach to them if they already run.

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
        """Stop every server, and keep its output. Raises RunnerError."""
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
            directories.read_mark(self._hosts[host], self._path, snapshot=True) == wanted
            for host in self._hardware.hosts
        )

    def take_snapshot(self, dataset: Dataset) -> None:
        """Stop the servers, copy the data on every host, and start the servers again. Raises RunnerError."""
        self.servers.stop()
        for host_id in self._hardware.hosts:
            at = self._hosts[host_id]
            self._require(
                directories.mark_directory(at, self._path, self._mark(dataset)), host_id, say.directory_unmarked
            )
            self._require(directories.take_snapshot(at, self._path, self._stopping), host_id, say.directory_uncopied)
            self._require(directories.mark_directory(at, self._path, self._mark()), host_id, say.directory_unmarked)
        self._start_servers()
        self.knows_writers = True

    def restore_snapshot(self) -> None:
        self.servers.stop()
        for host_id in self._hardware.hosts:
            at = self._hosts[host_id]
            self._require(
                directories.restore_snapshot(at, self._path, self._stopping), host_id, say.directory_unrestored
            )
            self._require(directories.mark_directory(at, self._path, self._mark()), host_id, say.directory_unmarked)
        self._start_servers()
        self.knows_writers = True

    # --- directories ---

    @property
    def _path(self) -> str:
        if not self._database.path:
            raise PlanRefused(
                say.database_pathless(database=self._database.name), say.hint_path(origin=self._database.origin)
            )
        return self._database.path

    def _mark(self, dataset: Dataset | None = None) -> str:
        shape = [(member.name, member.where) for members in self.layout.sets for member in members]
        text = repr((shape, self._start.auth is not None, self._start.config_sha256))
        found = hashlib.sha256(text.encode()).hexdigest()[:16]
        return f"{found} {dataset.hash}" if dataset else found

    def _take_directory(self, host_id: str) -> None:
        """Claim the directory. Its contents are kept only if servers of the same layout wrote them."""
        at = self._hosts[host_id]
        self._require(directories.open_directory(at, self._path), host_id, say.directory_unusable)
        self._require(end_old_servers(at, self._path, self._stopping), host_id, say.directory_unusable)
        kept = self._database.reset != "drop_and_load" and directories.read_mark(at, self._path) == self._mark()
        if not kept:
            self._require(directories.empty_directory(at, self._path), host_id, say.directory_unemptied)
            self._require(directories.mark_directory(at, self._path, self._mark()), host_id, say.directory_unmarked)

    def _require(self, problem: str | None, host_id: str, what: Callable[..., Message]) -> None:
        if problem is not None:
            raise RunnerError(
                what(database=self._database.name, host=host_id, said=problem),
                say.hint_directory_room(origin=self._database.origin),
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
        except RefusedByServer as error:
            if error.server_code != _INITIALIZED:
                raise

    def _make_user(self, members: tuple[Member, ...]) -> None:
        """Create the user if the server has no users. Such a server lets a client on its own host create the first
        one."""
        auth = self._start.auth
        if auth is None:
            return
        try:
            self._primary(members).close()
            return
        except RefusedByServer as error:
            if error.server_code not in (_WRONG_LOGIN, _NOT_ALLOWED):
                raise
        primary = self._primary(members, login=False)
        password = read_reference(auth.password, f"the password of database {self._database.name}")
        try:
            primary.command("createUser", self._user(), pwd=password, roles=["root"])
        except RefusedByServer as error:
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
        """Return a connection to the primary, once all other members are secondaries."""
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
            self._look_again(deadline, say.no_primary_yet(name=members[0].replica_set or members[0].name))

    def _listening(self, member: Member) -> Connection:
        deadline = time.monotonic() + _LISTEN_TIMEOUT_S
        while True:
            try:
                return self._connect(member, login=False)
            except RefusedByServer:
                raise
            except ServerFailed as error:
                self._look_again(deadline, say.member_silent(member=member.name, host=member.host, said=error.message))

    def _look_again(self, deadline: float, problem: str) -> None:
        """Wait before the next check. Raises ServerFailed if another check would be useless, and Interrupted if the run
        must stop."""
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
        """Return the part `user:password@` of a connection string, or "" without access control."""
        auth = self._start.auth
        if auth is None:
            return ""
        password = read_reference(auth.password, f"the password of database {self._database.name}")
        return f"{percent_encode(self._user(), safe='')}:{percent_encode(password, safe='')}@"
