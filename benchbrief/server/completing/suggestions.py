"""What the items of a completion are made of: names, words, snippets and units, from the index and the tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lsprotocol import types

from benchbrief.compiler import units, word_meanings
from benchbrief.compiler.extensions.extension_spec import ExtensionSpec
from benchbrief.compiler.extensions.registry import METER_SPECS, SCHEDULER_SPECS, Registry
from benchbrief.compiler.frontend.name_index import Index, Kind
from benchbrief.compiler.measure_catalogue import FAMILIES, family_of
from benchbrief.compiler.problems import article
from benchbrief.compiler.shapes.value_shapes import Flag, Login, Number, Shape, Text, Word
from benchbrief.dsl.syntax import ast
from benchbrief.server.completing.cursor_context import Cursor
from benchbrief.server.word_docs import attribute_doc, declared, markdown

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
    "fact": ItemKind.Field,
    "probe": ItemKind.Event,
    "metric": ItemKind.Function,
    "param": ItemKind.Variable,
}
"""Other kinds of names are shown as classes."""


@dataclass(frozen=True)
class Suggestions:
    """At a cursor in a text; with `snippets`, for a client that knows of them."""

    text: str
    cursor: Cursor
    index: Index
    snippets: bool

    @property
    def has_expressions(self) -> bool:
        """Whether values here are expressions of metrics: in reports, metrics and expectations."""
        outermost = self.cursor.blocks[1] if len(self.cursor.blocks) > 1 else None
        if outermost is not None:
            return outermost.head.keyword == "report"
        file = self.cursor.frames[0]
        return file.key == "metric" or (bool(file.tokens) and file.tokens[0].text == "expect")

    def members(self, family: str) -> Iterator[Item]:
        """What may stand after `family.`"""
        for name in family_of(family):
            doc = word_meanings.measure_doc(name)
            yield self.word(name.removeprefix(f"{family}."), doc, ItemKind.Field)
        for name in self.index.names("variant"):
            if name.startswith(f"{family}."):
                yield self.word(name.removeprefix(f"{family}."), "A variant.", ItemKind.EnumMember)
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
        """Those of other packages, each with a sentence. Nothing is imported: a slow spec would hold up the list."""
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
        """What may stand behind `user: ` in a meter."""
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
        """Groups and variants; where one of them is wanted, only what is by itself one."""
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
        """Units of the number's dimension, or all of them."""
        wanted = number.dimension if number else None
        if wanted is not None and number is not None and "/" in number.unit:
            yield self.word(number.unit, number.wanted, ItemKind.Unit)
        for name in units.known_units():
            unit = units.parse_unit(name)
            if wanted is None or unit.dimension == wanted:
                yield self.word(name, units.dimension_name(unit.dimension), ItemKind.Unit)

    def dimension(self, name: str) -> Item:
        return self.word(name, word_meanings.DIMENSIONS.get(name, ""), ItemKind.Enum)  # type: ignore[call-overload]

    def word(self, word: str, doc: str, kind: types.CompletionItemKind, insert: str = "") -> Item:
        return Item(word, kind=kind, documentation=markdown(doc), insert_text=insert or None)

    def words(self, known: Iterable[tuple[str, str]], kind: types.CompletionItemKind) -> Iterator[Item]:
        """Words, each with its doc."""
        return (self.word(word, doc, kind) for word, doc in known)

    def snippet(self, word: str, snippet: str, doc: str, kind: types.CompletionItemKind) -> Item:
        if not self.snippets:
            return self.word(word, doc, kind)
        item = self.word(word, doc, kind, snippet)
        item.insert_text_format = types.InsertTextFormat.Snippet
        return item
