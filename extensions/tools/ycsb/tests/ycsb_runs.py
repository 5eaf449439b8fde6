"""Recorded runs of YCSB, with the cells that they measured."""

from __future__ import annotations

import shutil
from pathlib import Path

from benchbrief.extensions.tools.ycsb.ycsb import Ycsb
from benchbrief.runners.driver_contexts import CellContext, Endpoint
from benchbrief.runners.jobs.tasks import JobOutput
from benchbrief.runners.journal.secret_masking import Secret
from tests.support.cells import attached, context, recorded, ycsb

OUTPUTS = Path(__file__).parents[1] / "outputs"
DRIVER = Ycsb()
URI = Secret("mongodb://user:open-sesame@db-1/ycsb", name="uri")
DATABASE = attached("mongodb://db-1/ycsb")


def rmw(warm_up_s: float = 1.0, measure_s: float = 4.0, phases: int = 1, max_error_share: float = 0.0) -> CellContext:
    """Return the cell of the recording `read-modify-write`: 6 s, workload F."""
    return context(
        ycsb("f", 5000),
        DATABASE,
        threads=4,
        warm_up_s=warm_up_s,
        measure_s=measure_s,
        phases=phases,
        max_error_share=max_error_share,
    )


def offered() -> CellContext:
    """Return the cell of the recording `offered-load`: 4 s at 500 ops/s, measurement.interval=both."""
    return context(ycsb("f", 5000), DATABASE, threads=4, target=500, warm_up_s=1.0, measure_s=2.0)


def whole_run(measure_s: float, max_error_share: float = 0.0) -> CellContext:
    return context(ycsb("c"), DATABASE, threads=8, measure_s=measure_s, max_error_share=max_error_share)


def output(name: str, exit_code: int | None = 0) -> JobOutput:
    return recorded(OUTPUTS / name, exit_code=exit_code)


def copied(name: str, to: Path) -> JobOutput:
    shutil.copytree(OUTPUTS / name, to, dirs_exist_ok=True)
    return recorded(to)


def at(cell: CellContext) -> CellContext:
    return CellContext(cell.plan, cell.cell, "/opt/ycsb/bin/ycsb.sh", Endpoint(uri=URI))


def settings(cell: CellContext, verb: str = "measure") -> dict[str, str]:
    job = DRIVER.measure(at(cell)) if verb == "measure" else DRIVER.load(at(cell))
    assert job
    text = "".join(word if isinstance(word, str) else word.value for word in job.files[0].content)
    return dict(line.split("=", 1) for line in text.splitlines())
