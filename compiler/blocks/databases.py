"""Reads databases: their declaration, the options of their engines, and the database of each hardware group."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from benchbrief.compiler.blocks import equipment_errors
from benchbrief.compiler.blocks.equipment_errors import BadFlagValue
from benchbrief.compiler.blocks.factor_errors import NotAFactor
from benchbrief.compiler.blocks.hardware import HardwareUnit
from benchbrief.compiler.blocks.values import (
    Constant,
    Reader,
    Value,
    Values,
    check_path,
    described,
    listed,
    origin,
    read_spec_file,
    reference,
    setting,
    wrong_value,
)
from benchbrief.compiler.blocks.workloads import can_load, read_tool, usual_tool
from benchbrief.compiler.frontend import structure_errors, value_errors
from benchbrief.compiler.frontend.declarations import Entry
from benchbrief.compiler.frontend.name_errors import UnusableExtension
from benchbrief.compiler.metrics.metric_errors import UnknownFunction
from benchbrief.compiler.problems import CompileProblem, Findings
from benchbrief.compiler.registry import (
    ENGINE_SPECS,
    SNAPSHOT_SPECS,
    TOOL_SPECS,
    RefusedExtension,
    resets_of,
    tool_word,
    tool_words,
)
from benchbrief.compiler.schemas import DATABASE, database_schema, options_schema, owners
from benchbrief.dsl.diagnostics.plain_amounts import ticked
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model import engine_spec, plan
from benchbrief.model.engine_spec import COMMON, STARTED, EngineSpec, Option, ServerProgram
from benchbrief.model.tool_spec import Flags, FlagType
from benchbrief.model.units import parse_unit
from benchbrief.model.value_shapes import BlockSchema, Fact, Key, Number, Shape, Text, Word

_SWITCHES = {"1": True, "t": True, "true": True, "y": True, "yes": True} | dict.fromkeys(
    ("0", "f", "false", "n", "no"), False
)
"""The words that gflags accepts as the value of a switch, in upper or lower case."""

_WHOLE = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]+|[0-9]+)\Z")
_MOST_DIGITS = 40
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z")
_COUNTED = {
    "us": ("microseconds", parse_unit("us")),
    "ms": ("milliseconds", parse_unit("ms")),
    "s": ("seconds", parse_unit("s")),
    "MiB": ("MiB", parse_unit("MiB")),
}
_TIME = parse_unit("s").dimension
_SIZE = parse_unit("B").dimension
_ONE = "one of them, in quotes"
_PASSED = (_TIME, _SIZE)
"""The kinds of values (times and sizes) that reach the tool in seconds or bytes, even if a flag counts in another unit.
"""


def bad_value(span: Span, flag: str, value: Value | None, kind: FlagType, tool: str) -> BadFlagValue | None:
    """Return the mistake in a flag's value, or None if the value is right. `span` is the place of the value."""
    wanted = ""
    if isinstance(value, Constant):
        wanted, write = _of_a_number(value, kind)
        found = f"`{value.text}`"
    elif isinstance(value, bool):
        found = f"`{str(value).lower()}`"
        if kind.kind in ("integer", "number") and (kind.minimum, kind.maximum) != (0, 1):
            wanted, write = _wanted(kind), "a number"
        elif kind.words:
            wanted, write = _wanted(kind), _ONE
    elif isinstance(value, str):
        wanted, write = _of_a_text(value, kind)
        found = f'`"{value}"`'
    if not wanted:
        return None
    effect = f"{tool} would refuse it"
    if isinstance(value, bool) or (isinstance(value, Constant) and _counts_otherwise(value, kind)):
        effect = f"{tool} would get `{_passed(value)}`"
    return BadFlagValue(span, flag, tool, wanted, found, effect, write)


def _of_a_number(value: Constant, kind: FlagType) -> tuple[str, str]:
    """If the flag does not accept the number, return the form that it accepts, and the text to write instead.
    Otherwise, return two empty texts."""
    number = value.value
    if kind.kind == "bool":
        return ("", "") if value.bare and number in (0, 1) else (_wanted(kind), "`true` or `false`")
    if kind.kind == "text":
        return (_wanted(kind), _ONE) if kind.words else ("", "")
    if _counts_otherwise(value, kind):
        if kind.unit and _COUNTED[kind.unit][1].dimension == value.dimension:
            name, unit = _COUNTED[kind.unit]
            return f"a plain number of {name}", f"`{_plain(number / unit.factor)}`"
        return "a plain number", "a number without a unit, in what the flag counts"
    if kind.kind == "number":
        return "", ""
    percent = value.dimension == () and not value.bare
    if number != math.floor(number):
        near = 100 * number if percent else number
        return _wanted(kind), f"`{_plain(_held(math.floor(near + 0.5), kind))}`"
    return _out_of_range(number, kind)


