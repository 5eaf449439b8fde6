"""Hosts, hardware groups with their variants, and clients."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from benchbrief.compiler.blocks.hardware.fact_slips import warn_of_odd_facts
from benchbrief.compiler.blocks.hardware.host_patterns import (
    MAX_NAMED,
    HostPatternError,
    expand,
    expand_hosts,
    parse_destination,
)
from benchbrief.compiler.blocks.hardware.schedulers import read_asked
from benchbrief.compiler.blocks.power.meters import Group, read_power
from benchbrief.compiler.blocks.values.block_values import Constant, Values, origin
from benchbrief.compiler.blocks.values.values import Reader, listed
from benchbrief.compiler.blocks.values.wrong_forms import wrong_value
from benchbrief.compiler.blocks.workloads.load_generators import read_tool
from benchbrief.compiler.extensions.extension_errors import UnusableExtension
from benchbrief.compiler.extensions.extension_spec import NAME
from benchbrief.compiler.extensions.registry import TRANSPORT_SPECS, Refused
from benchbrief.compiler.frontend import structure_errors, value_errors
from benchbrief.compiler.frontend.declarations import Entry
from benchbrief.compiler.frontend.name_errors import NothingNamed
from benchbrief.compiler.frontend.name_index import NOT_FACTS
from benchbrief.compiler.planning import plan
from benchbrief.compiler.schemas.host_schema import CLIENT, HARDWARE, HOSTS, SSH, VARIANT
from benchbrief.compiler.shapes.value_shapes import Text
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast

_COMMAND = Text()
_LOCAL = plan.Host(id="local", transport="local", name="127.0.0.1")


@dataclass
class HostTable:
    """Every host of the plan. One destination is one host, however often the spec names it."""

    reader: Reader
    hosts: dict[str, plan.Host] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)
    machines: dict[tuple[str, int], str] = field(default_factory=dict)
    named: int = 0
    """How many hosts the groups name, with repetitions."""

    def read(self, exprs: tuple[ast.Expr, ...], ssh: Entry | None, owner: str = "") -> tuple[str, ...]:
        """Return the ids of the hosts that `hosts = ...` names. Reports and drops wrong ones. Hosts that a scheduler is
        asked for are named after their `owner`: `eco-1.slurm`."""
        settings = self.reader.block(ssh, SSH) if ssh else None
        ids: list[str] = []
        seen: set[str] = set()
        items = listed(self.reader.deref(expr) for expr in exprs)
        if exprs and not items:
            self.reader.report(NothingNamed(exprs[0].span, "hosts", HOSTS.wanted))
        for expr in items:
            item = self.reader.deref(expr)
            if isinstance(item, ast.Name) and item.text == "local":
                ids.append(self._add(_LOCAL, item.span))
            elif isinstance(item, ast.String) and item.plain is None:
                self.reader.report(structure_errors.HoleNotAllowed(item.span, "hosts"))
            elif isinstance(item, ast.String):
                ids.extend(self._expand(item, item.plain or "", settings))
            elif isinstance(item, ast.Call):
                ids.extend(self._asked(item, owner, settings))
            else:
                self.reader.report(wrong_value(item, "hosts", HOSTS.wanted, ["local"]))
                continue
            named = Counter(ids[len(seen) :])
            twice = next((host for host, count in named.items() if count > 1 or host in seen), None)
            if twice:
                self.reader.report(value_errors.HostTwice(item.span, twice))
                ids = [*ids[: len(seen)], *(host for host in named if host not in seen)]
            seen.update(named)
        return tuple(ids)

    def _asked(self, call: ast.Call, owner: str, settings: Values | None) -> list[str]:
        found = read_asked(call, self.reader)
        if found is None:
            return []
        asked, count = found
        names = (f"{owner}-{number}.{asked.scheduler}" for number in itertools.count(1))
        free = itertools.islice((name for name in names if name not in self.hosts), count)
        return [self._add(_over_ssh(name, settings).model_copy(update={"asked": asked}), call.span) for name in free]

    def _expand(self, item: ast.String, pattern: str, settings: Values | None) -> list[str]:
        ids: list[str] = []
        if self.named > MAX_NAMED:  # reported before
            return ids
        scheme, apart, address = pattern.partition("://")
        if apart and NAME.fullmatch(scheme):
            return self._reached(item, scheme, address)
        try:
            texts = expand_hosts(pattern)
            self._count(texts, pattern)
            ids.extend(self._add(_over_ssh(text, settings), item.span) for text in texts)
        except HostPatternError as error:
            self._refuse(item, error)
        return ids

    def _count(self, texts: tuple[str, ...], pattern: str) -> None:
        """Raise HostPatternError where the spec names too many hosts with these."""
        self.named += len(texts)
        if self.named > MAX_NAMED:
            problem = f"more than {MAX_NAMED:,} hosts are named in all"
            raise HostPatternError(problem, 0, len(pattern), "leave out hosts, or split the spec")

    def _refuse(self, item: ast.String, error: HostPatternError, before: int = 0) -> None:
        """Report an error of what follows the first `before` characters of a text."""
        start = item.span.start + 1 + before
        span = Span(item.span.source, start + error.start, min(start + error.end, item.span.end))
        self.reader.report(value_errors.BadHosts(span, str(error), error.hint))

    def _reached(self, item: ast.String, scheme: str, pattern: str) -> list[str]:
        """Return the ids of hosts that the transport of another package reaches: `netns://bench-[1-2]`."""
        found = TRANSPORT_SPECS.find(scheme)
        if isinstance(found, Refused):
            begin = item.span.start + 1
            at = Span(item.span.source, begin, begin + len(scheme))
            self.reader.report(UnusableExtension.of(at, found))
            return []
        if found is None or not found.address:
            known = tuple(offer.name for offer in TRANSPORT_SPECS.offered())
            meant = did_you_mean(scheme, known)
            others = f"did you mean `{meant}`?" if meant else "a host over SSH is written without a scheme"
            hint = f"{others}; `bench extensions` lists what is installed"
            self._refuse(item, HostPatternError(f"no transport is called `{scheme}`", 0, len(scheme), hint))
            return []
        ids = []
        try:
            addresses = expand(pattern)
            self._count(addresses, pattern)
            for address in addresses:
                if not re.fullmatch(found.address, address):
                    problem = f"`{address}` is not {found.address_is}"
                    raise HostPatternError(problem, 0, max(1, len(pattern)), found.doc)
                host = plan.Host(
                    id=f"{scheme}:{address}", transport=scheme, name=address, package=TRANSPORT_SPECS.source(scheme)
                )
                ids.append(self._add(host, item.span))
        except HostPatternError as error:
            self._refuse(item, error, len(scheme) + len("://"))
        return ids

    def _add(self, host: plan.Host, span: Span) -> str:
        known = self.hosts.setdefault(host.id, host)
        earlier = self.spans.setdefault(host.id, span)
        if known != host:
            self.reader.report(structure_errors.HostConflict(span, earlier, host.id))
        other = self.machines.setdefault(_machine(host), host.id)
        if other != host.id:
            self.reader.report(structure_errors.SameMachine(span, self.spans[other], host.id, other))
        return host.id


def _over_ssh(destination: str, settings: Values | None) -> plan.Host:
    there = parse_destination(destination)
    port = settings.number("port") if settings else None
    return plan.Host(
        id=destination,
        transport="ssh",
        name=there.name,
        user=there.user or (settings.text("user") if settings else None),
        port=there.port or (int(port) if port else None),
        jump=settings.text("jump") if settings else None,
        identity=settings.text("identity") if settings else None,
    )


def _machine(host: plan.Host) -> tuple[str, int]:
    """Return what identifies a machine. Another port behind one address may be another machine."""
    if host.package:
        return (host.id, 0)
    return ("127.0.0.1" if host.name in ("localhost", "::1") else host.name, host.port or 22)


@dataclass(frozen=True)
class HardwareUnit:
    """What a cell runs on: a hardware group without variants, or one variant."""

    hardware: plan.Hardware
    aliases: tuple[str, ...]
    span: Span
    name: str
    """The short name of the variant, or the group's."""
    imported: bool
    said: Mapping[str, ast.Expr]
    """The source of each fact, for the options of a database that name it."""
    meter_taken: bool = False
    """Whether the profile removes its power meter."""
    meter_wrong: bool = False
    """Whether its `power` has a mistake."""


