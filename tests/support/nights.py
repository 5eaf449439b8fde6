"""A folder of made-up nightly runs. Each has its plan, journal, raw outputs and tables, as `bench run` leaves them, but
not DuckDB's file.

`plain_tools` must be installed to make the runs, but not to read them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from benchbrief.compiler import registry
from benchbrief.model import events as j
from benchbrief.model.measurement import Operation
from benchbrief.results.build_store import STORE, build_tables
from benchbrief.results.ingest import cell_measurement
from tests.results.making import T0, RunMaker, a_cell, a_plan, histogram, measurement

PLUGIN = Path(__file__).parents[1] / "results" / "plugin"
DAY = 86_400
HARDWARE = ("disk", "flash")
REPEATS = 3


@contextmanager
def plain_tools() -> Iterator[None]:
    """Install the tools of `PLUGIN` for the block."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(PLUGIN)
        _forget_drivers()
        yield
    _forget_drivers()


def _forget_drivers() -> None:
    registry.look_again()
    for cached in (cell_measurement._driver, cell_measurement._probe_kind):
        cached.cache_clear()


def night(
    out: Path, number: int, rate: Callable[[int, str], float], *, name: str = "", spec: str = "nightly.bench"
) -> Path:
    """Make a run with two hardware groups and three repeats each. `rate` returns the ops/s on a hardware in a given
    night."""
    chance = random.Random(number)  # noqa: S311  # not for secrets
    cells = [a_cell(hardware=key, repeat=repeat) for key in HARDWARE for repeat in range(1, REPEATS + 1)]
    plan = a_plan(cells)
    spec_of = plan.spec.model_copy(update={"name": spec})
    experiments = {name: each.model_copy(update={"repeats": REPEATS}) for name, each in plan.experiments.items()}
    plan = plan.model_copy(update={"spec": spec_of, "experiments": experiments})
    made = RunMaker(out / (name or f"night-{number:04}"), plan, now=T0 + number * DAY)
    for cell in cells:
        count = round(10 * rate(number, cell.hardware) * chance.gauss(1, 0.005))
        low, high = (1e-3, 2e-3) if cell.hardware == "disk" else (1e-4, 2e-4)
        slow = round(count * chance.uniform(0.005, 0.015))
        buckets = histogram((low, high, count - slow), (high, 5 * high, slow))
        read = Operation("read", count, mean_s=low, min_s=low, max_s=5 * high, histogram=buckets)
        made.ok(cell, {"load-1": measurement([read])})
    made.write(j.RunEnded(at=made.now, status="done"))
    (made.run_dir / STORE).mkdir()
    build_tables(
        made.run_dir, made.run_dir / STORE
    )  # without the database beside the tables, which takes ten times as long
    return made.run_dir


def nights(out: Path, count: int, *, step_at: int | None = None, begin: int = 0) -> None:
    """Make the nights from number `begin` up to, but not including, number `count`, with 1 % of noise. From the night
    `step_at` on, flash is 6 % slower."""
    chance = random.Random(7)  # noqa: S311  # not for secrets
    noise = [chance.gauss(1, 0.01) for _ in range(count)]

    def rate(number: int, hardware: str) -> float:
        slower = hardware == "flash" and step_at is not None and number >= step_at
        return {"disk": 2_000.0, "flash": 9_000.0}[hardware] * noise[number] * (0.94 if slower else 1.0)

    for number in range(begin, count):
        night(out, number, rate)
