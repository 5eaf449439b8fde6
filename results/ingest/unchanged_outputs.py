"""Whether the raw outputs of a run are still what its journal says."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from benchbrief.results.ingest.run_evidence import Problem, check_files, read_evidence
from benchbrief.runners.journal.events import JobCollected


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
