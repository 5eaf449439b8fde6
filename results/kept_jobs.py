"""The names of the jobs whose outputs a run keeps, in its journal and in an import's files."""

from __future__ import annotations

from benchbrief.model import events as j

MEASURE = "measure"
PROBE = "probe:"
SAMPLES = "samples"
"""The file of an imported log of samples."""
SOURCE = "source"
"""The job that stands for a file with the numbers of many cells."""


def probes_of(job: j.JobCollected) -> tuple[str, ...]:
    """Return the probes of a job: `probe:cpu,disk:db-1` has two; a job of another kind has none."""
    return tuple(job.job.split(":")[1].split(",")) if job.job.startswith(PROBE) else ()
