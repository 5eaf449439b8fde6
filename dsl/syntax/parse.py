"""Parses a text into its syntax tree with the tables of the grammar: `bench.json`, which is made from `bench.lark`."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from operator import itemgetter
from pathlib import Path
from threading import RLock
from typing import Any, TypedDict, TypeVar, cast

from benchbrief.dsl.diagnostics import syntax_errors
from benchbrief.dsl.diagnostics.diagnostic import Problem, SpecError
from benchbrief.dsl.source import Source, Span
from benchbrief.dsl.syntax import ast, parser_stop, slips
from benchbrief.dsl.syntax.parser_stop import DECLARATIONS
from benchbrief.dsl.syntax.strings import read_string

Reduction = tuple[int, Callable[[list[Any]], Any], str, dict[int, int]]
"""A step of the parser that combines the last values into one. It has the number of these values, the combining
function, the rule's name, and, as far as known, the next state for each state that may be below them on the stack.

The other kind of step, which takes a token, is just the number of the next state.
"""
Token = re.Match[str]
"""A piece of the text, with its place."""
Matcher = Callable[[str, int], Token | None]


class GrammarRule(TypedDict):
    """A rule of the grammar.

    `kept` describes the values that are passed to the node: the index of each, whether it is a list whose items are
    passed one by one, and how many absent values come before it. `absent` is how many absent values come last. A rule
    that `stays` passes on its only value.
    """

    name: str
    makes: str
    size: int
    stays: bool
    kept: list[tuple[int, bool, int]]
    absent: int


class Tables(TypedDict):
    """The parser's tables. A state is a number. For each state, the tables give:

    - the next state for a terminal or a rule
    - the rule to reduce by for a terminal
    - the terminals that may come next, in the order in which they are tried
    """

    grammar: int
    """The CRC-32 of the grammar's text."""
    starts: dict[str, int]
    ends: dict[str, int]
    rules: list[GrammarRule]
    shifts: list[dict[str | None, int]]
    reductions: list[dict[str | None, int]]
    terminals: dict[str, str]
    firsts: dict[str, str]
    """The ASCII characters that each terminal may begin with."""
    ignored: list[str]
    everywhere: list[str]
    sets: list[list[str]]
    accepted: list[int]


def read_tables() -> Tables:
    """Return the tables of the grammar. If the stored tables belong to another version of the grammar, lark makes new
    ones."""
    grammar = Path(__file__).with_name("bench.lark")
    tables: Tables = json.loads(grammar.with_suffix(".json").read_bytes())
    if tables["grammar"] != zlib.crc32(grammar.read_bytes()):
        from benchbrief.dsl.syntax.grammar_tables import tables as made

        tables = json.loads(made())
    return tables


class ParserStopped(Exception):
    """Raised for a mistake at `at` in the text. Only the terminals `expected` were allowed there."""

    def __init__(self, at: int, expected: frozenset[str]) -> None:
        super().__init__()
        self.at = at
        self.expected = expected


class HiddenValues(list[Any]):
    """The values of a rule whose name begins with `_`. They are passed one by one to the surrounding rule."""


class _Scanners(dict[tuple[int, str], tuple[tuple[str, Matcher], ...]]):
    """The terminals that may come next, by state and next character, in the order in which they are tried. Each comes
    with its pattern. Patterns are compiled at their first use, since a short spec needs only a few."""

    def __init__(self, tables: Tables) -> None:
        super().__init__()
        self._tables = tables
        self._matchers: dict[str, Matcher] = {}

    def __missing__(self, place: tuple[int, str]) -> tuple[tuple[str, Matcher], ...]:
        state, char = place
        self[place] = found = tuple(self.beginning(char, self._tables["sets"][self._tables["accepted"][state]]))
        return found

    def beginning(self, char: str, names: Sequence[str]) -> Iterator[tuple[str, Matcher]]:
        """Yield the terminals that may begin with a character, with their patterns."""
        for name in names:
            if not char.isascii() or char in self._tables["firsts"][name]:
                if name not in self._matchers:
                    self._matchers[name] = re.compile(self._tables["terminals"][name]).match
                yield name, self._matchers[name]


def _nothing(_: list[Any]) -> None:
    """Build nothing, for a parse that only checks the text."""


def _grown(values: list[Any]) -> HiddenValues:
    """Append the last value to the list that is the first value, and return the list."""
    found: HiddenValues = values[0]
    found.append(values[-1])
    return found


