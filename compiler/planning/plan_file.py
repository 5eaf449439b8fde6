"""Reads and writes plan.json a few cells at a time, so that a hundred thousand cells need little more memory than the
differences between them."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterator

from benchbrief.compiler.registry import TOOL_SPECS
from benchbrief.model.node import adapter
from benchbrief.model.plan import Cell, Plan, Probe, Tool, Workload

_BEGIN, _END = b'\n "cells": [\n', b"\n ],\n"
_NONE = b'\n "cells": [],\n'
_BETWEEN = b"\n  },\n  {\n"
"""The text that `Plan.model_dump_json(indent=1)` writes between two cells. No string contains it, since strings have no
line ends."""
_AT_ONCE = 1 << 18
_CELLS_AT_ONCE = 100


def read_plan(content: bytes) -> Plan:
    """Read a plan from the bytes of plan.json. Raises ValueError if they are not a plan."""
    begin = content.find(_BEGIN)
    end = content.find(_END, begin)
    if begin < 0 or end < 0:  # the plan has no cells, or is written in another way
        return _of_before(Plan.model_validate_json(content))
    begin += len(_BEGIN)
    plan = Plan.model_validate_json(content[:begin] + content[end:])
    shared, read = _Shared(), adapter(list[Cell]).validate_json
    cells = tuple(shared.of(cell) for part in _parts(content, begin, end) for cell in read(part))
    return _of_before(plan).model_copy(update={"cells": cells})


def _of_before(plan: Plan) -> Plan:
    """Return the plan with the operations of its workloads filled in. Plans written by earlier versions lack them."""
    lacking = {name: each for name, each in plan.workloads.items() if not each.operations}
    if not lacking:
        return plan
    done = {name: each.model_copy(update={"operations": _operations(each)}) for name, each in lacking.items()}
    return plan.model_copy(update={"workloads": {**plan.workloads, **done}})


def _operations(workload: Workload) -> tuple[str, ...]:
    if workload.phase == "load":
        return ("insert",)
    spec = TOOL_SPECS.own.get(workload.family)
    return spec.operations(workload.benchmark, workload.properties) if spec else ()


def plan_sha256(plan: Plan) -> str:
    """Return the SHA-256 of plan.json in the form that a run keeps."""
    digest = hashlib.sha256()
    for part in written_plan(plan):
        digest.update(part)
    return digest.hexdigest()


def written_plan(plan: Plan) -> Iterator[bytes]:
    """Yield plan.json in parts: the bytes of `Plan.model_dump_json(indent=1)`."""
    rest = plan.model_copy(update={"cells": ()}).model_dump_json(indent=1).encode()
    if not plan.cells:
        yield rest
        return
    before, _, after = rest.partition(_NONE)
    yield before + _BEGIN
    for at in range(0, len(plan.cells), _CELLS_AT_ONCE):
        array = adapter(list[Cell]).dump_json(list(plan.cells[at : at + _CELLS_AT_ONCE]), indent=1)
        cells = array.removeprefix(b"[\n").removesuffix(b"\n]").replace(b"\n", b"\n ")
        yield (b",\n " if at else b" ") + cells
    yield _END + after


def _parts(content: bytes, begin: int, end: int) -> Iterator[bytes]:
    """Yield the cells in `content[begin:end]` in batches, each as a JSON array."""
    while begin < end:
        found = content.find(_BETWEEN, begin + _AT_ONCE, end)
        until = end if found < 0 else found + len(b"\n  }")
        yield b"[" + content[begin:until] + b"]"
        begin = until + 1


_ALIKE = ("load_hosts", "dataset", "steps", "events", "locks", "shares", "origin")
"""Fields whose values cells can share. The values are hashable and have fixed types, so that 1 is not confused with
true."""


class _Shared:
    """Lets cells share one object for equal values. This is safe because no code assigns to the fields concerned, which
    mypy checks."""

    def __init__(self) -> None:
        self._parts: dict[tuple[str, Hashable], Hashable] = {}
        self._probes: dict[tuple[str, str], tuple[Probe, ...]] = {}
        self._tools: dict[tuple[str, str | None], Tool] = {}

    def of(self, cell: Cell) -> Cell:
        """Return the cell, with the shared objects in place of its own equal values."""
        fields = cell.__dict__
        probes = self._probes.setdefault((cell.experiment, cell.hardware), cell.probes)
        if probes == cell.probes:  # all their types are fixed, so that no 1 is taken for true
            fields["probes"] = probes
        tool = self._tools.setdefault((cell.tool.driver, cell.tool.path), cell.tool)
        if tool == cell.tool and not tool.options:
            fields["tool"] = tool
        for name in _ALIKE:
            fields[name] = self._parts.setdefault((name, fields[name]), fields[name])
        return cell