def _of_a_text(text: str, kind: FlagType) -> tuple[str, str]:
    if kind.kind == "bool":
        return ("", "") if text.lower() in _SWITCHES else (_wanted(kind), "`true` or `false`")
    if kind.kind == "integer":
        if not _WHOLE.match(text):
            return _wanted(kind), "a number"
        if len(text) > _MOST_DIGITS:  # Python refuses to read a number of thousands of digits
            return _out_of_range(-math.inf if text.startswith("-") else math.inf, kind)
        return _out_of_range(int(text, 16 if "x" in text.lower() else 10), kind)
    if kind.kind == "number":
        return ("", "") if _NUMBER.match(text) else (_wanted(kind), "a number")
    if not kind.words or text.lower() in kind.words:
        return "", ""
    meant = did_you_mean(text, kind.words)
    return _wanted(kind), f'`"{meant}"`' if meant else _ONE


def _counts_otherwise(value: Constant, kind: FlagType) -> bool:
    """Return whether the value is a time or a size but the flag counts in a unit other than seconds or bytes."""
    if value.dimension not in _PASSED or value.bare or kind.kind in ("bool", "text"):
        return False
    if value.dimension == _TIME:
        return kind.unit != "s"
    return kind.unit != ""


def _out_of_range(number: float, kind: FlagType) -> tuple[str, str]:
    held = _held(number, kind)
    if held == number:
        return "", ""
    return f"a whole number of at {'most' if number > held else 'least'} {held:,}", f"`{_plain(held)}`"


def _held(number: float, kind: FlagType) -> float:
    """Return the number in the flag's range that is closest to the given one."""
    low = number if kind.minimum is None else max(number, kind.minimum)
    return low if kind.maximum is None else min(low, kind.maximum)


def _wanted(kind: FlagType) -> str:
    match kind.kind:
        case "bool":
            return "`true` or `false`"
        case "integer":
            return "a whole number"
        case "number":
            return "a number"
        case "text":
            return f"one of {ticked(kind.words)}"


def _passed(value: Constant | bool) -> str:
    return str(int(value)) if isinstance(value, bool) else _plain(value.value)


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else f"{number:g}"


_SERVERS = Number("", "1", plain=True, integer=True, maximum=50.0)
_PASSED_ON = Option(Key(Fact(), "A flag."))


