"""Servers that a run starts: their programs, configuration, logins and topology."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchbrief.compiler.blocks.databases import database_errors
from benchbrief.compiler.blocks.values.block_values import Constant, Value, Values
from benchbrief.compiler.blocks.values.spec_files import read_spec_file
from benchbrief.compiler.blocks.values.values import Reader
from benchbrief.compiler.blocks.values.wrong_forms import wrong_value
from benchbrief.compiler.extensions import EngineSpec, ServerProgram
from benchbrief.compiler.extensions.engine_spec import STARTED
from benchbrief.compiler.frontend import structure_errors
from benchbrief.compiler.planning import plan
from benchbrief.compiler.problems import Findings
from benchbrief.compiler.schemas.extension_schemas import DATABASE
from benchbrief.compiler.shapes.value_shapes import Number, Text
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast

_COUNT = Number("", "3", plain=True, integer=True, minimum=1.0, maximum=1000.0)
TOGETHER = (("certificate", "ca"), ("user", "password", "key"))
"""Of which all are said, or none."""
_WORDS = ("standalone", "sharded", "replica_set")


@dataclass(frozen=True)
class Topology:
    """`text` as the spec has it, None when it has none; `members` and `shards` as far as the spec gives them."""

    text: str | None = None
    members: int | None = None
    shards: int | None = None


def read_topology(values: Values, reader: Reader) -> Topology:
    for expr in values.series("topology"):
        match reader.deref(expr):
            case ast.Name(text=("standalone" | "sharded") as word):
                return Topology(word)
            case (
                ast.Call(
                    function=ast.Name(text="replica_set"), arguments=[ast.Argument(key=None, value=name), *rest]
                ) as call
            ):
                text = reader.value("replica_set", name, Text())
                count = _count(call, rest, "members", '`replica_set("rs0", members: 3)`', reader)
                return Topology(f"replica_set({text})", members=count) if isinstance(text, str) else Topology()
            case ast.Call(function=ast.Name(text="sharded"), arguments=arguments) as call:
                return Topology("sharded", shards=_count(call, arguments, "shards", "`sharded(shards: 2)`", reader))
            case other:
                wanted = DATABASE.keys["topology"].shape.wanted
                reader.report(wrong_value(other, "topology", wanted, _WORDS))
    return Topology()


def _count(call: ast.Call, arguments: Sequence[ast.Argument], name: str, usage: str, reader: Reader) -> int | None:
    found: Value | None = None
    for argument in arguments:
        if argument.key is None:
            why = f"takes `{name}:` by name"
            reader.report(structure_errors.BadArgument(argument.span, call.function.text, why, usage))
        elif argument.key.text != name:
            key = argument.key
            reader.report(structure_errors.UnknownArgument(key.span, call.function.text, key.text, (name,)))
        else:
            found = reader.value(name, argument.value, _COUNT)
    return int(found.value) if isinstance(found, Constant) else None


def check_hosts(topology: Topology, span: Span, hardware: str, hosts: int, findings: Findings) -> None:
    """Whether a server that is started has a place for each of its parts."""
    problem = ""
    if topology.text in (None, "standalone") and hosts > 1:
        problem = 'one server runs on one host: write `topology = replica_set("rs0")` or `sharded`, or name one host'
    elif topology.members is not None and topology.members != hosts:
        problem = f"each host has one member: write `members: {hosts}`, or leave it out"
    elif topology.shards is not None and hosts % topology.shards:
        ways = " or ".join(f"`shards: {n}`" for n in range(1, hosts + 1) if hosts % n == 0)
        problem = f"all shards have the same number of members: write {ways}"
    if problem:
        findings.add(database_errors.TopologyMismatch(span, topology.text or "standalone", hardware, hosts, problem))


def read_start(values: Values, engine: EngineSpec, started: bool, reader: Reader) -> plan.ServerStart | None:
    """Return None for a server that is not started, where what is only for one is reported."""
    program = engine.program
    if not started or program is None:
        for key in STARTED:
            if key in values.entry.attributes and key in engine.attributes:
                span = values.entry.attributes[key].key.span
                reader.report(database_errors.OnlyStarted(span, key))
        return None
    for together in ([key for key in keys if key in engine.attributes] for keys in TOGETHER):
        said = [key for key in together if values.said(key)]
        missing = [key for key in together if key not in said]
        if said and missing:
            reader.report(database_errors.HalfALogin(values.span(said[0]), said[0], tuple(missing)))
    binary = values.text("binary") or program.binary
    folder, slash, _ = binary.rpartition("/")
    name, text = _config(values, program, reader)
    certificate, ca = values.text("certificate"), values.text("ca")
    user, password, secret = (values.found.get(each) for each in ("user", "password", "key"))
    auth = None
    if (
        isinstance(user, str | plan.Reference)
        and isinstance(password, plan.Reference)
        and isinstance(secret, plan.Reference)
    ):
        auth = plan.Auth(user=user, password=password, key=secret)
    return plan.ServerStart(
        binary=binary,
        router=f"{folder}{slash}{program.router}" if program.router else "",
        port=int(values.number("port") or program.port),
        config_name=name,
        config=text,
        config_sha256=hashlib.sha256(text.encode()).hexdigest() if text else "",
        tls=plan.Tls(certificate=certificate, ca=ca) if certificate and ca else None,
        auth=auth,
    )


def _config(values: Values, program: ServerProgram, reader: Reader) -> tuple[str, str]:
    """Return the name and the text of the configuration file; of one that can't be used, which is reported, nothing."""
    name = values.text("config")
    if name is None:
        return "", ""
    span = values.span("config")
    text = read_spec_file("configuration file", name, span, reader.findings)
    if text is None:
        return "", ""
    for why in _refused(text, program):
        reader.report(database_errors.ConfigNotOurs(span, name, why))
    return name, text


def _refused(text: str, program: ServerProgram) -> Iterator[str]:
    said = "\n".join(line.split("#")[0] for line in text.splitlines())
    patterns = program.refused_config.items()
    return (why for pattern, why in patterns if re.search(pattern, said, re.MULTILINE))
