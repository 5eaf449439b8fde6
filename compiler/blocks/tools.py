"""Load generators: `ycsb`, `ycsb("/opt/ycsb")`, `db_bench("/usr/bin/db_bench", flag: value)`."""

from __future__ import annotations

from benchbrief.compiler import plan
from benchbrief.compiler.blocks import structure_errors
from benchbrief.compiler.blocks.host_schema import TOOL
from benchbrief.compiler.blocks.shapes import Fact, Text
from benchbrief.compiler.blocks.values import Constant, Reader
from benchbrief.compiler.blocks.wrong_values import described
from benchbrief.dsl import ast

ENGINE_TOOLS = {"mongodb": ("ycsb", "go_ycsb"), "rocksdb": ("db_bench",)}
DRIVERS = tuple(tool for tools in ENGINE_TOOLS.values() for tool in tools)
OPEN_LOOP = ("ycsb", "go_ycsb")
"""Those that can offer a load (`target`)."""
INTENDED = ("ycsb",)
"""Those that count the latency of an offered load from when an operation was due, not only from when it was sent."""
PHASED = ("ycsb",)
"""Those that tell latencies for parts of a run: YCSB by its HDR logs, a line a second. db_bench has one histogram for
the whole run, and intervals of counts alone; go-ycsb's interim rows are cumulative, so their percentiles are as well.
"""
MERGEABLE = ("ycsb", "db_bench")
"""Those that tell latencies as histograms, which can be merged over load generators."""


def read_tool(exprs: tuple[ast.Expr, ...], reader: Reader) -> plan.Tool | None:
    """None when there is none, or when what there is was reported."""
    if not exprs:
        return None
    expr = exprs[0] if isinstance(exprs[0], ast.Name) and exprs[0].text in DRIVERS else reader.deref(exprs[0])
    name = expr.function if isinstance(expr, ast.Call) else expr
    if not isinstance(name, ast.Name):
        reader.findings.add(structure_errors.WrongType(expr.span, "tool", TOOL.wanted, described(expr)))
        return None
    if name.text not in DRIVERS:
        reader.findings.add(structure_errors.UnknownWord(name.span, "tool", name.text, DRIVERS))
        return None
    path: str | None = None
    options: dict[str, str | float | bool] = {}
    for index, argument in enumerate(expr.arguments if isinstance(expr, ast.Call) else ()):
        if argument.key is not None:
            value = reader.value(argument.key.text, argument.value, Fact())
            if isinstance(value, Constant):
                options[argument.key.text] = value.value
            elif isinstance(value, str | bool):
                options[argument.key.text] = value
        elif index == 0:
            read = reader.value("tool", argument.value, Text(absolute=True))
            path = read if isinstance(read, str) else None
        else:
            reader.findings.add(
                structure_errors.BadArgument(
                    argument.span, name.text, "takes one path", f'`{name.text}("/path")`, options as `name: value`'
                )
            )
    return plan.Tool(driver=name.text, path=path, options=options)
