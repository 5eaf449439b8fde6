"""Mistakes in reports (E073x to E075x, W0703 to W0705), each with a stable code and the full text of its message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchbrief.compiler.problems import Again, CompileProblem, Misspelt
from benchbrief.dsl.diagnostics.plain_amounts import ticked
from benchbrief.dsl.diagnostics.suggest import did_you_mean
from benchbrief.model.plan import DIMENSIONS


class NoSuchFile(Misspelt):
    """A file that does not exist. `known` are the files in its folder."""

    code = "E0760"
    stands_alone = True
    says = "there is no {kind} `{word}` in the folder of the spec"
    otherwise = "the path is relative to the folder of the spec, which has {all_known}"
    when_none = "the path is relative to the folder of the spec"


class NoColour(CompileProblem):
    code = "E0761"
    stands_alone = True
    says = "`{found}` is not a colour"
    hint = (
        'write red, green and blue in hexadecimal, `"#0b3a5b"`, or one of {known}',
        'write red, green and blue in hexadecimal: `{key} = "#0b3a5b"`',
    )
    key: str
    found: str
    words: tuple[str, ...] = ()
    """Words that are allowed in place of a colour."""

    @property
    def known(self) -> str:
        return ticked(self.words)


class UnknownInPalette(Misspelt):
    """A name in a palette that does not belong to anything with a colour."""

    code = "E0774"
    says = "nothing that could have a colour is called `{word}`"
    otherwise = "hardware, workloads, experiments and levels have colours: {all_known}"
    taken: tuple[str, ...] = ()
    """Names that already have a colour, and so are not worth suggesting."""

    @property
    def replacement(self) -> str | None:
        return did_you_mean(self.word, [each for each in self.known if each not in self.taken])


class InvisibleColour(CompileProblem):
    code = "E0775"
    stands_alone = True
    says = "`{key}` can't be seen on white: the contrast is {ratio:.1f} to 1, and a figure needs {least:.0f} to 1"
    hint = "use a darker colour of the same hue: `{enough}`"
    key: str
    ratio: float
    least: float
    enough: str


class NearColours(Again):
    """Two colours of a palette that a reader, perhaps one without red or green cones, can hardly tell apart."""

    code = "W0731"
    remark = "of `{other}`"
    hint = "choose colours that differ in lightness, too: all readers tell those apart"
    key: str
    other: str
    same: bool

    @property
    def summary(self) -> str:
        if self.same:
            return f"`{self.key}` has the colour of `{self.other}`"
        return f"the colours of `{self.key}` and `{self.other}` are hardly told apart"


class WrongFile(CompileProblem):
    code = "E0762"
    stands_alone = True
    says = "`{file}` can't be {key}: {why}"
    hint = "use {wanted}"
    file: str
    key: str
    why: str
    wanted: str


class UnknownPart(Misspelt):
    """A file in the folder of parts that does not replace any part of the layout."""

    code = "E0763"
    stands_alone = True
    says = "`{word}` is not a part of the layout"
    otherwise = "parts are {all_known}"


class LoadingStyle(CompileProblem):
    code = "E0764"
    stands_alone = True
    says = "line {line} of `{file}` loads `{what}`: a brief can't load anything"
    hint = "name the logo and the font files in `theme`; pictures may stand in the style sheet as `url(data:...)`"
    file: str
    line: int
    what: str


class ReachingStyle(CompileProblem):
    """A style that could hide or cover a notice."""

    code = "E0767"
    stands_alone = True
    says = "line {line} of `{file}`: a house style can't use `{what}`: {why}"
    hint = "remove it; a style sheet may change colours, typefaces, sizes, spacing, borders and columns"
    file: str
    line: int
    what: str
    why: str


class BrokenPart(CompileProblem):
    code = "E0765"
    stands_alone = True
    says = "line {line} of `{file}` can't be read as a template: {why}"
    hint = "correct it, or remove the file from the folder to use the layout's own part"
    file: str
    line: int
    why: str


class UnknownInPart(Misspelt):
    code = "E0766"
    stands_alone = True
    says = "line {line} of `{file}`: there is no {kind} `{word}`"
    file: str
    line: int


class LowContrast(CompileProblem):
    """A colour with too little contrast. `enough` is the nearest darker colour with sufficient contrast."""

    code = "W0730"
    says = "`{key}` on white has a contrast of {ratio:.1f} to 1, and text needs 4.5 to 1 (WCAG 2, level AA)"
    hint = "use a darker colour of the same hue: `{enough}`"
    key: str
    ratio: float
    enough: str


_LISTED = 4


class DimensionsLeft(CompileProblem):
    """An expression with several values in the place of a single number. `keys` are sample keys of its remaining
    dimensions."""

    code = "E0730"
    says = "this is not one number: it still has {dims:ticked}"
    hint = "reduce it, as in `max(... over {dims:joined})`, or take one with `[{keys:joined}]`"
    dims: tuple[str, ...]
    keys: tuple[str, ...]


class BadFormat(CompileProblem):
    code = "E0731"
    stands_alone = True
    says = ("`{format}` can't print this: {why}", "`{format}` is not a format")
    hint = "{instead}"
    format: str
    why: str
    """Why the format can't print a value, or "" if it is not a format at all."""
    instead: str


