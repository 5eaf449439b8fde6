"""Mistakes in reports (E073x to E075x, W0703 to W0705), each with its stable code and all of its prose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from benchbrief.compiler.problems import CompileProblem, Misspelt, ticked
from benchbrief.dsl.diagnostics.diagnostic import Note, Severity
from benchbrief.dsl.source import Span

_LISTED = 4


@dataclass(frozen=True)
class DimensionsLeft(CompileProblem):
    """A table in the place of a single number. `keys` are sample keys for the dimensions left."""

    code = "E0730"
    says = "this is not one number: it still has {left}"
    hint = "reduce it, as in `max(... over {over})`, or take one with `[{index}]`"
    dims: tuple[str, ...]
    keys: tuple[str, ...]

    @property
    def left(self) -> str:
        return ticked(self.dims)

    @property
    def over(self) -> str:
        return ", ".join(self.dims)

    @property
    def index(self) -> str:
        return ", ".join(self.keys)


@dataclass(frozen=True)
class BadFormat(CompileProblem):
    code = "E0731"
    stands_alone = True
    hint = "{instead}"
    format: str
    why: str
    """Why it can't print a value; "" when it is no format at all."""
    instead: str

    @property
    def summary(self) -> str:
        return f"`{self.format}` can't print this: {self.why}" if self.why else f"`{self.format}` is not a format"


@dataclass(frozen=True)
class UnitBehind(CompileProblem):
    """A unit behind a hole that its number can't be converted to."""

    code = "E0747"
    stands_alone = True
    says = "`{text}` can't follow this number: {why}"
    hint = "{instead}"
    text: str
    why: str
    instead: str
    surely: bool = False
    """Whether it is wrong also behind a number that prints its own unit."""


@dataclass(frozen=True)
class NumberInTitle(CompileProblem):
    code = "E0732"
    stands_alone = True
    says = "a {what} can't hold a computed number"
    mark = "only names and labels"
    hint = "write it in a `text`; a {what} can hold names, such as `{{workload.label}}`"
    what: str


@dataclass(frozen=True)
class DimensionFree(CompileProblem):
    """A figure or table with more dimensions than it shows. `example` is a key of the first one.

    `panels`: small multiples could show it.
    """

    code = "E0733"
    says = "the {kind} does not show {left}, which this value has"
    kind: str
    dims: tuple[str, ...]
    example: str
    panels: bool = False

    @property
    def left(self) -> str:
        return ticked(self.dims)

    @property
    def help(self) -> str:
        first = self.dims[0]
        ways = [f"take one with `[{self.example}]`"]
        if self.kind == "figure":
            ways.insert(0, f"add `color {first}`" + (f" or `multiples = {first}`" if self.panels else ""))
        else:
            ways.append(f"reduce it with `max(... over {first})`")
        if first in ("workload", "hardware", "experiment"):
            ways.append(f"put the {self.kind} inside `each {first} {{ }}`")
        return f"{', '.join(ways[:-1])}{', or ' if self.panels else ' or ' if len(ways) > 1 else ''}{ways[-1]}"


@dataclass(frozen=True)
class AxisUnits(CompileProblem):
    code = "E0734"
    says = "one axis can't show {first_unit} and {unit}"
    mark = "in {unit}"
    hint = "put one of them on the other axis with `axis right`, or into another figure"
    unit: str
    first_unit: str
    first_span: Span

    @property
    def notes(self) -> tuple[Note, ...]:
        return (Note(f"the axis is in {self.first_unit} because of this", self.first_span),)


@dataclass(frozen=True)
class TwoAxes(CompileProblem):
    """Series of one figure along different dimensions, or a curve beside lines (`axis` is "" for a curve)."""

    code = "E0735"
    stands_alone = True
    hint = "{instead}"
    axis: str
    first_axis: str
    first_span: Span
    instead: str = "make two figures"

    @property
    def summary(self) -> str:
        if self.axis and self.first_axis:
            return f"one figure can't go along `{self.first_axis}` and `{self.axis}`"
        return "one figure can't show a curve and bars or lines"

    @property
    def notes(self) -> tuple[Note, ...]:
        return (Note(f"along `{self.first_axis}` here" if self.first_axis else "a curve here", self.first_span),)


@dataclass(frozen=True)
class NoAxis(CompileProblem):
    """A series without an axis, or a curve without two values. `values` is how many it has, `keyword` what its
    dimension follows, and `instead_of` what it follows here."""

    code = "E0736"
    stands_alone = True
    mark_word: str
    usage: str
    values: int | None = None
    keyword: str = ""
    instead_of: str = ""

    @property
    def summary(self) -> str:
        if self.values is None and self.instead_of:
            takes = f"takes its dimension after `{self.keyword}`" if self.keyword else "takes no dimension"
            return f"`{self.mark_word}` {takes}, not after `{self.instead_of}`"
        if self.values is None:
            return f"`{self.mark_word}` needs a dimension after `{self.keyword}`"
        return f"`{self.mark_word}` needs two values, and has {self.values if self.values != 1 else 'one'}"

    @property
    def help(self) -> str:
        beside = "; one value along a dimension is a line: `line = throughput by threads`" if self.values == 1 else ""
        return f"write {self.usage}{beside}"


@dataclass(frozen=True)
class UnknownOption(Misspelt):
    code = "E0737"
    stands_alone = True
    says = "unknown option `{word}`"
    otherwise = "options are {all_known}"


@dataclass(frozen=True)
class BadOption(CompileProblem):
    code = "E0738"
    stands_alone = True
    says = "`{option}` can't be {found}"
    option: str
    found: str
    usage: str
    meant: str | None = None

    @property
    def replacement(self) -> str | None:
        return self.meant

    @property
    def help(self) -> str:
        return f"did you mean `{self.meant}`?" if self.meant else f"write {self.usage}"


