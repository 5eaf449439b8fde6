"""The base of engines whose server the run starts: one program on one host, with its data in the database's directory.
If the database has a `uri`, its server already runs, and the engine only queries it.

An engine supplies the command line, the check that the server answers, and the contents of the data set. Everything
else is here: declared commands, the directory and its contents, servers that were left behind, the job and its kept
output, the takeover by a later controller, and the shutdown.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from benchbrief.model.message import Message
from benchbrief.model.plan import Database, Hardware, Plan
from benchbrief.model.run_messages import say
from benchbrief.runners.driver_contexts import Endpoint
from benchbrief.runners.engines import data_directories
from benchbrief.runners.engines.connection_strings import resolve_uri
from benchbrief.runners.engines.declared_hooks import run_hooks
from benchbrief.runners.engines.server_addresses import listening_address
from benchbrief.runners.engines.server_job import END_TIMEOUT_S, ServerJob, ask_to_end, end_old_servers, server_command
from benchbrief.runners.errors import PlanRefused, RunnerError, ServerFailed, ToolMissing
from benchbrief.runners.hosts import tool_discovery
from benchbrief.runners.jobs.tasks import Command, Completed, JobFile, Word
from benchbrief.runners.journal import controller_clock
from benchbrief.runners.journal.secret_masking import Secret
from benchbrief.runners.journal.secret_references import secrets_of
from benchbrief.runners.seams import GoesOn, Hosts, Stopping

CONFIG_FILE = "server.conf"
"""The name, in the server's working directory, of the configuration file that the spec sets with `config`."""
_LISTEN_TIMEOUT_S = 300.0
"""How many seconds a server may take to answer. After an unclean shutdown, it may have to replay its journal first."""


