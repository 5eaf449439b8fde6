"""What `bench watch --json` prints: one object for each thing that happens, and for what goes on."""

from __future__ import annotations

from benchbrief.progress.follow_run import Followed
from benchbrief.progress.run_view import RunView
from benchbrief.results.runs.run_summary import CellState
from benchbrief.runners.execution.live_numbers import load_of, measures_of
from benchbrief.runners.journal import events as j

_ENDED: tuple[CellState, ...] = ("ok", "failed", "refused", "no_room", "skipped")

FIELDS = {
    "cell_started": ("cell", "attempt"),
    "cell_resumed": ("cell", "attempt", "step", "began_at", "away_since"),
    "cell_ended": ("cell", "attempt", "status", "ops_per_s", "reason", "origin"),
    "cell_skipped": ("cell", "reason", "no_room"),
    "search_ended": ("experiment", "hardware", "workload", "axis", "knee"),
    "point_chosen": ("experiment", "hardware", "workload", "axis", "point", "number", "why"),
    "remark": ("severity", "text", "cell", "origin"),
    "run_ended": ("status", "message"),
}
"""What of a record is shown, by its type; an empty text is null."""


def event(view: RunView, record: j.AnyRecord) -> dict[str, object] | None:
    """Of a journal record, None when it is of no interest to who watches."""
    base: dict[str, object] = {"event": record.type, "at": record.at, "run": view.run_id}
    match record.type:
        case "run_started":
            return {**base, "total": view.total, "resumed": record.resumed}
        case "promise_ended":
            found = record.model_dump(mode="json", exclude={"type", "at"})
            return {**base, **found, "sustained": record.sustained}
        case "measuring_ended":
            return {**base, **record.model_dump(mode="json", exclude={"type", "at"})}
    fields = FIELDS.get(record.type)
    return {**base, **{name: _shown(getattr(record, name)) for name in fields}} if fields else None


def _shown(value: object) -> object:
    return None if value == "" else list(value) if isinstance(value, tuple) else value


def present(view: RunView, followed: Followed, now: float) -> dict[str, object]:
    """What goes on now. Times in seconds, latencies too; what is not known is null."""
    measures = measures_of(followed.readings)
    return {
        "event": "present",
        "at": now,
        "run": view.run_id,
        "simulated": view.simulated,
        "phase": followed.phase,
        "total": view.total,
        **{state: view.of(state) for state in _ENDED},
        "elapsed_s": view.elapsed_s(now),
        "remaining_s": view.remaining_s(now),
        "running": [
            {
                "cell": name,
                "step": cell.step or None,
                "step_s": now - cell.step_began if cell.step else None,
                "step_planned_s": cell.step_s if cell.step else None,
                "ops_per_s": load.ops_per_s if (load := load_of(name, followed.readings)) else None,
                "loaded_in_s": view.load_left_s(name, load, now),
                "latency_s": load.latency_s if load else None,
                "latency_of": (load.latency_of or None) if load else None,
            }
            for name, cell in view.running.items()
        ],
        "hosts": {host: {"step": step or None, **measures.get(host, {})} for host, step in view.hosts().items()},
    }
