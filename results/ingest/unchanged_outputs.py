"""Whether the raw outputs of a run are still what its journal says."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from benchbrief.model.events import JobCollected
from benchbrief.results.ingest.run_evidence import Problem, check_files, read_evidence


class RawOutputs(NamedTuple):
    """How many files the journal names, and what is wrong with some: missing, or changed."""

    files: int
    problems: dict[str, Problem]


def check_raw_outputs(run_dir: Path) -> RawOutputs:
    """Compute the SHA-256 of each kept output of all attempts. Raises RunnerError when the plan or the journal can't be
    read."""
    found: dict[str, Problem | None] = {}
    evidence = read_evidence(run_dir)
    for record in evidence.records:
        if isinstance(record, JobCollected):
            found |= check_files(evidence.root, record)
    return RawOutputs(len(found), {path: problem for path, problem in found.items() if problem})


def kept_outputs(run_dir: Path) -> dict[str, str]:
    """Return the SHA-256 by path of each kept output behind the results: those of each cell's last attempt. Raises
    RunnerError when the plan or the journal can't be read."""
    evidence = read_evidence(run_dir)
    counts = {verdict.cell.id: verdict.attempt for verdict in evidence.verdicts}
    return {
        f"{record.directory}/{name}": sha256
        for record in evidence.records
        if isinstance(record, JobCollected) and record.attempt == counts.get(record.cell, record.attempt)
        for name, sha256 in record.files.items()
    }
