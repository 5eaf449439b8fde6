"""What may be typed at the cursor: the words that the checker would accept there, best first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lsprotocol import types

from benchbrief.compiler import units
from benchbrief.compiler.blocks import tools, workload_tables
from benchbrief.compiler.blocks.database_schema import DATABASE_OPTIONS
from benchbrief.compiler.blocks.meter_schema import METERS
from benchbrief.compiler.blocks.schema import BLOCKS, OVERRIDABLE, PROBES
from benchbrief.compiler.blocks.shapes import BlockSchema, Fact, Flag, Key, Number, Shape, Text, Word
from benchbrief.compiler.briefs.report_schema import ELEMENTS, OPTIONS
from benchbrief.compiler.index import Index, Kind
from benchbrief.compiler.metrics import glossary
from benchbrief.compiler.metrics.measures import DIMENSIONS, FAMILIES, KINDS
from benchbrief.dsl import ast
from benchbrief.server.cursor import Cursor, Frame, cursor_at, keys_after
from benchbrief.server.snippets import DECLARATIONS, INNER
from benchbrief.server.text import Text as Document
from benchbrief.server.words import attribute_doc, declared, family_of, markdown

Item = types.CompletionItem
_Kind = types.CompletionItemKind

TRIGGERS = (".", "[", "{", "=", " ", ",", "(", ":")
_SIGNS = {"=", ",", "[", "(", "{", ":", "+", "-", "*", "/", "<", ">", "<=", ">=", "==", "!=", ".", ".."}
_LINKS = {"and", "or", "not", "x", "over", "by", "along", "when", "every", "on", "from", "in"}
_OPERATORS = frozenset(_SIGNS | _LINKS)
"""What a value can't end with."""
_CHOICES = {**glossary.ENGINES, **glossary.PROBES, **glossary.TEMPLATES, **glossary.LANGUAGES}
_TIME = Number("s", "1 s")
_TARGET = Number("ops/s", "20k ops/s")
_ICONS: dict[Kind, types.CompletionItemKind] = {
    "hardware": _Kind.Class,
    "variant": _Kind.EnumMember,
    "fact": _Kind.Field,
    "client": _Kind.Class,
    "database": _Kind.Class,
    "workload": _Kind.Class,
    "probe": _Kind.Event,
    "experiment": _Kind.Class,
    "profile": _Kind.Class,
    "report": _Kind.Class,
    "metric": _Kind.Function,
    "param": _Kind.Variable,
}


def complete(
    document: Document, position: types.Position, index: Index, *, snippets: bool, after: str | None = None
) -> list[Item]:
    """The items for a cursor; none in comments and in plain text.

    `after` is the character that made the client ask: after a blank, only where a word must follow.
    """
    cursor = cursor_at(document.text, document.offset(position))
    if cursor.inside in ("comment", "text", "format"):
        return []
    if after == " " and (cursor.new_line or (cursor.last not in _OPERATORS and (cursor.last or not cursor.frame.key))):
        return []
    where = document.range(cursor.start, cursor.end)
    unique: dict[str, Item] = {}
    for item in _Completer(document.text, cursor, index, snippets).items():
        unique.setdefault(item.label, item)
    for rank, item in enumerate(unique.values()):
        item.sort_text = f"{rank:04}"
        item.text_edit = types.TextEdit(where, item.insert_text or item.label)
        item.insert_text = None
    return list(unique.values())


