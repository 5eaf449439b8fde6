"""Reads hosts, hardware groups with their variants, and clients."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field

from benchbrief.compiler.blocks.host_patterns import (
    FILE_OF_HOSTS,
    MAX_HOSTS,
    MAX_NAMED,
    HostPatternError,
    expand,
    expand_hosts,
    parse_destination,
)
from benchbrief.compiler.blocks.meters import MeteredGroup, read_power
from benchbrief.compiler.blocks.values import (
    Constant,
    Reader,
    Values,
    listed,
    named_arguments,
    origin,
    setting,
    wrong_value,
)
from benchbrief.compiler.blocks.workloads import read_tool
from benchbrief.compiler.frontend import structure_errors, value_errors
from benchbrief.compiler.frontend.declarations import Entry
from benchbrief.compiler.frontend.name_errors import NothingNamed, OddFact, UnusableExtension
from benchbrief.compiler.frontend.name_index import NOT_FACTS
from benchbrief.compiler.frontend.value_errors import BadHosts
from benchbrief.compiler.registry import SCHEDULER_SPECS, TRANSPORT_SPECS, RefusedExtension
from benchbrief.compiler.schemas import CLIENT, HARDWARE, HOSTS, SCHEDULER, SSH, VARIANT, scheduler_schema
from benchbrief.dsl.diagnostics.suggest import did_you_mean, one_slip
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.extension_spec import NAME, SchedulerSpec
from benchbrief.model.value_shapes import Number, Text

_MOST_FACTS = 300
"""The most fact names to compare with each other. If a spec has more, no name is questioned."""
_Own = Mapping[str, ast.Attribute]


def warn_of_odd_facts(entries: Mapping[str, Entry], reader: Reader) -> None:
    """Warn of a fact whose name is one typing error away from an attribute of hardware, or from a more frequent or
    earlier fact."""
    blocks = list(_blocks(entries))
    counts = Counter(name for own in blocks for name in own)
    if len(counts) > _MOST_FACTS:
        return
    first = {name: own[name] for own in reversed(blocks) for name in own}
    for own in blocks:
        for name, attribute in own.items():
            if name in HARDWARE.keys:
                continue
            keys = [key for key in HARDWARE.keys if one_slip(name, key)]
            facts = [
                other
                for other in counts
                if counts[name] == 1 and other not in own and other not in HARDWARE.keys and one_slip(name, other)
            ]
            usual = [other for other in facts if counts[other] > 1 or _earlier(first[other], attribute)]
            for meant, what in [*((key, "attribute") for key in keys), *((other, "fact") for other in usual)][:1]:
                if not reader.findings.at(attribute.key.span):
                    reader.report(OddFact(attribute.key.span, name, meant, what))


def _blocks(entries: Mapping[str, Entry]) -> Iterator[_Own]:
    """Yield each group's and variant's own attributes, without the inherited ones."""
    for entry in entries.values():
        above = entries.get(entry.parent)
        inherited = above.attributes if above else {}
        yield {name: said for name, said in entry.attributes.items() if inherited.get(name) is not said}
        known = [each.attributes for each in above.all("variant")] if above else []
        yield from (variant.attributes for variant in entry.all("variant") if variant.attributes not in known)


def _earlier(one: ast.Attribute, other: ast.Attribute) -> bool:
    return one.span.source is not other.span.source or one.span.start < other.span.start


_COUNT = Number("", "4", plain=True, integer=True, minimum=1.0, maximum=float(MAX_HOSTS))
_TEXT = Text()
_FILES = ("file", "read", "open", "include", "inventory", "load")
"""Functions that people try to call in order to read a list of hosts from a file."""


def read_asked(call: ast.Call, reader: Reader) -> tuple[plan.Asked, int] | None:
    """Return the request to a scheduler and the number of hosts, or None after a mistake, which is reported."""
    name = call.function.text
    spec = SCHEDULER_SPECS.find(name)
    if isinstance(spec, RefusedExtension):
        return reader.refuse(UnusableExtension.of(call.function.span, spec))
    if spec is None or not spec.usage:
        if name in _FILES:
            why = "hosts are written in the spec: they can't be read from a file"
            return reader.refuse(BadHosts(call.span, why, FILE_OF_HOSTS))
        known = tuple(each for each, own in SCHEDULER_SPECS.own.items() if own.usage)
        return reader.refuse(structure_errors.UnknownWord(call.function.span, "hosts", name, ("local", *known)))
    named = named_arguments(call, spec.arguments, reader)
    if named is None:
        return None
    said = {key: reader.value(key, argument.value, _TEXT) for key, argument in named.items()}
    mistakes = len(reader.findings)
    text, count = "", 0
    for argument in (each for each in call.arguments if each.key is None):
        value = reader.deref(argument.value)
        if isinstance(value, ast.String | ast.Name) and not text:
            found = reader.value(name, argument.value, _TEXT)
            text = found if isinstance(found, str) else ""
        elif isinstance(value, ast.Quantity) and not count:
            number = reader.quantity(name, argument.value, _COUNT)
            count = int(number.value) if number else 1
        else:
            why = "takes what the hosts must have, a text, and their number"
            reader.report(structure_errors.BadArgument(argument.span, name, why, spec.usage))
    for why in _mistakes(spec, text, said) if len(reader.findings) == mistakes else ():
        reader.report(structure_errors.BadArgument(call.span, name, why, spec.usage))
    if len(reader.findings) > mistakes or None in said.values():
        return None
    options = tuple((key, value) for key, value in said.items() if isinstance(value, str))
    return plan.Asked(scheduler=name, what=text, options=options), count or 1


def _mistakes(spec: SchedulerSpec, text: str, said: Mapping[str, object]) -> Iterator[str]:
    if not text and not said:
        yield f"needs {spec.asks_for}" + "".join(f", or `{key}:`" for key in spec.arguments)
    elif text and not re.fullmatch(spec.asks_form, text):
        yield f"needs {spec.asks_for}, and `{text}` is none"


def read_schedulers(entries: Mapping[str, Entry], reader: Reader) -> dict[str, plan.SchedulerBlock]:
    """Return the scheduler blocks by the names of their schedulers. Report wrong blocks and leave them out."""
    found = (_block(entry, reader) for entry in entries.values())
    return {block.name: block for block in found if block is not None}


def _block(entry: Entry, reader: Reader) -> plan.SchedulerBlock | None:
    spec = SCHEDULER_SPECS.find(entry.name)
    at = Span(entry.head.source, entry.head.end - len(entry.name), entry.head.end)
    if isinstance(spec, RefusedExtension):
        return reader.refuse(UnusableExtension.of(at, spec))
    if spec is None:
        if entry.name:
            known = SCHEDULER_SPECS.names
            reader.report(structure_errors.UnknownWord(at, "scheduler", entry.name, known))
        return None
    values = reader.block(entry, SCHEDULER if entry.name in SCHEDULER_SPECS.own else scheduler_schema(spec))
    for name, attribute in entry.attributes.items():
        key = SCHEDULER.keys.get(name)
        if name not in spec.attributes and key is not None:
            only = " or ".join(key.only)
            reader.report(structure_errors.NotForThis(attribute.key.span, name, only, entry.name))
    options = {name: found for name, value in values.found.items() if (found := setting(value)) is not None}
    package = SCHEDULER_SPECS.source(entry.name)
    return plan.SchedulerBlock(name=entry.name, options=options, package=package, origin=origin(entry.head))


_COMMAND = Text()
_LOCAL = plan.Host(id="local", transport="local", name="127.0.0.1")


@dataclass
class HostTable:
    """All hosts of the plan. Each host is listed once, however often the spec names it."""

    reader: Reader
    hosts: dict[str, plan.Host] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)
    machines: dict[tuple[str, int], str] = field(default_factory=dict)
    named: int = 0
    """The number of hosts that the groups name, counting repetitions."""

    def read(self, exprs: tuple[ast.Expr, ...], ssh: Entry | None, owner: str = "") -> tuple[str, ...]:
        """Return the ids of the hosts that `hosts = ...` names. Wrong ones are reported and left out. Hosts that a
        scheduler supplies are named after their `owner`, as in `eco-1.slurm`."""
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
        """Count the named hosts. Raises HostPatternError when the spec names too many hosts in all."""
        self.named += len(texts)
        if self.named > MAX_NAMED:
            problem = f"more than {MAX_NAMED:,} hosts are named in all"
            raise HostPatternError(problem, 0, len(pattern), "leave out hosts, or split the spec")

    def _refuse(self, item: ast.String, error: HostPatternError, before: int = 0) -> None:
        """Report a wrong host pattern that begins after the first `before` characters of the text."""
        start = item.span.start + 1 + before
        span = Span(item.span.source, start + error.start, min(start + error.end, item.span.end))
        self.reader.report(value_errors.BadHosts(span, str(error), error.hint))

    def _reached(self, item: ast.String, scheme: str, pattern: str) -> list[str]:
        """Return the ids of hosts that another package's transport reaches, such as `netns://bench-[1-2]`."""
        found = TRANSPORT_SPECS.find(scheme)
        if isinstance(found, RefusedExtension):
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
                    id=f"{scheme}:{address}", transport=scheme, name=address, package=TRANSPORT_SPECS.build(scheme)
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
    """Return a key that identifies a machine. It includes the port, since two ports of one address may lead to two
    machines."""
    if host.package:
        return (host.id, 0)
    return ("127.0.0.1" if host.name in ("localhost", "::1") else host.name, host.port or 22)