class UnitBehind(CompileProblem):
    """A unit behind a hole that does not fit the hole's number."""

    code = "E0747"
    stands_alone = True
    says = "`{text}` can't follow this number: {why}"
    hint = "{instead}"
    text: str
    why: str
    instead: str
    surely: bool = False
    """Whether the unit is wrong even behind a number that prints its own unit."""


class NumberInTitle(CompileProblem):
    code = "E0732"
    stands_alone = True
    says = "a {what} can't hold a computed number"
    mark = "only names and labels"
    hint = "write it in a `text`; a {what} can hold names, such as `{{workload.label}}`{or_claims}"
    what: str

    @property
    def or_claims(self) -> str:
        return ", and claims by their names" if self.what == "title" else ""


class HeadlineWithoutNumber(CompileProblem):
    code = "E0771"
    stands_alone = True
    says = "this headline has no computed number"
    hint = (
        "write the number in front, and what it says behind `=`: "
        '`headline "{{max(throughput over threads, workload):,.0fu}}" = "at the most"`'
    )


class TooManyHeadlines(Again):
    code = "E0772"
    stands_alone = True
    says = "a report has at most {most} headlines"
    remark = "the first one"
    hint = "keep those that a reader should remember, and show the others in a `callout` or a `table`"
    most: int


class UnknownFootnote(Misspelt):
    code = "E0776"
    stands_alone = True
    says = "there is no footnote `{word}`"
    otherwise = 'write its text in the report, `footnote "{word}" = "..."`; it has {all_known}'
    when_none = 'write its text in the report: `footnote "{word}" = "..."`'


class FootnoteInText(CompileProblem):
    """The text of a footnote within the running text, in Markdown's notation."""

    code = "E0777"
    stands_alone = True
    says = "the text of a footnote can't stand in a text"
    hint = 'write it in the report: `footnote "{name}" = "..."`'
    name: str


class FootnoteWithoutName(CompileProblem):
    code = "E0778"
    stands_alone = True
    says = "this footnote needs a name of letters, digits, `-` and `_`"
    hint = 'write `footnote "src" = "..."`; the mark in the text is `[^src]`'


class UnusedFootnote(CompileProblem):
    code = "W0732"
    says = "nothing has the mark of the footnote `{name}`, so the brief does not show it"
    hint = "write `[^{name}]` in a text, or remove the footnote"
    name: str


class LongTitle(CompileProblem):
    code = "W0733"
    says = "this title has {length} characters, about {lines} lines; a title has room for three"
    hint = "say the result in fewer words: the rest may stand in the `subtitle` or a `headline`"
    length: int
    lines: int


class NoAddress(CompileProblem):
    code = "E0773"
    stands_alone = True
    says = "`{found}` is not an address on the web"
    hint = 'write it in full, without a login: `address = "https://example.com/briefs/power"`'
    found: str


class DimensionFree(CompileProblem):
    """A value with more dimensions than its figure or table shows. `examples` has a key of each missing dimension.

    `panels` means that small multiples could show the dimension. `of` is the value's text, if an index needs brackets
    around it.
    """

    code = "E0733"
    says = "the {kind} does not show {dims:ticked}, which this value has"
    kind: str
    dims: tuple[str, ...]
    examples: tuple[str, ...]
    panels: bool = False
    of: str = ""

    @property
    def help(self) -> str:
        first, index = self.dims[0], f"[{', '.join(self.examples)}]"
        ways = [f"take one{' of each' if self.dims[1:] else ''} with `{f'({self.of})' if self.of else ''}{index}`"]
        if self.kind == "figure":
            ways.insert(0, f"add `color {first}`" + (f" or `multiples = {first}`" if self.panels else ""))
        else:
            ways.append(f"reduce {'them' if self.dims[1:] else 'it'} with `max(... over {', '.join(self.dims)})`")
        if first in ("workload", "hardware", "experiment") or first not in DIMENSIONS:
            ways.append(f"put the {self.kind} inside `each {first} {{ }}`")
        return f"{', '.join(ways[:-1])}{', or ' if self.panels else ' or ' if len(ways) > 1 else ''}{ways[-1]}"