@dataclass(frozen=True)
class _Completer:
    text: str
    cursor: Cursor
    index: Index
    snippets: bool

    def items(self) -> Iterator[Item]:
        cursor = self.cursor
        if cursor.inside == "hole":
            yield from self.in_expression(in_hole=True)
        elif cursor.frame.bracket == "":
            yield from self.in_file()
        elif cursor.frame.bracket == "{":
            yield from self.in_block()
        elif self.has_expressions:
            yield from self.in_expression()
        else:
            yield from self.in_value(cursor.block)

    @property
    def has_expressions(self) -> bool:
        """Whether values here are expressions of metrics: in reports, metrics and expectations."""
        outermost = self.cursor.blocks[1] if len(self.cursor.blocks) > 1 else None
        if outermost is not None:
            return outermost.head.keyword == "report"
        file = self.cursor.frames[0]
        return file.key == "metric" or (bool(file.tokens) and file.tokens[0].text == "expect")

    # --- the file ---

    def in_file(self) -> Iterator[Item]:
        cursor = self.cursor
        words = [token.text for token in cursor.before]
        if cursor.new_line and cursor.last not in _OPERATORS:
            yield from self.declarations()
        elif self.has_expressions:
            if words and words[-1] == "," and cursor.frame.key == "metric":
                yield from (self.word(f"{way} is better", "", _Kind.Keyword) for way in ("higher", "lower"))
            yield from self.in_expression()
        elif cursor.frame.key == "param":
            yield from self.in_value(cursor.block)
        elif words and words[-1] == "in" and words[0] == "metric":
            yield from self.units(None)
        elif words and words[0] == "metric" and len(words) > 1:
            yield self.word("in", "the unit that it is shown in", _Kind.Keyword)
        elif "from" in words and words[0] in BLOCKS:
            yield from self.bases(words[0], words)
        elif len(words) > 1 and words[0] in BLOCKS and BLOCKS[words[0]].inherits:
            yield self.word("from", glossary.LINKS["from"], _Kind.Keyword)
        elif not words:
            yield from self.declarations()

    def declarations(self) -> Iterator[Item]:
        for word, (snippet, doc) in DECLARATIONS.items():
            yield self.snippet(word, snippet, doc, _Kind.Class)

    def bases(self, kind: str, words: list[str]) -> Iterator[Item]:
        if self.cursor.last == ".":
            if words[-2] == "ycsb":
                for name, core in workload_tables.YCSB.items():
                    yield self.word(name, core.description["en"], _Kind.EnumMember)
            elif words[-2] == "db_bench":
                for name, benchmark in workload_tables.DB_BENCH.items():
                    yield self.word(name, benchmark.description["en"], _Kind.EnumMember)
            return
        yield from self.names(kind, but=words[1])
        if kind == "workload":
            for name, core in workload_tables.YCSB.items():
                yield self.word(f"ycsb.{name}", core.description["en"], _Kind.EnumMember)
            for name, benchmark in workload_tables.DB_BENCH.items():
                yield self.word(f"db_bench.{name}", benchmark.description["en"], _Kind.EnumMember)

    # --- blocks ---

    def in_block(self) -> Iterator[Item]:
        cursor, block = self.cursor, self.cursor.frame
        if not block.key and block.tokens:
            yield from self.in_head(block)
            return
        finished = bool(block.tokens) and block.tokens[-1].text not in _OPERATORS
        if not block.key or (cursor.new_line and finished):
            yield from self.keys(block)
            return
        if self.has_expressions:
            yield from self.options(block)
            if not (block.tokens and block.tokens[-1].text == ","):
                yield from self.report_words(block)
            yield from self.in_expression()
        else:
            yield from self.in_value(block)
        if finished:
            yield from self.keys(block)

    def in_head(self, block: Frame) -> Iterator[Item]:
        """After the keyword of an inner block."""
        words = [token.text for token in block.tokens]
        first = words[0]
        if first == "each":
            yield from (self.dimension(name) for name in ("workload", "hardware", "experiment"))
        elif first == "formula" and len(words) == 1:
            yield from self.names("metric")
        elif first == "formula" and "for" in words:
            yield from self.index_keys("")
        elif first == "formula":
            yield self.word("for", "the keys that the numbers are of", _Kind.Keyword)
        elif first == "override" and len(words) == 1:
            yield from (self.word(kind, BLOCKS[kind].doc, _Kind.Class) for kind in OVERRIDABLE if kind != "options")
        elif first == "override" and words[1] in BLOCKS:
            yield from self.names(words[1])

    def schema(self, block: Frame) -> BlockSchema | None:
        keyword = block.head.keyword
        if keyword == "override":
            return BLOCKS.get(block.head.name)
        if keyword == "options":
            return BlockSchema("", DATABASE_OPTIONS, open_keys=Fact(), named=False)
        return ELEMENTS.get(keyword) or BLOCKS.get(keyword)

    def keys(self, block: Frame) -> Iterator[Item]:
        """The attributes that the block does not say yet, those that it must say first; then the blocks in it."""
        schema = self.schema(block)
        if schema is None:
            return
        said = {*block.keys, *keys_after(self.text, self.cursor.end)}
        barred = {key for rivals in schema.exclusive if said & set(rivals) for key in rivals}
        family = family_of(block.head.keyword, block.head.name, block.head.base, self.index)
        repeated = ("line", "bars", "curve", "mark", "column") if block.head.keyword in ELEMENTS else ()
        known = {name: key for name, key in schema.keys.items() if not key.only or family in ("", key.only)}
        for name, key in sorted(known.items(), key=lambda pair: not pair[1].required):
            if (name not in said and name not in barred) or name in repeated:
                yield self.key(name, key, whole=block.head.keyword != "override" and not block.head.base)
        for name in schema.blocks:
            doc = (ELEMENTS.get(name) or BLOCKS.get(name) or BlockSchema("", {})).doc
            yield self.snippet(name, INNER.get(name, name), doc, _Kind.Struct)
        if schema.open_keys is not None and block.head.keyword in ("hardware", "variant"):
            for name in self.index.names("fact"):
                if name not in said and name not in schema.keys:
                    yield self.word(name, "A fact that other hardware declares.", _Kind.Field, f"{name} = ")

    def key(self, name: str, key: Key, *, whole: bool) -> Item:
        detail = key.shape.wanted.replace("`", "")
        return Item(
            name,
            kind=_Kind.Property,
            label_details=types.CompletionItemLabelDetails(description="required" if key.required and whole else None),
            detail=detail,
            documentation=markdown(attribute_doc(key)),
            insert_text=f"{name} = ",
        )

    # --- values of blocks ---

    def in_value(self, block: Frame) -> Iterator[Item]:
        cursor = self.cursor
        schema = self.schema(block)
        key = schema.keys.get(block.key) if schema else None
        shape: Shape | None = key.shape if key else (schema.open_keys if schema else None)
        last = cursor.before[-1] if cursor.before else None
        inner = cursor.frame.word if cursor.frame.bracket == "(" else ""
        if last is not None and last.kind == "number":
            yield from self.units(_number_of(block, shape, cursor))
            if block.key == "phases":
                yield self.word("x", "so many intervals of ...", _Kind.Operator)
            return
        if last is not None and last.text == "." and len(cursor.before) > 1:
            yield from self.members(cursor.before[-2].text)
            return
        kind = "workload" if block.head.keyword == "override" else block.head.keyword
        kind = block.head.name if block.head.keyword == "override" else kind
        if inner and last is not None and last.text != ":":
            yield from self.arguments(inner)
        elif inner == "" or inner not in ("range", "knee", "random"):
            yield from self.wanted(kind, block.key, shape, last.text if last else "")
        yield from self.params(shape)

    def wanted(self, kind: str, key: str, shape: Shape | None, last: str) -> Iterator[Item]:
        match kind, key:
            case "experiment", "hardware":
                yield from self.hardware(with_variants=True)
            case "experiment", "workloads":
                yield from self.names("workload")
            case "experiment", ("client" | "database"):
                yield from self.names(key)
            case "experiment", "probes":
                if last in ("every", "on"):
                    if last == "on":
                        yield from self.names("fact")
                    return
                if last and last not in ("[", ","):
                    yield self.word("every", glossary.LINKS["every"], _Kind.Keyword)
                    return
                yield from self.names("probe")
                for name in PROBES:
                    yield self.snippet(name, f"{name} every ${{1:1 s}}", glossary.PROBES.get(name, ""), _Kind.Function)
            case "experiment", ("threads" | "target"):
                yield from self.ramps(key)
            case "experiment", "repeats":
                call = "confident(within: ${1:5 %}, from: ${2:3}, to: ${3:10})"
                yield self.snippet("confident", call, "Until the mean throughput is known well enough.", _Kind.Function)
                for word, doc in glossary.ORDERS.items():
                    yield self.snippet(
                        word, "random(seed: ${1:1})" if word == "random" else word, doc, _Kind.EnumMember
                    )
            case (("hardware" | "profile"), "power"):
                for name, meter in METERS.items():
                    call = meter.usage.strip("`").replace("$", "\\$").replace("}", "\\}")
                    yield self.snippet(name, call, meter.doc, _Kind.Function)
                if kind == "profile":
                    yield self.word("none", "Power is left out.", _Kind.EnumMember)
            case _, "hosts":
                yield self.word("local", "This machine.", _Kind.EnumMember)
            case _, "tool":
                for name in tools.DRIVERS:
                    yield self.word(name, glossary.TOOLS[name], _Kind.Function)
            case _, "topology":
                for word in ("standalone", "sharded"):
                    yield self.word(word, "", _Kind.EnumMember)
                yield self.snippet("replica_set", 'replica_set("${1:rs0}")', "", _Kind.Function)
            case _, "reset":
                for word, doc in glossary.RESETS.items():
                    yield self.word(word, doc, _Kind.EnumMember)
                yield self.snippet("command", 'command("$1")', "What brings the data back.", _Kind.Function)
            case _, "prepare" | "teardown":
                yield self.snippet("command", 'command("$1")', "A command that is run on every host.", _Kind.Function)
            case _:
                yield from self.of_shape(shape)

    def of_shape(self, shape: Shape | None) -> Iterator[Item]:
        match shape:
            case Word():
                for choice in shape.choices:
                    told = _CHOICES.get(choice, "")
                    yield self.word(f'"{choice}"' if shape.quoted else choice, told, _Kind.EnumMember)
            case Flag():
                yield from (self.word(word, "", _Kind.EnumMember) for word in ("true", "false"))
            case Number():
                yield self.word(shape.example, f"{shape.wanted}, for example", _Kind.Value)
            case Text():
                yield self.snippet('""', '"$1"', shape.wanted, _Kind.Value)
            case _:
                return

    def ramps(self, key: str) -> Iterator[Item]:
        unit = " ops/s" if key == "target" else ""
        yield self.snippet(
            "range", f"range(${{1:1}}{unit}, ${{2:64}}{unit}, ${{3:factor: 2}})", "A ramp.", _Kind.Function
        )
        if key == "threads":
            search = "knee(from: 1, factor: 2, to: ${1:512}, latency: p99, rise: 10 %, gain: 3 %)"
            yield self.snippet("knee", search, "A search for the knee of the ramp.", _Kind.Function)
            for name in self.index.names("experiment"):
                yield self.word(f"{name}.knee", "The point that another experiment's search finds.", _Kind.Reference)

    def arguments(self, function: str) -> Iterator[Item]:
        for word, doc in glossary.ARGUMENTS.get(function, {}).items():
            yield self.word(word, doc, _Kind.Property, f"{word}: ")
        for word, key in METERS[function].arguments.items() if function in METERS else ():
            yield self.word(word, attribute_doc(key), _Kind.Property, f"{word}: ")

    def params(self, shape: Shape | None) -> Iterator[Item]:
        if isinstance(shape, Word | Flag):
            return
        for symbol, node in self.index.nodes.items():
            if symbol.kind == "param" and isinstance(node, ast.Param):
                yield self.word(symbol.name, f"`param {symbol.name} = {node.value.span.text}`", _Kind.Variable)

    # --- expressions ---

    def in_expression(self, *, in_hole: bool = False) -> Iterator[Item]:
        cursor = self.cursor
        last = cursor.before[-1] if cursor.before else None
        previous = cursor.before[-2].text if len(cursor.before) > 1 else ""
        if last is None or last.text in _OPERATORS - {"."} or last.text == "expect" or last.kind == "string":
            if last is not None and (last.text in ("over", "by", "along") or self.lists_dimensions()):
                yield from map(self.dimension, DIMENSIONS)
                if last.text == ",":
                    yield self.word("when", glossary.LINKS["when"], _Kind.Keyword)
                    yield from self.arguments(cursor.frame.word)
            elif cursor.frame.bracket == "[" and cursor.frame.word:
                dim = previous if last is not None and last.text == ":" else ""
                yield from self.index_keys(dim)
            else:
                yield from self.operands(in_hole=in_hole)
        elif last.text == ".":
            yield from self.members(previous)
        elif last.kind == "number":
            yield from self.units(None)
            yield from self.links()
        elif last.text in OPTIONS:
            yield from self.option_values(last.text)
        else:
            yield from self.links()

    def lists_dimensions(self) -> bool:
        """After `over threads, `."""
        words = [token.text for token in self.cursor.before if token.kind == "word"]
        links = [word for word in words if word in ("over", "by", "along", "when")]
        return self.cursor.last in (",", "and") and bool(links) and links[-1] == "over"

    def operands(self, *, in_hole: bool) -> Iterator[Item]:
        yield from self.names("metric")
        for name in KINDS:
            doc = glossary.measure_doc(name)
            yield self.word(name, doc, _Kind.Field)
        yield self.word("nodes", "The number of hosts, by hardware.", _Kind.Field)
        yield from self.names("fact")
        yield from self.params(None)
        for name, (snippet, doc) in glossary.FUNCTIONS.items():
            if in_hole or name != "range":
                yield self.snippet(name, snippet, doc, _Kind.Function)
        if in_hole:
            yield from self.hardware(with_variants=False)
            yield from self.names("workload")
            for dim in ("workload", "hardware", "experiment"):
                yield self.dimension(dim)
        yield self.word("steady", "Whether a phase is in the steady state, after `when`.", _Kind.Keyword)

    def links(self) -> Iterator[Item]:
        words = ("over", "when") if self.cursor.frame.bracket == "(" else ("by", "along")
        for word in (*words, "and", "or"):
            yield self.word(word, glossary.LINKS.get(word, ""), _Kind.Keyword)

    def index_keys(self, dim: str) -> Iterator[Item]:
        if dim in ("", "hardware"):
            yield from self.hardware(with_variants=False)
        if dim in ("", "workload"):
            yield from self.names("workload")
        if dim in ("", "operation"):
            for operation in (*workload_tables.PROPORTIONS, "write", "seek"):
                yield self.word(operation, "An operation.", _Kind.EnumMember)
        if dim in ("", "experiment"):
            yield from self.names("experiment")
        if not dim:
            for name in DIMENSIONS:
                item = self.dimension(name)
                item.insert_text = f"{name}: "
                item.label = f"{name}:"
                yield item

    def members(self, family: str) -> Iterator[Item]:
        """What may stand after `family.`"""
        for name in FAMILIES.get(family, ()):
            doc = glossary.measure_doc(name)
            yield self.word(name.removeprefix(f"{family}."), doc, _Kind.Field)
        for name in self.index.names("variant"):
            if name.startswith(f"{family}."):
                yield self.word(name.removeprefix(f"{family}."), "A variant.", _Kind.EnumMember)
        if family in self.index.names("hardware") and not self.has_expressions:
            yield self.word("variants", "All of its variants.", _Kind.EnumMember)
        if family in self.index.names("experiment") and not self.has_expressions:
            yield self.word("knee", "The point that its search finds.", _Kind.EnumMember)
        if self.cursor.inside == "hole" and family not in FAMILIES:
            for field in ("label", "title", "name"):
                yield self.word(field, "", _Kind.Field)
            if family == "workload" or family in self.index.names("workload"):
                yield self.word("description", "", _Kind.Field)
            else:
                yield from self.names("fact")

    # --- reports ---

    def options(self, block: Frame) -> Iterator[Item]:
        if block.tokens and block.tokens[-1].text == "," and block.head.keyword in ELEMENTS:
            for word, doc in OPTIONS.items():
                yield self.word(word, doc, _Kind.Keyword)

    def option_values(self, option: str) -> Iterator[Item]:
        choices = {"axis": ("left", "right"), "log": ("x", "y"), "band": ("confidence",)}
        if option == "color":
            yield from map(self.dimension, DIMENSIONS)
        for word in choices.get(option, ()):
            yield self.word(word, "", _Kind.EnumMember)

    def report_words(self, block: Frame) -> Iterator[Item]:
        schema = self.schema(block)
        key = schema.keys.get(block.key) if schema else None
        if key is not None and not block.tokens:
            yield from self.of_shape(key.shape)
        if block.key in ("rows", "columns"):
            yield from map(self.dimension, DIMENSIONS)
            yield self.word("facts", "All that is declared about the hardware.", _Kind.EnumMember)

    # --- items ---

    def names(self, kind: str, but: str = "") -> Iterator[Item]:
        for symbol, node in self.index.nodes.items():
            if symbol.kind == kind and symbol.name != but:
                yield Item(
                    symbol.name, kind=_ICONS[symbol.kind], detail=symbol.kind, documentation=markdown(declared(node))
                )

    def hardware(self, *, with_variants: bool) -> Iterator[Item]:
        """Groups and variants; where one of them is wanted, only what is by itself one."""
        variants = self.index.names("variant")
        groups = {name.partition(".")[0] for name in variants}
        for item in self.names("hardware"):
            if item.label not in groups:
                yield item
            elif with_variants:
                yield self.word(f"{item.label}.variants", "All of its variants.", _Kind.EnumMember)
        for word, symbol in self.index.variants.items():
            if "." not in word or symbol.word not in self.index.variants:
                yield self.word(word, f"A variant of `{symbol.name.partition('.')[0]}`.", _Kind.EnumMember)

    def units(self, number: Number | None) -> Iterator[Item]:
        """Units of the number's dimension, or all of them."""
        wanted = number.dimension if number else None
        if wanted is not None and number is not None and "/" in number.unit:
            yield self.word(number.unit, number.wanted, _Kind.Unit)
        for name in units.known_units():
            unit = units.parse_unit(name)
            if wanted is None or unit.dimension == wanted:
                yield self.word(name, units.dimension_name(unit.dimension), _Kind.Unit)

    def dimension(self, name: str) -> Item:
        return self.word(name, glossary.DIMENSIONS.get(name, ""), _Kind.Enum)  # type: ignore[call-overload]

    def word(self, word: str, doc: str, kind: types.CompletionItemKind, insert: str = "") -> Item:
        return Item(word, kind=kind, documentation=markdown(doc), insert_text=insert or None)

    def snippet(self, word: str, snippet: str, doc: str, kind: types.CompletionItemKind) -> Item:
        if not self.snippets:
            return self.word(word, doc, kind)
        item = self.word(word, doc, kind, snippet)
        item.insert_text_format = types.InsertTextFormat.Snippet
        return item


def _number_of(block: Frame, shape: Shape | None, cursor: Cursor) -> Number | None:
    """What a number here has to be, as far as one can tell; None for anything."""
    last = [token.text for token in cursor.before[-2:]]
    if isinstance(shape, Number):
        return shape
    if last[0] in ("every", "x") or block.key in ("warm_up", "measure", "phases"):
        return _TIME
    return _TARGET if block.key == "target" else None
