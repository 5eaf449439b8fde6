"""Everything in a plan that does more than measure: commands, hosts and programs, texts for programs, secrets, and
folders that are filled. A person who runs a stranger's plan has to allow each of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Literal

from benchbrief.compiler.registry import SNAPSHOT_SPECS
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.model.engine_spec import by_file_system
from benchbrief.model.node import Node
from benchbrief.model.plan import (
    Cell,
    Client,
    Database,
    Hardware,
    Host,
    Origin,
    Plan,
    Reference,
    Report,
    ServerStart,
    Tool,
    Workload,
)

Reach = Literal[
    "command",
    "program",
    "option",
    "host",
    "jump",
    "key",
    "server",
    "folder",
    "device",
    "file",
    "secret",
    "meter",
    "scheduler",
    "template",
    "style",
]
"""The kinds of things that a plan brings along.

A `jump` is a host on the way to another host, a `key` is a key file for ssh, and a `server` is the address of a running
server. A `device` is overwritten, a `file` is read by a program, and an `option` is a text for a program, which may
name any file.
"""


@dataclass(frozen=True)
class Brought:
    """Something that a plan brings along: its `text`, which a user may allow, its purpose (`what`), and its place in
    the spec."""

    reach: Reach
    text: str
    what: str
    place: str


def brought_by(plan: Plan, own: Collection[str] = ()) -> list[Brought]:
    """Return everything that a plan brings along, each item once and in the order of the plan. The reader's `own` hosts
    are left out."""
    return list(dict.fromkeys((*_hosts(plan, own), *_all(plan))))


def _hosts(plan: Plan, own: Collection[str]) -> Iterator[Brought]:
    blocks: list[Client | Hardware] = [*plan.clients.values(), *plan.hardware.values()]
    places = {host: str(block.origin) for block in blocks for host in block.hosts}
    for host in plan.hosts.values():
        if host.id not in own:
            yield from _host(host, places.get(host.id, host.id))


def _all(plan: Plan) -> Iterator[Brought]:
    for hardware in plan.hardware.values():
        for line in hardware.prepare:
            yield Brought("command", line, f"prepares {hardware.key}", str(hardware.origin))
        for meter in hardware.power:
            said = (meter.kind, *meter.addresses, *meter.parts, *(f"{k}={_text(v)}" for k, v in meter.options.items()))
            yield Brought("meter", " ".join(said), f"reads the power of {hardware.key}", str(meter.origin))
    for database in plan.databases.values():
        yield from _database(database)
    for client in plan.clients.values():
        yield from _tool(client.tool, client.origin)
    for workload in plan.workloads.values():
        yield from _workload(workload)
    for cell in plan.cells:
        yield from _cell(cell)
    for name, block in plan.schedulers.items():
        for key, value in block.options.items():
            yield Brought("scheduler", f"{key}={_text(value)}", f"is asked of {name}", str(block.origin))
    for report in plan.reports:
        yield from _report(report)
    yield from _secrets(plan)


def _host(host: Host, at: str) -> Iterator[Brought]:
    if host.transport != "local":
        where = f"{host.user}@{host.name}" if host.user else host.name
        port = f":{host.port}" if host.port else ""
        how = f" by {host.package}" if host.package else ""
        yield Brought("host", f"{host.transport}://{where}{port}", f"is reached{how}", at)
    if host.jump:
        yield Brought("jump", host.jump, f"is gone through to {host.name}", at)
    if host.identity:
        yield Brought("key", host.identity, f"is shown to {host.name}", at)


def _database(database: Database) -> Iterator[Brought]:
    at, of = str(database.origin), database.name
    if database.path:
        yield Brought("folder", database.path, f"holds the data of {of}", at)
    if database.options_file:
        yield Brought("file", database.options_file, f"has the options of {of}", at)
    if database.uri:
        yield Brought("server", "".join(map(_text, database.uri)), f"is {of}", at)
    for hook in database.hooks:
        yield Brought("command", hook.line, f"{hook.when} of {of}, on {hook.on} host", str(hook.origin))
    if database.start:
        yield from _server(database, database.start)
    if database.drop_caches:
        yield Brought("command", "drop_caches", f"empties the page cache of the hosts of {of}", at)
    if by_file_system(database.reset):
        found = SNAPSHOT_SPECS.usable(database.reset)
        system = found.label if found else database.reset
        yield Brought("command", f"reset={database.reset}", f"puts snapshots of {system} in place of {of}, by sudo", at)
    for key, value in database.settings.items():
        if key == "destroys":
            yield Brought("device", f"{key}={value}", f"is overwritten by {of}", at)
        else:
            yield from _options({key: value}, of, database.origin)
    yield from _options(database.options, of, database.origin)


def _server(database: Database, start: ServerStart) -> Iterator[Brought]:
    at, of = str(database.origin), database.name
    programs = (start.binary, start.router) if database.server == "start" else ()
    for program in filter(None, programs):
        yield Brought("program", program, f"is the server of {of}", at)
    if start.config_name:
        yield Brought("file", start.config_name, f"configures the server of {of}", at)
    if start.tls:
        yield Brought("file", start.tls.certificate, f"has the key and the certificate of {of}", at)
        yield Brought("file", start.tls.ca, f"says whom {of} trusts", at)


def _options(options: Mapping[str, object], of: str, origin: Origin) -> Iterator[Brought]:
    """Yield the options that are texts. Only the program that receives them knows which of them name files."""
    for key, value in options.items():
        if isinstance(value, str):
            yield Brought("option", f"{key}={value}", f"is given to {of}", str(origin))


def _workload(workload: Workload) -> Iterator[Brought]:
    for key in workload.files:
        named = str(workload.properties.get(key, key))
        yield Brought("file", named, f"tells {workload.family} what to do", str(workload.origin))
    others = {key: value for key, value in workload.properties.items() if key not in workload.files}
    yield from _options(others, workload.family, workload.origin)


def _tool(tool: Tool, origin: Origin) -> Iterator[Brought]:
    if tool.path:
        yield Brought("program", tool.path, f"is run as {tool.driver}", str(origin))
    yield from _options(tool.options, tool.driver, origin)


def _cell(cell: Cell) -> Iterator[Brought]:
    yield from _tool(cell.tool, cell.origin)
    for event in cell.events:
        yield Brought("command", event.line, f"is run during {cell.experiment}", str(event.origin))
    for probe in cell.probes:
        for name, value in probe.options.items():
            if "/" in value:
                yield Brought("file", value, f"is the {name} that {probe.name} reads", str(probe.origin))
        plain = {name: value for name, value in probe.options.items() if "/" not in value}
        yield from _options(plain, probe.name, probe.origin)


def _report(report: Report) -> Iterator[Brought]:
    for asset in report.parts:
        yield Brought("template", asset.file, f"lays out {report.name}", str(report.origin))
    if report.theme.css:
        yield Brought("style", report.theme.css.file, f"styles {report.name}", str(report.origin))


def _text(value: object) -> str:
    return f"{{{value.kind} {value.name}}}" if isinstance(value, Reference) else str(value)


def _secrets(node: object, at: object = "the plan") -> Iterator[Brought]:
    """Yield each reference to a secret or an environment variable, wherever it is in a plan."""
    inner: Iterable[object] = ()
    if isinstance(node, Reference):
        yield Brought("secret", node.name, "is read from the environment or the keys of who runs it", str(at))
    elif isinstance(node, Node):
        at, inner = getattr(node, "origin", None) or at, (getattr(node, each.name) for each in fields(node))
    elif isinstance(node, dict):
        inner = node.values()
    elif isinstance(node, tuple):
        inner = node
    for each in inner:
        yield from _secrets(each, at)


def not_allowed(brought: Iterable[Brought], allowed: Iterable[str]) -> list[Brought]:
    """Return the things whose texts the user has not allowed. The word `all` allows everything."""
    known = {*allowed}
    return [] if "all" in known else [each for each in brought if each.text not in known]
