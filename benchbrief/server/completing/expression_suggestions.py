"""What may be typed in an expression of metrics: in metrics, expectations, reports, and holes of texts."""

from __future__ import annotations

from collections.abc import Iterator

from benchbrief.compiler import word_meanings
from benchbrief.compiler.briefs.report_schema import OPTIONS
from benchbrief.compiler.extensions.own_tools import known_operations
from benchbrief.compiler.extensions.registry import PROBE_SPECS, TOOL_SPECS
from benchbrief.compiler.measure_catalogue import DIMENSIONS, KINDS
from benchbrief.server.completing.suggestions import Item, ItemKind, Suggestions

_SIGNS = {"=", ",", "[", "(", "{", ":", "+", "-", "*", "/", "<", ">", "<=", ">=", "==", "!=", ".", ".."}
_LINKS = {"and", "or", "not", "x", "over", "by", "along", "when", "every", "on", "from", "in"}
OPERATORS = frozenset(_SIGNS | _LINKS)
"""What a value can't end with."""


class ExpressionSuggestions(Suggestions):
    def in_expression(self, *, in_hole: bool = False) -> Iterator[Item]:
        cursor = self.cursor
        last = cursor.before[-1] if cursor.before else None
        previous = cursor.before[-2].text if len(cursor.before) > 1 else ""
        if last is None or last.text in OPERATORS - {"."} or last.text == "expect" or last.kind == "string":
            if last is not None and (last.text in ("over", "by", "along") or self.lists_dimensions()):
                yield from map(self.dimension, DIMENSIONS)
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
        """After `over threads, `."""
        words = [token.text for token in self.cursor.before if token.kind == "word"]
        links = [word for word in words if word in ("over", "by", "along", "when")]
        return self.cursor.last in (",", "and") and bool(links) and links[-1] == "over"

    def operands(self, *, in_hole: bool) -> Iterator[Item]:
        yield from self.names("metric")
        for name in KINDS:
            doc = word_meanings.measure_doc(name)
            yield self.word(name, doc, ItemKind.Field)
        own = ((name, spec.doc) for name, spec in TOOL_SPECS.own.items() if spec.measures)
        for name, doc in (*own, *self.others(PROBE_SPECS), *self.others(TOOL_SPECS)):
            yield self.word(name, f"{doc} Its measures are behind a dot.", ItemKind.Module)
        yield self.word("nodes", "The number of hosts, by hardware.", ItemKind.Field)
        yield from self.names("fact")
        yield from self.params(None)
        for name, (snippet, doc) in word_meanings.FUNCTIONS.items():
            if in_hole or name != "range":
                yield self.snippet(name, snippet, doc, ItemKind.Function)
        if in_hole:
            yield from self.hardware(with_variants=False)
            yield from self.names("workload")
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
        if not dim:
            for name in DIMENSIONS:
                item = self.dimension(name)
                item.insert_text = f"{name}: "
                item.label = f"{name}:"
                yield item

    def option_values(self, option: str) -> Iterator[Item]:
        choices = {"axis": ("left", "right"), "log": ("x", "y"), "band": ("confidence",)}
        if option == "color":
            yield from map(self.dimension, DIMENSIONS)
        for word in choices.get(option, ()):
            yield self.word(word, "", ItemKind.EnumMember)