def _maker(rule: GrammarRule, builder: object) -> Callable[[list[Any]], Any]:
    """Return the function that combines a rule's values into one."""
    make: Callable[[list[Any]], Any] = getattr(builder, rule["makes"], HiddenValues)
    kept, absent = rule["kept"], rule["absent"]
    if absent or any(before or vanishes for _, vanishes, before in kept):

        def chosen(values: list[Any]) -> list[Any]:
            found: list[Any] = []
            for index, vanishes, before in kept:
                found += [None] * before
                if not vanishes:
                    found.append(values[index])
                elif found:
                    found += values[index]
                else:  # the list that grows value by value
                    found = values[index]
            return found + [None] * absent if absent else found

        inner = make
        if inner is HiddenValues and [*map(tuple, kept)] == [(0, True, 0), (rule["size"] - 1, False, 0)]:
            make = _grown
        elif inner is HiddenValues:  # a list that grows value by value is not copied each time
            make = lambda values: found if type(found := chosen(values)) is HiddenValues else HiddenValues(found)  # noqa: E731
        else:
            make = lambda values: inner(chosen(values))  # noqa: E731
    elif len(kept) == 1 < rule["size"]:
        (index, _, _), one = kept[0], make
        make = lambda values: one([values[index]])  # noqa: E731
    elif len(kept) < rule["size"]:
        pick, some = itemgetter(*(index for index, _, _ in kept)) if kept else lambda _: (), make
        make = lambda values: some(list(pick(values)))  # noqa: E731
    return make


class ParserDriver:
    """Parses a text with the tables. `builder` has a method for each rule that makes a node. Without a builder, nothing
    is built."""

    def __init__(self, tables: Tables, builder: object | None = None) -> None:
        self._starts, self._ends, self._shifts = tables["starts"], tables["ends"], tables["shifts"]
        rules = tables["rules"]
        makes = [_nothing if builder is None else _maker(rule, builder) for rule in rules]

        def reductions(of: dict[str | None, int]) -> dict[str | None, int | Reduction]:
            return {name: (rules[rule]["size"], makes[rule], rules[rule]["name"], {}) for name, rule in of.items()}

        self._steps = [
            {**reductions(each), **shifts} for each, shifts in zip(tables["reductions"], self._shifts, strict=True)
        ]
        self._climbs: list[dict[str | None, str]] = [
            {name: rules[rule]["name"] for name, rule in each.items() if rules[rule]["stays"]}
            for each in tables["reductions"]
        ]
        """For each state and terminal, a rule that returns its last child unchanged."""
        self._tables = tables
        self._scanners = _Scanners(tables)
        self._skip = re.compile("|".join(tables["ignored"])).match

    def parse(self, text: str, start: str, values: list[Any] | None = None) -> Any:
        """Return the result of the builder for a text. `values` collects the nodes that are not yet part of a larger
        node. After a mistake, it has the nodes read so far.

        Raises ParserStopped at a mistake, and any error that the builder raises.
        """
        steps, scanners, skip = self._steps, self._scanners, self._skip
        state, end_state = self._starts[start], self._ends[start]
        states = [state]
        values = [] if values is None else values
        at, length = 0, len(text)
        while True:
            if blank := skip(text, at):
                at = blank.end()
            begin = at
            if at < length:
                for name, match in scanners[state, text[at]]:  # noqa: B007  # the name is used below
                    if token := match(text, at):
                        break
                else:
                    raise ParserStopped(at, self._readable(text, at, states))
                at = token.end()
            else:
                name = "$END"
            while True:
                step = steps[state].get(name)
                if isinstance(step, int):
                    state = step
                    states.append(state)
                    values.append(token)
                    break
                if step is None:
                    raise ParserStopped(begin, self._accepted(states))
                size, make, rule, follows = step
                if size:
                    value = make(values[-size:])
                    del states[-size:], values[-size:]
                else:
                    value = make([])
                below = states[-1]
                if (after := follows.get(below)) is None:
                    after = follows[below] = self._climbed(below, rule, name)
                state = after
                states.append(state)
                values.append(value)
                if state == end_state and name == "$END":
                    return value

    def _climbed(self, below: int, rule: str, name: str | None) -> int:
        """Return the state that is reached from `below` after a value of `rule`, past all rules that only pass the
        value on."""
        state = self._shifts[below][rule]
        while (looser := self._climbs[state].get(name)) and state not in self._ends.values():
            state = self._shifts[below][looser]
        return state

    def _readable(self, text: str, at: int, states: list[int]) -> frozenset[str]:
        """Return the terminals that the parser would have accepted at `at`, where the text has none of them."""
        tables = self._tables
        allowed = frozenset(tables["sets"][tables["accepted"][states[-1]]])
        everywhere = self._scanners.beginning(text[at], tables["everywhere"])
        if any(match(text, at) for _, match in everywhere):  # the text there is allowed elsewhere
            return self._accepted(states) or allowed
        return allowed or frozenset({"<END-OF-FILE>"})

    def _accepted(self, states: list[int]) -> frozenset[str]:
        """Return the terminals that the parser can shift next. If it can shift none, return all terminals that it has
        an action for."""
        names = {name for name in self._steps[states[-1]] if name and name.isupper()}
        return frozenset(name for name in names if self._goes_on(list(states), name)) or frozenset(names)

    def _goes_on(self, states: list[int], name: str) -> bool:
        while name not in self._shifts[states[-1]]:
            if (step := self._steps[states[-1]].get(name)) is None:
                return False
            size, _, rule, _ = cast(Reduction, step)
            del states[len(states) - size :]
            states.append(self._shifts[states[-1]][rule])
        return True


