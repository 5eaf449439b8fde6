"""The single canonical layout of a spec, which `bench fmt` writes.

Only white space and commas without a meaning are changed. Every token and every comment is kept, in the same order. The
formatter lays out the list of tokens, guided by the syntax tree. It then reads the result again, and requires that the
meaning is the same.

docs/layout.md describes the style. In short: each attribute has its own line, and each level is indented by two blanks.
A block stays on one line if it was written on one line and fits. Neighbours of the same kind are aligned in columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from enum import Enum, auto
from functools import partial
from itertools import zip_longest
from typing import Any, TypeAlias, TypeVar

from benchbrief.dsl.late_pattern import compile_late
from benchbrief.dsl.lazy_dataclass import cached_property, dataclass
from benchbrief.dsl.source import Source, display_width
from benchbrief.dsl.syntax import ast
from benchbrief.dsl.syntax.parse import parse
from benchbrief.dsl.syntax.strings import text_lines

_GAP = compile_late(r"\s*")
_PIECE = compile_late(r"(?P<comment>\#[^\r\n]*)|(?P<word>[A-Za-z_][A-Za-z0-9_]*)|(?P<sign>\.\.|[<>=!]=|[\s\S])")
_LINE_END = compile_late(r"\r\n|\r|\n")
_OPENERS = {"(", "[", "{"}
_CLOSERS = {")", "]", "}"}


class Kind(Enum):
    COMMENT = auto()
    NUMBER = auto()
    STRING = auto()
    WORD = auto()
    SIGN = auto()


@dataclass(frozen=True, slots=True)
class LaidToken:
    """A token. `fresh` means that it begins a line, or something that the grammar treats as a line. `blank` means that
    it follows a blank line."""

    kind: Kind
    text: str
    start: int
    fresh: bool
    blank: bool

    @property
    def is_comment(self) -> bool:
        return self.kind is Kind.COMMENT


@dataclass
class Roles:
    """The syntax tree's information about tokens, by their offsets in the text."""

    ends: dict[int, tuple[Kind, int]] = field(default_factory=dict)  # of numbers, strings and units
    units: dict[int, str] = field(default_factory=dict)  # of the number at this place, "" for none
    operators: set[int] = field(default_factory=set)  # with an operand on each side
    lists: set[int] = field(default_factory=set)  # the `[` of a list
    calls: set[int] = field(default_factory=set)  # the name of the function
    reductions: set[int] = field(default_factory=set)  # the name of a function whose arguments have `over` or `when`
    conditions: set[int] = field(default_factory=set)  # the condition after `when`
    rigid: set[int] = field(default_factory=set)  # a text with a line end that no margin can be taken from


def roles(file: ast.File) -> Roles:
    found = Roles()
    left: list[Any] = [file]
    while left:
        node = left.pop()
        match node:
            case ast.String():
                found.ends[node.span.start] = Kind.STRING, node.span.end
                if any(isinstance(part, ast.Hole) and "\n" in part.format for part in node.parts):
                    found.rigid.add(node.span.start)
                continue  # holes are part of the string
            case ast.Quantity():
                found.ends[node.span.start] = Kind.NUMBER, node.span.end
                found.units[node.span.start] = node.unit
            case ast.Metric(unit=ast.Name() as unit):
                found.ends[unit.span.start] = Kind.WORD, unit.span.end
            case ast.Binary():
                found.operators.add(node.operator_span.start)
            case ast.List():
                found.lists.add(node.span.start)
            case ast.Call():
                found.calls.add(node.function.span.start)
                if node.over or node.when:
                    found.reductions.add(node.function.span.start)
                if node.when:
                    found.conditions.add(node.when.span.start)
        left.extend(ast.children(node))
    return found


def tokens(source: Source, found: Roles) -> list[LaidToken]:
    text = source.text
    listed: list[LaidToken] = []
    at = 0
    while True:
        gap = _GAP.match(text, at)
        start = gap.end() if gap else at
        if start == len(text):
            return listed
        between = text[at:start]
        kind, end = found.ends.get(start, (None, 0))
        if kind is None:
            piece = _PIECE.match(text, start)
            assert piece is not None  # noqa: S101  # the last alternative takes any character
            kind, end = Kind[(piece.lastgroup or "").upper()], piece.end()
        fresh = not listed or bool(between.strip(" \t"))
        blank = bool(listed) and len(_LINE_END.findall(between)) > 1
        listed.append(LaidToken(kind, text[start:end], start, fresh, blank))
        at = end


