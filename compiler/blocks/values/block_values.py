"""The values of a block, as they are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from benchbrief.compiler.frontend.declarations import Entry
from benchbrief.compiler.planning import plan
from benchbrief.compiler.units import Dimension, base_unit
from benchbrief.dsl.source import Span
from benchbrief.dsl.syntax import ast


@dataclass(frozen=True)
class Constant:
    """A computed number in base units. `text` is as the user wrote it; `bare` when no unit was written."""

    value: float
    dimension: Dimension
    text: str
    span: Span
    bare: bool

    @property
    def quantity(self) -> plan.Quantity:
        return plan.Quantity(value=self.value, unit=base_unit(self.dimension), text=self.text)


Value = str | bool | Constant | plan.Reference | ast.String | tuple[ast.Expr, ...]


"""What an attribute's value becomes, by its shape: a text, a word, a flag, a number, a reference that the run reads, a
text with holes, or a series."""


def setting(value: Value | None) -> str | float | bool | None:
    """Return a value as a setting of a tool or an engine: a number in base units. None for any other value."""
    if isinstance(value, Constant):
        return value.value
    return value if isinstance(value, str | bool) else None


@dataclass(frozen=True)
class Values:
    """The right values of one block. A missing key is absent or has a mistake.

    `meant` are the keys that misspelt ones most likely mean.
    """

    entry: Entry
    found: Mapping[str, Value]
    meant: frozenset[str | None]

    def span(self, key: str) -> Span:
        """Return the place of the attribute's value, or of the block's head when it has none."""
        attribute = self.entry.attributes.get(key)
        if attribute is None:
            return self.entry.head
        return attribute.values[0].span.to(attribute.values[-1].span)

    def said(self, key: str) -> bool:
        return key in self.entry.attributes or key in self.meant

    def text(self, key: str) -> str | None:
        value = self.found.get(key)
        return value if isinstance(value, str) else None

    def flag(self, key: str) -> bool | None:
        value = self.found.get(key)
        return value if isinstance(value, bool) else None

    def constant(self, key: str) -> Constant | None:
        value = self.found.get(key)
        return value if isinstance(value, Constant) else None

    def number(self, key: str) -> float | None:
        constant = self.constant(key)
        return constant.value if constant else None

    def string(self, key: str) -> ast.String | None:
        value = self.found.get(key)
        return value if isinstance(value, ast.String) else None

    def series(self, key: str) -> tuple[ast.Expr, ...]:
        value = self.found.get(key)
        return value if isinstance(value, tuple) else ()


def origin(span: Span) -> plan.Origin:
    return plan.Origin(file=span.source.name, line=span.line, column=span.column)