class StartedServer(ABC):
    """An engine's server on the hardware's first host. Implements `Engine` and `OutlivesController`, except for `name`,
    `describe`, `holds`, `reset` and `loaded`.

    `host` is the server's host, `port` is its port, and `directory` is the folder for its data. `config` is the name of
    its configuration file, or "" if there is none.

    An `attached` server is one that already runs. Its `host` is the first load generator's host, since the server can
    certainly be reached from there. It has no port and no directory.
    """

    def __init__(self, plan: Plan, database: Database, hardware: Hardware, hosts: Hosts) -> None:
        """Raises RunnerError if the database's server must not be started, or if the database has no `path`."""
        self.attached = database.server == "attach"
        start = None if self.attached else database.start
        if not self.attached and not (start and database.path):
            raise PlanRefused(say.database_pathless(database=database.name), say.hint_path(origin=database.origin))
        self.keep: Path | None = None
        self.stopping: Stopping = GoesOn()
        self.plan, self.database, self.hardware, self.hosts = plan, database, hardware, hosts
        self.host = hosts[_asked_from(plan, database, hardware) if self.attached else hardware.hosts[0]]
        self.port = start.port if start else 0
        self.directory = f"{database.path}/server" if start else ""
        self.config = CONFIG_FILE if start and start.config else ""
        self._path, self._binary = database.path or "", start.binary if start else ""
        self._config, self._config_sha256 = (start.config, start.config_sha256) if start else ("", "")
        key = f"server/{plan.key_of(database, hardware)}" if start else ""
        self._job = ServerJob(self.host, key, Path(self._binary).name)
        self._entered = False
        self._started_at = 0.0
        """When the server was started, by the controller's clock, or 0 if an earlier controller started it."""

    # --- what an engine supplies ---

    @abstractmethod
    def arguments(self) -> Sequence[Word]:
        """Return the words that follow the program on the server's command line."""

    @abstractmethod
    def ready(self) -> str:
        """Return "" if the server answers, otherwise its error message or what is missing. Does not raise an error if
        the server does not answer."""

    @abstractmethod
    def uri(self) -> str:
        """Return the URI at which load generators reach a server that the run has started. It is made from `address`
        and `port`."""

    def files(self) -> Sequence[JobFile]:
        """Return additional files for the server's working directory."""
        return ()

    def make_directory(self) -> None:  # noqa: B027  # most programs make it themselves
        """Make `directory` for a program that does not make it itself. Raises RunnerError if it already exists."""

    # --- its life ---

    @property
    def address(self) -> str:
        """The address on which the server listens: the loopback if only its own host reaches it. Raises HostError."""
        return listening_address(self.plan, self.database, self.host)

    @property
    def program(self) -> str:
        """The path of the program, found by its name. Raises ToolMissing."""
        found = tool_discovery.find_program(self.host, self._binary)
        if found is None:
            raise ToolMissing(
                say.server_program_missing(program=self._binary, host=self.host.host.id),
                say.hint_program(origin=self.database.origin),
            )
        return found

    def start(self) -> Endpoint:
        """Start the server, or attach to it if it already runs, and wait until it is ready.

        Data from an earlier run are kept if a server with the same command line made them, unless the spec says to load
        the database each time. Raises ToolMissing, ServerFailed, Interrupted, or RunnerError for a directory that can't
        be used.
        """
        if self._job.is_started:
            self.healthy()
            return self.endpoint()
        if not self._entered:
            self._entered = True
            self._hooks("prepare")
        if self.attached:
            self.healthy()
            return self.endpoint()
        try:
            self._job.keep = self.keep
            if self._job.attach():
                self._wait()
            else:
                self._job.stop()
                self._take_directory()
                self._run()
        except BaseException:
            self._end()
            raise
        return self.endpoint()

    def restart(self, meanwhile: Callable[[], object] | None = None) -> None:
        """End the server, do something to its data, and start it again. Raises the same errors as `start`."""
        self._end()
        if meanwhile:
            meanwhile()
        self._run()

    def stop(self) -> None:
        """End the server, keep its output, and run the teardown. The data stay. Raises RunnerError."""
        entered, self._entered = self._entered, False
        self._end()
        if entered:
            self._hooks("teardown")

    def healthy(self) -> None:
        """Raise ServerFailed if the server does not run or does not answer."""
        if self.attached:
            if said := self.ready():
                hint = say.hint_reach(origin=self.database.origin)
                raise ServerFailed(say.of_server(database=self.database.name, what=said), hint)
            return
        if not self._job.is_started:
            raise ServerFailed(say.not_started(database=self.database.name), say.hint_start())
        if self._job.has_ended():
            raise self._failed(
                say.process_ended(name=self._job.title, host=self.host.host.id, said=self._job.last_words())
            )
        if said := self.ready():
            raise self._failed(say.process_deaf(name=self._job.title, host=self.host.host.id, seconds="0", said=said))

    def look(self) -> None:
        """Query a server that already runs. Does nothing if the run still has to start the server."""
        if self.attached:
            self.healthy()

    def build(self) -> str:
        found = tool_discovery.find_program(self.host, self._binary) if self._binary else None
        return tool_discovery.digest(self.host, found) if found else ""

    def counters(self) -> dict[str, float]:
        return {}

    def take_over(self) -> None:
        self._entered = True

    def job_keys(self) -> Mapping[str, str]:
        return {} if self.attached else {self._job.key: self.host.host.id}

    def require_running_since(self, at: float) -> None:
        if self._started_at > at:
            raise ServerFailed(say.server_anew(database=self.database.name), say.hint_server_log())

    # --- for an engine's own methods ---

    def endpoint(self) -> Endpoint:
        """Return where the load generators reach the server. Raises RunnerError."""
        if self.attached:
            return Endpoint(uri=resolve_uri(self.database.uri, self.database))
        return Endpoint(uri=Secret(self.uri(), name=f"uri of {self.database.name}", of=secrets_of(self.database)))

    def run(self, *words: Word, timeout_s: float = 60.0) -> Completed:
        """Run a short command on `host`, such as a client that queries the server. Raises HostError."""
        return self.host.run(Command(words), timeout_s=timeout_s)

    def restore_by_command(self) -> str:
        """Run the command declared by `reset = command(...)`, and return what was done, as `Restores` does. Raises
        RunnerError."""
        self._hooks("reset")
        self.healthy()
        return say.restored_by_command()

    # --- within ---

    def _run(self) -> None:
        own = (JobFile(CONFIG_FILE, (self._config,)),) if self.config else ()
        command = server_command(self.program, self.directory, self.arguments())
        self._job.start(command, (*own, *self.files()))
        self._wait()
        self._started_at = controller_clock.now()

    def _wait(self) -> None:
        if wrong := self._job.wait_for(self.ready, _LISTEN_TIMEOUT_S, self.stopping):
            raise self._failed(wrong)

    def _end(self) -> None:
        if self._job.is_started:
            ask_to_end(self.host, self.directory)
            self._job.stop(END_TIMEOUT_S)

    def _hooks(self, when: Literal["prepare", "reset", "teardown"]) -> None:
        run_hooks(when, self.database, self.hardware, self.hosts, self.keep, self.stopping)

    def _take_directory(self) -> None:
        """Claim the directory. Empty it unless a server with the same command line wrote its contents."""
        text = repr((self.database.engine, self._config_sha256, [str(each) for each in self.arguments()]))
        at, path, mark = self.host, self._path, hashlib.sha256(text.encode()).hexdigest()[:16]
        self._require(data_directories.open_directory(at, path))
        self._require(end_old_servers(at, path, self.stopping))
        if self.database.reset != "drop_and_load" and data_directories.read_mark(at, path) == mark:
            return
        self._require(data_directories.empty_directory(at, path))
        self.make_directory()
        self._require(data_directories.mark_directory(at, path, mark))

    def _require(self, problem: str | None) -> None:
        if problem is not None:
            raise RunnerError(
                say.directory_unusable(database=self.database.name, host=self.host.host.id, said=problem),
                say.hint_new_directory(origin=self.database.origin),
            )

    def _failed(self, what: Message) -> ServerFailed:
        return ServerFailed(say.of_server(database=self.database.name, what=what), say.hint_kept_output())


def _asked_from(plan: Plan, database: Database, hardware: Hardware) -> str:
    """Return the host of a database's first load generator on a hardware group. Servers that already run are queried
    from it."""
    key = plan.key_of(database, hardware)
    return next(
        (each.load_hosts[0] for each in plan.cells if each.database == key and each.load_hosts), hardware.hosts[0]
    )