@dataclass(frozen=True)
class TableShape(CompileProblem):
    code = "E0739"
    stands_alone = True
    says = "this {kind} {why}"
    hint = "write {usage}"
    kind: str
    why: str
    usage: str


@dataclass(frozen=True)
class EmptyElement(CompileProblem):
    code = "E0740"
    stands_alone = True
    says = "this {kind} shows nothing"
    hint = "add {usage}"
    kind: str
    usage: str


@dataclass(frozen=True)
class NotFixedHere(CompileProblem):
    """`{workload.label}` where several workloads could be meant."""

    code = "E0741"
    says = "`{dim}` stands for many here, not for one"
    hint = "put this inside `each {dim} {{ }}`, or write the name of one"
    dim: str


@dataclass(frozen=True)
class UnknownField(Misspelt):
    code = "E0742"
    says = "{kind} has no `{word}`"
    otherwise = "it has {all_known}"


@dataclass(frozen=True)
class EachTwice(CompileProblem):
    code = "E0743"
    stands_alone = True
    says = "`each {dim}` inside `each {dim}`"
    hint = "remove one of them"
    dim: str


@dataclass(frozen=True)
class TwiceShown(CompileProblem):
    """Small multiples by a dimension that each panel shows. `shown_at` is its place."""

    code = "E0770"
    says = "the panels are by `{dim}`, and each panel shows `{dim}` too"
    hint = "use another dimension for the panels, or remove `{dim}` from the series"
    dim: str
    shown_at: Span

    @property
    def notes(self) -> tuple[Note, ...]:
        return (Note("shown here", self.shown_at),)


@dataclass(frozen=True)
class NotAMetric(Misspelt):
    """A formula of something that is not a metric."""

    code = "E0744"
    says = "`formula` needs a metric, and `{word}` is not one"
    otherwise = "metrics are {all_known}"
    when_none = "declare one: `metric gain = throughput[b] / throughput[a]`"


@dataclass(frozen=True)
class PlainFormula(CompileProblem):
    code = "E0745"
    says = "metric `{name}` has no arithmetic that a `formula` can show"
    hint = "show it in a table, or use a metric with arithmetic, such as `nodes[legacy] * multiplier`"
    name: str


@dataclass(frozen=True)
class TooManyElements(CompileProblem):
    code = "E0746"
    says = "this `each` brings the reports to {count:,} elements; the limit is {limit:,}"
    mark = "{product}"
    hint = "show fewer of them, or reduce over `{dim}` in one table or figure"
    dim: str
    count: int
    limit: int
    product: str


@dataclass(frozen=True)
class SinglePoint(CompileProblem):
    code = "W0703"
    severity: ClassVar[Severity] = "warning"
    says = "a line through a single point: `{dim}` is only {point}"
    hint = "measure more points, or show the number in a table or as `bars`"
    dim: str
    point: str


@dataclass(frozen=True)
class LeftOut(CompileProblem):
    """A part of an unrolled `each` without measurements. One message for a report names the `others` too."""

    code = "W0704"
    severity: ClassVar[Severity] = "warning"
    says = "this {kind} is left out for {dim} `{key}`, where `{base}` is not measured{more}"
    hint = "if you intend this, do nothing: `bench run` and `bench report` do not repeat this warning"
    kind: str
    dim: str
    key: str
    base: str
    others: tuple[tuple[str, str], ...] = ()

    @property
    def more(self) -> str:
        """`; so are 3 more parts of this report: figure for `read`, table for `c``."""
        if not self.others:
            return ""
        listed = [f"the {kind} for `{key}`" for kind, key in self.others[:_LISTED]]
        rest = f" and {len(self.others) - _LISTED} more" if len(self.others) > _LISTED else ""
        return f"; also left out: {', '.join(listed)}{rest}"

    @staticmethod
    def together(found: Sequence[LeftOut]) -> LeftOut:
        """Merge several into the first."""
        return replace(found[0], others=tuple((each.kind, each.key) for each in found[1:]))


@dataclass(frozen=True)
class NoName(CompileProblem):
    """An expression in a figure or table with too many parts for a name."""

    code = "W0714"
    severity: ClassVar[Severity] = "warning"
    says = "the brief shows this as code: `{expression}` has too many parts for a name"
    hint = 'add `, label "..."`, name a column with `column "..." =`, or make it a metric with a label'
    expression: str


@dataclass(frozen=True)
class BandOfSingleRuns(CompileProblem):
    code = "W0705"
    severity: ClassVar[Severity] = "warning"
    says = "there is no band around `{base}`: it is measured only once"
    hint = "write `repeats = 3` or more in the experiment, or remove `band`"
    base: str


@dataclass(frozen=True)
class NoContenders(CompileProblem):
    """A comparison of other things than hardware."""

    code = "E0790"
    stands_alone = True
    says = "this comparison {why}"
    hint = "write `columns = throughput[threads: 8] by hardware`; show values by other dimensions in a `table`"
    why: str


@dataclass(frozen=True)
class ComparedOnce(CompileProblem):
    code = "W0715"
    severity: ClassVar[Severity] = "warning"
    says = "`{expression}` is measured once, so the comparison can't tell a difference from noise"
    hint = "write `repeats = 3` or more in the experiment"
    expression: str


@dataclass(frozen=True)
class WideTable(CompileProblem):
    code = "W0708"
    severity: ClassVar[Severity] = "warning"
    says = "this {kind} has {columns} columns, and {most} fit across a page: it is set in parts below each other"
    hint = "fix a dimension, such as `[threads: 4]`, or swap `rows` and `columns`"
    kind: str
    columns: int
    most: int
