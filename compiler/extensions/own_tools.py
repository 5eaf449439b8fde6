"""Benchbrief's own load generators, in the order in which the checker and the reference name them."""

from __future__ import annotations

from benchbrief.compiler.extensions.engine_spec import EngineSpec
from benchbrief.compiler.extensions.registry import ENGINE_SPECS, TOOL_SPECS, tool_word, tool_words
from benchbrief.compiler.extensions.tool_spec import ToolSpec

_A_PATH = 'path = "/var/tmp/db"'


def own_tools() -> tuple[str, ...]:
    """Return what specs call benchbrief's own tools, in the order of their engines."""
    return tuple(dict.fromkeys(word for engine in ENGINE_SPECS.own.values() for word in tool_words(engine)))


def own_families() -> dict[str, ToolSpec]:
    """Return benchbrief's own tools that bring workloads."""
    return {name: TOOL_SPECS.own[name] for name in own_tools() if TOOL_SPECS.own[name].workloads}


def known_operations() -> tuple[str, ...]:
    """Return the operations of the workloads of benchbrief's own tools."""
    families = own_families().values()
    done = (name for spec in families for each in spec.workloads.values() for name in each.operations)
    return tuple(dict.fromkeys((*(name for spec in families for name in spec.shares), *done)))


def sample_databases(family: str) -> tuple[str, ...]:
    """Return a sample declaration for each engine that a tool of this family loads, or for each engine."""
    engines = ENGINE_SPECS.own.values()
    by = {engine.name: [tool for tool in engine.tools if TOOL_SPECS.own[tool].family == family] for engine in engines}
    loaded = [engine for engine in engines if by[engine.name]]
    return tuple(_sample(engine, (by[engine.name] or engine.tools)[0]) for engine in loaded or engines)


def _sample(engine: EngineSpec, tool: str) -> str:
    place = "server = embedded" if engine.has_stand_in else _A_PATH
    said = f"  tool = {tool_word(tool)}" if engine.in_process and tool != engine.default_tool else ""
    return f"`database db {{ engine = {engine.name}  {place}{said} }}`"
