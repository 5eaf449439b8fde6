"""Reads power meters, such as `ipmi("bmc-[1-4].lab", user: ..., password: ...)`, by the specs of their kinds."""

from __future__ import annotations

import re
import zoneinfo
from collections.abc import Callable, Iterable, Sequence
from typing import get_args

from benchbrief.compiler.blocks import equipment_errors, experiment_errors
from benchbrief.compiler.blocks.host_patterns import HostPatternError, expand, parse_destination
from benchbrief.compiler.blocks.values import Constant, Reader, Value, described, listed, origin
from benchbrief.compiler.frontend import structure_errors, value_errors
from benchbrief.compiler.frontend.name_errors import UnusableExtension
from benchbrief.compiler.registry import METER_SPECS, RefusedExtension
from benchbrief.compiler.schemas import POWER
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.extension_spec import Boundary, MeterSpec
from benchbrief.model.value_shapes import Number, Special, Text

_DECLARED = Number("W", "250 W", above=True)
_SCHEMES = ("https://", "http://")
_OID = re.compile(r"\.?\d{1,10}(?:\.\d{1,10}){2,127}")
_OID_USAGE = 'numbers with dots between, such as "1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.[1-4]"'
_OUTLET = re.compile(r"\d{1,5}(?:\.\d{1,5}){0,2}")
_FINGERPRINT = re.compile(r"(?:[0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2}")

_Check = Callable[[str], None]


@dataclass(frozen=True)
class MeteredGroup:
    """The name of the hardware group that a meter belongs to, and the number of its hosts."""

    name: str
    hosts: int


def read_power(
    series: Sequence[ast.Expr], group: MeteredGroup | None, reader: Reader
) -> tuple[plan.PowerMeter, ...] | plan.Quantity | None:
    """Return the meters of `power = ...`, whose watts are added up, or a declared number. Return None if the value is
    missing or has a mistake.

    Without a `group`, as for a profile's meter, the number of meters is not checked.
    """
    if not series:
        return None
    expr = (
        series[0] if isinstance(series[0], ast.Name) and METER_SPECS.find(series[0].text) else reader.deref(series[0])
    )
    if isinstance(expr, ast.Quantity | ast.Unary | ast.Binary):
        declared = reader.quantity("power", series[0], _DECLARED)
        return declared.quantity if declared else None
    items = listed((expr,))
    if not items:
        reader.report(structure_errors.WrongType(expr.span, "power", POWER.wanted, "an empty list"))
    meters = [_meter(item, group, reader) for item in items]
    known = tuple(meter for meter in meters if meter is not None)
    if len(known) < len(items) or not items:
        return None
    for number, (item, meter) in enumerate(zip(items, known, strict=True)):
        twice = any(_places(meter) & _places(earlier) for earlier in known[:number])
        if why := _apart(known[0], meter) or (_TWICE if twice else ""):
            instead = {_FILES: "name columns of one file", _TWICE: "remove one of them"}.get(why)
            return reader.refuse(equipment_errors.MetersDontAddUp(item.span, items[0].span, why, instead or _ALIKE))
    return known


def _apart(first: plan.PowerMeter, other: plan.PowerMeter) -> str:
    """Return why the watts of two meters of the same hosts can't be added up, or "" if they can."""
    if first.kind != other.kind:
        return f"`{other.kind}` and `{first.kind}` are not read at the same moments"
    if (first.boundary, first.on) != (other.boundary, other.on):
        return "their watts are the power of different parts, or they are read in different places"
    if first.shared != other.shared:
        return "one is of all hosts together, the other of each host"
    if _is_recorded(first) and {*first.addresses} != {*other.addresses}:
        return _FILES
    return ""


def _is_recorded(meter: plan.PowerMeter) -> bool:
    spec = METER_SPECS.usable(meter.kind)
    return spec is not None and spec.recorded


def _places(meter: plan.PowerMeter) -> set[tuple[str, ...]]:
    """Return the places that a meter reads. If it has addresses, these are the addresses with their parts; otherwise
    there is one place, made of the command and its parts."""
    if not meter.addresses:
        return {(str(meter.options.get("command", "")), *meter.parts)}
    parts = meter.parts or ("",) * len(meter.addresses)
    return set(zip(meter.addresses, parts, strict=True))


