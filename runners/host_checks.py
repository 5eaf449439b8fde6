"""Checks whether a spec's hosts lack anything, and says how to get it. For this it connects to each host and asks each
tool for its version."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol, runtime_checkable

from benchbrief.compiler.registry import ENGINE_SPECS, TRANSPORT_SPECS
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.engine_spec import by_file_system
from benchbrief.model.extension_spec import Boundary
from benchbrief.model.plan import Cell, Database, DatabaseKey, Plan, Workload
from benchbrief.runners.engines import data_directories
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.hosts import tool_discovery
from benchbrief.runners.hosts.host_connections import CONTROLLER, HostPool, is_on_controller, look_at_each
from benchbrief.runners.hosts.host_facts import size_text
from benchbrief.runners.hosts.orphans import hosts_of_plan, list_leftovers, strays_among
from benchbrief.runners.hosts.quiet_host import other_load
from benchbrief.runners.jobs.claim_holders import describe_holder, format_since, host_busy_error
from benchbrief.runners.jobs.commands import read_script, shell_line, with_values
from benchbrief.runners.jobs.host_claims import find_defects
from benchbrief.runners.jobs.tasks import Command
from benchbrief.runners.journal.secret_references import find_unset
from benchbrief.runners.plugins import driver, engine_class, find_stand_in, spec_of
from benchbrief.runners.seams import ChecksPlace, Driver, Engine, Hosts, KnowsRoom, Requirement, Room, Transport
from benchbrief.runners.transports.shipped_programs import shipped
from benchbrief.runners.world.unsupported import try_meters


@runtime_checkable
class TriesOut(Protocol):
    """A driver that can try on a host whether its tool supports what a cell requires."""

    def trials(self, path: str, workload: Workload, database: Database) -> tuple[Requirement, ...]:
        """Return the trials to make with the tool at `path`. They leave nothing behind and change no data."""
        ...


def trials_of(plan: Plan, host_id: str, name: str, configured: str | None, path: str) -> Iterator[Requirement]:
    """Yield a trial for each thing that the tool at `path` must be able to do for the host's cells, each once."""
    tool = driver(name)
    if not isinstance(tool, TriesOut):
        return
    cells = (cell for cell in plan.cells if host_id in cell.load_hosts)
    asked = dict.fromkeys(
        (cell.workload_key or cell.workload, cell.database)
        for cell in cells
        if (cell.tool.driver, cell.tool.path) == (name, configured)
    )
    wanted = (tool.trials(path, plan.workloads[workload], plan.databases[key]) for workload, key in asked)
    yield from {trial.name: trial for trials in wanted for trial in trials}.values()


_FREE = with_values(read_script(__file__, "hosts/scripts/free_space.sh"), marker=data_directories.MARKER)
_KERNEL, _EMPTY = "kernel", "empty"
"""What the script prints for a place in /proc or /sys ("kernel"), and for a directory of ours that has no data set
("empty").

A run that had no room for its load leaves such an empty directory.
"""
_WORTH_A_WORD = 1 << 20
"""A directory's contents are mentioned besides the free bytes if they have at least this many bytes."""
_COMPRESSED_AT_MOST = 10
"""The largest factor by which compression can shrink a loaded data set."""


@dataclass(frozen=True)
class Finding:
    """The result of one check. `hint` says how to fix a problem.

    `ours` is False if the cause is outside the run. `needed` is False if the run can do without the thing that was
    checked.
    """

    host: str
    what: str
    ok: bool
    detail: str
    hint: str = ""
    ours: bool = True
    needed: bool = True


