"""Writes a syntax tree as a line of text, for tables of texts and their meanings."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from benchbrief.dsl.source import Source, Span
from benchbrief.dsl.syntax import ast
from benchbrief.dsl.syntax.parse import parse


def tree(text: str) -> str:
    """Return the declarations of a text, one after another."""
    return " ".join(shown(declaration) for declaration in parse(Source("t.bench", text)).declarations)


def value(text: str) -> str:
    """Write an expression as it stands in a spec."""
    (declaration,) = parse(Source("t.bench", f"param p = {text}")).declarations
    assert isinstance(declaration, ast.Param)
    return shown(declaration.value)


def series(text: str) -> str:
    """Return the values of an attribute, with `|` between them."""
    (block,) = parse(Source("t.bench", f"report r {{ a = {text} }}")).declarations
    assert isinstance(block, ast.Block)
    (attribute,) = block.body
    assert isinstance(attribute, ast.Attribute)
    return " | ".join(shown(item) for item in attribute.values)


def walk(node: Any) -> Iterator[Any]:
    """Yield a node and everything below it, parents first."""
    yield node
    for field in dataclasses.fields(node):
        inner = getattr(node, field.name)
        for each in inner if isinstance(inner, tuple) else (inner,):
            if dataclasses.is_dataclass(each) and not isinstance(each, Span):
                yield from walk(each)


def shown(node: Any) -> str:
    match node:
        case None:
            return "-"
        case str():
            return repr(node)
        case ast.Name():
            return node.text
        case ast.Quantity():
            return f"{node.value:g}{':' + node.unit if node.unit else ''}"
        case ast.String():
            return "".join(["<", *(shown(part) for part in node.parts), ">"])
        case ast.Hole():
            return f"{{{shown(node.expr)}:{node.format}}}"
        case ast.List():
            return f"[{', '.join(shown(item) for item in node.items)}]"
        case ast.Attr():
            return f"{shown(node.base)}.{node.field.text}"
        case ast.Argument():
            return f"{node.key.text}: {shown(node.value)}" if node.key else shown(node.value)
        case ast.Call():
            inside = ", ".join(shown(argument) for argument in node.arguments)
            over = " over " + ", ".join(name.text for name in node.over) if node.over else ""
            when = f" when {shown(node.when)}" if node.when else ""
            return f"{node.function.text}({inside}{over}{when})"
        case ast.Index():
            return f"{shown(node.base)}[{', '.join(shown(argument) for argument in node.arguments)}]"
        case ast.Unary():
            return f"({node.operator} {shown(node.operand)})"
        case ast.Binary():
            return f"({shown(node.left)} {node.operator} {shown(node.right)})"
        case ast.Every():
            return f"every({shown(node.subject)}, {shown(node.interval)}, {shown(node.target)})"
        case ast.By():
            return f"{node.keyword}({shown(node.subject)}; {', '.join(name.text for name in node.dimensions)})"
        case ast.Option():
            return f"option({node.word.text} {shown(node.value)})"
        case ast.Attribute():
            label = f" {shown(node.label)}" if node.label else ""
            return f"{node.key.text}{label} = {' | '.join(shown(item) for item in node.values)};"
        case ast.Block():
            head = [node.keyword.text, *(shown(each) for each in (node.name, node.label) if each)]
            head += [f"of {node.subject.text}"] if node.subject else []
            head += [f"from {shown(node.base)}"] if node.base else []
            return f"{' '.join(head)} {{{' '.join(['', *(shown(item) for item in node.body), ''])}}}"
        case ast.Metric():
            return f"metric {shown(node.name)} {shown(node.label)} {shown(node.unit)} {shown(node.expr)} {node.better}"
        case ast.Expect():
            return f"expect {shown(node.label)} {shown(node.condition)}"
        case ast.Param():
            return f"param {node.name.text} {shown(node.value)}"
        case ast.Use():
            return f"use {shown(node.path)}"
    raise AssertionError(node)
