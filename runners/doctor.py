"""What is missing on a spec's hosts, and how to get it: each host is reached, each tool found and asked its version."""

from __future__ import annotations

import os
import re
import shlex
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchbrief.compiler.plan import Boundary, Cell, Plan
from benchbrief.runners import tools
from benchbrief.runners.commands import shell_line
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.facts import size_text
from benchbrief.runners.fan_out import each_of
from benchbrief.runners.hosts import CONTROLLER, HostPool
from benchbrief.runners.other_load import other_load
from benchbrief.runners.plugins import driver, engine_class
from benchbrief.runners.references import unset
from benchbrief.runners.seams import Hosts
from benchbrief.runners.strays import places, strays
from benchbrief.runners.supported import try_meters
from benchbrief.runners.tasks import Command

_NEEDED = ("setsid", "flock", "timeout", "find", "stat", "head", "awk")
"""What our scripts run on each host, beside what POSIX has a shell know."""

_FREE = """\
p=$1
while [ ! -e "$p" ]; do p=$(dirname -- "$p"); done
[ -d "$p" ] && [ -w "$p" ] && df -Pk -- "$p" | tail -n 1 && ls -A -- "$1" 2>/dev/null | head -n 1
"""
"""The last line of df, then the first entry of the directory where it has one."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `hint` says how to get it when it is not `ok`; `ours`: it is for us to mend."""

    host: str
    what: str
    ok: bool
    detail: str
    hint: str = ""
    ours: bool = True


def examine(plan: Plan, config: Path | None = None) -> Iterator[Finding]:
    """Look at every host of a plan: can it be reached, are its tools there, can its directories be written.

    Starts nothing and changes nothing. Yields as it goes, in the plan's order: a host may take its time to answer.
    """
    for each in unset(plan):
        detail = f"is not set, and {each.needed_by} ({each.origin}) needs it"
        yield Finding(CONTROLLER.id, each.what, False, detail, each.hint)
    with HostPool(plan, config=config) as hosts:
        for host_id, found in each_of(plan.hosts, lambda host_id: list(_host(plan, hosts, host_id))):
            if isinstance(found, RunnerError):
                yield Finding(host_id, "looked at", False, str(found), found.hint)
            else:
                yield from found
        for host_id in places(plan)[len(plan.hosts) :]:
            yield from _strays(plan, hosts, host_id)
        for key, found in each_of(plan.databases, lambda key: list(_servers(plan, hosts, key))):
            if isinstance(found, RunnerError):
                yield Finding(key, f"server for {plan.databases[key].name}", False, str(found), found.hint)
            else:
                yield from found
        yield from _meters(plan, hosts)


def _host(plan: Plan, hosts: HostPool, host_id: str) -> Iterator[Finding]:
    try:
        hosts[host_id].run(shell_line("true"))
    except RunnerError as error:
        yield Finding(host_id, "reachable", False, str(error), error.hint)
        return
    yield Finding(host_id, "reachable", True, plan.hosts[host_id].transport)
    try:
        with TemporaryDirectory() as folder:
            hosts[host_id].get("/proc/version", Path(folder, "version"))
    except RunnerError as error:
        yield Finding(host_id, "files", False, str(error), error.hint)
    yield from _programs(hosts, host_id)
    yield from _strays(plan, hosts, host_id)
    yield from _load(hosts, host_id)
    yield from _tools(plan, hosts, host_id)
    yield from _directories(plan, hosts, host_id)


def _programs(hosts: HostPool, host_id: str) -> Iterator[Finding]:
    """Those of ours that the host lacks, together."""
    look = f"for each in {' '.join(_NEEDED)}; do command -v $each >/dev/null || echo $each; done"
    done = hosts[host_id].run(Command(("sh", "-c", look)))
    lacking = {*done.stdout.split(), *(["timeout"] if done.exit_code == 127 else [])}  # commands over SSH run below it
    found = [name for name in _NEEDED if name in lacking]
    if found:
        hint = "Debian: apt-get install coreutils findutils util-linux mawk"
        yield Finding(host_id, "programs", False, f"{', '.join(found)} can't be found in the PATH", hint)


def _strays(plan: Plan, hosts: HostPool, host_id: str) -> Iterator[Finding]:
    """Jobs and claims on the host that no living run looks after."""
    try:
        found = strays(hosts[host_id], socket.gethostname())
    except RunnerError as error:
        yield Finding(host_id, "stray", False, str(error), error.hint)
        return
    for stray in found:
        end = shlex.quote(stray.folder) if stray.folder else f"--strays {shlex.quote(plan.spec.name)}"
        yield Finding(host_id, "stray", False, stray.what, f"end it with: bench stop {end}", stray.ours)