def check_hosts(plan: Plan, config: Path | None = None) -> Iterator[Finding]:
    """Check for every host of a plan that it answers, has its tools, and has writable directories.

    Starts nothing and changes nothing. A host may be slow, so each finding is yielded as soon as it is known, in the
    plan's order.
    """
    for each in find_unset(plan):
        detail = f"is not set, and {each.needed_by} ({each.origin}) needs it"
        yield Finding(CONTROLLER.id, each.what, False, detail, each.hint)
    with HostPool(plan, config=config) as hosts:
        for host_id, found in look_at_each(plan.hosts, lambda host_id: list(_host(plan, hosts, host_id))):
            if isinstance(found, RunnerError):
                yield Finding(host_id, "looked at", False, str(found), found.hint)
            else:
                yield from found
        for host_id in hosts_of_plan(plan)[len(plan.hosts) :]:
            yield from _strays(plan, hosts, host_id)
        said: set[Finding] = set()
        for key, found in look_at_each(plan.databases, lambda key: list(_servers(plan, hosts, key))):
            server = f"server for {plan.databases[key].name}"
            theirs = [Finding(key, server, False, str(found), found.hint)] if isinstance(found, RunnerError) else found
            yield from (each for each in theirs if each not in said)  # levels of a database may have one server
            said.update(theirs)
        yield from _meters(plan, hosts)


def _host(plan: Plan, hosts: HostPool, host_id: str) -> Iterator[Finding]:
    try:
        hosts[host_id].run(shell_line("true"))
    except RunnerError as error:
        yield Finding(host_id, "reachable", False, str(error), error.hint)
        return
    spec = TRANSPORT_SPECS.usable(plan.hosts[host_id].transport)
    yield Finding(host_id, "reachable", True, spec.label if spec else plan.hosts[host_id].transport)
    try:
        with TemporaryDirectory() as folder:
            hosts[host_id].get("/proc/version", Path(folder, "version"))
    except RunnerError as error:
        yield Finding(host_id, "files", False, str(error), error.hint)
    for each in find_defects(hosts[host_id]):
        yield Finding(host_id, each.what, False, each.detail, each.hint)
    yield from _strays(plan, hosts, host_id)
    yield from _load(hosts, host_id)
    yield from _tools(plan, hosts, host_id)
    yield from _directories(plan, hosts, host_id)


def _strays(plan: Plan, hosts: HostPool, host_id: str) -> Iterator[Finding]:
    """Yield the jobs and claims on the host that no living run owns, and any claim of a living run or of another
    user."""
    try:
        listed = list_leftovers(hosts[host_id], foreign=True)
        found = strays_among(hosts[host_id], listed)
    except RunnerError as error:
        yield Finding(host_id, "stray", False, str(error), error.hint)
        return
    for stray in found:
        end = shlex.quote(stray.folder) if stray.folder else f"--strays {shlex.quote(plan.spec.name)}"
        yield Finding(host_id, "stray", False, stray.what, f"end it with: bench stop {end}", stray.ours)
    for each in listed:
        if each.kind == "foreign":
            busy = host_busy_error(host_id, each.claim, each.since, each.state)
            yield Finding(host_id, "held", False, busy.message, busy.hint, ours=False)
        elif each.is_claim and each.is_alive:
            by = f"by {describe_holder(each.claim)}, since {format_since(each.since)}"
            yield Finding(host_id, "held", False, by, "a run waits for it with: bench run --wait", ours=False)


def _load(hosts: HostPool, host_id: str) -> Iterator[Finding]:
    """Yield findings about the host's current load, for the user to judge."""
    at = hosts[host_id]
    try:
        busy = other_load(at, os.getpid() if is_on_controller(at.host) else None)
    except RunnerError:
        return
    if busy:
        yield Finding(host_id, "busy", False, busy, "measure when it has ended", ours=False)


def _tools(plan: Plan, hosts: Hosts, host_id: str) -> Iterator[Finding]:
    wanted = dict.fromkeys((cell.tool.driver, cell.tool.path) for cell in plan.cells if host_id in cell.load_hosts)
    for name, path in wanted:
        try:
            if copied := _copied(hosts[host_id], driver(name), path):
                yield Finding(host_id, name, True, copied)
                continue
            found = tool_discovery.find(hosts[host_id], driver(name), path)
        except RunnerError as error:
            yield Finding(host_id, name, False, str(error), error.hint)
        else:
            yield Finding(host_id, name, True, f"{found.version or 'no version reported'} at {found.path}")
            yield from _trials(plan, hosts, host_id, name, path, found.path)


