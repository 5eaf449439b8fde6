"""The processes of MongoDB servers of our own, each a background job on its host with a key of its own.

A controller that takes a run over attaches to them, where all of them still run.
"""

from __future__ import annotations

import tempfile
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from benchbrief.compiler.plan import Database, Hardware
from benchbrief.runners import tools
from benchbrief.runners.attended_jobs import run_to_end
from benchbrief.runners.engines.mongo_layout import CONFIG_FILE, KEY_FILE, Layout, Member, layout, words
from benchbrief.runners.errors import RunnerError, ToolMissing
from benchbrief.runners.patience import run_persistently
from benchbrief.runners.references import read_reference
from benchbrief.runners.seams import Hosts, RunningJob, Stopping
from benchbrief.runners.tasks import Command, File, Job, Secret
from benchbrief.runners.underway import UNDERWAY

_END_TIMEOUT_S = 120.0
"""A server that is told to end writes a checkpoint of all that is in its cache."""

# A server is known by its number, and by having its directory in its environment: a number may be another's by now.
_OURS = """\
ours() { [ -n "$pid" ] && tr '\\0' '\\n' 2>/dev/null <"/proc/$pid/environ" | grep -qxF -- "BENCHBRIEF_SERVER=$data"; }
"""

_RUN = """\
program=$1 data=$2
shift 2
mkdir -p -- "$data" && echo $$ >"$data.pid" || exit 1
BENCHBRIEF_SERVER=$data exec "$program" "$@"
"""

_END = f"""\
{_OURS}
data=$1
pid=$(cat -- "$data.pid" 2>/dev/null)
if ours; then kill "$pid"; fi
"""

# A controller that was killed leaves its servers behind, which keep the data locked: the next run ends them first.
_END_OLD = f"""\
{_OURS}
for file in "$1"/*.pid; do
    data=${{file%.pid}}
    pid=$(cat -- "$file" 2>/dev/null)
    if ours; then
        kill "$pid"
        tries=0
        while ours && [ $tries -lt 1200 ]; do tries=$((tries + 1)); sleep 0.1; done
        if ours; then echo "server $pid does not end"; exit 1; fi
    fi
done
true
"""


@dataclass
class _Running:
    member: Member
    job: RunningJob

    def last_words(self) -> str:
        with suppress(RunnerError):
            return " ".join(self.job.tail(600).split())[-300:] or "it said nothing"
        return ""


def server_keys(database: Database, hardware: Hardware, hosts: Hosts) -> dict[str, str]:
    """The keys of the jobs of all servers of a database that is started, each with the id of its host."""
    if database.start is None:
        return {}
    made = layout(database, [hosts[host_id].host for host_id in hardware.hosts], database.start.port)
    return {_key(database, hardware, member): member.host for member in made.members}


def _key(database: Database, hardware: Hardware, member: Member) -> str:
    return f"server/{database.name}@{hardware.key}/{member.name}"


class Servers:
    """The servers of one database on one hardware group. `keep` as in `seams.Engine`."""

    def __init__(self, database: Database, hardware: Hardware, hosts: Hosts, made: Layout) -> None:
        if database.start is None or not database.path:
            raise RunnerError(f"database {database.name} has no path", f"add one ({database.origin})")
        self._database = database
        self._start = database.start
        self._path = database.path
        self._hardware = hardware
        self._hosts = hosts
        self._layout = made
        self.keep: Path | None = None
        self._running: dict[str, _Running] = {}

    def attach(self) -> bool:
        """Attach to those that an earlier controller of the run started, where all run; else end what there is."""
        states = {
            member: self._hosts[member.host].find(_key(self._database, self._hardware, member))
            for member in self._layout.members
        }
        for member, state in states.items():
            if state is not None:
                self.run(member)  # there is a job with its key: that is attached to
        if all(state == "running" for state in states.values()):
            return True
        with suppress(RunnerError):  # what they printed when they were killed is kept nevertheless
            self.stop()
        return False

    def end_old(self, host_id: str, stopping: Stopping) -> str | None:
        """End servers on these data that are no jobs of this run; None when it went well, else what is wrong.

        Raises Interrupted when the run is to stop: the servers were told to end, and go on with it.
        """
        end = Command(("sh", "-c", _END_OLD, "sh", self._path))
        ran = run_to_end(self._hosts[host_id], Job("end_old_servers", end, timeout_s=_END_TIMEOUT_S + 30), stopping)
        return (ran.said or "its old servers did not end") if ran.exit_code != 0 else None

    def run(self, member: Member) -> None:
        """Start it. Raises ToolMissing, RunnerError."""
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
        """The path of a program on a host. Raises ToolMissing."""
        found = tools.find_program(self._hosts[host_id], name)
        if found is None:
            raise ToolMissing(
                f"{name} is not on {host_id}, or can't be run there",
                f"install MongoDB there, or say where it is by `binary` ({self._database.origin})",
            )
        return found

    def ended(self) -> str:
        """Which server has ended though nobody told it to, with its last words; "" when all run."""
        for each in self._running.values():
            if each.job.wait(0):
                return f"{each.member.name} on {each.member.host} has ended; its last words: {each.last_words()}"
        return ""

    def last_words(self, member: Member) -> str:
        running = self._running.get(member.name)
        return running.last_words() if running else ""

    def pause(self, seconds: float) -> None:
        """Let so many seconds pass, or fewer when one ends."""
        next(iter(self._running.values())).job.wait(seconds)

    def stop(self) -> None:
        """End every server, and keep what they printed. Raises RunnerError.

        Routers first. All are told before the first is waited for, but for those that others still need.
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
                    with UNDERWAY.waited_for(f"{each.member.name} on {each.member.host} to end", _END_TIMEOUT_S):
                        each.job.wait(_END_TIMEOUT_S)
                    each.job.stop()
                    _collect(each.job, self.keep / each.member.name if self.keep else None)
                except RunnerError as error:
                    failures.append(error)
        if failures:
            raise failures[0]

    def _end_process(self, member: Member) -> None:
        """Ask it to end; a job that is stopped has too little time for a clean end."""
        end = Command(("sh", "-c", _END, "sh", f"{self._path}/{member.name}"))
        run_persistently(self._hosts[member.host], end)


def _collect(job: RunningJob, folder: Path | None) -> None:
    """Keep what an ended job printed, and leave nothing of it on its host. Raises RunnerError."""
    try:
        with tempfile.TemporaryDirectory() as unread:
            free = (path for number in count(1) if folder and not (path := folder / str(number)).exists())
            job.collect(next(free) if folder else Path(unread))
    finally:
        job.discard()