def read_hardware(entries: dict[str, Entry], table: HostTable) -> dict[str, HardwareUnit]:
    """Return every unit by its key, in the order of declaration."""
    short = Counter(variant.name for entry in entries.values() for variant in entry.all("variant"))
    short.update(entry.name for entry in entries.values())
    units: dict[str, HardwareUnit] = {}
    for entry in entries.values():
        values = table.reader.block(entry, HARDWARE)
        hosts = table.read(values.series("hosts"), entry.one("ssh"), entry.name)
        facts = _facts(values)
        power = read_power(values.series("power"), Group(entry.name, len(hosts)), table.reader)
        if isinstance(power, plan.Quantity):
            facts["power"] = power
        meters = power if isinstance(power, tuple) else ()
        prepare = _commands(values, table.reader)
        variants = entry.all("variant")
        if not variants:
            units[entry.name] = HardwareUnit(
                _hardware(entry.name, entry, entry, hosts, facts, prepare, meters, bool(values.flag("control"))),
                (entry.name,),
                entry.head,
                entry.name,
                entry.imported,
                _said(entry),
                "power" in entry.taken,
                values.said("power") and power is None,
            )
        for variant in variants:
            own, said = table.reader.block(variant, VARIANT), _said(variant)
            full = f"{entry.name}.{variant.name}"
            key = variant.name if short[variant.name] == 1 else full
            units[key] = HardwareUnit(
                _hardware(
                    key,
                    variant,
                    entry,
                    hosts,
                    {name: fact for name, fact in facts.items() if name not in said} | _facts(own),
                    prepare + _commands(own, table.reader),
                    meters,
                    bool(own.flag("control") if own.said("control") else values.flag("control")),
                ),
                tuple(dict.fromkeys((key, full))),
                variant.head,
                variant.name,
                entry.imported,
                {**_said(entry), **said},
                "power" in entry.taken,
                values.said("power") and power is None,
            )
    warn_of_odd_facts(entries, table.reader)
    return units