@dataclass(frozen=True)
class EngineOptions:
    """The options that an engine's databases can have. `flags` describes the tool's flags; it is None unless the engine
    runs in the tool's process."""

    engine: EngineSpec
    flags: Flags | None

    def read(self, entry: Entry | None, reader: Reader) -> dict[str, plan.Option]:
        """Return the options under the engine's names. Report and drop options with a mistake."""
        if entry is None:
            return {}
        known = entry if self.flags else self._by_our_names(entry, reader)
        found = reader.block(known, options_schema(self.engine, flags=self.flags is not None)).found
        places = {key: reader.deref(each.values[0]).span for key, each in known.attributes.items() if each.values}
        return {
            self.word(key): option
            for key, value in found.items()
            if (option := self.value(key, value, reader, places.get(key))) is not None
        }

    def check(self, entry: Entry, reader: Reader) -> Entry:
        """Return the block without the options that the tool would refuse, and without those that a database can't set.
        Report each removed option."""
        flags = self.flags
        if flags is None:
            return entry
        kept = {}
        for name, attribute in entry.attributes.items():
            problem = self._refusal(flags, attribute.key.span, name)
            if problem is None:
                kept[name] = attribute
                if name not in self.engine.options and name not in flags.known:
                    at = attribute.key.span
                    reader.report(equipment_errors.UnknownFlag(at, name, flags.of, flags.versions))
            else:
                reader.report(problem)
            if reader.findings.more:
                break
        return replace(entry, attributes=kept)

    def word(self, key: str) -> str:
        """Return the engine's name for an option."""
        option = self.engine.options.get(key)
        return (option.name if option else "") or key

    def shape(self, key: str) -> Shape | None:
        """Return the shape of an option, or None for an unknown option."""
        option = self.engine.options.get(key)
        return option.key.shape if option else Fact() if self.flags else None

    def value(self, key: str, value: Value | None, reader: Reader, place: Span | None) -> plan.Option | None:
        """Return an option's value in the engine's terms, or None after a mistake. `place` is the value's place in the
        spec."""
        option = self.engine.options.get(key) or _PASSED_ON
        if option is _PASSED_ON and self.flags and key in self.flags.types and place:
            problem = bad_value(place, key, value, self.flags.types[key], self.flags.of)
            if problem is not None:
                return reader.refuse(problem)
        if isinstance(value, tuple):
            return (
                _word_or_number(key, option, value[0], reader)
                if option.word_or
                else _list(key, option, value[0], reader)
            )
        if isinstance(value, Constant):
            return value.value * option.scale
        if isinstance(value, bool):
            return value
        return option.words.get(value, value) if isinstance(value, str) else None

    def check_uri(self, string: ast.String, uri: plan.Template, places: Mapping[str, Span], reader: Reader) -> None:
        """Report options that the URI sets too. A connection string does not distinguish upper and lower case in option
        names."""
        text = "".join(part if isinstance(part, str) else "-" for part in uri)
        query = text.partition("?")[2]
        in_uri = {word.lower(): word for word in re.findall(r"(?:^|&)([A-Za-z]+)=", query)}
        for key, span in places.items():
            word = self.word(key).lower()
            if key in self.engine.options and word in in_uri:
                reader.report(equipment_errors.OptionInUri(span, string.span, key, in_uri[word]))

    def _by_our_names(self, entry: Entry, reader: Reader) -> Entry:
        """Report options that are written under the engine's names, and return the block without them."""
        options = self.engine.options
        meant = {self.word(name).lower(): name for name in options if name != self.word(name).lower()}
        kept = {}
        for name, attribute in entry.attributes.items():
            if name.lower() in meant and name not in options:
                reader.report(equipment_errors.UriWord(attribute.key.span, name, meant[name.lower()]))
            else:
                kept[name] = attribute
        return replace(entry, attributes=kept)

    def _refusal(self, flags: Flags, span: Span, name: str) -> CompileProblem | None:
        ours, options = flags.renamed, self.engine.options
        if name in flags.reserved:
            return equipment_errors.ReservedFlag(span, name, flags.reserved[name])
        if name in ours or (name not in flags.known and did_you_mean(name, options)):
            known = (ours[name],) if name in ours else tuple(options)
            return structure_errors.UnknownAttribute(span, "options", name, known)
        if name in options or name in flags.known:
            return None
        meant = self._meant(flags, name)
        wrong = meant or flags.complete or name != name.lower()
        return equipment_errors.NoFlag(span, name, meant, flags.of, flags.complete) if wrong else None

    def _meant(self, flags: Flags, name: str) -> str | None:
        """Return the flag that `name` most likely means. If `name` only adds characters to a known flag, return None,
        since it may be a newer flag."""
        flag = did_you_mean(name, (*self.engine.options, *sorted(flags.known.difference(flags.reserved))))
        return flag if flag and not name.startswith(flag) else None


def _word_or_number(key: str, option: Option, expr: ast.Expr, reader: Reader) -> plan.Option | None:
    match reader.deref(expr):
        case ast.Name(text=word) | ast.String(parts=(str(word),)) if word in option.word_or:
            return option.words.get(word, word)
        case ast.Name(text=word) as name if did_you_mean(word, option.word_or):
            reader.report(structure_errors.UnknownWord(name.span, key, word, option.word_or))
        case ast.Quantity() | ast.Unary() | ast.Binary():
            number = reader.quantity(key, expr, _SERVERS)
            return number.value if number else None
        case other:
            _wrong(key, option, other, reader)
    return None


def _list(key: str, option: Option, expr: ast.Expr, reader: Reader) -> plan.Option | None:
    found: list[str] = []
    for item in listed((reader.deref(expr),)):
        match reader.deref(item):
            case ast.Name(text=word) | ast.String(parts=(str(word),)) if word in option.list_of:
                found.append(word)
            case ast.Name(text=word) as name:
                return reader.refuse(structure_errors.UnknownWord(name.span, key, word, option.list_of))
            case other:
                _wrong(key, option, other, reader)
                return None
    return ",".join(dict.fromkeys(found)) or None