def partners(listed: list[LaidToken]) -> dict[int, int]:
    """Map the index of each opening bracket to the index of its closing bracket."""
    found: dict[int, int] = {}
    stack: list[int] = []
    for index, token in enumerate(listed):
        if token.kind is not Kind.SIGN:
            continue
        if token.text in _OPENERS:
            stack.append(index)
        elif token.text in _CLOSERS:
            found[stack.pop()] = index
    return found


WIDTH = 120  # columns of a line
INDENT = 2  # columns of a level


@dataclass(frozen=True)
class LineEnd:
    """A place where a line may end. `flat` is the text for a line that continues, or None if the line always ends."""

    flat: str | None


@dataclass(frozen=True)
class IfBroken:
    """Text that appears only if its group is broken over several lines, such as a last comma."""

    text: str


@dataclass(frozen=True)
class Nest:
    """A part whose lines are indented one level further."""

    inner: Doc


@dataclass(frozen=True)
class LaidGroup:
    """A part that is laid out on one line if it fits, and otherwise with a line end at every possible place."""

    inner: Doc

    @cached_property
    def flat(self) -> str | None:
        return flat(self.inner)


Doc: TypeAlias = str | LineEnd | IfBroken | Nest | LaidGroup | tuple["Doc", ...]

HARD = LineEnd(None)
SPACE = LineEnd(" ")
SOFT = LineEnd("")


def flat(doc: Doc) -> str | None:
    """Return the document on one line, or None if it must be broken."""
    match doc:
        case str():
            return doc if "\n" not in doc else None
        case LineEnd():
            return doc.flat
        case IfBroken():
            return ""
        case Nest():
            return flat(doc.inner)
        case LaidGroup():
            return doc.flat
    texts = []
    for part in doc:
        text = flat(part)
        if text is None:
            return None
        texts.append(text)
    return "".join(texts)


def render(doc: Doc, indent: int) -> str:
    """Lay out a document. Its first line begins at column `indent`; the blanks before that line are not written."""
    out: list[str] = []
    column = indent
    pending = 0  # blanks before the next text
    stack: list[tuple[int, Doc]] = [(indent, doc)]
    while stack:
        level, part = stack.pop()
        match part:
            case LaidGroup() if part.flat is None or column + display_width(part.flat) + _behind(stack) > WIDTH:
                stack.append((level, part.inner))
            case str() | IfBroken() | LaidGroup():
                text = part if isinstance(part, str) else part.text if isinstance(part, IfBroken) else part.flat
                if text:
                    out.append(" " * pending + text)
                    pending = 0
                    column = display_width(text[text.rfind("\n") + 1 :]) + (0 if "\n" in text else column)
            case LineEnd():
                out.append("\n")
                column = pending = level
            case Nest():
                stack.append((level + INDENT, part.inner))
            case _:
                stack.extend((level, each) for each in reversed(part))
    return "".join(out)


def _behind(stack: Sequence[tuple[int, Doc]]) -> int:
    """Return how many columns the text after a group takes, up to the next place where the line may end."""
    columns = 0
    left = [part for _, part in stack[-8:]]  # closing brackets and a comma: never many
    while left:
        match left.pop():
            case str() as text:
                columns += display_width(text)
            case IfBroken(text):
                columns += display_width(text)
            case LineEnd():
                break
            case Nest(inner) | LaidGroup(inner):
                left.append(inner)
            case parts:
                left.extend(reversed(parts))
    return columns


ATTRIBUTE = "="
_R = TypeVar("_R", "LaidRow", "_Text")


@dataclass(frozen=True)
class LaidRow:
    """An item of a file or a block, or a comment on a line of its own, whose `kind` is "".

    `cells` are the item's parts if it fits on one line, with "" for a missing part. `broken` gives the item's text over
    several lines, with its first part padded to a number of columns. `beside` is the comment after the item. `blank`
    says whether a blank line comes before it.
    """

    kind: str
    cells: tuple[str, ...] | None
    broken: Callable[[int], str]
    blank: bool
    beside: str = ""

    @property
    def line(self) -> str | None:
        return " ".join(filter(None, self.cells)) if self.cells is not None else None


