"""Recorded runs of openload, with the cells that they measured."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from benchbrief.extensions.tools.openload.openload import Openload
from benchbrief.extensions.tools.openload.openload_record import Log, read_log
from benchbrief.model.plan import Arrivals, UntilSteady
from benchbrief.runners.driver_contexts import CellContext, Endpoint
from benchbrief.runners.jobs.tasks import JobOutput
from benchbrief.runners.journal.secret_masking import Secret
from tests.support.cells import attached, context, recorded, ycsb

OUTPUTS = Path(__file__).parents[1] / "outputs"
DRIVER = Openload()
REFUSED, GAVE_UP, INTERRUPTED = 1, 4, 130
ANY_LAG = Arrivals(kind="poisson", lag=1.0)


def cell(
    target: float | None = 300.0,
    arrivals: Arrivals | None = ANY_LAG,
    *,
    benchmark: str = "a",
    uri: str = "mongodb://h/ycsb",
    **more: Any,
) -> CellContext:
    settings: dict[str, Any] = {"threads": 8, "warm_up_s": 1.0, "measure_s": 3.0} | more
    made = context(ycsb(benchmark), attached(uri), driver="openload", target=target, **settings)
    experiment = made.experiment.model_copy(update={"arrivals": arrivals})
    plan = made.plan.model_copy(update={"experiments": {"e": experiment}})
    return CellContext(plan, made.cell, "/opt/openload-mongodb", Endpoint(uri=Secret(uri)))


def poisson_cell() -> CellContext:
    return cell(400.0, threads=16, warm_up_s=2.0, measure_s=5.0)


def constant_cell() -> CellContext:
    return cell(arrivals=Arrivals(kind="constant", lag=1.0))


def steps_cell() -> CellContext:
    steps = Arrivals(kind="steps", rates=(100.0, 300.0, 600.0), each_s=2.0, lag=1.0)
    return cell(None, steps, measure_s=6.0, phases=3)


def steady_cell(within: float = 0.5, from_s: float = 50.0) -> CellContext:
    made = cell(100.0, warm_up_s=2.0, measure_s=120.0)
    rule = UntilSteady(within=within, from_s=from_s)
    experiment = made.experiment.model_copy(update={"until_steady": rule})
    plan = made.plan.model_copy(update={"experiments": {"e": experiment}})
    return CellContext(plan, made.cell, made.tool_path, made.endpoint)


def closed_cell() -> CellContext:
    return cell(None, None, benchmark="f", threads=4)


def output(name: str, exit_code: int | None = 0) -> JobOutput:
    return recorded(OUTPUTS / name, exit_code=exit_code)


@cache
def recorded_log(name: str) -> Log:
    """Return the histograms of a recording. They are cached, since reading those of 40 s takes a second."""
    return read_log(OUTPUTS / name / "histograms.hlog")


def changed_record(to: Path, of: str, change: Callable[[dict[str, Any]], None], exit_code: int = 0) -> JobOutput:
    """Return a recorded output with a changed record."""
    shutil.copytree(OUTPUTS / of, to, dirs_exist_ok=True)
    record = json.loads((to / "record.json").read_text())
    change(record)
    (to / "record.json").write_text(json.dumps(record))
    return recorded(to, exit_code=exit_code)