class AxisUnits(Again):
    code = "E0734"
    says = "one axis can't show {first_unit} and {unit}"
    mark = "in {unit}"
    remark = "the axis is in {first_unit} because of this"
    hint = "put one of them on the other axis with `axis right`, or into another figure"
    unit: str
    first_unit: str


class TwoAxes(Again):
    """Series of one figure along different dimensions, or a curve together with lines (`axis` is "" for a curve)."""

    code = "E0735"
    stands_alone = True
    says = ("one figure can't go along `{first_axis}` and `{axis}`", "one figure can't show a curve and bars or lines")
    remark = ("along `{first_axis}` here", "a curve here")
    hint = "{instead}"
    axis: str
    first_axis: str
    instead: str = "make two figures"


class NoAxis(CompileProblem):
    """A series without an axis, or a curve without two values.

    `values` is the number of its values. The dimension belongs behind the word `keyword`, but is written behind
    `instead_of` here.
    """

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


class UnknownOption(Misspelt):
    code = "E0737"
    stands_alone = True
    says = "unknown option `{word}`"
    otherwise = "options are {all_known}"


class BadOption(CompileProblem):
    code = "E0738"
    stands_alone = True
    says = "`{option}` can't be {found}"
    hint = ("did you mean `{meant}`?", "write {usage}")
    mend = "{meant}"
    option: str
    found: str
    usage: str
    meant: str | None = None


class TableShape(CompileProblem):
    code = "E0739"
    stands_alone = True
    says = "this {kind} {why}"
    hint = "write {usage}"
    kind: str
    why: str
    usage: str


class EmptyElement(CompileProblem):
    code = "E0740"
    stands_alone = True
    says = "this {kind} shows nothing"
    hint = "add {usage}"
    kind: str
    usage: str


class NotFixedHere(CompileProblem):
    """A name such as `{workload.label}` in a place where it could mean several workloads."""

    code = "E0741"
    says = "`{dim}` stands for many here, not for one"
    hint = "put this inside `each {dim} {{ }}`, or write the name of one"
    dim: str


class UnknownReportField(Misspelt):
    code = "E0742"
    says = "{kind} has no `{word}`"
    otherwise = "it has {all_known}"


class EachTwice(CompileProblem):
    code = "E0743"
    stands_alone = True
    says = "`each {dim}` inside `each {dim}`"
    hint = "remove one of them"
    dim: str


class TwiceShown(Again):
    """Panels or colours by a dimension that the figure already shows at `earlier`."""

    code = "E0770"
    says = "the {what} are by `{dim}`, and {shown} shows `{dim}` too"
    remark = "shown here"
    hint = "use another dimension for the {what}, or remove `{dim}` from the series"
    dim: str
    what: str = "panels"
    shown: str = "each panel"


class NoBars(CompileProblem):
    """A bracket in a figure without bars."""

    code = "E0791"
    stands_alone = True
    says = "a bracket stands over bars, and this figure has none"
    hint = "add `bars = throughput by workload, color hardware`, or write the number in a `text` or a `claim`"


class NoPointsForNote(CompileProblem):
    """A note with an arrow in a figure that has only marks."""

    code = "E0792"
    stands_alone = True
    says = "a note points at what is measured, and this figure shows nothing of that"
    hint = "add a `line`, `bars` or a `curve`"


class NoteWithoutPlace(CompileProblem):
    code = "E0793"
    stands_alone = True
    says = "the note has no place along `{dim}`, by which the figure is drawn"
    hint = "write it behind `at`, as in `at {example}`"
    dim: str
    example: str


class NotAMetric(Misspelt):
    """A `formula` for something that is not a metric."""

    code = "E0744"
    says = "`formula` needs a metric, and `{word}` is not one"
    otherwise = "metrics are {all_known}"
    when_none = "declare one: `metric gain = throughput[b] / throughput[a]`"


class PlainFormula(CompileProblem):
    code = "E0745"
    says = "metric `{name}` has no arithmetic that a `formula` can show"
    hint = "show it in a table, or use a metric with arithmetic, such as `nodes[legacy] * multiplier`"
    name: str


class TooManyElements(CompileProblem):
    code = "E0746"
    says = "this `each` brings the reports to {count:,} elements; the limit is {limit:,}"
    mark = "{product}"
    hint = "show fewer of them, or reduce over `{dim}` in one table or figure"
    dim: str
    count: int
    limit: int
    product: str


class SinglePoint(CompileProblem):
    code = "W0703"
    says = "a line through a single point: `{dim}` is only {point}"
    hint = "measure more points, or show the number in a table or as `bars`"
    dim: str
    point: str


