"""The tables of a run, and what they say of the spec's expectations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from benchbrief.model.plan import Plan
    from benchbrief.results.analysis.expectation_verdicts import Verdict
    from benchbrief.results.ingest.run_evidence import Evidence
    from benchbrief.results.ingest.sample_coverage import Patchy


class Stored(NamedTuple):
    """What the tables of a run say: of the spec's expectations, of the probes that sampled too little, and of raw
    outputs that are gone or were changed since they were measured."""

    verdicts: tuple[Verdict, ...]
    sampled: tuple[Patchy, ...]
    lost: tuple[str, ...]


def make_tables(run_dir: Path, plan: Plan, evidence: Evidence | None = None) -> Stored:
    """Build the run's tables from its journal and raw outputs, and judge what the spec expects of them.

    `evidence` is what the journal says, when it was read before.
    """
    from benchbrief.results.analysis.expectation_verdicts import evaluate
    from benchbrief.results.building.build_store import rebuild
    from benchbrief.results.building.open_store import open_store
    from benchbrief.results.ingest.sample_coverage import patchy

    rebuild(run_dir, plan, evidence)
    with open_store(run_dir) as results:
        found = results.sql("SELECT DISTINCT reason FROM files WHERE reason IS NOT NULL ORDER BY reason")
        lost = tuple(str(reason) for (reason,) in found.rows)
        return Stored(tuple(evaluate(plan, results)), tuple(patchy(results)), lost)