def _said(entry: Entry) -> dict[str, ast.Expr]:
    return {name: attribute.values[0] for name, attribute in entry.attributes.items()}


def _hardware(
    key: str,
    entry: Entry,
    group: Entry,
    hosts: tuple[str, ...],
    facts: dict[str, plan.Fact],
    prepare: tuple[str, ...],
    power: tuple[plan.PowerMeter, ...],
    control: bool,
) -> plan.Hardware:
    return plan.Hardware(
        key=key,
        label=entry.label,
        group=group.name,
        group_label=group.label,
        hosts=hosts,
        nodes=len(hosts),
        facts=facts,
        prepare=prepare,
        power=power,
        control=control,
        origin=origin(entry.head),
    )


def _facts(values: Values) -> dict[str, plan.Fact]:
    facts: dict[str, plan.Fact] = {}
    for name, value in values.found.items():
        if name in NOT_FACTS:
            continue
        if isinstance(value, Constant):
            facts[name] = value.quantity
        elif isinstance(value, str | bool):
            facts[name] = value
    return facts


def _commands(values: Values, reader: Reader) -> tuple[str, ...]:
    commands: list[str] = []
    for expr in listed(reader.deref(expr) for expr in values.series("prepare")):
        match expr:
            case ast.Call(function=ast.Name(text="command"), arguments=[ast.Argument(key=None, value=text)]):
                command = reader.value("command", text, _COMMAND)
                if isinstance(command, str):
                    commands.append(command)
            case _:
                wanted = VARIANT.keys["prepare"].shape.wanted
                reader.report(wrong_value(expr, "prepare", wanted, ["command"]))
    return tuple(commands)


def read_clients(entries: dict[str, Entry], table: HostTable) -> dict[str, plan.Client | None]:
    """Return the clients by name. The value is None for one with a mistake."""
    return {entry.name: _client(entry, table) for entry in entries.values()}


def _client(entry: Entry, table: HostTable) -> plan.Client | None:
    values = table.reader.block(entry, CLIENT)
    hosts = table.read(values.series("hosts"), entry.one("ssh"), entry.name)
    tool = read_tool(values.series("tool"), table.reader)
    if tool is None:
        return None
    return plan.Client(
        name=entry.name,
        label=entry.label,
        hosts=hosts,
        tool=tool,
        switch=values.text("switch") or None,
        origin=origin(entry.head),
    )
