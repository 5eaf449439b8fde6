"""Measures how well the gate and the trends find changes in simulated nights, and how long reading 10,000 runs takes.

A night has a value for each of 20 series and two control series, drawn from a normal distribution with 2 % noise. The
first 40 nights are not judged. The later ones are processed like real nights: by series, changes and the rule of the
gate. If a series is suspicious, five more values of it and of the controls are drawn. The seeds differ from those with
which the rule was chosen. `tails` and `drifting` are nights that violate the assumptions of the t test. The store has
10,000 runs with 8 points and 5 quantities each. Its first reading is not counted, since each run is read only once.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchbrief.history.gate_rule import AGAIN, GateRule, Remeasured, confirm, judge_run
from benchbrief.history.read_series import HistorySeries, SeriesPart, SeriesValue
from benchbrief.history.series_changes import trend_of
from benchmarks.timing import BENCH, verdict

SERIES, CONTROLS, NOISE, BEFORE = 20, 2, 0.02, 40
NIGHTS, STEPS, DRIFTS = 1_000, 200, 200
WITHIN = 5
"""The number of nights within which a step must be found."""
KEPT = 60
"""The length of a history in nights. A longer one would only slow down the simulation."""
RUNS = 10_000
FIRST = datetime(2026, 1, 1, 2, tzinfo=UTC)
Draw = Callable[[np.random.Generator], float]


class Night(NamedTuple):
    suspect: bool
    alarms: frozenset[int]
    of_lab: frozenset[int]


def normal(rng: np.random.Generator) -> float:
    return float(rng.normal(0, NOISE))


def tails(rng: np.random.Generator) -> float:
    """Draw from Student's t with 4 degrees of freedom, scaled to the same standard deviation as normal noise."""
    return float(rng.standard_t(4)) * NOISE / math.sqrt(2)


class Lab:
    """The nights of one lab, with a value of each series per night. `effects` are logarithms of factors by series; the
    last series are the controls."""

    def __init__(self, seed: int, draw: Draw = normal, kept: float = 0.0) -> None:
        self._rng, self._draw, self._kept = np.random.default_rng(seed), draw, kept
        self._values: list[list[SeriesValue]] = [[] for _ in range(SERIES + CONTROLS)]
        self._shocks = [0.0] * (SERIES + CONTROLS)
        self._night = 0
        for _ in range(BEFORE):
            self.pass_night()

    def pass_night(self, effects: Sequence[float] = ()) -> str:
        run, at = f"night-{self._night:05d}", FIRST + timedelta(days=self._night)
        self._night += 1
        for place, values in enumerate(self._values):
            # What is kept of the night before makes nights alike, at the same noise.
            fresh = self._draw(self._rng) * math.sqrt(1 - self._kept**2)
            self._shocks[place] = self._kept * self._shocks[place] + fresh
            value = 1000 * math.exp(self._shocks[place] + (effects[place] if effects else 0.0))
            values.append(SeriesValue(run, at, value, "", ""))
            del values[:-KEPT]
        return run

    def judge(self, run: str, effects: Sequence[float] = ()) -> Night:
        series = [
            HistorySeries(
                "nightly.bench", "", "throughput", "", "higher", False, {"threads": place}, place >= SERIES, (part,)
            )
            for place, values in enumerate(self._values)
            for part in (SeriesPart("ops/s", "", "", {}, tuple(values)),)
        ]
        rule = GateRule()
        judged = judge_run(run, series, series[SERIES:], rule)
        suspects = [place for place, each in enumerate(judged) if each.state == "suspect"]

        def measured(place: int) -> list[float]:
            effect = effects[place] if effects else 0.0
            return [1000 * math.exp(self._draw(self._rng) + effect) for _ in range(AGAIN)]

        again = Remeasured({place: measured(place) for place in suspects})
        if suspects:
            again = replace(again, controls={series[n].key: measured(n) for n in range(SERIES, SERIES + CONTROLS)})
        confirmed = confirm(judged, again, rule)
        found = {
            state: frozenset(n for n, each in enumerate(confirmed) if each.state == state) for state in ("alarm", "lab")
        }
        return Night(bool(suspects), found["alarm"], found["lab"])