class LeftOut(CompileProblem):
    """A part of an unrolled `each` that has no measurements. One message covers a whole report. `others` has the
    further parts."""

    code = "W0704"
    says = "this {kind} is left out for {dim} `{key}`, where `{base}` is not measured{more}"
    hint = "if you intend this, do nothing: `bench run` and `bench report` do not repeat this warning"
    kind: str
    dim: str
    key: str
    base: str
    others: tuple[tuple[str, str], ...] = ()

    @property
    def more(self) -> str:
        """The words that end the message, such as `; so are 3 more parts of this report: figure for `read`, table for
        `c``."""
        if not self.others:
            return ""
        listed = [f"the {kind} for `{key}`" for kind, key in self.others[:_LISTED]]
        rest = f" and {len(self.others) - _LISTED} more" if len(self.others) > _LISTED else ""
        return f"; also left out: {', '.join(listed)}{rest}"

    @staticmethod
    def together(found: Sequence[LeftOut]) -> LeftOut:
        """Merge all warnings about parts that are left out into the first one."""
        return replace(found[0], others=tuple((each.kind, each.key) for each in found[1:]))


class NoName(CompileProblem):
    """An expression in a figure or table with too many parts for a name."""

    code = "W0714"
    says = "the brief shows this as code: `{expression}` has too many parts for a name"
    hint = 'add `, label "..."`, name a column with `column "..." =`, or make it a metric with a label'
    expression: str


class BandOfSingleRuns(CompileProblem):
    code = "W0705"
    says = "there is no band around `{base}`: it is measured only once"
    hint = "write `repeats = 3` or more in the experiment, or remove `band`"
    base: str


class NoContenders(CompileProblem):
    """A comparison of things other than hardware or settings. `dim` is the dimension that could be compared."""

    code = "E0790"
    stands_alone = True
    says = "this comparison {why}"
    hint = "write `columns = throughput[threads: 8] by {dim}`; show values by other dimensions in a `table`"
    why: str
    dim: str = "hardware"


class ComparedOnce(CompileProblem):
    code = "W0715"
    says = "`{expression}` is measured once, so the comparison can't tell a difference from noise"
    hint = "write `repeats = 3` or more in the experiment"
    expression: str


class NoBest(CompileProblem):
    """A value in a table that marks the best, although neither higher nor lower is better for this value."""

    code = "E0796"
    stands_alone = True
    says = "`{expression}` does not say whether higher or lower is better, so none of its values is the best"
    hint = "end the declaration of a metric for it with `, higher is better` or `, lower is better`"
    expression: str


class WideTable(CompileProblem):
    code = "W0708"
    says = "this {kind} has {columns} columns, and {most} fit across a page: it is set in parts below each other"
    hint = "fix a dimension, such as `[threads: 4]`, or swap `rows` and `columns`"
    kind: str
    columns: int
    most: int


class UnknownLanguage(Misspelt):
    code = "E0780"
    stands_alone = True
    says = "there are no words for a brief in `{word}`"
    otherwise = "there are {all_known}; for another, put a catalogue of its words beside the spec, as `{word}.toml`"


class UnreadableCatalogue(CompileProblem):
    code = "E0781"
    stands_alone = True
    says = "the words in {file} can't be read: {why}"
    hint = 'it is a TOML file with a line `key = "text"` for each word'
    file: str
    why: str


class WrongWord(CompileProblem):
    """A wrong entry of a catalogue, with advice on how to correct it."""

    code = "E0782"
    stands_alone = True
    says = "`{key}` in {file} {why}"
    hint = "{remedy}"
    file: str
    key: str
    why: str
    remedy: str


class MissingWords(CompileProblem):
    code = "W0750"
    says = "{file} lacks words of a brief, such as {some}: they will be in English"
    hint = "add them; `bench words` prints the English ones"
    file: str
    missing: tuple[str, ...]

    @property
    def some(self) -> str:
        return ", ".join(f"`{key}`" for key in self.missing[:3])


class NotOverridden(Misspelt):
    """A block of an override that has no counterpart in the report. `within` is the kind of the block around it, and
    `heads` are the blocks that the report has there."""

    code = "E0213"
    stands_alone = True
    says = "the {within} has no {kind} {titled} that could be changed"
    mark = "not in the {within}"
    otherwise = "it has {all_known}; an override changes what the {within} has, and adds attributes alone"
    when_none = "{instead}; an override changes what the {within} has"
    within: str
    heads: tuple[str, ...]

    @property
    def titled(self) -> str:
        return f"`{self.word}`" if self.word else "without a title"

    @property
    def instead(self) -> str:
        return f"it has {ticked(self.heads, limit=10)}" if self.heads else 'write attributes, such as `text = "..."`'
