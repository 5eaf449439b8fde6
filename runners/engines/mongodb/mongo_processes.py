"""The processes of our MongoDB servers, each a background job on its host with a key of its own.

A controller that takes a run over attaches to them if all of them still run.
"""

from __future__ import annotations

import tempfile
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from benchbrief.model.plan import Database, DatabaseKey, Hardware
from benchbrief.runners.engines.mongodb.mongo_layout import CONFIG_FILE, KEY_FILE, Layout, Member, layout, words
from benchbrief.runners.engines.mongodb.mongo_messages import say
from benchbrief.runners.errors import PlanRefused, RunnerError, ToolMissing
from benchbrief.runners.hosts import tool_discovery
from benchbrief.runners.jobs.connection_retry import run_persistently
from benchbrief.runners.jobs.long_commands import run_to_end
from benchbrief.runners.jobs.shell_scripts import read_script
from benchbrief.runners.jobs.tasks import Command, File, Job
from benchbrief.runners.journal.secret_masking import Secret
from benchbrief.runners.journal.secret_references import read_reference
from benchbrief.runners.seams import Hosts, RunningJob, Stopping

_END_TIMEOUT_S = 120.0
"""In seconds. A server writes a checkpoint of its whole cache before it ends."""


_RUN = read_script(__file__, "scripts/run_server.sh")

_END = read_script(__file__, "scripts/end_server.sh")

_END_OLD = read_script(__file__, "scripts/end_old_servers.sh")


@dataclass
class _Running:
    member: Member
    job: RunningJob

    def last_words(self) -> str:
        with suppress(RunnerError):
            return " ".join(self.job.tail(600).split())[-300:] or say.said_nothing()
        return ""


def server_keys(database: Database, hardware: Hardware, hosts: Hosts) -> dict[str, str]:
    """Return the keys of all servers' jobs of a database that is started, each with the id of its host."""
    if database.start is None:
        return {}
    made = layout(database, [hosts[host_id].host for host_id in hardware.hosts], database.start.port)
    return {_key(database, hardware, member): member.host for member in made.members}


def _key(database: Database, hardware: Hardware, member: Member) -> str:
    return f"server/{DatabaseKey.of(database.name, hardware.key)}/{member.name}"


class Servers:
    """The servers of one database on one hardware group. `keep` is as in `seams.Engine`."""

    def __init__(self, database: Database, hardware: Hardware, hosts: Hosts, made: Layout) -> None:
        if database.start is None or not database.path:
            raise PlanRefused(f"database {database.name} has no path", f"add one ({database.origin})")
        self._database = database
        self._start = database.start
        self._path = database.path
        self._hardware = hardware
        self._hosts = hosts
        self._layout = made
        self.keep: Path | None = None
        self._running: dict[str, _Running] = {}

    def attach(self) -> bool:
        """Attach to the servers that an earlier controller of the run started if all run, else end them."""
        states = {
            member: self._hosts[member.host].find(_key(self._database, self._hardware, member))
            for member in self._layout.members
        }
        for member, state in states.items():
            if state is not None:
                self.run(member)  # attaches to the job with this key
        if all(state == "running" for state in states.values()):
            return True
        with suppress(RunnerError):  # keep the output of those that were killed, too
            self.stop()
        return False

    def end_old(self, host_id: str, stopping: Stopping) -> str | None:
        """End servers on these data that are no jobs of this run. Returns None on success, else what is wrong.

        Raises Interrupted when the run must stop. The servers then continue to end by themselves.
        """
        end = Command(("sh", "-c", _END_OLD, "sh", self._path))
        ran = run_to_end(self._hosts[host_id], Job("end_old_servers", end, timeout_s=_END_TIMEOUT_S + 30), stopping)
        return (ran.said or "its old servers did not end") if ran.exit_code != 0 else None

    def run(self, member: Member) -> None:
        """Start a server. Raises ToolMissing, RunnerError."""
        start, router = self._start, member.role == "router"
        program = self.program(member.host, start.router if router else start.binary)
        directory = f"{self._path}/{member.name}"
        arguments = words(start, member, directory, self._layout.config, bool(self._layout.routers))
        files = [File(CONFIG_FILE, (start.config,))] if "--config" in arguments else []
        if start.auth and "--keyFile" in arguments:
            key = read_reference(start.auth.key, f"the key of database {self._database.name}")
            files.append(File(KEY_FILE, (Secret(key, name="key"),)))
        job = Job(
            f"{'mongos' if router else 'mongod'} {member.name}",
            Command(("sh", "-c", _RUN, "sh", program, directory, *arguments)),
            timeout_s=float("inf"),
            files=tuple(files),
            background=True,
            key=_key(self._database, self._hardware, member),
        )
        self._running[member.name] = _Running(member, self._hosts[member.host].start(job))

    def program(self, host_id: str, name: str) -> str:
        """Return the path of a program on a host. Raises ToolMissing."""
        found = tool_discovery.find_program(self._hosts[host_id], name)
        if found is None:
            raise ToolMissing(
                f"{name} is not on {host_id}, or can't be run there",
                f"install MongoDB there, or say where it is by `binary` ({self._database.origin})",
            )
        return found

    def ended(self) -> str:
        """Return which server ended by itself, with the end of its output; "" when all run."""
        for each in self._running.values():
            if each.job.wait(0):
                return say.member_ended(member=each.member.name, host=each.member.host, said=each.last_words())
        return ""

    def last_words(self, member: Member) -> str:
        running = self._running.get(member.name)
        return running.last_words() if running else ""

    def pause(self, seconds: float) -> None:
        """Wait for so many seconds, or until a server ends."""
        next(iter(self._running.values())).job.wait(seconds)

    def stop(self) -> None:
        """End every server, and keep the output. Raises RunnerError.

        Routers end first. All get the signal before the first wait, except those that others still need.
        """
        failures = []
        for group in ("router", "data", "config"):
            these = [each for each in self._running.values() if each.member.role == group]
            for each in these:
                with suppress(RunnerError):
                    self._end_process(each.member)
            for each in these:
                del self._running[each.member.name]
                try:
                    underway = self._hosts[each.member.host].session.underway
                    with underway.waited_for(f"{each.member.name} on {each.member.host} to end", _END_TIMEOUT_S):
                        each.job.wait(_END_TIMEOUT_S)
                    each.job.stop()
                    _collect(each.job, self.keep / each.member.name if self.keep else None)
                except RunnerError as error:
                    failures.append(error)
        if failures:
            raise failures[0]

    def _end_process(self, member: Member) -> None:
        """Ask a server to end. A job's own stop leaves too little time for a clean end."""
        end = Command(("sh", "-c", _END, "sh", f"{self._path}/{member.name}"))
        run_persistently(self._hosts[member.host], end)


def _collect(job: RunningJob, folder: Path | None) -> None:
    """Keep an ended job's output, and remove it from its host. Raises RunnerError."""
    try:
        with tempfile.TemporaryDirectory() as unread:
            free = (path for number in count(1) if folder and not (path := folder / str(number)).exists())
            job.collect(next(free) if folder else Path(unread))
    finally:
        job.discard()