def false_alarms(seed: int, nights: int, draw: Draw = normal, kept: float = 0.0) -> tuple[int, int]:
    """Return how many of the nights had an alarm, and how many had a suspicion."""
    lab = Lab(seed, draw, kept)
    judged = [lab.judge(lab.pass_night()) for _ in range(nights)]
    return sum(bool(each.alarms) for each in judged), sum(each.suspect for each in judged)


def step_is_found(seed: int) -> bool:
    """Return whether a 5 % drop in one series raises an alarm within `WITHIN` nights."""
    lab, effects = Lab(seed), [math.log(0.95), *[0.0] * (SERIES + CONTROLS - 1)]
    return any(0 in lab.judge(lab.pass_night(effects), effects).alarms for _ in range(WITHIN))


def drift_is_of_lab(seed: int) -> tuple[bool, bool]:
    """Simulate a lab that becomes 5 % slower over ten nights. Return whether twenty nights pass without an alarm, and
    whether the trend then attributes at least nine in ten changes to the lab."""
    lab, alarms = Lab(seed), 0
    for night in range(20):
        effects = [math.log(0.95) * min(1.0, (night + 1) / 10)] * (SERIES + CONTROLS)
        alarms += bool(lab.judge(lab.pass_night(effects), effects).alarms)
    series = [
        HistorySeries("nightly.bench", "", "throughput", "", "higher", False, {"threads": n}, n >= SERIES, (part,))
        for n, values in enumerate(lab._values)
        for part in (SeriesPart("ops/s", "", "", {}, tuple(values)),)
    ]
    changes = [change for each in series[:SERIES] for change in trend_of(each, series[SERIES:]).changes]
    share = sum(change.lab is not None and change.lab.is_lab for change in changes) / max(1, len(changes))
    return alarms == 0, share >= 0.9