def _copied(at: Transport, tool: Driver, configured: str | None) -> str:
    """Return a sentence about the program that a run would copy to a host, or "" if it would copy none. Raises
    RunnerError if the host can't run the program."""
    program = tool_discovery.to_ship(at, tool, configured)
    if program is None or tool_discovery.is_there(at, tool) or shipped(at, program):
        return ""
    return f"not there: a run copies {program.shown}"


def _trials(plan: Plan, hosts: Hosts, host_id: str, name: str, configured: str | None, path: str) -> Iterator[Finding]:
    for trial in trials_of(plan, host_id, name, configured, path):
        try:
            done = hosts[host_id].run(trial.check)
        except RunnerError as error:
            yield Finding(host_id, trial.name, False, str(error), error.hint)
            continue
        said = (done.stdout if done.exit_code == 0 else done.stderr or done.stdout).strip()[:300]
        hint = "" if done.exit_code == 0 else trial.hint
        yield Finding(host_id, trial.name, done.exit_code == 0, said or f"code {done.exit_code}", hint)


def _directories(plan: Plan, hosts: Hosts, host_id: str) -> Iterator[Finding]:
    """Check that the nearest existing parent of each data directory is writable and has room for the largest load."""
    for (key, *others), database in _places(plan):
        hardware = plan.hardware[key.hardware]
        if not database.path or host_id not in hardware.hosts:
            continue
        try:
            engine = engine_class(database.engine)(plan, database, hardware, hosts)
            place = engine.check_place() if isinstance(engine, ChecksPlace) else ""
        except RunnerError as error:
            yield Finding(host_id, database.path, False, str(error), error.hint)
            continue
        if place:
            yield Finding(host_id, database.path, True, place)
            continue
        ours = database.server in ("start", "none")  # nothing is written at the path of a server that is attached to
        if ours and (said := data_directories.look_at_directory(hosts[host_id], database.path)):
            hint = f"name a new or empty directory as its `path` ({database.origin})"
            yield Finding(host_id, database.path, False, f"a run refuses it: {said}", hint)
            continue
        done = hosts[host_id].run(Command(("sh", "-c", _FREE, "sh", database.path)))
        space, kept_kib, holds = (*done.stdout.split("\n", 2), "", "")[:3]
        if space == _KERNEL:
            hint = f"name a new or empty directory as its `path` ({database.origin})"
            yield Finding(host_id, database.path, False, f"{database.path} can't be made", hint)
            continue
        columns, holds = space.split(), holds.strip()
        free, kept = _as_bytes(columns[3] if len(columns) >= 4 else ""), _as_bytes(kept_kib)
        loads = _loads(plan, (key, *others), engine)
        short = [each for each in loads if each[0].needed > free + kept]  # a run removes what is there before it loads
        lacking = [room for room, cell in short if not _may_hold(database, cell, _load_bytes(plan, cell), kept, holds)]
        load = next(iter(lacking or (room for room, _ in loads)), Room(0, ""))
        needs = f"a load needs about {size_text(load.needed)} ({load.why})"
        if free and not lacking:
            is_there = ", and what is there may be what it loads" if short else ""
            detail = f"{size_text(free)} free{f', {needs}{is_there}' if load.needed else ''}"
            yield Finding(host_id, database.path, True, detail)
            continue
        problem = "can't be written"
        if columns:
            more = f" and {size_text(kept)} to remove" if kept >= _WORTH_A_WORD else ""
            problem = f"has {size_text(free)} free{more}, and {needs}" if free else "has no free space"
            problem += "; it holds no data set, as no load has ended there" if holds == _EMPTY else ""
        hint = (
            f"{_how_to_make_room(bool(columns), database.path, size_text(load.needed))}; it is the `path` of database "
            f"{database.name} at {database.origin}"
        )
        yield Finding(host_id, database.path, False, problem, hint)


def _how_to_make_room(writable: bool, path: str, needed: str) -> str:
    if writable:
        return f"free {needed} there, name a `path` on another disk, or declare less data"
    made = shlex.quote(path)
    make = f'sudo mkdir -p {made} && sudo chown "$USER" {made}'
    return f"make it on that host: `{make}`, or name a `path` that you may write"


def _as_bytes(kib: str) -> int:
    return int(kib) * 1024 if re.fullmatch(r"\d{1,18}", kib) else 0


