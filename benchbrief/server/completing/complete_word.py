"""What may be typed at the cursor: the words that the checker would accept there, best first."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from benchbrief.compiler import word_meanings
from benchbrief.compiler.blocks.experiments.ramps import KNEE_STATISTICS
from benchbrief.compiler.briefs.report_schema import ELEMENTS, OPTIONS
from benchbrief.compiler.extensions.own_tools import own_families
from benchbrief.compiler.extensions.registry import (
    ENGINE_SPECS,
    METER_SPECS,
    PROBE_SPECS,
    SCHEDULER_SPECS,
    TEMPLATE_SPECS,
    TOOL_SPECS,
)
from benchbrief.compiler.frontend.name_index import Index
from benchbrief.compiler.measure_catalogue import DIMENSIONS
from benchbrief.compiler.schemas.block_schema import BLOCKS, OVERRIDABLE
from benchbrief.compiler.shapes.value_shapes import BlockSchema, Key, Number, Shape
from benchbrief.server.completing.cursor_context import Cursor, Frame, cursor_at, keys_after
from benchbrief.server.completing.expression_suggestions import OPERATORS, ExpressionSuggestions
from benchbrief.server.completing.snippets import DECLARATIONS, INNER
from benchbrief.server.completing.suggestions import Item, ItemKind
from benchbrief.server.document_text import Text as Document
from benchbrief.server.word_docs import attribute_doc, family_at, markdown, schema_of

TRIGGERS = (".", "[", "{", "=", " ", ",", "(", ":", "/", '"')

_TIME = Number("s", "1 s")
_TARGET = Number("ops/s", "20k ops/s")


def complete(
    document: Document, position: types.Position, index: Index, *, snippets: bool, after: str | None = None
) -> list[Item]:
    """The items for a cursor; none in comments and in plain text.

    `after` is the character that made the client ask: after a blank, only where a word must follow.
    """
    cursor = cursor_at(document.text, document.offset(position))
    if cursor.inside in ("comment", "text", "format"):
        return []
    if after == '"':  # begins the name of a file behind `use`, and nothing else
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


_CALLS = ("range", "knee", "adaptive", "highest", "random", "confident", "until_steady", *word_meanings.ARRIVALS)
"""Those whose arguments have names throughout, or may have."""


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
        for word, (snippet, doc) in DECLARATIONS.items():
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
            yield self.word("for", "the keys that the numbers are of", ItemKind.Keyword)
        elif first == "override" and len(words) == 1:
            yield from (self.word(kind, BLOCKS[kind].doc, ItemKind.Class) for kind in OVERRIDABLE if kind != "options")
        elif first == "override" and words[1] in BLOCKS:
            yield from self.names(words[1])

    def schema(self, block: Frame) -> BlockSchema | None:
        keyword = block.head.keyword
        if keyword == "override":
            return BLOCKS.get(block.head.name)
        return schema_of(keyword, family_at(self.cursor, self.index))

    def keys(self, block: Frame) -> Iterator[Item]:
        """The attributes that the block does not say yet, those that it must say first; then the blocks in it."""
        schema = self.schema(block)
        if schema is None:
            return
        said = {*block.keys, *keys_after(self.text, self.cursor.end)}
        barred = {key for rivals in schema.exclusive if said & set(rivals) for key in rivals}
        family = family_at(self.cursor, self.index)
        repeated = ("line", "bars", "curve", "mark", "column") if block.head.keyword in ELEMENTS else ()
        known = {name: key for name, key in schema.keys.items() if not key.only or not family or family in key.only}
        for name, key in sorted(known.items(), key=lambda pair: not pair[1].required):
            if (name not in said and name not in barred) or name in repeated:
                yield self.key(name, key, whole=block.head.keyword != "override" and not block.head.base)
        for name in schema.blocks:
            doc = (ELEMENTS.get(name) or BLOCKS.get(name) or BlockSchema("", {})).doc
            yield self.snippet(name, INNER.get(name, name), doc, ItemKind.Struct)
        if schema.open_keys is not None and block.head.keyword in ("hardware", "variant"):
            for name in self.index.names("fact"):
                if name not in said and name not in schema.keys:
                    yield self.word(name, "A fact that other hardware declares.", ItemKind.Field, f"{name} = ")

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
        else:
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
                    yield self.word("every", word_meanings.LINKS["every"], ItemKind.Keyword)
                    return
                yield from self.names("probe")
                for name, doc in (*word_meanings.PROBES.items(), *self.others(PROBE_SPECS)):
                    yield self.snippet(name, f"{name} every ${{1:1 s}}", doc, ItemKind.Function)
            case "experiment", ("threads" | "target"):
                yield from self.ramps(key)
            case "experiment", "arrivals":
                for name, (call, doc) in word_meanings.ARRIVALS.items():
                    yield self.snippet(name, call, doc, ItemKind.Function)
            case "experiment", "measure":
                yield self.word("20 min", "A time, for example.", ItemKind.Value)
                for name, (call, doc) in word_meanings.SETTINGS.items():
                    yield self.snippet(name, call, doc, ItemKind.Function)
            case "experiment", "repeats":
                call = "confident(within: ${1:5 %}, from: ${2:3}, to: ${3:10})"
                yield self.snippet(
                    "confident", call, "Until the mean throughput is known well enough.", ItemKind.Function
                )
                for word, doc in word_meanings.ORDERS.items():
                    yield self.snippet(
                        word, "random(seed: ${1:1})" if word == "random" else word, doc, ItemKind.EnumMember
                    )
            case (("hardware" | "profile"), "power"):
                for offer in METER_SPECS.offered():  # not imported: a slow one would hold up the list
                    yield self.word(offer.name, f"A meter of the package {offer.source}.", ItemKind.Function)
                for name, meter in METER_SPECS.own.items():
                    call = meter.usage.strip("`").replace("$", "\\$").replace("}", "\\}")
                    yield self.snippet(name, call, meter.doc, ItemKind.Function)
                if kind == "profile":
                    yield self.word("none", "Power is left out.", ItemKind.EnumMember)
            case _, "hosts":
                yield self.word("local", "This machine.", ItemKind.EnumMember)
                for name, scheduler in SCHEDULER_SPECS.own.items():
                    if scheduler.usage:
                        doc = f"Hosts that {scheduler.label} is asked for: {scheduler.asks_for}, and how many."
                        yield self.snippet(name, f'{name}("$1", ${{2:1}})', doc, ItemKind.Function)
            case _, "tool":
                yield from self.words((*word_meanings.TOOLS.items(), *self.others(TOOL_SPECS)), ItemKind.Function)
            case "database", "engine":
                yield from self.words((*word_meanings.ENGINES.items(), *self.others(ENGINE_SPECS)), ItemKind.EnumMember)
            case _, "topology":
                for word in ("standalone", "sharded"):
                    yield self.word(word, "", ItemKind.EnumMember)
                yield self.snippet("replica_set", 'replica_set("${1:rs0}")', "", ItemKind.Function)
            case _, "reset":
                yield from self.words(word_meanings.RESETS.items(), ItemKind.EnumMember)
                yield self.snippet("command", 'command("$1")', "What brings the data back.", ItemKind.Function)
            case _, "prepare" | "teardown":
                yield self.snippet(
                    "command", 'command("$1")', "A command that is run on every host.", ItemKind.Function
                )
            case _:
                yield from self.of_shape(shape)

    # --- reports ---

    def options(self, block: Frame) -> Iterator[Item]:
        if block.tokens and block.tokens[-1].text == "," and block.head.keyword in ELEMENTS:
            yield from self.words(OPTIONS.items(), ItemKind.Keyword)

    def report_words(self, block: Frame) -> Iterator[Item]:
        schema = self.schema(block)
        key = schema.keys.get(block.key) if schema else None
        if key is not None and not block.tokens:
            yield from self.of_shape(key.shape)
        if block.key == "template" and not block.tokens:
            for offer in TEMPLATE_SPECS.offered():  # not imported: a slow one would hold up the list
                yield self.word(offer.name, f"A template of the package {offer.source}.", ItemKind.EnumMember)
        if block.key in ("rows", "columns"):
            yield from map(self.dimension, DIMENSIONS)
            yield self.word("facts", "All that is declared about the hardware.", ItemKind.EnumMember)


def _number_of(block: Frame, shape: Shape | None, cursor: Cursor) -> Number | None:
    """What a number here has to be, as far as one can tell; None for anything."""
    last = [token.text for token in cursor.before[-2:]]
    if isinstance(shape, Number):
        return shape
    if last[0] in ("every", "x") or block.key in ("warm_up", "measure", "phases"):
        return _TIME
    return _TARGET if block.key == "target" else None
