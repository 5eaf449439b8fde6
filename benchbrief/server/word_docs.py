"""Docs of attributes and of what a spec declares, as Markdown: in completion and on hover."""

from __future__ import annotations

from lsprotocol import types

from benchbrief.compiler.frontend.name_index import NameIndex, Node, Symbol
from benchbrief.compiler.registry import ENGINE_SPECS, TOOL_SPECS
from benchbrief.compiler.schemas import (
    BLOCKS,
    DATABASE_OPTIONS,
    ELEMENTS,
    database_schema,
    options_schema,
    owners,
    workload_schema,
)
from benchbrief.dsl.syntax import ast
from benchbrief.model.value_shapes import BlockSchema, Fact, Key
from benchbrief.server.cursor_context import Cursor

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
        lines.append(f"for {owners(key.only)} only")
    return "  \n".join(lines)


def declared(node: Node) -> str:
    """The declaration as it is written, cut when it is long."""
    lines = node.span.text.splitlines()
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], "  ..."]
    text = "\n".join(lines)
    return f"```bench\n{text}\n```"


def schema_of(keyword: str, family: str) -> BlockSchema | None:
    """What a block may hold; `family` is the engine or the tool that it is for, "" where that is not known."""
    engine = ENGINE_SPECS.usable(family) if keyword in ("database", "options") else None
    match keyword:
        case "options":
            whole = BlockSchema("", DATABASE_OPTIONS, open_keys=Fact(), named=False)
            return options_schema(engine, flags=engine.in_process) if engine else whole
        case "database":
            return database_schema(engine)
        case "workload":
            return workload_schema(TOOL_SPECS.usable(family))
        case _:
            return ELEMENTS.get(keyword) or BLOCKS.get(keyword)


def family_at(cursor: Cursor, index: NameIndex) -> str:
    """What the block at the cursor is for, as `family_of` says it; of `options`, what the database around them is."""
    *around, block = cursor.blocks
    head = around[-1].head if block.head.keyword == "options" and around else block.head
    return family_of(head.name if head.keyword == "override" else head.keyword, head.name, head.base, index)


def family_of(kind: str, name: str, base: str, index: NameIndex) -> str:
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
