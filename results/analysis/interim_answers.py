"""What reports and expectations ask for, as far as the tables of a run tell it while a run with a budget goes on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from benchbrief.compiler.planning.plan import Plan
from benchbrief.results.analysis.interim_samples import AskedSamples
from benchbrief.results.analysis.open_expectations import OpenExpectations
from benchbrief.results.building.growing_tables import GrowingTables
from benchbrief.runners.journal.run_record import RunRecord
from benchbrief.runners.scheduling.table_readings import Readings


class AskedSoFar:
    """Reads the tables look after look: only what changed since the last one is read again."""

    def __init__(self, run_dir: Path, plan: Plan) -> None:
        self._expectations, self._samples = OpenExpectations(plan), AskedSamples(plan)
        samples = bool(self._samples) or self._expectations.read_samples
        self._tables = GrowingTables(run_dir, plan, samples=samples)

    def read(self, record: RunRecord) -> Readings:
        """Return what the run's journal and raw outputs say now. Raises RunnerError, OSError."""
        if not self._expectations and not self._samples:
            return Readings()
        with self._tables.store(record) as store:
            return replace(self._expectations.read(store, record), sampled=self._samples.read(store))