def _places(plan: Plan) -> Iterator[tuple[list[DatabaseKey], Database]]:
    """Yield each database once for each hardware group and path, with the keys that the plan has for it there (one for
    each combination of levels)."""
    found: dict[tuple[str, str, str | None], list[DatabaseKey]] = {}
    for key, database in plan.databases.items():
        found.setdefault((key.database, key.hardware, database.path), []).append(key)
    yield from ((keys, plan.databases[keys[0]]) for keys in found.values())


def _loads(plan: Plan, databases: Collection[DatabaseKey], engine: Engine) -> list[tuple[Room, Cell]]:
    """Return how much room the load of each data set needs, each with a cell that uses the data set. The largest comes
    first.

    The engine knows how much room it needs and refuses a load that has less. For an engine that does not know, the size
    of the data themselves counts.
    """
    cells = {
        (cell.workload, cell.dataset.hash): cell for cell in plan.cells if cell.database in databases and cell.dataset
    }
    rooms = (
        engine.room_for_load(cell)
        if isinstance(engine, KnowsRoom)
        else Room(int(_load_bytes(plan, cell)), "the data, before compression")
        for cell in cells.values()
    )
    return sorted(zip(rooms, cells.values(), strict=True), key=lambda each: each[0].needed, reverse=True)


def _may_hold(database: Database, cell: Cell, data: float, kept: int, holds: str) -> bool:
    """Return whether the directory may already contain the data set, so that nothing needs loading. `kept` is how many
    bytes the directory has.

    Only a run can tell which data set is there, as that also depends on the load generator's build.
    """
    if database.reset == "command" or holds in ("", _EMPTY):
        return database.reset == "command"
    if database.server == "attach" or by_file_system(database.reset):
        return True  # the files of others, and snapshots, do not all show here
    return cell.dataset is not None and cell.dataset.reuse and kept * _COMPRESSED_AT_MOST >= data


def _load_bytes(plan: Plan, cell: Cell) -> float:
    if cell.dataset is None:
        return 0.0
    settings = plan.workload_of(cell).properties
    if "records" not in settings:
        return plan.databases[cell.database].size_bytes or 0.0
    sizes = [settings.get(name, 0) for name in ("record_size", "key_size", "value_size")]
    return cell.dataset.records * sum(size for size in sizes if isinstance(size, int | float))


def _servers(plan: Plan, hosts: Hosts, key: DatabaseKey) -> Iterator[Finding]:
    database = plan.databases[key]
    hardware = plan.hardware[key.hardware]
    if database.server == "embedded":
        try:
            detail = find_stand_in(database.engine, hosts[hardware.hosts[0]])
        except RunnerError as error:
            yield Finding(hardware.hosts[0], f"server for {database.name}", False, str(error), error.hint)
        else:
            yield Finding(hardware.hosts[0], f"server for {database.name}", True, detail)
    elif database.start:
        routers = [database.start.router] if database.topology == "sharded" else []
        for host_id in hardware.hosts:
            for name in (database.start.binary, *routers):
                what = f"{name.rpartition('/')[2]} for {database.name}"
                path = tool_discovery.find_program(hosts[host_id], name)
                if path:
                    yield Finding(host_id, what, True, path)
                else:
                    product = spec_of(ENGINE_SPECS, database.engine).label
                    hint = f"install {product} there, or mend `binary` ({database.origin})"
                    yield Finding(host_id, what, False, f"{name} is not there, or can't be run", hint)
    elif database.server == "attach":
        what = key.levels.behind(f"database {database.name}")
        engine = engine_class(database.engine)(plan, database, hardware, hosts)
        try:
            engine.look()
            description = engine.describe()
            engine.stop()
        except RunnerError as error:
            yield Finding(hardware.key, what, False, str(error), error.hint)
        else:
            yield Finding(hardware.key, what, True, _product(description))


def _product(description: Mapping[str, str]) -> str:
    return " ".join(description[name] for name in ("server", "version") if name in description) or "answers"


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


_OF: Mapping[Boundary, str] = {
    "wall": " at the wall",
    "node": "",
    "cpu": " (CPU packages only)",
    "formula": " by a formula",
    "unknown": "",
}