_Node = TypeVar("_Node", bound=ast.Expr)
Children = Sequence[Any]  # tokens, nodes and None, as the rule in bench.lark has them

_MULTIPLIERS = {"k": 3, "M": 6, "G": 9, "T": 12}
_QUANTITY = re.compile(r"([0-9_.]+)(?:[eE]([+-]?)0*([0-9]{1,9})[0-9]*)?(?:([kMGT])(?!\w))?\s*(.*)")
_EXACT_DIGITS = 16
_FURTHER = 200  # characters behind the place where the parser stopped that are tried with another word
_BEFORE = 20_000  # and before it, at most


def parse(source: Source) -> ast.File:
    """Return the file's syntax tree. Raises SpecError with the first syntax error or, if that error is in a string,
    with all errors of the string."""
    parser_stop.check_depth(source, 0, len(source.text))
    parser_stop.check_size(source)
    return cast(ast.File, _parse("file", source, 0, len(source.text)))


def parse_part(source: Source, start: int, text: str, whole: list[ast.Declaration] | None = None) -> ast.File:
    """Parse a text that replaces an equally long part of a source, beginning at `start`. The tree's spans point into
    the source.

    Raises SpecError with the first syntax error or, if that error is in a string, with all errors of the string. The
    errors' spans point into the text. On an error, the declarations read before it are added to `whole`.
    """
    values: list[Any] = []
    here = Source(source.name, text)
    try:
        return cast(ast.File, _built("file", source, start, text, values))
    except ParserStopped as stopped:
        mistakes = [_mistake("file", here, 0, len(text), stopped).diagnostic()]
    except SpecError as error:
        mistakes = [mistake.moved(here, -start) for mistake in error.diagnostics]
    if whole is not None and values and isinstance(values[0], HiddenValues):
        whole.extend(values[0])
    raise SpecError(tuple(mistakes))


def readable_until(text: str) -> int:
    """Return the offset at which the grammar stops in a text, or an offset beyond the end if the whole text can be
    read."""
    return _stops("file", "", text)


def parse_expression(source: Source, start: int, end: int) -> ast.Expr:
    """Return the expression in [start, end) of a source. Raises SpecError."""
    parser_stop.check_depth(source, start, end)
    return cast(ast.Expr, _parse("expr", source, start, end))


def _parse(rule: str, source: Source, start: int, end: int) -> Any:
    try:
        return _built(rule, source, start, source.text[start:end])
    except ParserStopped as stopped:
        mistake = _mistake(rule, source, start, end, stopped)
    raise mistake.error()


def _built(rule: str, source: Source, start: int, text: str, values: list[Any] | None = None) -> Any:
    """Return the node built from a text that begins at the offset `start` of a source. Raises SpecError, or
    ParserStopped with an offset in the text."""
    driver, builder = _parser()
    with builder.reading(source, start):
        return driver.parse(text, rule, values)


def _mistake(rule: str, source: Source, start: int, end: int, stopped: ParserStopped) -> Problem:
    at = start + stopped.at
    problem = slips.explain(source, start, end, at, stopped.expected)
    if problem.suggestion is None:
        problem = _misspelt(rule, source, start, end, at) or problem
    return problem


