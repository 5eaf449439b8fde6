"""The parser's tables, run in one tight loop: about twice as fast as the library runs them.

The library compares and hashes a rule at every reduction in Python code, and counts lines that nobody asks for. Here
its tables are put into plain dictionaries once, and a token is its text with two places. A value that is an expression
of every tighter kind, too, climbs from the tightest to the loosest in one step. Only texts without a mistake are read
to the end: at the first mistake the library takes over, and tells what it expected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

Reduction = tuple[int, Callable[[list[Any]], Any], str, dict[int, int]]
"""How many values become one, what makes it of them, the name of the rule, and the state that follows each state
below, as far as that is known."""
Matcher = Callable[[str, int], "re.Match[str] | None"]


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


class _Scanners(dict[int, list[Matcher]]):
    """What finds the next token in each state, compiled where it is needed: a short spec passes few states."""

    def __init__(self, lexers: Mapping[int, Any]) -> None:
        super().__init__()
        self._lexers = lexers

    def __missing__(self, state: int) -> list[Matcher]:
        found = self[state] = _matchers(self._lexers[state])
        return found


def _matchers(lexer: Any) -> list[Matcher]:
    found = [pattern.match for pattern in lexer.scanner._mres]  # this compiles them
    if lexer.callback:
        raise TypeError("a terminal with a callback is not known here")
    return found


def _nothing(_: list[Any]) -> None:
    """What is made where only the way through the text counts."""


def _stays(rule: Any) -> bool:
    """Whether the one value of a rule is what is made of it."""
    return rule.options.expand1 and not rule.alias and len(rule.expansion) == 1 and not rule.expansion[0].is_term


class Driver:
    """Runs the tables of a lark parser (LALR, with a contextual lexer and a transformer of its own)."""

    def __init__(self, parser: Any, *, builds: bool = True) -> None:
        inner = parser.parser.parser.parser
        table, callbacks, lexers = inner.parse_table, inner.callbacks, parser.parser.lexer.lexers
        self._starts: Mapping[str, int] = table.start_states
        self._ends: Mapping[str, int] = table.end_states
        self._shifts: dict[int, dict[str | None, int]] = {}
        """For each state, and the terminal or rule that is met there: the next state."""
        self._reductions: dict[int, dict[str | None, Reduction]] = {}
        """For each state and terminal: what is to be made of the values so far."""
        self._climbs: dict[int, dict[str | None, str]] = {}
        """For each state and terminal: the rule of which the last value is one as it stands."""
        for state, actions in table.states.items():
            args = {str(name): arg for name, (_, arg) in actions.items()}
            self._shifts[state] = {name: arg for name, arg in args.items() if isinstance(arg, int)}
            self._reductions[state] = {
                name: (len(arg.expansion), callbacks[arg] if builds else _nothing, str(arg.origin.name), {})
                for name, arg in args.items()
                if not isinstance(arg, int)
            }
            self._climbs[state] = {
                name: str(arg.origin.name) for name, arg in args.items() if not isinstance(arg, int) and _stays(arg)
            }
        self._lexers = lexers
        self._scanners = _Scanners(lexers)
        self._root = parser.parser.lexer.root_lexer
        some = next(iter(lexers.values()))
        ignored = (some.terminals_by_name[name].pattern.to_regexp() for name in some.ignore_types)
        self._skip = re.compile("|".join(ignored)).match

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
                for match in scanners[state]:
                    if found := match(text, at):
                        break
                else:
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
        allowed = frozenset(self._lexers[states[-1]].scanner.allowed_types - self._root.ignore_types)
        if any(match(text, at) for match in _matchers(self._root)):  # what stands there does have a place elsewhere
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
