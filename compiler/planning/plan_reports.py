"""The reports of a plan: a brief's elements and its house style.

The plan unrolls loops and resolves names, so a template only lays out.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from benchbrief.compiler.planning.plan_base import Node, Origin
from benchbrief.compiler.planning.plan_numbers import Dimension, Query

MOST_COLUMNS = 14
"""How many columns of numbers fit across a page beside the rows' names."""


class Value(Node):
    """A computed number in a text, printed by `format` (Python's format language; `%` multiplies by 100).

    `{range(x over d):.0f}` has `high` too, and prints "28 to 37".
    """

    query: Query
    format: str
    high: Query | None = None


class Prose(Node):
    """Markdown with computed numbers: `parts` in order. Plain strings are Markdown; labels in them are escaped."""

    parts: tuple[str | Value, ...]


class Wording(Node):
    """The parts of an expression's name; `reports/data/measure_labels.py` words them in the report's language.

    `form` says how the parts `of` it combine: `plus`, `minus`, `times`, `ratio`, `divided`, `negative`, `at` some keys
    and `points` of ramps, `reduced` by the function `name` along the dimensions `over`, `where` a condition holds,
    which is a `comparison` by the sign `name`, `and`, `or` or `not`; of a quantity at one place and then at another:
    `shared_ratio`, `change`, `reduction`.
    """

    form: str
    of: tuple[str | Wording, ...]
    name: str = ""
    over: tuple[Dimension, ...] = ()
    points: tuple[tuple[Dimension, float], ...] = ()


Label: TypeAlias = str | Wording
"""A name from the spec, a measure's name in the language (`latency.p99[read], Eco`), or a wording."""


class TextElement(Node):
    kind: Literal["text"] = "text"
    prose: Prose


class Key(Node):
    """A value of a dimension, as in the results, and its label for people."""

    value: str | float
    label: str


class Tested(Node):
    """How a line of a comparison is tested: the value of each repeat, and which direction is better.

    Lines with one `of` are contenders of one quantity. Without `repeats`, it was measured once.
    """

    of: str
    repeats: Query | None = None
    percentile: bool = False
    better: Literal["higher", "lower"] | None = None


class Line(Node):
    """A line of a table: a column, or a row of a transposed table.

    It has a `query` (along the table's `dim`, or without one) with a `format`, or `texts`, one for each key. `heads`
    stand above the label, outermost first; neighbouring lines share them.
    """

    label: Label
    heads: tuple[Label, ...] = ()
    unit: str = ""
    query: Query | None = None
    format: str = ""
    texts: tuple[Prose, ...] = ()
    tested: Tested | None = None
    """Only in a comparison."""


class TableElement(Node):
    """`keys` run along `dim` (the rows, unless `transposed`); `lines` run the other way. Lines of a comparison are
    `tested`.

    `heat`: shades cells by their values, compared in the whole table, in each row or in each column.
    """

    kind: Literal["table"] = "table"
    title: str
    dim: str
    dim_label: str
    keys: tuple[Key, ...]
    lines: tuple[Line, ...]
    transposed: bool = False
    note: Prose | None = None
    heat: Literal["", "table", "rows", "columns"] = ""


class CalloutElement(Node):
    """The lead box: a table without units in its head, or a text."""

    kind: Literal["callout"] = "callout"
    title: str
    table: TableElement | None = None
    prose: Prose | None = None
    note: Prose | None = None


class Series(Node):
    """What a figure draws. `mark`: line, bar, curve (query against `x_query`, joined along `x_dim`), rule.

    `x_dim` is the dimension on the x axis (of a curve: along which its points are joined and labelled). `color_dim`
    gives each of its keys a colour, else `label` names the series. With a `band`, `repeats` has the values of each
    repeat (a further dim), for the 95 % confidence interval.
    """

    mark: Literal["line", "bar", "curve", "rule"]
    query: Query
    label: Label
    x_dim: Dimension | None = None
    x_query: Query | None = None
    x_label: Label = ""
    color_dim: Dimension | None = None
    axis: Literal["left", "right"] = "left"
    dashed: bool = False
    band: bool = False
    repeats: Query | None = None


class FigureElement(Node):
    """`keys` has the values of each dimension in order, with labels. `log_y` is of the left axis.

    With a `panel_dim`, each of its keys has a panel (small multiples) on shared axes.
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
    """A named factor of a formula, with the query of its number."""

    text: Label
    query: Query


class FormulaElement(Node):
    """A metric computed for one key: `name = text`, then the text with the terms' numbers, then the result.

    `text` has the terms as `{0}`, `{1}`, ...
    """

    kind: Literal["formula"] = "formula"
    name: str
    for_label: str
    text: str
    terms: tuple[Term, ...]
    result: Query


class FactsElement(Node):
    """The test configuration: declared and observed facts of these hardware groups."""

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
    """A file of a report's house style."""

    file: str
    sha256: str


class Theme(Node):
    """A house style. Colours are `#rrggbb`; an empty field is ours."""

    logo: Asset | None = None
    brand: str = ""
    accent: str = ""
    font: str = ""
    font_files: tuple[Asset, ...] = ()
    css: Asset | None = None


class Report(Node):
    """`parts` are templates that replace the layout's. `provenance` is the detail of the appendix."""

    name: str
    title: str
    subtitle: str = ""
    template: str
    package: str = ""
    """The package of the template, with its version. Empty for benchbrief's own."""
    language: str = "en"
    words: dict[str, str | dict[str, str]] = Field(default_factory=dict)
    """The user's own catalogue of a language that is not shipped. English fills its gaps."""
    measures: dict[str, str] = Field(default_factory=dict)
    """The names of the measures of other packages' probes in the language where known, by keys of a catalogue."""
    author: str = ""
    paper: Literal["a4", "letter"] = "a4"
    provenance: Literal["full", "compact", "none"] = "full"
    theme: Theme = Theme()
    parts: tuple[Asset, ...] = ()
    legal: Prose | None = None
    elements: tuple[Element, ...]
    origin: Origin