def main() -> bool:
    began = time.monotonic()
    held = True
    for name, draw, kept in (("normal", normal, 0.0), ("tails", tails, 0.0), ("drifting", normal, 0.3)):
        alarms, suspects = false_alarms(71, NIGHTS if name == "normal" else NIGHTS // 2, draw, kept)
        nights = NIGHTS if name == "normal" else NIGHTS // 2
        print(f"  {name}: {nights} A/A nights of {SERIES} series: {alarms} with an alarm, {suspects} measured again")
        if name == "normal":
            held &= verdict("A/A nights with a false alarm", alarms / nights, 0.01, "")
    found = sum(step_is_found(5_000 + seed) for seed in range(STEPS))
    print(f"  {STEPS} steps of 5 % at {NOISE:.0%} noise: {found} found within {WITHIN} nights")
    held &= verdict("steps not found", 1 - found / STEPS, 0.05, "")
    drifts = [drift_is_of_lab(9_000 + seed) for seed in range(DRIFTS)]
    quiet, put = (sum(each[which] for each in drifts) for which in (0, 1))
    print(
        f"  {DRIFTS} labs that lose 5 % in ten nights: {quiet} without an alarm, {put} with the changes put on the lab"
    )
    held &= verdict("drifts of the lab with an alarm", 1 - quiet / DRIFTS, 0.05, "")
    years = [trend_of(a_year(300 + n)).changes for n in range(400)]
    print(f"  {len(years)} years of one series without a change: {sum(map(bool, years))} show one")
    print(f"  simulated in {time.monotonic() - began:.0f} s")
    return held & many_runs()


def a_year(seed: int) -> HistorySeries:
    rng = np.random.default_rng(seed)
    values = tuple(
        SeriesValue(str(n), FIRST + timedelta(days=n), 1000 * math.exp(normal(rng)), "", "") for n in range(365)
    )
    return HistorySeries(
        "nightly.bench", "", "throughput", "", "higher", False, {}, False, (SeriesPart("ops/s", "", "", {}, values),)
    )


# --- a store of many runs ----------------------------------------------------------------------------------------


def many_runs() -> bool:
    """Measure the time and memory of `bench trend` over a cache of 10,000 runs with existing folders."""
    with tempfile.TemporaryDirectory(prefix="benchbrief-trends-") as base:
        out, cache = Path(base) / "runs", Path(base) / "cache"
        environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
        fill(out, cache)
        costs = [_cost((BENCH, "trend", "throughput", "--from", str(out), "--json"), environment) for _ in range(3)]
    seconds, megabytes = min(each.processor_s for each in costs), max(each.megabytes for each in costs)
    walls = ", ".join(f"{each.wall_s:.1f}" for each in costs)
    print(
        f"  bench trend throughput of {RUNS:,} runs: {seconds:.2f} s of processor time, wall {walls} s, "
        f"{megabytes:.0f} MB"
    )
    held = verdict("bench trend over 10,000 runs, processor time", seconds, 2.0, "s")
    return held & verdict("its memory", megabytes, 500.0, "MB")


class Cost(NamedTuple):
    wall_s: float
    processor_s: float
    megabytes: float


def _cost(command: Sequence[str], environment: dict[str, str]) -> Cost:
    """Return the cost of a command, which must succeed."""
    began = time.perf_counter()
    with tempfile.TemporaryFile() as output:
        child = subprocess.Popen(command, env=environment, stdout=output)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        said = output.read()
    if child.returncode != 0:
        raise SystemExit(f"bench trend ended with {child.returncode}: {said[-500:]!r}")
    values = sum(len(part["values"]) for series in json.loads(said)["series"] for part in series["parts"])
    if values != 8 * RUNS:
        raise SystemExit(f"bench trend told {values} values, not {8 * RUNS}")
    return Cost(time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def fill(out: Path, cache: Path) -> None:
    """Make folders that look like runs, and the cache that reading them would produce."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from benchbrief.history.series_cache import Fetched, RunFolder, open_series
    from benchbrief.history.series_rows import SERIES as FILE
    from benchbrief.history.series_rows import SeriesRow, canonical, schema

    for n in range(RUNS):
        folder = out / f"run-{n:05d}"
        folder.mkdir(parents=True)
        (folder / "plan.json").write_text("{}")
        (folder / "journal.jsonl").write_text("{}\n")
    rng, kinds = np.random.default_rng(1), schema()
    facts = canonical({f"fact {n}": "a value as long as the words of a processor" for n in range(30)})
    points = [canonical({"experiment": "ramp", "hardware": "nvme", "threads": n, "workload": "a"}) for n in range(8)]
    names = ("throughput", "errors", "latency.p50[read]", "latency.p99[read]", "latency.p99[update]")

    class Made(RunFolder):
        def fetch(self, runs: Sequence[str], into: Path):  # type: ignore[no-untyped-def]  # as the base class
            for run in runs:
                at = FIRST - timedelta(days=1) + timedelta(minutes=int(run[-5:]) * 30)
                rows = [
                    SeriesRow(run, at, "Nightly", "nightly.bench", "", "measured", "", name, "", "ops/s", "higher",
                              False, point, repeat, 1000 * math.exp(normal(rng)), "", "d", "e", facts, False, "")
                    for name in names for point in points for repeat in (None, 1, 2, 3)
                ]  # fmt: skip
                columns = zip(*rows, strict=True)
                arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds.types, strict=True)]
                pq.write_table(pa.table(arrays, schema=kinds), into / FILE)
                yield Fetched(run, into / FILE)

    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(cache)
    try:
        with open_series(Made(out)):
            pass
    finally:
        os.environ.pop("XDG_CACHE_HOME")
        if before is not None:
            os.environ["XDG_CACHE_HOME"] = before
