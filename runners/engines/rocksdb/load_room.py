"""The room that the load of a RocksDB database needs on its file system."""

from __future__ import annotations

from benchbrief.compiler.extensions.registry import TOOL_SPECS
from benchbrief.compiler.planning.plan import Cell, Plan, Workload
from benchbrief.compiler.resets.tolerated_changes import writes
from benchbrief.runners.data_seams import Room
from benchbrief.runners.engines.rocksdb.snapshot_ways import WAYS
from benchbrief.runners.hosts.facts.host_facts import size_text

_ROOM_FACTOR = 1.25
"""A load writes each record about once (to sorted files, with its log off). The rest is for indexes and compactions."""
_ROOM_SPARE = 64 << 20


def room_for(plan: Plan, cell: Cell) -> Room:
    """Estimate how many bytes a cell's load needs."""
    workload = plan.workloads[cell.workload]
    records = cell.dataset.records if cell.dataset else float(workload.properties.get("records", 0))
    data = int(records * record_size(workload))
    reset = plan.databases[cell.database].reset
    beside = reset == "snapshot" or (reset in WAYS and _writes(plan, cell))
    needed = (2 if beside else 1) * int(data * _ROOM_FACTOR) + _ROOM_SPARE
    twice = ", all of it twice for the snapshot" if reset == "snapshot" else ", all of it twice for what cells write"
    parts = f"{size_text(data)} of data, a quarter more for compactions{twice if beside else ''}"
    why = f"{parts}, and {size_text(_ROOM_SPARE)} to spare"
    return Room(needed, why)


def _writes(plan: Plan, cell: Cell) -> bool:
    """Return whether a cell of the same database writes to it. Its new files stand beside those of the snapshot."""
    others = (other for other in plan.cells if other.database == cell.database)
    return any(writes(plan.workloads[other.workload], other.events) for other in others)


def record_size(workload: Workload) -> float:
    """Return the bytes of a record, before compression, as its load generator counts them; 0 when unknown."""
    family = TOOL_SPECS.usable(workload.family)
    return family.record_bytes(workload.properties) if family else 0.0