def _wrong(key: str, option: Option, expr: ast.Expr, reader: Reader) -> None:
    wanted = option.key.shape.wanted
    reader.report(structure_errors.WrongType(expr.span, key, wanted, described(expr)))


_ARGUMENTS: Mapping[str, Shape] = {"on": Word(("each", "first")), "timeout": Number("s", "10 min", above=True)}
_TIMEOUT_S = 600.0
_USAGE = '`command("./restore.sh", timeout: 10 min)`'
_WITH = "with"


@dataclass(frozen=True)
class Reset:
    """How a data set is reset. `commands` are used only by the kind `command`."""

    how: engine_spec.Reset
    commands: tuple[plan.Hook, ...] = ()


def read_reset(values: Values, engine: EngineSpec, reader: Reader) -> Reset:
    """Return how the data are reset. `as_needed` becomes `after_writes` if the engine does not update records in
    place."""
    found = _read_reset(values, engine, reader)
    if found.how == "as_needed" and not engine.updates_in_place:
        return Reset("after_writes")
    return found


def _read_reset(values: Values, engine: EngineSpec, reader: Reader) -> Reset:
    exprs, default = values.series("reset"), engine.default_reset
    known = resets_of(engine)
    called = ("command",) if "command" in engine.resets else ()
    if len(exprs) == 1 and isinstance(word := reader.deref(exprs[0]), ast.Name):
        how = word.text
        system = SNAPSHOT_SPECS.find(how) if engine_spec.by_file_system(how) else None
        if how in known and not isinstance(system, RefusedExtension):
            return Reset(how)
        if isinstance(system, RefusedExtension):
            reader.report(UnusableExtension.of(word.span, system))
        elif system is not None or (how in engine_spec.WAYS and how != "command"):
            reader.report(equipment_errors.ResetNotHere(word.span, how, engine.label, known))
        else:
            reader.report(structure_errors.UnknownWord(word.span, "reset", how, (*known, *called)))
        return Reset(default)
    commands = tuple(_commands(exprs, "reset", (*known, *called), reader))
    if commands and not called:
        reader.report(equipment_errors.ResetNotHere(exprs[0].span, "command", engine.label, known))
        return Reset(default)
    return Reset("command", commands) if commands else Reset(default)


def read_hooks(values: Values, when: Literal["prepare", "teardown"], reader: Reader) -> tuple[plan.Hook, ...]:
    return tuple(_commands(values.series(when), when, ("command",), reader))


def _commands(
    exprs: Sequence[ast.Expr], when: Literal["prepare", "reset", "teardown"], words: Sequence[str], reader: Reader
) -> Iterator[plan.Hook]:
    for expr in listed(reader.deref(each) for each in exprs):
        match reader.deref(expr):
            case ast.Call(function=ast.Name(text="command"), arguments=[ast.Argument(key=None, value=text), *rest]):
                line = reader.value("command", text, Text())
                given = [argument for argument in rest if argument.key and argument.key.text == _WITH]
                named = _named([argument for argument in rest if argument not in given], reader)
                timeout = named.get("timeout")
                if isinstance(line, str):
                    yield plan.Hook(
                        when=when,
                        line=line,
                        on="first" if named.get("on") == "first" else "each",
                        timeout_s=timeout.value if isinstance(timeout, Constant) else _TIMEOUT_S,
                        env={name: value for each in given for name, value in _variables(each.value, reader)},
                        origin=origin(expr.span),
                    )
            case ast.Call(function=ast.Name(text="command")):
                reader.report(structure_errors.BadArgument(expr.span, "command", "needs a command", _USAGE))
            case other:
                reader.report(wrong_value(other, when, DATABASE.keys[when].shape.wanted, words))


def _variables(expr: ast.Expr, reader: Reader) -> Iterator[tuple[str, str]]:
    """Yield the environment variables that pass the levels of the factors to a command, such as `BENCH_CODEC` with the
    value `lz4`."""
    for item in listed((expr,)):
        value = reader.level(item)
        if value is None:
            reader.report(NotAFactor(item.span, "factor", item.span.text, reader.factors))
        else:
            yield f"BENCH_{item.span.text.replace('.', '_').upper()}", value


