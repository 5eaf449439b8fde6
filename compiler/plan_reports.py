"""The part of a plan that is to be reported: a brief's elements and its house style.

Loops are unrolled and names resolved when the plan is made, so a template only lays out.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from benchbrief.compiler.plan_base import Node, Origin
from benchbrief.compiler.plan_numbers import Dimension, Query


class Value(Node):
    """A computed number in a text: printed by `format` (Python's format language; `%` multiplies by 100).

    `high` is set for `{range(x over d):.0f}`, which prints "28 to 37": the two queries give its ends.
    """

    query: Query
    format: str
    high: Query | None = None


class Prose(Node):
    """Markdown with computed numbers: `parts` in order. Plain strings are Markdown; labels in them are escaped."""

    parts: tuple[str | Value, ...]


class TextElement(Node):
    kind: Literal["text"] = "text"
    prose: Prose


class Key(Node):
    """A value of a dimension, as it stands in the results, and its label for people."""

    value: str | float
    label: str


class Line(Node):
    """A line of a table: a column, or, when the table is transposed, a row.

    Either `query` (whose dims are the table's `dim`, or none) with `format`, or `texts`, one for each key.
    """

    label: str
    unit: str = ""
    query: Query | None = None
    format: str = ""
    texts: tuple[Prose, ...] = ()


class TableElement(Node):
    """`keys` run along `dim` (the rows, unless `transposed`); `lines` are the other way."""

    kind: Literal["table"] = "table"
    title: str
    dim: str
    dim_label: str
    keys: tuple[Key, ...]
    lines: tuple[Line, ...]
    transposed: bool = False
    note: Prose | None = None


class CalloutElement(Node):
    """The lead box: a table without units in its head, or a text."""

    kind: Literal["callout"] = "callout"
    title: str
    table: TableElement | None = None
    prose: Prose | None = None
    note: Prose | None = None


class Series(Node):
    """What a figure draws. `mark`: line, bar, curve (query against `x_query`, joined along `x_dim`), rule.

    `x_dim` is the dimension on the x axis (for a curve: along which the points are joined and labelled);
    `color_dim` gives one colour for each of its keys, else `label` names the series. With `band`, `repeats` has the
    same values for each repeat (a further dim), of which the 95 % confidence interval is made.
    """

    mark: Literal["line", "bar", "curve", "rule"]
    query: Query
    label: str
    x_dim: Dimension | None = None
    x_query: Query | None = None
    x_label: str = ""
    color_dim: Dimension | None = None
    axis: Literal["left", "right"] = "left"
    dashed: bool = False
    band: bool = False
    repeats: Query | None = None


class FigureElement(Node):
    """`keys` gives, for each dimension used, its values in order with labels. `log_y` is of the left axis.

    With a `panel_dim` there is a panel for each of its keys (small multiples), all on shared axes.
    """

    kind: Literal["figure"] = "figure"
    title: str
    claim: Prose | None = None
    series: tuple[Series, ...]
    keys: dict[str, tuple[Key, ...]]
    x_label: str = ""
    log_x: bool = False
    log_y: bool = False
    log_y_right: bool = False
    panel_dim: Dimension | None = None
    note: Prose | None = None


class Term(Node):
    """A named factor of a formula with the query that gives its number."""

    text: str
    query: Query


class FormulaElement(Node):
    """A metric worked through for one key: `name = text`, then the text with the terms' numbers in it, then the result.

    `text` holds the terms as `{0}`, `{1}`, ...
    """

    kind: Literal["formula"] = "formula"
    name: str
    for_label: str
    text: str
    terms: tuple[Term, ...]
    result: Query


class FactsElement(Node):
    """The test configuration: declared facts beside observed ones for these hardware groups."""

    kind: Literal["facts"] = "facts"
    title: str
    hardware: tuple[str, ...]


class DisclosureElement(Node):
    kind: Literal["disclosure"] = "disclosure"


class SectionElement(Node):
    kind: Literal["section"] = "section"
    title: str
    elements: tuple[Element, ...]


Element = Annotated[
    TextElement
    | TableElement
    | CalloutElement
    | FigureElement
    | FormulaElement
    | FactsElement
    | DisclosureElement
    | SectionElement,
    Field(discriminator="kind"),
]
SectionElement.model_rebuild()


class Asset(Node):
    """A file of a report's house style, named as the spec's files are."""

    file: str
    sha256: str


class Theme(Node):
    """A house style. Colours are `#rrggbb`; what is empty is ours."""

    logo: Asset | None = None
    brand: str = ""
    accent: str = ""
    font: str = ""
    font_files: tuple[Asset, ...] = ()
    css: Asset | None = None


class Report(Node):
    """`parts` are templates that stand in for those of the layout. `provenance` is how much the appendix tells."""

    name: str
    title: str
    subtitle: str = ""
    template: str
    language: str = "en"
    words: dict[str, str | dict[str, str]] = Field(default_factory=dict)
    """Of a language that is not shipped: the user's own catalogue. What it lacks is in English."""
    author: str = ""
    paper: Literal["a4", "letter"] = "a4"
    provenance: Literal["full", "compact", "none"] = "full"
    theme: Theme = Theme()
    parts: tuple[Asset, ...] = ()
    legal: Prose | None = None
    elements: tuple[Element, ...]
    origin: Origin
