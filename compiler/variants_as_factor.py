"""Finds hardware variants that differ only in options of the database, and suggests a factor instead.

The brief would call such variants hardware. The suggestion replaces them by a factor with the same levels, and edits
every place that names them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeGuard

from benchbrief.compiler.blocks.equipment_errors import ReplacedData, VariantsOfOptions
from benchbrief.compiler.blocks.factor_uses import RESERVED
from benchbrief.compiler.frontend.imports import Loaded
from benchbrief.compiler.frontend.name_index import NOT_LEVELS, NameIndex, Symbol, index, items_of
from benchbrief.compiler.problems import Findings
from benchbrief.compiler.resolve import Model
from benchbrief.compiler.schemas import VARIANT
from benchbrief.dsl.diagnostics.diagnostic import Edit, Suggestion
from benchbrief.dsl.lazy_dataclass import dataclass
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast

_BUNDLE = "tuning"
"""The factor's name if a variant sets several options."""


@dataclass(frozen=True)
class _Setup:
    """Hardware whose `variants` differ only in `settings`. Each is passed unchanged to a database option."""

    hardware: ast.Block
    name: str
    variants: Mapping[str, ast.Block]
    settings: tuple[str, ...]

    @property
    def factor(self) -> str:
        return self.settings[0] if len(self.settings) == 1 else _BUNDLE

    def value_of(self, setting: str) -> str:
        """Return the expression that replaces `"{setting}"`."""
        return setting if len(self.settings) == 1 else f"{_BUNDLE}.{setting}"

    def declared(self) -> str:
        """Return the factor's declaration as text for a spec."""
        levels = []
        for name, variant in self.variants.items():
            label = f" {variant.label.span.text}" if variant.label else ""
            facts = [item for item in variant.body if isinstance(item, ast.Attribute)]
            if len(self.settings) == 1:
                levels.append(f"  {name}{label} = {facts[0].values[0].span.text}")
            else:
                levels.append(f"  level {name}{label} {{ {'  '.join(fact.span.text for fact in facts)} }}")
        lines = "\n".join(levels)
        return f'factor {self.factor} "{self.factor.replace("_", " ").capitalize()}" {{\n{lines}\n}}'


def suggest_factors(model: Model, loaded: Loaded, findings: Findings) -> None:
    """Warn of variants that should be levels of a factor. `model` must have no mistake."""
    groups = {unit.hardware.group for matrix in model.matrices for unit in matrix.units}
    spec = next(file.tree for file in loaded.files if not file.imported)
    for block in spec.declarations:
        if not isinstance(block, ast.Block) or block.keyword.text != "hardware" or block.name is None:
            continue
        variants = {item.name.text: item for item in block.body if isinstance(item, ast.Block) and item.name}
        settings = _settings(block, variants)
        if groups != {block.name.text} or not settings or all(len(matrix.units) < 2 for matrix in model.matrices):
            continue
        setup = _Setup(block, block.name.text, variants, settings)
        names = index(declaration for file in loaded.files for declaration in file.tree.declarations)
        edits = _Rewrite(spec, setup, names)
        if edits.of_settings():
            known = {symbol.name for symbol in names.nodes if symbol.kind in ("param", "metric", "factor")}
            free = setup.factor.casefold() not in {*RESERVED, *known} and not variants.keys() & NOT_LEVELS
            replaced = any(found.code == ReplacedData.code for found in findings.diagnostics())
            whole = free and edits.of_uses() and (not replaced or edits.of_paths())
            change = _changed(edits.edits) if whole else None
            first = next(iter(variants.values()))
            findings.add(VariantsOfOptions(first.keyword.span, setup.name, settings, setup.factor, change))


def _settings(hardware: ast.Block, variants: Mapping[str, ast.Block]) -> tuple[str, ...]:
    """Return the facts that each variant declares. Return () if the variants declare different facts or anything
    besides facts."""
    own = {item.key.text for item in hardware.body if isinstance(item, ast.Attribute)}
    given: list[dict[str, ast.Expr]] = []
    for variant in variants.values():
        facts = [item for item in variant.body if isinstance(item, ast.Attribute)]
        if len(facts) < len(variant.body) or any(len(fact.values) != 1 for fact in facts):
            return ()
        given.append({fact.key.text: fact.values[0] for fact in facts})
    if len(given) < 2 or any(facts.keys() != given[0].keys() for facts in given):
        return ()
    plain = all(_is_plain(value) for facts in given for value in facts.values())
    return tuple(given[0]) if plain and not (given[0].keys() & {*VARIANT.keys, *own}) else ()


def _is_plain(value: ast.Expr) -> bool:
    match value:
        case ast.Quantity() | ast.Name(text="true" | "false"):
            return True
        case ast.String():
            return value.plain is not None
        case _:
            return False