def _named(arguments: Sequence[ast.Argument], reader: Reader) -> dict[str, object]:
    found: dict[str, object] = {}
    for argument in arguments:
        name = argument.key.text if argument.key else None
        if argument.key is None or name is None:
            why = "takes one command; all other arguments have names"
            reader.report(structure_errors.BadArgument(argument.span, "command", why, _USAGE))
        elif name not in _ARGUMENTS:
            known = (*_ARGUMENTS, _WITH)
            reader.report(structure_errors.UnknownArgument(argument.key.span, "command", name, known))
        else:
            found[name] = reader.value(name, argument.value, _ARGUMENTS[name])
    return found


_COUNT = Number("", "3", plain=True, integer=True, minimum=1.0, maximum=1000.0)
TOGETHER = (("certificate", "ca"), ("user", "password", "key"))
"""Groups of attributes that belong together: a spec gives all attributes of a group or none of them."""
_WORDS = ("standalone", "sharded", "replica_set")


@dataclass(frozen=True)
class Topology:
    """A declared topology. `text` is the topology as the spec writes it, or None if the spec gives none. `members` and
    `shards` are None if they are not given."""

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
    """Report a topology that does not fit the number of the server's hosts."""
    problem = ""
    if topology.text in (None, "standalone") and hosts > 1:
        problem = 'one server runs on one host: write `topology = replica_set("rs0")` or `sharded`, or name one host'
    elif topology.members is not None and topology.members != hosts:
        problem = f"each host has one member: write `members: {hosts}`, or leave it out"
    elif topology.shards is not None and hosts % topology.shards:
        ways = " or ".join(f"`shards: {n}`" for n in range(1, hosts + 1) if hosts % n == 0)
        problem = f"all shards have the same number of members: write {ways}"
    if problem:
        findings.add(equipment_errors.TopologyMismatch(span, topology.text or "standalone", hardware, hosts, problem))


def read_start(values: Values, engine: EngineSpec, started: bool, reader: Reader) -> plan.ServerStart | None:
    """Return how to start the server, or None for a server that the run does not start. In that case, report attributes
    that only started servers have."""
    program = engine.program
    if not started or program is None:
        for key in STARTED:
            if key in values.entry.attributes and key in engine.attributes:
                span = values.entry.attributes[key].key.span
                reader.report(equipment_errors.OnlyStarted(span, key))
        return None
    for together in ([key for key in keys if key in engine.attributes] for keys in TOGETHER):
        said = [key for key in together if values.said(key)]
        missing = [key for key in together if key not in said]
        if said and missing:
            reader.report(equipment_errors.HalfALogin(values.span(said[0]), said[0], tuple(missing)))
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
    """Return the name and the text of the configuration file. Both are empty after a mistake, which is reported."""
    name = values.text("config")
    if name is None:
        return "", ""
    span = values.span("config")
    text = read_spec_file("configuration file", name, span, reader.findings)
    if text is None:
        return "", ""
    for why in _refused(text, program):
        reader.report(equipment_errors.ConfigNotOurs(span, name, why))
    return name, text


def _refused(text: str, program: ServerProgram) -> Iterator[str]:
    said = "\n".join(line.split("#")[0] for line in text.splitlines())
    patterns = program.refused_config.items()
    return (why for pattern, why in patterns if re.search(pattern, said, re.MULTILINE))


_REFERENCES = ("env", "secret")
_PLAIN_PASSWORD = re.compile(r"://[^/@\s]*:[^/@\s]+@")


@dataclass(frozen=True)
class DatabaseSpec:
    """A declared database whose holes are not yet filled. Only a library engine has a `tool`."""

    name: str
    label: str
    engine: EngineSpec
    server: Literal["attach", "start", "embedded", "none"]
    start: plan.ServerStart | None
    uri: ast.String | None
    path: ast.String | None
    topology: Topology
    version: str | None
    max_lag: float | None
    size: float | None
    settings: dict[str, plan.Option]
    """Attributes that only the engine reads."""
    options: dict[str, plan.Option]
    open_options: dict[str, ast.Hole]
    """Options whose value is a fact of the hardware: `cache = "{cache}"`."""
    option_places: Mapping[str, Span]
    """Where the spec sets each option, for messages about the option."""
    options_file: str | None
    reset: Reset
    drop_caches: bool
    hooks: tuple[plan.Hook, ...]
    tool: plan.Tool | None
    reads_options: EngineOptions
    span: Span
    imported: bool
    places: Mapping[str, Span]
    """The place of each attribute's value."""


