"""MongoDB servers that are started for a run: their programs, configuration and logins, and what they are parts of."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchbrief.compiler import plan
from benchbrief.compiler.blocks import database_errors, structure_errors
from benchbrief.compiler.blocks.database_schema import DATABASE
from benchbrief.compiler.blocks.shapes import Number, Text
from benchbrief.compiler.blocks.values import Constant, Reader, Value, Values
from benchbrief.compiler.blocks.wrong_values import wrong_value
from benchbrief.compiler.problems import Findings
from benchbrief.dsl import ast
from benchbrief.dsl.source import Span

_PORT = 27017
_COUNT = Number("", "3", plain=True, integer=True, minimum=1.0, maximum=1000.0)
_MOST_CONFIG = 64 << 10
ONLY_STARTED = ("binary", "config", "port", "certificate", "ca", "user", "password", "key")
"""What only a server that is started may say."""
TOGETHER = (("certificate", "ca"), ("user", "password", "key"))
"""Of which all are said, or none."""
_WORDS = ("standalone", "sharded", "replica_set")

_NOT_OURS = (
    (
        re.compile(r"\bfork\s*:\s*[\"']?true|^\s*fork\s*=\s*true", re.MULTILINE),
        "`fork`: it has to stay in the foreground",
    ),
    (
        re.compile(r"\bdestination\s*:\s*[\"']?(file|syslog)|^\s*(logpath|syslog)\s*=", re.MULTILINE),
        "a log file: what it prints is kept with the run",
    ),
    (re.compile(r"password\s*[:=]\s*\S", re.IGNORECASE), "a password: the spec and the file go into version control"),
)
"""What a configuration file can't say, each with the reason. Both of its formats, YAML and the old one, are known."""


@dataclass(frozen=True)
class Topology:
    """`text` as it is told, None when it is not said; `members` and `shards` as far as they are said."""

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
                reader.findings.add(wrong_value(other, "topology", wanted, _WORDS))
    return Topology()


def _count(call: ast.Call, arguments: Sequence[ast.Argument], name: str, usage: str, reader: Reader) -> int | None:
    found: Value | None = None
    for argument in arguments:
        if argument.key is None:
            why = f"takes `{name}:` by name"
            reader.findings.add(structure_errors.BadArgument(argument.span, call.function.text, why, usage))
        elif argument.key.text != name:
            key = argument.key
            reader.findings.add(structure_errors.UnknownArgument(key.span, call.function.text, key.text, (name,)))
        else:
            found = reader.value(name, argument.value, _COUNT)
    return int(found.value) if isinstance(found, Constant) else None


def check_hosts(topology: Topology, span: Span, hardware: str, hosts: int, findings: Findings) -> None:
    """Whether a server that is started has a place for each of its parts."""
    problem = ""
    if topology.text in (None, "standalone") and hosts > 1:
        problem = 'one server runs on one host: say `topology = replica_set("rs0")` or `sharded`, or name one host'
    elif topology.members is not None and topology.members != hosts:
        problem = f"each host has one member: say `members: {hosts}`, or leave it out"
    elif topology.shards is not None and hosts % topology.shards:
        ways = " or ".join(str(n) for n in range(1, hosts + 1) if hosts % n == 0)
        problem = f"each shard has as many members as the others: say `shards: {ways}`"
    if problem:
        findings.add(database_errors.TopologyMismatch(span, topology.text or "standalone", hardware, hosts, problem))


def read_start(values: Values, started: bool, reader: Reader) -> plan.ServerStart | None:
    """None for a server that is not started, where what is only for one is reported."""
    if not started:
        for key in ONLY_STARTED:
            if key in values.entry.attributes:
                span = values.entry.attributes[key].key.span
                reader.findings.add(database_errors.OnlyStarted(span, key))
        return None
    for together in TOGETHER:
        said = [key for key in together if values.said(key)]
        missing = [key for key in together if key not in said]
        if said and missing:
            reader.findings.add(database_errors.HalfALogin(values.span(said[0]), said[0], tuple(missing)))
    binary = values.text("binary") or "mongod"
    folder, slash, _ = binary.rpartition("/")
    name, text = _config(values, reader)
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
        router=f"{folder}{slash}mongos",
        port=int(values.number("port") or _PORT),
        config_name=name,
        config=text,
        config_sha256=hashlib.sha256(text.encode()).hexdigest() if text else "",
        tls=plan.Tls(certificate=certificate, ca=ca) if certificate and ca else None,
        auth=auth,
    )


def _config(values: Values, reader: Reader) -> tuple[str, str]:
    """The name and the text of the configuration file; of one that can't be used, which is reported, nothing."""
    name = values.text("config")
    if name is None:
        return "", ""
    span = values.span("config")
    path = Path(span.source.name).parent / name
    try:
        if path.stat().st_size > _MOST_CONFIG:
            raise ValueError(f"it has more than {_MOST_CONFIG >> 10} KiB")
        text = path.read_bytes().decode()
    except (OSError, ValueError) as error:
        why = error.strerror or "it can't be read" if isinstance(error, OSError) else _decoded(error)
        reader.findings.add(database_errors.BadConfigFile(span, name, why[:1].lower() + why[1:]))
        return "", ""
    for why in _foreign(text):
        reader.findings.add(database_errors.ConfigNotOurs(span, name, why))
    return name, text


def _decoded(error: ValueError) -> str:
    return "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)


def _foreign(text: str) -> Iterator[str]:
    said = "\n".join(line.split("#")[0] for line in text.splitlines())
    return (why for pattern, why in _NOT_OURS if pattern.search(said))