@dataclass(frozen=True)
class _Text:
    """The text of a laid-out row, and the comment beside that text."""

    text: str
    blank: bool
    beside: str


def lay_out(rows: Sequence[LaidRow], indent: int) -> list[str]:
    """Return the lines of the rows. Each row begins at column `indent`."""
    lines: list[str] = []
    for row in _beside(_aligned(rows, indent), indent):
        if row.blank and lines:
            lines.append("")
        first, *rest = row.text.split("\n")
        lines += [" " * indent + first, *rest]
    return lines


def _aligned(rows: Sequence[LaidRow], indent: int) -> Iterator[_Text]:
    """Yield the rows as text. Neighbours of the same kind are aligned if they still fit on a line."""

    def kind(row: LaidRow) -> str:
        """Return the kind of rows that a row is aligned with, or "" if it is not aligned. Only the keys of attributes
        are aligned, even if the attributes are too long for a line."""
        if row.line is None or (row.kind != ATTRIBUTE and indent + display_width(row.line) > WIDTH):
            return ""
        return row.kind

    for run in _runs(rows, kind):
        columns = [
            max(map(display_width, column)) for column in zip_longest(*(row.cells or () for row in run), fillvalue="")
        ]
        lines = [_padded(row.cells or (), columns) for row in run]
        fitting = [indent + display_width(line) <= WIDTH for line in lines]
        for row, line, fits in zip(run, lines, fitting, strict=True):
            if not kind(row) or (row.kind == ATTRIBUTE and not fits):
                text = row.broken(columns[0] if columns else 0)
            elif row.kind == ATTRIBUTE or all(fitting):
                text = line
            else:
                text = row.line or ""
            yield _Text(text, row.blank, row.beside)


def _padded(cells: Sequence[str], columns: Sequence[int]) -> str:
    padded = (cell + " " * (wide - display_width(cell)) for cell, wide in zip(cells, columns, strict=False) if wide)
    return " ".join(padded).rstrip(" ")


def _beside(rows: Iterator[_Text], indent: int) -> Iterator[_Text]:
    """Yield the rows with their comments. Comments of neighbouring lines are aligned in a column if they fit."""
    for run in _runs(list(rows), lambda row: "#" if row.beside and "\n" not in row.text else ""):
        columns = max(display_width(row.text) for row in run)
        together = all(indent + columns + 2 + display_width(row.beside) <= WIDTH for row in run)
        for row in run:
            blanks = 2 + (columns - display_width(row.text) if together and len(run) > 1 else 0)
            yield replace(row, text=f"{row.text}{' ' * blanks}{row.beside}" if row.beside else row.text)


def _runs(rows: Sequence[_R], kind: Callable[[_R], str]) -> Iterator[list[_R]]:
    """Yield groups of neighbouring rows that have the same kind and no blank line between them. A row whose kind is ""
    is a group by itself."""
    run: list[_R] = []
    for row in rows:
        if run and (row.blank or not kind(row) or kind(row) != kind(run[-1])):
            yield run
            run = []
        run.append(row)
    if run:
        yield run


_LEVELS = {"or": 1, "and": 2, "..": 4, "+": 5, "-": 5, "*": 6, "/": 6}  # operators that a line is broken before
_COMPARISON = 3
_TIGHT_BEFORE = {".", ",", ":"}
_LINKS = {"x", "by", "over", "when", "along", "on", "every", "for", "from", "in", "to", "and", "or", "not", "is"}

Item = ast.Declaration | ast.Item


def format_source(source: Source) -> str:
    """Return the text in its canonical layout. Raises SpecError if the text can't be read."""
    tree = parse(source)
    text = _Formatter(source, tree).text()
    if text != source.text and not ast.same(tree, parse(Source(source.name, text))):
        raise AssertionError("the formatter would change what the text says")
    return text