def database_reader() -> Callable[[Entry, Reader], DatabaseSpec | None]:
    """Return a function that reads a database and returns None after a mistake."""
    schemas: dict[str, BlockSchema] = {}
    return lambda entry, reader: _read_database(entry, reader, schemas)


def _read_database(entry: Entry, reader: Reader, schemas: dict[str, BlockSchema]) -> DatabaseSpec | None:
    """Read a database. `schemas` caches the schemas of the engines: missing ones are added."""
    engine = _engine(entry, reader)
    if engine and engine.name not in schemas:
        schemas[engine.name] = database_schema(engine)
    values = reader.block(entry, schemas[engine.name] if engine else DATABASE)
    if engine is None:
        return None
    for key in entry.attributes:
        schema = DATABASE.keys.get(key)
        if schema and key not in engine.attributes and (key not in COMMON or (key == "tool" and not engine.in_process)):
            only = owners(schema.only)
            reader.report(structure_errors.NotForThis(entry.attributes[key].key.span, key, only, engine.name))
    server: Literal["attach", "start", "embedded", "none"] = "none"
    tool = None
    if engine.in_process:
        tool = _tool(values, engine, reader)
    else:
        server = "start" if values.text("server") == "start" else "embedded" if values.said("server") else "attach"
        if server == "attach" and not values.said("uri"):
            reader.report(equipment_errors.NotReachable(entry.head, entry.name, _ways(engine)))
    if (server == "start" or engine.in_process) and not values.said("path"):
        _require_path(entry, reader)
    reset = read_reset(values, engine, reader)
    doubtful = values.said("server") and values.text("server") is None  # a misspelt one may mean any
    if reset.how == "snapshot" and server in ("attach", "embedded") and not doubtful:
        reader.report(equipment_errors.NoSnapshot(values.span("reset"), entry.name, server, engine.label))
    used = TOOL_SPECS.usable(tool.driver if tool else engine.default_tool)
    reads_options = EngineOptions(engine, used.flags if used and engine.in_process else None)
    said = entry.one("options")
    if said is not None:
        said = reads_options.check(said, reader)
    rest, open_options = _open_options(said)
    uri = values.string("uri")
    if uri is not None and uri.parts:
        _check_uri(uri, uri.parts, engine, reader)
    own = {name: values.found.get(name) for name in engine.own_attributes}
    return DatabaseSpec(
        name=entry.name,
        label=entry.label,
        engine=engine,
        server=server,
        start=read_start(values, engine, server == "start", reader) if not doubtful else None,
        uri=uri,
        path=values.string("path"),
        topology=read_topology(values, reader),
        version=values.text("version"),
        max_lag=values.number("max_lag"),
        size=values.number("size"),
        settings={name: found for name, value in own.items() if (found := setting(value)) is not None},
        options=reads_options.read(rest, reader),
        open_options=open_options,
        option_places={key: at.key.span for block in entry.all("options") for key, at in block.attributes.items()},
        options_file=values.text("options_file"),
        reset=reset,
        drop_caches=values.flag("drop_caches") or False,
        hooks=(*read_hooks(values, "prepare", reader), *reset.commands, *read_hooks(values, "teardown", reader)),
        tool=tool,
        reads_options=reads_options,
        span=entry.head,
        imported=entry.imported,
        places={key: values.span(key) for key in entry.attributes},
    )


def _engine(entry: Entry, reader: Reader) -> EngineSpec | None:
    """Return the database's engine, even if the attribute or the engine's name is misspelt. Return None if the engine
    is unknown or unusable.

    The misspelling is reported elsewhere, when the block is read.
    """
    meant = (
        key for key in entry.attributes if key not in DATABASE.keys and did_you_mean(key, DATABASE.keys) == "engine"
    )
    said = entry.attributes.get("engine") or entry.attributes.get(next(meant, ""))
    name = reader.deref(said.values[0]) if said and said.values else None
    if not isinstance(name, ast.Name):
        return None
    found = ENGINE_SPECS.find(name.text)
    if isinstance(found, RefusedExtension):
        return reader.refuse(UnusableExtension.of(name.span, found))
    return found or ENGINE_SPECS.usable(did_you_mean(name.text, ENGINE_SPECS.names) or "")


