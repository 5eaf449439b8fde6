"""The parser's tables, run in one tight loop.

`bench.json` has the tables, which lark made of the grammar (`grammar_tables.py`). A token is its text with two places.
A value that is an expression of every tighter kind, too, climbs from the tightest to the loosest in one step.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any, TypedDict

Reduction = tuple[int, Callable[[list[Any]], Any], str, dict[int, int]]
"""How many values become one, what makes it of them, the name of the rule, and the state that follows each state
below, as far as that is known."""
Matcher = Callable[[str, int], "re.Match[str] | None"]


class Rule(TypedDict):
    """`kept` are the values that the node gets, each by its index, whether it is a list whose values it gets, and how
    many that are absent stand before it; `absent` is how many stand behind. One that `stays` is its only value."""

    name: str
    makes: str
    size: int
    stays: bool
    kept: list[tuple[int, bool, int]]
    absent: int


class Tables(TypedDict):
    """States are numbers. For each: what is next at a terminal or rule, the rule by which values become one at a
    terminal, and the set of terminals that may be next, in the order in which they are tried."""

    grammar: int
    """The CRC-32 of the grammar's text."""
    starts: dict[str, int]
    ends: dict[str, int]
    rules: list[Rule]
    shifts: list[dict[str | None, int]]
    reductions: list[dict[str | None, int]]
    terminals: dict[str, str]
    ignored: list[str]
    everywhere: list[str]
    sets: list[list[str]]
    accepted: list[int]


def read_tables() -> Tables:
    """Return the tables of the grammar. Where the kept ones are of another grammar, lark makes them anew."""
    grammar = Path(__file__).with_name("bench.lark")
    tables: Tables = json.loads(grammar.with_suffix(".json").read_bytes())
    if tables["grammar"] != zlib.crc32(grammar.read_bytes()):
        from benchbrief.dsl.syntax.grammar_tables import tables as made

        tables = json.loads(made())
    return tables


class Token(str):
    """A piece of the text with the name of its terminal, and its place: what the tree builder asks of a token."""

    __slots__ = ("end_pos", "start_pos", "type")
    type: str | None
    start_pos: int
    end_pos: int


class Stopped(Exception):
    """The text has a mistake: at `at`, where only the terminals `expected` could have gone on."""

    def __init__(self, at: int, expected: frozenset[str]) -> None:
        super().__init__()
        self.at = at
        self.expected = expected


class Values(list[Any]):
    """Values that vanish into what holds them: those of a rule whose name begins with `_`."""


class _Scanners(dict[int, Matcher]):
    """What finds the next token in each state, compiled where it is needed: a short spec passes few states."""

    def __init__(self, tables: Tables) -> None:
        super().__init__()
        self._tables = tables
        self._of_sets: dict[int, Matcher] = {}

    def __missing__(self, state: int) -> Matcher:
        number = self._tables["accepted"][state]
        if (found := self._of_sets.get(number)) is None:
            found = self._of_sets[number] = self.matcher(self._tables["sets"][number])
        self[state] = found
        return found

    def matcher(self, names: Sequence[str]) -> Matcher:
        terminals = self._tables["terminals"]
        return re.compile("|".join(f"(?P<{name}>{terminals[name]})" for name in names)).match


def _nothing(_: list[Any]) -> None:
    """What is made where only the way through the text counts."""


def _maker(rule: Rule, builder: object) -> Callable[[list[Any]], Any]:
    """Return what makes a value of a rule's values."""
    make: Callable[[list[Any]], Any] = getattr(builder, rule["makes"], Values)
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
        if inner is Values:  # a list that grows value by value is not copied each time
            make = lambda values: found if type(found := chosen(values)) is Values else Values(found)  # noqa: E731
        else:
            make = lambda values: inner(chosen(values))  # noqa: E731
    elif len(kept) == 1 < rule["size"]:
        (index, _, _), one = kept[0], make
        make = lambda values: one([values[index]])  # noqa: E731
    elif len(kept) < rule["size"]:
        pick, some = itemgetter(*(index for index, _, _ in kept)) if kept else lambda _: (), make
        make = lambda values: some(list(pick(values)))  # noqa: E731
    return make


class Driver:
    """Runs the tables. `builder` has a method for each rule that makes a node; without one, nothing is built."""

    def __init__(self, tables: Tables, builder: object | None = None) -> None:
        self._starts, self._ends, self._shifts = tables["starts"], tables["ends"], tables["shifts"]
        rules = tables["rules"]
        makes = [_nothing if builder is None else _maker(rule, builder) for rule in rules]
        self._reductions: list[dict[str | None, Reduction]] = [
            {name: (rules[rule]["size"], makes[rule], rules[rule]["name"], {}) for name, rule in each.items()}
            for each in tables["reductions"]
        ]
        self._climbs: list[dict[str | None, str]] = [
            {name: rules[rule]["name"] for name, rule in each.items() if rules[rule]["stays"]}
            for each in tables["reductions"]
        ]
        """For each state and terminal: the rule of which the last value is one as it stands."""
        self._tables = tables
        self._scanners = _Scanners(tables)
        self._skip = re.compile("|".join(tables["ignored"])).match

    def parse(self, text: str, start: str, values: list[Any] | None = None) -> Any:
        """What the builder makes of a text. Raises Stopped at a mistake, and whatever the builder raises. `values` is
        what was read and is no part of anything greater yet; it is left as it is at a mistake."""
        shifts, reductions, scanners, skip = self._shifts, self._reductions, self._scanners, self._skip
        state, end_state = self._starts[start], self._ends[start]
        states = [state]
        values = [] if values is None else values
        at, length = 0, len(text)
        while True:
            if blank := skip(text, at):
                at = blank.end()
            begin = at
            if at < length:
                if not (found := scanners[state](text, at)):
                    raise Stopped(at, self._readable(text, at, states))
                name = found.lastgroup
                token = Token(found.group())
                token.type, token.start_pos = name, at
                token.end_pos = at = found.end()
            else:
                name = "$END"
            while True:
                if (after := shifts[state].get(name)) is not None:
                    state = after
                    states.append(state)
                    values.append(token)
                    break
                if (reduction := reductions[state].get(name)) is None:
                    raise Stopped(begin, self._accepted(states))
                size, make, rule, follows = reduction
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
        """The state above `below` once a value of a rule is of every looser kind that it is of as it stands."""
        state = self._shifts[below][rule]
        while (looser := self._climbs[state].get(name)) and state not in self._ends.values():
            state = self._shifts[below][looser]
        return state

    def _readable(self, text: str, at: int, states: list[int]) -> frozenset[str]:
        """The terminals that could stand where none of them does."""
        tables = self._tables
        allowed = frozenset(tables["sets"][tables["accepted"][states[-1]]])
        if self._scanners.matcher(tables["everywhere"])(text, at):  # what stands there does have a place elsewhere
            return self._accepted(states) or allowed
        return allowed or frozenset({"<END-OF-FILE>"})

    def _accepted(self, states: list[int]) -> frozenset[str]:
        """The terminals that the text could go on with, not only be read up to."""
        names = {name for name in (*self._shifts[states[-1]], *self._reductions[states[-1]]) if name and name.isupper()}
        return frozenset(name for name in names if self._goes_on(list(states), name)) or frozenset(names)

    def _goes_on(self, states: list[int], name: str) -> bool:
        while name not in self._shifts[states[-1]]:
            if (reduction := self._reductions[states[-1]].get(name)) is None:
                return False
            size, _, rule, _ = reduction
            del states[len(states) - size :]
            states.append(self._shifts[states[-1]][rule])
        return True
