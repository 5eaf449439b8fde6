"""Fills the holes in explanations with the extensions that exist. For example, `meters` fills `@meters@`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from textwrap import fill

from benchbrief.compiler.extension_samples import sample_meter, sample_workloads
from benchbrief.compiler.registry import (
    ENGINE_SPECS,
    METER_SPECS,
    PROBE_SPECS,
    SNAPSHOT_SPECS,
    TOOL_SPECS,
    can_ask,
    own_families,
    own_tools,
    tool_words,
)
from benchbrief.model.tool_spec import ToolSpec

_wrapped = partial(fill, width=120, break_long_words=False, break_on_hyphens=False)


def filled(explanation: str) -> str:
    """Fill the holes in an explanation, and rewrap the paragraphs that had some."""
    return "\n\n".join(_filled(part) if _HOLE.search(part) else part for part in explanation.split("\n\n"))


def _filled(paragraph: str) -> str:
    lines = _HOLE.sub(lambda hole: _HOLES[hole[1]](), paragraph)
    parts = lines.split("\n") if lines.startswith("- ") else [" ".join(lines.split())]
    return "\n".join(_wrapped(part, subsequent_indent="  " * part.startswith("- ")) for part in parts)


def _labels(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names)) or "none is installed"


def _tools(can: Callable[[ToolSpec], object]) -> Callable[[], str]:
    return lambda: _labels(TOOL_SPECS.own[name].label for name in own_tools() if can(TOOL_SPECS.own[name]))


def _engines(label: Callable[[str], bool]) -> Callable[[], str]:
    return lambda: _labels(spec.label for name, spec in ENGINE_SPECS.own.items() if label(name))


def _listed(tell: Callable[[ToolSpec], str]) -> Callable[[], str]:
    def lines() -> Iterator[str]:
        for tool in map(TOOL_SPECS.own.__getitem__, own_tools()):
            if said := tell(tool):
                yield f"- {tool.label}: {said}"

    return lambda: "\n".join(lines())


def _ticked(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _limits(tool: ToolSpec) -> str:
    return "; ".join(f"`{each.attribute}` is {each.wanted}" for each in tool.limits)


def _unknown_values(tool: ToolSpec) -> str:
    return _ticked(f"{key} = {value}" for key, values in tool.lacks.items() for value in values)


def _tools_of_engines() -> str:
    return "\n".join(f"- {spec.label}: {_ticked(tool_words(spec))}" for spec in ENGINE_SPECS.own.values())


def _resets() -> str:
    lines = []
    for engine in ENGINE_SPECS.own.values():
        names = (*engine.resets, *(SNAPSHOT_SPECS.own if engine.snapshots else ()))
        lines.append(f"- {engine.label}: {_ticked(names)}")
    return "\n".join(lines)


def _asked_engines() -> str:
    asking = [spec for spec in PROBE_SPECS.own.values() if spec.asks == "database"]
    return _labels(each.label for each in ENGINE_SPECS.own.values() if any(can_ask(probe, each) for probe in asking))


def _measure() -> str:
    """Return a measure that only one tool reports, with its tool."""
    found = ((name, TOOL_SPECS.own[tool].label) for tool in own_tools() for name in TOOL_SPECS.own[tool].measures)
    return next(
        (f"`{name}` exists only for cells that {label} has measured" for name, label in found), "none is installed"
    )


def _untimed() -> str:
    ending = (
        f"{family}.{name}"
        for family, spec in own_families().items()
        for name, each in spec.workloads.items()
        if not each.timed
    )
    return _ticked(list(ending)[:2]) or "those that read all records once"


_HOLES: dict[str, Callable[[], str]] = {
    "resets": _resets,
    "meters": lambda: _ticked(METER_SPECS.own),
    "meter_on_host": sample_meter,
    "workloads": lambda: _ticked(sample_workloads()),
    "untimed": _untimed,
    "tools_of_engines": _tools_of_engines,
    "asked_engines": _asked_engines,
    "libraries": _engines(lambda name: ENGINE_SPECS.own[name].in_process),
    "stand_ins": _engines(lambda name: bool(ENGINE_SPECS.own[name].has_stand_in)),
    "whole_seconds": _tools(lambda tool: tool.whole_seconds),
    "closed": _tools(lambda tool: not tool.open_loop),
    "phased": _tools(lambda tool: tool.phases),
    "unphased": _tools(lambda tool: not tool.phases),
    "due": _tools(lambda tool: tool.open_loop and tool.intended_latency),
    "merged": _tools(lambda tool: tool.mergeable),
    "unmerged": _tools(lambda tool: not tool.mergeable),
    "loading": _tools(lambda tool: tool.loads),
    "from_one_host": _tools(lambda tool: tool.from_one_host),
    "flags": _tools(lambda tool: tool.flags),
    "known_flags": _listed(lambda tool: f"those of {tool.flags.versions}" if tool.flags else ""),
    "limits": _listed(_limits),
    "arrivals": _listed(lambda tool: _ticked(tool.arrivals)),
    "bounds": _listed(lambda tool: _ticked(tool.bounds)),
    "unknown_values": _listed(_unknown_values),
    "measure": _measure,
}
_HOLE = re.compile(rf"@({'|'.join(_HOLES)})@")