def _load(hosts: HostPool, host_id: str) -> Iterator[Finding]:
    """What keeps the host busy now: for whoever is about to measure there to judge."""
    at = hosts[host_id]
    try:
        busy = other_load(at, os.getpid() if at.host.transport == "local" else None)
    except RunnerError:
        return
    if busy:
        yield Finding(host_id, "busy", False, busy, "measure when it has ended", ours=False)


def _tools(plan: Plan, hosts: Hosts, host_id: str) -> Iterator[Finding]:
    wanted = dict.fromkeys((cell.tool.driver, cell.tool.path) for cell in plan.cells if host_id in cell.load_hosts)
    for name, path in wanted:
        try:
            found = tools.find(hosts[host_id], driver(name), path)
        except RunnerError as error:
            yield Finding(host_id, name, False, str(error), error.hint)
        else:
            yield Finding(host_id, name, True, f"{found.version or 'no version told'} at {found.path}")


def _directories(plan: Plan, hosts: Hosts, host_id: str) -> Iterator[Finding]:
    """Whether the nearest existing parent of each data directory can be written, and has room for the largest load."""
    for key, database in plan.databases.items():
        if not database.path or host_id not in plan.hardware[key.partition("@")[2]].hosts:
            continue
        done = hosts[host_id].run(Command(("sh", "-c", _FREE, "sh", database.path)))
        told, _, holds = done.stdout.partition("\n")
        columns = told.split()
        free = int(columns[3]) * 1024 if len(columns) >= 4 and re.fullmatch(r"\d{1,18}", columns[3]) else 0
        load = _largest_load(plan, key)
        enough = free >= load or bool(holds.strip())  # what lies there already is perhaps the load itself
        if free and enough:
            size = f", for up to {size_text(load)} before compression" if load else ""
            yield Finding(host_id, database.path, True, f"{size_text(free)} free{size}")
            continue
        problem = "can't be written"
        if columns:
            problem = (
                "has no free space" if not free else f"has {size_text(free)} free, and {size_text(load)} are loaded"
            )
        hint = (
            "make it writable, with room, for the user that logs in; "
            f"it is the path of database {database.name} at {database.origin}"
        )
        yield Finding(host_id, database.path, False, problem, hint)


def _largest_load(plan: Plan, database: str) -> float:
    """Bytes of keys and values that a cell loads into the database, at the most, before any compression."""
    return max((_load_bytes(plan, cell) for cell in plan.cells if cell.database == database), default=0.0)


def _load_bytes(plan: Plan, cell: Cell) -> float:
    if cell.dataset is None:
        return 0.0
    settings = plan.workloads[cell.workload].properties
    sizes = [settings.get(name, 0) for name in ("record_size", "key_size", "value_size")]
    return cell.dataset.records * sum(size for size in sizes if isinstance(size, int | float))


def _servers(plan: Plan, hosts: Hosts, key: str) -> Iterator[Finding]:
    database = plan.databases[key]
    hardware = plan.hardware[key.partition("@")[2]]
    if database.server == "embedded":
        try:
            detail = tools.find_stand_in(hosts[hardware.hosts[0]])
        except RunnerError as error:
            yield Finding(hardware.hosts[0], f"server for {database.name}", False, str(error), error.hint)
        else:
            yield Finding(hardware.hosts[0], f"server for {database.name}", True, detail)
    elif database.start:
        routers = [database.start.router] if database.topology == "sharded" else []
        for host_id in hardware.hosts:
            for name in (database.start.binary, *routers):
                what = f"{name.rpartition('/')[2]} for {database.name}"
                path = tools.find_program(hosts[host_id], name)
                if path:
                    yield Finding(host_id, what, True, path)
                else:
                    hint = f"install MongoDB there, or mend `binary` ({database.origin})"
                    yield Finding(host_id, what, False, f"{name} is not there, or can't be run", hint)
    elif database.server == "attach":
        engine = engine_class(database.engine)(plan, database, hardware, hosts)
        try:
            engine.look()
            told = engine.describe()
            engine.stop()
        except RunnerError as error:
            yield Finding(hardware.key, f"database {database.name}", False, str(error), error.hint)
        else:
            yield Finding(hardware.key, f"database {database.name}", True, told.get("version", "answers"))


def _meters(plan: Plan, hosts: Hosts) -> Iterator[Finding]:
    for node, tried in try_meters(plan, hosts):
        meter = node.hardware.power[0]
        what, where = f"power by {meter.kind}", node.hardware.key if meter.shared else node.host.id
        if isinstance(tried, RunnerError):
            yield Finding(where, what, False, str(tried), tried.hint)
        elif tried is None:
            yield Finding(where, what, True, "its log is not there yet")
        else:
            yield Finding(where, what, True, f"{tried:.6g} W{_OF[meter.boundary]}")


_OF: Mapping[Boundary, str] = {"wall": " at the wall", "node": "", "cpu": " (CPU packages only)", "unknown": ""}
