"""The parser's tables, which lark makes from the grammar. `python -m benchbrief.dsl.syntax.grammar_tables` writes
bench.json.

Making the tables takes lark 0.1 s, which would delay each command. `parse.py` uses the tables.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lark import Lark
from lark.utils import sre_parse  # type: ignore[attr-defined]  # as lark names it in each version of Python

GRAMMAR = Path(__file__).with_name("bench.lark")
TABLES = GRAMMAR.with_suffix(".json")


def library(builder: object = None) -> Lark:
    """Return the parser that lark itself makes from the grammar. `builder` has a method for each rule."""
    text = GRAMMAR.read_text(encoding="utf-8")
    return Lark(text, parser="lalr", start=["file", "expr"], maybe_placeholders=True, transformer=builder)


def tables() -> str:
    """Return the tables (`parse.Tables`) as JSON."""
    lark = library()
    parser: Any = lark.parser
    table, lexers = parser.parser.parser.parse_table, parser.lexer.lexers
    states = _in_order(table)
    actions = [sorted((str(name), arg) for name, (_, arg) in table.states[state].items()) for state in states]
    rules = list(dict.fromkeys(arg for each in actions for _, arg in each if not isinstance(arg, int)))
    accepted = [_accepted(lexers[state]) for state in states]
    sets = list(dict.fromkeys(accepted))
    ignored = set(lark.ignore_tokens)
    found = {
        "grammar": zlib.crc32(GRAMMAR.read_bytes()),
        "starts": {name: states.index(state) for name, state in sorted(table.start_states.items())},
        "ends": {name: states.index(state) for name, state in sorted(table.end_states.items())},
        "rules": [_rule(rule) for rule in rules],
        "shifts": [{name: states.index(arg) for name, arg in each if isinstance(arg, int)} for each in actions],
        "reductions": [{name: rules.index(arg) for name, arg in each if not isinstance(arg, int)} for each in actions],
        "terminals": {each.name: each.pattern.to_regexp() for each in lark.terminals if each.name not in ignored},
        "firsts": {
            each.name: "".join(sorted(_firsts(sre_parse.parse(each.pattern.to_regexp()))[0]))
            for each in lark.terminals
            if each.name not in ignored
        },
        "ignored": [each.pattern.to_regexp() for each in lark.terminals if each.name in ignored],
        "everywhere": _accepted(parser.lexer.root_lexer),
        "sets": sets,
        "accepted": [sets.index(each) for each in accepted],
    }
    lines = (f" {json.dumps(name)}: {json.dumps(value)}" for name, value in found.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _in_order(table: Any) -> list[int]:
    """Return the states in the order in which they are reached. The same grammar therefore always gets the same
    numbers."""
    found = dict.fromkeys(state for _, state in sorted(table.start_states.items()))
    left = list(found)
    for state in left:
        after = [arg for _, (_, arg) in sorted(table.states[state].items(), key=lambda each: str(each[0]))]
        new = [arg for arg in dict.fromkeys(after) if isinstance(arg, int) and arg not in found]
        found.update(dict.fromkeys(new))
        left += new
    return list(found)


def _accepted(lexer: Any) -> tuple[str, ...]:
    """Return the terminals that may come next, in the order in which the parser tries them."""
    scanner = lexer.scanner
    if lexer.callback:
        raise TypeError("a terminal with a callback is not known to parser_loop.py")
    return tuple(each.name for each in scanner.terminals if each.name not in lexer.ignore_types)


_ASCII = frozenset(map(chr, range(128)))


def _firsts(pattern: Iterable[tuple[Any, Any]]) -> tuple[frozenset[str], bool]:
    """Return the ASCII characters that can begin a match of a parsed pattern, or all characters if that is not clear.
    Also return whether the pattern matches an empty text."""
    found: frozenset[str] = frozenset()
    for kind, value in pattern:
        match str(kind):
            case "ASSERT" | "ASSERT_NOT":
                continue
            case "LITERAL":
                return found | {chr(value)}, False
            case "IN" if all(str(each) in ("LITERAL", "RANGE") for each, _ in value):
                ends = ((each, each) if isinstance(each, int) else each for _, each in value)
                return found | {char for low, high in ends for char in _ASCII if low <= ord(char) <= high}, False
            case "SUBPATTERN" if not value[1]:  # without flags
                inner = [value[-1]]
            case "BRANCH":
                inner = value[-1]
            case "MAX_REPEAT":
                inner = [value[-1]]
            case _:
                return _ASCII, False
        parts = [_firsts(each) for each in inner]
        found = found.union(*(chars for chars, _ in parts))
        if not any(empty for _, empty in parts) and not (str(kind) == "MAX_REPEAT" and value[0] == 0):
            return found, False
    return found, True


def _rule(rule: Any) -> dict[str, object]:
    """Return a rule: its name, the name of the builder's method, and which of its values are passed to the node."""
    kept: list[tuple[int, bool, int]] = []
    gaps = "".join(str(int(empty)) for empty in rule.options.empty_indices or [False] * len(rule.expansion)).split("0")
    absent = 0
    for index, (symbol, gap) in enumerate(zip(rule.expansion, gaps, strict=False)):
        absent += len(gap)
        if rule.options.keep_all_tokens or not (symbol.is_term and symbol.filter_out):
            kept.append((index, not symbol.is_term and symbol.name.startswith("_"), absent))
            absent = 0
    return {
        "name": str(rule.origin.name),
        "makes": rule.alias or str(rule.origin.name),
        "size": len(rule.expansion),
        "stays": bool(rule.options.expand1 and not rule.alias),
        "kept": kept,
        "absent": absent + len(gaps[-1]),
    }


if __name__ == "__main__":
    TABLES.write_text(tables(), encoding="utf-8")
