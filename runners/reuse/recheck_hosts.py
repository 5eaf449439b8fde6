"""Whether hosts, servers and tools are the same as when earlier results were measured on them.

A cell's hash covers what the spec says. Only a look at the host shows which machine it is, and which versions of
tools and servers it has. Another machine under the same name, or another version, makes another measurement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from benchbrief.model import events as j
from benchbrief.model.plan import DatabaseKey, Plan
from benchbrief.runners.engines import command_files
from benchbrief.runners.errors import RunnerError
from benchbrief.runners.hosts import tool_discovery
from benchbrief.runners.hosts.facts import host_facts
from benchbrief.runners.hosts.host_connections import HostPool
from benchbrief.runners.journal.secret_masking import hide, hide_throughout
from benchbrief.runners.plugins import driver, engine_class
from benchbrief.runners.reuse.carried_results import Carried

_OF_THE_MACHINE = ("hostname", "cpu", "memory_limit")
_OF_THE_SERVER = ("server", "version", "topology", "storage engine", "options file")
_WORTH_A_WARNING = (
    *("os", "kernel", "memory", "swap", "virtualization", "clock_source", "governor", "transparent_huge_pages"),
    *("filesystem of ", "disks of "),
)
_AT_ONCE = 8


@dataclass
class Rechecked:
    """`changed` says, for each cell whose result no longer holds, what has changed. `warnings` do not prevent reuse."""

    changed: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


def recheck(plan: Plan, carried: Sequence[Carried], config: Path | None = None) -> Rechecked:
    """Check only what the results depend on. Hosts that can't be reached give a warning."""
    found = Rechecked()
    if not carried:
        return found
    hosts = list(dict.fromkeys(host for each in carried for host in each.cell.locks))
    with HostPool(plan, config) as pool, ThreadPoolExecutor(_AT_ONCE) as threads:
        for each in threads.map(lambda host: _host(plan, carried, pool, host), hosts):
            found.changed |= each.changed
            found.warnings += each.warnings
        left = [each for each in carried if each.cell.id not in found.changed]
        databases = list(dict.fromkeys(each.cell.database for each in left))
        for each in threads.map(lambda key: _database(plan, left, pool, key), databases):
            found.changed |= each.changed
            found.warnings += each.warnings
    found.warnings = list(dict.fromkeys(found.warnings))
    return found


def _host(plan: Plan, carried: Sequence[Carried], pool: HostPool, host: str) -> Rechecked:
    """Check the machine, and the tools on it."""
    found = Rechecked()
    mine = [each for each in carried if host in each.cell.locks]
    paths = dict.fromkeys(path for each in mine if (path := plan.databases[each.cell.database].path))
    try:
        now = host_facts.observe(pool[host], list(paths))
        programs = {tool: _program(pool, host, *tool) for tool in _tools(mine, host)}
    except RunnerError:
        found.warnings.append(_unseen(host))
        return found
    for each in mine:
        for fact in each.own_facts():
            if isinstance(fact, j.HostFacts) and fact.host == host:
                if differs := list(_differences(fact.facts, now, _OF_THE_MACHINE)):
                    found.changed[each.cell.id] = f"{host} is another machine now: {'; '.join(differs)}"
                for text in _differences(fact.facts, now, _WORTH_A_WARNING):
                    found.warnings.append(f"{host} is not as it was when run {each.run_id} measured: {text}")
            if isinstance(fact, j.ToolFound) and fact.host == host:
                program = programs.get((each.cell.tool.driver, each.cell.tool.path))
                if program and (text := program.differs_from(fact)):
                    found.changed.setdefault(each.cell.id, f"{fact.driver} on {host} {text}")
    return found


def _tools(carried: Sequence[Carried], host: str) -> dict[tuple[str, str | None], None]:
    return {(each.cell.tool.driver, each.cell.tool.path): None for each in carried if host in each.cell.load_hosts}


@dataclass(frozen=True)
class _Program:
    """A tool as it is on a host now."""

    version: str
    sha256: str

    def differs_from(self, fact: j.ToolFound) -> str:
        if fact.version != self.version:
            return f"is {self.version} now, and was {fact.version}"
        known = self.sha256 and fact.sha256
        return "is another build now" if known and self.sha256 != fact.sha256 else ""


def _program(pool: HostPool, host: str, name: str, path: str | None) -> _Program:
    found = tool_discovery.find(pool[host], driver(name), path)
    return _Program(found.version, tool_discovery.digest(pool[host], found.path))


def _database(plan: Plan, carried: Sequence[Carried], pool: HostPool, key: DatabaseKey) -> Rechecked:
    """Check the attached server, or the library. An embedded server, which only runs for its cells, is checked by
    its build."""
    found = Rechecked()
    database = plan.databases[key]
    mine = [each for each in carried if each.cell.database == key]
    try:
        engine = engine_class(database.engine)(plan, database, plan.hardware[mine[0].cell.hardware], pool)
        try:
            engine.look()
            if database.server in ("embedded", "start"):  # a server that is not running can't be asked
                now = command_files.command_files(database, plan.hardware[mine[0].cell.hardware], pool)
            else:
                now = engine.describe()
            build = engine.build()
        finally:
            engine.stop()
    except RunnerError:
        found.warnings.append(_unseen(f"database {database.name}"))
        return found
    kind = "embedded server" if database.server == "embedded" else "server"
    for each in mine:
        for fact in each.own_facts():
            if not isinstance(fact, j.EngineFacts):
                continue
            if differs := list(_differences(fact.facts, now, _OF_THE_SERVER)):
                found.changed[each.cell.id] = f"database {database.name} is another one now: {'; '.join(differs)}"
            elif build and fact.sha256 and fact.sha256 != build:
                found.changed[each.cell.id] = f"the {kind} of database {database.name} is another build now"
            elif files := list(_changed_files(fact.facts, now)):
                reason = f"a file that the commands of database {database.name} or its hardware name has changed"
                found.changed[each.cell.id] = f"{reason}: {'; '.join(files)}"
    return found


def _differences(before: Mapping[str, str], now: Mapping[str, str], names: Sequence[str]) -> Iterator[str]:
    """Yield differences between facts that both times have. A name that ends in a blank means all with that prefix.

    The journal hides secrets in facts, so both times are compared in that form.
    """
    for name, value in before.items():
        wanted = any(name == each or (each.endswith(" ") and name.startswith(each)) for each in names)
        if wanted and name in now and (there := hide_throughout(now[name])) != (was := hide_throughout(value)):
            yield f"{name.replace('_', ' ')} is {there}, and was {was}"


def _changed_files(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """Yield the files of commands that only one of the times has, or that differ."""
    for name in dict.fromkeys([*before, *now]):
        if not name.startswith(command_files.FACT):
            continue
        path = name.removeprefix(command_files.FACT)
        there, was = hide(now.get(name, "not there")), hide(before.get(name, "not there"))
        if there != was:
            yield f"{path} is {there}, and was {was}"


def _unseen(what: str) -> str:
    return f"{what} can't be looked at: whether it still is as it was when its results were measured is not known"
