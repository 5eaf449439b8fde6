"""What `bench watch --json` prints: one object for each thing that happens, and for what goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchbrief.progress.follow_run import Followed
    from benchbrief.progress.run_view import RunView
    from benchbrief.results.runs.run_summary import CellState
    from benchbrief.runners.journal import events as j


_ENDED: tuple[CellState, ...] = ("ok", "failed", "no_room", "skipped")


def event(view: RunView, record: j.AnyRecord) -> dict[str, object] | None:
    """Of a journal record, None when it is of no interest to who watches."""
    from benchbrief.runners.journal import events as j

    base: dict[str, object] = {"at": record.at, "run": view.run_id}
    match record:
        case j.RunStarted():
            return {"event": "run_started", **base, "total": view.total, "resumed": record.resumed}
        case j.CellStarted():
            return {"event": "cell_started", **base, "cell": record.cell, "attempt": record.attempt}
        case j.CellResumed():
            away = {"step": record.step, "began_at": record.began_at, "away_since": record.away_since}
            return {"event": "cell_resumed", **base, "cell": record.cell, "attempt": record.attempt, **away}
        case j.CellEnded():
            ended = {"cell": record.cell, "attempt": record.attempt, "status": record.status}
            found = {"ops_per_s": record.ops_per_s, "reason": record.reason or None, "origin": record.origin or None}
            return {"event": "cell_ended", **base, **ended, **found}
        case j.CellSkipped():
            room = {"no_room": record.no_room or None}
            return {"event": "cell_skipped", **base, "cell": record.cell, "reason": record.reason, **room}
        case j.SearchEnded():
            where = {"experiment": record.experiment, "hardware": record.hardware, "workload": record.workload}
            return {"event": "search_ended", **base, **where, "axis": record.axis, "knee": record.knee}
        case j.PointChosen():
            ramp = {"experiment": record.experiment, "hardware": list(record.hardware), "workload": record.workload}
            chosen = {"axis": record.axis, "point": record.point, "number": record.number, "why": record.why}
            return {"event": "point_chosen", **base, **ramp, **chosen}
        case j.PromiseEnded():
            found = record.model_dump(mode="json", exclude={"type", "at"})
            return {"event": "promise_ended", **base, **found, "sustained": record.sustained}
        case j.MeasuringEnded():
            return {"event": "measuring_ended", **base, **record.model_dump(mode="json", exclude={"type", "at"})}
        case j.Remark():
            said = {"severity": record.severity, "text": record.text}
            return {"event": "remark", **base, **said, "cell": record.cell, "origin": record.origin or None}
        case j.RunEnded():
            return {"event": "run_ended", **base, "status": record.status, "message": record.message}
    return None


def present(view: RunView, followed: Followed, now: float) -> dict[str, object]:
    """What goes on now. Times in seconds, latencies too; what is not known is null."""
    from benchbrief.runners.execution.live_numbers import load_of, measures_of

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