def _misspelt(rule: str, source: Source, start: int, end: int, at: int) -> Problem | None:
    """Return the problem if the parser stopped at a misspelt keyword, and gets further with the correct one. Otherwise,
    return None."""
    slipped = list(slips.misspelt_keywords(source, start, end, at))
    if not slipped:
        return None
    earliest = min(word.start for word, _ in slipped)
    end = min(end, at + _FURTHER)
    begins = [("", start)]
    if rule == "file":
        begins = [(opened, place) for opened, place in slips.heads_before(source, start, at) if place <= earliest]
    # Within a block that is closed before the place, the text breaks off elsewhere.
    opened, begin = next(
        ((opened, place) for opened, place in begins if _stops(rule, opened, source.text[place:end]) == at - place),
        ("", start),
    )
    if at - begin > _BEFORE:
        return None
    for word, keyword in slipped:
        text = source.text[begin : word.start] + keyword + source.text[word.end : end]
        if _stops(rule, opened, text) > at - begin + len(keyword) - (word.end - word.start):
            return syntax_errors.MisspeltWord(word, word.text, keyword)
    return None


def _stops(rule: str, opened: str, text: str) -> int:
    """Return the offset at which the grammar stops in a text that follows `opened`. If the whole text can be read, the
    offset is beyond its end."""
    try:
        _grammar().parse(opened + text, rule)
    except ParserStopped as stopped:
        return stopped.at - len(opened)
    return len(text) + 1


@cache
def _tables() -> Tables:
    return read_tables()


@cache
def _grammar() -> ParserDriver:
    """Return a parser that builds nothing and only finds how far a text can be read."""
    return ParserDriver(_tables())


@cache
def _parser() -> tuple[ParserDriver, _Builder]:
    builder = _Builder()
    return ParserDriver(_tables(), builder), builder