@dataclass(frozen=True)
class HardwareUnit:
    """The hardware that a cell runs on: a hardware group without variants, or one variant."""

    hardware: plan.Hardware
    aliases: tuple[str, ...]
    span: Span
    name: str
    """The short name of the variant, or the name of the group if it has no variants."""
    imported: bool
    said: Mapping[str, ast.Expr]
    """The spec's expression for each fact. Database options that name the fact use it."""
    meter_taken: bool = False
    """Whether the profile removes the unit's power meter."""
    meter_wrong: bool = False
    """Whether the unit's `power` attribute has a mistake."""


def read_hardware(entries: dict[str, Entry], table: HostTable) -> dict[str, HardwareUnit]:
    """Return every unit by its key, in the order of declaration."""
    short = Counter(variant.name for entry in entries.values() for variant in entry.all("variant"))
    short.update(entry.name for entry in entries.values())
    units: dict[str, HardwareUnit] = {}
    for entry in entries.values():
        values = table.reader.block(entry, HARDWARE)
        hosts = table.read(values.series("hosts"), entry.one("ssh"), entry.name)
        facts = _facts(values)
        power = read_power(values.series("power"), MeteredGroup(entry.name, len(hosts)), table.reader)
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
    """Return the clients by name. A client with a mistake has the value None."""
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
