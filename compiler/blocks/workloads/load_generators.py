"""Load generators: `ycsb`, `ycsb("/opt/ycsb")`, `db_bench("/usr/bin/db_bench")`."""

from __future__ import annotations

from benchbrief.compiler.blocks.values.values import Reader
from benchbrief.compiler.blocks.values.wrong_forms import described
from benchbrief.compiler.extensions import EngineSpec
from benchbrief.compiler.extensions.extension_errors import UnusableExtension
from benchbrief.compiler.extensions.own_tools import own_tools
from benchbrief.compiler.extensions.registry import TOOL_SPECS, Refused
from benchbrief.compiler.frontend import structure_errors
from benchbrief.compiler.planning import plan
from benchbrief.compiler.schemas.host_schema import TOOL
from benchbrief.compiler.shapes.value_shapes import Text
from benchbrief.dsl.syntax import ast


def usual_tool(engine: EngineSpec) -> plan.Tool:
    return plan.Tool(driver=engine.default_tool, package=TOOL_SPECS.source(engine.default_tool))


def can_load(engine: EngineSpec, tool: str) -> bool:
    spec = TOOL_SPECS.usable(tool)
    return tool in engine.tools or (spec is not None and engine.name in spec.drives)


def read_tool(exprs: tuple[ast.Expr, ...], reader: Reader) -> plan.Tool | None:
    """Return None when there is none, or after a mistake."""
    if not exprs:
        return None
    expr = exprs[0] if isinstance(exprs[0], ast.Name) and exprs[0].text in TOOL_SPECS.names else reader.deref(exprs[0])
    name = expr.function if isinstance(expr, ast.Call) else expr
    if not isinstance(name, ast.Name):
        return reader.refuse(structure_errors.WrongType(expr.span, "tool", TOOL.wanted, described(expr)))
    spec = TOOL_SPECS.find(name.text)
    if isinstance(spec, Refused):
        return reader.refuse(UnusableExtension.of(name.span, spec))
    if spec is None:
        known = tuple(dict.fromkeys((*own_tools(), *TOOL_SPECS.names)))
        return reader.refuse(structure_errors.UnknownWord(name.span, "tool", name.text, known))
    path: str | None = None
    for index, argument in enumerate(expr.arguments if isinstance(expr, ast.Call) else ()):
        if argument.key is not None:
            reader.report(
                structure_errors.BadArgument(
                    argument.span, name.text, "takes nothing but its path", spec.where_settings_go
                )
            )
        elif index == 0:
            read = reader.value("tool", argument.value, Text(absolute=True))
            path = read if isinstance(read, str) else None
        else:
            reader.report(
                structure_errors.BadArgument(argument.span, name.text, "takes one path", f'`{name.text}("/path")`')
            )
    return plan.Tool(driver=name.text, path=path, package=TOOL_SPECS.source(name.text))