class _Builder:
    """Builds the syntax tree. For each rule of the grammar, a method makes a node from its children.

    `offset` is where the text that is being parsed starts in the source. It is not 0 for a hole in a string. `depths`
    has the nesting level of each expression so far, by its `id()`. Each expression is therefore kept alive until its
    text is parsed.
    """

    source: Source = Source("", "")
    offset: int = 0
    depths: dict[int, int] = {}  # noqa: RUF012  # replaced, never changed, by each parse

    def __init__(self) -> None:
        self._turns = RLock()

    @contextmanager
    def reading(self, source: Source, start: int) -> Iterator[None]:
        """Within the block, build nodes for the source from `start` on. Only one thread builds at a time. Calls may be
        nested, because a hole is read while its string is read."""
        with self._turns:
            outer = self.source, self.offset, self.depths
            depths = self.depths if self.source is source else {}  # a hole is as deep as its string, and deeper
            self.source, self.offset, self.depths = source, start, depths
            try:
                yield
            finally:
                self.source, self.offset, self.depths = outer

    def _span(self, first: Token, last: Token) -> Span:
        return Span(self.source, self.offset + first.start(), self.offset + last.end())

    def _up_to(self, first: Token, last: Span) -> Span:
        return Span(self.source, self.offset + first.start(), last.end)

    def _name(self, token: Token) -> ast.Name:
        start, end = token.span()
        return ast.Name(Span(self.source, self.offset + start, self.offset + end), token.group())

    def _optional(self, token: Token | None) -> ast.Name | None:
        return self._name(token) if token is not None else None

    def _deeper(self, node: _Node, *inner: ast.Expr) -> _Node:
        """Return the node. Raises SpecError if the node is nested so deeply that a walk of the tree would overflow the
        stack."""
        depths = self.depths
        if not inner:
            return node
        depth = 1 + max([depths.get(id(expr), 0) for expr in inner])
        if depth > parser_stop.MAX_LEVELS:
            raise syntax_errors.TooDeep(node.span, "an expression is", parser_stop.MAX_LEVELS).error()
        depths[id(node)] = depth
        return node

    # Declarations

    def file(self, declarations: Children) -> ast.File:
        return ast.File(Span(self.source, 0, len(self.source.text)), tuple(declarations))

    def param(self, children: Children) -> ast.Param:
        keyword, name, value = children
        return ast.Param(self._up_to(keyword, value.span), self._name(name), value)

    def use(self, children: Children) -> ast.Use:
        keyword, path = children
        return ast.Use(self._up_to(keyword, path.span), path)

    def expect(self, children: Children) -> ast.Expect:
        keyword, label, condition = children
        return ast.Expect(self._up_to(keyword, condition.span), label, condition)

    def metric(self, children: Children) -> ast.Metric:
        keyword, name, label, unit, value, direction, better = children
        span = self._up_to(keyword, value.span)
        return ast.Metric(
            self._span(keyword, better) if better is not None else span,
            self._name(name),
            label,
            self._optional(unit),
            value,
            direction.group() if direction is not None else None,
        )

    def block(self, children: Children) -> ast.Block:
        keyword, name, label, base, *body, closer = children
        if keyword.group() not in DECLARATIONS:
            self._check_head(keyword)
        span = self._span(keyword, closer)
        return ast.Block(span, self._name(keyword), self._optional(name), label, base, None, tuple(body))

    def _check_head(self, keyword: Token) -> None:
        """Raise SpecError if an unfinished expression has taken this head's keyword for its next name, as in `metric m
        = 2 *` followed by a line `hardware nvme { ... }`."""
        at = self.offset + keyword.start()
        line = self.source.text.rfind("\n", 0, at) + 1
        word = self.source.text[line:at].rstrip()
        if line and word in DECLARATIONS and self.source.text[line : line + 1].strip():
            span = Span(self.source, line, line + len(word))
            raise syntax_errors.Unexpected(span, f"`{word}`", "a value").error()

    def inherited(self, children: Children) -> ast.Block:
        keyword, name, label, base = children
        span = self._up_to(keyword, base.span)
        return ast.Block(span, self._name(keyword), self._optional(name), label, base, None, ())

    def each(self, children: Children) -> ast.Block:
        keyword, subject, *body, closer = children
        span = self._span(keyword, closer)
        return ast.Block(span, self._name(keyword), None, None, None, self._name(subject), tuple(body))

    def override(self, children: Children) -> ast.Block:
        keyword, subject, name, label, *body, closer = children
        span = self._span(keyword, closer)
        return ast.Block(span, self._name(keyword), self._optional(name), label, None, self._name(subject), tuple(body))

    def formula(self, children: Children) -> ast.Block:
        keyword, token, arguments = children
        metric = self._name(token)
        base: ast.Expr = metric
        if arguments is not None:
            base = ast.Index(metric.span.to(arguments[-1].span), metric, arguments)
        span = self._up_to(keyword, base.span)
        return ast.Block(span, self._name(keyword), metric, None, base, None, ())

    def event(self, children: Children) -> ast.Block:
        keyword, time, label, *body, closer = children
        return ast.Block(self._span(keyword, closer), self._name(keyword), None, label, time, None, tuple(body))

    def done(self, children: Children) -> ast.Attribute:
        """Return the action of an event, `command("...")`, as an attribute without `=` whose key is the function's
        name."""
        function, _, arguments, closer = children
        call = self._call(function, arguments or (), (), None, closer)
        return ast.Attribute(call.span, call.function, None, (call,))

    def point_note(self, children: Children) -> ast.Attribute:
        """Return a note at points, such as `note "full" at threads: 96`. It becomes an attribute without `=`, and its
        value a call of `at`."""
        keyword, label, at, arguments = children
        span = self._up_to(at, arguments[-1].span)
        call = ast.Call(span, self._name(at), arguments, (), None)
        return ast.Attribute(self._up_to(keyword, span), self._name(keyword), label, (call,))

    def attribute(self, children: Children) -> ast.Attribute:
        key, label, *values = children
        span = self._up_to(key, values[-1].span)
        return ast.Attribute(span, self._name(key), label, tuple(values))

    # Values

    def option(self, children: Children) -> ast.Option:
        word, value = children
        return ast.Option(self._up_to(word, value.span), self._name(word), value)

    def every(self, children: Children) -> ast.Every:
        subject, interval, target = children
        node = ast.Every(subject.span.to((target or interval).span), subject, interval, target)
        return self._deeper(node, subject, interval, *([target] if target else []))

    def by(self, children: Children) -> ast.By:
        subject, keyword, *names = children
        dimensions = tuple(self._name(name) for name in names[::2])  # every other one is `and`
        return self._deeper(ast.By(subject.span.to(dimensions[-1].span), subject, keyword.group(), dimensions), subject)

    # Expressions

    def binary(self, children: Children) -> ast.Binary:
        left, operator, right = children
        span = left.span.to(right.span)
        return self._deeper(
            ast.Binary(span, operator.group(), left, right, self._span(operator, operator)), left, right
        )

    def unary(self, children: Children) -> ast.Unary:
        operator, operand = children
        return self._deeper(ast.Unary(self._up_to(operator, operand.span), operator.group(), operand), operand)

    def attr(self, children: Children) -> ast.Attr:
        base, field = children
        name = self._name(field)
        return self._deeper(ast.Attr(base.span.to(name.span), base, name), base)

    def index(self, children: Children) -> ast.Index:
        base, _, arguments, closer = children
        span = base.span.to(self._span(closer, closer))
        return self._deeper(ast.Index(span, base, arguments), base, *(argument.value for argument in arguments))

    def name(self, children: Children) -> ast.Name:
        return self._name(children[0])

    def quantity(self, children: Children) -> ast.Quantity:
        """Return a quantity such as `75M records`, from its digits, the multiplier after the last digit, and
        the unit."""
        token = children[0]
        span = self._span(token, token)
        text = token.group()
        if text.isdecimal() and len(text) < _EXACT_DIGITS:
            return ast.Quantity(span, float(text), "", None, is_integer=True)
        parts = _QUANTITY.fullmatch(text)
        digits, sign, exponent, multiplier, unit = parts.groups() if parts else (text, "", "", "", "")
        power = int(f"{sign}{exponent}" if exponent else "0") + _MULTIPLIERS.get(multiplier, 0)
        number = f"{digits.replace('_', '')}e{power}"
        value = float(number)  # one conversion: 2.3k is 2300, not 2.3 * 1000
        if value == float("inf") or (value == 0.0 and digits.strip("0._")):
            raise syntax_errors.BadNumber(span, large=value > 0).error()
        unit_span = Span(self.source, span.end - len(unit), span.end) if unit else None
        return ast.Quantity(span, value, unit or "", unit_span, value.is_integer())

    def string(self, children: Children) -> ast.String:
        span = self._span(children[0], children[0])
        string = read_string(self.source, span.start, span.end, parse_expression)
        return self._deeper(string, *[part.expr for part in string.parts if isinstance(part, ast.Hole)])

    def list(self, children: Children) -> ast.List:
        opener, *items, closer = children
        items = [item for item in items if item is not None]
        return self._deeper(ast.List(self._span(opener, closer), tuple(items)), *items)

    def group(self, children: Children) -> ast.Expr:
        """Return the expression in brackets. An operation's span includes its brackets, so that all of `(a + b) * c` is
        underlined."""
        opener, inner, closer = children
        if not isinstance(inner, ast.Binary | ast.Unary):
            return cast(ast.Expr, inner)
        whole = replace(inner, span=self._span(opener, closer))
        self.depths[id(whole)] = self.depths.pop(id(inner))
        return whole

    def call(self, children: Children) -> ast.Call:
        function, _, arguments, closer = children
        return self._call(function, arguments or (), (), None, closer)

    def reduction(self, children: Children) -> ast.Call:
        """Return the parts after `over`: the dimensions, and named arguments such as `at: 95 %`."""
        function, _, subject, overs, condition, closer = children
        named = tuple(over for over in overs if isinstance(over, ast.Argument))
        names = tuple(over for over in overs if isinstance(over, ast.Name))
        return self._call(function, (ast.Argument(subject.span, None, subject), *named), names, condition, closer)

    def filtered(self, children: Children) -> ast.Call:
        function, opener, subject, condition, closer = children
        return self.reduction((function, opener, subject, (), condition, closer))

    def _call(
        self,
        function: Token,
        arguments: tuple[ast.Argument, ...],
        over: tuple[ast.Name, ...],
        condition: ast.Expr | None,
        closer: Token,
    ) -> ast.Call:
        inner = [argument.value for argument in arguments]
        inner += [condition] if condition else []
        span = self._span(function, closer)
        return self._deeper(ast.Call(span, self._name(function), arguments, over, condition), *inner)

    def overs(self, children: Children) -> tuple[ast.Name | ast.Argument, ...]:
        return tuple(children)

    def over(self, children: Children) -> ast.Name | ast.Argument:
        name, value = children
        return self._name(name) if value is None else self.argument(children)

    def arguments(self, children: Children) -> tuple[ast.Argument, ...]:
        return tuple(children)

    def argument(self, children: Children) -> ast.Argument:
        key, value = children
        span = self._up_to(key, value.span) if key is not None else value.span
        return ast.Argument(span, self._optional(key), value)
