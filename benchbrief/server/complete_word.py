"""Completes words: finds the words that the checker would accept at the cursor, best first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from lsprotocol import types

from benchbrief.compiler import word_meanings
from benchbrief.compiler.blocks.ramps import KNEE_STATISTICS
from benchbrief.compiler.frontend.name_index import NOT_LEVELS, Kind, NameIndex, Symbol, items_of
from benchbrief.compiler.measure_catalogue import FAMILIES, KINDS, family_of
from benchbrief.compiler.problems import article
from benchbrief.compiler.registry import (
    ENGINE_SPECS,
    METER_SPECS,
    PROBE_SPECS,
    SCHEDULER_SPECS,
    SNAPSHOT_SPECS,
    TEMPLATE_SPECS,
    TOOL_SPECS,
    Registry,
    known_operations,
    own_families,
)
from benchbrief.compiler.schemas import BLOCKS, ELEMENTS, OPTIONS, OVERRIDABLE, POINT_NOTE
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.syntax import ast
from benchbrief.model import units
from benchbrief.model.extension_spec import ExtensionSpec
from benchbrief.model.plan import DIMENSIONS
from benchbrief.model.value_shapes import BlockSchema, Flag, Key, Login, Number, Shape, Text, Word
from benchbrief.server.cursor_context import (
    DECLARATION_SNIPPETS,
    INNER,
    Cursor,
    OpenBracket,
    attribute_doc,
    cursor_at,
    declared,
    family_at,
    keys_after,
    markdown,
    schema_of,
)
from benchbrief.server.documents import DocumentText as Document

Item = types.CompletionItem
ItemKind = types.CompletionItemKind

_CHOICES = {
    **word_meanings.ENGINES,
    **word_meanings.PROBES,
    **word_meanings.TEMPLATES,
    **word_meanings.PROVENANCE,
    **word_meanings.LANGUAGES,
}
_ICONS: dict[Kind, types.CompletionItemKind] = {
    "variant": ItemKind.EnumMember,
    "factor": ItemKind.Enum,
    "fact": ItemKind.Field,
    "probe": ItemKind.Event,
    "metric": ItemKind.Function,
    "param": ItemKind.Variable,
}
"""The icon of each kind of name. All other kinds are shown as classes."""
_SCHEMAS = {**BLOCKS, **ELEMENTS}


@dataclass(frozen=True)
class Suggestions:
    """Suggestions at a cursor in a text. `snippets` is whether the client supports snippets."""

    text: str
    cursor: Cursor
    index: NameIndex
    snippets: bool

    @property
    def has_expressions(self) -> bool:
        """Return whether values here are expressions over metrics, as in reports, metrics and expectations."""
        outermost = self.cursor.blocks[1] if len(self.cursor.blocks) > 1 else None
        if outermost is not None:
            inner = self.cursor.blocks[2].head if len(self.cursor.blocks) > 2 else outermost.head
            return "report" in (outermost.head.keyword, inner.name if inner.keyword == "override" else "")
        file = self.cursor.frames[0]
        return file.key == "metric" or (bool(file.tokens) and file.tokens[0].text == "expect")

    def says_claims(self, *, in_hole: bool) -> bool:
        """Return whether a claim may be named here: in a report's text or title, or after `headline = ` or `claim =
        `."""
        file, *outermost = self.cursor.blocks[:2]
        words = [token.text for token in file.tokens[:1]]
        in_report = outermost[0].head.keyword == "report" if outermost else words == ["report"]
        return in_report and (in_hole or self.cursor.block.key in ("headline", "claim"))

    def members(self, family: str) -> Iterator[Item]:
        """Yield the words that may follow `family.`"""
        for name in family_of(family):
            doc = word_meanings.measure_doc(name)
            yield self.word(name.removeprefix(f"{family}."), doc, ItemKind.Field)
        for name in self.index.names("variant"):
            if name.startswith(f"{family}."):
                yield self.word(name.removeprefix(f"{family}."), "A variant.", ItemKind.EnumMember)
        for name in self.index.names("setting"):
            if name.startswith(f"{family}."):
                yield self.word(name.removeprefix(f"{family}."), f"What each level of `{family}` says.", ItemKind.Field)
        if family in self.index.names("hardware") and not self.has_expressions:
            yield self.word("variants", "All of its variants.", ItemKind.EnumMember)
        if family in self.index.names("experiment") and not self.has_expressions:
            yield self.word("knee", "The point that its search finds.", ItemKind.EnumMember)
        if self.cursor.inside == "hole" and family not in FAMILIES:
            for field in ("label", "title", "name"):
                yield self.word(field, "", ItemKind.Field)
            if family == "workload" or family in self.index.names("workload"):
                yield self.word("description", "", ItemKind.Field)
            else:
                yield from self.names("fact")

    @staticmethod
    def others(registry: Registry[ExtensionSpec]) -> Iterator[tuple[str, str]]:
        """Yield the extensions of other packages, each with a sentence. They are not imported, because a slow one would
        delay the list."""
        for offer in registry.offered():
            if offer.name not in registry.own:
                yield offer.name, f"{article(registry.kind).capitalize()} of the package {offer.source}."

    def arguments(self, function: str) -> Iterator[Item]:
        for word, doc in word_meanings.ARGUMENTS.get(function, {}).items():
            yield self.word(word, doc, ItemKind.Property, f"{word}: ")
        spec = METER_SPECS.usable(function) or SCHEDULER_SPECS.usable(function)
        for word, key in spec.arguments.items() if spec else ():
            yield self.word(word, attribute_doc(key), ItemKind.Property, f"{word}: ")

    def meter_argument(self, meter: str, name: str) -> Iterator[Item]:
        """Yield the words that may follow `user: ` in a meter."""
        spec = METER_SPECS.usable(meter)
        key = spec.arguments.get(name) if spec else None
        match key.shape if key else None:
            case Login(secret=True):
                yield self.snippet(
                    "secret", 'secret("$1")', "Read when the spec is run, and kept nowhere.", ItemKind.Function
                )
            case Login():
                yield self.snippet(
                    "env", 'env("$1")', "Read from the environment when the spec is run.", ItemKind.Function
                )
            case shape:
                yield from self.of_shape(shape)

    def params(self, shape: Shape | None) -> Iterator[Item]:
        if isinstance(shape, Word | Flag):
            return
        for symbol, node in self.index.nodes.items():
            if symbol.kind == "param" and isinstance(node, ast.Param):
                yield self.word(symbol.name, f"`param {symbol.name} = {node.value.span.text}`", ItemKind.Variable)

    def of_shape(self, shape: Shape | None) -> Iterator[Item]:
        match shape:
            case Word():
                for choice in shape.choices:
                    doc = _CHOICES.get(choice, "")
                    yield self.word(f'"{choice}"' if shape.quoted else choice, doc, ItemKind.EnumMember)
            case Flag():
                yield from (self.word(word, "", ItemKind.EnumMember) for word in ("true", "false"))
            case Number():
                yield self.word(shape.example, f"{shape.wanted}, for example", ItemKind.Value)
            case Text():
                yield self.snippet('""', '"$1"', shape.wanted, ItemKind.Value)
            case _:
                return

    def ramps(self, key: str) -> Iterator[Item]:
        unit = " ops/s" if key == "target" else ""
        yield self.snippet(
            "range", f"range(${{1:1}}{unit}, ${{2:64}}{unit}, ${{3:factor: 2}})", "A ramp.", ItemKind.Function
        )
        ends = "${1:1k} ops/s..${2:100k} ops/s" if key == "target" else "${1:1}..${2:512}"
        yield self.snippet(
            "adaptive",
            f"adaptive({ends}, points: ${{3:9}})",
            "So many points between two ends, chosen while it runs: where the curve bends most.",
            ItemKind.Function,
        )
        if key == "target":
            promise = "where: latency.${3:p99}[${4:read}] < ${5:5 ms} and errors < 0.1 %, within: ${6:3 %}"
            yield self.snippet(
                "highest",
                f"highest({ends}, {promise})",
                "A search for the highest rate at which a promise is kept.",
                ItemKind.Function,
            )
        if key == "threads":
            search = "knee(from: 1, factor: 2, to: ${1:512}, latency: p99, rise: 10 %, gain: 3 %)"
            yield self.snippet("knee", search, "A search for the knee of the ramp.", ItemKind.Function)
            for name in self.index.names("experiment"):
                yield self.word(f"{name}.knee", "The point that another experiment's search finds.", ItemKind.Reference)

    def names(self, kind: str, but: str = "") -> Iterator[Item]:
        for symbol, node in self.index.nodes.items():
            if symbol.kind == kind and symbol.name != but:
                icon, doc = _ICONS.get(symbol.kind, ItemKind.Class), markdown(declared(node))
                yield Item(symbol.name, kind=icon, detail=symbol.kind, documentation=doc)

    def hardware(self, *, with_variants: bool) -> Iterator[Item]:
        """Yield hardware groups and variants. A group that has variants is offered only as `GROUP.variants`, and only
        if `with_variants` is set."""
        variants = self.index.names("variant")
        groups = {name.partition(".")[0] for name in variants}
        for item in self.names("hardware"):
            if item.label not in groups:
                yield item
            elif with_variants:
                yield self.word(f"{item.label}.variants", "All of its variants.", ItemKind.EnumMember)
        for word, symbol in self.index.variants.items():
            if "." not in word or symbol.word not in self.index.variants:
                yield self.word(word, f"A variant of `{symbol.name.partition('.')[0]}`.", ItemKind.EnumMember)

    def units(self, number: Number | None) -> Iterator[Item]:
        """Yield units of the number's dimension, or all units if the dimension is unknown."""
        wanted = number.dimension if number else None
        if wanted is not None and number is not None and "/" in number.unit:
            yield self.word(number.unit, number.wanted, ItemKind.Unit)
        for name in units.known_units():
            unit = units.parse_unit(name)
            if wanted is None or unit.dimension == wanted:
                yield self.word(name, units.dimension_name(unit.dimension), ItemKind.Unit)

    def dimensions(self) -> Iterator[Item]:
        """Yield the dimensions that every spec has, then this spec's factors."""
        yield from map(self.dimension, DIMENSIONS)
        yield from self.names("factor")

    def dimension(self, name: str) -> Item:
        return self.word(name, word_meanings.DIMENSIONS.get(name, ""), ItemKind.Enum)

    def levels(self, factor: str) -> Iterator[Item]:
        """Yield a factor's levels, as they are written in an expression or a list."""
        node = self.index.nodes.get(Symbol("factor", factor))
        for item in node.body if isinstance(node, ast.Block) else ():
            doc = f"```bench\n{' '.join(item.span.text.split())}\n```"
            if isinstance(item, ast.Block):
                yield self.word(item.name.text if item.name else "", doc, ItemKind.EnumMember)
            elif item.key.text == "levels":
                for value in items_of(item):
                    if not isinstance(value, ast.Call):  # a ramp
                        yield self.word(value.span.text, f"A level of `{factor}`.", ItemKind.EnumMember)
            elif item.key.text not in NOT_LEVELS:
                yield self.word(item.key.text, doc, ItemKind.EnumMember)

    def word(self, word: str, doc: str, kind: types.CompletionItemKind, insert: str = "") -> Item:
        return Item(word, kind=kind, documentation=markdown(doc), insert_text=insert or None)

    def words(self, known: Iterable[tuple[str, str]], kind: types.CompletionItemKind) -> Iterator[Item]:
        """Yield words, each with its documentation."""
        return (self.word(word, doc, kind) for word, doc in known)

    def snippet(self, word: str, snippet: str, doc: str, kind: types.CompletionItemKind) -> Item:
        if not self.snippets:
            return self.word(word, doc, kind)
        item = self.word(word, doc, kind, snippet)
        item.insert_text_format = types.InsertTextFormat.Snippet
        return item


_SIGNS = {"=", ",", "[", "(", "{", ":", "+", "-", "*", "/", "<", ">", "<=", ">=", "==", "!=", ".", ".."}
_LINKS = {"and", "or", "not", "x", "over", "by", "along", "when", "every", "on", "from", "in"}
OPERATORS = frozenset(_SIGNS | _LINKS)
"""Words and signs that can't be the end of a value."""
_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">="})


class ExpressionSuggestions(Suggestions):
    def in_expression(self, *, in_hole: bool = False) -> Iterator[Item]:
        cursor = self.cursor
        last = cursor.before[-1] if cursor.before else None
        previous = cursor.before[-2].text if len(cursor.before) > 1 else ""
        if last is None or last.text in OPERATORS - {"."} or last.text == "expect" or last.kind == "string":
            if last is not None and (last.text in ("over", "by", "along") or self.lists_dimensions()):
                yield from self.dimensions()
                if last.text == ",":
                    yield self.word("when", word_meanings.LINKS["when"], ItemKind.Keyword)
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
        """Return whether the cursor is in a list of dimensions, such as after `over threads, `."""
        words = [token.text for token in self.cursor.before if token.kind == "word"]
        links = [word for word in words if word in ("over", "by", "along", "when")]
        return self.cursor.last in (",", "and") and bool(links) and links[-1] == "over"

    def operands(self, *, in_hole: bool) -> Iterator[Item]:
        if self.says_claims(in_hole=in_hole):
            yield from self.names("claim")
        yield from self.names("metric")
        for name in KINDS:
            doc = word_meanings.measure_doc(name)
            yield self.word(name, doc, ItemKind.Field)
        own = ((name, spec.doc) for name, spec in TOOL_SPECS.own.items() if spec.measures)
        for name, doc in (*own, *self.others(PROBE_SPECS), *self.others(TOOL_SPECS)):
            yield self.word(name, f"{doc} Its measures are behind a dot.", ItemKind.Module)
        yield self.word("nodes", "The number of hosts, by hardware.", ItemKind.Field)
        yield from self.names("fact")
        yield from self.names("factor")
        yield from self.params(None)
        for name, (snippet, doc) in word_meanings.FUNCTIONS.items():
            if in_hole or name != "range":
                yield self.snippet(name, snippet, doc, ItemKind.Function)
        if in_hole:
            yield from self.hardware(with_variants=False)
            yield from self.names("workload")
            for factor in self.index.names("factor"):
                yield from self.levels(factor)
            for dim in ("workload", "hardware", "experiment"):
                yield self.dimension(dim)
        yield self.word("steady", "Whether a phase is in the steady state, after `when`.", ItemKind.Keyword)

    def links(self) -> Iterator[Item]:
        words = ("over", "when") if self.cursor.frame.bracket == "(" else ("by", "along")
        for word in (*words, "and", "or"):
            yield self.word(word, word_meanings.LINKS.get(word, ""), ItemKind.Keyword)

    def index_keys(self, dim: str) -> Iterator[Item]:
        if dim in ("", "hardware"):
            yield from self.hardware(with_variants=False)
        if dim in ("", "workload"):
            yield from self.names("workload")
        if dim in ("", "operation"):
            for operation in known_operations():
                yield self.word(operation, "An operation.", ItemKind.EnumMember)
        if dim in ("", "experiment"):
            yield from self.names("experiment")
        for factor in self.index.names("factor"):
            if dim in ("", factor):
                yield from self.levels(factor)
        if not dim:
            for item in self.dimensions():
                item.insert_text = f"{item.label}: "
                item.label += ":"
                yield item

    def option_values(self, option: str) -> Iterator[Item]:
        choices = {"axis": ("left", "right"), "log": ("x", "y"), "band": ("confidence",)}
        if option == "color":
            yield from self.dimensions()
        for word in choices.get(option, ()):
            yield self.word(word, "", ItemKind.EnumMember)


TRIGGERS = (".", "[", "{", "=", " ", ",", "(", ":", "/", '"')

_TIME = Number("s", "1 s")
_TARGET = Number("ops/s", "20k ops/s")


def complete(
    document: Document, position: types.Position, index: NameIndex, *, snippets: bool, after: str | None = None
) -> list[Item]:
    """Return the completion items for a cursor. There are none in comments and plain text.

    `after` is the character that triggered the request. If it is a blank, items are offered only where a word must
    follow.
    """
    cursor = cursor_at(document.text, document.offset(position))
    if cursor.inside in ("comment", "text", "format"):
        return []
    if after == '"':  # a quote only starts a file's name after `use`, completed elsewhere
        return []
    if after == " " and (cursor.new_line or (cursor.last not in OPERATORS and (cursor.last or not cursor.frame.key))):
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


_COMMAND = {"command": ('command("$1")', "A command that is run on every host.")}
_CALLS_OF: Mapping[str, Mapping[str, tuple[str, str]]] = {
    "arrivals": word_meanings.ARRIVALS,
    "repeats": {
        "confident": (
            "confident(within: ${1:5 %}, from: ${2:3}, to: ${3:10})",
            "Until the mean throughput is known well enough.",
        ),
        **{
            word: ("random(seed: ${1:1})" if word == "random" else word, doc)
            for word, doc in word_meanings.ORDERS.items()
        },
    },
    "topology": {
        "standalone": ("standalone", ""),
        "sharded": ("sharded", ""),
        "replica_set": ('replica_set("${1:rs0}")', ""),
    },
    "reset": {"command": ('command("$1")', "What brings the data back.")},
    "prepare": _COMMAND,
    "teardown": _COMMAND,
}
"""The words and calls that are possible values of an attribute, each with its snippet and documentation."""
_REPEATED = ("line", "bars", "bracket", "curve", "slope", "mark", "column", "headline", "footnote", "color")
"""Attributes that may occur several times in a block of a report."""
_CALLS = ("range", "knee", "adaptive", "highest", "random", "confident", "until_steady", *word_meanings.ARRIVALS)
"""Calls that have named arguments."""


class _Completer(ExpressionSuggestions):
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

    def in_file(self) -> Iterator[Item]:
        cursor = self.cursor
        words = [token.text for token in cursor.before]
        if cursor.new_line and cursor.last not in OPERATORS:
            yield from self.declarations()
        elif self.has_expressions:
            if words[-1:] in (["higher"], ["lower"]) and cursor.frame.key == "metric":
                yield self.word("is better", "", ItemKind.Keyword)
                return
            if words and words[-1] == "," and cursor.frame.key == "metric":
                yield from (self.word(f"{way} is better", "", ItemKind.Keyword) for way in ("higher", "lower"))
            yield from self.in_expression()
        elif cursor.frame.key == "param":
            yield from self.in_value(cursor.block)
        elif words and words[0] == "metric" and (words[-1] == "in" or (words[-1] in ("/", "*") and "in" in words)):
            yield from self.units(None)
        elif words and words[0] == "metric" and len(words) > 1:
            yield self.word("in", "the unit that it is shown in", ItemKind.Keyword)
        elif "from" in words and words[0] in BLOCKS:
            yield from self.bases(words[0], words)
        elif len(words) > 1 and words[0] in BLOCKS and BLOCKS[words[0]].inherits:
            yield self.word("from", word_meanings.LINKS["from"], ItemKind.Keyword)
        elif not words:
            yield from self.declarations()

    def declarations(self) -> Iterator[Item]:
        for word, (snippet, doc) in DECLARATION_SNIPPETS.items():
            yield self.snippet(word, snippet, doc, ItemKind.Class)

    def bases(self, kind: str, words: list[str]) -> Iterator[Item]:
        if self.cursor.last == ".":
            family = TOOL_SPECS.usable(words[-2])
            for name, workload in family.workloads.items() if family else ():
                yield self.word(name, workload.description["en"], ItemKind.EnumMember)
            return
        yield from self.names(kind, but=words[1])
        if kind != "workload":
            return
        for tool, family in own_families().items():
            for name, workload in family.workloads.items():
                yield self.word(f"{tool}.{name}", workload.description["en"], ItemKind.EnumMember)
        for name, doc in self.others(TOOL_SPECS):
            yield self.word(f"{name}.", doc, ItemKind.Module)

    # --- blocks ---

    def in_block(self) -> Iterator[Item]:
        cursor, block = self.cursor, self.cursor.frame
        if not block.key and block.tokens:
            yield from self.in_head(block)
            return
        finished = bool(block.tokens) and block.tokens[-1].text not in OPERATORS
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

    def in_head(self, block: OpenBracket) -> Iterator[Item]:
        """Yield the words that may follow an inner block's keyword."""
        words = [token.text for token in block.tokens]
        first = words[0]
        if first == "each":
            yield from (self.dimension(name) for name in ("workload", "hardware", "experiment"))
            yield from self.names("factor")
        elif first == "formula" and len(words) == 1:
            yield from self.names("metric")
        elif first == "formula" and "for" in words:
            yield from self.index_keys("")
        elif first == "formula":
            yield self.word("for", "the keys that the numbers are of", ItemKind.Keyword)
        elif first == "override" and len(words) == 1:
            yield from (
                self.word(kind, _SCHEMAS[kind].doc, ItemKind.Class) for kind in OVERRIDABLE if kind != "options"
            )
        elif first == "override" and words[1] in OVERRIDABLE:
            yield from self.names(words[1])

    def schema(self, block: OpenBracket) -> BlockSchema | None:
        keyword = block.head.keyword
        if keyword == "override":
            return _SCHEMAS.get(block.head.name)
        return schema_of(keyword, family_at(self.cursor, self.index))

    def keys(self, block: OpenBracket) -> Iterator[Item]:
        """Yield the attributes that the block still lacks, required ones first, then its inner blocks."""
        schema = self.schema(block)
        if schema is None:
            return
        said = {*block.keys, *keys_after(self.text, self.cursor.end)}
        barred = {key for rivals in schema.exclusive if said & set(rivals) for key in rivals}
        family = family_at(self.cursor, self.index)
        repeated = _REPEATED if block.head.keyword in ELEMENTS else ()
        known = {name: key for name, key in schema.keys.items() if not key.only or not family or family in key.only}
        for name, key in sorted(known.items(), key=lambda pair: not pair[1].required):
            if (name not in said and name not in barred) or name in repeated:
                yield self.key(name, key, whole=block.head.keyword != "override" and not block.head.base)
        if block.head.keyword == "figure":
            yield self.snippet("note at", 'note "${1:What happens here}" at ${0}', POINT_NOTE, ItemKind.Struct)
        for name in schema.blocks:
            doc = (ELEMENTS.get(name) or BLOCKS.get(name) or BlockSchema("", {})).doc
            yield self.snippet(name, INNER.get(name, name), doc, ItemKind.Struct)
        if schema.open_keys is not None and block.head.keyword in ("hardware", "variant"):
            for name in self.index.names("fact"):
                if name not in said and name not in schema.keys:
                    yield self.word(name, "A fact that other hardware declares.", ItemKind.Field, f"{name} = ")

        if block.head.keyword == "palette":
            levels = (level.rpartition(".")[2] for level in self.index.names("level"))
            others = (name for kind in ("hardware", "workload", "experiment") for name in self.index.names(kind))
            for name in dict.fromkeys((*others, *self.index.variants, *levels)):
                if name not in said and "." not in name:
                    yield self.word(name, "What gets a colour.", ItemKind.Field, f"{name} = ")

    def key(self, name: str, key: Key, *, whole: bool) -> Item:
        detail = key.shape.wanted.replace("`", "")
        return Item(
            name,
            kind=ItemKind.Property,
            label_details=types.CompletionItemLabelDetails(description="required" if key.required and whole else None),
            detail=detail,
            documentation=markdown(attribute_doc(key)),
            insert_text=f"{name}(" if key.example.startswith(f"{name}(") else f"{name} = ",
        )

    # --- values of blocks ---

    def in_value(self, block: OpenBracket) -> Iterator[Item]:
        cursor = self.cursor
        schema = self.schema(block)
        key = schema.keys.get(block.key) if schema else None
        shape: Shape | None = key.shape if key else (schema.open_keys if schema else None)
        last = cursor.before[-1] if cursor.before else None
        inner = cursor.frame.word if cursor.frame.bracket == "(" else ""
        if last is not None and last.kind == "number":
            yield from self.units(_number_of(block, shape, cursor))
            if block.key == "phases":
                yield self.word("x", "so many intervals of ...", ItemKind.Operator)
            return
        if last is not None and last.text == "." and len(cursor.before) > 1:
            yield from self.members(cursor.before[-2].text)
            return
        kind = "workload" if block.head.keyword == "override" else block.head.keyword
        kind = block.head.name if block.head.keyword == "override" else kind
        if inner in METER_SPECS.names and last is not None and last.text == ":" and len(cursor.before) > 1:
            yield from self.meter_argument(inner, cursor.before[-2].text)
        elif inner in _CALLS or (inner and last is not None and last.text != ":"):
            if last is None or last.text != ":":
                yield from self.arguments(inner)
            elif inner == "knee" and cursor.before[-2].text == "latency":
                yield from (self.word(name, "", ItemKind.EnumMember) for name in KNEE_STATISTICS)
        elif kind == "factor" and block.key == "default":
            yield from self.levels(block.head.name)
        elif kind == "experiment" and block.key in ("vary", "when"):
            yield from self.varied(last.text if last else "")
        else:
            yield from self.wanted(kind, block.key, shape, last.text if last else "")
            if kind in ("database", "options", "workload"):
                yield from self.names("factor")
        yield from self.params(shape)

    def varied(self, last: str) -> Iterator[Item]:
        """Yield the factors, levels and words that may be at the cursor in `vary = [codec[none], vsize]` or `when =
        codec != none`."""
        compared = self.cursor.before[-2].text if last in _COMPARISONS and len(self.cursor.before) > 1 else ""
        if of := compared or (self.cursor.frame.word if self.cursor.frame.bracket == "[" else ""):
            yield from self.levels(of)
        elif not last or last in OPERATORS:
            yield from self.names("factor")
        elif self.cursor.block.key == "when":
            yield from (self.word(word, "", ItemKind.Keyword) for word in ("and", "or"))

    def wanted(self, kind: str, key: str, shape: Shape | None, last: str) -> Iterator[Item]:
        """Return the possible values of an attribute. These depend on its block and name, or else on its shape."""
        match kind, key:
            case "experiment", "hardware":
                return self.hardware(with_variants=True)
            case "experiment", ("workloads" | "client" | "database"):
                return self.names(key.removesuffix("s"))
            case "experiment", "probes":
                return self.probes(last)
            case "experiment", ("threads" | "target"):
                return self.ramps(key)
            case "experiment", "measure":
                time = self.word("20 min", "A time, for example.", ItemKind.Value)
                return chain((time,), self.calls(word_meanings.SETTINGS))
            case ("experiment", "arrivals") | ("experiment", "repeats") | (_, "topology" | "prepare" | "teardown"):
                return self.calls(_CALLS_OF[key])
            case (("hardware" | "profile"), "power"):
                return self.meters(or_none=kind == "profile")
            case _, "hosts":
                return self.schedulers()
            case _, "tool":
                return self.words((*word_meanings.TOOLS.items(), *self.others(TOOL_SPECS)), ItemKind.Function)
            case "database", "engine":
                return self.words((*word_meanings.ENGINES.items(), *self.others(ENGINE_SPECS)), ItemKind.EnumMember)
            case _, "reset":
                known = (*word_meanings.RESETS.items(), *self.others(SNAPSHOT_SPECS))
                return chain(self.words(known, ItemKind.EnumMember), self.calls(_CALLS_OF[key]))
            case _:
                return self.of_shape(shape)

    def calls(self, known: Mapping[str, tuple[str, str]]) -> Iterator[Item]:
        """Yield words and calls, each with its snippet and documentation."""
        for name, (call, doc) in known.items():
            yield self.snippet(name, call, doc, ItemKind.Function if "(" in call else ItemKind.EnumMember)

    def probes(self, last: str) -> Iterator[Item]:
        if last == "on":
            yield from self.names("fact")
        elif last in ("", "[", ","):
            yield from self.names("probe")
            for name, doc in (*word_meanings.PROBES.items(), *self.others(PROBE_SPECS)):
                yield self.snippet(name, f"{name} every ${{1:1 s}}", doc, ItemKind.Function)
        elif last != "every":
            yield self.word("every", word_meanings.LINKS["every"], ItemKind.Keyword)

    def meters(self, *, or_none: bool) -> Iterator[Item]:
        for offer in METER_SPECS.offered():  # not imported: a slow import would delay the list
            yield self.word(offer.name, f"A meter of the package {offer.source}.", ItemKind.Function)
        for name, meter in METER_SPECS.own.items():
            call = meter.usage.strip("`").replace("$", "\\$").replace("}", "\\}")
            yield self.snippet(name, call, meter.doc, ItemKind.Function)
        if or_none:
            yield self.word("none", "Power is left out.", ItemKind.EnumMember)

    def schedulers(self) -> Iterator[Item]:
        yield self.word("local", "This machine.", ItemKind.EnumMember)
        for name, scheduler in SCHEDULER_SPECS.own.items():
            if scheduler.usage:
                doc = f"Hosts that {scheduler.label} is asked for: {scheduler.asks_for}, and how many."
                yield self.snippet(name, f'{name}("$1", ${{2:1}})', doc, ItemKind.Function)

    # --- reports ---

    def options(self, block: OpenBracket) -> Iterator[Item]:
        if block.tokens and block.tokens[-1].text == "," and block.head.keyword in ELEMENTS:
            yield from self.words(OPTIONS.items(), ItemKind.Keyword)

    def report_words(self, block: OpenBracket) -> Iterator[Item]:
        schema = self.schema(block)
        key = schema.keys.get(block.key) if schema else None
        if key is not None and not block.tokens:
            yield from self.of_shape(key.shape)
        if block.head.keyword == "palette" and not block.tokens:
            yield self.word("grey", "Greys: a shade for each of up to three.", ItemKind.EnumMember)
            yield self.word("accent", "The accent of the theme.", ItemKind.EnumMember)
        if block.key == "template" and not block.tokens:
            for offer in TEMPLATE_SPECS.offered():  # not imported: a slow import would delay the list
                yield self.word(offer.name, f"A template of the package {offer.source}.", ItemKind.EnumMember)
        if block.key in ("rows", "columns"):
            yield from self.dimensions()
            yield self.word("facts", "All that is declared about the hardware.", ItemKind.EnumMember)


def _number_of(block: OpenBracket, shape: Shape | None, cursor: Cursor) -> Number | None:
    """Return the shape of the number that is expected here, or None if values other than numbers are allowed."""
    last = [token.text for token in cursor.before[-2:]]
    if isinstance(shape, Number):
        return shape
    if last[0] in ("every", "x") or block.key in ("warm_up", "measure", "phases"):
        return _TIME
    return _TARGET if block.key == "target" else None