def _tool(values: Values, engine: EngineSpec, reader: Reader) -> plan.Tool:
    tool = read_tool(values.series("tool"), reader) or usual_tool(engine)
    own = next((name for name in engine.tools if tool_word(name) == tool.driver), tool.driver)
    if not can_load(engine, own):
        known = tool_words(engine)
        reader.report(equipment_errors.ToolMismatch(values.span("tool"), tool.driver, engine.name, known, True))
    return tool.model_copy(update={"driver": own})


def _ways(engine: EngineSpec) -> str:
    """Return a phrase that names the attributes for reaching the server."""
    ways = [f"`{engine.attributes['uri'].usage('uri')}` for a running server"] if "uri" in engine.attributes else []
    if engine.has_stand_in:
        ways.append("`server = embedded` for the built-in stand-in")
    elif "start" in engine.servers:
        ways.append("`server = start` for one that is started")
    return ", or ".join(ways)


def _require_path(entry: Entry, reader: Reader) -> None:
    wanted = DATABASE.keys["path"].shape.wanted
    reader.report(structure_errors.MissingAttribute(entry.head, "database", entry.name, "path", wanted))


def _open_options(entry: Entry | None) -> tuple[Entry | None, dict[str, ast.Hole]]:
    """Take out the options whose values are facts of the hardware, such as `cache = "{cache}"`. Return the block
    without them, and their holes."""
    if entry is None:
        return None, {}
    found = {
        key: attribute.values[0].parts[0]
        for key, attribute in entry.attributes.items()
        if len(attribute.values) == 1
        and isinstance(attribute.values[0], ast.String)
        and len(attribute.values[0].parts) == 1
        and isinstance(attribute.values[0].parts[0], ast.Hole)
    }
    rest = {key: attribute for key, attribute in entry.attributes.items() if key not in found}
    return replace(entry, attributes=rest), found


def _filled_options(spec: DatabaseSpec, unit: HardwareUnit, reader: Reader) -> dict[str, plan.Option]:
    options, reads = dict(spec.options), spec.reads_options
    for key, hole in spec.open_options.items():
        shape = reads.shape(key)
        if shape is None:
            known = tuple(spec.engine.options)
            reader.report(structure_errors.UnknownAttribute(spec.option_places[key], "options", key, known))
        elif not isinstance(hole.expr, ast.Name) or hole.format:
            reader.report(equipment_errors.BadHole(hole.span, key, "only the name of a fact is allowed"))
        elif hole.expr.text not in unit.said:
            known = tuple(unit.said)
            if reader.findings.at(hole.expr.span):
                continue  # reported for other hardware already
            reader.report(equipment_errors.UnknownHole(hole.expr.span, unit.hardware.key, hole.expr.text, known))
        else:
            fact = unit.said[hole.expr.text]
            option = reads.value(key, reader.value(key, fact, shape), reader, fact.span)
            if option is not None:
                options[reads.word(key)] = option
    return options


def database_on(
    spec: DatabaseSpec, unit: HardwareUnit, table: Mapping[str, plan.Host], reader: Reader
) -> plan.Database:
    """Return the database for this hardware, with its holes filled."""
    hosts = ",".join(_in_uri(table[host].name, spec.uri) for host in unit.hardware.hosts)
    uri = _fill(spec.uri, "uri", unit, reader, {"hosts": hosts}) if spec.uri else ()
    path = None
    if spec.path:
        filled = _fill(spec.path, "path", unit, reader, {})
        path = "".join(part for part in filled if isinstance(part, str))
        if spec.path.plain is None and path:
            levels = (reader.level_of(part.expr) for part in spec.path.parts if isinstance(part, ast.Hole))
            upwards = (each.span for each in levels if each and ".." in (each.plain or "").split("/"))
            check_path(next(upwards, spec.path.span), "path", path, reader.findings)
    if spec.uri and uri:
        _check_uri(spec.uri, uri, spec.engine, reader)
        spec.reads_options.check_uri(spec.uri, uri, spec.option_places, reader)
    if spec.start and (spec.topology.text or "topology" not in spec.places):  # a misspelt one may mean any
        place = spec.places.get("topology", spec.span)
        check_hosts(spec.topology, place, unit.hardware.key, len(unit.hardware.hosts), reader.findings)
    lag = {"max_lag_s": spec.max_lag} if spec.max_lag is not None else {}
    return plan.Database(
        name=spec.name,
        label=spec.label,
        engine=spec.engine.name,
        package=ENGINE_SPECS.build(spec.engine.name),
        server=spec.server,
        start=spec.start,
        uri=uri,
        path=path,
        topology=spec.topology.text or ("standalone" if spec.start else None),
        members=spec.topology.members,
        shards=spec.topology.shards,
        version=spec.version,
        **lag,
        size_bytes=spec.size,
        settings=spec.settings,
        options=_filled_options(spec, unit, reader),
        options_file=spec.options_file,
        reset=spec.reset.how,
        reset_package=SNAPSHOT_SPECS.build(spec.reset.how) if engine_spec.by_file_system(spec.reset.how) else "",
        drop_caches=spec.drop_caches,
        hooks=spec.hooks,
        origin=origin(spec.span),
    )