def _meter(expr: ast.Expr, group: MeteredGroup | None, reader: Reader) -> plan.PowerMeter | None:
    name = expr.function if isinstance(expr, ast.Call) else expr
    if not isinstance(name, ast.Name):
        return reader.refuse(structure_errors.WrongType(expr.span, "power", POWER.wanted, described(expr)))
    schema = METER_SPECS.find(name.text)
    if isinstance(schema, RefusedExtension):
        return reader.refuse(UnusableExtension.of(name.span, schema))
    if schema is None:
        return reader.refuse(structure_errors.UnknownWord(name.span, "power", name.text, METER_SPECS.names))
    return _Meter(name.text, schema, expr, reader).read(group)


_FILES = "their files are not sampled at the same moments"
_TWICE = "this meter is named twice"
_ALIKE = "name meters of one kind that are read alike, such as two outlets of a host with two power supplies"


class _BadText(HostPatternError):
    """A text in the argument `key` that is not an address or a number of a meter."""

    def __init__(self, key: str, why: str, text: str, wanted: str) -> None:
        super().__init__(why, 0, len(text), wanted)
        self.key = key


class _Meter:
    """Reads one meter from its call in the spec."""

    def __init__(self, kind: str, schema: MeterSpec, expr: ast.Expr, reader: Reader) -> None:
        self.kind = kind
        self.schema = schema
        self.expr = expr
        self.reader = reader

    def read(self, group: MeteredGroup | None) -> plan.PowerMeter | None:
        unnamed, named = self._sorted(self.expr.arguments if isinstance(self.expr, ast.Call) else ())
        ranged = [name for name in self.schema.parts if name in named]
        values = {
            name: self.reader.value(name, argument.value, self.schema.arguments[name].shape)
            for name, argument in named.items()
            if name not in ranged
        }
        local = self.schema.local and not unnamed and set(named) <= set(self.schema.parts)
        if self._misfits(unnamed, named, local):
            return None
        options = {name: option for name, value in values.items() if (option := self._option(name, value)) is not None}
        if len(options) < len(values) or not self._checked(named, options):
            return None
        shared, on = options.pop("shared", False) is True, options.pop("on", "node")
        boundary = options.pop("boundary", self.schema.boundary)
        addresses: tuple[str, ...] = ()
        parts: tuple[str, ...] = ()
        if self.schema.networked and unnamed:
            places = self._places(unnamed[0], [named[name].value for name in ranged], shared, group)
            if places is None:
                return None
            addresses, parts = places
            self._warn_of_trust(unnamed[0], addresses, options)
        elif unnamed:
            line = self.reader.value(self.kind, unnamed[0].value, Text())
            if not isinstance(line, str):
                return None
            options["command"] = line
        elif ranged:
            read = self._expanded(ranged[0], named[ranged[0]].value)
            if read is None:
                return None
            parts = read
        if parts and "outlet" in ranged:
            options["outlet"] = True  # the parts are outlets, not object identifiers
        return plan.PowerMeter(
            kind=self.kind,
            boundary=next((known for known in get_args(Boundary) if known == boundary), self.schema.boundary),
            on="controller" if (self.schema.networked and not local) or on == "controller" else "node",
            addresses=addresses,
            parts=parts,
            shared=shared,
            options=options,
            package=METER_SPECS.build(self.kind),
            origin=origin(self.expr.span),
        )

    def _misfits(self, unnamed: Sequence[ast.Argument], named: dict[str, ast.Argument], local: bool) -> bool:
        """Report missing or contradicting arguments, and return whether there are any."""
        missing = [f"`{name}:`" for name, key in self.schema.arguments.items() if key.required and name not in named]
        missing += [
            " or ".join(f"`{name}:`" for name in names)
            for names in self.schema.needs
            if not any(name in named for name in names)
        ]
        if not local and (bool(unnamed) != bool(self.schema.address) or missing):
            self._refuse(self._wants(bool(unnamed), missing))
            return True
        for one, other in self.schema.exclude:
            if one in named and other in named:
                first, second = sorted((one, other), key=lambda name: named[name].span.start)
                self.reader.report(
                    structure_errors.ExclusiveAttributes(named[second].span, named[first].span, second, first)
                )
                return True
        for name, argument in named.items():
            needed = self.schema.needs_another.get(name)
            if needed and needed not in named:
                self.reader.report(
                    equipment_errors.ArgumentAlone(argument.span, self.kind, name, needed, self.schema.usage)
                )
                return True
        return False

    def _places(
        self, argument: ast.Argument, of: Sequence[ast.Expr], shared: bool, group: MeteredGroup | None
    ) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
        """Return the addresses and the parts to read at each address, or None after a mistake."""
        found = self._expanded(self.kind, argument.value)
        key = next((name for name in self.schema.parts if self._said(name)), "")
        read = self._expanded(key, of[0]) if of else ("",)
        if found is None or read is None or not self._fits(argument, found, read, shared, group):
            return None
        count = max(len(found), len(read))
        return found * (count // len(found)), read * (count // len(read)) if of else ()

    def _warn_of_trust(
        self, argument: ast.Argument, addresses: Sequence[str], options: dict[str, str | float | bool | plan.Reference]
    ) -> None:
        if self.schema.address_is != "url":
            return
        plain = next((each for each in addresses if each.startswith("http://")), "")
        if plain:
            self.reader.report(equipment_errors.UnverifiedMeter(argument.span, plain, "without TLS"))
        elif options.get("verify") is False:
            self.reader.report(equipment_errors.UnverifiedMeter(argument.span, addresses[0], "`verify: false`"))

    def _said(self, name: str) -> bool:
        arguments = self.expr.arguments if isinstance(self.expr, ast.Call) else ()
        return any(argument.key is not None and argument.key.text == name for argument in arguments)

    def _sorted(self, arguments: Iterable[ast.Argument]) -> tuple[list[ast.Argument], dict[str, ast.Argument]]:
        """Return the unnamed arguments and the named arguments that are known, each once. Report all others."""
        unnamed: list[ast.Argument] = []
        named: dict[str, ast.Argument] = {}
        for argument in arguments:
            if argument.key is None:
                unnamed.append(argument)
                continue
            name = argument.key.text
            if name not in self.schema.arguments:
                known = tuple(self.schema.arguments)
                problem = structure_errors.UnknownArgument(argument.key.span, self.kind, name, known)
                self.reader.report(problem)
                # Do not report the argument that it most likely means as missing, too.
                if problem.replacement and problem.replacement not in named:
                    named[problem.replacement] = argument
            elif name in named:
                first = named[name].span
                self.reader.report(structure_errors.DuplicateAttribute(argument.key.span, first, name))
            else:
                named[name] = argument
        if len(unnamed) > 1:
            self._refuse(f"takes {'one unnamed argument' if self.schema.address else 'no unnamed argument'}")
        return unnamed[:1], named

    def _wants(self, has_address: bool, missing: Sequence[str]) -> str:
        if has_address and not self.schema.address:
            return "takes no address: it is read on the host itself"
        wanted = [] if has_address or not self.schema.address else [self.schema.address]
        return f"needs {' and '.join([*wanted, *missing])}"

    def _refuse(self, why: str) -> None:
        self.reader.report(structure_errors.BadArgument(self.expr.span, self.kind, why, self.schema.usage))

    def _option(self, name: str, value: Value | None) -> str | float | bool | plan.Reference | None:
        if isinstance(value, Constant):
            return value.value
        if isinstance(value, str | bool | plan.Reference):
            return value
        if isinstance(value, tuple) and isinstance(self.schema.arguments[name].shape, Special):
            texts = self._expanded(name, value[0])
            return " ".join(texts).replace(":", "").lower() if texts else None
        return None

    def _checked(self, named: dict[str, ast.Argument], options: dict[str, str | float | bool | plan.Reference]) -> bool:
        """Return whether the texts among the options fit their keys, and report a text that does not fit."""
        zone = options.get("zone")
        if isinstance(zone, str) and zone not in zoneinfo.available_timezones():
            hint = 'a name of the IANA time zone database, such as "Europe/Berlin" or "UTC"'
            span = named["zone"].value.span
            self.reader.report(value_errors.BadText(span, zone, "not a time zone", hint))
            return False
        return True

    def _expanded(self, key: str, expr: ast.Expr) -> tuple[str, ...] | None:
        """Return every text that the ranges in `expr` (a text or a list of texts) expand to, or None after a
        mistake."""
        check = self._checks().get(key)
        found: list[str] = []
        for item in listed((self.reader.deref(expr),)):
            text = self.reader.value(key, item, Text())
            if not isinstance(text, str):
                return None
            try:
                for each in expand(text):
                    if check:
                        check(each)
                    found.append(each)
            except HostPatternError as error:
                start = item.span.start + 1
                span = Span(item.span.source, start + error.start, min(start + error.end, item.span.end))
                return self.reader.refuse(
                    value_errors.BadText(span, error.key, str(error), error.hint)
                    if isinstance(error, _BadText)
                    else value_errors.BadHosts(span, str(error), error.hint)
                )
        if not found:
            self._refuse(f"needs {self.schema.address}")
        return tuple(found) or None

    def _checks(self) -> dict[str, _Check]:
        address = self._path if self.schema.address_is == "path" else self._address
        return {self.kind: address, "oid": self._oid, "outlet": self._outlet, "fingerprint": self._fingerprint}

    def _address(self, text: str) -> None:
        """Check an address of a meter. Raises HostPatternError."""
        scheme = next((each for each in _SCHEMES if text.startswith(each)), "")
        if self.schema.address_is == "url" and not scheme:
            raise _BadText(text, "not the address of a service", text, "`https://bmc-[1-4].lab`")
        there = parse_destination(text.removeprefix(scheme).rstrip("/"))
        if there.user is not None:
            why = f"a meter's address can't have `{there.user}@`"
            raise HostPatternError(why, 0, len(text), "write the name as `user:`")

    def _path(self, text: str) -> None:
        if not text.startswith("/"):
            raise _BadText(text, "not an absolute path", text, '"/var/log/meter/*.csv"')

    def _oid(self, text: str) -> None:
        if not _OID.fullmatch(text):
            raise _BadText(text, "not an object identifier", text, _OID_USAGE)

    def _outlet(self, text: str) -> None:
        if not _OUTLET.fullmatch(text):
            raise _BadText(text, "not the number of an outlet", text, 'its number, such as "[1-4]"')

    def _fingerprint(self, text: str) -> None:
        if not _FINGERPRINT.fullmatch(text):
            hint = "the 64 digits that `openssl x509 -noout -fingerprint -sha256` prints"
            raise _BadText("fingerprint", "not the SHA-256 of a certificate", text, hint)

    def _fits(
        self,
        argument: ast.Argument,
        found: tuple[str, ...],
        read: tuple[str, ...],
        shared: bool,
        group: MeteredGroup | None,
    ) -> bool:
        """Return whether each host has one meter or part. Hosts that share a meter need only one in all."""
        count = max(len(found), len(read))
        if {len(found), len(read)} - {1, count}:
            what = "object identifiers" if self._said("oid") else f"{self.schema.parts[-1]}s"
            self._refuse(f"names {len(found)} addresses and {len(read)} {what}, which do not pair up")
            return False
        pairs = [(found[i % len(found)], read[i % len(read)]) for i in range(count)]
        twice = next((pair for pair in pairs if pairs.count(pair) > 1), None)
        if twice is not None:
            what = "its watts would be counted twice" if shared else "two hosts would have the power of one"
            self._refuse(f"names `{twice[0]}` twice: {what}")
            return False
        if shared and self.schema.recorded and len(set(found)) > 1:
            self._refuse("can't add up files, which are not sampled at the same moments")
            return False
        if group is not None and group.hosts and count != group.hosts and not shared:
            self.reader.report(experiment_errors.MeterCount(argument.span, self.kind, group.name, count, group.hosts))
            return False
        return True
