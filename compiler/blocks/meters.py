"""Power meters, such as `ipmi("bmc-[1-4].lab", user: ..., password: ...)`, by the table in `blocks/schema.py`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from benchbrief.compiler import plan
from benchbrief.compiler.blocks import structure_errors, value_errors
from benchbrief.compiler.blocks.hosts import HostPatternError, expand, parse_destination
from benchbrief.compiler.blocks.schema import BOUNDARIES, METERS, POWER, MeterSchema
from benchbrief.compiler.blocks.shapes import Number, Text
from benchbrief.compiler.blocks.values import Constant, Reader, Value, described, listed
from benchbrief.dsl import ast
from benchbrief.dsl.source import Span

_DECLARED = Number("W", "250 W", above=True)
_SCHEMES = ("https://", "http://")
_OID = re.compile(r"\.?\d{1,10}(?:\.\d{1,10}){2,127}")
_OID_USAGE = 'numbers with dots between, such as "1.3.6.1.4.1.318.1.1.26.9.4.3.1.7.[1-4]"'


_Check = Callable[[str], None]


@dataclass(frozen=True)
class Group:
    """The hardware group that a meter is for: its name, and how many hosts it has."""

    name: str
    hosts: int


def read_power(
    series: Sequence[ast.Expr], group: Group | None, reader: Reader
) -> plan.PowerMeter | plan.Quantity | None:
    """What `power = ...` says: a meter, or a declared number. None when it was not said, or reported.

    Without a `group` (a profile's meter, which is for all), meters are not counted.
    """
    if not series:
        return None
    expr = series[0] if isinstance(series[0], ast.Name) and series[0].text in METERS else reader.deref(series[0])
    if isinstance(expr, ast.Quantity | ast.Unary | ast.Binary):
        declared = reader.quantity("power", series[0], _DECLARED)
        return declared.quantity if declared else None
    name = expr.function if isinstance(expr, ast.Call) else expr
    if not isinstance(name, ast.Name):
        reader.findings.add(structure_errors.WrongType(expr.span, "power", POWER.wanted, described(expr)))
        return None
    schema = METERS.get(name.text)
    if schema is None:
        reader.findings.add(structure_errors.UnknownWord(name.span, "power", name.text, tuple(METERS)))
        return None
    return _Meter(name.text, schema, expr, reader).read(group)


class _BadAddress(HostPatternError):
    """A text in `key` that is no address of a meter, or no number in one."""

    def __init__(self, key: str, why: str, text: str, wanted: str) -> None:
        super().__init__(why, 0, len(text), wanted)
        self.key = key


class _Meter:
    """One meter on its way from its call to the plan."""

    def __init__(self, kind: str, schema: MeterSchema, expr: ast.Expr, reader: Reader) -> None:
        self.kind = kind
        self.schema = schema
        self.expr = expr
        self.reader = reader

    def read(self, group: Group | None) -> plan.PowerMeter | None:
        unnamed, named = self._sorted(self.expr.arguments if isinstance(self.expr, ast.Call) else ())
        values = {
            name: self.reader.value(name, argument.value, self.schema.arguments[name].shape)
            for name, argument in named.items()
        }
        missing = [name for name, key in self.schema.arguments.items() if key.required and name not in named]
        if bool(unnamed) != bool(self.schema.address) or missing:
            self._refuse(self._wants(bool(unnamed), missing))
            return None
        options = {name: option for name, value in values.items() if (option := _option(value)) is not None}
        if len(options) < len(named):
            return None
        addresses: tuple[str, ...] = ()
        oids: tuple[str, ...] = ()
        if self.schema.networked:
            oid = options.pop("oid", None)
            found = self._expanded(unnamed[0].value, self._address)
            read = self._expanded(named["oid"].value, self._oid) if oid is not None else ("",)
            if found is None or read is None or not self._fits(unnamed[0], found, read, group):
                return None
            count = max(len(found), len(read))
            addresses = found * (count // len(found))
            oids = read * (count // len(read)) if oid is not None else ()
        elif unnamed:
            line = self.reader.value(self.kind, unnamed[0].value, Text())
            if not isinstance(line, str):
                return None
            options["command"] = line
        on, boundary = options.pop("on", "node"), options.pop("boundary", self.schema.boundary)
        return plan.PowerMeter(
            kind=self.kind,
            boundary=next((known for known in BOUNDARIES if known == boundary), self.schema.boundary),
            on="controller" if self.schema.networked or on == "controller" else "node",
            addresses=addresses,
            oids=oids,
            options=options,
            origin=plan.Origin(file=self.expr.span.source.name, line=self.expr.span.line, column=self.expr.span.column),
        )

    def _sorted(self, arguments: Iterable[ast.Argument]) -> tuple[list[ast.Argument], dict[str, ast.Argument]]:
        """The unnamed arguments, and the named ones that the meter takes, each once; the others are reported."""
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
                self.reader.findings.add(problem)
                # What it most likely stands for is not missing as well.
                if problem.replacement and problem.replacement not in named:
                    named[problem.replacement] = argument
            elif name in named:
                first = named[name].span
                self.reader.findings.add(structure_errors.DuplicateAttribute(argument.key.span, first, name))
            else:
                named[name] = argument
        if len(unnamed) > 1:
            self._refuse(f"takes {'one unnamed argument' if self.schema.address else 'no unnamed argument'}")
        return unnamed[:1], named

    def _wants(self, has_address: bool, missing: Sequence[str]) -> str:
        if has_address and not self.schema.address:
            return "takes no address: it is read on the host itself"
        wanted = [] if has_address or not self.schema.address else [self.schema.address]
        return f"needs {' and '.join([*wanted, *(f'`{name}:`' for name in missing)])}"

    def _refuse(self, why: str) -> None:
        self.reader.findings.add(structure_errors.BadArgument(self.expr.span, self.kind, why, self.schema.usage))

    def _expanded(self, expr: ast.Expr, check: _Check) -> tuple[str, ...] | None:
        """Every text that the ranges in `expr` (a text, or a list of those) stand for; None when one was reported."""
        found: list[str] = []
        for item in listed((self.reader.deref(expr),)):
            text = self.reader.value(self.kind, item, Text())
            if not isinstance(text, str):
                return None
            try:
                for each in expand(text):
                    check(each)
                    found.append(each)
            except HostPatternError as error:
                start = item.span.start + 1
                span = Span(item.span.source, start + error.start, min(start + error.end, item.span.end))
                self.reader.findings.add(
                    value_errors.BadText(span, error.key, str(error), error.hint)
                    if isinstance(error, _BadAddress)
                    else value_errors.BadHosts(span, str(error), error.hint)
                )
                return None
        if not found:
            self._refuse(f"needs {self.schema.address}")
        return tuple(found) or None

    def _address(self, text: str) -> None:
        """Raises HostPatternError for what is no address of a meter."""
        scheme = next((each for each in _SCHEMES if text.startswith(each)), "")
        if self.kind == "redfish" and not scheme:
            raise _BadAddress("redfish", "not the address of a Redfish service", text, "`https://bmc-[1-4].lab`")
        there = parse_destination(text.removeprefix(scheme).rstrip("/"))
        if there.user is not None:
            why = f"`{there.user}@` can't stand in a meter's address"
            raise HostPatternError(why, 0, len(text), "say who logs in as `user:`")

    def _oid(self, text: str) -> None:
        if not _OID.fullmatch(text):
            raise _BadAddress("oid", "not an object identifier", text, _OID_USAGE)

    def _fits(self, argument: ast.Argument, found: tuple[str, ...], read: tuple[str, ...], group: Group | None) -> bool:
        """Whether there is one meter, or one number of a meter, for each host."""
        count = max(len(found), len(read))
        if {len(found), len(read)} - {1, count}:
            self._refuse(f"names {len(found)} addresses and {len(read)} object identifiers, which do not pair up")
            return False
        pairs = [(found[i % len(found)], read[i % len(read)]) for i in range(count)]
        twice = next((pair for pair in pairs if pairs.count(pair) > 1), None)
        if twice is not None:
            self._refuse(f"names `{twice[0]}` twice: two hosts would have the power of one")
            return False
        if group is not None and group.hosts and count != group.hosts:
            usage = self.schema.usage
            self.reader.findings.add(
                structure_errors.MeterCount(argument.span, self.kind, group.name, count, group.hosts, usage)
            )
            return False
        return True


def _option(value: Value | None) -> str | float | bool | plan.Reference | None:
    if isinstance(value, Constant):
        return value.value
    return value if isinstance(value, str | bool | plan.Reference) else None