def _in_uri(host: str, uri: ast.String | None) -> str:
    """Return a host in the form that a URI needs. An IPv6 address gets brackets (RFC 3986), unless the spec has written
    them."""
    written = uri is not None and any(isinstance(part, str) and part.endswith("[") for part in uri.parts)
    return f"[{host}]" if ":" in host and not written else host


def _fill(
    string: ast.String, key: str, unit: HardwareUnit, reader: Reader, extra: Mapping[str, str]
) -> tuple[str | plan.Reference, ...]:
    facts = {
        name: fact if isinstance(fact, str) else fact.text
        for name, fact in unit.hardware.facts.items()
        if not isinstance(fact, bool)
    }
    known = {**facts, **extra, "hardware": unit.hardware.key}
    parts: list[str | plan.Reference] = []
    for part in string.parts:
        if isinstance(part, str):
            parts.append(part)
            continue
        filled = _hole(part, key, known, unit, reader)
        if filled is None:
            return ()
        parts.append(filled)
    return tuple(_joined(parts))


def _hole(
    hole: ast.Hole, key: str, known: Mapping[str, str], unit: HardwareUnit, reader: Reader
) -> str | plan.Reference | None:
    if hole.format:
        return reader.refuse(equipment_errors.BadHole(hole.span, key, "a format has no meaning here"))
    match hole.expr:
        case ast.Name(text=name) if name in known:
            return known[name]
        case ast.Name() as name:
            if (text := reader.printed(name)) is not None:
                return text
            if reader.findings.at(name.span) or name.text in unit.said:
                return None  # reported already, for other hardware or in the hardware's declaration
            reader.report(equipment_errors.UnknownHole(name.span, unit.hardware.key, name.text, tuple(known)))
        case ast.Attr() as attr if (text := reader.printed(attr)) is not None:
            return text
        case ast.Call(function=function) if (
            key == "uri" and function.text not in _REFERENCES and did_you_mean(function.text, _REFERENCES)
        ):
            reader.report(UnknownFunction(function.span, "function", function.text, _REFERENCES))
        case other:
            found = reference(other) if key == "uri" else None
            if found is not None:
                return found
            reader.report(equipment_errors.BadHole(hole.span, key, f"it is {described(other)}"))
    return None


def _joined(parts: list[str | plan.Reference]) -> list[str | plan.Reference]:
    """Join neighbouring texts, so that templates with the same text are equal."""
    joined: list[str | plan.Reference] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part:
            joined.append(part)
    return joined


def _check_uri(string: ast.String, uri: Sequence[object], engine: EngineSpec, reader: Reader) -> None:
    """Check the parts of a URI that are texts, and leave its holes alone."""
    first = uri[0]
    if isinstance(first, str) and engine.schemes and not first.startswith(engine.schemes):
        example = engine.attributes["uri"].usage("uri").partition("= ")[2]
        why = f"not a {engine.label} address"
        reader.report(value_errors.BadText(string.span, "uri", why, f"`{example}`"))
    shown = "".join(part if isinstance(part, str) else "\n" for part in uri)
    named = re.match(r"[a-z][a-z0-9+.-]*://([^/?]*)", shown)
    for host in named[1].rpartition("@")[2].split(",") if named else ():
        if host.count(":") > 1 and not host.startswith("["):
            bare = f"an address whose IPv6 host `{host}` has no brackets"
            reader.report(value_errors.BadText(string.span, "uri", bare, f"`[{host}]`, and a port after the brackets"))
    if _PLAIN_PASSWORD.search(shown):
        reader.report(value_errors.PlainSecret(string.span))