class _Rewrite:
    """The edits that replace variants by a factor."""

    def __init__(self, spec: ast.File, setup: _Setup, names: NameIndex) -> None:
        self.spec = spec
        self.setup = setup
        self.names = names
        self.edits: dict[Span, str] = {}

    def of_settings(self) -> bool:
        """Edit the options that the settings fill. Return whether the settings fill only whole options, apart from uses
        in paths."""
        whole: set[str] = set()
        for block in self._blocks("database"):
            for item in _attributes(block):
                for value in item.values:
                    self._of_string(value, whole)
        uses = {each.span for name in self.setup.settings for each in self.names.of(Symbol("fact", name))}
        inside = {
            each.span
            for name in self.setup.settings
            for each in self.names.of(Symbol("fact", name))
            if any(_contains(place, each.span) for place in (*self.edits, *self._variant_spans()))
        }
        return whole == {*self.setup.settings} and uses == inside

    def _of_string(self, value: ast.Expr, whole: set[str]) -> None:
        if not isinstance(value, ast.String):
            return
        for part in value.parts:
            if isinstance(part, ast.Hole) and isinstance(part.expr, ast.Name):
                name = part.expr.text
                if name in self.setup.settings and len(value.parts) == 1:
                    self.edits[value.span] = self.setup.value_of(name)
                    whole.add(name)
                elif name in self.setup.settings:
                    self.edits[part.expr.span] = self.setup.value_of(name)

    def of_uses(self) -> bool:
        """Edit all other uses of the variants or the hardware. Return whether all of them could be edited."""
        for span in self._variant_spans():
            start = len(span.source.text[: span.start].rstrip())
            self.edits[Span(span.source, start, span.end)] = ""
        end = self.setup.hardware.span
        self.edits[Span(end.source, end.end, end.end)] = f"\n\n{self.setup.declared()}"
        here = {declaration.span.source for declaration in self.spec.declarations}
        named = {Symbol("variant", f"{self.setup.name}.{word}") for word in self.setup.variants}
        named.add(Symbol("hardware", self.setup.name))
        if any(each.symbol in named and each.span.source not in here for each in self.names.occurrences):
            return False  # another file names the variants
        measured = [item for block in self._blocks("experiment") for item in _attributes(block)]
        return all(self._of_experiment(item) for item in measured if item.key.text == "hardware") and self._of_names()

    def of_paths(self) -> bool:
        """Give each level its own data, so that the levels can be measured in turns. Return whether there is a path."""
        holes = "-".join(f"{{{self.setup.value_of(name)}}}" for name in self.setup.settings)
        paths = [item.values[0].span for block in self._blocks("database") for item in block.body if _is_path(item)]
        for span in paths:
            self.edits[Span(span.source, span.end - 1, span.end - 1)] = f"/{holes}"
        return bool(paths)

    def _of_experiment(self, attribute: ast.Attribute) -> bool:
        """Replace `hardware = box.variants` by `hardware = box` and `vary = cache`."""
        levels: list[str] = []
        for value in items_of(attribute):
            word = value.span.text.removeprefix(f"{self.setup.name}.")
            if word == "variants":
                levels += self.setup.variants
            elif word in self.setup.variants:
                levels.append(word)
            else:
                return False
        some = f"[{', '.join(levels)}]" if set(levels) < set(self.setup.variants) else ""
        source = attribute.span.source
        line = source.line_starts[attribute.span.line - 1]
        lead = source.text[line : attribute.span.start]
        between = "  " if lead.strip() else f"\n{lead}"
        self.edits[attribute.span] = f"hardware = {self.setup.name}{between}vary = {self.setup.factor}{some}"
        return True

    def _of_names(self) -> bool:
        """Edit the places in reports, metrics and expectations that name `hardware` or `box.small`."""
        left: list[ast.Expr | ast.Declaration | ast.Item] = [
            each for each in self.spec.declarations if not isinstance(each, ast.Block) or each.keyword.text == "report"
        ]
        while left:
            node = left.pop()
            match node:
                case ast.Attr(base=ast.Name(text=base), field=ast.Name(text=word)) if base == self.setup.name:
                    if word not in self.setup.variants:
                        return False
                    self.edits[node.span] = word
                    continue
                case ast.Attr(base=ast.Name(text="hardware"), field=ast.Name(text=word)) if word not in _OF_ALL:
                    return False
                case ast.Name(text="hardware"):
                    self.edits[node.span] = self.setup.factor
            left.extend(ast.children(node))
        return not any(
            block.keyword.text == "override" and block.subject and block.subject.text in ("hardware", "variant")
            for profile in self._blocks("profile")
            for block in (each for each in profile.body if isinstance(each, ast.Block))
        )

    def _blocks(self, kind: str) -> Iterator[ast.Block]:
        """Yield the blocks of a kind, and the profiles' overrides of such blocks."""
        for block in self.spec.declarations:
            if isinstance(block, ast.Block) and block.keyword.text == kind:
                yield block
            elif isinstance(block, ast.Block) and block.keyword.text == "profile":
                for item in block.body:
                    if isinstance(item, ast.Block) and item.subject is not None and item.subject.text == kind:
                        yield item

    def _variant_spans(self) -> Iterable[Span]:
        return [variant.span for variant in self.setup.variants.values()]


_OF_ALL = frozenset({"label", "title", "name"})
"""The fields that texts can use for both hardware and factors."""


def _is_path(item: ast.Item) -> TypeGuard[ast.Attribute]:
    return isinstance(item, ast.Attribute) and item.key.text == "path" and isinstance(item.values[0], ast.String)


def _attributes(block: ast.Block) -> Iterator[ast.Attribute]:
    for item in block.body:
        if isinstance(item, ast.Attribute):
            yield item
        else:
            yield from _attributes(item)


def _contains(outer: Span, inner: Span) -> bool:
    return outer.source is inner.source and outer.start <= inner.start and inner.end <= outer.end


def _changed(edits: Mapping[Span, str]) -> Suggestion | None:
    first, *others = (Edit(span, text) for span, text in edits.items())
    return Suggestion(first.span, first.replacement, tuple(others))