def edited(source: Source, edits: Iterable[tuple[int, int, str]]) -> str:
    """Return the text after edits, each of which replaces the characters [start, end). The result is laid out if the
    text was laid out before. Raises SpecError if the text can't be read."""
    after = source.text
    for start, end, replacement in sorted(edits, reverse=True):
        after = after[:start] + replacement + after[end:]
    return format_source(Source(source.name, after)) if format_source(source) == source.text else after


def is_done(item: Item) -> bool:
    """Return whether this is the action of an event. An action is only a call, without `=`."""
    return isinstance(item, ast.Attribute) and item.values[0].span.start == item.key.span.start


def is_point_note(item: Item) -> bool:
    """Return whether this is a note at points of a figure, which is an attribute with `at` instead of `=`."""
    value = item.values[0] if isinstance(item, ast.Attribute) and item.key.text == "note" else None
    return (
        isinstance(value, ast.Call)
        and value.function.text == "at"
        and value.span.source.text[value.function.span.end] != "("
    )


class _Formatter:
    """The tokens of a file, and methods that lay out a range [i, j) of them."""

    def __init__(self, source: Source, tree: ast.File) -> None:
        self.source = source
        self.tree = tree
        self.roles = roles(tree)
        self.tokens = tokens(source, self.roles)
        self.at = {token.start: index for index, token in enumerate(self.tokens)}
        self.partner = partners(self.tokens)
        self.opener = {closer: opener for opener, closer in self.partner.items()}
        self.whens = set(self.bare_whens())

    def text(self) -> str:
        lines = self.body(self.tree.declarations, 0, len(self.tokens), 0)
        return "".join(f"{line}\n" for line in lines)

    # Items, one below the other.

    def body(self, items: Sequence[Item], i: int, j: int, indent: int) -> list[str]:
        """Return the lines of the items in [i, j), and of the comments between the items."""
        return lay_out(list(self.rows(items, i, j, indent)), indent)

    def rows(self, items: Sequence[Item], i: int, j: int, indent: int) -> Iterator[LaidRow]:
        first = self.first(items[0]) if items else j
        yield from self.comments(range(i, first))
        for item, start, end, comma, behind in self.ranges(items, j):
            beside = behind and not self.tokens[behind[0]].fresh
            yield self.row(item, start, end, comma, indent, self.word(behind[0]) if beside else "")
            yield from self.comments(behind[1:] if beside else behind)

    def ranges(self, items: Sequence[Item], j: int) -> Iterator[tuple[Item, int, int, str, list[int]]]:
        """Yield each item with the range of its tokens, the comma that it needs, and the comments after it.

        A comma between attributes means nothing, except after a word that would otherwise claim the following text.
        """
        starts = [self.first(item) for item in items]
        for item, start, until in zip(items, starts, [*starts[1:], j], strict=False):
            end = until
            while self.tokens[end - 1].is_comment or self.tokens[end - 1].text == ",":
                end -= 1
            comma = any(token.text == "," for token in self.tokens[end:until]) and self.is_link(end - 1)
            comments = [index for index in range(end, until) if self.tokens[index].is_comment]
            yield item, start, end, "," if comma else "", comments

    def is_link(self, k: int) -> bool:
        """Return whether a value, or its unit, would be read as a connective if a word came after it."""
        token = self.tokens[k]
        return self.roles.units.get(token.start, token.text) in _LINKS

    def first(self, item: Item) -> int:
        return self.at[item.span.start]

    def comments(self, indexes: Iterable[int]) -> Iterator[LaidRow]:
        for index in indexes:
            yield LaidRow("", None, partial(self._comment, index), self.tokens[index].blank)

    def _comment(self, index: int, _columns: int) -> str:
        return self.word(index)

    def row(self, item: Item, i: int, j: int, comma: str, indent: int, beside: str) -> LaidRow:
        attribute = isinstance(item, ast.Attribute) and not is_done(item) and not is_point_note(item)
        kind = ATTRIBUTE if attribute else self.tokens[i].text

        def broken(columns: int) -> str:
            if self.has_body(item, j):
                return self.block(item, i, j, indent)
            return render((self.item(item, i, j, columns), comma), indent)

        return LaidRow(kind, self.cells(item, i, j, comma), broken, self.tokens[i].blank, beside)

    def has_body(self, item: Item, j: int) -> bool:
        return isinstance(item, ast.Block) and self.tokens[j - 1].text == "}"

    # One item.

    def block(self, item: Item, i: int, j: int, indent: int) -> str:
        """Lay out a block over several lines."""
        opener = self.opener[j - 1]
        head = render((self.run(i, opener), self.between(opener, " "), "{"), indent)
        inside = opener + 1
        if self.tokens[inside].is_comment and not self.tokens[inside].fresh:
            head += f"  {self.word(inside)}"
            inside += 1
        items = item.body if isinstance(item, ast.Block) else ()
        return "\n".join((head, *self.body(items, inside, j - 1, indent + INDENT), " " * indent + "}"))

    def item(self, item: Item, i: int, j: int, columns: int) -> Doc:
        """Lay out an attribute, with its key padded to a number of columns, or a declaration without a body."""
        value = self.value(item, i, j)
        head: Doc = self.run(i, value)
        if isinstance(item, ast.Attribute) and not is_done(item) and not is_point_note(item):
            rest = tuple((Nest(self.between(k, " ")), self.word(k)) for k in range(i + 1, value))
            head = (self.word(i).ljust(columns), *rest)
        if value == j:
            return head
        return (head, "" if self.tokens[value].is_comment else " ", self.series(value, j))

    def value(self, item: Item, i: int, j: int) -> int:
        """Return where the value of an item begins, after its head, or `j` if the item has no value."""
        match item:
            case ast.Attribute(values=(ast.Call() as call, *_)) if is_point_note(item):
                return self.at[call.span.start] + 1
            case ast.Attribute() | ast.Metric() | ast.Param() if not is_done(item):
                return next(k for k in range(i, j) if self.tokens[k].text == "=") + 1
            case ast.Expect():
                return i + 1 if item.label is None else self.at[item.label.span.start] + 1
            case ast.Block(keyword=ast.Name(text="formula")):
                return next((k + 1 for k in range(i + 2, j) if self.tokens[k].text == "for"), j)
        return j

    def cells(self, item: Item, i: int, j: int, comma: str) -> tuple[str, ...] | None:
        """Return the parts of an item on one line, to be aligned with its neighbours' parts, or None if it can't be on
        one line."""
        body = self.opener[j - 1] if self.has_body(item, j) else j
        value = self.value(item, i, j)
        if any(token.is_comment for token in self.tokens[i : min(body, value)]):
            return None
        head: list[str] | None
        match item:
            case ast.Attribute() if not is_done(item) and not is_point_note(item):
                rest = " ".join(self.word(k) for k in range(i + 1, value))
                head, last = [self.word(i)], flat((f"{rest} ", self.series(value, j), comma))
            case ast.Metric() | ast.Param():
                unit = self.at[item.unit.span.start] - 1 if isinstance(item, ast.Metric) and item.unit else None
                head = self.parts(i, self.label(item), unit, value - 1)
                last = flat(("= ", self.series(value, j)))
            case ast.Block() if item.keyword.text != "formula":
                base = self.at[item.base.span.start] - 1 if item.base and item.keyword.text != "at" else None
                head = self.parts(i, self.label(item), base, body)
                last = self.body_on_one_line(item, body, j - 1) if body < j else ""
            case _:
                head, last = [], flat(self.item(item, i, j, 0))
        return (*head, last) if head is not None and last is not None else None

    def parts(self, *bounds: int | None) -> list[str] | None:
        """Return the text between successive bounds, or "" for a bound of None. Returns None if a text takes several
        lines."""
        found: list[str] = []
        end = bounds[-1] or 0
        for start in reversed(bounds[:-1]):
            text = flat(self.run(start, end)) if start is not None else ""
            if text is None:
                return None
            found.append(text)
            end = end if start is None else start
        return found[::-1]

    def label(self, item: ast.Metric | ast.Param | ast.Block) -> int | None:
        label = None if isinstance(item, ast.Param) else item.label
        return self.at[label.span.start] if label else None

    def body_on_one_line(self, block: ast.Block, opener: int, closer: int) -> str | None:
        """Return the body as `{ ... }` if it was written on one line and means the same without commas between
        attributes."""
        if opener + 1 == closer:
            return "{}"
        if any(token.fresh for token in self.tokens[opener + 1 : closer + 1]):
            return None
        texts = []
        for item, start, end, comma, _ in self.ranges(block.body, closer):
            cells = self.cells(item, start, end, comma)
            if cells is None:
                return None
            texts.append(" ".join(filter(None, cells)))
        return f"{{ {'  '.join(texts)} }}"

    # Values.

    def bare_whens(self) -> Iterator[int]:
        """Yield the index of each `when` that has no comma before it."""
        for start in self.roles.conditions:
            k = self.at[start] - 1
            while self.tokens[k].is_comment or self.tokens[k].text == "(":
                k -= 1
            if self.tokens[k - 1].text != ",":
                yield k

    def series(self, i: int, j: int) -> Doc:
        """Lay out values with commas between them. The first value follows the `=`. If the line is broken, the others
        are indented."""
        (first, *others), _ = self.listed(i, j, "", movable=True)
        if len(others) == 1:
            return (first, Nest(LaidGroup(others[0])))  # `), higher is better` follows the broken part
        return LaidGroup((first, Nest(tuple(others))))

    def listed(self, i: int, j: int, last: Doc, *, movable: bool) -> tuple[list[Doc], bool]:
        """Return the values between commas with the places where a line may end, and whether the last value ends in a
        comment.

        `last` is the comma after the last value. If commas are `movable`, a comma that follows a comment is moved in
        front of it. They are not movable if `when` can follow, because the grammar takes `, when` as one word.
        """
        found: list[Doc] = []
        ends = late = False  # in a comment; with a comma still to come
        regions = self.regions(i, j)
        filled = [not all(token.is_comment for token in self.tokens[start:end]) for start, end in regions]
        for number, (start, end) in enumerate(regions):
            first, core = start, end
            while first < end and self.tokens[first].is_comment:
                first += 1
            while core > first and self.tokens[core - 1].is_comment:
                core -= 1
            for k in range(start, first):
                found.append((HARD if ends else self.beside(k), self.word(k)))
                ends = True
            if first == end:
                continue
            before: Doc = (HARD, ", ") if late else HARD if ends else SPACE if found else ""
            comma = "," if any(filled[number + 1 :]) else last
            ends = core < end
            late = ends and not movable and comma == ","
            found.append((before, self.expression(first, core), "" if late else comma))
            found += [(self.beside(k), self.word(k)) for k in range(core, end)]
        return found, ends

    def beside(self, k: int) -> Doc:
        """Return the space before a comment."""
        return HARD if self.tokens[k].fresh or self.tokens[k - 1].is_comment else "  "

    def regions(self, i: int, j: int) -> list[tuple[int, int]]:
        """Return the ranges of [i, j) between commas outside brackets. A `when` without a comma also begins a range."""
        found = []
        start = k = i
        while k < j:
            token = self.tokens[k]
            if token.text == ",":
                found.append((start, k))
                start = k + 1
            elif k > start and k in self.whens and not self.tokens[k - 1].is_comment:
                found.append((start, k))
                start = k
            k = self.partner.get(k, k) + 1
        return [*found, (start, j)]

    def expression(self, i: int, j: int) -> Doc:
        """Lay out an expression. If it does not fit, it is broken before its loosest operators."""
        operators: list[tuple[int, int]] = []
        k = i
        while k < j:
            if self.tokens[k].start in self.roles.operators and self.tokens[k].text != "x":
                operators.append((_LEVELS.get(self.tokens[k].text, _COMPARISON), k))
            k = self.partner.get(k, k) + 1
        if not operators:
            return self.run(i, j)
        loosest = min(operators)[0]
        places = [k for level, k in operators if level == loosest]
        rest: list[Doc] = []
        for k, end in zip(places, [*places[1:], j], strict=True):
            around = ("", "") if loosest == _LEVELS[".."] else (SPACE, " ")
            rest += [self.between(k, around[0]), self.word(k), self.between(k + 1, around[1])]
            rest.append(self.expression(k + 1, end))
        return LaidGroup((self.expression(i, places[0]), Nest(tuple(rest))))

    def run(self, i: int, j: int) -> Doc:
        """Lay out tokens one after the other, including the contents of brackets."""
        found: list[Doc] = []
        k = i
        while k < j:
            if k > i:
                found.append(Nest(self.between(k, self.space(k))))
            if k in self.partner:
                found.append(self.bracket(k))
                k = self.partner[k] + 1
            else:
                found.append(self.token(k))
                k += 1
        return tuple(found)

    def token(self, k: int) -> Doc:
        """Lay out a token. A text of several lines is indented like the tokens around it, with its quotes on lines of
        their own."""
        token = self.tokens[k]
        lines = text_lines(token.text) if token.kind is Kind.STRING and token.start not in self.roles.rigid else None
        if lines is None:
            return self.word(k)
        return ('"""', Nest(tuple((HARD, line) for line in lines)), HARD, '"""')

    def word(self, k: int) -> str:
        token = self.tokens[k]
        if token.kind is Kind.COMMENT:
            return token.text.rstrip()
        if unit := self.roles.units.get(token.start):
            return f"{token.text.removesuffix(unit).rstrip()} {unit}"
        return token.text

    def bracket(self, k: int) -> Doc:
        """Lay out the contents of round or square brackets: a list, arguments, or an expression."""
        i, j = k + 1, self.partner[k]
        opener, closer = self.tokens[k].text, self.tokens[j].text
        if i == j:
            return opener + closer
        if self.tokens[k].start in self.roles.lists and self.only_numbers(i, j):
            first, *others = (self.word(n) for n in range(i, j, 2))
            numbers = tuple((",", LaidGroup((SPACE, number))) for number in others)
            return LaidGroup((opener, Nest((SOFT, first, *numbers, IfBroken(","))), SOFT, closer))
        if self.tokens[i].text.startswith('"""') and [token.text for token in self.tokens[i + 1 : j]] in ([], [","]):
            return (opener, self.token(i), closer)
        function = self.function(k) if opener == "(" else None
        reduces = function in self.roles.reductions
        last = "" if reduces or (opener == "(" and function not in self.roles.calls) else IfBroken(",")
        inner, ends = self.listed(i, j, last, movable=not reduces)
        begin = "" if self.tokens[i].is_comment else SOFT
        return LaidGroup((opener, Nest((begin, *inner)), HARD if ends else SOFT, closer))

    def function(self, k: int) -> int:
        """Return the index of the token before a bracket, which may be a function's name."""
        k -= 1
        while self.tokens[k].is_comment:
            k -= 1
        return self.tokens[k].start

    def only_numbers(self, i: int, j: int) -> bool:
        """Return whether a list has only numbers. If so, each line gets as many numbers as fit."""
        numbers, commas = self.tokens[i:j:2], self.tokens[i + 1 : j : 2]
        return all(each.kind is Kind.NUMBER for each in numbers) and all(each.text == "," for each in commas)

    def between(self, k: int, normal: Doc) -> Doc:
        """Return the space before token `k`, which is never the first token. After a comment, it is a line end."""
        if self.tokens[k - 1].is_comment or self.is_parted(k):
            return HARD
        return self.beside(k) if self.tokens[k].is_comment else normal

    def is_parted(self, k: int) -> bool:
        """Return whether a line must end before token `k`. Otherwise an `x` for multiplication would be read as a unit,
        or a unit as a multiplication sign."""
        before, token = self.tokens[k - 1], self.tokens[k]
        if before.kind is not Kind.NUMBER:
            return False
        if token.text == "x" and token.start in self.roles.operators:
            return not self.roles.units[before.start] and not self.is_factor(k + 1)
        return self.roles.units[before.start] == "x" and self.is_factor(k)

    def is_factor(self, k: int) -> bool:
        """Return whether an `x` before token `k` is read as a multiplication sign."""
        return self.tokens[k].kind in (Kind.WORD, Kind.NUMBER) or self.tokens[k].text == "("

    def space(self, k: int) -> Doc:
        """Return the space before token `k`, if neither this token nor the one before is a comment."""
        before, token = self.tokens[k - 1], self.tokens[k]
        if token.text in _TIGHT_BEFORE or before.text == ".":
            return ""
        if before.text == "-" and before.start not in self.roles.operators:
            return " " if token.text == "-" else ""
        if token.text == "(":
            return "" if before.start in self.roles.calls else " "
        if token.text == "[":
            return " " if token.start in self.roles.lists else ""
        return " "
