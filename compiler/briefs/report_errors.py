"""Mistakes in reports (E073x to E075x, W0703 to W0705), each with its stable code and all of its prose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from benchbrief.compiler.problems import CompileProblem, Misspelt, ticked
from benchbrief.dsl.diagnostics import Note, Severity
from benchbrief.dsl.source import Span

_LISTED = 4


@dataclass(frozen=True)
class DimensionsLeft(CompileProblem):
    """A number for a text or a cell that is still a table. `keys` are examples for the dimensions left."""

    code = "E0730"
    says = "this is not one number: it still has {left}"
    hint = "reduce it, as in `max(... over {over})`, or fix it with `[{index}]`"
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
    says = "`{format}` can't print this: {why}"
    hint = "{instead}"
    format: str
    why: str
    instead: str


@dataclass(frozen=True)
class UnitBehind(CompileProblem):
    """A unit behind a hole that its number is not in, and can't be converted to."""

    code = "E0747"
    stands_alone = True
    says = "`{text}` can't stand behind this number: {why}"
    hint = "{instead}"
    text: str
    why: str
    instead: str


@dataclass(frozen=True)
class NumberInTitle(CompileProblem):
    code = "E0732"
    stands_alone = True
    says = "a {what} can't hold a computed number"
    mark = "only names and labels"
    hint = "write it into a `text`; here stand names, such as `{{workload.label}}`"
    what: str


@dataclass(frozen=True)
class DimensionFree(CompileProblem):
    """A figure or a table that has more dimensions than it shows. `example` is a key of the first of them.

    `panels`: the figure has no small multiples yet.
    """

    code = "E0733"
    says = "{left} is left free: the {kind} does not say where it goes"
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
        ways = [f"fix it with `[{self.example}]`"]
        if self.kind == "figure":
            ways.insert(0, f"add `color {first}`" + (f" or `multiples = {first}`" if self.panels else ""))
        if first in ("workload", "hardware", "experiment"):
            ways.append(f"put the {self.kind} inside `each {first} {{ }}`")
        return f"{', '.join(ways[:-1])}{', or ' if self.panels else ' or ' if len(ways) > 1 else ''}{ways[-1]}"


@dataclass(frozen=True)
class AxisUnits(CompileProblem):
    code = "E0734"
    says = "one axis can't show {first_unit} and {unit}"
    mark = "in {unit}"
    hint = "put one of them on the other axis with `axis right`, or into a figure of its own"
    unit: str
    first_unit: str
    first_span: Span

    @property
    def notes(self) -> tuple[Note, ...]:
        return (Note(f"the axis is in {self.first_unit} since here", self.first_span),)


@dataclass(frozen=True)
class TwoAxes(CompileProblem):
    """Series of one figure along different dimensions, or a curve beside lines: `axis` is "" for a curve."""

    code = "E0735"
    stands_alone = True
    hint = "make two figures"
    axis: str
    first_axis: str
    first_span: Span

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
    code = "E0736"
    stands_alone = True
    says = "`{mark_word}` does not say along which dimension"
    hint = "write {usage}"
    mark_word: str
    usage: str


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
    """`{workload.label}` where no one workload is meant."""

    code = "E0741"
    says = "no single {dim} is meant here"
    hint = "put this inside `each {dim} {{ }}`, or name it"
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
    hint = "take one of them away"
    dim: str


@dataclass(frozen=True)
class TwiceShown(CompileProblem):
    """Small multiples by a dimension that each of the panels shows. `shown_at` is where."""

    code = "E0770"
    says = "each panel would be of one key of `{dim}`, and shows `{dim}` inside"
    hint = "take another dimension for the panels, or leave `{dim}` out of them"
    dim: str
    shown_at: Span

    @property
    def notes(self) -> tuple[Note, ...]:
        return (Note("shown here", self.shown_at),)


@dataclass(frozen=True)
class NotAMetric(Misspelt):
    """A formula of something that is not a metric."""

    code = "E0744"
    says = "a formula works through a metric, and `{word}` is none"
    otherwise = "metrics are {all_known}"
    when_none = "declare one: `metric gain = throughput[b] / throughput[a]`"


@dataclass(frozen=True)
class PlainFormula(CompileProblem):
    code = "E0745"
    says = "metric `{name}` has no arithmetic to work through"
    hint = "a formula is for a metric such as `nodes[legacy] * multiplier`"
    name: str


@dataclass(frozen=True)
class TooManyElements(CompileProblem):
    code = "E0746"
    says = "this `each` brings the reports to {count:,} elements, and {limit:,} are the most"
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
    """A part of an unrolled `each` for which nothing is measured, told once for a report; `others` are further ones."""

    code = "W0704"
    severity: ClassVar[Severity] = "warning"
    says = "this {kind} is left out for {dim} `{key}`, where `{base}` is not measured{more}"
    hint = "nothing is to be done where that is meant; `bench run` and `bench report` do not tell it again"
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
        return f"; nor is what these need: {', '.join(listed)}{rest}"

    @staticmethod
    def together(found: Sequence[LeftOut]) -> LeftOut:
        """The first, with all the others."""
        return replace(found[0], others=tuple((each.kind, each.key) for each in found[1:]))


@dataclass(frozen=True)
class BandOfSingleRuns(CompileProblem):
    code = "W0705"
    severity: ClassVar[Severity] = "warning"
    says = "there is no band around `{base}`: it is measured only once"
    hint = "say `repeats = 3` or more in the experiment, or leave `band` out"
    base: str
