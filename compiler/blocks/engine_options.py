"""The `options` of a database, by its engine's spec, and flags that the tool takes unchanged."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace

from benchbrief.compiler.blocks import equipment_errors
from benchbrief.compiler.blocks.equipment_errors import BadFlagValue
from benchbrief.compiler.blocks.values import Constant, Reader, Value, described, listed
from benchbrief.compiler.extensions import EngineSpec, Flags, FlagType, Option
from benchbrief.compiler.frontend import structure_errors
from benchbrief.compiler.frontend.declarations import Entry
from benchbrief.compiler.problems import CompileProblem
from benchbrief.compiler.schemas.extension_schemas import options_schema
from benchbrief.dsl.diagnostics.plain_amounts import ticked
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast
from benchbrief.model import plan
from benchbrief.model.units import parse_unit
from benchbrief.model.value_shapes import Fact, Key, Number, Shape

_SWITCHES = {"1": True, "t": True, "true": True, "y": True, "yes": True} | dict.fromkeys(
    ("0", "f", "false", "n", "no"), False
)
"""What gflags takes for a switch, in either case."""

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
"""What a flag might count in a unit of its own: its tool gets the number of seconds, or of bytes."""


def bad_value(span: Span, flag: str, value: Value | None, kind: FlagType, tool: str) -> BadFlagValue | None:
    """Return what is wrong with a flag's value; None for nothing. `span` is its place."""
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
    """Return what is wanted and what to write, both "" for a good number."""
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
    """Return whether a time or a size was written for a flag that does not count seconds, or bytes."""
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
    """Return the number of the flag's range that is the nearest."""
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
    """The options of an engine's databases. `flags` are the tool's, where it takes unknown ones."""

    engine: EngineSpec
    flags: Flags | None

    def read(self, entry: Entry | None, reader: Reader) -> dict[str, plan.Option]:
        """Return the options under the engine's names. Reports and drops wrong ones."""
        if entry is None:
            return {}
        known = entry if self.flags else self._by_our_names(entry, reader)
        found = reader.block(known, options_schema(self.engine, flags=self.flags is not None)).found
        places = {key: attribute.values[0].span for key, attribute in known.attributes.items() if attribute.values}
        return {
            self.word(key): option
            for key, value in found.items()
            if (option := self.value(key, value, reader, places.get(key))) is not None
        }

    def check(self, entry: Entry, reader: Reader) -> Entry:
        """Return the block without options that the tool would refuse or that a database can't set. Reports each."""
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
        """Return the shape of an option; None for an unknown one."""
        option = self.engine.options.get(key)
        return option.key.shape if option else Fact() if self.flags else None

    def value(self, key: str, value: Value | None, reader: Reader, place: Span | None) -> plan.Option | None:
        """Return an option's value in the engine's terms; None after a mistake. `place` is where it is written."""
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
        """Report options that the URI has too. Names in a connection string ignore case."""
        text = "".join(part if isinstance(part, str) else "-" for part in uri)
        query = text.partition("?")[2]
        in_uri = {word.lower(): word for word in re.findall(r"(?:^|&)([A-Za-z]+)=", query)}
        for key, span in places.items():
            word = self.word(key).lower()
            if key in self.engine.options and word in in_uri:
                reader.report(equipment_errors.OptionInUri(span, string.span, key, in_uri[word]))

    def _by_our_names(self, entry: Entry, reader: Reader) -> Entry:
        """Report options under the engine's names, and return the block without them."""
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
        """Return the flag that `name` most likely means. A longer name that starts like a flag may be a newer flag."""
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
