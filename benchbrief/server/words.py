"""What is told of attributes and of what a spec declares, as Markdown: in completion and on hover."""

from __future__ import annotations

from lsprotocol import types

from benchbrief.compiler.blocks.shapes import Key
from benchbrief.compiler.index import Index, Node, Symbol
from benchbrief.dsl import ast

_MOST_LINES = 12


def markdown(text: str) -> types.MarkupContent | None:
    return types.MarkupContent(types.MarkupKind.Markdown, text) if text else None


def attribute_doc(key: Key) -> str:
    """What an attribute says, what its value must be, and what holds when it is left out."""
    lines = [key.doc, "", f"Wanted: {key.shape.described}"]
    if key.example:
        lines.append(f"As in: `{key.example}`")
    if key.required:
        lines.append("must be said")
    elif key.default:
        lines.append(f"left out: {key.default}")
    if key.only:
        lines.append(f"for {key.only} only")
    return "  \n".join(lines)


def declared(node: Node) -> str:
    """The declaration as it is written, cut when it is long."""
    lines = node.span.text.splitlines()
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], "  ..."]
    text = "\n".join(lines)
    return f"```bench\n{text}\n```"


def family_of(kind: str, name: str, base: str, index: Index) -> str:
    """What a workload is from (`ycsb`, `db_bench`), or the engine of a database; "" when that is not known."""
    if kind == "workload":
        seen: set[str] = set()
        while base and "." not in base and base not in seen:
            seen.add(base)
            node = index.nodes.get(Symbol("workload", base))
            above = node.base if isinstance(node, ast.Block) else None
            base = above.span.text if above is not None else ""
        return base.partition(".")[0] if "." in base else ""
    if kind == "database":
        node = index.nodes.get(Symbol("database", name))
        for item in node.body if isinstance(node, ast.Block) else ():
            if isinstance(item, ast.Attribute) and item.key.text == "engine":
                return item.values[0].span.text
    return ""
